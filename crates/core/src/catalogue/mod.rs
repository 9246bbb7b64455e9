//! What does the world sell and publish? Devices, memory systems and models by name.
//!
//! The facts are files under `data/`. The build turns each row into a JSON text and the names into
//! sorted tables: a look-up is a binary search and reads one row; nothing is read before it is
//! asked for.

pub mod classes;
pub mod detect;
pub mod devices;
pub mod hardware;
pub mod memory;
pub mod models;
pub mod names;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use serde::Deserialize;

pub use classes::{ClassRow, classes, find_class};
pub use detect::find_detected;
pub use devices::{DeviceRow, device_names, devices, find_device, find_device_of_size};
pub use memory::{
    Macos, Memory, MemoryBasis, MemorySystemRow, driver_memory, find_memory_system, memory_systems,
    working_set,
};
pub use models::{ModelRow, converted, find_model, model_names, models, usual_recipe};
pub use names::normalise;

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

/// One kind of row: sorted names, each with the rows that bear it as (tier, row), and the rows.
struct Table {
    names: &'static [(&'static str, &'static [(u8, u16)])],
    rows: &'static [&'static str],
}

impl Table {
    /// The rows that bear a normalised name, best tier first.
    fn bearers(&self, key: &str) -> &'static [(u8, u16)] {
        self.names.binary_search_by_key(&key, |(name, _)| name).map_or(&[], |at| self.names[at].1)
    }

    /// The rows of the best tier a name has, among those that a typed name may use.
    fn best(&self, key: &str) -> impl Iterator<Item = u16> + use<> {
        let bearers = self.bearers(key);
        let best = bearers.first().map_or(names::DRIVER, |(tier, _)| *tier);
        bearers.iter().filter(move |(tier, _)| *tier == best && best < names::DRIVER).map(|(_, row)| *row)
    }

    /// Reads one row. Every row can be read: a test reads them all.
    fn row<T: Deserialize<'static>>(&self, number: u16) -> Option<T> {
        self.rows.get(usize::from(number)).and_then(|json| serde_json::from_str(json).ok())
    }

    /// Reads the rows of the best tier.
    fn find<T: Deserialize<'static>>(&self, key: &str) -> Lookup<T> {
        self.best(key).filter_map(|row| self.row(row)).collect()
    }

    /// Reads every row in the order of the files.
    fn all<T: Deserialize<'static>>(&'static self) -> impl Iterator<Item = T> {
        self.rows.iter().filter_map(|json| serde_json::from_str(json).ok())
    }

    /// Every name in order.
    fn all_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.names.iter().map(|(name, _)| *name)
    }
}

mod generated {
    use super::Table;

    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}
