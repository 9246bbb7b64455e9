//! MiniMax M3: experts after dense first layers, gate and up as one matrix, and in most layers a scorer that
//! picks blocks of the context; with its vision tower.

use super::{Family, Whole, Wrapper};
use crate::archs::built::layout::Layout;
use crate::archs::built::towers::{Vision, vit};
use crate::archs::built::{Built, Modules, Text, experts, ffn};
use crate::archs::facts::{Facts, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Ffn, Indexer};

const MATRICES: [&str; 2] = ["gate_up_proj", "down_proj"];

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["minimax-m3"],
    model_types: &["minimax_m3_vl_text"],
    config,
    settle: |f| {
        f.qk_norm = true;
        f.correct_router();
    },
    body,
    ..Family::READ_ONLY
}];

pub(super) const WRAPPERS: &[Wrapper] = &[Wrapper {
    model_types: &["minimax_m3_vl"],
    text: "minimax_m3_vl_text",
    body: seeing,
    ..Wrapper::PLAIN
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let sparse = config.part("sparse_attention_config", "")?;
    let size = |old: &str, new: &'static str| match sparse.uint(&[old])? {
        Some(n) => Ok(n),
        None => config.required(&[new]),
    };
    facts.indexer = Some(Indexer {
        heads: size("sparse_num_index_heads", "index_n_heads")?,
        k_dim: size("sparse_index_dim", "index_head_dim")?,
        top_k: size("sparse_topk_blocks", "index_topk_blocks")?
            .saturating_mul(size("sparse_block_size", "index_block_size")?),
    });
    let words = config.words_per_layer("layer_types", facts.layers)?;
    let flags = sparse.numbers_per_layer("sparse_attention_freq", facts.layers)?;
    facts.scored = match (words, flags) {
        (Some(words), _) => words.iter().map(|word| *word == "minimax_m3_sparse").collect(),
        (None, Some(flags)) => flags.iter().map(|flag| *flag > 0).collect(),
        (None, None) => (0..facts.layers).map(|_| false).collect(),
    };
    let dense = config.required(&["dense_intermediate_size"])?;
    facts.ffn = PerLayer::All(dense);
    let routed = config.numbers_per_layer("moe_layer_freq", facts.layers)?;
    let width = config.required(&["intermediate_size"])?;
    let shared = config.required(&["shared_intermediate_size"])?;
    if let Some(experts) = &mut facts.experts {
        (experts.width, experts.shared_width, experts.leading_dense) = (width, shared, 0);
        if let Some(flags) = routed.filter(|_| experts.layers.is_none()) {
            experts.layers = Some(flags.iter().map(|flag| *flag > 0).collect());
        }
    }
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    let width = facts.width;
    Layout::LLAMA.around(m, text, |m, i| {
        Layout::LLAMA.mixer(m, facts, i)?;
        if let Some(indexer) = facts.indexer_of(i) {
            m.under("self_attn.indexer", |m| {
                m.linear("q_proj", width, indexer.heads.saturating_mul(indexer.k_dim), false);
                m.linear("k_proj", width, indexer.k_dim, false);
                m.norm("q_norm", indexer.k_dim);
                m.norm("k_norm", indexer.k_dim);
            });
        }
        m.under("mlp", |m| match (facts.ffn_of(i), &facts.experts) {
            (Ffn::Experts { .. }, Some(e)) => {
                experts::router(m, "gate", width, e);
                experts::stacked(m, width, e);
                m.under("shared_experts", |m| ffn::fused_gate(m, MATRICES, width, e.shared_width, false));
            }
            _ => ffn::fused_gate(m, MATRICES, width, facts.ffn.at(i), false),
        });
        Layout::LLAMA.stream_norms(m, facts);
        Ok(())
    })
}

fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "minimax_m3_vl_vision")?;
    m.under("vision_tower", |m| vit::minimax(m, &vision))?;
    let side = vision.uint(&["spatial_merge_size"])?.unwrap_or(2);
    let seen = Vision::read(&vision)?.width;
    let between = whole.config.required(&["projector_hidden_size"])?;
    let width = whole.text.facts.width;
    m.under("multi_modal_projector", |m| {
        m.linear("linear_1", seen, between, true);
        m.linear("linear_2", between, width, true);
        m.linear("merge_linear_1", width.saturating_mul(side).saturating_mul(side), between, true);
        m.linear("merge_linear_2", between, width, true);
    });
    whole.language_model(m)
}
