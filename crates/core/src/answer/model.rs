//! What is known of a model: its parameters under each of their names, its layers and what they keep,
//! its tensors.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA_VERSION;
use super::sizes::Size;
use crate::archs::{Described, ReadAs, Stored, part_of_tensor};
use crate::dtype::Format;
use crate::formats::hf_config::ClassDefault;
use crate::model::{Attention, Ffn, Latent, Layer, Mixer, Model, Part, Role, Tensor};
use crate::rules::cache;
use crate::units::{Bytes, Tokens};

/// A model, explained.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ModelAnswer {
    /// Version of this shape.
    pub schema_version: u32,
    /// Name for people.
    pub name: String,
    /// Architecture key as GGUF writes it; empty where llama.cpp has none.
    pub arch: String,
    /// What the model was read from.
    pub form: Form,
    /// Its parameters, counted three ways.
    pub parameters: Parameters,
    /// What files hold, where there are any.
    pub stored: Option<Stored>,
    /// What it weighs in the forms that people fetch or make; empty for a file, which is one form.
    pub sizes: Vec<Size>,
    /// What can be put in.
    pub inputs: Vec<Input>,
    /// Width of the residual stream.
    pub width: u64,
    /// Tokens in the vocabulary.
    pub vocab: u64,
    /// Whether the head shares the embedding's storage.
    pub tied: bool,
    /// The context it was made for.
    pub context_length: Option<Tokens>,
    /// Equal layers that follow each other, in order.
    pub layers: Vec<LayerRun>,
    /// Layers for predicting more than one token ahead.
    pub layers_ahead: u64,
    /// What one token adds to a 16-bit cache over all layers while it is inside their windows.
    pub cache_per_token: Bytes,
    /// What one sequence keeps in all recurrent layers, in 32 bits.
    pub state_per_sequence: Bytes,
    /// The tensors, equal ones of several layers as one.
    pub tensors: Vec<TensorRun>,
    /// Whose rules were used, where the config's own type of model is not known.
    pub read_as: Option<ReadAs>,
    /// Fields that the library's class filled in.
    pub assumed: Vec<AssumedField>,
}

/// What was a model read from?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// A config of the catalogue.
    Catalogue,
    /// A config.json alone.
    Config,
    /// A config.json with safetensors files.
    Safetensors,
    /// A GGUF file.
    Gguf,
}

/// Parameters, counted three ways; no one of them is "the" count.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Parameters {
    /// What the library, or an engine, builds: layers ahead and buffers apart.
    pub built: u64,
    /// What a token runs through: built, less the experts it is not routed to.
    pub active: u64,
    /// What files hold; `None` without files, or where weights are packed.
    pub stored: Option<u64>,
    /// Those built, by part.
    pub by_part: BTreeMap<Part, u64>,
}

/// What can be put into a model?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Text.
    Text,
    /// Images.
    Image,
    /// Sound.
    Audio,
}

/// Equal layers that follow each other.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LayerRun {
    /// The first of them, counted from 0.
    pub first: u64,
    /// The last of them.
    pub last: u64,
    /// What each of them is.
    #[serde(flatten)]
    pub layer: Layer,
    /// What one token adds to a 16-bit cache of one of them.
    pub cache_per_token: Bytes,
    /// What one sequence keeps in one of them in 32 bits, whatever its length.
    pub state_per_sequence: Bytes,
}

/// Tensors of equal shape in several layers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TensorRun {
    /// Name, `{}` for the number of the layer.
    pub name: String,
    /// Extents as the form writes them: slowest first in safetensors, fastest first in GGUF.
    pub shape: Vec<u64>,
    /// Number format; `None` where no file says.
    pub format: Option<Format>,
    /// How many there are.
    pub count: u64,
}

/// A field that a config left to the library's class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AssumedField {
    /// The field, after the part it is in.
    pub field: String,
    /// What the class puts there.
    pub value: String,
}

impl ModelAnswer {
    /// Explains a model that a config describes, and what its files hold.
    pub fn of_config(name: String, form: Form, described: &Described, stored: Option<Stored>) -> Self {
        let facts = &described.facts;
        let counts = described.counts();
        let layers = runs((0..facts.layers).map(|i| facts.layer(i)));
        let parameters = Parameters {
            built: counts.built,
            active: counts.active,
            stored: stored.as_ref().filter(|s| !s.packed).map(|s| s.values),
            by_part: counts.by_part,
        };
        let tensors = described.parameters.iter().map(|p| (p.name.as_str(), p.shape.clone(), None));
        let mut of_layers = Self::of_layers(layers, parameters);
        if described.hears {
            of_layers.inputs.push(Input::Audio);
        }
        Self {
            name,
            arch: facts.arch.clone(),
            form,
            stored,
            tied: facts.tied,
            width: facts.width,
            vocab: facts.vocab,
            context_length: facts.context_length,
            layers_ahead: described.layers_ahead,
            tensors: tensor_runs(tensors),
            read_as: described.read_as,
            assumed: assumed(described),
            ..of_layers
        }
    }

    /// Explains the model of a GGUF file.
    pub fn of_gguf(model: &Model) -> Self {
        let layers = runs(model.trunk().cloned());
        let tensors = model.tensors.iter().map(|t| (t.name.as_str(), extents(t), Some(t.format)));
        let mut formats: BTreeMap<Format, Bytes> = BTreeMap::new();
        for tensor in &model.tensors {
            *formats.entry(tensor.format).or_default() += tensor.size();
        }
        let values = model.parameters();
        let stored = Stored { values, bytes: model.tensor_bytes(), formats, ..Stored::default() };
        Self {
            name: model.name.clone(),
            arch: model.arch.clone(),
            form: Form::Gguf,
            stored: Some(stored),
            tied: model.is_tied(),
            width: model.width,
            vocab: model.vocab,
            context_length: model.context_length,
            layers_ahead: model.layers.iter().filter(|l| l.predicts_ahead).count() as u64,
            tensors: tensor_runs(tensors),
            ..Self::of_layers(layers, parameters_of_gguf(model))
        }
    }

    fn of_layers(layers: Vec<LayerRun>, parameters: Parameters) -> Self {
        let over_layers = |bytes: fn(&LayerRun) -> Bytes| {
            layers.iter().map(|run| bytes(run) * (run.last - run.first + 1)).sum()
        };
        Self {
            schema_version: SCHEMA_VERSION,
            name: String::new(),
            arch: String::new(),
            form: Form::Config,
            inputs: inputs(&parameters.by_part),
            parameters,
            stored: None,
            sizes: Vec::new(),
            width: 0,
            vocab: 0,
            tied: false,
            context_length: None,
            layers_ahead: 0,
            cache_per_token: over_layers(|run| run.cache_per_token),
            state_per_sequence: over_layers(|run| run.state_per_sequence),
            layers,
            tensors: Vec::new(),
            read_as: None,
            assumed: Vec::new(),
        }
    }
}

/// Equal neighbours as one.
fn runs(layers: impl Iterator<Item = Layer>) -> Vec<LayerRun> {
    let mut runs: Vec<LayerRun> = Vec::new();
    for (i, layer) in layers.enumerate() {
        match runs.last_mut().filter(|run| run.layer == layer) {
            Some(run) => run.last = i as u64,
            None => runs.push(run_of(i as u64, layer)),
        }
    }
    runs
}

fn run_of(i: u64, layer: Layer) -> LayerRun {
    let cached = cached_values(&layer);
    let state = layer.mixer.recurrent().map_or(0, |r| r.conv_values().saturating_add(r.state_values()));
    LayerRun {
        first: i,
        last: i,
        layer,
        cache_per_token: Bytes(cached.saturating_mul(Format::F16.block_bytes())),
        state_per_sequence: Bytes(state.saturating_mul(Format::F32.block_bytes())),
    }
}

/// Values that one token adds to what a layer keeps. A row that stands for several tokens counts in part.
fn cached_values(layer: &Layer) -> u64 {
    let row = cache::row_of(layer).map_or(0, |row| row.k.saturating_add(row.v));
    let beside = match &layer.mixer {
        Mixer::Latent(Latent { indexer, .. }) | Mixer::Attention(Attention { indexer, .. }) => {
            indexer.map_or(0, |indexer| indexer.k_dim)
        }
        Mixer::Compressed(c) => {
            let keys = c.indexer.map_or(0, |indexer| indexer.k_dim);
            c.dim.saturating_add(c.dim.saturating_add(keys).checked_div(c.ratio).unwrap_or(0))
        }
        _ => 0,
    };
    row.saturating_add(beside)
}

fn inputs(by_part: &BTreeMap<Part, u64>) -> Vec<Input> {
    let has = |part: Part| by_part.get(&part).is_some_and(|n| *n > 0);
    let towers = [(Input::Image, has(Part::Vision)), (Input::Audio, has(Part::Audio))];
    let towers = towers.into_iter().filter(|(_, has)| *has).map(|(input, _)| input);
    core::iter::once(Input::Text).chain(towers).collect()
}

/// A file's own tensors: what an engine builds of them leaves out layers ahead and buffers.
fn parameters_of_gguf(model: &Model) -> Parameters {
    let trunk = model.trunk().count() as u64;
    let mut by_part: BTreeMap<Part, u64> = BTreeMap::new();
    let mut idle: u64 = 0;
    for tensor in model.tensors.iter().filter(|t| is_built(t, trunk)) {
        let layer = tensor.layer.and_then(|i| model.layers.get(i as usize));
        let part = part_of_tensor(tensor, layer.map(|l| &l.mixer));
        let sum = by_part.entry(part).or_default();
        *sum = sum.saturating_add(tensor.elements());
        if part == Part::Experts
            && let Some(Ffn::Experts { count, used, .. }) = layer.map(|l| l.ffn)
        {
            let each = tensor.elements() / count.max(1);
            idle = idle.saturating_add(each.saturating_mul(count.saturating_sub(used)));
        }
    }
    let built = by_part.values().fold(0_u64, |sum, n| sum.saturating_add(*n));
    Parameters { built, active: built.saturating_sub(idle), stored: Some(model.parameters()), by_part }
}

/// Whether a tensor is a parameter that engines build: no layer ahead, no rotary table, no correction of
/// a router (a buffer in the library).
fn is_built(tensor: &Tensor, trunk: u64) -> bool {
    let ahead = tensor.layer.is_some_and(|i| u64::from(i) >= trunk);
    !ahead && tensor.role != Role::RopeFactors && !tensor.name.contains("exp_probs_b")
}

fn extents(tensor: &Tensor) -> Vec<u64> {
    tensor.shape[..tensor.dimensions()].to_vec()
}

fn tensor_runs<'a>(tensors: impl Iterator<Item = (&'a str, Vec<u64>, Option<Format>)>) -> Vec<TensorRun> {
    let mut runs: Vec<TensorRun> = Vec::new();
    let mut places: BTreeMap<(String, Vec<u64>, Option<Format>), usize> = BTreeMap::new();
    for (name, shape, format) in tensors {
        let key = (without_numbers(name), shape, format);
        let place = *places.entry(key).or_insert_with_key(|(name, shape, format)| {
            runs.push(TensorRun { name: name.clone(), shape: shape.clone(), format: *format, count: 0 });
            runs.len() - 1
        });
        if let Some(run) = runs.get_mut(place) {
            run.count += 1;
        }
    }
    runs
}

/// A name with `{}` for the number of its layer: every word of digits alone.
fn without_numbers(name: &str) -> String {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    let words: Vec<&str> = name.split('.').map(|word| if is_number(word) { "{}" } else { word }).collect();
    words.join(".")
}

fn assumed(described: &Described) -> Vec<AssumedField> {
    let shown = |value: &ClassDefault| match value {
        ClassDefault::Number(n) => n.to_string(),
        ClassDefault::Flag(flag) => flag.to_string(),
        ClassDefault::Word(word) => (*word).to_string(),
        ClassDefault::Numbers(list) => format!("{list:?}"),
    };
    let field = |a: &crate::formats::hf_config::Assumed| AssumedField {
        field: a.field.clone(),
        value: shown(&a.value),
    };
    described.assumed.iter().map(field).collect()
}
