//! ModernBERT: an encoder with windows in two of three layers, gate and up as one matrix, and no norm before
//! the first layer's attention.

use super::{Family, labels};
use crate::archs::built::{Built, Modules, Text, ffn};
use crate::archs::facts::LayerKind;

pub(super) const FAMILIES: &[Family] = &[Family {
    gguf: &["modern-bert"],
    model_types: &["modernbert"],
    settle: |f| f.set_kinds(|_, _| LayerKind::Bidirectional),
    body,
    head,
    ..Family::READ_ONLY
}];

/// A norm with a shift only where the config says so.
fn norm(m: &mut Modules, text: &Text<'_>, name: &str) -> Built {
    if text.config.flag("norm_bias")?.unwrap_or(false) {
        m.layer_norm(name, text.facts.width);
    } else {
        m.norm(name, text.facts.width);
    }
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    let width = facts.width;
    m.under("embeddings", |m| {
        m.table("tok_embeddings", facts.vocab, width);
        norm(m, text, "norm")
    })?;
    m.each("layers", facts.layers, |m, i| {
        if i > 0 {
            norm(m, text, "attn_norm")?;
        }
        m.linear("attn.Wqkv", width, width.saturating_mul(3), facts.qkv_bias);
        m.linear("attn.Wo", width, width, facts.output_bias);
        norm(m, text, "mlp_norm")?;
        m.under("mlp", |m| ffn::fused_gate(m, ["Wi", "Wo"], width, facts.ffn.at(i), facts.ffn_bias));
        Ok(())
    })?;
    norm(m, text, "final_norm")
}

/// A matrix and a norm, then words or classes.
fn head(m: &mut Modules, text: &Text<'_>, class: &str) -> Built {
    let (facts, config) = (text.facts, text.config);
    let bias = config.flag("classifier_bias")?.unwrap_or(false);
    m.under("head", |m| {
        m.linear("dense", facts.width, facts.width, bias);
        norm(m, text, "norm")
    })?;
    if class.ends_with("Classification") {
        m.linear("classifier", facts.width, labels(config)?, true);
    } else if config.flag("decoder_bias")?.unwrap_or(true) {
        m.parameter("decoder.bias", &[facts.vocab]);
    }
    Ok(())
}
