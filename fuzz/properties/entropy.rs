//! Choices out of bytes: any bytes will do, and a small change of them is a small change of what is chosen.

/// Sizes of the pieces that a body comes in; blocks of the filter have 64 bytes, and strides 4,096.
const SIZES: [usize; 12] = [1, 65_536, 64, 63, 65, 2, 3, 7, 16, 129, 777, 4096];

/// Bytes that choose. When they are over, every further choice is the first one, and nothing goes on for ever.
pub struct Entropy<'a> {
    left: &'a [u8],
}

impl<'a> Entropy<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { left: bytes }
    }

    pub fn is_over(&self) -> bool {
        self.left.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.left.split_first() else { return 0 };
        self.left = rest;
        *first
    }

    /// A number below `limit`; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        let mut number = usize::from(self.byte());
        if limit > 256 {
            number = (number << 8) | usize::from(self.byte());
        }
        number.checked_rem(limit).unwrap_or(0)
    }

    /// Yes, once in so many times; no, when the bytes are over.
    pub fn one_in(&mut self, times: u8) -> bool {
        !self.is_over() && self.byte().is_multiple_of(times)
    }

    /// One of these, of which there must be some.
    pub fn pick<'b, T>(&mut self, of: &'b [T]) -> &'b T {
        &of[self.below(of.len())]
    }

    /// The sizes of the pieces that a body comes in.
    pub fn sizes(&mut self) -> Vec<usize> {
        (0..1 + self.below(4)).map(|_| *self.pick(&SIZES)).collect()
    }
}
