//! The hub's cache on this disk, as its own tools lay it out: read first, and written the same way.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// One repository in a cache.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    folder: PathBuf,
}

impl Repository {
    /// The repository `maker/name` of the cache at `root`.
    pub(super) fn new(root: &Path, id: &str) -> Self {
        Self { folder: root.join(format!("models--{}", id.replace('/', "--"))) }
    }

    /// The snapshot that the main branch stood at when it was fetched, else the last one there is.
    pub(super) fn snapshot(&self) -> Option<PathBuf> {
        let snapshots = self.folder.join("snapshots");
        let main = fs::read_to_string(self.folder.join("refs/main")).ok();
        let main = main.map(|commit| commit.trim().to_owned()).filter(|commit| is_plain(commit));
        let stated = main.map(|commit| snapshots.join(commit)).filter(|path| path.is_dir());
        stated.or_else(|| crate::sources::places::folders_in(&snapshots).pop())
    }

    /// Keeps a small file under its commit and its tag, whole or not at all. A cache that cannot be written
    /// is no error: the next run fetches again.
    pub(super) fn keep(&self, commit: &str, file: &str, tag: &str, bytes: &[u8]) -> Option<PathBuf> {
        if !is_plain(commit) || !is_plain(tag) || file.split('/').any(|word| !is_plain(word)) {
            return None;
        }
        let blob = self.folder.join("blobs").join(tag);
        write_whole(&blob, bytes).ok()?;
        let link = self.folder.join("snapshots").join(commit).join(file);
        fs::create_dir_all(link.parent()?).ok()?;
        if !link.exists() {
            let ups = "../".repeat(file.split('/').count() + 1);
            link_or_copy(Path::new(&format!("{ups}blobs/{tag}")), &blob, &link).ok()?;
        }
        write_whole(&self.folder.join("refs/main"), commit.as_bytes()).ok()?;
        Some(link)
    }
}

/// A name that is one step in a path and nothing else.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+@ ".contains(c);
    !name.is_empty() && name.len() < 200 && !name.starts_with('.') && name.chars().all(plain)
}

/// Writes beside the file and renames: nobody ever sees half of it.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let half = folder.join(format!("{name}.{}.incomplete", std::process::id()));
    let written = fs::File::create(&half).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&half, path));
    if renamed.is_err() {
        // The error is worth more than the half file.
        drop(fs::remove_file(&half));
    }
    renamed
}

#[cfg(unix)]
fn link_or_copy(to: &Path, _blob: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, link)
}

/// Windows lets few people make links: its tools keep the file itself there.
#[cfg(not(unix))]
fn link_or_copy(_to: &Path, blob: &Path, link: &Path) -> std::io::Result<()> {
    fs::copy(blob, link).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_file_is_found_through_the_branch() {
        let root = tempfile::tempdir().unwrap();
        let repository = Repository::new(root.path(), "maker/Name-1.5");
        assert_eq!(repository.snapshot(), None);
        let kept = repository.keep("abc123", "config.json", "tag-1", b"{}").unwrap();
        assert_eq!(fs::read(&kept).unwrap(), b"{}");
        assert!(kept.ends_with("models--maker--Name-1.5/snapshots/abc123/config.json"));
        assert_eq!(repository.snapshot().unwrap().join("config.json"), kept);
        assert!(root.path().join("models--maker--Name-1.5/blobs/tag-1").is_file());
        let again = repository.keep("abc123", "config.json", "tag-1", b"{}").unwrap();
        assert_eq!(again, kept);
    }

    #[test]
    fn names_that_lead_elsewhere_are_not_written() {
        let root = tempfile::tempdir().unwrap();
        let repository = Repository::new(root.path(), "maker/name");
        for (commit, file, tag) in
            [("..", "config.json", "t"), ("c", "../x", "t"), ("c", "config.json", "../../t"), ("c", "", "t")]
        {
            assert_eq!(repository.keep(commit, file, tag, b"x"), None);
        }
        assert!(fs::read_dir(root.path()).unwrap().next().is_none());
    }
}
