//! A case: the four values a plan is arithmetic over.

use crate::machine::Machine;
use crate::model::Model;
use crate::setup::Setup;
use crate::workload::Inference;

/// Which model, on which machine, doing what, with which settings?
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The model.
    pub model: &'a Model,
    /// The hardware.
    pub machine: &'a Machine,
    /// What it is to do.
    pub workload: Inference,
    /// The engine's settings.
    pub setup: &'a Setup,
}
