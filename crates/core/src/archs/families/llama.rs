//! Llama and what is built like it: Mistral, Mixtral, Yi, DeepSeek's first models, and models that only
//! name a bias or a norm in their own way.

use super::{Family, NORMED_AFTER, biased_by, window_everywhere, windows};
use crate::archs::built::layout::{Layout, QkNorms};
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};

const HUNYUAN: Layout =
    Layout { qk_norms: QkNorms::Head(["query_layernorm", "key_layernorm"]), ..Layout::LLAMA };

/// Llama's layout; `mistral3` differs only in how it scales positions.
pub(super) const FAMILIES: &[Family] = &[
    Family { gguf: &["llama"], model_types: &["llama", "mixtral", "iquestcoder"], ..Family::PLAIN },
    Family { gguf: &["llama"], model_types: &["mistral"], config: mistral, ..Family::PLAIN },
    Family {
        gguf: &["mistral3"],
        model_types: &["mistral3", "ministral3"],
        config: mistral,
        ..Family::PLAIN
    },
    Family { gguf: &["llama"], model_types: &["internlm3"], config: internlm3, ..Family::PLAIN },
    Family { gguf: &["granite"], model_types: &["granite"], ..Family::RENAMED },
    Family {
        gguf: &["ernie4_5"],
        model_types: &["ernie4_5"],
        config: |c, f| biased_by(c, f, "use_bias"),
        ..Family::RENAMED
    },
    Family {
        gguf: &["seed_oss"],
        model_types: &["seed_oss"],
        renames: Some(NORMED_AFTER),
        config: |c, f| {
            f.output_bias = c.flag("attention_out_bias")?.unwrap_or(false);
            Ok(())
        },
        ..Family::RENAMED
    },
    Family {
        gguf: &["hunyuan-dense"],
        model_types: &["hunyuan_v1_dense"],
        config: |_, f| {
            (f.qk_norm, f.ffn_bias) = (true, false);
            Ok(())
        },
        body: |m, text| HUNYUAN.build(m, text),
        ..Family::RENAMED
    },
    Family { gguf: &["smollm3"], model_types: &["smollm3"], config: smollm3, ..Family::RENAMED },
];

/// Mistral: no biases, and a window in every layer of the first models.
fn mistral(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    (facts.qkv_bias, facts.output_bias, facts.ffn_bias) = (false, false, false);
    window_everywhere(config, facts)
}

/// InternLM 3 has its own names for the biases.
fn internlm3(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    if let Some(biased) = config.flag("qkv_bias")? {
        (facts.qkv_bias, facts.output_bias) = (biased, biased);
    }
    if let Some(biased) = config.flag("bias")? {
        facts.ffn_bias = biased;
    }
    Ok(())
}

/// SmolLM 3: windows only where they are switched on, in the layers that encode no positions.
fn smollm3(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    if !config.flag("use_sliding_window")?.unwrap_or(false) || !config.has("sliding_window") {
        return Ok(());
    }
    windows(config, facts)?;
    if facts.kinds.is_empty() {
        let encodes = config.numbers_per_layer("no_rope_layers", facts.layers)?;
        let interval = config.uint(&["no_rope_layer_interval"])?.unwrap_or(0);
        facts.window_pattern =
            encodes.map(|list| PerLayer::Each(list.iter().map(|encodes| u64::from(*encodes == 0)).collect()));
        if facts.window_pattern.is_some() {
            facts.set_windows(0);
        } else {
            let plain = |i: u64| interval > 0 && i % interval == interval - 1;
            facts.set_kinds(|_, i| if plain(i) { LayerKind::Window } else { LayerKind::Full });
        }
    }
    Ok(())
}
