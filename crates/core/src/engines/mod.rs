//! The engines: each decides what a layer's cache costs, what goes where and what it reserves.

pub mod llama_cpp;

use crate::case::Case;
use crate::command::Command;
use crate::dtype::Format;
use crate::ledger::Ledger;
use crate::setup::EngineSetup;
use crate::units::Tokens;

/// What an engine offers the planner.
pub trait Engine {
    /// Would the engine start this case at all?
    ///
    /// # Errors
    /// The reason it refuses, as the engine itself would.
    fn accepts(&self, case: &Case<'_>) -> Result<(), Refusal>;

    /// Writes every allocation of the case into the ledger.
    fn charge(&self, case: &Case<'_>, ledger: &mut Ledger);

    /// The context the engine really provides when asked for the case's: all sequences, after padding.
    fn context(&self, case: &Case<'_>) -> Tokens;

    /// The step in which the context grows.
    fn context_step(&self, case: &Case<'_>) -> Tokens;

    /// The command that starts the case; `source` says where the weights are.
    fn launch(&self, case: &Case<'_>, source: &WeightsSource<'_>) -> Command;
}

/// Where does a launch command find the weights?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightsSource<'a> {
    /// A file on disk.
    File(&'a str),
    /// A hub repository and the name of a quantisation in it.
    Hub {
        /// Owner and name.
        repository: &'a str,
        /// Name of the quantisation.
        quant: &'a str,
    },
}

/// Why would an engine not start?
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A quantised V cache needs flash attention.
    #[error("a {v} V cache needs flash attention")]
    QuantisedValuesWithoutFlashAttention {
        /// Format of V.
        v: Format,
    },
    /// K and V are one row and must have one format.
    #[error("K is {k} and V is {v}: this model keeps one row for both")]
    UnequalCacheFormats {
        /// Format of K.
        k: Format,
        /// Format of V.
        v: Format,
    },
    /// A row of the cache does not divide into blocks of the format.
    #[error("a row of {values} values does not divide into blocks of {format}")]
    CacheRowNotWholeBlocks {
        /// The format.
        format: Format,
        /// Values of one head.
        values: u64,
    },
    /// The engine has no cache of this format.
    #[error("no cache of format {format}")]
    CacheFormat {
        /// The format.
        format: Format,
    },
    /// More cells than the engine can count.
    #[error("{context} for all sequences, more than {most}")]
    ContextTooLarge {
        /// Tokens of all sequences.
        context: Tokens,
        /// The most the engine can count.
        most: Tokens,
    },
    /// There are not enough outputs for the sequences.
    #[error("{outputs} outputs for {sequences} sequences")]
    FewerOutputsThanSequences {
        /// Rows of logits asked for.
        outputs: u64,
        /// Sequences.
        sequences: u64,
    },
    /// A pattern over tensor names is no regular expression, or uses look-around.
    #[error("{pattern:?} is no regular expression that can be used")]
    UnreadablePattern {
        /// The pattern.
        pattern: alloc::string::String,
    },
    /// Something is put on a card that is not there.
    #[error("no card {card} among {cards}")]
    NoSuchCard {
        /// The card, counted from 0.
        card: u16,
        /// How many there are.
        cards: usize,
    },
    /// The engine cannot use this hardware.
    #[error("no backend for {device}")]
    NoBackend {
        /// Name of the device.
        device: alloc::string::String,
    },
}

/// The engine that a setup names.
pub fn engine_of(setup: &EngineSetup) -> &'static dyn Engine {
    match setup {
        EngineSetup::LlamaCpp(_) => &llama_cpp::LlamaCppEngine,
    }
}
