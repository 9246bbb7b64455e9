//! Shared helpers of the whole-product tests.
