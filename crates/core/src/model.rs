//! What a model is made of: layers, their mixers and feed-forward parts, and tensors with roles.
//!
//! A model states facts per layer; it knows no engine. What a layer's cache costs is the engine's
//! decision (see `rules::cache` and the engines).

use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::Serialize;

use crate::dtype::Format;
use crate::units::{Bytes, Tokens};

/// Which model is this, layer by layer and tensor by tensor?
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Name for people, such as `Llama-3.1-8B`.
    pub name: String,
    /// Architecture key as GGUF writes it, such as `llama` or `qwen3moe`.
    pub arch: String,
    /// Tokens in the vocabulary (rows of the embedding).
    pub vocab: u64,
    /// Width of the residual stream.
    pub width: u64,
    /// Longest context the model was made for, when stated.
    pub context_length: Option<Tokens>,
    /// The layers in order, multi-token-prediction layers last.
    pub layers: Vec<Layer>,
    /// Every stored tensor.
    pub tensors: Vec<Tensor>,
    /// Where the data section starts in the file the tensors came from; 0 for a built list.
    pub data_offset: u64,
}

impl Model {
    /// Whether the tensors are those of a file, and not what a file would hold.
    pub const fn is_in_a_file(&self) -> bool {
        self.data_offset > 0
    }

    /// How many parameters are stored? Tables of rotary factors are constants, not parameters.
    pub fn parameters(&self) -> u64 {
        self.tensors
            .iter()
            .filter(|t| t.role != Role::RopeFactors)
            .fold(0, |sum, t| sum.saturating_add(t.elements()))
    }

    /// How many bytes do the tensors take, alignment apart?
    pub fn tensor_bytes(&self) -> Bytes {
        self.tensors.iter().map(Tensor::size).sum()
    }

    /// The layers that take part in ordinary generation (multi-token-prediction layers apart).
    pub fn trunk(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|l| !l.predicts_ahead)
    }

    /// Whether it is known what an engine keeps for every one of those layers.
    pub fn is_planned(&self) -> bool {
        self.trunk().all(Layer::is_planned)
    }

    /// Whether the output projection shares the embedding's storage.
    pub fn is_tied(&self) -> bool {
        !self.tensors.iter().any(|t| t.role == Role::Output)
    }

    /// The format that holds most bytes: how people name the file's quantisation when nothing else does.
    pub fn main_format(&self) -> Option<Format> {
        let mut sums: alloc::collections::BTreeMap<Format, Bytes> = Default::default();
        for tensor in &self.tensors {
            *sums.entry(tensor.format).or_default() += tensor.size();
        }
        sums.into_iter().max_by_key(|(_, bytes)| *bytes).map(|(format, _)| format)
    }
}

/// One block of the model: how it mixes tokens, and its feed-forward part.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Layer {
    /// How the layer mixes information between tokens.
    pub mixer: Mixer,
    /// Attention to another input (an encoder's output, an image), whose keys and values are computed
    /// once and kept.
    pub cross: Option<Attention>,
    /// What follows the mixer.
    pub ffn: Ffn,
    /// A multi-token-prediction layer: stored in the file, used only for drafting ahead.
    pub predicts_ahead: bool,
}

impl Layer {
    /// Whether it is known what an engine keeps for this layer while it generates: not yet for a compressed
    /// history, for the keys of a scorer beside ordinary ones, for attention both ways, and for attention to
    /// another input.
    pub fn is_planned(&self) -> bool {
        let scored = self.mixer.attention().is_some_and(|a| a.indexer.is_some());
        let known = !matches!(self.mixer, Mixer::Compressed(_) | Mixer::Bidirectional(_));
        known && !scored && self.cross.is_none()
    }
}

/// How does a layer mix tokens? This decides what it keeps between tokens.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mixer {
    /// Softmax attention with a K and a V cache.
    Attention(Attention),
    /// Attention over a compressed latent (MLA): one cached row a token, shared by K and V.
    Latent(Latent),
    /// A fixed-size state instead of a cache.
    Recurrent(Recurrent),
    /// Attention and a recurrent mixer side by side in one layer (Falcon-H1).
    Parallel(Attention, Recurrent),
    /// Attention over the last tokens and a compressed history (DeepSeek V4).
    Compressed(Compressed),
    /// Attention both ways, as encoders have it: all tokens at once, nothing kept.
    Bidirectional(Attention),
    /// Nothing mixes tokens here (feed-forward blocks of Nemotron-H).
    None,
}

impl Mixer {
    /// The attention part, alone or beside a recurrent one.
    pub fn attention(&self) -> Option<&Attention> {
        match self {
            Self::Attention(a) | Self::Parallel(a, _) => Some(a),
            Self::Latent(_)
            | Self::Recurrent(_)
            | Self::Compressed(_)
            | Self::Bidirectional(_)
            | Self::None => None,
        }
    }

    /// The window of the attention part, when it has one.
    pub fn window(&self) -> Option<Window> {
        self.attention()?.window
    }

    /// The recurrent part, alone or beside attention.
    pub fn recurrent(&self) -> Option<&Recurrent> {
        match self {
            Self::Recurrent(r) | Self::Parallel(_, r) => Some(r),
            Self::Attention(_)
            | Self::Latent(_)
            | Self::Compressed(_)
            | Self::Bidirectional(_)
            | Self::None => None,
        }
    }
}

/// Softmax attention: heads and what a token adds to the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Attention {
    /// Query heads.
    pub heads: u64,
    /// Key/value heads; `heads / kv_heads` queries share one.
    pub kv_heads: u64,
    /// Width of one key head.
    pub k_dim: u64,
    /// Width of one value head.
    pub v_dim: u64,
    /// How far back the layer looks, when not over the whole context.
    pub window: Option<Window>,
    /// The layer keeps no cache of its own and reads this layer's.
    pub shares_cache_with: Option<u32>,
    /// The scorer that picks blocks of the context, with a key cache of its own (MiniMax M3, Qwen4-Exp).
    pub indexer: Option<Indexer>,
}

impl Attention {
    /// Values of K that one token adds.
    pub const fn k_width(&self) -> u64 {
        self.kv_heads.saturating_mul(self.k_dim)
    }

    /// Values of V that one token adds.
    pub const fn v_width(&self) -> u64 {
        self.kv_heads.saturating_mul(self.v_dim)
    }
}

/// How does a layer limit how far it looks back?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Window {
    /// The last so many tokens.
    Sliding(u64),
    /// The current chunk of so many tokens (Llama 4).
    Chunked(u64),
}

impl Window {
    /// Tokens the layer can see at most.
    pub const fn tokens(self) -> u64 {
        match self {
            Self::Sliding(n) | Self::Chunked(n) => n,
        }
    }
}

/// Multi-head latent attention (MLA): one compressed row a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Latent {
    /// Query heads.
    pub heads: u64,
    /// Width of the compressed key/value.
    pub kv_rank: u64,
    /// Width of the shared rotary part of the key.
    pub rope_dim: u64,
    /// Width of one uncompressed key head.
    pub k_dim: u64,
    /// Width of one uncompressed value head.
    pub v_dim: u64,
    /// Sparse attention's scorer with a key cache of its own (DeepSeek V3.2).
    pub indexer: Option<Indexer>,
}

impl Latent {
    /// Values that one token adds to the cache.
    pub const fn cache_width(&self) -> u64 {
        self.kv_rank.saturating_add(self.rope_dim)
    }
}

/// Attention whose keys are its values, one shared row a token: the last tokens as they are, those
/// before them one row for many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Compressed {
    /// Query heads.
    pub heads: u64,
    /// Width of the shared row.
    pub dim: u64,
    /// Tokens kept as they are.
    pub window: u64,
    /// Tokens that one row of the history stands for; 0 without a history.
    pub ratio: u64,
    /// The scorer that picks rows of the history.
    pub indexer: Option<Indexer>,
}

/// The scorer of sparse attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Indexer {
    /// Scoring heads.
    pub heads: u64,
    /// Width of the cached index key.
    pub k_dim: u64,
    /// Tokens attended to at most.
    pub top_k: u64,
}

/// A mixer with a state that does not grow with the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recurrent {
    /// Mamba 1 and 2, and gated delta nets written with the same keys: `inner` channels with `state`
    /// values each, and a convolution over `inner + 2 * groups * state` channels.
    StateSpace {
        /// Which of them.
        kind: StateSpace,
        /// Width of the convolution in tokens.
        conv: u64,
        /// Channels.
        inner: u64,
        /// State values a channel.
        state: u64,
        /// Groups that share B and C (0 in Mamba 1).
        groups: u64,
        /// Time-step rank (Mamba 1) or heads (the others).
        rank: u64,
    },
    /// Kimi delta attention: `heads` states of `head_dim` squared, three convolutions.
    KimiDelta {
        /// Heads.
        heads: u64,
        /// Width of one head.
        head_dim: u64,
        /// Width of the convolution in tokens.
        conv: u64,
    },
    /// Linear attention that decays by head (MiniMax's lightning attention): `heads` states of
    /// `head_dim` squared, no convolution.
    Lightning {
        /// Heads.
        heads: u64,
        /// Width of one head.
        head_dim: u64,
    },
    /// A gated linear recurrence of one value a channel, after a convolution (RecurrentGemma).
    GatedLinear {
        /// Channels.
        width: u64,
        /// Width of the convolution in tokens.
        conv: u64,
    },
    /// A short convolution over the residual stream (LFM2).
    ShortConv {
        /// Channels.
        width: u64,
        /// Width of the convolution in tokens.
        conv: u64,
    },
}

/// Which recurrence does a state-space layer compute?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StateSpace {
    /// Mamba 1: low-rank time steps.
    Mamba,
    /// Mamba 2: scalar decay a head.
    Mamba2,
    /// Gated delta net (Qwen3-Next, Qwen3.5).
    GatedDelta,
    /// RWKV: decay by channel, the last tokens shifted in.
    Wkv,
}

impl Recurrent {
    /// Channels the convolution runs over.
    pub const fn convolved(&self) -> u64 {
        match *self {
            Self::StateSpace { inner, state, groups, .. } => {
                inner.saturating_add(groups.saturating_mul(state).saturating_mul(2))
            }
            Self::KimiDelta { heads, head_dim, .. } => heads.saturating_mul(head_dim).saturating_mul(3),
            Self::ShortConv { width, .. } | Self::GatedLinear { width, .. } => width,
            Self::Lightning { .. } => 0,
        }
    }

    /// Values of convolution history that one sequence keeps in one layer.
    pub const fn conv_values(&self) -> u64 {
        let conv = match *self {
            Self::StateSpace { conv, .. }
            | Self::KimiDelta { conv, .. }
            | Self::ShortConv { conv, .. }
            | Self::GatedLinear { conv, .. } => conv,
            Self::Lightning { .. } => 0,
        };
        conv.saturating_sub(1).saturating_mul(self.convolved())
    }

    /// Values of recurrent state that one sequence keeps in one layer.
    pub const fn state_values(&self) -> u64 {
        match *self {
            Self::StateSpace { inner, state, .. } => inner.saturating_mul(state),
            Self::KimiDelta { heads, head_dim, .. } | Self::Lightning { heads, head_dim } => {
                head_dim.saturating_mul(head_dim).saturating_mul(heads)
            }
            Self::GatedLinear { width, .. } => width,
            Self::ShortConv { .. } => 0,
        }
    }
}

/// The feed-forward part of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ffn {
    /// One network for every token.
    Dense {
        /// Hidden width.
        width: u64,
        /// Whether a gate multiplies it (three matrices instead of two).
        gated: bool,
    },
    /// A router picks `used` of `count` networks a token.
    Experts {
        /// Experts in the layer.
        count: u64,
        /// Experts a token runs through.
        used: u64,
        /// Hidden width of one expert.
        width: u64,
        /// Hidden width of the part every token runs through; 0 when there is none.
        shared_width: u64,
        /// Whether a gate multiplies an expert's hidden values.
        gated: bool,
    },
    /// No feed-forward part.
    None,
}

/// One stored tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Name as GGUF writes it.
    pub name: String,
    /// Extents, fastest first, padded with 1.
    pub shape: [u64; 4],
    /// Number format.
    pub format: Format,
    /// What it is for.
    pub role: Role,
    /// The layer it belongs to; `None` for the input and output sides.
    pub layer: Option<u32>,
    /// Offset in the data section of its file, in bytes.
    pub offset: u64,
}

impl Tensor {
    /// Number of values.
    pub fn elements(&self) -> u64 {
        self.shape.iter().fold(1, |n, d| n.saturating_mul(*d))
    }

    /// Number of rows: values over the fastest extent.
    pub fn rows(&self) -> u64 {
        self.shape[1..].iter().fold(1, |n, d| n.saturating_mul(*d))
    }

    /// Exact bytes. A row that is not whole blocks counts as the blocks it touches: readers refuse
    /// such files before a size is ever asked for.
    pub fn size(&self) -> Bytes {
        let blocks = self.shape[0].div_ceil(self.format.block_elements());
        Bytes(blocks.saturating_mul(self.format.block_bytes())) * self.rows()
    }

    /// Dimensions as ggml counts them: trailing extents of 1 do not count.
    pub fn dimensions(&self) -> usize {
        self.shape.iter().rposition(|d| *d > 1).map_or(1, |last| last + 1)
    }
}

/// What is a tensor for? Placement, repacking and quantisation go by this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Token embedding table.
    TokenEmbedding,
    /// Other tables read on the input side (positions, token types, per-layer embeddings).
    InputTable,
    /// A norm or projection of the input side that follows the token embedding.
    InputNorm,
    /// Output projection to the vocabulary.
    Output,
    /// Anything else of the output side: its norm, pooling heads.
    OutputSide,
    /// Rotary factors: constants, stored per layer but once per buffer.
    RopeFactors,
    /// A matrix of a layer that every token is multiplied with.
    Matrix,
    /// Matrices of all experts of a layer.
    Experts,
    /// The router of an expert layer.
    Router,
    /// Norms, biases, scales, convolutions and other small tensors of a layer.
    Small,
    /// Vision, audio or other tensors outside the language model.
    Tower,
}

/// A parameter as the library's model class creates it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Path of its module, and its name there.
    pub name: String,
    /// Extents, slowest first.
    pub shape: Vec<u64>,
    /// What it is to its module.
    pub kind: ParameterKind,
}

/// What is a parameter to its module? Quantisation takes some kinds and leaves others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ParameterKind {
    /// The matrix of a linear layer, `[output, input]`.
    Linear,
    /// The same kept the other way round, `[input, output]`.
    Transposed,
    /// A table read by rows.
    Table,
    /// Matrices of all experts, `[experts, output, input]`; `joined` of them lie side by side in every output.
    Experts {
        /// How many matrices of one expert are joined.
        joined: u64,
    },
    /// The same kept the other way round, `[experts, input, output]`.
    ExpertsTransposed {
        /// How many matrices of one expert are joined.
        joined: u64,
    },
    /// What scores the experts, `[experts, input]`.
    Router,
    /// Anything else: norms, biases, convolutions, states.
    Other,
}

impl Parameter {
    /// Number of values.
    pub fn elements(&self) -> u64 {
        self.shape.iter().fold(1, |n, d| n.saturating_mul(*d))
    }
}

/// Which part of a model does a parameter belong to?
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Token embedding.
    Embedding,
    /// Tables of positions and token types.
    PositionEmbedding,
    /// The table of per-layer embeddings.
    #[serde(rename = "per_layer_embed")]
    PerLayerEmbedding,
    /// What brings per-layer embeddings into the layers.
    #[serde(rename = "per_layer_proj")]
    PerLayerProjection,
    /// Attention.
    Attention,
    /// Recurrent mixers.
    #[serde(rename = "linear_or_ssm")]
    Recurrent,
    /// Dense feed-forward parts.
    #[serde(rename = "mlp")]
    Ffn,
    /// Experts that a router picks.
    Experts,
    /// Experts that every token runs through.
    SharedExpert,
    /// Routers.
    Router,
    /// Norms.
    Norm,
    /// Output projection to the vocabulary.
    #[serde(rename = "lm_head")]
    Head,
    /// Vision tower.
    Vision,
    /// Audio tower.
    Audio,
    /// What joins a tower to the language model.
    Projector,
    /// Anything else.
    Other,
}
