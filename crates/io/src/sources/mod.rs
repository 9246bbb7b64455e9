//! Where models come from.

pub mod file;
