//! Mixtures of experts in the usual layout, after dense first layers or in every layer: dots.llm1, Hunyuan 3,
//! Solar Open, MiniMax M2, Mellum 2, ERNIE 4.5, Hunyuan A13B.

use super::{Family, biased_by, head_biased_by, settle_stated_windows, windows, windows_from_layer};
use crate::archs::built::experts::{Correction, Routed};
use crate::archs::built::layout::{Layout, QkNorms};
use crate::archs::facts::Facts;
use crate::archs::renamed::Fate;
use crate::formats::hf_config::{Config, ConfigError};

const MINIMAX_M2: Layout = Layout { qk_norms: QkNorms::Wide(["q_norm", "k_norm"]), ..Layout::LLAMA };

const ERNIE: Layout = Layout {
    routed: Routed {
        correction: Correction::Row("gate.moe_statics.e_score_correction_bias"),
        ..Routed::USUAL
    },
    ..Layout::LLAMA
};

const HUNYUAN: Layout = Layout {
    qk_norms: QkNorms::Head(["query_layernorm", "key_layernorm"]),
    routed: Routed { router: "gate.wg", shared: "shared_mlp", ..Routed::USUAL },
    ..Layout::LLAMA
};

/// Experts picked by a sigmoid with a correction, which files keep beside the router.
const CORRECTED: Family = Family { settle: Facts::correct_router, ..Family::RENAMED };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["dots1"],
        model_types: &["dots1"],
        config: |c, f| windows_from_layer(c, f, f.layers),
        settle: normed_and_corrected,
        ..CORRECTED
    },
    Family {
        gguf: &["hy_v3"],
        model_types: &["hy_v3"],
        renames: Some(&[("e_score_correction_bias", Fate::Bare("exp_probs_b"))]),
        config: |_, f| {
            f.lead_with_dense(1);
            Ok(())
        },
        settle: normed_and_corrected,
        ..CORRECTED
    },
    Family { model_types: &["solar_open"], ..CORRECTED },
    Family {
        gguf: &["minimax-m2"],
        model_types: &["minimax_m2"],
        settle: normed_and_corrected,
        body: |m, text| MINIMAX_M2.build(m, text),
        ..CORRECTED
    },
    Family {
        gguf: &["mellum"],
        model_types: &["mellum"],
        config: windows,
        settle: |f| {
            f.qk_norm = true;
            // A file without a pattern has every fourth layer look at everything; a config always lists.
            settle_stated_windows(f, 4);
        },
        ..Family::RENAMED
    },
    Family {
        gguf: &["ernie4_5-moe"],
        model_types: &["ernie4_5_moe"],
        config: ernie,
        body: |m, text| ERNIE.build(m, text),
        head: |m, text, class| head_biased_by(m, text, class, "use_bias"),
        ..CORRECTED
    },
    Family {
        gguf: &["hunyuan-moe"],
        model_types: &["hunyuan_v1_moe"],
        config: |_, f| {
            // Its config counts no shared experts, and the widths of single layers are not used.
            if let Some(experts) = &mut f.experts {
                experts.width = f.ffn.first();
                experts.shared_width = f.ffn.first();
            }
            f.ffn_bias = false;
            Ok(())
        },
        settle: |f| f.qk_norm = true,
        body: |m, text| HUNYUAN.build(m, text),
        ..Family::RENAMED
    },
];

fn normed_and_corrected(facts: &mut Facts) {
    facts.qk_norm = true;
    facts.correct_router();
}

/// Experts from one layer to another, every so many-th.
fn ernie(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    biased_by(config, facts, "use_bias")?;
    let every = config.uint(&["moe_layer_interval"])?.unwrap_or(1).max(1);
    let first = config.uint(&["moe_layer_start_index"])?.unwrap_or(0);
    // The class writes -1 for the last layer; a config that says so says nothing.
    let last = config.raw("moe_layer_end_index").and_then(|end| end.as_u64());
    let last = last.unwrap_or(facts.layers);
    let layers = facts.layers;
    if let Some(experts) = &mut facts.experts {
        let has = |i: u64| (i + 1).is_multiple_of(every) && i >= first && i <= last;
        experts.layers = Some((0..layers).map(has).collect());
    }
    Ok(())
}
