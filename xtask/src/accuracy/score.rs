//! Errors by suite and group, and the figures that are printed of them.

use std::collections::BTreeMap;

use serde::Serialize;

/// What became of one record in one group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// Predicted, with this absolute relative error.
    Error(f64),
    /// The product cannot handle the record: error 1.
    Missed,
}

impl Outcome {
    /// Compares a predicted with a measured number; equal numbers, both 0 included, have no error.
    pub(crate) fn of(predicted: u64, measured: u64) -> Self {
        if predicted == measured {
            return Self::Error(0.0);
        }
        if measured == 0 {
            return Self::Error(1.0);
        }
        Self::Error((predicted as f64 - measured as f64).abs() / measured as f64)
    }

    fn error(self) -> f64 {
        match self {
            Self::Error(e) => e,
            Self::Missed => 1.0,
        }
    }
}

/// The figures of one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Figures {
    pub(crate) n: usize,
    pub(crate) exact: usize,
    pub(crate) missed: usize,
    pub(crate) median: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) worst: f64,
}

impl Figures {
    fn of(outcomes: &[Outcome]) -> Self {
        let mut errors: Vec<f64> = outcomes.iter().map(|o| o.error()).collect();
        errors.sort_by(f64::total_cmp);
        Self {
            n: errors.len(),
            exact: errors.iter().filter(|e| **e == 0.0).count(),
            missed: outcomes.iter().filter(|o| **o == Outcome::Missed).count(),
            median: quantile(&errors, 50),
            p90: quantile(&errors, 90),
            p99: quantile(&errors, 99),
            worst: errors.last().copied().unwrap_or(0.0),
        }
    }
}

/// The nearest-rank quantile of sorted errors.
fn quantile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0.0)
}

/// All outcomes of one suite.
#[derive(Debug, Default)]
pub(crate) struct Score {
    groups: BTreeMap<String, Vec<Outcome>>,
    /// Records whose model or device has no name in the product's data, by name.
    pub(crate) unmapped: BTreeMap<String, usize>,
    /// Records of each group that are not exact, for `--worst`.
    pub(crate) misses: BTreeMap<String, Vec<Miss>>,
}

/// A record that was not met exactly.
#[derive(Clone, Debug)]
pub(crate) struct Miss {
    pub(crate) id: String,
    pub(crate) error: f64,
    /// Predicted and measured figures.
    pub(crate) detail: String,
}

impl Score {
    /// Adds the outcome of record `id` to `group`; `detail` says what was predicted and measured.
    pub(crate) fn add(&mut self, group: &str, id: &str, outcome: Outcome, detail: &str) {
        self.groups.entry(group.to_owned()).or_default().push(outcome);
        if outcome != Outcome::Error(0.0) {
            let miss = Miss { id: id.to_owned(), error: outcome.error(), detail: detail.to_owned() };
            self.misses.entry(group.to_owned()).or_default().push(miss);
        }
    }

    /// The figures of every group.
    pub(crate) fn figures(&self) -> BTreeMap<String, Figures> {
        self.groups.iter().map(|(group, outcomes)| (group.clone(), Figures::of(outcomes))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_count_misses_as_whole_errors() {
        let mut score = Score::default();
        for outcome in [Outcome::of(100, 100), Outcome::of(101, 100), Outcome::Missed, Outcome::of(0, 0)] {
            score.add("g", "id", outcome, "");
        }
        let figures = &score.figures()["g"];
        assert_eq!((figures.n, figures.exact, figures.missed), (4, 2, 1));
        assert_eq!((figures.median, figures.p90, figures.worst), (0.0, 1.0, 1.0));
    }

    #[test]
    fn a_number_where_nothing_was_measured_is_a_whole_error() {
        assert_eq!(Outcome::of(5, 0), Outcome::Error(1.0));
        assert_eq!(Outcome::of(0, 5), Outcome::Error(1.0));
    }
}
