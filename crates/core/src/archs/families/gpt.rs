//! GPT-2 and what was built like it: learnt positions or none, norms with shifts, two matrices in the
//! feed-forward part.

use core::iter;

use super::{Family, biased_by, biased_head, window_everywhere};
use crate::archs::built::layout::{Layout, Matrices, Norm, Projections, positions};
use crate::archs::built::{Built, Modules, Text};
use crate::archs::facts::{Facts, LayerKind, PerLayer, config};
use crate::archs::renamed::{Fate, Names};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Window;

const GPT2: Layout = Layout {
    table: "wte",
    layers: "h",
    norms: &["ln_1", "ln_2"],
    last_norm: "ln_f",
    norm: Norm::ScaleAndShift,
    attention: "attn",
    projections: Projections::Fused(["c_attn", "c_proj"]),
    matrices: Matrices::Plain(["c_fc", "c_proj"]),
    ..Layout::LLAMA
};

const NEO: Layout = Layout {
    attention: "attn.attention",
    projections: Projections::Separate(["q_proj", "k_proj", "v_proj", "out_proj"]),
    ..GPT2
};

const J: Layout =
    Layout { attention: "attn", norms: &["ln_1"], matrices: Matrices::Plain(["fc_in", "fc_out"]), ..NEO };

const NEOX: Layout = Layout {
    table: "embed_in",
    last_norm: "final_layer_norm",
    norm: Norm::ScaleAndShift,
    attention: "attention",
    projections: Projections::Fused(["query_key_value", "dense"]),
    matrices: Matrices::Plain(["dense_h_to_4h", "dense_4h_to_h"]),
    ..Layout::LLAMA
};

const STARCODER2: Layout =
    Layout { norm: Norm::ScaleAndShift, matrices: Matrices::Plain(["c_fc", "c_proj"]), ..Layout::LLAMA };

/// GPT-2's class keeps its matrices the other way round.
const TURNED: Names = &[
    ("c_attn", Fate::Turned("attn_qkv")),
    ("attn.c_proj", Fate::Turned("attn_output")),
    ("c_fc", Fate::Turned("ffn_up")),
    ("mlp.c_proj", Fate::Turned("ffn_down")),
];

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["gpt2"],
        model_types: &["gpt2"],
        renames: Some(TURNED),
        config: even,
        settle: biased,
        body: gpt2,
        stem: "transformer",
        ..Family::RENAMED
    },
    Family {
        gguf: &["starcoder"],
        model_types: &["gpt_bigcode"],
        config: bigcode,
        settle: biased,
        body: |m, text| {
            positions(m, "wpe", text.facts, 0);
            GPT2.build(m, text)
        },
        stem: "transformer",
        ..Family::RENAMED
    },
    Family {
        model_types: &["gpt_neo"],
        config: neo,
        settle: |f| (f.output_bias, f.ffn_bias, f.gated_ffn) = (true, true, false),
        body: |m, text| {
            positions(m, "wpe", text.facts, 0);
            NEO.build(m, text)
        },
        stem: "transformer",
        ..Family::RENAMED
    },
    Family {
        model_types: &["gptj"],
        config: |c, f| {
            (f.qkv_bias, f.output_bias) = (false, false);
            even(c, f)
        },
        settle: |f| (f.ffn_bias, f.gated_ffn) = (true, false),
        body: |m, text| J.build(m, text),
        stem: "transformer",
        head: biased_head,
        ..Family::RENAMED
    },
    Family {
        gguf: &["gptneox"],
        model_types: &["gpt_neox"],
        config: |_, f| {
            config::even_heads(f);
            Ok(())
        },
        settle: |f| (f.ffn_bias, f.gated_ffn) = (true, false),
        body: |m, text| NEOX.build(m, text),
        stem: "gpt_neox",
        ..Family::RENAMED
    },
    Family {
        gguf: &["starcoder2"],
        model_types: &["starcoder2"],
        config: starcoder2,
        settle: |f| f.gated_ffn = false,
        body: |m, text| STARCODER2.build(m, text),
        ..Family::RENAMED
    },
];

/// Everything has biases.
fn biased(facts: &mut Facts) {
    (facts.qkv_bias, facts.output_bias) = (true, true);
    (facts.ffn_bias, facts.gated_ffn) = (true, false);
}

/// Heads and widths of GPT-2 and GPT-J.
fn even(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    config::even_heads(facts);
    config::ffn_width(config, facts, "n_inner")
}

/// GPT-2, which keeps its matrices the other way round.
fn gpt2(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    let width = facts.width;
    positions(m, "wpe", facts, 0);
    GPT2.around(m, text, |m, i| {
        let hidden = facts.ffn.at(i);
        m.transposed("attn.c_attn", width, width.saturating_mul(3));
        m.transposed("attn.c_proj", width, width);
        m.transposed("mlp.c_fc", width, hidden);
        m.transposed("mlp.c_proj", hidden, width);
        GPT2.stream_norms(m, facts);
        Ok(())
    })
}

/// One key/value head for all queries, or one for each.
fn bigcode(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    even(config, facts)?;
    let shared = config.flag("multi_query")?.unwrap_or(false);
    if shared {
        facts.kv_heads = PerLayer::All(1);
    }
    Ok(())
}

/// GPT-Neo: kinds of layers as a list of patterns, each with how often it is repeated.
fn neo(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    config::even_heads(facts);
    config::ffn_width(config, facts, "intermediate_size")?;
    facts.window = config.uint(&["window_size"])?.map(Window::Sliding);
    let Some(listed) = config.raw("attention_types").and_then(|types| types.as_array()) else {
        facts.set_kinds(|_, i| window_if(i % 2 == 1));
        return Ok(());
    };
    let layers = usize::try_from(facts.layers).unwrap_or(usize::MAX);
    let words = listed.iter().flat_map(|part| {
        let pattern = part.get(0).and_then(|words| words.as_array()).into_iter().flatten();
        let times = part.get(1).and_then(|n| n.as_u64()).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        iter::repeat_n(pattern, times.min(layers)).flatten()
    });
    facts.kinds = words.take(layers).map(|word| window_if(word.as_str() == Some("local"))).collect();
    Ok(())
}

/// A layer that looks at a window, or at everything.
fn window_if(local: bool) -> LayerKind {
    if local { LayerKind::Window } else { LayerKind::Full }
}

fn starcoder2(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    biased_by(config, facts, "use_bias")?;
    window_everywhere(config, facts)
}
