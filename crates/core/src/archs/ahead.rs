//! Layers for predicting more than one token ahead, as published files hold them: the library builds none.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::unbuilt::layer_of;
use crate::model::{Parameter, ParameterKind};

/// How do files name a layer ahead, and what is in it beside an ordinary layer?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One more layer of the same list, with copies of embedding and head (DeepSeek, GLM).
    OneMore,
    /// A list of its own, which shares embedding and head (Qwen 3.5).
    OwnList,
}

/// The parameters of so many layers ahead. Each is like the last layer of the trunk.
pub(super) fn parameters(form: Form, count: u64, built: &[Parameter], list: &mut Vec<Parameter>) {
    let of_trunk = |p: &&Parameter| p.name.contains(".layers.") && !is_of_tower(&p.name);
    let Some(last) = built.iter().filter(of_trunk).filter_map(|p| layer_of(&p.name)).max() else { return };
    let Some(table) = built.iter().find(|p| p.name.ends_with("embed_tokens.weight")) else { return };
    let &[rows, width] = table.shape.as_slice() else { return };
    let stem = table.name.trim_end_matches("embed_tokens.weight");
    for i in 0..count {
        let (layer, root) = match form {
            Form::OneMore => {
                (format!("{stem}layers.{}.", last + 1 + i), format!("{stem}layers.{}.", last + 1 + i))
            }
            Form::OwnList => (format!("mtp.layers.{i}."), String::from("mtp.")),
        };
        copy(&format!("{stem}layers.{last}."), &layer, built, list);
        let mut add = |name: &str, shape: Vec<u64>, kind| {
            list.push(Parameter { name: format!("{root}{name}.weight"), shape, kind });
        };
        match form {
            Form::OneMore => {
                // What joins the two inputs is no linear layer that quantisers take.
                add("eh_proj", vec![width, width.saturating_mul(2)], ParameterKind::Other);
                ["enorm", "hnorm", "shared_head.norm"]
                    .iter()
                    .for_each(|n| add(n, vec![width], ParameterKind::Other));
                add("embed_tokens", vec![rows, width], ParameterKind::Table);
                add("shared_head.head", vec![rows, width], ParameterKind::Table);
            }
            Form::OwnList => {
                add("fc", vec![width, width.saturating_mul(2)], ParameterKind::Other);
                let norms = ["norm", "pre_fc_norm_embedding", "pre_fc_norm_hidden"];
                norms.iter().for_each(|name| add(name, vec![width], ParameterKind::Other));
            }
        }
    }
}

fn copy(from: &str, to: &str, built: &[Parameter], list: &mut Vec<Parameter>) {
    for parameter in built {
        if let Some(inner) = parameter.name.strip_prefix(from) {
            list.push(Parameter { name: format!("{to}{inner}"), ..parameter.clone() });
        }
    }
}

fn is_of_tower(name: &str) -> bool {
    use super::parts::part_of;
    use crate::model::Part;
    matches!(part_of(name), Part::Vision | Part::Audio | Part::Projector)
}
