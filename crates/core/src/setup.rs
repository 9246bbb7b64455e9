//! The knobs of an engine, all settled: what a case is evaluated with.

use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dtype::Format;

/// Which engine, with which settings?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setup {
    /// Format of the K cache.
    pub cache_k: Format,
    /// Format of the V cache.
    pub cache_v: Format,
    /// The engine and the settings only it has.
    pub engine: EngineSetup,
}

/// The engine and its own settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "id", rename_all = "snake_case")]
pub enum EngineSetup {
    /// llama.cpp.
    LlamaCpp(LlamaCpp),
}

/// Settings of llama.cpp; the comments name its own flags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlamaCpp {
    /// Which program runs: it decides how many rows of logits are reserved.
    pub program: Program,
    /// Logical batch (`-b`).
    pub batch: u64,
    /// Physical batch (`-ub`).
    pub ubatch: u64,
    /// Flash attention (`-fa`).
    pub flash_attention: Toggle,
    /// Layers on the GPU, the output counted as one (`-ngl`); `None` is all.
    pub gpu_layers: Option<u64>,
    /// How layers are dealt to several GPUs (`-sm`).
    pub split: Split,
    /// The card that holds everything when nothing is dealt (`-mg`).
    pub main_gpu: u16,
    /// Shares of the GPUs (`-ts`); empty goes by free memory.
    pub tensor_split: Vec<f32>,
    /// Experts of so many first layers stay in system memory (`--n-cpu-moe`).
    pub host_experts: u64,
    /// Tensors put elsewhere by name; the first pattern that matches wins (`-ot`).
    pub overrides: Vec<Override>,
    /// One cache for all sequences (`-kvu`).
    pub unified_cache: bool,
    /// Cache in system memory (`-nkvo`).
    pub cache_on_host: bool,
    /// The GPU multiplies large batches with weights that lie on the host (off: `--no-op-offload`).
    pub op_offload: bool,
    /// Window layers keep the whole context (`--swa-full`).
    pub full_window_cache: bool,
    /// Embeddings are returned beside logits.
    pub embeddings: bool,
    /// Rows of logits reserved; `None` lets the program decide.
    pub outputs: Option<u64>,
    /// How the file is read (`--load-mode`).
    pub load: Load,
    /// Weights are rearranged for the CPU's kernels (off: `--no-repack`).
    pub repack: bool,
}

impl Default for LlamaCpp {
    /// The engine's own defaults, of the library (v0.5.0 `common/common.h`, `llama_context_default_params`).
    fn default() -> Self {
        Self {
            program: Program::Library,
            batch: 2048,
            ubatch: 512,
            flash_attention: Toggle::Auto,
            gpu_layers: None,
            split: Split::Layer,
            main_gpu: 0,
            tensor_split: Vec::new(),
            host_experts: 0,
            overrides: Vec::new(),
            unified_cache: false,
            cache_on_host: false,
            op_offload: true,
            full_window_cache: false,
            embeddings: false,
            outputs: None,
            load: Load::Mapped,
            repack: true,
        }
    }
}

/// Tensors whose names match a pattern go to a place of their own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Override {
    /// A regular expression that is searched for in the tensor's name.
    pub pattern: String,
    /// Where matching tensors go.
    pub target: Target,
}

/// Where may a tensor be put?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// System memory.
    Host,
    /// The GPU of this number.
    Gpu(u16),
}

/// Which llama.cpp program runs?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// `llama-server`: logits for its slots only.
    Server,
    /// The library, `llama-bench` and others: logits for the whole batch.
    Library,
}

/// A setting the engine may decide itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Toggle {
    /// The engine decides.
    Auto,
    /// On.
    On,
    /// Off.
    Off,
}

/// How are layers dealt to several GPUs?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Whole layers, one card after the other.
    Layer,
    /// Everything on one card.
    None,
}

/// How is a model file brought into memory?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Mapped: host weights are pages of the file.
    Mapped,
    /// Read into buffers of its own.
    Read,
}
