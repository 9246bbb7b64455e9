//! Tensors that the user puts elsewhere: experts in system memory, and patterns over names.
//!
//! `common/arg.cpp: --n-cpu-moe, --override-tensor`, `llama-model-loader.cpp: create_tensor`.

use alloc::vec::Vec;

use regex::Regex;

use crate::model::Tensor;
use crate::setup::{LlamaCpp, Override, Target};

/// What the user put elsewhere, ready to be asked.
#[derive(Clone, Debug)]
pub(super) struct Overrides {
    host_experts: u64,
    patterns: Vec<(Regex, Target)>,
}

impl Overrides {
    /// Compiles the patterns of a setup. Those that cannot be compiled match nothing: the engine
    /// refuses the setup before it gets here.
    pub(super) fn of(given: &LlamaCpp) -> Self {
        let compile = |o: &Override| Some((Regex::new(&o.pattern).ok()?, o.target));
        Self {
            host_experts: given.host_experts,
            patterns: given.overrides.iter().filter_map(compile).collect(),
        }
    }

    /// Whether there is any: several cards then no longer work in turn on parts of a batch.
    pub(super) fn is_empty(&self) -> bool {
        self.host_experts == 0 && self.patterns.is_empty()
    }

    /// Where a tensor is put, if anywhere in particular. Experts counted by layer come first, as the
    /// command line's own order has them.
    pub(super) fn target(&self, tensor: &Tensor) -> Option<Target> {
        let counted = tensor.layer.is_some_and(|i| u64::from(i) < self.host_experts);
        if counted && is_expert(&tensor.name) {
            return Some(Target::Host);
        }
        let matching = self.patterns.iter().find(|(pattern, _)| pattern.is_match(&tensor.name));
        matching.map(|(_, target)| *target)
    }
}

/// The first pattern that is no regular expression.
pub(super) fn unreadable(given: &LlamaCpp) -> Option<&Override> {
    given.overrides.iter().find(|o| Regex::new(&o.pattern).is_err())
}

/// Whether a name is that of an expert's matrix or bias.
fn is_expert(name: &str) -> bool {
    let Some((_, part)) = name.split_once(".ffn_") else { return false };
    ["up", "down", "gate", "gate_up"].iter().any(|kind| {
        part.strip_prefix(kind).is_some_and(|rest| rest.starts_with("_exps") || rest.starts_with("_chexps"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn experts_are_told_by_name() {
        assert!(is_expert("blk.3.ffn_gate_exps.weight"));
        assert!(is_expert("blk.3.ffn_up_exps.bias"));
        assert!(is_expert("blk.3.ffn_gate_up_exps.weight"));
        assert!(is_expert("blk.3.ffn_down_chexps.weight"));
        assert!(!is_expert("blk.3.ffn_gate_shexp.weight"));
        assert!(!is_expert("blk.3.ffn_gate_inp.weight"));
    }
}
