//! Whisper: an encoder of sound and a decoder that attends to it. The layers of the encoder count first.

use super::Family;
use crate::archs::built::towers::{Block, whisper};
use crate::archs::built::{Built, Modules, Text};
use crate::archs::facts::{Facts, PerLayer};
use crate::formats::hf_config::{Config, ConfigError};

pub(super) const FAMILIES: &[Family] = &[Family {
    model_types: &["whisper"],
    config,
    body,
    hears: true,
    // The head is the embedding, whatever a config says.
    head: |_, _, _| Ok(()),
    ..Family::READ_ONLY
}];

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let [encoder, decoder] = [config.required(&["encoder_layers"])?, config.required(&["decoder_layers"])?];
    facts.layers = encoder.saturating_add(decoder);
    let by_half = |names: [&str; 2]| -> Result<PerLayer, ConfigError> {
        let [first, second] = [config.required(&[names[0]])?, config.required(&[names[1]])?];
        let each = (0..facts.layers).map(|i| if i < encoder { first } else { second });
        Ok(PerLayer::Each(each.collect()))
    };
    let heads = by_half(["encoder_attention_heads", "decoder_attention_heads"])?;
    let ffn = by_half(["encoder_ffn_dim", "decoder_ffn_dim"])?;
    (facts.kv_heads, facts.heads, facts.ffn) = (heads.clone(), heads, ffn);
    facts.encode_first(encoder);
    (facts.gated_ffn, facts.tied) = (false, true);
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let sound = whisper::Sound {
        layers: text.config.required(&["encoder_layers"])?,
        ..whisper::Sound::read(text.config)?
    };
    m.under("encoder", |m| whisper::encoder(m, &sound))?;
    m.under("decoder", |m| decoder(m, text))
}

fn decoder(m: &mut Modules, text: &Text<'_>) -> Built {
    let (facts, config) = (text.facts, text.config);
    m.table("embed_tokens", facts.vocab, facts.width);
    m.table("embed_positions", config.required(&["max_target_positions"])?, facts.width);
    let hidden = config.required(&["decoder_ffn_dim"])?;
    m.each("layers", config.required(&["decoder_layers"])?, |m, _| {
        whisper::BLOCK.build(m, facts.width, hidden);
        const CROSS: Block = Block { attention: "encoder_attn", ..whisper::BLOCK };
        CROSS.attend(m, facts.width, facts.width);
        m.layer_norm("encoder_attn_layer_norm", facts.width);
        Ok(())
    })?;
    m.layer_norm("layer_norm", facts.width);
    Ok(())
}
