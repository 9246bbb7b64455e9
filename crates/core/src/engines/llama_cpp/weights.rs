//! Weights: what each buffer holds.
//!
//! `llama-model.cpp: load_tensors`, `llama-model-loader.cpp: create_tensor, get_mapping_range`.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::archs;
use super::backend::Layout;
use super::placement::{Placement, Spot};
use super::settled::Settled;
use crate::case::Case;
use crate::dtype::Format;
use crate::ledger::{Basis, Buffer, Estimate, Item, Ledger, Line, Why};
use crate::machine::Backend;
use crate::model::{Role, Tensor};
use crate::quants;
use crate::units::Bytes;

/// What is gathered for one buffer.
#[derive(Debug, Default)]
struct Gathered {
    bytes: Bytes,
    tensors: u64,
    /// Which layers have weights here, by number.
    layers: Vec<bool>,
    /// Bytes by number format; a file has a handful of them.
    formats: Vec<(Format, Bytes)>,
    embedding: bool,
    output: bool,
    /// First and last byte in the file, for mapped buffers.
    range: Option<(u64, u64)>,
}

impl Gathered {
    fn add(&mut self, tensor: &Tensor, as_output: bool, layout: Layout) {
        let size = tensor.size();
        self.bytes += layout.weight(tensor);
        self.tensors += 1;
        self.mark(tensor.layer);
        self.count(tensor.format, size);
        self.embedding |= tensor.role == Role::TokenEmbedding && !as_output;
        self.output |= tensor.role == Role::Output || as_output;
        let (start, end) = (tensor.offset, tensor.offset.saturating_add(size.0));
        let (first, last) = self.range.unwrap_or((start, end));
        self.range = Some((first.min(start), last.max(end)));
    }

    fn count(&mut self, format: Format, size: Bytes) {
        match self.formats.iter_mut().find(|(other, _)| *other == format) {
            Some((_, bytes)) => *bytes += size,
            None => self.formats.push((format, size)),
        }
    }

    fn mark(&mut self, layer: Option<u32>) {
        let Some(layer) = layer.map(|i| i as usize) else { return };
        if self.layers.len() <= layer {
            self.layers.resize(layer + 1, false);
        }
        self.layers[layer] = true;
    }

    /// The span of the file that a mapped buffer covers, other tensors between included.
    fn span(&self, buffer: Buffer) -> Option<Bytes> {
        let (first, last) = self.range.filter(|_| buffer == Buffer::Mapped)?;
        Some(Bytes(last - first))
    }

    fn why(&self, buffer: Buffer) -> Why {
        let main = self.formats.iter().max_by_key(|(format, bytes)| (*bytes, *format));
        Why::Weights {
            tensors: self.tensors,
            layers: self.layers.iter().filter(|has| **has).count() as u64,
            embedding: self.embedding,
            output: self.output,
            format: main.map_or(Format::F32, |(format, _)| *format),
            span: self.span(buffer),
        }
    }
}

/// Charges the weights of a case.
pub(super) fn charge(case: &Case<'_>, _: &Settled<'_>, placement: &Placement, ledger: &mut Ledger) {
    // A file that is not there is what its quantiser would make of it; uploads may be mixes of their own.
    let basis = match case.model.is_in_a_file() {
        true => Basis::Exact,
        false => Basis::Rule { source: quants::SOURCE.into() },
    };
    for (spot, gathered) in gather(case, placement) {
        ledger.add(Line {
            item: Item::Weights,
            device: spot.device,
            buffer: spot.buffer,
            bytes: Estimate::exact(gathered.bytes),
            why: gathered.why(spot.buffer),
            basis: basis.clone(),
        });
    }
}

fn gather(case: &Case<'_>, placement: &Placement) -> Vec<(Spot, Gathered)> {
    let mut buffers = Buffers { case, list: Vec::new() };
    let tied = case.model.is_tied();
    for tensor in case.model.tensors.iter().filter(|t| is_loaded(case, t)) {
        if tensor.role == Role::RopeFactors && tensor.layer.is_none() {
            let spots = factor_spots(case, placement, tensor);
            spots.into_iter().for_each(|spot| buffers.add(spot, tensor, false));
            continue;
        }
        let spot = placement.weight(tensor, false);
        buffers.add(spot, tensor, false);
        if tied && tensor.role == Role::TokenEmbedding {
            let copy = placement.weight(tensor, true);
            // Two views of one mapped file cost nothing.
            let in_place =
                archs::copies_tied_head_in_place(&case.model.arch) && copy.buffer != Buffer::Mapped;
            if copy != spot || in_place {
                buffers.add(copy, tensor, true);
            }
        }
    }
    buffers.list.sort_by_key(|(spot, _)| *spot);
    buffers.list
}

/// Gathers tensors by buffer. There are a handful of buffers: a list finds one sooner than a tree.
struct Buffers<'a> {
    case: &'a Case<'a>,
    list: Vec<(Spot, Gathered)>,
}

impl Buffers<'_> {
    fn add(&mut self, spot: Spot, tensor: &Tensor, as_output: bool) {
        let backend = self.case.machine.device(spot.device).map_or(Backend::Cpu, |d| d.backend);
        let layout = Layout::of(backend);
        match self.list.iter_mut().find(|(other, _)| *other == spot) {
            Some((_, gathered)) => gathered.add(tensor, as_output, layout),
            None => {
                let mut gathered = Gathered::default();
                gathered.add(tensor, as_output, layout);
                self.list.push((spot, gathered));
            }
        }
    }
}

/// Layers that predict ahead are left in the file unless asked for; so are vision and audio towers,
/// which have files of their own.
fn is_loaded(case: &Case<'_>, tensor: &Tensor) -> bool {
    let ahead = |i: u32| case.model.layers.get(i as usize).is_some_and(|l| l.predicts_ahead);
    tensor.role != Role::Tower && !tensor.layer.is_some_and(ahead)
}

/// Rotary factors are wanted by every layer and stored once in each buffer that has one.
fn factor_spots(case: &Case<'_>, placement: &Placement, tensor: &Tensor) -> BTreeSet<Spot> {
    let wanted = case.model.layers.iter().zip(0u32..).filter(|(layer, _)| uses_factors(case, layer));
    wanted
        .map(|(_, i)| {
            let of_layer = Tensor { layer: Some(i), ..tensor.clone() };
            placement.weight(&of_layer, false)
        })
        .collect()
}

/// Where some layers look at a window and head sizes differ, only the others are stretched.
fn uses_factors(case: &Case<'_>, layer: &crate::model::Layer) -> bool {
    let Some(attention) = layer.mixer.attention() else { return false };
    let widths_differ =
        case.model.trunk().filter_map(|l| l.mixer.attention()).any(|a| a.k_dim != attention.k_dim);
    !(widths_differ && attention.window.is_some())
}
