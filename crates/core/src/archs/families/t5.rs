//! T5 and UMT5: an encoder and a decoder that attends to it, positions as biases of attention. The layers of
//! the encoder count first.

use super::Family;
use crate::archs::built::{Built, Modules, Text, attention};
use crate::archs::facts::Facts;
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Attention;

const NAMES: [&str; 4] = ["q", "k", "v", "o"];

pub(super) const FAMILIES: &[Family] = &[
    Family { model_types: &["t5"], config, body: |m, text| body(m, text, false), ..WHOLE },
    Family { model_types: &["umt5"], config, body: |m, text| body(m, text, true), ..WHOLE },
];

/// The library ties the head to the embedding whatever a config says.
const WHOLE: Family = Family { stem: "", head: |_, _, _| Ok(()), ..Family::READ_ONLY };

fn is_encoder(config: &Config<'_>) -> bool {
    config.class().ends_with("EncoderModel")
}

/// Layers of the encoder and of the decoder.
fn depths(config: &Config<'_>) -> Result<[u64; 2], ConfigError> {
    let encoder = config.required(&["num_layers"])?;
    let decoder = config.uint(&["num_decoder_layers"])?.unwrap_or(encoder);
    Ok([encoder, if is_encoder(config) { 0 } else { decoder }])
}

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let [encoder, decoder] = depths(config)?;
    facts.layers = encoder.saturating_add(decoder);
    facts.encode_first(encoder);
    facts.gated_ffn = gated(config)?;
    facts.tied = true;
    Ok(())
}

fn gated(config: &Config<'_>) -> Result<bool, ConfigError> {
    Ok(config.text("feed_forward_proj")?.is_some_and(|kind| kind.starts_with("gated-")))
}

fn body(m: &mut Modules, text: &Text<'_>, biased_everywhere: bool) -> Built {
    let facts = text.facts;
    let [encoder, decoder] = depths(text.config)?;
    let stack =
        Stack { buckets: text.config.required(&["relative_attention_num_buckets"])?, biased_everywhere };
    m.table("shared", facts.vocab, facts.width);
    m.under("encoder", |m| stack.build(m, facts, encoder, false))?;
    if decoder > 0 {
        m.under("decoder", |m| stack.build(m, facts, decoder, true))?;
    }
    Ok(())
}

/// How positions bias attention in a stack of layers.
struct Stack {
    /// Distances that have a bias of their own.
    buckets: u64,
    /// Every layer has these biases, not only the first.
    biased_everywhere: bool,
}

impl Stack {
    fn build(&self, m: &mut Modules, facts: &Facts, layers: u64, crosses: bool) -> Built {
        m.each("block", layers, |m, i| {
            m.under("layer", |m| self.layer(m, facts, i, crosses));
            Ok(())
        })?;
        m.norm("final_layer_norm", facts.width);
        Ok(())
    }

    fn layer(&self, m: &mut Modules, facts: &Facts, i: u64, crosses: bool) {
        let (width, hidden) = (facts.width, facts.ffn.first());
        let a = Attention { window: None, ..facts.attention(0) };
        m.numbered(0, |m| {
            m.under("SelfAttention", |m| {
                attention::named(m, NAMES, width, &a, attention::Biases::NONE);
                if i == 0 || self.biased_everywhere {
                    m.table("relative_attention_bias", self.buckets, a.heads);
                }
            });
            m.norm("layer_norm", width);
        });
        if crosses {
            m.numbered(1, |m| {
                m.under("EncDecAttention", |m| {
                    attention::named(m, NAMES, width, &a, attention::Biases::NONE);
                });
                m.norm("layer_norm", width);
            });
        }
        m.numbered(if crosses { 2 } else { 1 }, |m| {
            m.under("DenseReluDense", |m| {
                let inputs: &[&str] = if facts.gated_ffn { &["wi_0", "wi_1"] } else { &["wi"] };
                inputs.iter().for_each(|name| m.linear(name, width, hidden, false));
                m.linear("wo", hidden, width, false);
            });
            m.norm("layer_norm", width);
        });
    }
}
