//! Classes of hardware as people speak of them (`16gb-gpu`), each with a machine that stands for it.

use alloc::string::String;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::generated::CLASSES;
use super::normalise;

/// Which machine stands for a class of hardware?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassRow {
    /// The name of the class.
    pub id: String,
    /// The machine as typed after `--on`: a device, with `:SIZE` where it needs one, or `cpu:SIZE`.
    pub hardware: String,
    /// Memory system of a class without a GPU.
    pub memory_system: Option<String>,
    /// What makes it the representative.
    pub why: String,
}

/// Which class has this name?
pub fn find_class(name: &str) -> Option<ClassRow> {
    CLASSES.find(&normalise(name)).one()
}

/// Which classes are there?
pub fn classes() -> impl Iterator<Item = ClassRow> {
    CLASSES.all()
}
