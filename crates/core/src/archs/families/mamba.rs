//! Mamba 1 and 2 on their own: no attention, no feed-forward part.

use super::Family;
use crate::archs::facts::{Facts, LayerKind, state_space};
use crate::model::StateSpace;

pub(super) const FAMILIES: &[Family] = &[
    Family {
        gguf: &["mamba"],
        builds: false,
        settle: |f| {
            state_space(f, StateSpace::Mamba);
            recurrent_everywhere(f);
        },
        ..Family::PLAIN
    },
    Family { gguf: &["mamba2"], settle: recurrent_everywhere, ..Family::PLAIN },
];

fn recurrent_everywhere(facts: &mut Facts) {
    facts.set_kinds(|_, _| LayerKind::Recurrent);
}
