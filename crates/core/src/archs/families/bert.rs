//! BERT and its line: encoders with a norm after each part. What differs is how modules are named, and
//! where positions come from.

use super::{Family, labels};
use crate::archs::built::{Built, Modules, Text, ffn};
use crate::archs::facts::{Facts, LayerKind};
use crate::archs::renamed::{Fate, Names as Renames};
use crate::formats::hf_config::ConfigProblem;

/// How an encoder names its modules.
struct Names {
    /// The list of layers.
    layers: &'static str,
    /// Queries, keys, values and output of attention.
    attention: [&'static str; 4],
    /// The norm after attention.
    attention_norm: &'static str,
    /// The two matrices of the feed-forward part.
    ffn: [&'static str; 2],
    /// The norm after it.
    ffn_norm: &'static str,
}

const BERT: Names = Names {
    layers: "encoder.layer",
    attention: [
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
    ],
    attention_norm: "attention.output.LayerNorm",
    ffn: ["intermediate.dense", "output.dense"],
    ffn_norm: "output.LayerNorm",
};

const MPNET: Names = Names {
    attention: ["attention.attn.q", "attention.attn.k", "attention.attn.v", "attention.attn.o"],
    attention_norm: "attention.LayerNorm",
    ..BERT
};

const DISTIL: Names = Names {
    layers: "transformer.layer",
    attention: ["attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin"],
    attention_norm: "sa_layer_norm",
    ffn: ["ffn.lin1", "ffn.lin2"],
    ffn_norm: "output_layer_norm",
};

/// An encoder that cannot be planned: it keeps no cache, and runs over whole texts.
const ENCODER: Family = Family { settle: both_ways, ..Family::READ_ONLY };

/// What converters call the parts of a layer.
const CONVERTED: Renames = &[
    ("attention.self.query", Fate::As("attn_q")),
    ("attention.self.key", Fate::As("attn_k")),
    ("attention.self.value", Fate::As("attn_v")),
    ("attention.output.dense", Fate::As("attn_output")),
    ("attention.output.LayerNorm", Fate::As("attn_output_norm")),
    ("intermediate.dense", Fate::As("ffn_up")),
    ("output.dense", Fate::As("ffn_down")),
    ("output.LayerNorm", Fate::As("layer_output_norm")),
];

/// The same in Nomic's class.
const NOMIC_CONVERTED: Renames = &[
    ("attn.Wqkv", Fate::As("attn_qkv")),
    ("attn.out_proj", Fate::As("attn_output")),
    ("norm1", Fate::As("attn_output_norm")),
    ("mlp.fc11", Fate::As("ffn_up")),
    ("mlp.fc12", Fate::As("ffn_gate")),
    ("mlp.fc2", Fate::As("ffn_down")),
    ("norm2", Fate::As("layer_output_norm")),
];

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["bert"],
        model_types: &["bert"],
        renames: Some(CONVERTED),
        body: |m, text| encoder(m, text, &BERT),
        stem: "bert",
        head: bert_head,
        ..ENCODER
    },
    Family {
        model_types: &["roberta", "xlm-roberta"],
        body: |m, text| encoder(m, text, &BERT),
        stem: "roberta",
        head: roberta_head,
        ..ENCODER
    },
    Family {
        model_types: &["mpnet"],
        body: |m, text| {
            encoder(m, text, &MPNET)?;
            let buckets = text.config.required(&["relative_attention_num_buckets"])?;
            m.table("encoder.relative_attention_bias", buckets, text.facts.heads.first());
            Ok(())
        },
        stem: "mpnet",
        head: roberta_head,
        ..ENCODER
    },
    Family {
        model_types: &["distilbert"],
        body: |m, text| encoder(m, text, &DISTIL),
        stem: "distilbert",
        head: distil_head,
        ..ENCODER
    },
    Family {
        gguf: &["nomic-bert"],
        model_types: &["nomic_bert"],
        renames: Some(NOMIC_CONVERTED),
        body: nomic,
        stem: "nomic_bert",
        head: bert_head,
        ..ENCODER
    },
];

fn both_ways(facts: &mut Facts) {
    facts.set_kinds(|_, _| LayerKind::Bidirectional);
    facts.gated_ffn = false;
}

fn encoder(m: &mut Modules, text: &Text<'_>, names: &Names) -> Built {
    let facts = text.facts;
    let width = facts.width;
    m.under("embeddings", |m| -> Built {
        m.table("word_embeddings", facts.vocab, width);
        m.table("position_embeddings", text.config.required(&["max_position_embeddings"])?, width);
        if let Some(types) = text.config.uint(&["type_vocab_size"])? {
            m.table("token_type_embeddings", types, width);
        }
        m.layer_norm("LayerNorm", width);
        Ok(())
    })?;
    m.each(names.layers, facts.layers, |m, i| {
        names.attention.iter().for_each(|name| m.linear(name, width, width, true));
        m.layer_norm(names.attention_norm, width);
        ffn::plain(m, names.ffn, width, facts.ffn.at(i), true);
        m.layer_norm(names.ffn_norm, width);
        Ok(())
    })?;
    pooler(m, text);
    Ok(())
}

/// A matrix over the first token, in classes that pool: not in those that predict words, nor in those whose
/// head has such a matrix of its own.
fn pooler(m: &mut Modules, text: &Text<'_>) {
    let class = text.config.class();
    let has_one = !class.starts_with("DistilBert")
        && (class.ends_with("Model")
            || class.ends_with("ForPreTraining")
            || (class.ends_with("ForSequenceClassification") && class.contains("Bert")));
    if has_one && !class.starts_with("NomicBertModel") {
        m.linear("pooler.dense", text.facts.width, text.facts.width, true);
    }
}

/// Nomic's encoder: rotary positions, a gate, no biases in matrices.
fn nomic(m: &mut Modules, text: &Text<'_>) -> Built {
    let facts = text.facts;
    let width = facts.width;
    m.under("embeddings", |m| -> Built {
        m.table("word_embeddings", facts.vocab, width);
        m.table("token_type_embeddings", text.config.required(&["type_vocab_size"])?, width);
        m.layer_norm("LayerNorm", width);
        Ok(())
    })?;
    m.each("layers", facts.layers, |m, i| {
        m.under("self_attn", |m| {
            ["q_proj", "k_proj", "v_proj", "o_proj"]
                .iter()
                .for_each(|name| m.linear(name, width, width, false));
        });
        m.layer_norm("post_attention_layernorm", width);
        m.under("mlp", |m| ffn::gated(m, width, facts.ffn.at(i), false));
        m.layer_norm("post_mlp_layernorm", width);
        Ok(())
    })?;
    pooler(m, text);
    Ok(())
}

fn bert_head(m: &mut Modules, text: &Text<'_>, class: &str) -> Built {
    let facts = text.facts;
    let predicts = class.ends_with("ForMaskedLM") || class.ends_with("ForPreTraining");
    if predicts {
        m.parameter("cls.predictions.bias", &[facts.vocab]);
        m.linear("cls.predictions.transform.dense", facts.width, facts.width, true);
        let norm = if class.starts_with("Nomic") { "layer_norm" } else { "LayerNorm" };
        m.layer_norm(&alloc::format!("cls.predictions.transform.{norm}"), facts.width);
    }
    if class.ends_with("ForPreTraining") {
        m.linear("cls.seq_relationship", facts.width, 2, true);
    }
    if predicts { Ok(()) } else { classifier(m, text, class) }
}

fn roberta_head(m: &mut Modules, text: &Text<'_>, class: &str) -> Built {
    let facts = text.facts;
    if class.ends_with("ForMaskedLM") {
        m.parameter("lm_head.bias", &[facts.vocab]);
        m.linear("lm_head.dense", facts.width, facts.width, true);
        m.layer_norm("lm_head.layer_norm", facts.width);
        return Ok(());
    }
    if class.ends_with("ForSequenceClassification") {
        m.linear("classifier.dense", facts.width, facts.width, true);
        m.linear("classifier.out_proj", facts.width, labels(text.config)?, true);
        return Ok(());
    }
    classifier(m, text, class)
}

fn distil_head(m: &mut Modules, text: &Text<'_>, class: &str) -> Built {
    let facts = text.facts;
    if class.ends_with("ForMaskedLM") {
        m.linear("vocab_transform", facts.width, facts.width, true);
        m.layer_norm("vocab_layer_norm", facts.width);
        m.parameter("vocab_projector.bias", &[facts.vocab]);
        return Ok(());
    }
    if class.ends_with("ForSequenceClassification") {
        m.linear("pre_classifier", facts.width, facts.width, true);
    }
    classifier(m, text, class)
}

/// A classifier of texts or of tokens. Other heads are not known, and not guessed at.
fn classifier(m: &mut Modules, text: &Text<'_>, class: &str) -> Built {
    if class.ends_with("ForSequenceClassification") || class.ends_with("ForTokenClassification") {
        m.linear("classifier", text.facts.width, labels(text.config)?, true);
        return Ok(());
    }
    Err(text.config.error(&["architectures"], ConfigProblem::UnknownPart))
}
