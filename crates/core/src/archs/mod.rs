//! Architectures: from a file's own facts to layers and tensors.
//!
//! Three steps, each written once: a form of the model (GGUF keys or config.json) is read into
//! [`Facts`]; a family settles what its architecture leaves unsaid; layers and tensors follow from the
//! facts by kind of layer. A family is one short file and knows no engine.

mod ahead;
mod blocks;
mod built;
mod counts;
mod described;
mod facts;
mod families;
mod from_gguf;
mod parts;
mod renamed;
mod roles;
mod stored;
mod unbuilt;

use alloc::string::String;
use alloc::vec::Vec;

pub use counts::Counts;
pub use described::{Described, ReadAs, describe};
pub use facts::{Experts, Facts, KeyError, KeyProblem, Keys, LayerKind, PerLayer};
pub use from_gguf::model_of_gguf;
pub use parts::{part_of, part_of_tensor};
pub use stored::{Beyond, Stored, StoredError, stored};

use crate::dtype::Format;
use crate::formats::gguf::ValueError;
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Layer, Model, Part, Tensor};
use families::Family;

/// Why can an architecture not be read?
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ArchError {
    /// The architecture key is missing from the file.
    #[error("general.architecture is missing")]
    NoArchitecture,
    /// Nobody here knows this architecture.
    #[error("unknown architecture {0:?}")]
    Unknown(String),
    /// The layers are understood, but not which tensors a GGUF file of them holds. The architecture's key
    /// is empty where llama.cpp has none.
    #[error("the tensors of a GGUF file of architecture {0:?} are not known")]
    NotConverted(String),
    /// A layer that the metadata promise has no tensors.
    #[error("layer {layer} has no tensors")]
    NoTensors {
        /// The layer.
        layer: u64,
    },
    /// A key of the GGUF metadata is missing or makes no sense.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A value of the GGUF metadata has another type than is read.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// A field of config.json is missing or makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// What are the layers of a GGUF file? `arch` is its `general.architecture`.
///
/// # Errors
/// An unknown architecture, or a key that is missing or makes no sense.
pub fn facts_of_gguf(arch: &str, keys: &dyn Keys) -> Result<Facts, ArchError> {
    let family = families::by_gguf(arch).ok_or_else(|| ArchError::Unknown(arch.into()))?;
    let mut facts = facts::gguf::read(arch, keys)?;
    facts.check_sizes()?;
    (family.settle)(&mut facts);
    facts.check()?;
    Ok(facts)
}

/// What are the layers of a model given by its config.json?
///
/// # Errors
/// An unknown `model_type`, or a field that is missing or makes no sense.
pub fn facts_of_config(config: &Config<'_>) -> Result<Facts, ArchError> {
    described::language_model(config).map(|found| found.facts)
}

/// Builds the layers that the facts describe, multi-token-prediction layers last.
pub fn layers(facts: &Facts) -> Vec<Layer> {
    (0..facts.total_layers()).map(|i| facts.layer(i)).collect()
}

/// Builds the tensor list that a converted file of this model holds, in 16-bit formats (32-bit where
/// converters keep 32 bits): global tensors first, then layer by layer.
pub fn tensors(facts: &Facts) -> Vec<Tensor> {
    blocks::tensors(facts, family_of(facts).map_or(&blocks::Style::PLAIN, |f: &Family| &f.style))
}

/// Puts a tensor of a file of architecture `arch` in its place: role and layer follow from its name.
pub fn tensor(arch: &str, name: String, shape: [u64; 4], format: Format, offset: u64) -> Tensor {
    let last_norm = families::by_gguf(arch).map_or(blocks::Style::PLAIN.output_norm, |f| f.style.output_norm);
    let layer = roles::layer_of(&name);
    let mut tensor = Tensor { name, shape, format, role: crate::model::Role::Small, layer, offset };
    tensor.role = roles::role_of(&tensor.name, tensor.dimensions(), last_norm);
    tensor
}

fn family_of(facts: &Facts) -> Option<&'static Family> {
    families::by_gguf(&facts.arch)
}

/// Builds the tensor list that a converted file of this model holds; `None` where that is not known.
pub fn converted(described: &Described) -> Option<Vec<Tensor>> {
    let facts = &described.facts;
    let (family, _) = families::by_model_type(described.model_type)?;
    if family.builds && blocks::covers(facts, &family.style) {
        // A class that is a body alone has no head of its own.
        let headless = !described.parameters.iter().any(|p| part_of(&p.name) == Part::Head);
        let facts = Facts { tied: facts.tied || headless, ..facts.clone() };
        return Some(blocks::tensors(&facts, &family.style));
    }
    let renames = family.renames.filter(|_| !facts.arch.is_empty())?;
    let kept = described.unbuilt();
    renamed::tensors(facts, described.parameters.iter().chain(&kept), renames)
}

/// Assembles a model from facts and the tensors of its file.
pub fn model(name: String, facts: &Facts, tensors: Vec<Tensor>, data_offset: u64) -> Model {
    Model {
        name,
        arch: facts.arch.clone(),
        vocab: facts.vocab_or_rows(&tensors),
        width: facts.width,
        context_length: facts.context_length,
        layers: layers(facts),
        tensors,
        data_offset,
    }
}
