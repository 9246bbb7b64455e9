//! Which part of a model does a parameter belong to, by its name in the library?

use crate::model::{Mixer, Part, Role, Tensor};

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

/// Names within a layer of a GGUF file that tell the part; the first that occurs decides.
const GGUF_RULES: &[(&str, Part)] = &[
    ("_shexp", Part::SharedExpert),
    ("exp_probs_b", Part::Router),
    ("_exps", Part::Experts),
    ("norm", Part::Norm),
    ("ssm", Part::Recurrent),
    ("shortconv", Part::Recurrent),
    ("attn", Part::Attention),
    ("indexer", Part::Attention),
    ("ffn", Part::Ffn),
    ("inp_gate", Part::PerLayerProjection),
    ("proj", Part::PerLayerProjection),
];

/// The part that a tensor of a GGUF file belongs to; `mixer` is that of its layer.
pub fn part_of_tensor(tensor: &Tensor, mixer: Option<&Mixer>) -> Part {
    let name = tensor.name.as_str();
    match tensor.role {
        Role::TokenEmbedding => Part::Embedding,
        Role::InputTable if name.starts_with("per_layer") => Part::PerLayerEmbedding,
        Role::InputTable => Part::PositionEmbedding,
        Role::InputNorm if name.starts_with("per_layer") => Part::PerLayerProjection,
        Role::Output => Part::Head,
        Role::Experts => Part::Experts,
        Role::Router => Part::Router,
        Role::Tower if name.starts_with("v.") => Part::Vision,
        Role::Tower if name.starts_with("a.") => Part::Audio,
        Role::Tower => Part::Projector,
        Role::InputNorm | Role::OutputSide | Role::RopeFactors | Role::Matrix | Role::Small => {
            let part = GGUF_RULES.iter().find(|(word, _)| name.contains(word)).map_or(Part::Other, |r| r.1);
            match mixer {
                Some(Mixer::Recurrent(_)) if part == Part::Attention => Part::Recurrent,
                _ => part,
            }
        }
    }
}
