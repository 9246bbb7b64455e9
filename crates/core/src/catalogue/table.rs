//! The rows of one data file as the build packed them: compact in the binary, read when asked for.
//!
//! Names are one sorted text, searched where it lies; rows are JSON texts in deflated bundles. A look-up
//! inflates one bundle and parses one row of it.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::DeserializeOwned;

use super::Lookup;
use super::names::DRIVER;

/// One kind of row.
pub(super) struct Table {
    /// A line for every normalised name, in order: the name, then `tier:row` for every row that bears it,
    /// best tier first, each after a tab.
    pub(super) names: &'static str,
    /// Bundles of rows, one row a line.
    pub(super) bundles: &'static [&'static [u8]],
    /// Rows in every bundle but the last.
    pub(super) rows_a_bundle: usize,
}

/// A row that bears a name, and the tier that the name answers in.
type Bearer = (u8, usize);

impl Table {
    /// The rows that bear a normalised name, best tier first.
    pub(super) fn bearers(&self, key: &str) -> impl Iterator<Item = Bearer> + use<> {
        let bearers = line_of(self.names, key).map_or("", bearers_of);
        bearers.split('\t').filter_map(|bearer| {
            let (tier, row) = bearer.split_once(':')?;
            Some((tier.parse().ok()?, row.parse().ok()?))
        })
    }

    /// The rows of the best tier a name has, among those that a typed name may use.
    pub(super) fn best(&self, key: &str) -> impl Iterator<Item = usize> + use<> {
        let best = self.bearers(key).next().map_or(DRIVER, |(tier, _)| tier);
        self.bearers(key).filter(move |(tier, _)| *tier == best && best < DRIVER).map(|(_, row)| row)
    }

    /// Reads one row. Every row can be read: a test reads them all.
    pub(super) fn row<T: DeserializeOwned>(&self, number: usize) -> Option<T> {
        let bundle = self.bundle(number / self.rows_a_bundle)?;
        serde_json::from_str(bundle.lines().nth(number % self.rows_a_bundle)?).ok()
    }

    /// Reads the rows of the best tier.
    pub(super) fn find<T: DeserializeOwned>(&self, key: &str) -> Lookup<T> {
        self.best(key).filter_map(|row| self.row(row)).collect()
    }

    /// Reads every row in the order of the files.
    pub(super) fn all<T: DeserializeOwned>(&'static self) -> impl Iterator<Item = T> {
        let bundles = (0..self.bundles.len()).filter_map(|number| self.bundle(number));
        bundles.flat_map(|bundle| {
            let rows: Vec<T> = bundle.lines().filter_map(|row| serde_json::from_str(row).ok()).collect();
            rows
        })
    }

    /// Every name in order.
    pub(super) fn all_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.names.lines().filter_map(|line| line.split('\t').next())
    }

    /// How many rows there are, readable or not.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        (0..self.bundles.len()).filter_map(|n| self.bundle(n)).map(|bundle| bundle.lines().count()).sum()
    }

    fn bundle(&self, number: usize) -> Option<String> {
        let inflated = miniz_oxide::inflate::decompress_to_vec(self.bundles.get(number)?).ok()?;
        String::from_utf8(inflated).ok()
    }
}

/// The line of a name in a sorted text, by halving; names are compared as bytes.
fn line_of(text: &'static str, key: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    let (mut low, mut high) = (0, bytes.len());
    while low < high {
        let middle = low.midpoint(high);
        let start = bytes[..middle].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let end = bytes[middle..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |at| middle + at);
        let line = text.get(start..end)?;
        match line.split('\t').next().unwrap_or(line).cmp(key) {
            core::cmp::Ordering::Equal => return Some(line),
            core::cmp::Ordering::Less => low = end + 1,
            core::cmp::Ordering::Greater => high = start,
        }
    }
    None
}

fn bearers_of(line: &'static str) -> &'static str {
    line.split_once('\t').map_or("", |(_, bearers)| bearers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_no_other() {
        let text = "a\t0:1\nab\t1:2\t2:3\nb-c\t0:0\nz\t3:9\n";
        for name in ["a", "ab", "b-c", "z"] {
            assert_eq!(line_of(text, name).and_then(|l| l.split('\t').next()), Some(name));
        }
        for name in ["", "0", "aa", "b", "b-", "b-d", "zz", "a\t0:1"] {
            assert_eq!(line_of(text, name), None, "{name}");
        }
        assert_eq!(line_of("", "a"), None);
    }

    #[test]
    fn rows_of_the_best_tier_answer() {
        let table = Table { names: "a\t1:4\t1:5\t2:6\nb\t4:1\n", bundles: &[], rows_a_bundle: 1 };
        assert_eq!(table.best("a").collect::<Vec<_>>(), [4, 5]);
        assert_eq!(table.best("b").count(), 0, "for detected cards alone");
        assert_eq!(table.bearers("b").collect::<Vec<_>>(), [(4, 1)]);
        assert_eq!(table.best("c").count(), 0);
    }
}
