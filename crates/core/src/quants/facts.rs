//! What the mixing rules ask about the model as a whole.

use crate::model::{Ffn, Layer, Mixer, Model};

use super::part::Part;
use super::{Making, Quantiser, Recipe};

/// The answers, taken once before the first tensor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// The mix.
    pub(super) recipe: Recipe,
    /// An importance matrix is at hand.
    pub(super) imatrix: bool,
    /// Whose rules hold.
    pub(super) quantiser: Quantiser,
    /// The embedding serves as the output projection.
    pub(super) tied: bool,
    /// Query heads for each key/value head of the first layer, rounded down; 0 where it has none.
    pub(super) sharing: u64,
    /// Experts in a layer; 0 in a dense model.
    pub(super) experts: u64,
    /// Layers, multi-token-prediction ones included.
    pub(super) layers: u64,
    /// Tensors that are or contain a value projection.
    pub(super) values: u64,
    /// The engine classes the model as 70B.
    pub(super) is_70b: bool,
    /// The Falcon architecture has rules of its own.
    pub(super) is_falcon: bool,
    /// Only feed-forward matrices among the 3-D tensors are experts, by the architecture's exception.
    pub(super) experts_by_name: bool,
}

impl Facts {
    pub(super) fn of(making: Making, model: &Model) -> Self {
        let Making { recipe, imatrix, quantiser } = making;
        let parts = || model.tensors.iter().map(|t| Part::of(&t.name));
        Self {
            recipe,
            imatrix,
            quantiser,
            tied: !parts().any(|part| part == Part::Output),
            sharing: heads_sharing(model),
            experts: model.layers.iter().map(experts).max().unwrap_or(0),
            layers: model.layers.len() as u64,
            values: parts().filter(|part| part.has_values()).count() as u64,
            is_70b: is_70b(model),
            is_falcon: model.arch == "falcon",
            experts_by_name: model.arch == "bailingmoe3",
        }
    }

    /// Whether at least four query heads share a key/value head: small K and V that can take more bits.
    pub(super) const fn shares_four(&self) -> bool {
        self.sharing >= 4
    }

    /// Eight experts is the engine's mark for one family of mixtures; only those have the rules.
    pub(super) const fn has_eight_experts(&self) -> bool {
        self.experts == 8
    }
}

const fn experts(layer: &Layer) -> u64 {
    match layer.ffn {
        Ffn::Experts { count, .. } => count,
        Ffn::Dense { .. } | Ffn::None => 0,
    }
}

/// Architectures whose files state one pair of head counts for all layers, recurrent ones included:
/// the others write 0 key/value heads where a layer has no attention.
const ONE_HEAD_COUNT: [&str; 5] = ["qwen3next", "qwen35", "qwen35moe", "qwen4exp", "minimax-01"];

/// Query heads for each key/value head, as the engine counts them: in layer 0.
///
/// Source: ggml-org/llama.cpp v0.5.0 `src/llama-hparams.cpp:n_gqa`.
fn heads_sharing(model: &Model) -> u64 {
    let one_count = ONE_HEAD_COUNT.contains(&model.arch.as_str());
    let reach = if one_count { model.layers.len() } else { 1 };
    let (heads, kv_heads) =
        model.layers.iter().take(reach).find_map(|l| head_counts(l, model)).unwrap_or((0, 0));
    heads.checked_div(kv_heads).unwrap_or(0)
}

/// Query and key/value heads of a layer. A latent cache counts as one key/value head, unless the file
/// holds the uncompressed up-projection of old conversions.
fn head_counts(layer: &Layer, model: &Model) -> Option<(u64, u64)> {
    match &layer.mixer {
        Mixer::Attention(a) | Mixer::Parallel(a, _) => Some((a.heads, a.kv_heads)),
        Mixer::Latent(l) => {
            let is_whole = model.tensors.iter().any(|t| t.name.ends_with("attn_kv_b.weight"));
            Some((l.heads, if is_whole { l.heads } else { 1 }))
        }
        Mixer::Recurrent(_) | Mixer::Compressed(_) | Mixer::Bidirectional(_) | Mixer::None => None,
    }
}

/// Whether the engine types this model as 70B, which it does by architecture and layers.
///
/// Source: ggml-org/llama.cpp v0.5.0 `src/models/{llama,qwen2,deci,olmo,jais2}.cpp:load_arch_hparams`.
fn is_70b(model: &Model) -> bool {
    let layers = model.trunk().count();
    match model.arch.as_str() {
        "llama" => layers == 80 && shares_heads(model) && model.layers.iter().all(|l| experts(l) != 8),
        "qwen2" | "deci" | "olmo" => layers == 80,
        "jais2" => layers == 68,
        _ => false,
    }
}

/// Whether the first layer has fewer key/value heads than query heads.
fn shares_heads(model: &Model) -> bool {
    model
        .layers
        .first()
        .and_then(|l| head_counts(l, model))
        .is_some_and(|(heads, kv_heads)| heads != kv_heads)
}
