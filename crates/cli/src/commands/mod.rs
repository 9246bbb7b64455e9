//! The commands, one file each.

pub(crate) mod generate;
pub(crate) mod hardware;
pub(crate) mod home;
pub(crate) mod models;
pub(crate) mod plan;
