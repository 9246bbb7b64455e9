//! GLM 4.5 to 4.7 with experts: dense first layers, a multi-token-prediction layer at the end.

use super::Family;
use crate::archs::blocks::Style;
use crate::archs::facts::Facts;
use crate::formats::hf_config::{Config, ConfigError};

pub(super) const FAMILIES: &[Family] = &[Family {
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
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.qk_norm = config.flag("use_qk_norm")?.unwrap_or(false);
    facts.mtp_layers = config.uint(&["num_nextn_predict_layers"])?.unwrap_or(0);
    Ok(())
}
