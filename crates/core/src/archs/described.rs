//! What a config.json describes: the language model's facts, and every parameter the library creates.

use alloc::vec::Vec;

use serde_json::Value;

use super::built::{Modules, Text};
use super::families::{self, Family, Whole};
use super::{ArchError, Counts, Facts};
use crate::formats::hf_config::{Assumed, Config};
use crate::model::Parameter;

/// Names that the number of layers ahead goes by.
const LAYERS_AHEAD: &[&str] =
    &["num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers", "num_mtp_modules"];

/// What does a config.json describe?
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The language model, layer by layer.
    pub facts: Facts,
    /// Every parameter the library creates, towers included.
    pub parameters: Vec<Parameter>,
    /// Layers for predicting more than one token ahead that files of the model hold; the library builds
    /// none of them.
    pub layers_ahead: u64,
    /// The fields that were left to the library's class.
    pub assumed: Vec<Assumed>,
}

impl Described {
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
    let (family, text, facts) = language_model(&config)?;
    let mut modules = Modules::default();
    let language = Text { facts: &facts, config: &text };
    match families::wrapper(config.model_type()) {
        Some(wrapper) => {
            let whole = Whole { config: &config, text: language, family };
            wrapper.build(&mut modules, &whole, config.class())?;
        }
        None => family.build(&mut modules, &language, config.class())?,
    }
    let parameters = modules.finish()?;
    let layers_ahead = text.uint(LAYERS_AHEAD)?.unwrap_or(0);
    Ok(Described { parameters, layers_ahead, assumed: config.assumed(), facts })
}

/// The family, the part of the config and the facts of the language model.
pub(super) fn language_model<'a>(
    config: &Config<'a>,
) -> Result<(&'static Family, Config<'a>, Facts), ArchError> {
    let outer = config.model_type();
    let wrapper = families::wrapper(outer);
    let default = wrapper.map_or(outer, |w| w.text);
    let text = config.language_model(default, wrapper.is_none_or(|w| w.flat))?;
    let stated = Some(text.model_type()).filter(|inner| !inner.is_empty() && *inner != outer);
    let by_type = stated.and_then(families::by_model_type).or_else(|| families::by_model_type(default));
    let by_class = || families::by_class(config.class());
    let family = by_type.map(|family| (family, default)).or_else(by_class);
    let (family, class) = family.ok_or_else(|| ArchError::Unknown(stated.unwrap_or(outer).into()))?;
    let text = text.as_class(class);
    let mut facts = family.read(&text)?;
    if wrapper.is_some() {
        facts.tied = config.flag("tie_word_embeddings")?.unwrap_or(facts.tied);
    }
    Ok((family, text, facts))
}
