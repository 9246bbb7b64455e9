//! Parameters counted: built, active, and by part.

use alloc::collections::BTreeMap;

use super::parts::part_of;
use crate::model::{Parameter, Part};

/// How many parameters does a model have? Tied ones count once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All that the library creates.
    pub built: u64,
    /// Those a token runs through: all but the experts it is not routed to.
    pub active: u64,
    /// All of them, by part.
    pub by_part: BTreeMap<Part, u64>,
}

impl Counts {
    /// Counts parameters; of every `count` experts a token runs through `used`.
    pub fn of(parameters: &[Parameter], routed: Option<(u64, u64)>) -> Self {
        let mut counts = Self::default();
        for parameter in parameters {
            let n = parameter.elements();
            let part = counts.by_part.entry(part_of(&parameter.name)).or_default();
            *part = part.saturating_add(n);
            counts.built = counts.built.saturating_add(n);
        }
        let idle = routed.map_or(0, |(count, used)| {
            let experts = counts.part(Part::Experts);
            experts / count.max(1) * count.saturating_sub(used)
        });
        counts.active = counts.built.saturating_sub(idle);
        counts
    }

    /// The parameters of one part.
    pub fn part(&self, part: Part) -> u64 {
        self.by_part.get(&part).copied().unwrap_or(0)
    }
}
