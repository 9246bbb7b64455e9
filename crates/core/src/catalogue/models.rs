//! Named models: the facts of their configs, by hub id, its last part, or alias.

use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::generated::MODELS;
use super::{Lookup, normalise};
use crate::archs::{self, ArchError, Described};
use crate::formats::hf_config::Config;
use crate::model::Model;
use crate::quants::{self, Making, Recipe};
use crate::units::Tokens;

/// What is known of one model? Its config is the published one, less what decides no shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelRow {
    /// Id on the hub.
    pub id: String,
    /// How much used it is: 1 the most, 3 the least.
    pub tier: Option<u8>,
    /// Name for people.
    pub name: String,
    /// Other names that people type.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Hub ids of siblings of the same shape (base, instruction-tuned) that it answers for.
    #[serde(default)]
    pub same_shape: Vec<String>,
    /// The family of models.
    pub family: String,
    /// Class of the model in the config.
    pub architecture: Option<String>,
    /// Type of the model in the config.
    pub model_type: String,
    /// Architecture key of a GGUF of it, where there is one.
    pub gguf_arch: Option<String>,
    /// Longest context stated, where one is.
    pub context_length: Option<Tokens>,
    /// Parameters counted from the config.
    pub parameters: Option<u64>,
    /// Parameters the hub states.
    pub parameters_published: Option<u64>,
    /// Why the two differ.
    pub published_note: Option<String>,
    /// Licence.
    pub licence: Option<String>,
    /// Date of release.
    pub release: Option<String>,
    /// Where the config is from.
    pub source: String,
    /// A repository with GGUF files of it.
    #[serde(default)]
    pub gguf_repository: Option<String>,
    /// Parameters of the language model alone, where the whole has vision or audio towers too.
    pub parameters_text: Option<u64>,
    /// Its files hold everything in one format, also what others of its type keep in 32 bits.
    #[serde(default)]
    pub one_format: bool,
    /// What else to know of the config.
    pub notes: Option<String>,
    /// The config, its nulls included.
    pub config: serde_json::Value,
}

impl ModelRow {
    /// The model with its weights in these formats, as files of it are published.
    ///
    /// # Errors
    /// The config is of a family that nobody here knows, or makes no sense.
    pub fn build(&self, recipe: Recipe) -> Result<Model, ArchError> {
        self.build_described(&self.describe()?, recipe)
    }

    /// The same, of what its config was found to describe.
    ///
    /// # Errors
    /// Nobody here knows what tensors a file of this architecture holds.
    pub fn build_described(&self, described: &Described, recipe: Recipe) -> Result<Model, ArchError> {
        let making = Making::published(recipe, self.release.as_deref());
        let mut model = converted(self.name.clone(), described, making)?;
        // A config states how far positions reach; the row, how far the model was made for.
        model.context_length = self.context_length.or(model.context_length);
        Ok(model)
    }

    /// What its config describes.
    ///
    /// # Errors
    /// The config is of a family that nobody here knows, or makes no sense.
    pub fn describe(&self) -> Result<Described, ArchError> {
        archs::describe(&self.config)
    }

    /// The mix that files of this model come in when nobody asks for another: the one its makers publish
    /// it in, else the usual one.
    pub fn usual_recipe(&self) -> Recipe {
        usual_recipe(&self.config)
    }
}

/// The mix that files of the model of this config come in when nobody asks for another.
pub fn usual_recipe(config: &serde_json::Value) -> Recipe {
    match Config::new(config).ok().and_then(|config| config.native_quantisation()) {
        Some("mxfp4") => Recipe::Mxfp4Moe,
        _ => Recipe::Q4KM,
    }
}

/// The model that a config describes, as a file made like this would hold it.
///
/// # Errors
/// Nobody here knows what tensors a file of this architecture holds.
pub fn converted(name: String, described: &Described, making: Making) -> Result<Model, ArchError> {
    let facts = &described.facts;
    let tensors = archs::converted(described).ok_or_else(|| ArchError::NotConverted(facts.arch.clone()))?;
    let mut model = archs::model(name, facts, tensors, 0);
    quants::apply(making, &mut model);
    Ok(model)
}

/// Which model has this name? Its hub id, then the id's last part, then an alias or a sibling of
/// the same shape. No name stands for two models: the build checks it.
pub fn find_model(name: &str) -> Lookup<ModelRow> {
    MODELS.find(&normalise(name))
}

/// Which models are there?
pub fn models() -> impl Iterator<Item = ModelRow> {
    MODELS.all()
}

/// Which names of models are there, normalised and in order? For finding the nearest one.
pub fn model_names() -> impl Iterator<Item = &'static str> {
    MODELS.all_names()
}
