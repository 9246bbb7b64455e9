//! Diffusion pipelines by name: the models they are made of, and the stages that those work in.

use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::generated::PIPELINES;
use super::{Lookup, normalise};
use crate::units::Bytes;

/// What is known of one pipeline?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelineRow {
    /// Id on the hub.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Other names that people type.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Licence.
    pub licence: Option<String>,
    /// Date of release.
    pub release: Option<String>,
    /// Where the counts are from.
    pub source: String,
    /// Its models.
    pub parts: Vec<PipelinePart>,
}

/// One model of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PipelinePart {
    /// Its folder in the repository.
    pub name: String,
    /// When it works.
    pub stage: Stage,
    /// Its parameters.
    pub parameters: u64,
    /// What it is, where its folder does not say.
    pub what: Option<String>,
    /// Its parameters are not counted, only near.
    #[serde(default)]
    pub estimated: bool,
}

/// When does a part of a pipeline work? One stage after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Text, and images, into what steers the picture.
    Encode,
    /// Noise into the picture, step by step.
    Denoise,
    /// The picture into pixels.
    Decode,
}

impl PipelineRow {
    /// Weights of all parts at `bits` a value: what stays resident without offloading.
    pub fn resident(&self, bits: u64) -> Bytes {
        self.parts.iter().map(|part| part.weights(bits)).sum()
    }

    /// Weights of the largest part: the peak when each is loaded for its stage and taken away after it.
    pub fn largest_stage(&self, bits: u64) -> Bytes {
        self.parts.iter().map(|part| part.weights(bits)).max().unwrap_or_default()
    }
}

impl PipelinePart {
    /// Its weights at `bits` a value.
    pub const fn weights(&self, bits: u64) -> Bytes {
        Bytes(self.parameters.saturating_mul(bits) / 8)
    }
}

/// Which pipeline has this name?
pub fn find_pipeline(name: &str) -> Lookup<PipelineRow> {
    PIPELINES.find(&normalise(name))
}

/// Which names of pipelines are there, normalised and in order? For finding the nearest one.
pub fn pipeline_names() -> impl Iterator<Item = &'static str> {
    PIPELINES.all_names()
}

/// Which pipelines are there?
pub fn pipelines() -> impl Iterator<Item = PipelineRow> {
    PIPELINES.all()
}
