//! The tensors of a converted file, by kind of layer: names as GGUF writes them, shapes fastest first.

mod attention;
mod ffn;
mod recurrent;

use alloc::format;
use alloc::vec::Vec;

use super::facts::{Facts, LayerKind};
use super::roles::role_of;
use crate::dtype::Format;
use crate::model::Tensor;

/// What differs between architectures whose layers are otherwise of the same kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// q, k and v are one matrix.
    pub(super) fused_qkv: bool,
    /// The query matrix also yields an output gate of the same width.
    pub(super) gated_query: bool,
    /// Layers that look at everything use their keys as values.
    pub(super) keys_are_values: bool,
    /// Attention's output has a bias.
    pub(super) output_bias: bool,
    /// Every head has a sink.
    pub(super) sinks: bool,
    /// Name of the norm before the feed-forward part; empty without one.
    pub(super) ffn_norm: &'static str,
    /// Both parts are normed again at their end.
    pub(super) post_norms: bool,
    /// Every layer ends in a scale.
    pub(super) layer_scale: bool,
    /// Gate and up are one matrix.
    pub(super) fused_gate_up: bool,
    /// Router and experts have biases.
    pub(super) expert_bias: bool,
    /// The shared expert has a gate of its own.
    pub(super) shared_gate: bool,
    /// Name of the last norm.
    pub(super) output_norm: &'static str,
    /// The recurrent mixer ends in a norm.
    pub(super) recurrent_norm: bool,
    /// The delta net's two gates are one matrix.
    pub(super) fused_delta_gates: bool,
}

impl Style {
    /// Llama's own layout.
    pub(super) const PLAIN: Self = Self {
        fused_qkv: false,
        gated_query: false,
        keys_are_values: false,
        output_bias: false,
        sinks: false,
        ffn_norm: "ffn_norm.weight",
        post_norms: false,
        layer_scale: false,
        fused_gate_up: false,
        expert_bias: false,
        shared_gate: false,
        output_norm: "output_norm",
        recurrent_norm: true,
        fused_delta_gates: false,
    };
}

/// Collects tensors of one layer, or of the model's two ends.
pub(super) struct Sheet<'a> {
    tensors: &'a mut Vec<Tensor>,
    layer: Option<u32>,
    last_norm: &'static str,
}

impl Sheet<'_> {
    /// Adds `name` with this shape; matrices in 16 bits, everything of one dimension in 32.
    fn add(&mut self, name: &str, shape: &[u64]) {
        let mut padded = [1; 4];
        padded.iter_mut().zip(shape).for_each(|(to, from)| *to = *from);
        let name = match self.layer {
            Some(i) => format!("blk.{i}.{name}"),
            None => name.into(),
        };
        let role = role_of(&name, shape.len(), self.last_norm);
        let format = if shape.len() > 1 { Format::F16 } else { Format::F32 };
        self.tensors.push(Tensor { name, shape: padded, format, role, layer: self.layer, offset: 0 });
    }

    /// Adds the matrix `name.weight` from `input` to `output` values, with its bias if it has one.
    fn linear(&mut self, name: &str, input: u64, output: u64, bias: bool) {
        self.add(&format!("{name}.weight"), &[input, output]);
        if bias {
            self.add(&format!("{name}.bias"), &[output]);
        }
    }

    /// Adds the vector `name.weight`.
    fn norm(&mut self, name: &str, width: u64) {
        self.add(&format!("{name}.weight"), &[width]);
    }
}

/// Whether every tensor of such a model is known here: no embeddings by layer, and no experts whose output
/// is normed apart from that of the part beside them.
pub(super) fn covers(facts: &Facts, style: &Style) -> bool {
    facts.per_layer_width == 0 && !(style.post_norms && facts.experts.is_some())
}

/// Builds the whole list: global tensors first, then layer by layer.
pub(super) fn tensors(facts: &Facts, style: &Style) -> Vec<Tensor> {
    let mut list = Vec::new();
    ends(&mut Sheet { tensors: &mut list, layer: None, last_norm: style.output_norm }, facts, style);
    for i in 0..facts.total_layers() {
        let layer = u32::try_from(i).ok();
        block(&mut Sheet { tensors: &mut list, layer, last_norm: style.output_norm }, facts, style, i);
    }
    list
}

fn ends(sheet: &mut Sheet<'_>, facts: &Facts, style: &Style) {
    sheet.linear("token_embd", facts.width, facts.vocab, false);
    sheet.norm(style.output_norm, facts.width);
    if !facts.tied {
        sheet.linear("output", facts.width, facts.vocab, false);
    }
    if facts.rope_factors {
        sheet.norm("rope_freqs", facts.k_dim / 2);
    }
    if facts.long_rope > 0 {
        sheet.norm("rope_factors_long", facts.long_rope);
        sheet.norm("rope_factors_short", facts.long_rope);
    }
}

fn block(sheet: &mut Sheet<'_>, facts: &Facts, style: &Style, i: u64) {
    sheet.norm("attn_norm", facts.width);
    match facts.kind(i) {
        LayerKind::Full | LayerKind::Window => attention::softmax(sheet, facts, style, i),
        LayerKind::Latent => attention::latent(sheet, facts, i),
        LayerKind::Recurrent => recurrent::mixer(sheet, facts, style),
        LayerKind::Parallel => {
            recurrent::mixer(sheet, facts, style);
            attention::softmax(sheet, facts, style, i);
        }
        LayerKind::Compressed | LayerKind::Bidirectional | LayerKind::None => {}
    }
    ffn::ffn(sheet, facts, style, i);
    if style.layer_scale {
        sheet.norm("layer_output_scale", 1);
    }
    if i >= facts.layers {
        predict_ahead(sheet, facts);
    }
}

/// What a multi-token-prediction layer has beside an ordinary layer.
fn predict_ahead(sheet: &mut Sheet<'_>, facts: &Facts) {
    sheet.linear("nextn.eh_proj", facts.width.saturating_mul(2), facts.width, false);
    sheet.norm("nextn.enorm", facts.width);
    sheet.norm("nextn.hnorm", facts.width);
    sheet.norm("nextn.shared_head_norm", facts.width);
}
