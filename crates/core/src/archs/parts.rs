//! Which part of a model does a parameter belong to, by its name in the library?

use crate::model::Part;

/// Names within a path that tell the part; the first rule with a name that occurs decides. Towers come
/// first, for they are whole models of their own; tables and heads next; then what layers are made of.
const RULES: &[(Part, &[&str])] = &[
    (Part::PerLayerEmbedding, &["embed_tokens_per_layer"]),
    (Part::Projector, &["projector", "merger", "connector", "multi_modal"]),
    (Part::Vision, &["vision", "visual", "image_newline", "img_"]),
    (Part::Audio, &["audio"]),
    (Part::Other, &["classifier.out_proj"]),
    (Part::PerLayerProjection, &["per_layer"]),
    (Part::Head, &["lm_head", "embed_out"]),
    (
        Part::Embedding,
        &[
            "embed_tokens",
            "wte.",
            "word_embeddings.",
            "embed_in",
            "shared.weight",
            "embeddings.weight",
            "tok_embeddings",
        ],
    ),
    (Part::Attention, &["position_bias"]),
    (Part::PositionEmbedding, &["position", "token_type", "embedding.", "embeddings.", "wpe."]),
    (Part::SharedExpert, &["shared_expert", "shared_mlp"]),
    (Part::Router, &["router", ".gate.", "expert_bias"]),
    (Part::Norm, &["norm", "ln_", "LayerNorm"]),
    (Part::Experts, &["experts"]),
    (Part::Recurrent, &["mamba", "linear_attn", "A_log"]),
    (Part::Attention, &["attn", "attention", "Attention", "q_proj", "k_proj", "v_proj", "o_proj"]),
    (Part::Recurrent, &["temporal_block", "_proj.weight", "conv.", "conv1d", "dt_", "mixer.D"]),
    (Part::Ffn, &["mlp", "feed_forward", "ffn", "fc1", "fc2", "Dense", "intermediate", "output.dense"]),
];

/// Names that speak of a feed-forward part although a later rule would take them for a mixer's.
const FFN_FIRST: &[&str] =
    &["mlp", "feed_forward", "ffn.", "latent_proj", "mixer.up_proj", "mixer.down_proj"];

/// The part that a parameter of this name belongs to.
pub fn part_of(name: &str) -> Part {
    let rule = RULES.iter().find(|(_, names)| names.iter().any(|n| name.contains(n)));
    match rule.map_or(Part::Other, |(part, _)| *part) {
        Part::Recurrent if FFN_FIRST.iter().any(|n| name.contains(n)) => Part::Ffn,
        part => part,
    }
}
