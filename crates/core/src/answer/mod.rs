//! The one door: a request goes in, an answer comes out. The shape of the answer is a promise.

mod model;
mod sizes;

use alloc::string::String;
use alloc::vec::Vec;

pub use model::{AssumedField, Form, Input, LayerRun, ModelAnswer, Parameters, TensorRun};
pub use sizes::{Size, SizeKind, Weighed};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::command::Command;
use crate::dtype::Format;
use crate::engines::{Refusal, WeightsSource, engine_of, llama_cpp};
use crate::ledger::{Item, Ledger};
use crate::machine::{Backend, Filled, Machine, PoolKind};
use crate::model::Model;
use crate::plan::{Memory, Verdict, evaluate, longest_context};
use crate::setup::{EngineSetup, LlamaCpp, Override, Program, Setup, Split, Toggle};
use crate::units::{Bytes, BytesPerSecond, Tokens};
use crate::workload::Inference;

/// Version of the answer's shape; it grows when a field changes its meaning or goes.
pub const SCHEMA_VERSION: u32 = 1;
/// Context of a plan that names none, when the model allows it.
const OPEN_CONTEXT: Tokens = Tokens(8192);

/// What is asked. Everything that is `None` is chosen here and listed as assumed where it matters.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The model with its weights' formats settled.
    pub model: &'a Model,
    /// What the weights' formats are called, such as `Q4_K_M`.
    pub quant: &'a str,
    /// The hardware.
    pub machine: &'a Machine,
    /// Where a launch command finds the weights.
    pub source: WeightsSource<'a>,
    /// Context in tokens that every sequence gets.
    pub context: Option<Tokens>,
    /// Plan past the context the model was made for.
    pub allow_long_context: bool,
    /// Sequences at once.
    pub sequences: Option<u64>,
    /// Formats of the K and the V cache.
    pub cache: Option<(Format, Format)>,
    /// Tokens in a physical batch.
    pub ubatch: Option<u64>,
    /// Flash attention.
    pub flash_attention: Option<Toggle>,
    /// What goes where, as far as that was said.
    pub placement: Placement,
    /// What was assumed before the request was made: about the model and the machine.
    pub assumed: Vec<Assumption>,
}

impl<'a> Request<'a> {
    /// Asks with everything left open.
    pub fn open(model: &'a Model, quant: &'a str, machine: &'a Machine, source: WeightsSource<'a>) -> Self {
        Self {
            model,
            quant,
            machine,
            source,
            context: None,
            allow_long_context: false,
            sequences: None,
            cache: None,
            ubatch: None,
            flash_attention: None,
            placement: Placement::default(),
            assumed: Vec::new(),
        }
    }
}

/// What goes where, as far as the person said. The default leaves everything to the engine: all layers
/// on the accelerators, dealt by free memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// Layers on accelerators, the output counted as one.
    pub gpu_layers: Option<u64>,
    /// Experts of so many first layers stay in system memory.
    pub host_experts: u64,
    /// Tensors put elsewhere by name.
    pub overrides: Vec<Override>,
    /// Everything on this one card.
    pub only_card: Option<u16>,
    /// Shares of the cards.
    pub tensor_split: Vec<f32>,
    /// The cache in system memory.
    pub cache_on_host: bool,
}

/// Something that changes the answer and was not given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "assumption", rename_all = "snake_case")]
pub enum Assumption {
    /// The quantisation of a model that is not a file.
    Quant {
        /// Its name.
        quant: String,
    },
    /// The rules of the model: its own type is not known.
    ReadAs {
        /// The type whose rules were used.
        model_type: String,
    },
    /// The context.
    Context {
        /// Tokens.
        context: Tokens,
    },
    /// Something about the machine.
    Machine {
        /// What.
        filled: Filled,
    },
    /// Something that is loaded beside the model is not in the plan.
    NotCounted {
        /// What.
        what: Uncounted,
        /// Its bytes on the disk.
        bytes: Bytes,
    },
    /// The release of the engine.
    EngineVersion {
        /// Its name.
        engine: String,
        /// The release.
        version: String,
    },
}

/// What is loaded beside a model, and not in its plan?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Uncounted {
    /// What turns images or sound into the language model's input.
    Projector,
    /// An adapter.
    Adapter,
    /// A draft model.
    Draft,
}

/// Why can there be no answer?
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// A context of no tokens.
    #[error("a context of 0 tokens")]
    NoContext,
    /// No sequence at all.
    #[error("no sequences")]
    NoSequences,
    /// A batch of no tokens.
    #[error("a batch of 0 tokens")]
    NoBatch,
    /// More context than the model was made for, and nobody said it was meant.
    #[error("{asked} asked of a model made for {trained}")]
    ContextTooLong {
        /// What was asked.
        asked: Tokens,
        /// What the model was made for.
        trained: Tokens,
    },
    /// The engine would not start.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// A plan, ready to be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Version of this shape.
    pub schema_version: u32,
    /// Does it fit?
    pub verdict: Verdict,
    /// The model.
    pub model: ModelSummary,
    /// The devices, accelerators first, the CPU last; lines refer to them by number.
    pub devices: Vec<DeviceSummary>,
    /// Each memory: what it has, what it must hold, whether that fits.
    pub memories: Vec<Memory>,
    /// What the model does; the context here is that of all sequences together.
    pub workload: Inference,
    /// Context of one sequence.
    pub context_per_sequence: Tokens,
    /// The context the engine really provides to all sequences, after padding.
    pub engine_context: Tokens,
    /// The settings planned with.
    pub setup: Setup,
    /// Sums over all devices, in bytes.
    pub totals: Totals,
    /// Every allocation.
    pub ledger: Ledger,
    /// How far it could go.
    pub limits: Limits,
    /// What to type.
    pub launch: Command,
    /// What was assumed.
    pub assumed: Vec<Assumption>,
}

/// The model of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSummary {
    /// Name for people.
    pub name: String,
    /// Architecture key.
    pub arch: String,
    /// Stored parameters.
    pub parameters: u64,
    /// Layers of the trunk.
    pub layers: u64,
    /// The context it was made for.
    pub context_length: Option<Tokens>,
    /// What the weights' formats are called.
    pub quant: String,
    /// Bytes of all tensors as stored.
    pub tensor_bytes: Bytes,
}

/// A device of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceSummary {
    /// Catalogue id; empty for the CPU of a named machine.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// How engines drive it.
    pub backend: Backend,
    /// Peak bandwidth of its memory, bytes a second.
    pub bandwidth: Option<BytesPerSecond>,
}

/// Sums over all devices, in bytes; the single best number where a line has a band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Weights, copies of tied embeddings included.
    pub weights: Bytes,
    /// KV caches.
    pub kv_cache: Bytes,
    /// States of recurrent layers.
    pub recurrent_state: Bytes,
    /// Compute buffers.
    pub compute_buffer: Bytes,
    /// Output buffers.
    pub output_buffer: Bytes,
    /// Driver contexts.
    pub runtime_context: Bytes,
}

impl Totals {
    fn of(ledger: &Ledger) -> Self {
        let sum = |item| ledger.total(item).likely;
        Self {
            weights: sum(Item::Weights),
            kv_cache: sum(Item::KvCache),
            recurrent_state: sum(Item::RecurrentState),
            compute_buffer: sum(Item::ComputeBuffer),
            output_buffer: sum(Item::OutputBuffer),
            runtime_context: sum(Item::RuntimeContext),
        }
    }
}

/// How far could this setup go?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// The longest context for every sequence that still fits with these settings; `None` when not
    /// even the shortest does.
    pub longest_context: Option<Tokens>,
    /// Whether that is the model's own limit and not the hardware's.
    pub is_models_own: bool,
    /// What each memory would hold then.
    pub memories: Vec<Memory>,
}

/// What does this model take on this machine, and does it fit?
///
/// # Errors
/// The request makes no sense, or the engine would refuse it.
pub fn answer(request: &Request<'_>) -> Result<Answer, NoAnswer> {
    let mut assumed = request.assumed.clone();
    let workload = workload(request, &mut assumed)?;
    let setup = setup(request)?;
    let case = Case { model: request.model, machine: request.machine, workload, setup: &setup };
    let plan = evaluate(&case)?;
    let engine = engine_of(&setup.engine);
    assumed.retain(|a| matters(a, request.machine, &plan.memories));
    assumed
        .push(Assumption::EngineVersion { engine: "llama.cpp".into(), version: llama_cpp::VERSION.into() });
    Ok(Answer {
        schema_version: SCHEMA_VERSION,
        verdict: plan.verdict,
        model: model_summary(request),
        devices: device_summaries(request.machine),
        memories: plan.memories,
        workload,
        context_per_sequence: Tokens(workload.context.0 / workload.sequences),
        engine_context: engine.context(&case),
        totals: Totals::of(&plan.ledger),
        ledger: plan.ledger,
        limits: limits(&case),
        launch: engine.launch(&case, &request.source),
        assumed,
        setup,
    })
}

/// Whether an assumption bears on the answer: how much system memory there is does when the plan takes
/// a good part of it.
fn matters(assumed: &Assumption, machine: &Machine, memories: &[Memory]) -> bool {
    let Assumption::Machine { filled: Filled::SystemMemory { total } } = assumed else { return true };
    let ram = memories.iter().find(|m| m.kind == PoolKind::Ram);
    machine.gpus().next().is_none() || ram.is_some_and(|m| m.need.high * 2 > *total)
}

fn workload(request: &Request<'_>, assumed: &mut Vec<Assumption>) -> Result<Inference, NoAnswer> {
    let trained = request.model.context_length.filter(|t| t.0 > 0);
    let context = request.context.unwrap_or_else(|| {
        let context = trained.unwrap_or(OPEN_CONTEXT).min(OPEN_CONTEXT);
        assumed.push(Assumption::Context { context });
        context
    });
    let sequences = request.sequences.unwrap_or(1);
    if context.0 == 0 {
        return Err(NoAnswer::NoContext);
    }
    if sequences == 0 {
        return Err(NoAnswer::NoSequences);
    }
    match trained.filter(|t| context > *t && !request.allow_long_context) {
        Some(trained) => Err(NoAnswer::ContextTooLong { asked: context, trained }),
        None => Ok(Inference { context: Tokens(context.0.saturating_mul(sequences)), sequences }),
    }
}

fn setup(request: &Request<'_>) -> Result<Setup, NoAnswer> {
    let defaults = LlamaCpp::default();
    let ubatch = request.ubatch.unwrap_or(defaults.ubatch);
    if ubatch == 0 {
        return Err(NoAnswer::NoBatch);
    }
    let (cache_k, cache_v) = request.cache.unwrap_or((Format::F16, Format::F16));
    let engine = LlamaCpp {
        program: Program::Server,
        batch: defaults.batch.max(ubatch),
        ubatch,
        flash_attention: request.flash_attention.unwrap_or(Toggle::Auto),
        gpu_layers: request.placement.gpu_layers,
        host_experts: request.placement.host_experts,
        overrides: request.placement.overrides.clone(),
        split: request.placement.only_card.map_or(Split::Layer, |_| Split::None),
        main_gpu: request.placement.only_card.unwrap_or_default(),
        tensor_split: request.placement.tensor_split.clone(),
        cache_on_host: request.placement.cache_on_host,
        ..defaults
    };
    Ok(Setup { cache_k, cache_v, engine: EngineSetup::LlamaCpp(engine) })
}

fn model_summary(request: &Request<'_>) -> ModelSummary {
    let model = request.model;
    ModelSummary {
        name: model.name.clone(),
        arch: model.arch.clone(),
        parameters: model.parameters(),
        layers: model.trunk().count() as u64,
        context_length: model.context_length,
        quant: request.quant.into(),
        tensor_bytes: model.tensor_bytes(),
    }
}

fn device_summaries(machine: &Machine) -> Vec<DeviceSummary> {
    let summary = |id| {
        let device = machine.device(id)?;
        Some(DeviceSummary {
            id: device.id.clone(),
            name: device.name.clone(),
            backend: device.backend,
            bandwidth: machine.pool_of(id).and_then(|p| p.bandwidth),
        })
    };
    machine.ids().filter_map(summary).collect()
}

fn limits(case: &Case<'_>) -> Limits {
    let sequences = case.workload.sequences;
    let asked = case.workload.context;
    let most = case.model.context_length.map_or(asked, |t| Tokens(t.0.saturating_mul(sequences)).max(asked));
    let longest = longest_context(case, most);
    let memories = longest.and_then(|context| {
        let mut longest = *case;
        longest.workload.context = context;
        evaluate(&longest).ok().map(|plan| plan.memories)
    });
    Limits {
        longest_context: longest.map(|total| Tokens(total.0 / sequences)),
        is_models_own: longest == Some(most),
        memories: memories.unwrap_or_default(),
    }
}
