//! Compute buffers by the largest-live-set rule: which tensors of a forward pass are alive at once?
//!
//! The engine's buffers are the high-water mark of an allocator over its graph. This rule adds up the
//! tensors that must be alive together in the largest part of the pass and says by how much it missed
//! on recorded runs; it does not walk the graph.

use alloc::borrow::Cow;

use super::placement::{Card, Placement};
use super::settled::Settled;
use crate::case::Case;
use crate::dtype::Format;
use crate::ledger::{Basis, Buffer, Estimate, Item, Ledger, Line, Peak, Why};
use crate::machine::{Backend, DeviceId};
use crate::model::{Attention, Ffn, Latent, Layer, Mixer, Recurrent, Role, Tensor};
use crate::rules::cache::{row_of, rows_bytes};
use crate::setup::Toggle;
use crate::units::{Bytes, Tokens};

/// How far the truth may lie from the rule.
struct Band {
    /// Percent of the estimate below it.
    below: u64,
    /// Percent of the estimate above it.
    above: u64,
    /// The recorded runs it was held against, if any.
    runs: Option<Runs>,
}

/// Recorded runs, and how many of them a band holds.
#[derive(Clone, Copy)]
struct Runs {
    samples: u32,
    inside_percent: u8,
}

impl Band {
    /// The band for a placement. Only CUDA and the CPU have runs that the rule was held against.
    fn of(placement: &Placement, settled: &Settled<'_>) -> &'static Self {
        if placement.gpus().iter().any(|card| card.backend != Backend::Cuda) {
            &UNMEASURED
        } else if placement.is_in_one_place(settled) {
            &IN_ONE_PLACE
        } else {
            &SPREAD
        }
    }

    fn basis(&self) -> Basis {
        self.runs.map_or(Basis::Assumed, |Runs { samples, inside_percent }| Basis::Fitted {
            samples,
            inside_percent,
            source: Cow::Borrowed(SOURCE),
        })
    }
}

/// Everything on one CUDA card (892 runs) or on the CPU (140).
const IN_ONE_PLACE: Band =
    Band { below: 15, above: 50, runs: Some(Runs { samples: 1032, inside_percent: 96 }) };
/// Several CUDA cards, or a part on the host.
const SPREAD: Band = Band { below: 30, above: 80, runs: Some(Runs { samples: 682, inside_percent: 96 }) };
/// Other backends. The recorded Vulkan runs are of a software renderer that hands whole operations to the
/// CPU: they tell how far off the rule can be, not how far it is on a card.
const UNMEASURED: Band = Band { below: 90, above: 80, runs: None };
/// Copies of every input that several cards working in turn hold at once.
const PIPELINE_COPIES: u64 = 4;
const SOURCE: &str = "runs of llama.cpp v0.5.0";

/// Bytes of a 32-bit float, the format of almost every intermediate tensor.
const F32: u64 = 4;
/// Bytes of a row index.
const INDEX: u64 = 8;

/// Charges the compute buffer of every GPU in use, and of the host.
pub(super) fn charge(case: &Case<'_>, settled: &Settled<'_>, placement: &Placement, ledger: &mut Ledger) {
    let pass = Pass {
        case,
        settled,
        on_gpu: !placement.gpus().is_empty(),
        pipelined: placement.is_pipelined(settled),
        band: Band::of(placement, settled),
    };
    for (number, card) in placement.gpus().iter().enumerate() {
        // The first card also multiplies what lies on the host, one weight copied in at a time.
        let helps = number == 0 && settled.given.op_offload;
        let here = |device: Option<DeviceId>| device == Some(card.id) || (helps && device.is_none());
        let layers = pass.layers(|i| here(placement.gpu_of(i)));
        let head = here(placement.output()).then(|| pass.head());
        let layers = layers.map(|set| set.with(pass.streamed(placement, card, helps)));
        let set = layers.into_iter().chain(head).max().unwrap_or(Set::NONE);
        ledger.add(line(&pass, card.id, Buffer::Device, set));
    }
    let host = placement.host();
    let on_host = |i: usize| placement.gpu_of(i).is_none();
    let set = if placement.gpus().is_empty() || !settled.given.op_offload {
        let head = placement.output().is_none().then(|| pass.head());
        pass.layers(on_host).into_iter().chain(head).max()
    } else {
        pass.cached_layers(on_host)
    };
    let inputs = Set { bytes: pass.held_inputs(), peak: Peak::Inputs };
    let set = set.map_or(inputs, |set| set.max(inputs)).with(pass.unused_input());
    ledger.add(line(&pass, host.device, host.buffer, set));
}

/// Tensors alive at once, and the part of the pass they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Set {
    bytes: Bytes,
    peak: Peak,
}

impl Set {
    const NONE: Self = Self { bytes: Bytes::ZERO, peak: Peak::Inputs };

    /// The same set with more alive beside it.
    fn with(self, more: Bytes) -> Self {
        Self { bytes: self.bytes + more, ..self }
    }
}

fn line(pass: &Pass<'_>, device: DeviceId, buffer: Buffer, set: Set) -> Line {
    let (Set { bytes, peak }, band) = (set, pass.band);
    Line {
        item: Item::ComputeBuffer,
        device,
        buffer,
        bytes: Estimate {
            low: bytes.scaled(100 - band.below, 100),
            likely: bytes,
            high: bytes.scaled(100 + band.above, 100),
        },
        why: Why::LargestLiveSet { batch: Tokens(pass.settled.tokens), peak },
        basis: band.basis(),
    }
}

/// One forward pass over a full batch.
struct Pass<'a> {
    case: &'a Case<'a>,
    settled: &'a Settled<'a>,
    on_gpu: bool,
    pipelined: bool,
    band: &'static Band,
}

impl Pass<'_> {
    /// Bytes of one 32-bit tensor with `width` values a token.
    fn tensor(&self, width: u64) -> Bytes {
        Bytes(width.saturating_mul(F32)) * self.settled.tokens
    }

    /// The largest set among some layers.
    fn layers(&self, is_here: impl Fn(usize) -> bool) -> Option<Set> {
        self.sets(is_here).max().map(|set| set.with(self.held_inputs()))
    }

    /// The largest set of attention or recurrence among some layers: what stays with a cache on the
    /// host while a card multiplies.
    fn cached_layers(&self, is_here: impl Fn(usize) -> bool) -> Option<Set> {
        let cached = self.sets(is_here).filter(|s| matches!(s.peak, Peak::Attention | Peak::Recurrence));
        cached.max().map(|set| set.with(self.held_inputs()))
    }

    fn sets(&self, is_here: impl Fn(usize) -> bool) -> impl Iterator<Item = Set> {
        let layers = self.case.model.layers.iter().enumerate();
        let here = layers.filter(move |(i, l)| !l.predicts_ahead && is_here(*i));
        here.flat_map(|(_, layer)| self.layer_sets(layer))
    }

    /// The largest weight on the host that a card multiplies: of its own layers, and the first card of
    /// the host's layers too.
    fn streamed(&self, placement: &Placement, card: &Card, helps: bool) -> Bytes {
        if !self.settled.given.op_offload || placement.leaves_no_matrix_on_host() {
            return Bytes::ZERO;
        }
        let of_card = |layer: Option<u32>| {
            let device = layer.map_or(placement.output(), |i| placement.gpu_of(i as usize));
            device == Some(card.id) || (helps && device.is_none())
        };
        let weights = self.case.model.tensors.iter().filter(|t| {
            matches!(t.role, Role::Matrix | Role::Experts | Role::Output)
                && of_card(t.layer)
                && card.runs(t)
                && placement.weight(t, false).buffer != Buffer::Device
        });
        weights.map(Tensor::size).max().unwrap_or(Bytes::ZERO)
    }

    /// The logits and the normed rows they come from; nothing else is alive by then, but for inputs of
    /// cards that work in turn.
    fn head(&self) -> Set {
        let width = self.case.model.vocab.saturating_add(self.case.model.width);
        let kept = if self.pipelined { self.held_inputs() } else { Bytes::ZERO };
        let bytes = Bytes(width.saturating_mul(F32)) * self.settled.outputs + kept;
        Set { bytes, peak: Peak::Logits }
    }

    /// Inputs of the graph that stay alive through the layers: the embedded tokens, positions, and
    /// mask and row indices of every cache.
    fn inputs(&self) -> Bytes {
        let n = self.settled.tokens;
        let positions = Bytes(n.saturating_mul(F32));
        self.tensor(self.case.model.width) + positions + self.cache_inputs()
    }

    /// Inputs as a GPU holds them: several copies where cards work in turn.
    fn held_inputs(&self) -> Bytes {
        self.inputs() * if self.pipelined { PIPELINE_COPIES } else { 1 }
    }

    /// Embeddings as an input of their own: built into every graph, used by none here.
    fn unused_input(&self) -> Bytes {
        self.tensor(self.case.model.width)
    }

    fn cache_inputs(&self) -> Bytes {
        let n = self.settled.tokens;
        let mask = if self.flash() { Format::F16 } else { Format::F32 }.block_bytes();
        let caches = self.cache_cells();
        let values = if self.settled.transposed_values() { self.widest_values() } else { 1 };
        let indices = Bytes(INDEX.saturating_mul(n)).0.saturating_mul(values.saturating_add(1));
        caches.map(|cells| Bytes(cells.0.saturating_mul(n).saturating_mul(mask)) + Bytes(indices)).sum()
    }

    /// Cells of each cache there is: one for full layers, one for window layers.
    fn cache_cells(&self) -> impl Iterator<Item = Tokens> {
        let layers = || self.case.model.trunk().filter(|l| row_of(l).is_some());
        let full = layers().any(|l| l.mixer.window().is_none());
        let windowed = layers().find_map(|l| l.mixer.window()).map(|w| self.settled.cells_of(Some(w)));
        full.then_some(self.settled.cells).into_iter().chain(windowed)
    }

    fn widest_values(&self) -> u64 {
        self.case.model.trunk().filter_map(|l| l.mixer.attention()).map(Attention::v_width).max().unwrap_or(1)
    }

    fn flash(&self) -> bool {
        self.settled.flash_attention != Toggle::Off
    }

    fn layer_sets(&self, layer: &Layer) -> impl Iterator<Item = Set> {
        let mixer = match &layer.mixer {
            Mixer::Attention(a) => Some((self.attention(layer, a), Peak::Attention)),
            Mixer::Parallel(a, r) => {
                Some((self.attention(layer, a).max(self.recurrence(r)), Peak::Attention))
            }
            Mixer::Latent(l) => Some((self.latent(layer, l), Peak::Attention)),
            Mixer::Recurrent(r) => Some((self.recurrence(r), Peak::Recurrence)),
            Mixer::Compressed(_) | Mixer::Bidirectional(_) | Mixer::None => None,
        };
        let both = mixer.into_iter().chain(self.feed_forward(&layer.ffn));
        both.map(|(bytes, peak)| Set { bytes, peak })
    }

    /// Hidden values, their gate and the product; with experts those of every chosen one, or what they
    /// hand back. The stream and its normed copy stay alive.
    fn feed_forward(&self, ffn: &Ffn) -> Option<(Bytes, Peak)> {
        let stream = self.case.model.width;
        let (width, peak) = match *ffn {
            Ffn::Dense { width, gated } => (
                width.saturating_mul(if gated { 3 } else { 1 }).saturating_add(stream.saturating_mul(2)),
                Peak::FeedForward,
            ),
            Ffn::Experts { used, width, .. } => {
                let hidden = width.saturating_mul(3);
                let returned = stream.saturating_mul(2);
                let routed = hidden.max(returned).saturating_mul(used);
                (routed.saturating_add(stream.saturating_mul(4)), Peak::Experts)
            }
            Ffn::None => return None,
        };
        Some((self.tensor(width), peak))
    }

    /// Queries, keys, values and the result; scores where flash attention does not hide them, 16-bit
    /// copies of quantised caches where it does.
    fn attention(&self, layer: &Layer, a: &Attention) -> Bytes {
        let queries = a.heads.saturating_mul(a.k_dim);
        let result = a.heads.saturating_mul(a.v_dim);
        let tokens = self.tensor(queries.saturating_add(result).saturating_add(self.case.model.width));
        let cells = self.settled.cells_of(layer.mixer.window());
        if !self.flash() {
            let scores = a.heads.saturating_mul(cells.0);
            return tokens + self.tensor(scores);
        }
        tokens + self.copies(layer, cells)
    }

    /// Queries as projected, lifted to the latent's width, and joined with their rotary part.
    fn latent(&self, layer: &Layer, l: &Latent) -> Bytes {
        let lifted = l.kv_rank.saturating_mul(2).saturating_add(l.rope_dim).saturating_add(l.k_dim);
        let stream = self.case.model.width.saturating_mul(3);
        let tokens = self.tensor(l.heads.saturating_mul(lifted).saturating_add(stream));
        if self.flash() {
            return tokens + self.copies(layer, self.settled.cells);
        }
        tokens + self.tensor(l.heads.saturating_mul(self.settled.cells.0))
    }

    /// Flash attention on a GPU reads K and V in 16 bits.
    fn copies(&self, layer: &Layer, cells: Tokens) -> Bytes {
        let Some(row) = row_of(layer).filter(|_| self.on_gpu) else { return Bytes::ZERO };
        let cells = Tokens(cells.0.saturating_mul(self.settled.streams));
        let copy = |format: Format, values: u64| {
            if format == Format::F16 { Bytes::ZERO } else { rows_bytes(Format::F16, values, cells) }
        };
        copy(self.case.setup.cache_k, row.k) + copy(self.case.setup.cache_v, row.v)
    }

    /// Projected channels, the convolved copy and the scan's result.
    fn recurrence(&self, recurrent: &Recurrent) -> Bytes {
        let stream = self.case.model.width.saturating_mul(2);
        let channels = match *recurrent {
            Recurrent::StateSpace { inner, state, groups, .. } => {
                inner.saturating_mul(4).saturating_add(groups.saturating_mul(state).saturating_mul(4))
            }
            Recurrent::KimiDelta { heads, head_dim, .. } => heads.saturating_mul(head_dim).saturating_mul(8),
            Recurrent::ShortConv { width, .. } | Recurrent::GatedLinear { width, .. } => {
                width.saturating_mul(6)
            }
            Recurrent::Lightning { heads, head_dim } => heads.saturating_mul(head_dim).saturating_mul(8),
        };
        self.tensor(channels.saturating_add(stream))
    }
}
