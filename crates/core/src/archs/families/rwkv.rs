//! RWKV: no attention; each layer keeps the last token twice, and a state.

use super::{Family, head_as};
use crate::archs::built::layout::{Layout, Norm};
use crate::archs::built::{Built, Modules, Text, recurrent};
use crate::archs::facts::{Facts, LayerKind, config};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::{Recurrent, StateSpace};

const RWKV: Layout = Layout {
    table: "embeddings",
    layers: "blocks",
    norms: &["ln1", "ln2"],
    last_norm: "ln_out",
    norm: Norm::ScaleAndShift,
    ..Layout::LLAMA
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["rwkv6", "rwkv7"],
        settle: |f| f.set_kinds(|_, _| LayerKind::Recurrent),
        ..Family::RENAMED
    },
    Family {
        model_types: &["rwkv"],
        config,
        body,
        stem: "rwkv",
        head: |m, text, _| head_as(m, text, "head"),
        ..Family::RENAMED
    },
];

/// A state of three values a channel in RWKV 4, and of one value for each other channel of the head since.
fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    const VALUES_OF_RWKV_4: u64 = 3;
    let inner = config.uint(&["attention_hidden_size"])?.unwrap_or(facts.width);
    let head = config.uint(&["head_size"])?;
    facts.recurrent = Some(Recurrent::StateSpace {
        kind: StateSpace::Wkv,
        // A convolution over three tokens keeps the last two, as two shifts by one token do.
        conv: 3,
        inner,
        state: head.unwrap_or(VALUES_OF_RWKV_4),
        groups: 0,
        rank: head.and_then(|dim| inner.checked_div(dim)).unwrap_or(inner),
    });
    facts.set_kinds(|_, _| LayerKind::Recurrent);
    facts.context_length = config.uint(&["context_length"])?.map(crate::units::Tokens);
    facts.gated_ffn = false;
    config::ffn_width(config, facts, "intermediate_size")
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    RWKV.around(m, text, |m, i| {
        if i == 0 {
            RWKV.norm.add(m, "pre_ln", facts.width);
        }
        RWKV.stream_norms(m, facts);
        if let Some(mixer) = &facts.recurrent {
            m.under("attention", |m| recurrent::wkv(m, facts.width, mixer));
        }
        m.under("feed_forward", |m| recurrent::channel_mix(m, facts.width, facts.ffn.at(i)));
        Ok(())
    })
}
