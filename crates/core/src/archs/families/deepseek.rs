//! DeepSeek V2 to V3.2 and their like (GLM 4.7 Flash, GLM 5, Mistral 4): latent attention, many small
//! experts, dense first layers. V3.2 and GLM 5 score what to attend to, in every layer or in some.

use super::Family;
use crate::archs::facts::{Facts, config};
use crate::formats::hf_config::{Config, ConfigError};
use crate::units::Tokens;

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["deepseek2"],
        model_types: &["deepseek_v2", "deepseek_v3", "kimi_k2"],
        config: read,
        settle,
        ..Family::PLAIN
    },
    Family {
        gguf: &["deepseek32"],
        model_types: &["deepseek_v32"],
        config: |c, f| {
            read(c, f)?;
            f.indexer = Some(config::indexer(c)?);
            Ok(())
        },
        settle,
        ..Family::PLAIN
    },
    Family {
        gguf: &["glm-dsa"],
        model_types: &["glm_moe_dsa"],
        config: |c, f| {
            read(c, f)?;
            f.indexer = Some(config::indexer(c)?);
            f.mtp_layers = c.uint(&["num_nextn_predict_layers"])?.unwrap_or(0);
            scorers(c, f)
        },
        settle: |f| {
            f.correct_router();
            if f.scored.is_empty() && f.context_length >= Some(CONTEXT_WITH_SHARED_SCORERS) {
                score_every(f, 4, 3);
            }
        },
        ..Family::PLAIN
    },
    Family {
        gguf: &["deepseek2"],
        model_types: &["glm4_moe_lite"],
        config: |c, f| {
            read(c, f)?;
            f.lead_with_dense(1);
            f.correct_router();
            Ok(())
        },
        ..Family::PLAIN
    },
    Family { gguf: &["mistral4"], model_types: &["mistral4"], config: read, ..Family::PLAIN },
];

/// Contexts of GLM 5.2 and later, whose files need not say which layers have a scorer of their own.
const CONTEXT_WITH_SHARED_SCORERS: Tokens = Tokens(1 << 20);

/// Reads latent attention and the router's correction bias.
fn read(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    facts.latent = Some(config::latent(config)?);
    if let Some(experts) = &mut facts.experts {
        experts.router_bias = config.text("topk_method")? == Some("noaux_tc");
    }
    Ok(())
}

/// Layers with a scorer of their own: listed by name or by letter, else from one layer on every so
/// many-th.
fn scorers(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let pattern = config.raw("index_topk_pattern").and_then(|pattern| pattern.as_str());
    match (config.words_per_layer("indexer_types", facts.layers)?, pattern) {
        (Some(words), _) => facts.scored = words.iter().map(|word| *word == "full").collect(),
        (None, Some(letters)) => facts.scored = letters.chars().map(|letter| letter == 'F').collect(),
        (None, None) => {
            let every = config.uint(&["index_topk_freq"])?.unwrap_or(1);
            score_every(facts, every, config.uint(&["index_skip_topk_offset"])?.unwrap_or(2));
        }
    }
    Ok(())
}

/// Every so many-th layer has a scorer of its own, counted from the layer before `offset`; so have those
/// before it.
fn score_every(facts: &mut Facts, every: u64, offset: u64) {
    let own = |i: u64| (i + 1).saturating_sub(offset).is_multiple_of(every.max(1));
    facts.scored = (0..facts.layers).map(own).collect();
}

/// The smallest of these models has full queries although its file states a rank.
fn settle(facts: &mut Facts) {
    const LAYERS_OF_LITE: [u64; 2] = [26, 27];
    let lite = LAYERS_OF_LITE.contains(&facts.layers);
    if let Some(latent) = facts.latent.as_mut().filter(|_| lite) {
        latent.q_rank = None;
    }
}
