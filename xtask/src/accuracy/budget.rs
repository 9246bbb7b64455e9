//! Budgets: figures that a change may not worsen unseen.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::Table;
use super::score::Figures;

/// The budgets' file, beside the records.
const FILE: &str = "budgets.toml";

/// What a group must hold.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Budget {
    /// At least so many records exact.
    exact: Option<usize>,
    /// At most so many records missed.
    missed: Option<usize>,
    /// The median error at most.
    median: Option<f64>,
    /// The 90th percentile at most.
    p90: Option<f64>,
    /// The worst error at most.
    worst: Option<f64>,
}

/// Budgets by suite and group.
type Budgets = BTreeMap<String, BTreeMap<String, Budget>>;

impl Budget {
    /// What is past the budget.
    fn broken(&self, f: &Figures) -> Vec<String> {
        let exact = self.exact.filter(|least| f.exact < *least).map(|b| ("exact", f.exact, b));
        let missed = self.missed.filter(|most| f.missed > *most).map(|b| ("missed", f.missed, b));
        let counts = exact.into_iter().chain(missed).map(|(what, is, b)| format!("{what} {is}, budget {b}"));
        let limits =
            [("median", self.median, f.median), ("p90", self.p90, f.p90), ("worst", self.worst, f.worst)];
        let errors = limits.into_iter().filter_map(|(what, budget, is)| {
            budget.filter(|most| is > *most).map(|most| format!("{what} {is:.4}, budget {most}"))
        });
        counts.chain(errors).collect()
    }
}

/// Holds the figures against the budgets of these observations.
pub(super) fn check(observations: &Path, table: &Table) -> Result<()> {
    let path = observations.join(FILE);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let budgets: Budgets = toml::from_str(&text).with_context(|| path.display().to_string())?;
    let broken = past(&budgets, table);
    if !broken.is_empty() {
        bail!("past the budget:\n  {}", broken.join("\n  "));
    }
    Ok(())
}

fn past(budgets: &Budgets, table: &Table) -> Vec<String> {
    let mut broken = Vec::new();
    for (suite, groups) in budgets {
        let Some(figures) = table.get(suite) else { continue };
        for (group, budget) in groups {
            match figures.get(group) {
                Some(f) => broken.extend(budget.broken(f).iter().map(|b| format!("{suite} {group}: {b}"))),
                None => broken.push(format!("{suite} {group}: no records")),
            }
        }
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(figures: Figures) -> Table {
        Table::from([("s".to_owned(), BTreeMap::from([("g".to_owned(), figures)]))])
    }

    #[test]
    fn figures_past_a_budget_are_reported() {
        let budgets = toml::from_str("[s]\ng = { exact = 3, missed = 0, median = 0.1 }\n").unwrap();
        let good = Figures { n: 3, exact: 3, ..Figures::default() };
        assert!(past(&budgets, &table(good.clone())).is_empty());
        let fewer = Figures { exact: 2, ..good.clone() };
        assert_eq!(past(&budgets, &table(fewer)), ["s g: exact 2, budget 3"]);
        let worse = Figures { median: 0.2, missed: 1, ..good };
        assert_eq!(past(&budgets, &table(worse)).len(), 2);
        assert_eq!(past(&budgets, &Table::from([("s".to_owned(), BTreeMap::new())])), ["s g: no records"]);
    }
}
