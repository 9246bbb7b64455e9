//! GLM 4: gate and up as one matrix; its later form norms both parts at both ends. GLM 4.5 to 4.7 with
//! experts: dense first layers, a multi-token-prediction layer at the end.

use super::Family;
use crate::archs::blocks::Style;
use crate::archs::built::layout::{Layout, Matrices};
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
        ..Family::READ_ONLY
    },
    Family {
        gguf: &["glm4"],
        model_types: &["glm4"],
        config: dense,
        body: |m, text| GLM4.build(m, text),
        ..Family::READ_ONLY
    },
    Family {
        gguf: &["glm4moe"],
        model_types: &["glm4_moe"],
        style: Style { ffn_norm: "post_attention_norm.weight", ..Style::PLAIN },
        config,
        settle: |f| {
            f.qkv_bias = true;
            if let Some(experts) = &mut f.experts {
                experts.router_bias = true;
            }
        },
        ..Family::PLAIN
    },
];

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
