//! Models whose classes are published with them and not part of the library, named as that code names them:
//! InternLM, Qwen 1, ChatGLM 3 and GLM 4, Baichuan 2, MiniCPM, Orion, XVERSE, MiMo, DeepSeek's first mixture.

use super::{Family, head_as};
use crate::archs::built::layout::{Layout, Matrices, Norm, Projections};
use crate::archs::built::{Built, Modules, Text};
use crate::archs::facts::{Facts, PerLayer};
use crate::archs::renamed::Fate;
use crate::formats::hf_config::{Config, ConfigError};

const INTERNLM2: Layout = Layout {
    table: "tok_embeddings",
    norms: &["attention_norm", "ffn_norm"],
    attention: "attention",
    projections: Projections::Fused(["wqkv", "wo"]),
    ffn: "feed_forward",
    matrices: Matrices::GatedAs(["w1", "w3", "w2"]),
    ..Layout::LLAMA
};

const QWEN: Layout = Layout {
    table: "wte",
    layers: "h",
    norms: &["ln_1", "ln_2"],
    last_norm: "ln_f",
    attention: "attn",
    projections: Projections::Fused(["c_attn", "c_proj"]),
    ffn: "mlp",
    matrices: Matrices::GatedAs(["w1", "w2", "c_proj"]),
    ..Layout::LLAMA
};

const CHATGLM: Layout = Layout {
    table: "embedding.word_embeddings",
    layers: "encoder.layers",
    last_norm: "encoder.final_layernorm",
    attention: "self_attention",
    projections: Projections::Fused(["query_key_value", "dense"]),
    matrices: Matrices::FusedGate(["dense_h_to_4h", "dense_4h_to_h"]),
    ..Layout::LLAMA
};

const BAICHUAN: Layout = Layout { projections: Projections::Fused(["W_pack", "o_proj"]), ..Layout::LLAMA };

const ORION: Layout = Layout { norm: Norm::ScaleAndShift, ..Layout::LLAMA };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["internlm2"],
        model_types: &["internlm2"],
        renames: Some(&[
            ("wqkv", Fate::Parted),
            ("wo", Fate::As("attn_output")),
            ("w1", Fate::As("ffn_gate")),
            ("w3", Fate::As("ffn_up")),
            ("w2", Fate::As("ffn_down")),
        ]),
        config: |c, f| biased(c, f, "bias"),
        body: |m, text| INTERNLM2.build(m, text),
        head: |m, text, _| head_as(m, text, "output"),
        ..Family::RENAMED
    },
    Family { model_types: &["internlm"], config: |c, f| biased(c, f, "bias"), ..Family::RENAMED },
    Family {
        gguf: &["qwen"],
        model_types: &["qwen"],
        renames: Some(&[("w1", Fate::As("ffn_up")), ("w2", Fate::As("ffn_gate"))]),
        config: |_, f| {
            // The config counts gate and up together.
            f.ffn = PerLayer::All(f.ffn.first() / 2);
            Ok(())
        },
        settle: |f| f.qkv_bias = true,
        body: |m, text| QWEN.build(m, text),
        stem: "transformer",
        ..Family::RENAMED
    },
    Family {
        gguf: &["chatglm"],
        model_types: &["chatglm"],
        config: |c, f| {
            f.qkv_bias = c.flag("add_qkv_bias")?.unwrap_or(false);
            f.output_bias = c.flag("add_bias_linear")?.unwrap_or(false);
            f.ffn_bias = f.output_bias;
            Ok(())
        },
        body: chatglm,
        ..Family::RENAMED
    },
    Family {
        gguf: &["baichuan"],
        model_types: &["baichuan"],
        renames: Some(&[("W_pack", Fate::Parted)]),
        body: |m, text| BAICHUAN.build(m, text),
        ..Family::RENAMED
    },
    Family {
        gguf: &["orion"],
        model_types: &["orion"],
        body: |m, text| ORION.build(m, text),
        ..Family::RENAMED
    },
    Family { gguf: &["xverse"], model_types: &["xverse"], ..Family::RENAMED },
    Family { gguf: &["minicpm"], model_types: &["minicpm"], ..Family::RENAMED },
    Family {
        model_types: &["mimo"],
        config: |c, f| {
            f.qkv_bias = c.flag("attention_bias")?.unwrap_or(true);
            (f.output_bias, f.ffn_bias) = (false, false);
            Ok(())
        },
        ..Family::RENAMED
    },
    Family { gguf: &["deepseek"], model_types: &["deepseek"], ..Family::RENAMED },
];

/// Attention's matrices have biases where this field says so.
fn biased(config: &Config<'_>, facts: &mut Facts, field: &str) -> Result<(), ConfigError> {
    let biased = config.flag(field)?.unwrap_or(false);
    (facts.qkv_bias, facts.output_bias) = (biased, biased);
    Ok(())
}

/// The class is named as a body is, and holds the head all the same.
fn chatglm(m: &mut Modules, text: &Text<'_>) -> Built {
    m.under("transformer", |m| {
        CHATGLM.build(m, text)?;
        head_as(m, text, "output_layer")
    })
}
