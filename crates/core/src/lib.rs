//! The pure core of vramplan: a plan is arithmetic over a model, a machine, a workload and a setup.
//!
//! This crate opens nothing, asks no clock, spawns nothing and gives the same answer everywhere; it
//! is `no_std` so that the compiler holds it to that. Modules stand on floors (ARCHITECTURE.md): each
//! may use those below it only, and a tidy test reads the imports.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod answer;
pub mod archs;
pub mod case;
pub mod catalogue;
pub mod command;
pub mod dtype;
pub mod engines;
pub mod formats;
pub mod ledger;
pub mod machine;
pub mod model;
pub mod packing;
pub mod plan;
pub mod quantity;
pub mod quants;
pub mod rules;
pub mod setup;
pub mod units;
pub mod workload;
