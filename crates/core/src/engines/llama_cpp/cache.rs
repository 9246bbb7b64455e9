//! KV caches, recurrent states and the output buffer.
//!
//! `llama-kv-cache.cpp, llama-kv-cache-iswa.cpp, llama-kv-cache-dsa.cpp, llama-memory-recurrent.cpp`
//! (constructors), `llama-context.cpp: output_reserve`.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;

use super::backend::Layout;
use super::placement::{Placement, Spot};
use super::settled::Settled;
use crate::case::Case;
use crate::dtype::Format;
use crate::ledger::{Basis, Buffer, CacheKind, Estimate, Item, Ledger, Line, Why};
use crate::machine::Backend;
use crate::model::{Layer, Mixer};
use crate::rules::cache::{Row, row_of, rows_bytes};
use crate::units::{Bytes, Tokens};

const SOURCE: &str = "ggml-org/llama.cpp v0.5.0 src/llama-kv-cache.cpp";
const STATE_SOURCE: &str = "ggml-org/llama.cpp v0.5.0 src/llama-memory-recurrent.cpp";

/// One cache tensor pair of one layer.
struct Slot {
    kind: CacheKind,
    row: Row,
    cells: Tokens,
    formats: (Format, Format),
}

/// What is gathered for one cache in one buffer.
#[derive(Default)]
struct Gathered {
    bytes: Bytes,
    layers: u64,
    bytes_per_token: Bytes,
    slot: Option<Slot>,
}

/// Charges caches and states.
pub(super) fn charge(case: &Case<'_>, settled: &Settled<'_>, placement: &Placement, ledger: &mut Ledger) {
    let mut caches: BTreeMap<(Spot, CacheKind), Gathered> = BTreeMap::new();
    let widest = widest_values(case);
    for (i, layer) in case.model.layers.iter().enumerate().filter(|(_, l)| !l.predicts_ahead) {
        let spot = spot_of(settled, placement, i);
        let layout = layout(case, spot);
        for slot in slots(case, settled, layer, widest) {
            let gathered = caches.entry((spot, slot.kind)).or_default();
            gathered.bytes += slot_bytes(&slot, settled.streams, layout);
            gathered.bytes_per_token += slot_bytes_per_token(&slot);
            gathered.layers += 1;
            gathered.slot = Some(slot);
        }
    }
    for ((spot, kind), gathered) in caches {
        ledger.lines.extend(line(spot, kind, gathered, settled.streams));
    }
    charge_states(case, settled, placement, ledger);
}

fn line(spot: Spot, kind: CacheKind, gathered: Gathered, streams: u64) -> Option<Line> {
    let slot = gathered.slot?;
    Some(Line {
        item: Item::KvCache,
        device: spot.device,
        buffer: spot.buffer,
        bytes: Estimate::exact(gathered.bytes),
        why: Why::KvCache {
            kind,
            layers: gathered.layers,
            cells: slot.cells,
            streams,
            k: slot.formats.0,
            v: slot.formats.1,
            bytes_per_token: gathered.bytes_per_token,
        },
        basis: Basis::Rule { source: Cow::Borrowed(SOURCE) },
    })
}

/// A cache lies with its layer, or in plain system memory.
fn spot_of(settled: &Settled<'_>, placement: &Placement, layer: usize) -> Spot {
    match placement.gpu_of(layer).filter(|_| !settled.given.cache_on_host) {
        Some(device) => Spot { device, buffer: Buffer::Device },
        None => placement.plain_host(),
    }
}

fn layout(case: &Case<'_>, spot: Spot) -> Layout {
    Layout::of(case.machine.device(spot.device).map_or(Backend::Cpu, |d| d.backend))
}

/// The cache tensors a layer needs.
fn slots(case: &Case<'_>, settled: &Settled<'_>, layer: &Layer, widest: u64) -> impl Iterator<Item = Slot> {
    let formats = (case.setup.cache_k, case.setup.cache_v);
    let main = row_of(layer).map(|row| {
        let window = layer.mixer.window();
        let kind = match (&layer.mixer, window) {
            (Mixer::Latent(_), _) => CacheKind::Latent,
            (_, Some(_)) => CacheKind::Window,
            _ => CacheKind::Full,
        };
        // Transposed values are stored as wide as the widest layer's.
        let v = if settled.transposed_values() && row.v > 0 { widest } else { row.v };
        Slot { kind, row: Row { v, ..row }, cells: settled.cells_of(window), formats }
    });
    let index_keys = match &layer.mixer {
        Mixer::Latent(latent) => latent.indexer.map(|indexer| Slot {
            kind: CacheKind::IndexKeys,
            row: Row { k: indexer.k_dim, v: 0 },
            cells: settled.cells,
            formats,
        }),
        _ => None,
    };
    main.into_iter().chain(index_keys)
}

fn widest_values(case: &Case<'_>) -> u64 {
    let widths = case.model.layers.iter().filter_map(|l| l.mixer.attention()).map(|a| a.v_width());
    widths.max().unwrap_or(0)
}

fn slot_bytes(slot: &Slot, streams: u64, layout: Layout) -> Bytes {
    let cells = Tokens(slot.cells.0.saturating_mul(streams));
    let tensor = |format: Format, values: u64| {
        if values == 0 {
            return Bytes::ZERO;
        }
        layout.allocated(rows_bytes(format, values, cells), format, values)
    };
    tensor(slot.formats.0, slot.row.k) + tensor(slot.formats.1, slot.row.v)
}

fn slot_bytes_per_token(slot: &Slot) -> Bytes {
    rows_bytes(slot.formats.0, slot.row.k, Tokens(1)) + rows_bytes(slot.formats.1, slot.row.v, Tokens(1))
}

/// States are kept in 32-bit floats, one row a sequence, whatever the cache formats.
fn charge_states(case: &Case<'_>, settled: &Settled<'_>, placement: &Placement, ledger: &mut Ledger) {
    let mut states: BTreeMap<Spot, (Bytes, u64)> = BTreeMap::new();
    for (i, layer) in case.model.layers.iter().enumerate().filter(|(_, l)| !l.predicts_ahead) {
        let Some(recurrent) = layer.mixer.recurrent() else { continue };
        let spot = spot_of(settled, placement, i);
        let layout = layout(case, spot);
        let tensor = |values: u64| {
            let row = Bytes(values.saturating_mul(Format::F32.block_bytes()));
            layout.allocated(row * settled.sequences, Format::F32, values)
        };
        let (bytes, layers) = states.entry(spot).or_default();
        *bytes += tensor(recurrent.conv_values()) + tensor(recurrent.state_values());
        *layers += 1;
    }
    for (spot, (bytes, layers)) in states {
        ledger.add(Line {
            item: Item::RecurrentState,
            device: spot.device,
            buffer: spot.buffer,
            bytes: Estimate::exact(bytes),
            why: Why::RecurrentState { layers, sequences: settled.sequences },
            basis: Basis::Rule { source: Cow::Borrowed(STATE_SOURCE) },
        });
    }
}

/// One row of logits a sequence (and one embedding when asked for), in the host's pinned memory.
pub(super) fn charge_outputs(
    case: &Case<'_>,
    settled: &Settled<'_>,
    placement: &Placement,
    ledger: &mut Ledger,
) {
    let spot = placement.host();
    let width = case.model.vocab.saturating_add(if settled.given.embeddings { case.model.width } else { 0 });
    let rows = settled.sequences;
    ledger.add(Line {
        item: Item::OutputBuffer,
        device: spot.device,
        buffer: spot.buffer,
        bytes: Estimate::exact(Bytes(width.saturating_mul(4)) * rows),
        why: Why::Outputs { rows, width },
        basis: Basis::Rule { source: Cow::Borrowed("ggml-org/llama.cpp v0.5.0 src/llama-context.cpp") },
    });
}
