//! A model from the header of a GGUF file.

use alloc::vec::Vec;

use super::{ArchError, KeyError, KeyProblem, Keys, PerLayer, facts_of_gguf, model, tensor};
use crate::formats::gguf::{Header, Items, Metadata, Value, ValueError};
use crate::model::{Model, Tensor};

/// Builds the model that a GGUF header describes; `fallback_name` serves files that state no name.
///
/// # Errors
/// The architecture is missing or unknown, or a key it needs is missing or makes no sense.
pub fn model_of_gguf(header: &Header, fallback_name: &str) -> Result<Model, ArchError> {
    let arch = header.metadata.text("general.architecture")?.ok_or(ArchError::NoArchitecture)?;
    let mut facts = facts_of_gguf(arch, &header.metadata)?;
    let tensors = tensors(arch, header);
    facts.observe(&tensors);
    if let Some(layer) = facts.layer_without_tensors(&tensors) {
        return Err(ArchError::NoTensors { layer });
    }
    let name = header.metadata.text("general.name").ok().flatten().filter(|n| !n.trim().is_empty());
    Ok(model(name.unwrap_or(fallback_name).trim().into(), &facts, tensors, header.data_offset))
}

fn tensors(arch: &str, header: &Header) -> Vec<Tensor> {
    let place =
        |t: &crate::formats::gguf::TensorInfo| tensor(arch, t.name.clone(), t.shape, t.format, t.offset);
    header.tensors.iter().map(place).collect()
}

impl Keys for Metadata {
    fn uint(&self, key: &str) -> Result<Option<u64>, KeyError> {
        Self::uint(self, key).map_err(|error| wrong(&error, "a whole number"))
    }

    fn per_layer(&self, key: &str) -> Result<Option<PerLayer>, KeyError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(PerLayer::All(u64::from(*flag)))),
            Some(Value::Array(array)) => {
                let list = match &array.items {
                    Some(Items::Bools(flags)) => Ok(flags.iter().map(|f| u64::from(*f)).collect()),
                    _ => self.uints(key).map(Option::unwrap_or_default),
                };
                let list = list.map_err(|error| wrong(&error, "whole numbers"))?;
                Ok(Some(PerLayer::Each(list)))
            }
            Some(_) => Ok(Self::uint(self, key).map_err(|e| wrong(&e, "a whole number"))?.map(PerLayer::All)),
        }
    }
}

fn wrong(error: &ValueError, wanted: &'static str) -> KeyError {
    KeyError { key: error.key.clone(), problem: KeyProblem::WrongType { wanted } }
}
