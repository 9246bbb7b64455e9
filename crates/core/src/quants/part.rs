//! Which part of the network is a tensor, as far as the quantiser's rules tell them apart?

/// The parts that have rules of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Embedding tables of tokens, per-layer ones included.
    Embedding,
    /// Projection to the vocabulary.
    Output,
    /// Query projection.
    Query,
    /// Key projection.
    Key,
    /// Value projection: the part of attention that loses most.
    Value,
    /// Queries, keys and values in one matrix.
    FusedQkv,
    /// Keys and values in one matrix.
    FusedKv,
    /// Projection out of attention.
    AttentionOutput,
    /// Feed-forward matrix up, experts included.
    Up,
    /// Feed-forward gate, experts included.
    Gate,
    /// Feed-forward matrix down, experts included.
    Down,
    /// Everything else: always the main format.
    Other,
}

/// What marks a part in a tensor's name; the first match wins.
const MARKS: [(&str, Part); 9] = [
    ("attn_qkv.weight", Part::FusedQkv),
    ("attn_kv_b.weight", Part::FusedKv),
    ("attn_v.weight", Part::Value),
    ("attn_k.weight", Part::Key),
    ("attn_q.weight", Part::Query),
    ("attn_output.weight", Part::AttentionOutput),
    ("ffn_up", Part::Up),
    ("ffn_gate", Part::Gate),
    ("ffn_down", Part::Down),
];

impl Part {
    /// Whether it holds a value projection, alone or with others.
    pub(super) const fn has_values(self) -> bool {
        matches!(self, Self::Value | Self::FusedQkv | Self::FusedKv)
    }

    /// The part with this tensor name (ggml-org/llama.cpp v0.5.0 `src/llama-quant.cpp:tensor_get_category`).
    pub(super) fn of(name: &str) -> Self {
        match name {
            "output.weight" => Self::Output,
            "token_embd.weight" | "per_layer_token_embd.weight" => Self::Embedding,
            _ => MARKS.iter().find(|(mark, _)| name.contains(mark)).map_or(Self::Other, |(_, part)| *part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_from_names() {
        assert_eq!(Part::of("blk.3.ffn_down_exps.weight"), Part::Down);
        assert_eq!(Part::of("blk.3.attn_qkv.weight"), Part::FusedQkv);
        assert_eq!(Part::of("blk.3.attn_v_b.weight"), Part::Other);
        assert_eq!(Part::of("token_embd_norm.weight"), Part::Other);
        assert_eq!(Part::of("output.weight"), Part::Output);
    }
}
