//! Zamba2: Mamba 2 in every layer; before some of them a transformer layer over the stream and the first
//! input side by side, whose matrices a few blocks share in turn, each turn with an adapter of its own.

use super::Family;
use crate::archs::built::decoder::{self, Names};
use crate::archs::built::recurrent::{self, StateSpaceStyle};
use crate::archs::built::{Built, Modules, Text, attention, ffn};
use crate::archs::facts::{Facts, LayerKind, PerLayer, config};
use crate::formats::hf_config::{Config, ConfigError};
use crate::model::Attention;

const NAMES: Names = Names { norm: "final_layernorm", ..Names::USUAL };

pub(super) const FAMILIES: &[Family] =
    &[Family { model_types: &["zamba2"], config, body, ..Family::READ_ONLY }];

/// Whether the class puts a transformer before this layer when a config lists none.
const fn by_default(i: u64) -> bool {
    matches!(i, 6 | 12 | 18 | 24 | 30 | 36 | 42 | 47 | 51)
}

fn config(config: &Config<'_>, facts: &mut Facts) -> Result<(), ConfigError> {
    let listed = config.words_per_layer("layers_block_type", facts.layers)?;
    let crossed = |i: u64| match &listed {
        Some(words) => {
            usize::try_from(i).ok().and_then(|i| words.get(i)).is_some_and(|word| *word == "hybrid")
        }
        None => by_default(i),
    };
    facts.set_kinds(|_, i| if crossed(i) { LayerKind::Parallel } else { LayerKind::Recurrent });
    let head = facts.width.saturating_mul(2).checked_div(facts.heads.first()).unwrap_or(0);
    (facts.k_dim, facts.v_dim) = (head, head);
    let stated = config.uint(&["intermediate_size"])?.filter(|width| *width > 0);
    let hidden = stated.unwrap_or(facts.width.saturating_mul(4));
    facts.ffn = PerLayer::Each((0..facts.layers).map(|i| if crossed(i) { hidden } else { 0 }).collect());
    let inner = facts.width.saturating_mul(config.required(&["mamba_expand"])?);
    facts.recurrent = Some(config::mamba2(config, inner)?);
    Ok(())
}

fn body(m: &mut Modules, text: &Text<'_>) -> Built {
    let (facts, config) = (text.facts, text.config);
    let bias = config.flag("add_bias_linear")?.unwrap_or(false);
    let style = StateSpaceStyle { in_bias: bias, out_bias: bias, ..StateSpaceStyle::read(config)? };
    let shared = Shared::read(text)?;
    let mut turn = 0;
    decoder::named(m, text, &NAMES, |m, i| {
        let Some(r) = &facts.recurrent else { return Ok(()) };
        let mamba = |m: &mut Modules| {
            m.under("mamba", |m| recurrent::state_space(m, facts.width, r, style));
            decoder::norms(m, facts, &["input_layernorm"]);
        };
        if facts.kind(i) != LayerKind::Parallel {
            mamba(m);
            return Ok(());
        }
        m.linear("linear", facts.width, facts.width, false);
        m.under("mamba_decoder", mamba);
        if turn < shared.blocks {
            m.under("shared_transformer", |m| shared.build(m, facts, i, turn));
        }
        turn += 1;
        Ok(())
    })
}

/// The transformer layers that are shared.
struct Shared {
    /// How many there are.
    blocks: u64,
    /// Layers that use one of them.
    turns: u64,
    /// Rank of the adapters.
    rank: u64,
    /// Attention has adapters, too.
    attention_adapters: bool,
}

impl Shared {
    fn read(text: &Text<'_>) -> Result<Self, ConfigError> {
        let turns = (0..text.facts.layers).filter(|i| text.facts.kind(*i) == LayerKind::Parallel).count();
        Ok(Self {
            blocks: text.config.uint(&["num_mem_blocks"])?.unwrap_or(1).max(1),
            turns: turns as u64,
            rank: text.config.uint(&["adapter_rank"])?.unwrap_or(0),
            attention_adapters: text.config.flag("use_shared_attention_adapter")?.unwrap_or(false),
        })
    }

    fn build(&self, m: &mut Modules, facts: &Facts, i: u64, block: u64) {
        let both = facts.width.saturating_mul(2);
        let a = facts.attention(i);
        m.under("self_attn", |m| self.attend(m, both, facts.width, &a, block));
        let hidden = facts.ffn.at(i);
        m.under("feed_forward", |m| {
            ffn::fused_gate(m, ["gate_up_proj", "down_proj"], facts.width, hidden, false);
            self.adapters(m, "gate_up_proj_adapter_list", block, [facts.width, hidden.saturating_mul(2)]);
        });
        m.norm("input_layernorm", both);
        m.norm("pre_ff_layernorm", facts.width);
    }

    fn attend(&self, m: &mut Modules, both: u64, width: u64, a: &Attention, block: u64) {
        m.linear("q_proj", both, attention::q_width(a), false);
        m.linear("k_proj", both, a.k_width(), false);
        m.linear("v_proj", both, a.v_width(), false);
        m.linear("o_proj", a.heads.saturating_mul(a.v_dim), width, false);
        if self.attention_adapters {
            for name in ["q", "k", "v"] {
                self.adapters(m, &alloc::format!("linear_{name}_adapter_list"), block, [both, both]);
            }
        }
    }

    /// An adapter for every turn of this block.
    fn adapters(&self, m: &mut Modules, name: &str, block: u64, [from, to]: [u64; 2]) {
        m.under(name, |m| {
            for turn in (0..self.turns).filter(|turn| turn % self.blocks == block) {
                m.numbered(turn, |m| {
                    m.linear("0", from, self.rank, false);
                    m.linear("1", self.rank, to, false);
                });
            }
        });
    }
}
