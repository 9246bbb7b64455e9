//! Values as people type them.

mod placement;
mod quantity;

pub(crate) use placement::PlacementArgs;
pub(crate) use quantity::{bytes, count, recipe, tokens};
