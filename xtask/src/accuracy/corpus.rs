//! Records of what engines really did, one JSON object a line, in a folder of their own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

/// A folder of records.
#[derive(Clone, Debug)]
pub(crate) struct Corpus {
    dir: PathBuf,
}

impl Corpus {
    /// Opens a folder; files are looked for in it and in its folders.
    pub(crate) fn open(dir: &Path) -> Result<Self> {
        fs::read_dir(dir).with_context(|| format!("no corpus at {}", dir.display()))?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// The path of a file of the corpus; `None` when it has none of this name.
    fn find(&self, file: &str) -> Option<PathBuf> {
        let mut folders = vec![self.dir.clone()];
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        folders.extend(entries.map(|e| e.path()).filter(|p| p.is_dir()));
        folders.sort();
        folders.into_iter().map(|folder| folder.join(file)).find(|path| path.is_file())
    }

    /// The records of a file; none when the corpus lacks it.
    pub(crate) fn records(&self, file: &str) -> Result<Vec<Value>> {
        self.find(file).map_or(Ok(Vec::new()), |path| Self::lines(&path))
    }

    /// The records of a file that the corpus has, or a folder `data` beside it.
    pub(crate) fn records_near(&self, file: &str) -> Result<Vec<Value>> {
        let beside = || Some(self.dir.join("../data").join(file)).filter(|path| path.is_file());
        self.find(file).or_else(beside).map_or(Ok(Vec::new()), |path| Self::lines(&path))
    }

    fn lines(path: &Path) -> Result<Vec<Value>> {
        let text = fs::read_to_string(path)?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(i, line)| {
                serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), i + 1))
            })
            .collect()
    }

    /// The spellings of the corpus; none when it has no `names.json`.
    pub(crate) fn names(&self) -> Result<Names> {
        Ok(Names(self.json("names.json")?.unwrap_or_default()))
    }

    /// A file that holds one JSON value; `None` when the corpus lacks it.
    pub(crate) fn json(&self, file: &str) -> Result<Option<Value>> {
        let Some(path) = self.find(file) else { return Ok(None) };
        let text = fs::read_to_string(&path)?;
        serde_json::from_str(&text).with_context(|| path.display().to_string()).map(Some)
    }
}

/// Spellings of the corpus, and what they stand for.
#[derive(Debug)]
pub(crate) struct Names(Value);

impl Names {
    /// Whether a spelling stands for nothing that the product's data name.
    pub(crate) fn is_unmapped(&self, kind: &str, spelling: &str) -> bool {
        self.0.get(kind).and_then(|names| names.get(spelling)).is_some_and(Value::is_null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_null_is_unmapped() {
        let names = Names(serde_json::json!({"models": {"a": "org/a", "b": null}}));
        assert!(names.is_unmapped("models", "b"));
        assert!(!names.is_unmapped("models", "a"));
        assert!(!names.is_unmapped("models", "c"));
        assert!(!names.is_unmapped("devices", "b"));
    }
}
