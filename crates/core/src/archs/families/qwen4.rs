//! Qwen4-Exp: gated delta nets, in every fourth layer full attention whose scorer picks blocks of the
//! context; several residual streams; and in some layers an embedding of the last tokens together.

use super::{Family, Whole, Wrapper, kinds_from_words, settle_intervals};
use crate::archs::built::recurrent::{self, DeltaInput};
use crate::archs::built::towers::qwen;
use crate::archs::built::{Built, Modules, Text, attention, decoder, ngrams, streams};
use crate::archs::facts::{Facts, LayerKind, config, state_space};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Indexer, StateSpace};

/// Every so many-th layer is full attention when neither form says (class default).
const INTERVAL: u64 = 4;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["qwen4exp"],
    model_types: &["qwen4_exp_text"],
    config: read,
    settle: |f| {
        state_space(f, StateSpace::GatedDelta);
        f.qk_norm = true;
        settle_intervals(f, INTERVAL);
    },
    body,
    ..Family::READ_ONLY
}];

pub(super) const WRAPPERS: &[Wrapper] =
    &[Wrapper { model_types: &["qwen4_exp"], text: "qwen4_exp_text", body: seeing, ..Wrapper::PLAIN }];

fn read(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    kinds_from_words(config, facts, &["linear_attention"], (LayerKind::Recurrent, LayerKind::Full))?;
    facts.recurrent = Some(config::delta_net(config)?);
    facts.ffn_bias = false;
    if let Some(heads) = config.uint(&["indexer_n_heads"])? {
        facts.indexer = Some(Indexer {
            heads,
            k_dim: config.required(&["indexer_head_dim"])?,
            top_k: config.required(&["indexer_budget"])?,
        });
    }
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let (facts, config) = (text.facts, text.config);
    let mixing = streams::LowRank {
        count: config.required(&["hc_count"])?,
        rank: config.required(&["hc_lowrank"])?,
        width: facts.width,
    };
    // Layers are counted from 1 there.
    let embedding = config.numbers("ple_layer_ids")?.unwrap_or_default();
    decoder::of_layers_alone(m, text, |m, i| {
        match (facts.kind(i), &facts.recurrent) {
            (LayerKind::Recurrent, Some(r)) => {
                m.under("linear_attn", |m| recurrent::gated_delta(m, facts.width, r, DeltaInput::Split));
            }
            _ => m.under("self_attn", |m| attend(m, facts, i)),
        }
        m.under("mlp", |m| decoder::feed_forward_beside_gate(m, facts, i));
        mixing.around_parts(m);
        match embedding.iter().position(|layer| *layer == i + 1) {
            Some(turn) => m.under("ple", |m| ngrams::embed(m, text, mixing.count, turn as u64)),
            None => Ok(()),
        }
    })?;
    m.under("hyper_connection_mixer", |m| mixing.mixer(m));
    Ok(())
}

/// Attention with a gate of its output, and the scorer whose queries and keys are one matrix.
fn attend(m: &mut Modules, facts: &Facts, i: u64) {
    let a = facts.attention(i);
    attention::gated(m, facts.width, &a, decoder::biases(facts));
    attention::head_norms(m, &a);
    if let Some(indexer) = facts.indexer_of(i) {
        m.under("indexer", |m| {
            let rows = indexer.heads.saturating_add(1).saturating_mul(indexer.k_dim);
            m.linear("index_qk_proj", facts.width, rows, false);
            m.norm("q_layernorm", indexer.k_dim);
            m.norm("k_layernorm", indexer.k_dim);
        });
    }
}

fn seeing(m: &mut Modules, whole: &Whole<'_>) -> Built {
    let vision = whole.config.part("vision_config", "qwen4_exp_vision")?;
    m.under("visual", |m| qwen::qwen3(m, &vision, false))?;
    whole.language_model(m)
}
