//! Formulas by kind of layer, shared by engines. None of them knows an engine or a model.

pub mod cache;
pub mod sharding;
