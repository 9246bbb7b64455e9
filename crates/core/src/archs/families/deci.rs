//! Llama Nemotron as architecture search left it: layers may lack attention or the feed-forward part, and
//! every layer has sizes of its own.

use alloc::vec::Vec;

use serde_json::Value;

use super::Family;
use crate::archs::built::{Built, Modules, Text, decoder};
use crate::archs::facts::{Facts, LayerKind, PerLayer};
use crate::formats::hf_config::{Config, ConfigError, ConfigProblem};

const BLOCKS: &str = "block_configs";

/// Hidden widths are whole multiples of this.
const STEP: u64 = 256;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["deci"],
    model_types: &["nemotron-nas", "deci"],
    config,
    settle: attention_where_heads,
    body,
    ..Family::RENAMED
}];

/// Layers without key/value heads have no attention at all.
fn attention_where_heads(facts: &mut Facts) {
    facts.set_kinds(|f, i| if f.kv_heads.at(i) == 0 { LayerKind::None } else { LayerKind::Full });
}

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let Some(blocks) = config.raw(BLOCKS) else { return Ok(()) };
    let blocks = blocks.as_array().ok_or_else(|| config.error(&[BLOCKS], ConfigProblem::NotAList))?;
    let entries = blocks.len() as u64;
    if entries < facts.layers {
        return Err(config.error(&[BLOCKS], ConfigProblem::WrongLength { entries, layers: facts.layers }));
    }
    let heads = facts.heads.first();
    let (mut kv_heads, mut ffn) = (Vec::new(), Vec::new());
    for block in blocks {
        kv_heads.push(match part(block, "attention") {
            Some(attention) => {
                let group = attention.get("n_heads_in_group").and_then(Value::as_u64);
                let group = group.filter(|group| *group > 0 && heads.is_multiple_of(*group));
                heads / group.ok_or_else(|| config.error(&[BLOCKS], ConfigProblem::Missing))?
            }
            None => 0,
        });
        ffn.push(match part(block, "ffn") {
            Some(ffn) => {
                hidden(ffn, facts.width).ok_or_else(|| config.error(&[BLOCKS], ConfigProblem::Missing))?
            }
            None => 0,
        });
    }
    facts.kv_heads = PerLayer::Each(kv_heads);
    facts.ffn = PerLayer::Each(ffn);
    Ok(())
}

/// A part of a layer, unless it does nothing.
fn part<'a>(block: &'a Value, name: &str) -> Option<&'a Value> {
    let is_on = |flag: &str| block.get(name)?.get(flag)?.as_bool();
    block.get(name).filter(|_| is_on("no_op") != Some(true))
}

/// The hidden width, which is stated or follows from how often it is as wide as the stream.
fn hidden(ffn: &Value, width: u64) -> Option<u64> {
    if let Some(stated) = ffn.get("intermediate_size").and_then(Value::as_u64) {
        return Some(stated);
    }
    let times = ffn.get("ffn_mult").and_then(Value::as_f64).filter(|times| (0.0..1e6).contains(times))?;
    let exact = (2.0 * times * width as f64 / 3.0) as u64;
    Some(exact.next_multiple_of(STEP))
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    decoder::of_layers(m, text, |m, i| {
        if facts.kind(i) != LayerKind::None {
            m.under("self_attn", |m| decoder::attend(m, facts, i));
            decoder::norms(m, facts, &["input_layernorm"]);
        }
        if facts.ffn.at(i) > 0 {
            m.under("mlp", |m| decoder::feed_forward(m, facts, i));
            decoder::norms(m, facts, &["post_attention_layernorm"]);
        }
        Ok(())
    })
}
