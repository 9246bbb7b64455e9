//! Models, machines and setups that several tests share.
#![allow(dead_code, unreachable_pub, reason = "each test uses some of it")]

use vramplan_core::case::Case;
use vramplan_core::catalogue::find_model;
use vramplan_core::catalogue::hardware::{Around, HardwareSpec, named_machine};
use vramplan_core::dtype::Format;
use vramplan_core::ledger::{Item, Ledger, Line};
use vramplan_core::machine::Machine;
use vramplan_core::model::Model;
use vramplan_core::plan::{Plan, evaluate};
use vramplan_core::quants::Recipe;
use vramplan_core::setup::{EngineSetup, LlamaCpp, Setup};
use vramplan_core::units::{Bytes, Tokens};
use vramplan_core::workload::Inference;

/// A model of the catalogue in a quantisation.
pub fn model(name: &str, recipe: Recipe) -> Model {
    let row = find_model(name).one().unwrap_or_else(|| panic!("no {name}"));
    row.build(recipe).unwrap()
}

/// The machine that these specifications name.
pub fn machine(specs: &[&str]) -> Machine {
    let specs: Vec<_> = specs.iter().map(|text| HardwareSpec::parse(text)).collect();
    named_machine(&specs, &Around::default()).unwrap().machine
}

/// A setup with f16 caches.
pub fn setup(engine: LlamaCpp) -> Setup {
    Setup { cache_k: Format::F16, cache_v: Format::F16, engine: EngineSetup::LlamaCpp(engine) }
}

/// So much context for so many sequences.
pub fn workload(context: u64, sequences: u64) -> Inference {
    Inference { context: Tokens(context), sequences }
}

/// The plan of a case that the engine takes.
pub fn plan(model: &Model, machine: &Machine, workload: Inference, setup: &Setup) -> Plan {
    evaluate(&Case { model, machine, workload, setup }).unwrap()
}

/// The single best number of an item over all devices.
pub fn total(ledger: &Ledger, item: Item) -> Bytes {
    ledger.total(item).likely
}

/// The lines of an item.
pub fn lines(ledger: &Ledger, item: Item) -> Vec<&Line> {
    ledger.lines.iter().filter(|l| l.item == item).collect()
}
