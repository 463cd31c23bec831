//! Byte pair encoding of a piece that is not a token: of all neighbours that form a token together, the pair with the
//! lowest rank is merged, the leftmost first, until none is left.

use super::vocabulary;

/// The parts of a piece, each at the position of its first byte. Their memory is reused for the next piece.
#[derive(Default)]
pub(super) struct Parts {
    /// Where the previous part and the next one begin.
    links: Vec<(u32, u32)>,
    /// The rank of each part joined with the next.
    ranks: Ranks,
}

impl Parts {
    /// The number of tokens in the piece that is the first `length` bytes of a text.
    pub(super) fn count(&mut self, text: &[u8], length: usize) -> usize {
        self.links.clear();
        self.links.extend((0..length as u32).map(|at| (at.saturating_sub(1), at + 1)));
        let pairs = (1..length).map(|end| vocabulary::rank(&text[end - 1..], 2));
        self.ranks.fill(pairs.chain([None]));
        let mut count = length;
        while let Some(at) = self.ranks.lowest() {
            let (previous, merged) = self.links[at];
            let next = self.links[merged as usize].1;
            self.links[at].1 = next;
            self.ranks.set(merged as usize, None);
            self.ranks.set(at, self.rank(text, at));
            if let Some(next) = self.links.get_mut(next as usize) {
                next.0 = at as u32;
            }
            if at > 0 {
                self.ranks.set(previous as usize, self.rank(text, previous as usize));
            }
            count -= 1;
        }
        count
    }

    /// The rank of a part joined with the next.
    fn rank(&self, text: &[u8], at: usize) -> Option<u32> {
        let (_, next) = self.links[at];
        let (_, end) = self.links.get(next as usize)?;
        vocabulary::rank(&text[at..], *end as usize - at)
    }
}

/// Ranks by position, in a tree that knows the lowest one.
///
/// The upper bits of an entry are a rank, the lower ones the position of the entry in its block. The first level has an
/// entry for each position, every other level one for each block of the level below: its lowest rank. The last level is
/// one block. So the way down from the lowest entry leads to the leftmost position of the lowest rank.
#[derive(Default)]
struct Ranks {
    levels: Vec<Vec<i32>>,
}

const POSITION_BITS: u32 = 7;

/// Entries in a block. Pieces of up to this many bytes, which is almost all of them, need one level.
const BLOCK: usize = 1 << POSITION_BITS;

/// Higher than every rank.
const NO_RANK: i32 = i32::MAX >> POSITION_BITS;

impl Ranks {
    /// Replaces all ranks.
    fn fill(&mut self, ranks: impl Iterator<Item = Option<u32>>) {
        let mut level = self.levels.drain(..).next().unwrap_or_default();
        level.clear();
        level.extend(ranks.enumerate().map(|(at, rank)| entry(number(rank), at)));
        while level.len() > BLOCK {
            let above = level.chunks(BLOCK).enumerate().map(|(at, block)| entry(rank_of(lowest(block)), at)).collect();
            self.levels.push(std::mem::replace(&mut level, above));
        }
        self.levels.push(level);
    }

    /// Changes the rank at a position.
    fn set(&mut self, mut at: usize, rank: Option<u32>) {
        let mut rank = number(rank);
        for level in 0..self.levels.len() {
            let old = std::mem::replace(&mut self.levels[level][at], entry(rank, at));
            at /= BLOCK;
            let Some(above) = self.levels.get(level + 1) else { return };
            let lowest_of_block = rank_of(above[at]);
            if rank >= lowest_of_block && rank_of(old) > lowest_of_block {
                return;
            }
            rank = rank_of(lowest(block(&self.levels[level], at)));
        }
    }

    /// The leftmost position of the lowest rank.
    fn lowest(&self) -> Option<usize> {
        let mut at = 0;
        for level in self.levels.iter().rev() {
            let lowest = lowest(block(level, at));
            if rank_of(lowest) == NO_RANK {
                return None;
            }
            at = at * BLOCK + lowest as usize % BLOCK;
        }
        Some(at)
    }
}

fn number(rank: Option<u32>) -> i32 {
    rank.map_or(NO_RANK, |rank| rank as i32)
}

fn entry(rank: i32, at: usize) -> i32 {
    rank << POSITION_BITS | (at % BLOCK) as i32
}

fn rank_of(entry: i32) -> i32 {
    entry >> POSITION_BITS
}

fn block(level: &[i32], at: usize) -> &[i32] {
    &level[at * BLOCK..level.len().min((at + 1) * BLOCK)]
}

fn lowest(block: &[i32]) -> i32 {
    block.iter().copied().min().unwrap_or(i32::MAX)
}
