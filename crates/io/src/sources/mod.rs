//! Where models come from.

pub mod file;
mod split;
