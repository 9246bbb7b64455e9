//! Newtypes for the quantities of a plan: whole bytes, bytes a second, tokens.
//!
//! Units never mix: there is no conversion from a float to [`Bytes`], and arithmetic saturates, so
//! that an absurd input gives an absurdly large need instead of a small one.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, Sub};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many bytes? A whole number; prints as GiB in front ends (1 GiB = 2^30 bytes).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// No bytes at all.
    pub const ZERO: Self = Self(0);

    /// `n` MiB (2^20 bytes each).
    pub const fn from_mib(n: u64) -> Self {
        Self(n.saturating_mul(1 << 20))
    }

    /// `n` GiB (2^30 bytes each).
    pub const fn from_gib(n: u64) -> Self {
        Self(n.saturating_mul(1 << 30))
    }

    /// The next multiple of `alignment` bytes; `alignment` 0 and 1 change nothing.
    pub const fn padded(self, alignment: u64) -> Self {
        if alignment < 2 {
            return self;
        }
        Self(self.0.div_ceil(alignment).saturating_mul(alignment))
    }

    /// `self * numerator / denominator`, rounded down; the product is taken in 128 bits.
    pub const fn scaled(self, numerator: u64, denominator: u64) -> Self {
        if denominator == 0 {
            return self;
        }
        let wide = self.0 as u128 * numerator as u128 / denominator as u128;
        Self(if wide > u64::MAX as u128 { u64::MAX } else { wide as u64 })
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Never below zero: what is missing is asked for with [`Bytes`] comparisons, not with a sign.
impl Sub for Bytes {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

/// How fast is a memory? Bytes a second (decimal: 1 GB/s = 10^9), peak unless said otherwise.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct BytesPerSecond(pub u64);

/// How many tokens? A context length, a batch, a prompt.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Tokens(pub u64);

impl Tokens {
    /// The next multiple of `step` tokens; `step` 0 and 1 change nothing.
    pub const fn padded(self, step: u64) -> Self {
        Self(Bytes(self.0).padded(step).0)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_goes_up_to_the_alignment() {
        assert_eq!(Bytes(1).padded(128), Bytes(128));
        assert_eq!(Bytes(128).padded(128), Bytes(128));
        assert_eq!(Bytes(7).padded(0), Bytes(7));
        assert_eq!(Tokens(10_000).padded(256), Tokens(10_240));
    }

    #[test]
    fn absurd_sizes_saturate_instead_of_wrapping() {
        assert_eq!(Bytes(u64::MAX) + Bytes(1), Bytes(u64::MAX));
        assert_eq!(Bytes(u64::MAX).padded(128), Bytes(u64::MAX));
        assert_eq!(Bytes(1) - Bytes(2), Bytes::ZERO);
        assert_eq!(Bytes(u64::MAX).scaled(3, 1), Bytes(u64::MAX));
    }
}
