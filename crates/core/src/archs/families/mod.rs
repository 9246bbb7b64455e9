//! The families: one short file each, naming the keys it answers to and what it settles.

mod cohere;
mod deepseek;
mod gemma;
mod glm;
mod gpt_oss;
mod granite;
mod hybrid;
mod kimi;
mod lfm2;
mod llama;
mod llama4;
mod mamba;
mod minimax;
mod nemotron_h;
mod olmo_hybrid;
mod phi;
mod plain;
mod qwen;
mod qwen_next;
mod recurrent_gemma;

use super::blocks::Style;
use super::built::{Built, Modules, Text, decoder};
use super::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};

/// A family of architectures that are read and built alike.
#[derive(Debug)]
pub(super) struct Family {
    /// Architecture keys in GGUF; the first one is what a config of this family converts to.
    pub(super) gguf: &'static [&'static str],
    /// Values of `model_type` in config.json.
    pub(super) model_types: &'static [&'static str],
    /// What is particular in the tensor list of a converted file.
    pub(super) style: Style,
    /// Whether the tensor list of a converted file can be built from facts.
    pub(super) builds: bool,
    /// Reads what only this family names in config.json.
    pub(super) config: fn(&Config<'_>, &mut Facts) -> Result<(), ConfigError>,
    /// Fills in what the architecture leaves unsaid in either form: patterns, defaults of the class.
    pub(super) settle: fn(&mut Facts),
    /// Builds the body of the library's model: all but the head.
    pub(super) body: fn(&mut Modules, &Text<'_>) -> Built,
    /// The body's name in a model that has a head.
    pub(super) stem: &'static str,
    /// Builds the head of the library's model for this class.
    pub(super) head: fn(&mut Modules, &Text<'_>, class: &str) -> Built,
}

impl Family {
    /// A family without anything particular.
    const PLAIN: Self = Self {
        gguf: &[],
        model_types: &[],
        style: Style::PLAIN,
        builds: true,
        config: |_, _| Ok(()),
        settle: |_| {},
        body: decoder::usual,
        stem: "model",
        head: usual_head,
    };

    /// Builds what a class of the library holds: a class that is named `…Model` is the body alone.
    pub(super) fn build(&self, m: &mut Modules, text: &Text<'_>, class: &str) -> Built {
        if class.ends_with("Model") {
            return (self.body)(m, text);
        }
        m.under(self.stem, |m| (self.body)(m, text))?;
        (self.head)(m, text, class)
    }
}

/// A language model inside a larger one: with towers for images or sound beside it.
#[derive(Debug)]
pub(super) struct Wrapper {
    /// Values of `model_type` in config.json.
    pub(super) model_types: &'static [&'static str],
    /// Model type of the language model when its part of the config does not say.
    pub(super) text: &'static str,
    /// Builds everything but the head.
    pub(super) body: fn(&mut Modules, &Whole<'_>) -> Built,
    /// The body's name in a model that has a head.
    pub(super) stem: &'static str,
}

impl Wrapper {
    /// A wrapper without anything particular.
    const PLAIN: Self =
        Self { model_types: &[], text: "", body: |m, whole| whole.language_model(m), stem: "model" };

    /// Builds what a class of the library holds: a class that is named `…Model` is the body alone.
    pub(super) fn build(&self, m: &mut Modules, whole: &Whole<'_>, class: &str) -> Built {
        if class.ends_with("Model") {
            return (self.body)(m, whole);
        }
        m.under(self.stem, |m| (self.body)(m, whole))?;
        (whole.family.head)(m, &whole.text, class)
    }
}

/// A model with towers: the outer config, and the language model inside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole<'a> {
    /// The outer config.
    pub(super) config: &'a Config<'a>,
    /// The language model.
    pub(super) text: Text<'a>,
    /// The language model's family.
    pub(super) family: &'static Family,
}

impl Whole<'_> {
    /// Builds the body of the language model under its usual name.
    pub(super) fn language_model(&self, m: &mut Modules) -> Built {
        m.under("language_model", |m| (self.family.body)(m, &self.text))
    }
}

/// The head of a language model, or of a classifier built on one.
fn usual_head(m: &mut Modules, text: &Text<'_>, class: &str) -> Built {
    let facts = text.facts;
    if class.ends_with("ForSequenceClassification") {
        m.linear("score", facts.width, labels(text.config)?, false);
    } else if !facts.tied {
        m.linear("lm_head", facts.width, facts.vocab, false);
    }
    Ok(())
}

/// Labels of a classifier: as many as are named, and two where none is.
fn labels(config: &Config<'_>) -> Result<u64, ConfigError> {
    let named =
        config.raw("id2label").and_then(|labels| labels.as_object()).map(|labels| labels.len() as u64);
    Ok(config.uint(&["num_labels"])?.or(named).unwrap_or(2))
}

static FAMILIES: &[&[Family]] = &[
    llama::FAMILIES,
    llama4::FAMILIES,
    qwen::FAMILIES,
    qwen_next::FAMILIES,
    gemma::FAMILIES,
    phi::FAMILIES,
    gpt_oss::FAMILIES,
    deepseek::FAMILIES,
    kimi::FAMILIES,
    glm::FAMILIES,
    cohere::FAMILIES,
    granite::FAMILIES,
    hybrid::FAMILIES,
    minimax::FAMILIES,
    olmo_hybrid::FAMILIES,
    recurrent_gemma::FAMILIES,
    lfm2::FAMILIES,
    mamba::FAMILIES,
    nemotron_h::FAMILIES,
    plain::FAMILIES,
];

static WRAPPERS: &[&[Wrapper]] = &[gemma::WRAPPERS];

/// The wrapper that a `model_type` of config.json belongs to.
pub(super) fn wrapper(model_type: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().flat_map(|group| group.iter()).find(|w| w.model_types.contains(&model_type))
}

/// The family that an architecture key of a GGUF file belongs to.
pub(super) fn by_gguf(arch: &str) -> Option<&'static Family> {
    all().find(|f| f.gguf.contains(&arch))
}

/// The family that a `model_type` of config.json belongs to.
pub(super) fn by_model_type(model_type: &str) -> Option<&'static Family> {
    all().find(|f| f.model_types.contains(&model_type))
}

fn all() -> impl Iterator<Item = &'static Family> {
    FAMILIES.iter().flat_map(|group| group.iter())
}

/// Mixers from config.json's own list: `names` mark layers of kind `listed`, all others are `other`.
fn kinds_from_words(
    config: &Config<'_>,
    facts: &mut Facts,
    names: &[&str],
    (listed, other): (LayerKind, LayerKind),
) -> Result<(), ConfigError> {
    if let Some(words) = config.words_per_layer("layer_types", facts.layers)? {
        facts.kinds = words.iter().map(|word| if names.contains(word) { listed } else { other }).collect();
    }
    Ok(())
}

/// A hybrid whose GGUF marks recurrent layers by 0 key/value heads; a config has listed them already.
fn settle_by_kv_heads(facts: &mut Facts, attention: LayerKind) {
    if facts.kinds.is_empty() {
        facts.set_kinds(|f, i| if f.kv_heads.at(i) == 0 { LayerKind::Recurrent } else { attention });
    } else if let PerLayer::All(n) = facts.kv_heads {
        let listed = facts.kinds.iter().map(|k| if *k == LayerKind::Recurrent { 0 } else { n });
        facts.kv_heads = PerLayer::Each(listed.collect());
    }
}
