//! MiMo-V2-Flash: values narrower than keys; window layers have twice the key/value heads, and sinks.

use super::{Family, kinds_from_words, settle_windows};
use crate::archs::built::layout::Layout;
use crate::archs::built::{Built, Modules, Text};
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Window;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["mimo2"],
    model_types: &["mimo_v2_flash"],
    config,
    settle: |f| {
        f.correct_router();
        settle_windows(f, 0);
    },
    body,
    ..Family::RENAMED
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.v_dim = config.uint(&["v_head_dim"])?.unwrap_or(facts.k_dim);
    facts.output_bias = false;
    facts.lead_with_dense(1);
    facts.window = config.uint(&["sliding_window"])?.map(Window::Sliding);
    kinds_from_words(config, facts, &["sliding_attention"], (LayerKind::Window, LayerKind::Full))?;
    if facts.kinds.is_empty() {
        // As published (1 for a window), else the first layer and every sixth look at everything (class
        // default).
        let flags = config.numbers_per_layer("hybrid_layer_pattern", facts.layers)?;
        let windowed = |i: u64| match &flags {
            Some(flags) => usize::try_from(i).ok().and_then(|i| flags.get(i)).is_some_and(|flag| *flag > 0),
            None => i > 0 && !(i + 1).is_multiple_of(6),
        };
        facts.set_kinds(|_, i| if windowed(i) { LayerKind::Window } else { LayerKind::Full });
    }
    let full = facts.kv_heads.first();
    let windowed = config.uint(&["swa_num_key_value_heads"])?.unwrap_or(full.saturating_mul(2));
    let heads = facts.kinds.iter().map(|kind| if *kind == LayerKind::Window { windowed } else { full });
    facts.kv_heads = PerLayer::Each(heads.collect());
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    Layout::LLAMA.build_attending(m, text, |m, a, _| {
        if a.window.is_some() {
            m.parameter("sinks", &[a.heads]);
        }
    })
}
