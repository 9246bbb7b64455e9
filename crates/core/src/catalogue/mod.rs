//! What does the world sell and publish? Devices, memory systems and models by name.
//!
//! The facts are files under `data/`. The build packs the rows into deflated bundles of JSON and the names
//! into a sorted text: a look-up is a binary search and reads one row; nothing is read before it is
//! asked for.

pub mod classes;
pub mod detect;
pub mod devices;
pub mod hardware;
pub mod memory;
pub mod models;
pub mod names;
pub mod pipelines;
mod table;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

pub use classes::{ClassRow, classes, find_class};
pub use detect::find_detected;
pub use devices::{DeviceRow, device_names, devices, find_device, find_device_of_size};
pub use memory::{
    Macos, Memory, MemoryBasis, MemorySystemRow, driver_memory, find_memory_system, memory_systems,
    working_set,
};
pub use models::{ModelRow, converted, find_model, model_names, models, usual_recipe};
pub use names::normalise;
pub use pipelines::{PipelineRow, Stage, find_pipeline, pipeline_names, pipelines};

/// Which rows does a name stand for?
#[derive(Clone, Debug, PartialEq)]
pub enum Lookup<T> {
    /// This one.
    One(T),
    /// More than one: the name is ambiguous and whoever asked must choose.
    Several(Vec<T>),
    /// No row has this name.
    None,
}

impl<T> Lookup<T> {
    /// The row, when there is exactly one.
    pub fn one(self) -> Option<T> {
        match self {
            Self::One(row) => Some(row),
            Self::Several(_) | Self::None => None,
        }
    }

    /// All the rows, however many.
    pub fn into_rows(self) -> Vec<T> {
        match self {
            Self::One(row) => alloc::vec![row],
            Self::Several(rows) => rows,
            Self::None => Vec::new(),
        }
    }
}

impl<T> FromIterator<T> for Lookup<T> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Self {
        let mut rows: Vec<T> = rows.into_iter().collect();
        match rows.len() {
            0 | 1 => rows.pop().map_or(Self::None, Self::One),
            _ => Self::Several(rows),
        }
    }
}

mod generated {
    use super::table::Table;

    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}
