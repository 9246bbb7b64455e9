//! Settings as the engine settles them: padding, defaults that depend on each other.
//!
//! `llama-context.cpp: llama_context::llama_context`.

use crate::case::Case;
use crate::model::{Mixer, Window};
use crate::rules::cache::window_cells;
use crate::setup::{EngineSetup, LlamaCpp, Program, Toggle};
use crate::units::Tokens;

/// Contexts are padded to a multiple of this many cells.
pub(super) const CONTEXT_STEP: u64 = 256;

/// A case's settings, settled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled<'a> {
    /// The settings as given.
    pub(super) given: &'a LlamaCpp,
    /// Context over all sequences.
    pub(super) context: Tokens,
    /// Cells of one stream.
    pub(super) cells: Tokens,
    /// Sequences.
    pub(super) sequences: u64,
    /// Streams of the cache: 1 when all sequences share it.
    pub(super) streams: u64,
    /// Physical batch.
    pub(super) ubatch: u64,
    /// Tokens of the largest graph: the physical batch in whole tokens a sequence.
    pub(super) tokens: u64,
    /// Rows of logits that were asked for.
    pub(super) outputs_asked: Option<u64>,
    /// Rows of logits in the largest graph.
    pub(super) outputs: u64,
    /// Flash attention: a quantised V cache switches `auto` on.
    pub(super) flash_attention: Toggle,
}

impl<'a> Settled<'a> {
    /// Settles the settings of a case.
    pub(super) fn of(case: &Case<'a>) -> Self {
        let EngineSetup::LlamaCpp(given) = &case.setup.engine;
        let sequences = case.workload.sequences.max(1);
        let (context, cells) = contexts(case.workload.context, sequences, given.unified_cache);
        let batch = given.batch.min(context.0);
        let ubatch = batch.min(if given.ubatch == 0 { batch } else { given.ubatch });
        let graph = context.0.min(ubatch);
        let outputs_asked = given.outputs.or(server_outputs(given, sequences)).filter(|n| *n > 0);
        Self {
            given,
            context,
            cells,
            sequences,
            streams: if given.unified_cache { 1 } else { sequences },
            ubatch,
            tokens: Tokens(graph).padded(sequences).0,
            outputs_asked,
            outputs: graph.min(outputs_asked.unwrap_or(batch)),
            flash_attention: flash_attention(given.flash_attention, case),
        }
    }

    /// Cells of a cache for layers with this window; window layers may be told to keep everything.
    pub(super) fn cells_of(&self, window: Option<Window>) -> Tokens {
        match window {
            Some(window) if !self.given.full_window_cache => {
                let sharing = if self.streams == 1 { self.sequences } else { 1 };
                window_cells(self.cells, window.tokens(), sharing, self.ubatch, CONTEXT_STEP)
            }
            _ => self.cells,
        }
    }

    /// V is stored transposed only when flash attention was switched off by hand: the layout is fixed
    /// before `auto` is decided.
    pub(super) fn transposed_values(&self) -> bool {
        self.flash_attention == Toggle::Off
    }
}

/// Context over all sequences, and of one stream.
fn contexts(asked: Tokens, sequences: u64, unified: bool) -> (Tokens, Tokens) {
    let whole = Tokens(asked.0.max(1)).padded(CONTEXT_STEP);
    if unified {
        return (whole, whole);
    }
    let each = Tokens((whole.0 / sequences).max(1)).padded(CONTEXT_STEP);
    (Tokens(each.0.saturating_mul(sequences)), each)
}

/// The server reserves logits for its slots; everything else for the whole batch
/// (`server-context.cpp: server_output_limits`).
fn server_outputs(given: &LlamaCpp, sequences: u64) -> Option<u64> {
    (given.program == Program::Server && !given.embeddings).then_some(sequences)
}

fn flash_attention(given: Toggle, case: &Case<'_>) -> Toggle {
    let keeps_values =
        case.model.trunk().any(|l| matches!(l.mixer, Mixer::Attention(_) | Mixer::Parallel(..)));
    match given {
        Toggle::Auto if keeps_values && case.setup.cache_v.is_quantised() => Toggle::On,
        other => other,
    }
}
