//! The families: one short file each, naming the keys it answers to and what it settles.

mod afmoe;
mod bailing;
mod bert;
mod bitnet;
mod bloom;
mod clip;
mod cohere;
mod dbrx;
mod deci;
mod deepseek;
mod deepseek4;
mod ernie_vl;
mod exaone;
mod gemma;
mod gemma4;
mod glm;
mod glm5_next;
mod gpt;
mod gpt_oss;
mod granite;
mod hybrid;
mod kimi;
mod laguna;
mod lfm2;
mod llama;
mod llama4;
mod llava;
mod longcat;
mod mamba;
mod mimo;
mod minicpm;
mod minimax;
mod minimax_m3;
mod mllama;
mod modernbert;
mod muse;
mod nemotron_h;
mod olmo;
mod olmo_hybrid;
mod opt;
mod phi;
mod plain;
mod qwen;
mod qwen4;
mod qwen_next;
mod qwen_vl;
mod recurrent_gemma;
mod remote;
mod routed;
mod rwkv;
mod stablelm;
mod step;
mod t5;
mod t5gemma;
mod ungated;
mod whisper;
mod zamba2;

use super::blocks::Style;
use super::built::{Built, Modules, Text, decoder};
use super::facts::{Facts, LayerKind, PerLayer, config};
use super::renamed::{Fate, Names};
use crate::formats::hf_config::{Config, ConfigError, ConfigProblem};
use crate::model::Window;

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
    /// What a converter calls parameters of its own, where its files hold the class's parameters by other
    /// names.
    pub(super) renames: Option<Names>,
    /// Reads what only this family names in config.json.
    pub(super) config: fn(&Config<'_>, &mut Facts) -> Result<(), ConfigError>,
    /// Fills in what the architecture leaves unsaid in either form: patterns, defaults of the class.
    pub(super) settle: fn(&mut Facts),
    /// Builds the body of the library's model: all but the head.
    pub(super) body: fn(&mut Modules, &Text<'_>) -> Built,
    /// The body's name in a model that has a head.
    pub(super) stem: &'static str,
    /// Takes sound in itself.
    pub(super) hears: bool,
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
        renames: None,
        config: |_, _| Ok(()),
        settle: |_| {},
        body: decoder::usual,
        stem: "model",
        hears: false,
        head: usual_head,
    };

    /// A family whose converted files carry tensors that are not built from facts yet.
    const READ_ONLY: Self = Self { builds: false, ..Self::PLAIN };

    /// A family whose converted files hold the class's parameters by the usual names.
    const RENAMED: Self = Self { renames: Some(&[]), ..Self::READ_ONLY };

    /// Reads and settles the facts of a config of this family.
    ///
    /// # Errors
    /// A field is missing, or cannot be meant.
    pub(super) fn read(&self, config: &Config<'_>) -> Result<Facts, ConfigError> {
        let mut facts = config::read(config, self)?;
        (self.settle)(&mut facts);
        config::check(config, &facts)?;
        Ok(facts)
    }

    /// Builds what a class of the library holds: a class that is named `…Model` is the body alone.
    pub(super) fn build(&self, m: &mut Modules, text: &Text<'_>, class: &str) -> Built {
        if is_body(class) {
            return (self.body)(m, text);
        }
        m.under(self.stem, |m| (self.body)(m, text))?;
        (self.head)(m, text, class)
    }
}

/// Converters' names where what follows attention ends in a norm.
const NORMED_AFTER: Names = &[("post_attention_layernorm", Fate::As("post_attention_norm"))];

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
    /// The module that the head stands in; empty for the model itself.
    pub(super) head: &'static str,
    /// The outer config may describe the language model itself, where it has no part that does. Otherwise
    /// the class leaves all of it to its defaults.
    pub(super) flat: bool,
    /// Whose word decides whether the head shares the embedding.
    pub(super) ties: Ties,
}

/// Whose word decides whether the head of a wrapped language model shares the embedding?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ties {
    /// The whole's.
    Whole,
    /// The language model's part.
    Part,
    /// Either of them can tie.
    Either,
    /// Nobody's: the head is always its own.
    Never,
}

impl Wrapper {
    /// A wrapper without anything particular.
    const PLAIN: Self = Self {
        model_types: &[],
        text: "",
        body: |m, whole| whole.language_model(m),
        stem: "model",
        head: "",
        flat: true,
        ties: Ties::Whole,
    };

    /// Whether the head shares the embedding; `part` is what the language model's part says.
    pub(super) fn tied(&self, config: &Config<'_>, part: bool) -> Result<bool, ConfigError> {
        let whole = || Ok(config.flag("tie_word_embeddings")?.unwrap_or(false));
        match self.ties {
            Ties::Whole => whole(),
            Ties::Part => Ok(part),
            Ties::Either => Ok(part || whole()?),
            Ties::Never => Ok(false),
        }
    }

    /// Builds what a class of the library holds: a class that is named `…Model` is the body alone.
    pub(super) fn build(&self, m: &mut Modules, whole: &Whole<'_>, class: &str) -> Built {
        if is_body(class) {
            return (self.body)(m, whole);
        }
        m.under(self.stem, |m| (self.body)(m, whole))?;
        m.under(self.head, |m| (whole.family.head)(m, &whole.text, class))
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

/// Whether a class of the library is a body without a head, by its name (`GPT2LMHeadModel` has one).
fn is_body(class: &str) -> bool {
    class.ends_with("Model") && !class.ends_with("HeadModel")
}

/// A head with a bias, which is its own even where the matrix is shared.
fn biased_head(m: &mut Modules, text: &Text<'_>, class: &str) -> Built {
    usual_head(m, text, class)?;
    if !class.ends_with("ForSequenceClassification") {
        m.parameter("lm_head.bias", &[text.facts.vocab]);
    }
    Ok(())
}

/// The same where this field of the config says so, else the usual one.
fn head_biased_by(m: &mut Modules, text: &Text<'_>, class: &str, field: &str) -> Built {
    let biased = text.config.flag(field)?.unwrap_or(false);
    if biased { biased_head(m, text, class) } else { usual_head(m, text, class) }
}

/// The head of a language model under a name of its own.
fn head_as(m: &mut Modules, text: &Text<'_>, name: &str) -> Built {
    if !text.facts.tied {
        m.linear(name, text.facts.width, text.facts.vocab, false);
    }
    Ok(())
}

/// The head of a language model, or of a classifier built on one.
fn usual_head(m: &mut Modules, text: &Text<'_>, class: &str) -> Built {
    let facts = text.facts;
    if class.ends_with("ForSequenceClassification") {
        m.linear("score", facts.width, labels(text.config)?, false);
    } else if class.ends_with("ForTokenClassification") {
        m.linear("score", facts.width, labels(text.config)?, true);
    } else if class.ends_with("ForQuestionAnswering") {
        return Err(text.config.error(&["architectures"], ConfigProblem::UnknownPart));
    } else {
        return head_as(m, text, "lm_head");
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
    qwen4::FAMILIES,
    bailing::FAMILIES,
    zamba2::FAMILIES,
    gemma::FAMILIES,
    gemma4::FAMILIES,
    phi::FAMILIES,
    gpt_oss::FAMILIES,
    routed::FAMILIES,
    afmoe::FAMILIES,
    laguna::FAMILIES,
    mimo::FAMILIES,
    minimax_m3::FAMILIES,
    ernie_vl::FAMILIES,
    muse::FAMILIES,
    step::FAMILIES,
    mllama::FAMILIES,
    clip::FAMILIES,
    bert::FAMILIES,
    modernbert::FAMILIES,
    t5::FAMILIES,
    t5gemma::FAMILIES,
    whisper::FAMILIES,
    deepseek::FAMILIES,
    deepseek4::FAMILIES,
    longcat::FAMILIES,
    kimi::FAMILIES,
    glm::FAMILIES,
    glm5_next::FAMILIES,
    cohere::FAMILIES,
    granite::FAMILIES,
    hybrid::FAMILIES,
    minimax::FAMILIES,
    olmo_hybrid::FAMILIES,
    recurrent_gemma::FAMILIES,
    lfm2::FAMILIES,
    mamba::FAMILIES,
    nemotron_h::FAMILIES,
    gpt::FAMILIES,
    bloom::FAMILIES,
    opt::FAMILIES,
    dbrx::FAMILIES,
    stablelm::FAMILIES,
    olmo::FAMILIES,
    exaone::FAMILIES,
    ungated::FAMILIES,
    bitnet::FAMILIES,
    minicpm::FAMILIES,
    rwkv::FAMILIES,
    deci::FAMILIES,
    remote::FAMILIES,
    plain::FAMILIES,
];

static WRAPPERS: &[&[Wrapper]] = &[
    gemma::WRAPPERS,
    gemma4::WRAPPERS,
    qwen_vl::WRAPPERS,
    qwen4::WRAPPERS,
    llava::WRAPPERS,
    llama4::WRAPPERS,
    mllama::WRAPPERS,
    glm::WRAPPERS,
    glm5_next::WRAPPERS,
    kimi::WRAPPERS,
    minimax_m3::WRAPPERS,
    ernie_vl::WRAPPERS,
    muse::WRAPPERS,
    step::WRAPPERS,
    clip::WRAPPERS,
    t5gemma::WRAPPERS,
];

/// The wrapper that a `model_type` of config.json belongs to.
pub(super) fn wrapper(model_type: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().flat_map(|group| group.iter()).find(|w| w.model_types.contains(&model_type))
}

/// The family that an architecture key of a GGUF file belongs to.
pub(super) fn by_gguf(arch: &str) -> Option<&'static Family> {
    all().find(|f| f.gguf.contains(&arch))
}

/// The family that a `model_type` of config.json belongs to, and the type as it is written here.
pub(super) fn by_model_type(model_type: &str) -> Option<(&'static Family, &'static str)> {
    types().find(|(_, name)| *name == model_type)
}

/// The family of a class of the library (`LlamaForCausalLM`), and the `model_type` that it goes by. Class
/// names are model types but for capitals and underscores; what follows them is the head.
pub(super) fn by_class(class: &str) -> Option<(&'static Family, &'static str)> {
    let ends = ["For", "LMHeadModel", "Model"];
    let named = ends.iter().find_map(|end| class.find(end)).map_or(class, |at| &class[..at]);
    let plain = |name: &str| name.replace(['_', '-'], "").to_ascii_lowercase();
    let named = plain(named);
    types().find(|(_, name)| plain(name) == named)
}

/// All types of models, with their families.
fn types() -> impl Iterator<Item = (&'static Family, &'static str)> {
    all().flat_map(|family| family.model_types.iter().map(move |name| (family, *name)))
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

/// Reads nothing: the class has no bias in the feed-forward part, whatever the config states.
fn no_ffn_bias(_: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.ffn_bias = false;
    Ok(())
}

/// All matrices have biases where this field says so.
fn biased_by(config: &Config<'_>, facts: &mut Facts, field: &str) -> Result<(), ConfigError> {
    let biased = config.flag(field)?.unwrap_or(false);
    (facts.qkv_bias, facts.output_bias, facts.ffn_bias) = (biased, biased, biased);
    Ok(())
}

/// Windows as most configs state them: how wide, and in which layers, by name or by period.
fn windows(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.window = config.uint(&["sliding_window"])?.map(Window::Sliding);
    kinds_from_words(config, facts, &["sliding_attention"], (LayerKind::Window, LayerKind::Full))?;
    if facts.kinds.is_empty() {
        facts.window_pattern = config.uint(&["sliding_window_pattern"])?.map(PerLayer::All);
    }
    Ok(())
}

/// The same, but without a list or a period windows begin with one layer: the stated one, else `first`.
fn windows_from_layer(config: &Config<'_>, facts: &mut Facts, first: u64) -> Result<(), ConfigError> {
    windows(config, facts)?;
    if facts.kinds.is_empty() && facts.window.is_some() {
        let first = config.uint(&["max_window_layers"])?.unwrap_or(first);
        facts.set_kinds(|_, i| if i >= first { LayerKind::Window } else { LayerKind::Full });
    }
    Ok(())
}

/// A window in every layer, where the config states one. A window that only the class assumes is not
/// taken over: it would make the cache smaller than that of models which were published without one.
fn window_everywhere(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    if config.has("sliding_window") {
        facts.window = config.uint(&["sliding_window"])?.map(Window::Sliding);
        facts.set_kinds(|_, _| LayerKind::Window);
    }
    Ok(())
}

/// Every `period`-th layer looks at everything, unless the config listed the layers.
fn settle_windows(facts: &mut Facts, period: u64) {
    if facts.kinds.is_empty() {
        facts.set_windows(period);
    }
}

/// The same where a window is stated; without one, every layer looks at everything.
fn settle_stated_windows(facts: &mut Facts, period: u64) {
    settle_windows(facts, if facts.window.is_some() { period } else { 0 });
}

/// A hybrid in which every so many-th layer is full attention: the stated number, else `period`; unless the
/// config listed the layers.
fn settle_intervals(facts: &mut Facts, period: u64) {
    let stated = facts.full_attention_interval;
    if facts.kinds.is_empty() {
        let period = if stated > 0 { stated } else { period };
        facts.set_every(period, LayerKind::Full, LayerKind::Recurrent);
    }
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
