//! Model sources and hardware detection: everything of vramplan that touches the world.
#![forbid(unsafe_code)]

pub mod hardware;
pub mod sources;
