//! The files of the repository, or a made-up handful of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A text file: its path from the root with `/`, and what it says.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// Such as `crates/core/src/units.rs`.
    pub(crate) path: String,
    /// The whole text.
    pub(crate) text: String,
}

impl File {
    /// A file that exists in a test only.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Does the name end in `.extension`?
    pub(crate) fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|e| e == extension)
    }

    /// The name without its folders.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Is it test code as a whole, by its place?
    pub(crate) fn is_test(&self) -> bool {
        let outside = |part| matches!(part, "tests" | "fuzz" | "benches");
        self.name() == "tests.rs" || self.path.split('/').any(outside)
    }
}

/// Every text file that is committed or about to be.
pub(crate) fn repository() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent").to_owned();
    let paths = listed_by_git(&root).unwrap_or_else(|| walked(&root));
    paths.into_iter().filter_map(|path| read(&root, path)).collect()
}

/// What git tracks, and new files it does not ignore; `None` without git or outside a checkout.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(args).current_dir(root).output().ok()?;
    let list = String::from_utf8(output.stdout).ok()?;
    let paths: Vec<String> = list.split('\0').filter(|p| !p.is_empty()).map(str::to_owned).collect();
    (output.status.success() && !paths.is_empty()).then_some(paths)
}

/// Everything but build output and git's own files.
fn walked(root: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).expect("a folder of the repository").flatten() {
            let path = folder.join(entry.file_name());
            let kind = entry.file_type().expect("a kind of file");
            if entry.file_name() == ".git" || entry.file_name() == "target" {
                continue;
            }
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                paths.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    paths
}

/// The text of a file; `None` for folders, removed files and files that are not text.
fn read(root: &Path, path: String) -> Option<File> {
    let text = String::from_utf8(fs::read(root.join(&path)).ok()?).ok()?;
    Some(File { path, text })
}

#[test]
fn git_and_a_walk_find_this_very_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    assert!(walked(root).iter().any(|p| p == "tests/tidy/tree.rs"));
    assert!(repository().iter().any(|f| f.path == "tests/tidy/tree.rs"));
}

#[test]
fn test_code_is_known_by_its_place() {
    assert!(File::new("crates/core/src/archs/tests.rs", "").is_test());
    assert!(File::new("crates/cli/tests/help.rs", "").is_test());
    assert!(!File::new("crates/core/src/units.rs", "").is_test());
}
