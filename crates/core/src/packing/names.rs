//! Which modules does a list of names in a quantisation config mean?
//!
//! Engines and tools write the same module in several ways: with or without the outer model, with the
//! language model's place inside or outside. Names are compared without those words.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use regex::{Regex, RegexBuilder};

/// Longest pattern that is compiled, and the largest program it may become.
const PATTERN_LIMITS: (usize, usize) = (4096, 1 << 18);

/// Most patterns of one list that are compiled.
const MAX_PATTERNS: usize = 512;

/// Names, patterns and classes of modules.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// Modules by name, or the beginning or the end of one.
    plain: BTreeSet<String>,
    patterns: Vec<Regex>,
    /// Whether every linear layer is meant.
    linear: bool,
}

impl Names {
    /// Reads a list; entries that are no pattern after all mean nothing.
    pub(super) fn new<'a>(entries: impl Iterator<Item = &'a str>) -> Self {
        let mut names = Self::default();
        for entry in entries {
            if entry == "Linear" {
                names.linear = true;
            } else if let Some(pattern) = pattern(entry) {
                if names.patterns.len() < MAX_PATTERNS {
                    names.patterns.extend(compiled(&pattern));
                }
            } else {
                names.plain.insert(canonical(entry));
            }
        }
        names
    }

    /// Whether the list means this module, by any of its spellings.
    pub(super) fn mean(&self, spellings: &[String]) -> bool {
        self.linear || self.name(spellings)
    }

    /// The same, classes aside.
    pub(super) fn name(&self, spellings: &[String]) -> bool {
        spellings.iter().any(|path| {
            self.has_plain(&canonical(path))
                || self.patterns.iter().any(|p| placed(path).iter().any(|name| p.is_match(name)))
        })
    }

    /// Whether the path, or its beginning or its end by whole words, is in the list.
    fn has_plain(&self, path: &str) -> bool {
        let dots = || path.match_indices('.').map(|(at, _)| at);
        self.plain.contains(path)
            || dots().any(|at| self.plain.contains(&path[..at]))
            || dots().any(|at| self.plain.contains(&path[at + 1..]))
    }
}

/// `re:` says that a pattern follows; a star stands for anything.
fn pattern(entry: &str) -> Option<String> {
    if let Some(expression) = entry.strip_prefix("re:") {
        return Some(format!("^(?:{expression})"));
    }
    let parts: Vec<String> = entry.split('*').map(regex::escape).collect();
    (parts.len() > 1).then(|| format!("^(?:{})$", parts.join(".*")))
}

fn compiled(pattern: &str) -> Option<Regex> {
    let (longest, largest) = PATTERN_LIMITS;
    if pattern.len() > longest {
        return None;
    }
    RegexBuilder::new(pattern).size_limit(largest).build().ok()
}

/// The path without the words that tools put in front or leave out.
fn canonical(path: &str) -> String {
    let words = path.split('.').filter(|word| *word != "language_model");
    let path = words.collect::<Vec<_>>().join(".");
    path.strip_prefix("model.").unwrap_or(&path).to_string()
}

/// The places that a module may be written at.
fn placed(path: &str) -> Vec<String> {
    let inner = canonical(path);
    vec![
        path.to_string(),
        format!("model.{inner}"),
        format!("model.language_model.{inner}"),
        format!("language_model.model.{inner}"),
        format!("language_model.{inner}"),
        inner,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(list: &[&str], path: &str) -> bool {
        Names::new(list.iter().copied()).mean(&[path.into()])
    }

    #[test]
    fn a_name_means_its_module_and_what_lies_in_it() {
        let path = "model.language_model.layers.3.mlp.gate";
        assert!(means(&["model.layers.3.mlp.gate"], path));
        assert!(means(&["language_model.model.layers.3"], path));
        assert!(means(&["gate"], path));
        assert!(means(&["mlp.gate"], path));
        assert!(!means(&["model.layers.3.mlp.gate_proj", "ate", "layers.33"], path));
        assert!(means(&["lm_head"], "lm_head"));
        assert!(means(&["Linear"], path));
    }

    #[test]
    fn patterns_and_stars_mean_whole_names() {
        let path = "model.layers.12.self_attn.q_proj";
        assert!(means(&["re:.*self_attn.*"], path));
        assert!(means(&["re:model\\.layers\\.(3|12)\\.self_attn"], path));
        assert!(!means(&["re:self_attn"], path), "from its beginning");
        assert!(means(&["model.layers.*.self_attn*"], path));
        assert!(means(&["language_model.model.layers.12.*"], path));
        assert!(!means(&["model.layers.*.mlp*"], path));
        assert!(!means(&["re:("], path), "no pattern");
    }
}
