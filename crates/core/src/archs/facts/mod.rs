//! Facts: an architecture's hyperparameters in a form that no file format owns.

pub(super) mod config;
pub(super) mod gguf;

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

pub use gguf::{KeyError, KeyProblem, Keys};

use crate::model::{
    Attention, Compressed, Ffn, Indexer, Latent, Layer, Mixer, Recurrent, Role, StateSpace, Tensor, Window,
};
use crate::units::Tokens;

/// The most layers a model may state: twice the engine's own limit (`LLAMA_MAX_LAYERS`).
const MAX_LAYERS: u64 = 1024;
/// The most experts a layer may state.
const MAX_EXPERTS: u64 = 1 << 16;
/// The largest extent a single hyperparameter may state.
const MAX_EXTENT: u64 = 1 << 32;

/// A number that holds for every layer, or one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerLayer {
    /// The same everywhere.
    All(u64),
    /// One a layer; layers past the end have 0.
    Each(Vec<u64>),
}

impl PerLayer {
    /// The number of layer `i`.
    pub fn at(&self, i: u64) -> u64 {
        match self {
            Self::All(n) => *n,
            Self::Each(list) => usize::try_from(i).ok().and_then(|i| list.get(i)).copied().unwrap_or(0),
        }
    }

    /// The first number that is not 0, or 0.
    pub fn first(&self) -> u64 {
        match self {
            Self::All(n) => *n,
            Self::Each(list) => list.iter().copied().find(|n| *n > 0).unwrap_or(0),
        }
    }

    fn numbers(&self) -> &[u64] {
        match self {
            Self::All(n) => core::slice::from_ref(n),
            Self::Each(list) => list,
        }
    }
}

/// Which mixer does a layer have?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// Attention over the whole context.
    Full,
    /// Attention over a window.
    Window,
    /// Latent attention.
    Latent,
    /// A recurrent mixer.
    Recurrent,
    /// Attention over the last tokens and a compressed history.
    Compressed,
    /// Attention both ways.
    Bidirectional,
    /// Attention and a recurrent mixer side by side.
    Parallel,
    /// None.
    None,
}

/// Facts of expert layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Experts {
    /// Experts in a layer.
    pub count: u64,
    /// Experts a token runs through.
    pub used: u64,
    /// Hidden width of one expert.
    pub width: u64,
    /// Hidden width of the shared part; 0 without one.
    pub shared_width: u64,
    /// First layers that are dense.
    pub leading_dense: u64,
    /// Every so many-th layer has experts, the first of them at `offset`.
    pub period: u64,
    /// Place of the expert layer within a period.
    pub offset: u64,
    /// Input and output width of the experts when it is not the model's own (latent experts).
    pub latent_width: Option<u64>,
    /// Whether the router has a correction bias.
    pub router_bias: bool,
    /// Which layers have experts, where the tensors or the config list them.
    pub layers: Option<Vec<bool>>,
}

impl Experts {
    fn in_layer(&self, i: u64) -> bool {
        if let Some(listed) = &self.layers {
            return usize::try_from(i).ok().and_then(|i| listed.get(i)).is_some_and(|has| *has);
        }
        i >= self.leading_dense && (self.period < 2 || i % self.period == self.offset)
    }
}

/// Facts of latent attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatentFacts {
    /// Rank of the compressed query; `None` for a full query matrix.
    pub q_rank: Option<u64>,
    /// Width of the compressed key/value.
    pub kv_rank: u64,
    /// Width of the rotary part.
    pub rope_dim: u64,
    /// Width of one uncompressed key head.
    pub k_dim: u64,
    /// Width of one uncompressed value head.
    pub v_dim: u64,
}

/// Everything a family needs to know to build layers and tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Architecture key as GGUF writes it.
    pub arch: String,
    /// Layers of the trunk.
    pub layers: u64,
    /// Multi-token-prediction layers after the trunk.
    pub mtp_layers: u64,
    /// Width of the residual stream.
    pub width: u64,
    /// Vocabulary; 0 when only the embedding's rows tell.
    pub vocab: u64,
    /// Longest context stated.
    pub context_length: Option<Tokens>,
    /// Query heads.
    pub heads: PerLayer,
    /// Key/value heads; 0 in layers without attention.
    pub kv_heads: PerLayer,
    /// Width of a key head of full layers.
    pub k_dim: u64,
    /// Width of a value head of full layers.
    pub v_dim: u64,
    /// Key and value head widths of window layers, when they differ.
    pub window_dims: Option<(u64, u64)>,
    /// Hidden width of the dense feed-forward part; 0 in layers without one.
    pub ffn: PerLayer,
    /// Mixer of each layer; layers past the end have full attention.
    pub kinds: Vec<LayerKind>,
    /// Window in tokens, when stated.
    pub window: Option<Window>,
    /// Window flags or period as stated by the file, before the family settles them.
    pub window_pattern: Option<PerLayer>,
    /// Every so many-th layer is full attention in hybrids that state it so.
    pub full_attention_interval: u64,
    /// Last layers that read an earlier layer's cache.
    pub shared_kv_layers: u64,
    /// Width of the embedding that every layer has of its own; 0 without one.
    pub per_layer_width: u64,
    /// Expert layers.
    pub experts: Option<Experts>,
    /// Latent attention.
    pub latent: Option<LatentFacts>,
    /// Sparse attention's scorer.
    pub indexer: Option<Indexer>,
    /// Layers with a scorer of their own; where none is listed, every layer has one.
    pub scored: Vec<bool>,
    /// Tokens that one row of a compressed history stands for, in layers that keep one.
    pub compression: PerLayer,
    /// Layers that attend to another input have 1.
    pub cross: PerLayer,
    /// The recurrent mixer, where a layer has one.
    pub recurrent: Option<Recurrent>,
    /// Whether the head shares the embedding.
    pub tied: bool,
    /// Whether q, k and v have biases.
    pub qkv_bias: bool,
    /// Whether attention's output has a bias.
    pub output_bias: bool,
    /// Whether the matrices of a dense feed-forward part have biases.
    pub ffn_bias: bool,
    /// Whether queries and keys are normed.
    pub qk_norm: bool,
    /// Whether a gate multiplies the hidden values of the feed-forward part.
    pub gated_ffn: bool,
    /// Whether files carry a table of rotary factors.
    pub rope_factors: bool,
    /// Entries of each of two tables of rotary factors, for short and for long contexts; 0 without them.
    pub long_rope: u64,
    /// A layer is a mixer or a feed-forward part, never both (Nemotron-H).
    pub one_part_a_layer: bool,
}

impl Facts {
    /// Trunk and multi-token-prediction layers.
    pub fn total_layers(&self) -> u64 {
        self.layers.saturating_add(self.mtp_layers)
    }

    /// Mixer of layer `i`.
    pub fn kind(&self, i: u64) -> LayerKind {
        let listed = usize::try_from(i).ok().and_then(|i| self.kinds.get(i)).copied();
        listed.unwrap_or(if self.latent.is_some() { LayerKind::Latent } else { LayerKind::Full })
    }

    /// Gives every trunk layer the mixer that `kind_of` says.
    pub fn set_kinds(&mut self, kind_of: impl Fn(&Self, u64) -> LayerKind) {
        self.kinds = (0..self.layers).map(|i| kind_of(self, i)).collect();
    }

    /// Marks window layers: as the file states it, or every `period`-th layer full.
    pub fn set_windows(&mut self, default_period: u64) {
        let pattern = self.window_pattern.take();
        self.set_kinds(|_, i| match &pattern {
            Some(PerLayer::Each(flags)) => {
                window_if(usize::try_from(i).ok().and_then(|i| flags.get(i)).is_some_and(|f| *f != 0))
            }
            Some(PerLayer::All(period)) => window_if(in_window(i, *period)),
            None => window_if(in_window(i, default_period)),
        });
    }

    /// The first layers are dense, unless the config listed what each layer has.
    pub fn lead_with_dense(&mut self, layers: u64) {
        if let Some(experts) = self.experts.as_mut().filter(|e| e.layers.is_none()) {
            experts.leading_dense = layers;
        }
    }

    /// The router's scores are corrected, where there is a router.
    pub fn correct_router(&mut self) {
        if let Some(experts) = &mut self.experts {
            experts.router_bias = true;
        }
    }

    /// Gives every `period`-th trunk layer one mixer, and all others another.
    pub fn set_every(&mut self, period: u64, nth: LayerKind, other: LayerKind) {
        self.set_kinds(|_, i| if (i + 1).is_multiple_of(period) { nth } else { other });
    }

    /// The first `layers` are an encoder, and those after them attend to it.
    pub fn encode_first(&mut self, layers: u64) {
        self.set_kinds(|_, i| if i < layers { LayerKind::Bidirectional } else { LayerKind::Full });
        self.cross = PerLayer::Each((0..self.layers).map(|i| u64::from(i >= layers)).collect());
    }

    /// Rebuilds layer `i`.
    pub fn layer(&self, i: u64) -> Layer {
        let cross =
            (self.cross.at(i) > 0).then(|| Attention { window: None, indexer: None, ..self.attention(i) });
        Layer { mixer: self.mixer(i), cross, ffn: self.ffn_of(i), predicts_ahead: i >= self.layers }
    }

    fn mixer(&self, i: u64) -> Mixer {
        match (self.kind(i), self.latent, self.recurrent) {
            (LayerKind::Latent, Some(latent), _) => Mixer::Latent(self.latent_mixer(i, latent)),
            (LayerKind::Recurrent, _, Some(r)) => Mixer::Recurrent(r),
            (LayerKind::Parallel, _, Some(r)) => Mixer::Parallel(self.attention(i), r),
            (LayerKind::Compressed, ..) => Mixer::Compressed(self.compressed(i)),
            (LayerKind::Bidirectional, ..) => Mixer::Bidirectional(self.attention(i)),
            (LayerKind::None, ..) => Mixer::None,
            _ => Mixer::Attention(self.attention(i)),
        }
    }

    fn compressed(&self, i: u64) -> Compressed {
        let ratio = self.compression.at(i);
        Compressed {
            heads: self.heads.at(i),
            dim: self.k_dim,
            window: self.window.map_or(0, Window::tokens),
            ratio,
            indexer: self.indexer_of(i).filter(|_| ratio > 0),
        }
    }

    /// Attention of layer `i`, head widths and window included.
    pub fn attention(&self, i: u64) -> Attention {
        let windowed = self.kind(i) == LayerKind::Window;
        let (k_dim, v_dim) = self.window_dims.filter(|_| windowed).unwrap_or((self.k_dim, self.v_dim));
        Attention {
            heads: self.heads.at(i),
            kv_heads: self.kv_heads.at(i),
            k_dim,
            v_dim,
            window: self.window.filter(|_| windowed),
            shares_cache_with: self.shared_with(i),
            indexer: self.indexer_of(i).filter(|_| self.latent.is_none()),
        }
    }

    /// The layer whose cache layer `i` reads: the last layer of its own kind that keeps one.
    fn shared_with(&self, i: u64) -> Option<u32> {
        let keeping = self.layers.saturating_sub(self.shared_kv_layers);
        if self.shared_kv_layers == 0 || i < keeping || i >= self.layers {
            return None;
        }
        (0..keeping).rev().find(|j| self.kind(*j) == self.kind(i)).and_then(|j| u32::try_from(j).ok())
    }

    fn latent_mixer(&self, i: u64, facts: LatentFacts) -> Latent {
        Latent {
            heads: self.heads.at(i),
            kv_rank: facts.kv_rank,
            rope_dim: facts.rope_dim,
            k_dim: facts.k_dim,
            v_dim: facts.v_dim,
            indexer: self.indexer_of(i),
        }
    }

    /// The scorer of layer `i`, if it has one of its own.
    pub fn indexer_of(&self, i: u64) -> Option<Indexer> {
        let listed = usize::try_from(i).ok().and_then(|i| self.scored.get(i));
        self.indexer.filter(|_| listed.is_none_or(|own| *own))
    }

    /// The feed-forward part of layer `i`.
    pub fn ffn_of(&self, i: u64) -> Ffn {
        let gated = self.gated_ffn;
        if let Some(experts) = self.experts.as_ref().filter(|e| self.has_experts(e, i)) {
            return Ffn::Experts {
                count: experts.count,
                used: experts.used,
                width: experts.width,
                shared_width: experts.shared_width,
                gated,
            };
        }
        match self.ffn.at(i) {
            0 => Ffn::None,
            width => Ffn::Dense { width, gated },
        }
    }

    /// Whether layer `i` has experts.
    pub fn has_experts(&self, experts: &Experts, i: u64) -> bool {
        let has_ffn = !self.one_part_a_layer || (self.kind(i) == LayerKind::None && self.ffn.at(i) > 0);
        has_ffn && experts.in_layer(i)
    }

    /// Takes over what only the file's own tensors tell: which layers have experts, and whether the
    /// head shares the embedding.
    pub fn observe(&mut self, tensors: &[Tensor]) {
        self.tied = !tensors.iter().any(|t| t.role == Role::Output);
        let total = self.total_layers();
        if let Some(experts) = &mut self.experts {
            experts.layers = Some(layers_with(tensors, total, |t| t.role == Role::Experts));
        }
    }

    /// The first layer of the trunk without any tensor.
    pub fn layer_without_tensors(&self, tensors: &[Tensor]) -> Option<u64> {
        let present = layers_with(tensors, self.layers, |_| true);
        present.iter().position(|present| !present).map(|i| i as u64)
    }

    /// The stated vocabulary, else the rows of the embedding table.
    pub fn vocab_or_rows(&self, tensors: &[Tensor]) -> u64 {
        let rows = || tensors.iter().find(|t| t.role == Role::TokenEmbedding).map_or(0, |t| t.shape[1]);
        if self.vocab > 0 { self.vocab } else { rows() }
    }

    /// Whether the sizes can be meant, before anything is built by them.
    ///
    /// # Errors
    /// The first key whose number cannot, by its GGUF name.
    pub fn check_sizes(&self) -> Result<(), KeyError> {
        let bad = |key: &str, value, max| {
            Err(KeyError { key: key.into(), problem: KeyProblem::OutOfRange { value, max } })
        };
        if self.layers == 0 || self.total_layers() > MAX_LAYERS {
            return bad("block_count", self.total_layers(), MAX_LAYERS);
        }
        if self.width == 0 || self.width > MAX_EXTENT {
            return bad("embedding_length", self.width, MAX_EXTENT);
        }
        Ok(())
    }

    /// Whether the numbers describe a model at all, once the family has settled them.
    ///
    /// # Errors
    /// The first key that does not, by its GGUF name.
    pub fn check(&self) -> Result<(), KeyError> {
        self.check_sizes()?;
        self.check_experts()?;
        self.check_heads()
    }

    fn check_experts(&self) -> Result<(), KeyError> {
        let Some(experts) = &self.experts else { return Ok(()) };
        for (key, value, max) in [
            ("expert_count", experts.count, MAX_EXPERTS),
            ("expert_used_count", experts.used, experts.count),
            ("expert_feed_forward_length", experts.width, MAX_EXTENT),
        ] {
            if value > max {
                return Err(KeyError { key: key.into(), problem: KeyProblem::OutOfRange { value, max } });
            }
        }
        Ok(())
    }

    fn check_heads(&self) -> Result<(), KeyError> {
        for (key, numbers) in [
            ("attention.head_count", self.heads.numbers()),
            ("attention.head_count_kv", self.kv_heads.numbers()),
            ("feed_forward_length", self.ffn.numbers()),
            ("attention.key_length", &[self.k_dim]),
            ("attention.value_length", &[self.v_dim]),
        ] {
            if let Some(value) = numbers.iter().copied().find(|n| *n > MAX_EXTENT) {
                let problem = KeyProblem::OutOfRange { value, max: MAX_EXTENT };
                return Err(KeyError { key: key.into(), problem });
            }
        }
        (0..self.layers).try_for_each(|i| self.check_layer(i))
    }

    fn check_layer(&self, i: u64) -> Result<(), KeyError> {
        let Mixer::Attention(a) = self.mixer(i) else { return Ok(()) };
        let broken = a.heads == 0 || a.kv_heads == 0 || !a.heads.is_multiple_of(a.kv_heads);
        if broken {
            let problem = KeyProblem::HeadsDoNotDivide { layer: i, heads: a.heads, kv_heads: a.kv_heads };
            return Err(KeyError { key: "attention.head_count_kv".into(), problem });
        }
        if a.k_dim == 0 || a.v_dim == 0 {
            let problem = KeyProblem::OutOfRange { value: 0, max: MAX_EXTENT };
            return Err(KeyError { key: "attention.key_length".into(), problem });
        }
        Ok(())
    }
}

/// Which of the first `count` layers have a tensor of this kind? One look at each tensor.
fn layers_with(tensors: &[Tensor], count: u64, is_kind: impl Fn(&Tensor) -> bool) -> Vec<bool> {
    let mut layers = vec![false; usize::try_from(count.min(MAX_LAYERS)).unwrap_or(0)];
    for layer in tensors.iter().filter(|t| is_kind(t)).filter_map(|t| t.layer) {
        if let Some(has) = layers.get_mut(layer as usize) {
            *has = true;
        }
    }
    layers
}

/// Which recurrence do a hybrid's `ssm.*` keys describe?
pub(super) fn state_space(facts: &mut Facts, kind: StateSpace) {
    if let Some(Recurrent::StateSpace { kind: k, .. }) = &mut facts.recurrent {
        *k = kind;
    }
}

fn window_if(windowed: bool) -> LayerKind {
    if windowed { LayerKind::Window } else { LayerKind::Full }
}

/// Of every `period` layers the last looks at everything; 0 and 1 leave no window at all.
fn in_window(i: u64, period: u64) -> bool {
    period > 1 && i % period < period - 1
}
