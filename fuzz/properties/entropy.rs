//! Makes choices from bytes: any bytes are valid, and a small change to them changes the choices a little.

/// Sizes of the pieces of a body; the filter's blocks have 64 bytes, its strides 4,096.
const SIZES: [usize; 12] = [1, 65_536, 64, 63, 65, 2, 3, 7, 16, 129, 777, 4096];

/// Bytes that make choices. Once they are used up, every choice is the first one, so that everything ends.
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

    /// A number below `limit`; 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        let mut number = usize::from(self.byte());
        if limit > 256 {
            number = (number << 8) | usize::from(self.byte());
        }
        number.checked_rem(limit).unwrap_or(0)
    }

    /// True once in `times`; false when the bytes are used up.
    pub fn one_in(&mut self, times: u8) -> bool {
        !self.is_over() && self.byte().is_multiple_of(times)
    }

    /// One of these; there must be at least one.
    pub fn pick<'b, T>(&mut self, of: &'b [T]) -> &'b T {
        &of[self.below(of.len())]
    }

    /// The sizes of the pieces of a body.
    pub fn sizes(&mut self) -> Vec<usize> {
        (0..1 + self.below(4)).map(|_| *self.pick(&SIZES)).collect()
    }
}
