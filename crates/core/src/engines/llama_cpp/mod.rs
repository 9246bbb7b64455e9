//! llama.cpp, release v0.5.0 (ggml 0.25): what it puts where and how large its buffers are.
//!
//! Rules are read from the source of ggml-org/llama.cpp v0.5.0, named by `file:function`, and replayed
//! against the library of that tag (docs/ACCURACY.md).

mod archs;
mod backend;
mod cache;
mod compute;
mod launch;
mod overrides;
mod placement;
mod runtime;
mod settled;
mod weights;

use crate::case::Case;
use crate::command::Command;
use crate::dtype::Format;
use crate::engines::{Engine, Refusal, WeightsSource};
use crate::ledger::Ledger;
use crate::machine::Backend;
use crate::model::Mixer;
use crate::rules::cache::row_of;
use crate::setup::{LlamaCpp, Split, Target, Toggle};
use crate::units::Tokens;

use settled::Settled;

/// The version these rules hold for.
pub const VERSION: &str = "v0.5.0";

/// Formats the engine keeps caches in (`common/arg.cpp: kv_cache_types`).
pub const CACHE_FORMATS: &[Format] = &[
    Format::F32,
    Format::F16,
    Format::Bf16,
    Format::Q8_0,
    Format::Q4_0,
    Format::Q4_1,
    Format::Iq4Nl,
    Format::Q5_0,
    Format::Q5_1,
];

/// The engine counts cells in 32 bits (`llama_context_params::n_ctx`).
const MOST_CELLS: Tokens = Tokens(u32::MAX as u64);

/// The engine.
#[derive(Clone, Copy, Debug)]
pub struct LlamaCppEngine;

impl Engine for LlamaCppEngine {
    fn accepts(&self, case: &Case<'_>) -> Result<(), Refusal> {
        let settled = Settled::of(case);
        check_devices(case)?;
        check_overrides(case, settled.given)?;
        check_cache_formats(case, &settled)?;
        if settled.context > MOST_CELLS {
            return Err(Refusal::ContextTooLarge { context: settled.context, most: MOST_CELLS });
        }
        let (outputs, sequences) = (settled.outputs_asked, settled.sequences);
        if outputs.is_some_and(|n| n < sequences) {
            let outputs = outputs.unwrap_or(0);
            return Err(Refusal::FewerOutputsThanSequences { outputs, sequences });
        }
        Ok(())
    }

    fn charge(&self, case: &Case<'_>, ledger: &mut Ledger) {
        let settled = Settled::of(case);
        let placement = placement::Placement::of(case, &settled);
        weights::charge(case, &settled, &placement, ledger);
        cache::charge(case, &settled, &placement, ledger);
        compute::charge(case, &settled, &placement, ledger);
        cache::charge_outputs(case, &settled, &placement, ledger);
        runtime::charge(case, &placement, ledger);
    }

    fn context(&self, case: &Case<'_>) -> Tokens {
        Settled::of(case).context
    }

    fn context_step(&self, case: &Case<'_>) -> Tokens {
        let settled = Settled::of(case);
        Tokens(settled::CONTEXT_STEP.saturating_mul(settled.streams))
    }

    fn launch(&self, case: &Case<'_>, source: &WeightsSource<'_>) -> Command {
        launch::command(case, source)
    }
}

fn check_devices(case: &Case<'_>) -> Result<(), Refusal> {
    match case.machine.devices.iter().find(|d| d.backend == Backend::Other) {
        Some(device) => Err(Refusal::NoBackend { device: device.name.clone() }),
        None => Ok(()),
    }
}

/// Patterns must be readable, and name cards that are there.
fn check_overrides(case: &Case<'_>, given: &LlamaCpp) -> Result<(), Refusal> {
    if let Some(bad) = overrides::unreadable(given) {
        return Err(Refusal::UnreadablePattern { pattern: bad.pattern.clone() });
    }
    let cards = case.machine.gpus().count();
    if given.split == Split::None && cards > 0 && usize::from(given.main_gpu) >= cards {
        return Err(Refusal::NoSuchCard { card: given.main_gpu, cards });
    }
    let missing = given.overrides.iter().find_map(|o| match o.target {
        Target::Gpu(card) if usize::from(card) >= cards => Some(card),
        _ => None,
    });
    missing.map_or(Ok(()), |card| Err(Refusal::NoSuchCard { card, cards }))
}

/// What `llama-context.cpp: llama_init_from_model` refuses.
fn check_cache_formats(case: &Case<'_>, settled: &Settled<'_>) -> Result<(), Refusal> {
    let (k, v) = (case.setup.cache_k, case.setup.cache_v);
    if let Some(format) = [k, v].into_iter().find(|f| !CACHE_FORMATS.contains(f)) {
        return Err(Refusal::CacheFormat { format });
    }
    let latent = case.model.trunk().any(|l| matches!(l.mixer, Mixer::Latent(_)));
    if latent && k != v {
        return Err(Refusal::UnequalCacheFormats { k, v });
    }
    if v.is_quantised() && settled.flash_attention == Toggle::Off && !latent {
        return Err(Refusal::QuantisedValuesWithoutFlashAttention { v });
    }
    check_rows(case, k, v)
}

fn check_rows(case: &Case<'_>, k: Format, v: Format) -> Result<(), Refusal> {
    for layer in case.model.trunk() {
        let heads = match &layer.mixer {
            Mixer::Attention(a) | Mixer::Parallel(a, _) => [(k, a.k_dim), (v, a.v_dim)],
            Mixer::Latent(l) => [(k, l.cache_width()), (k, l.cache_width())],
            Mixer::Recurrent(_) | Mixer::Compressed(_) | Mixer::Bidirectional(_) | Mixer::None => continue,
        };
        if row_of(layer).is_none() {
            continue;
        }
        if let Some((format, values)) = heads.into_iter().find(|(f, n)| f.row_bytes(*n).is_none()) {
            return Err(Refusal::CacheRowNotWholeBlocks { format, values });
        }
    }
    Ok(())
}
