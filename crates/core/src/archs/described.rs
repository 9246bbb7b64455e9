//! What a config.json describes: the language model's facts, and every parameter the library creates.

use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::built::{Modules, Text};
use super::families::{self, Family, Whole};
use super::{ArchError, Counts, Facts};
use super::{ahead, unbuilt};
use crate::formats::hf_config::{Assumed, Config};
use crate::model::Parameter;

/// Names that the number of layers ahead goes by.
const LAYERS_AHEAD: &[&str] =
    &["num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "num_mtp_modules"];

/// More layers ahead than any model has.
const MOST_AHEAD: u64 = 8;

/// Fields by which the config of a whole shows that it describes its language model itself.
const SIZES: &[&str] = &["hidden_size", "num_hidden_layers"];

/// What does a config.json describe?
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The language model, layer by layer.
    pub facts: Facts,
    /// Every parameter the library creates, towers included.
    pub parameters: Vec<Parameter>,
    /// Buffers that files hold, as far as a class lists them.
    pub(super) kept: Vec<Parameter>,
    /// Layers for predicting more than one token ahead that files of the model hold; the library builds
    /// none of them.
    pub layers_ahead: u64,
    /// In which form files hold those, where it is known.
    pub(super) ahead: Option<ahead::Form>,
    /// The model itself takes sound in, without a tower that does.
    pub hears: bool,
    /// The type of model whose rules the language model was read by.
    pub(super) model_type: &'static str,
    /// Whose rules were used, where the config's own type of model is not known.
    pub read_as: Option<ReadAs>,
    /// The fields that were left to the library's class.
    pub assumed: Vec<Assumed>,
}

/// Whose rules stood in for those of a type of model that is not known?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadAs {
    /// The type of model that they belong to.
    pub model_type: &'static str,
    /// They describe a part of the model alone: what stands beside the language model is not counted.
    pub in_part: bool,
}

impl Described {
    /// What published files hold beside the class's parameters, layers ahead aside.
    pub fn unbuilt(&self) -> Vec<Parameter> {
        let scaled = families::by_model_type(self.model_type).is_some_and(|(f, _)| f.style.layer_scale);
        let mut list = unbuilt::parameters(&self.facts, &self.parameters, scaled);
        list.extend(self.kept.iter().cloned());
        list
    }

    /// Every value that published files hold, under the names of the class: its parameters, what files hold
    /// beside them, and layers ahead.
    pub fn stored(&self) -> Vec<Parameter> {
        let mut list = self.parameters.clone();
        list.extend(self.unbuilt());
        let mut ahead = Vec::new();
        if let Some(form) = self.ahead {
            ahead::parameters(form, self.layers_ahead.min(MOST_AHEAD), &list, &mut ahead);
        }
        list.extend(ahead);
        list
    }

    /// The parameters, counted.
    pub fn counts(&self) -> Counts {
        Counts::of(&self.parameters, self.facts.experts.as_ref().map(|e| (e.count, e.used)))
    }
}

/// Reads a parsed config.json.
///
/// # Errors
/// An unknown `model_type`, or a field that is missing or makes no sense.
pub fn describe(root: &Value) -> Result<Described, ArchError> {
    let config = Config::new(root)?;
    let LanguageModel { family, model_type, text, facts, read_as } = language_model(&config)?;
    let mut modules = Modules::default();
    let language = Text { facts: &facts, config: &text };
    match families::wrapper(config.model_type()) {
        Some(wrapper) => {
            let whole = Whole { config: &config, text: language, family };
            wrapper.build(&mut modules, &whole, config.class())?;
        }
        None => family.build(&mut modules, &language, config.class())?,
    }
    let (parameters, kept) = modules.finish()?;
    let layers_ahead = text.uint(LAYERS_AHEAD)?.unwrap_or(0);
    let ahead = form_ahead(&text);
    let hears = family.hears;
    let assumed = config.assumed();
    Ok(Described { parameters, kept, layers_ahead, ahead, hears, model_type, read_as, assumed, facts })
}

/// The form of layers ahead, by the field that counts them.
fn form_ahead(text: &Config<'_>) -> Option<ahead::Form> {
    if text.has("num_nextn_predict_layers") {
        Some(ahead::Form::OneMore)
    } else {
        text.has("mtp_num_hidden_layers").then_some(ahead::Form::OwnList)
    }
}

/// The language model of a config.
pub(super) struct LanguageModel<'a> {
    /// Its family.
    pub(super) family: &'static Family,
    /// The type of model that it goes by.
    pub(super) model_type: &'static str,
    /// The part of the config that describes it.
    pub(super) text: Config<'a>,
    /// What was read there.
    pub(super) facts: Facts,
    /// Whose rules were used instead of its own.
    pub(super) read_as: Option<ReadAs>,
}

/// Finds and reads the language model of a config.
pub(super) fn language_model<'a>(config: &Config<'a>) -> Result<LanguageModel<'a>, ArchError> {
    let outer = config.model_type();
    let wrapper = families::wrapper(outer);
    let default = wrapper.map_or(outer, |w| w.text);
    let flat = wrapper.is_none_or(|w| w.flat && SIZES.iter().any(|name| config.has(name)));
    let text = config.language_model(default, flat)?;
    let stated = Some(text.model_type()).filter(|inner| !inner.is_empty() && *inner != outer);
    let (family, model_type) = family(config, stated, default)?;
    let in_part = stated.is_some() && wrapper.is_none();
    // A part that names its own type is read by its rules; the whole is known only if a wrapper is.
    let known = if in_part { outer.is_empty() } else { model_type == stated.unwrap_or(default) };
    let read_as = (!known).then_some(ReadAs { model_type, in_part });
    let text = text.as_class(model_type);
    let mut facts = family.read(&text)?;
    if let Some(wrapper) = wrapper {
        facts.tied = wrapper.tied(config, facts.tied)?;
    }
    Ok(LanguageModel { family, model_type, text, facts, read_as })
}

/// The family of a language model and the type it goes by: what its part states, else what the whole leaves
/// to it, else what the name of its class says.
fn family(
    config: &Config<'_>,
    stated: Option<&str>,
    default: &str,
) -> Result<(&'static Family, &'static str), ArchError> {
    let wanted = stated.unwrap_or(default);
    let found = families::by_model_type(wanted).or_else(|| families::by_class(config.class()));
    found.ok_or_else(|| ArchError::Unknown(if wanted.is_empty() { config.class() } else { wanted }.into()))
}
