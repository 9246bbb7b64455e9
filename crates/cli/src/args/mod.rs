//! Values as people type them.

mod quantity;

pub(crate) use quantity::{bytes, count, tokens};
