//! The commands, one file each.

pub(crate) mod home;
pub(crate) mod plan;
