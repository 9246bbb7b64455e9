//! The families: one short file each, naming the keys it answers to and what it settles.

mod cohere;
mod deepseek;
mod falcon_h1;
mod gemma;
mod glm;
mod gpt_oss;
mod granite;
mod jamba;
mod kimi;
mod lfm2;
mod llama;
mod llama4;
mod mamba;
mod nemotron_h;
mod phi;
mod plain;
mod qwen;
mod qwen_next;

use super::blocks::Style;
use super::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError, ConfigProblem};

/// A family of architectures that are read and built alike.
#[derive(Debug)]
pub(super) struct Family {
    /// Architecture keys in GGUF; the first one is what a config of this family converts to.
    pub(super) gguf: &'static [&'static str],
    /// Values of `model_type` in config.json.
    pub(super) model_types: &'static [&'static str],
    /// What is particular in the tensor list.
    pub(super) style: Style,
    /// Whether the tensor list can be built from facts.
    pub(super) builds: bool,
    /// Reads what only this family names in config.json.
    pub(super) config: fn(&Config<'_>, &mut Facts) -> Result<(), ConfigError>,
    /// Fills in what the architecture leaves unsaid in either form: patterns, defaults of the class.
    pub(super) settle: fn(&mut Facts),
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
    };
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
    falcon_h1::FAMILIES,
    jamba::FAMILIES,
    lfm2::FAMILIES,
    mamba::FAMILIES,
    nemotron_h::FAMILIES,
    plain::FAMILIES,
];

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

/// Mixers from config.json's own list: `name` marks layers of kind `listed`, all others are `other`.
fn kinds_from_words(
    config: &Config<'_>,
    facts: &mut Facts,
    name: &str,
    (listed, other): (LayerKind, LayerKind),
) -> Result<(), ConfigError> {
    if let Some(words) = config.words("layer_types")? {
        if (words.len() as u64) < facts.layers {
            return Err(ConfigError { field: "layer_types".into(), problem: ConfigProblem::NotAList });
        }
        facts.kinds = words.iter().map(|word| if *word == name { listed } else { other }).collect();
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
