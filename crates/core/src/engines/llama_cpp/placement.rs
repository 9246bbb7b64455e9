//! Which device does a layer go to? Last layers first, the output counted as one more layer.
//!
//! `llama-model.cpp: llama_model_base::load_tensors`.

use alloc::vec::Vec;

use super::backend::Layout;
use super::overrides::Overrides;
use super::settled::Settled;
use crate::case::Case;
use crate::ledger::Buffer;
use crate::machine::{Backend, Device, DeviceId};
use crate::model::{Layer, Recurrent, Role, StateSpace, Tensor};
use crate::setup::{Load, Split, Target};
use crate::units::Bytes;

/// Where a tensor or a cache lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    /// The device whose memory it is.
    pub(super) device: DeviceId,
    /// The kind of buffer.
    pub(super) buffer: Buffer,
}

/// A GPU in use, with what it cannot run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Card {
    pub(super) id: DeviceId,
    pub(super) backend: Backend,
    /// The largest tensor one of its operations can read.
    largest_tensor: Option<Bytes>,
    /// The model has Mamba 1 layers and the backend has no kernel for their scan.
    lacks_scan: bool,
}

impl Card {
    fn of(case: &Case<'_>, id: DeviceId, device: &Device) -> Self {
        let mamba1 = |l: &Layer| {
            matches!(l.mixer.recurrent(), Some(Recurrent::StateSpace { kind: StateSpace::Mamba, .. }))
        };
        let lacks_scan = !Layout::of(device.backend).scans_mamba1 && case.model.layers.iter().any(mamba1);
        Self { id, backend: device.backend, largest_tensor: device.largest_tensor, lacks_scan }
    }

    /// Whether the operation that a weight is for runs here.
    pub(super) fn runs(&self, tensor: &Tensor) -> bool {
        let too_large = self.largest_tensor.is_some_and(|most| tensor.size() > most);
        let no_kernel = self.lacks_scan && tensor.name.ends_with(".ssm_a");
        !(too_large || no_kernel)
    }
}

/// Where everything goes.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    /// The GPU of every stored layer, `None` for the host.
    layers: Vec<Option<DeviceId>>,
    /// The GPU of the output side.
    output: Option<DeviceId>,
    /// The CPU.
    cpu: DeviceId,
    /// The GPUs in use, in order.
    gpus: Vec<Card>,
    load: Load,
    repack: bool,
    overrides: Overrides,
}

impl Placement {
    /// Deals the layers of a case to its devices.
    pub(super) fn of(case: &Case<'_>, settled: &Settled<'_>) -> Self {
        let gpus = cards(case, settled);
        let stored = case.model.layers.len() as u64;
        let asked = settled.given.gpu_layers.unwrap_or(stored + 1);
        let offloaded = if gpus.is_empty() { 0 } else { asked.min(stored + 1) };
        let first = (stored + 1).saturating_sub(asked);
        let points = split_points(case, settled, &gpus);
        let place = |i: u64| {
            (i >= first && i - first < offloaded)
                .then(|| gpus.get(card_of(&points, i - first, offloaded)).map(|card| card.id))
                .flatten()
        };
        Self {
            layers: (0..stored).map(place).collect(),
            output: place(stored),
            cpu: case.machine.cpu().map_or(DeviceId(0), |(id, _)| id),
            gpus,
            load: settled.given.load,
            repack: settled.given.repack,
            overrides: Overrides::of(settled.given),
        }
    }

    /// The GPU of layer `i`, `None` for the host.
    pub(super) fn gpu_of(&self, layer: usize) -> Option<DeviceId> {
        self.layers.get(layer).copied().flatten()
    }

    /// The GPU of the output side.
    pub(super) fn output(&self) -> Option<DeviceId> {
        self.output
    }

    /// The GPUs in use.
    pub(super) fn gpus(&self) -> &[Card] {
        &self.gpus
    }

    /// Whether no weight that is multiplied can lie on the host.
    pub(super) fn leaves_no_matrix_on_host(&self) -> bool {
        let limited = self.gpus.iter().any(|card| card.largest_tensor.is_some());
        self.is_whole() && self.overrides.is_empty() && !limited
    }

    /// Whether all layers and the output side are on cards.
    fn is_whole(&self) -> bool {
        self.output.is_some() && self.layers.iter().all(Option::is_some)
    }

    /// Whether everything that a pass touches is on one card, or on the CPU.
    pub(super) fn is_in_one_place(&self, settled: &Settled<'_>) -> bool {
        let on_card = self.is_whole() && self.overrides.is_empty() && !settled.given.cache_on_host;
        self.gpus.is_empty() || (self.gpus.len() == 1 && on_card)
    }

    /// Whether several cards work in turn on parts of a batch: all layers on them, cache included.
    pub(super) fn is_pipelined(&self, settled: &Settled<'_>) -> bool {
        let used = settled.given.split == Split::Layer && !settled.given.cache_on_host;
        self.gpus.len() > 1 && self.is_whole() && used && self.overrides.is_empty()
    }

    /// Where buffers on the host side lie that a GPU reads: pinned by its driver when there is one.
    pub(super) fn host(&self) -> Spot {
        let buffer = if self.gpus.is_empty() { Buffer::Host } else { Buffer::Pinned };
        Spot { device: self.cpu, buffer }
    }

    /// Plain system memory.
    pub(super) fn plain_host(&self) -> Spot {
        Spot { device: self.cpu, buffer: Buffer::Host }
    }

    /// Where a weight lies. The output side of a model with tied embeddings is asked for with the
    /// embedding itself and `as_output`.
    pub(super) fn weight(&self, tensor: &Tensor, as_output: bool) -> Spot {
        let device = match self.overrides.target(tensor) {
            Some(Target::Host) => None,
            Some(Target::Gpu(card)) => self.gpus.get(usize::from(card)).map(|card| card.id),
            None => self.gpu_of_weight(tensor, as_output).filter(|id| self.runs(*id, tensor)),
        };
        match device {
            Some(device) => Spot { device, buffer: Buffer::Device },
            None => self.host_weight(tensor, as_output),
        }
    }

    fn gpu_of_weight(&self, tensor: &Tensor, as_output: bool) -> Option<DeviceId> {
        match tensor.role {
            Role::TokenEmbedding if as_output => self.output,
            Role::TokenEmbedding | Role::InputTable => None,
            Role::InputNorm => self.gpu_of(0),
            Role::Output | Role::OutputSide | Role::Tower => self.output,
            Role::RopeFactors if tensor.layer.is_none() => None,
            _ => self.gpu_of(tensor.layer.map_or(0, |i| i as usize)),
        }
    }

    /// Whether a card can run the operation that a weight is for.
    fn runs(&self, id: DeviceId, tensor: &Tensor) -> bool {
        self.gpus.iter().find(|card| card.id == id).is_some_and(|card| card.runs(tensor))
    }

    /// The host list starts with the first GPU's pinned memory, for what that GPU could run, which a
    /// mapped file replaces; then come weights that the CPU has kernels for, rearranged; then plain
    /// memory (`make_cpu_buft_list`).
    fn host_weight(&self, tensor: &Tensor, as_output: bool) -> Spot {
        let pinned = self.gpus.first().is_some_and(|card| card.runs(tensor));
        let buffer = if !pinned && self.repack && repacks(tensor, as_output) {
            Buffer::Repacked
        } else if self.load == Load::Mapped {
            Buffer::Mapped
        } else if pinned {
            Buffer::Pinned
        } else {
            Buffer::Host
        };
        Spot { device: self.cpu, buffer }
    }
}

/// Does the CPU have rearranged kernels for this weight? x86 with AVX2
/// (`ggml-cpu/repack.cpp: ggml_repack_get_optimal_repack_type`).
fn repacks(tensor: &Tensor, as_output: bool) -> bool {
    use crate::dtype::Format;
    let format = matches!(tensor.format, Format::Q4_0 | Format::Q4K | Format::Iq4Nl | Format::Mxfp4);
    let multiplied = match tensor.role {
        Role::Matrix | Role::Output | Role::OutputSide => tensor.dimensions() == 2,
        Role::TokenEmbedding => as_output,
        Role::Experts => tensor.dimensions() == 3,
        _ => false,
    };
    format && multiplied && tensor.shape[1].is_multiple_of(8)
}

/// The cards in use: all of them, or the main one alone.
fn cards(case: &Case<'_>, settled: &Settled<'_>) -> Vec<Card> {
    let all = case.machine.gpus().map(|(id, device)| Card::of(case, id, device));
    match settled.given.split {
        Split::Layer => all.collect(),
        Split::None => all.skip(usize::from(settled.given.main_gpu)).take(1).collect(),
    }
}

/// Cumulative shares of the cards, normalised to 1.
fn split_points(case: &Case<'_>, settled: &Settled<'_>, cards: &[Card]) -> Vec<f32> {
    let free = |card: &Card| case.machine.pool_of(card.id).map_or(Bytes::ZERO, |pool| pool.free).0 as f32;
    let shares: Vec<f32> = match settled.given.tensor_split.as_slice() {
        given if !given.is_empty() && cards.len() > 1 => given.iter().copied().take(cards.len()).collect(),
        _ => cards.iter().map(free).collect(),
    };
    let mut sum = 0.0;
    let running: Vec<f32> = shares
        .into_iter()
        .map(|share| {
            sum += share;
            sum
        })
        .collect();
    running.into_iter().map(|point| if sum > 0.0 { point / sum } else { 1.0 }).collect()
}

/// The card whose share the `i`-th of `offloaded` layers falls into.
fn card_of(points: &[f32], i: u64, offloaded: u64) -> usize {
    let position = i as f32 / offloaded as f32;
    points.iter().position(|point| *point > position).unwrap_or(points.len().saturating_sub(1))
}
