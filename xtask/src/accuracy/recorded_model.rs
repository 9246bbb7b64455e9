//! Models as the llama.cpp corpus describes them: metadata and a tensor list in ranges of layers.

use anyhow::{Context, Result, anyhow};
use serde_json::{Map, Value};
use vramplan_core::archs::{self, KeyError, KeyProblem, Keys, PerLayer};
use vramplan_core::dtype::Format;
use vramplan_core::model::{Model, Tensor};

/// Tensors start at multiples of this in a file.
const FILE_ALIGNMENT: u64 = 32;

/// Metadata without the architecture prefix.
struct RecordedKeys<'a>(&'a Map<String, Value>);

impl RecordedKeys<'_> {
    fn value(&self, key: &str) -> Option<&Value> {
        self.0.get(key.split_once('.').map_or(key, |(_, rest)| rest))
    }
}

fn wrong(key: &str, wanted: &'static str) -> KeyError {
    KeyError { key: key.into(), problem: KeyProblem::WrongType { wanted } }
}

fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_bool().map(u64::from))
}

impl Keys for RecordedKeys<'_> {
    fn uint(&self, key: &str) -> Result<Option<u64>, KeyError> {
        self.value(key).map(|v| v.as_u64().ok_or_else(|| wrong(key, "a number"))).transpose()
    }

    fn per_layer(&self, key: &str) -> Result<Option<PerLayer>, KeyError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let read = match value {
            Value::Array(list) => list.iter().map(number).collect::<Option<_>>().map(PerLayer::Each),
            other => number(other).map(PerLayer::All),
        };
        read.map(Some).ok_or_else(|| wrong(key, "numbers"))
    }
}

/// Builds the model that an entry of `llama_cpp_models.json` describes.
pub(crate) fn model(name: &str, entry: &Value) -> Result<Model> {
    let arch = entry["arch"].as_str().context("no arch")?;
    let keys = entry["kv"].as_object().context("no kv")?;
    let mut facts = archs::facts_of_gguf(arch, &RecordedKeys(keys))?;
    let tensors = tensors(arch, entry)?;
    facts.observe(&tensors);
    Ok(archs::model(name.into(), &facts, tensors, 0))
}

/// The tensors in the order of the file: global ones first, then layer by layer.
fn tensors(arch: &str, entry: &Value) -> Result<Vec<Tensor>> {
    let mut list = Vec::new();
    for group in entry["tensors"].as_array().context("no tensors")? {
        let name = group["name"].as_str().context("no name")?;
        let format: Format =
            group["type"].as_str().and_then(|t| t.parse().ok()).ok_or_else(|| anyhow!("type of {name}"))?;
        let shape = shape(group)?;
        for layer in layers(group) {
            let name = layer.map_or_else(|| name.to_owned(), |i| name.replace("{i}", &i.to_string()));
            list.push(archs::tensor(arch, name, shape, format, 0));
        }
    }
    list.sort_by_key(|t| t.layer.map_or(0, |i| i + 1));
    let mut offset = 0_u64;
    for tensor in &mut list {
        tensor.offset = offset;
        offset += tensor.size().padded(FILE_ALIGNMENT).0;
    }
    Ok(list)
}

fn shape(group: &Value) -> Result<[u64; 4]> {
    let mut shape = [1; 4];
    for (to, from) in shape.iter_mut().zip(group["shape"].as_array().context("no shape")?) {
        *to = from.as_u64().context("bad shape")?;
    }
    Ok(shape)
}

/// The layers of a group; one `None` for a tensor outside the layers.
fn layers(group: &Value) -> Vec<Option<u64>> {
    let Some(ranges) = group["layers"].as_array() else { return vec![None] };
    let bounds = |r: &Value| Some((r[0].as_u64()?, r[1].as_u64()?));
    ranges.iter().filter_map(bounds).flat_map(|(a, b)| (a..=b).map(Some)).collect()
}
