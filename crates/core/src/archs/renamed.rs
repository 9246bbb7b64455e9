//! The tensors of a converted file, from the parameters of the class: a converter gives most of them another
//! name and keeps their shapes.
//!
//! This is how files are told whose layers are not put together by kind in `blocks`.
//! Source of the names: ggml-org/llama.cpp v0.5.0 `gguf-py/gguf/tensor_mapping.py`, `conversion/`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::facts::Facts;
use super::parts::part_of;
use super::tensor;
use crate::dtype::Format;
use crate::model::{Parameter, Part, Tensor};

/// What becomes of a parameter in a converted file?
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    /// A tensor of this name.
    As(&'static str),
    /// A tensor of this name as it stands, without an ending.
    Bare(&'static str),
    /// The same; the class keeps the matrix the other way round.
    Turned(&'static str),
    /// A tensor for queries, one for keys, one for values.
    Parted,
    /// Experts' gates and what they multiply, of all experts, each a tensor.
    GateAndUp,
    /// One of several that become one tensor of one more dimension.
    Stacked(&'static str),
    /// Nothing: it is a number in the file's metadata, or not kept.
    Dropped,
}

/// Ends of a parameter's path within its layer, or in the whole model, and what becomes of it.
pub(super) type Names = &'static [(&'static str, Fate)];

use Fate::{As, Bare, Dropped, GateAndUp, Parted, Stacked, Turned};

/// Names outside layers.
const ENDS: Names = &[
    ("embed_tokens_per_layer", As("per_layer_token_embd")),
    ("embed_tokens", As("token_embd")),
    ("wte", As("token_embd")),
    ("embed_in", As("token_embd")),
    ("tok_embeddings", As("token_embd")),
    ("word_embeddings", As("token_embd")),
    ("embeddings", As("token_embd")),
    ("word_embeddings_layernorm", As("token_embd_norm")),
    ("embeddings.LayerNorm", As("token_embd_norm")),
    ("emb_ln", As("token_embd_norm")),
    ("wpe", As("position_embd")),
    ("position_embeddings", As("position_embd")),
    ("token_type_embeddings", As("token_types")),
    ("per_layer_model_projection", As("per_layer_model_proj")),
    ("per_layer_projection_norm", As("per_layer_proj_norm")),
    ("altup_projections", Stacked("altup_proj")),
    ("altup_unembed_projections", Stacked("altup_unembd_proj")),
    ("norm", As("output_norm")),
    ("ln_f", As("output_norm")),
    ("norm_f", As("output_norm")),
    ("final_norm", As("output_norm")),
    ("final_layernorm", As("output_norm")),
    ("final_layer_norm", As("output_norm")),
    ("lm_head", As("output")),
    ("embed_out", As("output")),
    ("output_layer", As("output")),
    ("output", As("output")),
    ("pooler.dense", Dropped),
];

/// Names within a layer.
const LAYER: Names = &[
    ("input_layernorm", As("attn_norm")),
    ("attention_layernorm", As("attn_norm")),
    ("attention_norm", As("attn_norm")),
    ("ln_1", As("attn_norm")),
    ("post_attention_layernorm", As("ffn_norm")),
    ("pre_feedforward_layernorm", As("ffn_norm")),
    ("feedforward_layernorm", As("ffn_norm")),
    ("ffn_norm", As("ffn_norm")),
    ("ln_2", As("ffn_norm")),
    ("pre_mlp_layernorm", As("ffn_norm")),
    ("post_self_attn_layernorm", As("post_attention_norm")),
    ("post_feedforward_layernorm", As("post_ffw_norm")),
    ("post_mlp_layernorm", As("post_ffw_norm")),
    ("q_proj", As("attn_q")),
    ("k_proj", As("attn_k")),
    ("v_proj", As("attn_v")),
    ("o_proj", As("attn_output")),
    ("out_proj", As("attn_output")),
    ("attn.c_proj", As("attn_output")),
    ("self_attn.dense", As("attn_output")),
    ("self_attention.dense", As("attn_output")),
    ("attention.dense", As("attn_output")),
    ("self_attn.gate_proj", As("attn_gate")),
    ("self_attn.g_proj", As("attn_gate")),
    ("query_key_value", As("attn_qkv")),
    ("c_attn", As("attn_qkv")),
    ("qkv_proj", As("attn_qkv")),
    ("q_norm", As("attn_q_norm")),
    ("k_norm", As("attn_k_norm")),
    ("query_layernorm", As("attn_q_norm")),
    ("key_layernorm", As("attn_k_norm")),
    ("sinks", As("attn_sinks")),
    ("shared_expert_gate", As("ffn_gate_inp_shexp")),
    ("shared_expert.gate_proj", As("ffn_gate_shexp")),
    ("shared_expert.up_proj", As("ffn_up_shexp")),
    ("shared_expert.down_proj", As("ffn_down_shexp")),
    ("shared_experts.gate_proj", As("ffn_gate_shexp")),
    ("shared_experts.up_proj", As("ffn_up_shexp")),
    ("shared_experts.down_proj", As("ffn_down_shexp")),
    ("shared_mlp.gate_proj", As("ffn_gate_shexp")),
    ("shared_mlp.up_proj", As("ffn_up_shexp")),
    ("shared_mlp.down_proj", As("ffn_down_shexp")),
    ("experts.gate_up_proj", GateAndUp),
    ("experts.down_proj", As("ffn_down_exps")),
    ("mlp.gate", As("ffn_gate_inp")),
    ("mlp.gate.wg", As("ffn_gate_inp")),
    ("mlp.router.gate", As("ffn_gate_inp")),
    ("mlp.router", As("ffn_gate_inp")),
    ("e_score_correction_bias", Bare("exp_probs_b.bias")),
    ("mlp.expert_bias", Bare("exp_probs_b.bias")),
    ("gate_proj", As("ffn_gate")),
    ("up_proj", As("ffn_up")),
    ("down_proj", As("ffn_down")),
    ("gate_up_proj", As("ffn_up")),
    ("fc1", As("ffn_up")),
    ("fc2", As("ffn_down")),
    ("c_fc", As("ffn_up")),
    ("mlp.c_proj", As("ffn_down")),
    ("dense_h_to_4h", As("ffn_up")),
    ("dense_4h_to_h", As("ffn_down")),
];

/// Builds the list; `None` where the file's name for a parameter is not known.
pub(super) fn tensors<'a>(
    facts: &Facts,
    parameters: impl Iterator<Item = &'a Parameter>,
    own: Names,
) -> Option<Vec<Tensor>> {
    let mut sheet = Sheet { arch: &facts.arch, list: Vec::new() };
    for parameter in parameters.filter(|p| !is_of_tower(&p.name)) {
        let place = Place::of(&parameter.name);
        let common = if place.layer.is_some() { LAYER } else { ENDS };
        let fate = fate(own, place.path).or_else(|| fate(common, place.path))?;
        sheet.put(facts, &place, fate, &parameter.shape)?;
    }
    sheet.put_rotary_factors(facts);
    Some(sheet.list)
}

fn is_of_tower(name: &str) -> bool {
    matches!(part_of(name), Part::Vision | Part::Audio | Part::Projector)
}

/// The last rule whose words end a path decides: longer ends stand after shorter ones or before, so the
/// longest that fits is taken.
fn fate(names: Names, path: &str) -> Option<Fate> {
    let ends = |end: &str| path == end || path.strip_suffix(end).is_some_and(|rest| rest.ends_with('.'));
    names.iter().filter(|(end, _)| ends(end)).max_by_key(|(end, _)| end.len()).map(|(_, fate)| *fate)
}

/// Where is a parameter?
struct Place<'a> {
    /// Its layer.
    layer: Option<u64>,
    /// The path of its module within the layer, or of the whole; numbers of other lists left out.
    path: &'a str,
    /// `weight`, `bias`, or nothing where the parameter is its module's own.
    ending: &'static str,
}

impl<'a> Place<'a> {
    fn of(name: &'a str) -> Self {
        let (path, ending) = [".weight", ".bias"]
            .into_iter()
            .find_map(|ending| Some((name.strip_suffix(ending)?, ending)))
            .unwrap_or((name, ""));
        let numbered = path.char_indices().filter(|(_, c)| *c == '.').find_map(|(at, _)| {
            let rest = path.get(at + 1..)?;
            let (number, inner) = rest.split_once('.').unwrap_or((rest, ""));
            Some((number.parse().ok()?, path.get(..at)?, inner))
        });
        match numbered {
            // A list of matrices outside layers.
            Some((_, list, "")) => Self { layer: None, path: list, ending },
            Some((layer, _, inner)) => Self { layer: Some(layer), path: inner, ending },
            None => Self { layer: None, path, ending },
        }
    }
}

struct Sheet<'a> {
    arch: &'a str,
    list: Vec<Tensor>,
}

impl Sheet<'_> {
    /// Adds what a parameter becomes.
    fn put(&mut self, facts: &Facts, place: &Place<'_>, fate: Fate, shape: &[u64]) -> Option<()> {
        let turned = || shape.iter().rev().copied().collect::<Vec<u64>>();
        let layer = place.layer;
        match fate {
            As(name) => self.add(layer, name, place.ending, &turned()),
            Bare(name) => self.push(layer, name, &turned()),
            Turned(name) => self.add(layer, name, place.ending, shape),
            Parted => {
                let attention = facts.attention(layer?);
                let parts = [
                    ("attn_q", attention.heads.saturating_mul(attention.k_dim)),
                    ("attn_k", attention.k_width()),
                    ("attn_v", attention.v_width()),
                ];
                for (name, rows) in parts {
                    let mut shape = turned();
                    *shape.last_mut()? = rows;
                    self.add(layer, name, place.ending, &shape);
                }
            }
            GateAndUp => {
                let mut half = turned();
                *half.get_mut(1)? /= 2;
                ["ffn_gate_exps", "ffn_up_exps"].iter().for_each(|n| self.add(layer, n, ".weight", &half));
            }
            Stacked(name) => self.stack(name, shape)?,
            Dropped => {}
        }
        Some(())
    }

    fn add(&mut self, layer: Option<u64>, name: &str, ending: &str, shape: &[u64]) {
        // A parameter without an ending of its own is a weight.
        let ending = if ending.is_empty() { ".weight" } else { ending };
        self.push(layer, &format!("{name}{ending}"), shape);
    }

    fn push(&mut self, layer: Option<u64>, name: &str, shape: &[u64]) {
        let name = match layer {
            Some(layer) => format!("blk.{layer}.{name}"),
            None => name.into(),
        };
        self.list.push(self.tensor(name, shape));
    }

    fn tensor(&self, name: String, shape: &[u64]) -> Tensor {
        let kept: Vec<u64> = shape.iter().copied().filter(|n| *n != 1 || shape.len() == 1).collect();
        let mut padded = [1; 4];
        padded.iter_mut().zip(&kept).for_each(|(to, from)| *to = *from);
        let format = if kept.len() > 1 { Format::F16 } else { Format::F32 };
        tensor(self.arch, name, padded, format, 0)
    }

    fn stack(&mut self, name: &str, shape: &[u64]) -> Option<()> {
        let whole = format!("{name}.weight");
        if let Some(there) = self.list.iter_mut().find(|t| t.name == whole) {
            there.shape[2] += 1;
            return Some(());
        }
        let &[rows, columns] = shape else { return None };
        let tensor = self.tensor(whole, &[columns, rows]);
        self.list.push(tensor);
        Some(())
    }

    /// Adds the tables of rotary factors, which the library computes.
    fn put_rotary_factors(&mut self, facts: &Facts) {
        if facts.rope_factors {
            self.add(None, "rope_freqs", ".weight", &[facts.k_dim / 2]);
        }
        if facts.long_rope > 0 {
            self.add(None, "rope_factors_long", ".weight", &[facts.long_rope]);
            self.add(None, "rope_factors_short", ".weight", &[facts.long_rope]);
        }
    }
}
