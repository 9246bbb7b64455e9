//! `vram`.
fn main() {}
