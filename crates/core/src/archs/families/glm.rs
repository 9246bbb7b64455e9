//! GLM 4: gate and up as one matrix; its later form norms both parts at both ends. GLM 4.5 to 4.7 with
//! experts: dense first layers, a multi-token-prediction layer at the end.

use super::{Family, Ties, Whole, Wrapper};
use crate::archs::blocks::Style;
use crate::archs::built::layout::{Layout, Matrices};
use crate::archs::built::towers::glm;
use crate::archs::built::{Built, Modules};
use crate::archs::facts::Facts;
use crate::formats::hf_config::{Config, ConfigError};

const GLM: Layout = Layout { matrices: Matrices::FusedGate(["gate_up_proj", "down_proj"]), ..Layout::LLAMA };

const GLM4: Layout = Layout {
    norms: &["input_layernorm", "post_attention_layernorm", "post_self_attn_layernorm", "post_mlp_layernorm"],
    ..GLM
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["chatglm"],
        model_types: &["glm"],
        config: dense,
        body: |m, text| GLM.build(m, text),
        ..Family::RENAMED
    },
    Family {
        gguf: &["glm4"],
        model_types: &["glm4"],
        config: dense,
        body: |m, text| GLM4.build(m, text),
        ..Family::RENAMED
    },
    Family {
        gguf: &["glm4"],
        model_types: &["glm4v_text"],
        config: |c, f| {
            f.qkv_bias = true;
            dense(c, f)
        },
        body: |m, text| GLM4.build(m, text),
        ..Family::RENAMED
    },
    Family {
        gguf: &["glm4moe"],
        model_types: &["glm4_moe", "glm4v_moe_text"],
        style: Style { ffn_norm: "post_attention_norm.weight", ..Style::PLAIN },
        config,
        settle: |f| {
            f.qkv_bias = true;
            f.correct_router();
        },
        ..Family::PLAIN
    },
];

pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        model_types: &["glm4v", "glm46v"],
        text: "glm4v_text",
        body: |m, whole| seeing(m, whole, "glm4v_vision"),
        ties: Ties::Either,
        ..Wrapper::PLAIN
    },
    Wrapper {
        model_types: &["glm4v_moe"],
        text: "glm4v_moe_text",
        body: |m, whole| seeing(m, whole, "glm4v_moe_vision"),
        ..Wrapper::PLAIN
    },
];

/// GLM 4.1V to 4.6V.
fn seeing(m: &mut Modules, whole: &Whole<'_>, class: &str) -> Built {
    let vision = whole.config.part("vision_config", class)?;
    m.under("visual", |m| glm::glm4v(m, &vision))?;
    whole.language_model(m)
}

/// The dense models have biases on queries, keys and values alone.
fn dense(_: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    (facts.output_bias, facts.ffn_bias) = (false, false);
    Ok(())
}

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.output_bias = false;
    facts.qk_norm = config.flag("use_qk_norm")?.unwrap_or(false);
    facts.mtp_layers = config.uint(&["num_nextn_predict_layers"])?.unwrap_or(0);
    Ok(())
}
