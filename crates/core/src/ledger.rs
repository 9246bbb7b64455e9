//! The ledger: one line per allocation, with its device, size, reason and basis.
//!
//! Everything people see (text, JSON, launch lines, the comparison with an engine's log) is a view
//! of a ledger. Reasons are typed: words live in the front ends.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dtype::Format;
use crate::machine::DeviceId;
use crate::units::{Bytes, Tokens};

/// What takes the memory, line by line?
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Ledger {
    /// The allocations, in the order they are made.
    pub lines: Vec<Line>,
}

impl Ledger {
    /// Adds a line; lines of no bytes say nothing and are left out.
    pub fn add(&mut self, line: Line) {
        if line.bytes.high > Bytes::ZERO {
            self.lines.push(line);
        }
    }

    /// The lines of one device.
    pub fn on(&self, device: DeviceId) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |l| l.device == device)
    }

    /// What one device must hold: the sum of its lines.
    pub fn need(&self, device: DeviceId) -> Estimate {
        self.on(device).map(|l| l.bytes).sum()
    }

    /// The sum of one item over all devices.
    pub fn total(&self, item: Item) -> Estimate {
        self.lines.iter().filter(|l| l.item == item).map(|l| l.bytes).sum()
    }
}

/// One allocation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// What is allocated.
    pub item: Item,
    /// The device whose memory holds it.
    pub device: DeviceId,
    /// Which kind of buffer of that memory.
    pub buffer: Buffer,
    /// How many bytes.
    pub bytes: Estimate,
    /// Why it is there and why so large.
    pub why: Why,
    /// How the number is known.
    pub basis: Basis,
}

/// A number of bytes with its band; `low == high` when it is known exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Lower end of the band.
    pub low: Bytes,
    /// The single best number.
    pub likely: Bytes,
    /// Upper end of the band.
    pub high: Bytes,
}

impl Estimate {
    /// A number without a band.
    pub const fn exact(bytes: Bytes) -> Self {
        Self { low: bytes, likely: bytes, high: bytes }
    }

    /// Whether there is no band.
    pub fn is_exact(&self) -> bool {
        self.low == self.high
    }
}

impl core::ops::Add for Estimate {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { low: self.low + o.low, likely: self.likely + o.likely, high: self.high + o.high }
    }
}

impl core::iter::Sum for Estimate {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), core::ops::Add::add)
    }
}

/// What is allocated?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// Model weights.
    Weights,
    /// Keys and values of past tokens, and index keys of sparse attention.
    KvCache,
    /// Fixed-size state of recurrent layers.
    RecurrentState,
    /// Scratch of one forward pass.
    ComputeBuffer,
    /// Logits and embeddings handed to the program.
    OutputBuffer,
    /// The driver's own context, kernels and library workspaces.
    RuntimeContext,
}

/// Which kind of buffer of a memory holds a line?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Buffer {
    /// The device's own memory.
    Device,
    /// System memory that the GPU's driver has pinned.
    Pinned,
    /// Plain system memory.
    Host,
    /// System memory with weights rearranged for the CPU's kernels.
    Repacked,
    /// A range of the model file mapped into the address space: it can overlap other buffers and
    /// the system may drop its pages.
    Mapped,
}

/// Why is a line there, and why so large? Named fields, never prose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Why {
    /// Weights of so many layers (the output side counted as `output`).
    Weights {
        /// Tensors in this buffer.
        tensors: u64,
        /// Layers with weights in this buffer.
        layers: u64,
        /// Whether the embedding tables are here.
        embedding: bool,
        /// Whether the output projection is here.
        output: bool,
        /// The format that holds most of these bytes.
        format: Format,
        /// For mapped weights, the span of the file from the first to the last of them: what the
        /// engine prints.
        span: Option<Bytes>,
    },
    /// A cache of `layers` layers with `cells` cells for each of `streams` streams.
    KvCache {
        /// Which layers it serves.
        kind: CacheKind,
        /// Layers with this cache in this buffer.
        layers: u64,
        /// Cells of one stream, after padding.
        cells: Tokens,
        /// Streams: 1 when all sequences share the cells.
        streams: u64,
        /// Format of K.
        k: Format,
        /// Format of V; the same as K where only one is kept.
        v: Format,
        /// Bytes one cell takes over these layers, padding apart.
        bytes_per_token: Bytes,
    },
    /// States of `layers` recurrent layers for `sequences` sequences.
    RecurrentState {
        /// Recurrent layers in this buffer.
        layers: u64,
        /// Sequences with a state of their own.
        sequences: u64,
    },
    /// The largest set of tensors alive at once in a forward pass.
    LargestLiveSet {
        /// Tokens in one physical batch.
        batch: Tokens,
        /// Which part of the pass is largest.
        peak: Peak,
    },
    /// One row of logits (and one embedding) a sequence.
    Outputs {
        /// Rows.
        rows: u64,
        /// Values a row.
        width: u64,
    },
    /// What the driver holds for a process.
    DriverContext {
        /// Multiprocessors or compute units, where the fit depends on them.
        units: Option<u32>,
    },
}

/// Which layers does a cache serve?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Layers that look back over the whole context.
    Full,
    /// Layers that look back over a window.
    Window,
    /// Latent attention.
    Latent,
    /// Index keys of sparse attention.
    IndexKeys,
}

/// Which part of a forward pass holds most memory at once?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Peak {
    /// The logits of a batch.
    Logits,
    /// A dense feed-forward part.
    FeedForward,
    /// The chosen experts of a batch.
    Experts,
    /// Attention scores or flash attention's copies.
    Attention,
    /// A recurrent mixer.
    Recurrence,
    /// Inputs of the graph: masks, embeddings, positions.
    Inputs,
}

/// How is a number known?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "basis", rename_all = "snake_case")]
pub enum Basis {
    /// Counted from the model itself.
    Exact,
    /// A rule of a named engine version, replayed against it.
    Rule {
        /// Where the rule is from.
        source: Cow<'static, str>,
    },
    /// Fitted to measurements.
    Fitted {
        /// How many measurements.
        samples: u32,
        /// Share of them inside the band, in percent.
        inside_percent: u8,
        /// What was measured.
        source: Cow<'static, str>,
    },
    /// Taken for lack of better.
    Assumed,
}
