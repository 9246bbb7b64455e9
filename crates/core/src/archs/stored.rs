//! What the safetensors files of a model hold, held against what its config describes.
//!
//! A stored count is not a built one: files hold layers for predicting ahead, buffers, scales and copies
//! that the library never makes parameters of. Each is counted under its own name.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::Serialize;

use super::described::Described;
use super::parts::part_of;
use crate::dtype::Format;
use crate::formats::safetensors::TensorInfo;
use crate::model::{Parameter, Part};
use crate::units::Bytes;

/// What do files hold?
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Stored {
    /// Stored values, of whatever they are.
    pub values: u64,
    /// Bytes of all tensors.
    pub bytes: Bytes,
    /// Bytes by number format.
    pub formats: BTreeMap<Format, Bytes>,
    /// Values of what the library builds no parameter of, by what it is.
    pub beyond: BTreeMap<Beyond, u64>,
    /// Whether several weights share one stored value, so that no count of weights can be told.
    pub packed: bool,
}

/// What does a file hold beside the parameters that the library builds?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Beyond {
    /// Layers for predicting more than one token ahead.
    LayersAhead,
    /// A head stored beside the embedding that it is tied to.
    TiedCopy,
    /// Constants and statistics: rotary frequencies, masks, a router's corrections.
    Buffers,
    /// Scales of quantised weights.
    Scales,
}

/// Why can files and a config not be of one model?
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoredError {
    /// A tensor has another shape than the config gives it.
    #[error("{tensor} is {stored:?} in the files, {described:?} by config.json")]
    Shape {
        /// The tensor.
        tensor: String,
        /// Its shape in the files.
        stored: Vec<u64>,
        /// Its shape by the config.
        described: Vec<u64>,
    },
    /// There are more or fewer layers than the config says.
    #[error("{stored} layers in the files, {described} by config.json")]
    Layers {
        /// Layers in the files.
        stored: u64,
        /// Layers by the config.
        described: u64,
    },
}

/// Ends of the names of scales.
const SCALES: &[&str] = &["scale", "scales", "scale_inv", "scale_2", "zeros", "qzeros", "absmax", "g_idx"];

/// Ends of the names of buffers.
const BUFFERS: &[&str] = &[
    "inv_freq",
    "masked_bias",
    "position_ids",
    "correction_bias",
    "num_batches_tracked",
    "running_mean",
    "running_var",
    "attn.bias",
    "attention.bias",
];

/// Parts of the names of layers for predicting ahead.
const AHEAD: &[&str] = &["mtp", "nextn"];

/// Counts what files hold, and holds it against the config.
///
/// # Errors
/// The two cannot be of one model.
pub fn stored(described: &Described, tensors: &[TensorInfo]) -> Result<Stored, StoredError> {
    let built: BTreeMap<&str, &Parameter> =
        described.parameters.iter().map(|p| (p.name.as_str(), p)).collect();
    tensors.iter().try_for_each(|tensor| check_shape(&built, tensor))?;
    let depths = check_depths(described, tensors)?;
    let mut stored = Stored::default();
    for tensor in tensors {
        stored.values = stored.values.saturating_add(tensor.elements());
        stored.bytes += tensor.bytes();
        *stored.formats.entry(tensor.format).or_default() += tensor.bytes();
        stored.packed |= is_packed(tensor);
        if built.contains_key(tensor.name.as_str()) {
            continue;
        }
        if let Some(beyond) = beyond(&tensor.name, &depths, described.facts.tied) {
            let sum = stored.beyond.entry(beyond).or_default();
            *sum = sum.saturating_add(tensor.elements());
        }
    }
    Ok(stored)
}

/// A tensor that has its parameter's name has its extents too, in whatever order; packed ones aside.
fn check_shape(built: &BTreeMap<&str, &Parameter>, tensor: &TensorInfo) -> Result<(), StoredError> {
    let Some(parameter) = built.get(tensor.name.as_str()).filter(|_| !is_packed(tensor)) else {
        return Ok(());
    };
    let sorted = |shape: &[u64]| {
        let mut extents: Vec<u64> = shape.iter().copied().filter(|n| *n != 1).collect();
        extents.sort_unstable();
        extents
    };
    if sorted(&tensor.shape) == sorted(&parameter.shape) {
        return Ok(());
    }
    Err(StoredError::Shape {
        tensor: tensor.name.clone(),
        stored: tensor.shape.clone(),
        described: parameter.shape.clone(),
    })
}

/// Whole numbers and 4-bit floats hold several weights each.
fn is_packed(tensor: &TensorInfo) -> bool {
    let integer = matches!(tensor.format, Format::I32 | Format::U8 | Format::U32 | Format::Fp4);
    integer && tensor.shape.len() > 1
}

/// How many layers does each list of layers of the language model have, by the config?
fn check_depths<'a>(
    described: &'a Described,
    tensors: &'a [TensorInfo],
) -> Result<BTreeMap<&'a str, u64>, StoredError> {
    let built = depths(described.parameters.iter().map(|p| p.name.as_str()));
    let there = depths(tensors.iter().map(|t| t.name.as_str()));
    for (list, described_layers) in &built {
        let Some(layers) = there.get(list) else { continue };
        let most = described_layers.saturating_add(described.layers_ahead);
        if layers < described_layers || *layers > most {
            return Err(StoredError::Layers { stored: *layers, described: *described_layers });
        }
    }
    Ok(built)
}

/// Lists of layers by their last name, and how many each has; towers are models of their own.
fn depths<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, u64> {
    let mut seen: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for name in names {
        if let Some((list, number)) = layer_of(name) {
            seen.entry(list).or_default().insert(number);
        }
    }
    seen.into_iter().map(|(list, numbers)| (list, numbers.len() as u64)).collect()
}

/// The list and the number of the layer that a tensor of the language model belongs to.
fn layer_of(name: &str) -> Option<(&str, u64)> {
    if matches!(part_of(name), Part::Vision | Part::Audio | Part::Projector) || is_ahead(name) {
        return None;
    }
    let words: Vec<&str> = name.split('.').collect();
    let (at, number) =
        words.iter().enumerate().skip(1).find_map(|(at, word)| Some((at, word.parse().ok()?)))?;
    let path = words.get(..at)?;
    let list = if path.contains(&"encoder") { "encoder" } else { path.last()? };
    Some((list, number))
}

fn is_ahead(name: &str) -> bool {
    name.split('.').any(|word| AHEAD.contains(&word))
}

fn beyond(name: &str, depths: &BTreeMap<&str, u64>, tied: bool) -> Option<Beyond> {
    let past = layer_of(name).is_some_and(|(list, n)| depths.get(list).is_some_and(|depth| n >= *depth));
    if past || is_ahead(name) {
        Some(Beyond::LayersAhead)
    } else if SCALES.iter().any(|end| name.ends_with(end)) {
        Some(Beyond::Scales)
    } else if BUFFERS.iter().any(|end| name.ends_with(end)) {
        Some(Beyond::Buffers)
    } else if tied && part_of(name) == Part::Head {
        Some(Beyond::TiedCopy)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec;

    use serde_json::json;

    use super::*;
    use crate::archs::describe;

    fn described() -> Described {
        describe(&json!({
            "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64,
            "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
            "intermediate_size": 128, "vocab_size": 100, "tie_word_embeddings": true,
            "num_nextn_predict_layers": 1
        }))
        .unwrap()
    }

    fn tensor(name: &str, shape: &[u64]) -> TensorInfo {
        TensorInfo { name: name.to_string(), format: Format::Bf16, shape: shape.into(), end: 0 }
    }

    fn files(described: &Described) -> Vec<TensorInfo> {
        described.parameters.iter().map(|p| tensor(&p.name, &p.shape)).collect()
    }

    #[test]
    fn what_is_stored_beside_parameters_is_counted_by_name() {
        let described = described();
        let mut tensors = files(&described);
        let built = described.counts().built;
        assert_eq!(stored(&described, &tensors).unwrap().values, built);
        tensors.push(tensor("lm_head.weight", &[100, 64]));
        tensors.push(tensor("model.layers.2.eh_proj.weight", &[64, 128]));
        tensors.push(tensor("model.layers.0.self_attn.rotary_emb.inv_freq", &[8]));
        tensors.push(tensor("model.layers.0.mlp.up_proj.weight_scale_inv", &[1, 1]));
        let stored = stored(&described, &tensors).unwrap();
        let beyond = [
            (Beyond::LayersAhead, 64 * 128),
            (Beyond::TiedCopy, 6400),
            (Beyond::Buffers, 8),
            (Beyond::Scales, 1),
        ];
        assert_eq!(stored.beyond, BTreeMap::from(beyond));
        assert_eq!(stored.values, built + 64 * 128 + 6400 + 8 + 1);
        assert_eq!(stored.bytes, Bytes(stored.values * 2));
    }

    #[test]
    fn files_of_another_model_are_refused() {
        let described = described();
        let mut wide = files(&described);
        wide[0].shape = vec![100, 65];
        assert!(matches!(stored(&described, &wide), Err(StoredError::Shape { .. })));
        let mut deep = files(&described);
        deep.extend((2..4).map(|i| tensor(&format!("model.layers.{i}.mlp.up_proj.weight"), &[128, 64])));
        let error = stored(&described, &deep).unwrap_err();
        assert_eq!(error, StoredError::Layers { stored: 4, described: 2 });
        let shallow: Vec<_> =
            files(&described).into_iter().filter(|t| !t.name.contains("layers.1.")).collect();
        let error = stored(&described, &shallow).unwrap_err();
        assert_eq!(error, StoredError::Layers { stored: 1, described: 2 });
    }
}
