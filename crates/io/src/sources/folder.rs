//! Which model lies at a path, and in which files?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::{FileError, unreadable};
use super::{places, safetensors, split};

/// The config of a model on the hub.
const CONFIG: &str = "config.json";
/// The index of a model in several files.
const INDEX: &str = "model.safetensors.index.json";
/// A model in one file.
const WHOLE: &str = "model.safetensors";

/// The files of one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A GGUF file, or the first of several.
    Gguf(PathBuf),
    /// A config, and the safetensors files that belong to it.
    Config {
        /// The config.
        config: PathBuf,
        /// The files; `None` without any.
        weights: Option<Vec<PathBuf>>,
    },
}

/// The model at a path: a folder is searched, a file is taken by its ending.
pub(super) fn find(path: &Path) -> Result<Found, FileError> {
    let metadata = fs::metadata(path).map_err(|e| unreadable(&e))?;
    if metadata.is_dir() {
        return in_folder(path);
    }
    let name = lower_name(path);
    let folder = path.parent().unwrap_or(Path::new(""));
    if name.ends_with(".safetensors.index.json") {
        beside_config(folder, listed(folder, path)?)
    } else if name.ends_with(".json") {
        Ok(Found::Config { config: path.into(), weights: None })
    } else if name.ends_with(".safetensors") {
        beside_config(folder, siblings(path)?)
    } else {
        Ok(Found::Gguf(path.into()))
    }
}

fn beside_config(folder: &Path, weights: Vec<PathBuf>) -> Result<Found, FileError> {
    let config = folder.join(CONFIG);
    if config.is_file() {
        Ok(Found::Config { config, weights: Some(weights) })
    } else {
        Err(FileError::NoConfig)
    }
}

fn in_folder(folder: &Path) -> Result<Found, FileError> {
    let files = files_of(folder)?;
    let ggufs: Vec<&PathBuf> = files.iter().filter(|f| is_gguf_model(f)).collect();
    let has_config = files.iter().any(|f| lower_name(f) == CONFIG);
    let weights = weights_of(folder, &files)?;
    let config = folder.join(CONFIG);
    match (ggufs.as_slice(), weights) {
        ([], Weights::None) if has_config => Ok(Found::Config { config, weights: None }),
        ([], Weights::One(weights)) => beside_config(folder, weights),
        // Repositories of GGUF files often keep the config they were made from.
        ([one], Weights::None) => Ok(Found::Gguf((*one).clone())),
        ([], Weights::None) => Err(FileError::NoModel),
        (ggufs, weights) => {
            let mut candidates: Vec<PathBuf> = ggufs.iter().map(|path| (*path).clone()).collect();
            match weights {
                Weights::None => {}
                Weights::One(files) => candidates.extend(files.into_iter().next()),
                Weights::Several(files) => candidates.extend(files),
            }
            Err(FileError::Several {
                candidates: candidates.iter().map(|p| p.display().to_string()).collect(),
            })
        }
    }
}

/// The safetensors files of a folder.
enum Weights {
    /// There are none.
    None,
    /// They are one model.
    One(Vec<PathBuf>),
    /// They are several models: the first file of each.
    Several(Vec<PathBuf>),
}

/// An index tells; else the one file by its usual name; else the only set there is.
fn weights_of(folder: &Path, files: &[PathBuf]) -> Result<Weights, FileError> {
    let index = folder.join(INDEX);
    if files.contains(&index) {
        return listed(folder, &index).map(Weights::One);
    }
    if files.contains(&folder.join(WHOLE)) {
        return Ok(Weights::One(vec![folder.join(WHOLE)]));
    }
    let stored = files.iter().filter(|f| lower_name(f).ends_with(".safetensors"));
    let firsts: BTreeSet<PathBuf> =
        stored.map(|f| siblings(f).map(|s| s[0].clone())).collect::<Result<_, _>>()?;
    match firsts.len() {
        0 => Ok(Weights::None),
        1 => firsts.iter().next().map_or(Ok(Weights::None), |first| siblings(first).map(Weights::One)),
        _ => Ok(Weights::Several(firsts.into_iter().collect())),
    }
}

/// The files that an index lists.
fn listed(folder: &Path, index: &Path) -> Result<Vec<PathBuf>, FileError> {
    Ok(safetensors::index(index)?.files.iter().map(|name| folder.join(name)).collect())
}

/// All parts of the model that a file is a part of: `name-00001-of-00003.safetensors` and so on.
fn siblings(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    let Some((prefix, count)) = part_of(path) else { return Ok(vec![path.into()]) };
    let name = |n: u64| format!("{prefix}-{n:05}-of-{count:05}.safetensors");
    Ok((1..=count).map(|n| path.with_file_name(name(n))).collect())
}

/// What the names of all parts start with, and how many there are.
fn part_of(path: &Path) -> Option<(String, u64)> {
    /// Most parts: the names count in five digits, and no model comes in more than some hundred.
    const MOST_PARTS: u64 = 4096;
    let (prefix, number, count) = split::part_of(path.file_stem()?.to_str()?)?;
    (1..=count).contains(&number).then_some(()).filter(|()| count <= MOST_PARTS)?;
    Some((prefix.into(), count))
}

/// The files of a folder, in order of their names.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut paths = places::entries(folder).map_err(|e| unreadable(&e))?;
    paths.retain(|path| path.is_file());
    Ok(paths)
}

/// A GGUF file that is a language model by its name: no projector of images, and no later part.
pub(super) fn is_gguf_model(path: &Path) -> bool {
    let name = lower_name(path);
    let Some(stem) = name.strip_suffix(".gguf") else { return false };
    !stem.contains("mmproj") && split::part_of(stem).is_none_or(|(_, number, _)| number == 1)
}

pub(super) fn lower_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with empty files of these names.
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        names.iter().for_each(|name| fs::write(dir.path().join(name), "x").unwrap());
        dir
    }

    fn found(names: &[&str]) -> Result<Found, FileError> {
        find(folder(names).path())
    }

    fn weights(found: Result<Found, FileError>) -> Vec<String> {
        match found {
            Ok(Found::Config { weights, .. }) => weights.iter().flatten().map(|p| lower_name(p)).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_folder_is_the_one_model_in_it() {
        assert_eq!(weights(found(&["config.json", "README.md"])), Vec::<String>::new());
        assert_eq!(
            weights(found(&["config.json", "model.safetensors", "consolidated.safetensors"])).len(),
            1
        );
        let parts = ["config.json", "m-00001-of-00002.safetensors", "m-00002-of-00002.safetensors"];
        assert_eq!(weights(found(&parts)), parts[1..]);
        let first_of_two =
            found(&["m-00001-of-00002.gguf", "m-00002-of-00002.gguf", "mmproj-F16.gguf", "config.json"]);
        assert!(
            matches!(first_of_two, Ok(Found::Gguf(path)) if lower_name(&path) == "m-00001-of-00002.gguf")
        );
    }

    #[test]
    fn parts_are_listed_even_where_they_are_missing() {
        let parts = weights(found(&["config.json", "m-00002-of-00003.safetensors"]));
        assert_eq!(parts.len(), 3);
    }

    #[test]
    fn several_models_and_none_are_refused() {
        assert_eq!(found(&["README.md"]), Err(FileError::NoModel));
        assert_eq!(found(&["mmproj-F16.gguf"]), Err(FileError::NoModel));
        assert_eq!(found(&["model.safetensors"]), Err(FileError::NoConfig));
        for names in [
            &["a.gguf", "b.gguf"][..],
            &["a.gguf", "config.json", "model.safetensors"],
            &["config.json", "a.safetensors", "b.safetensors"],
        ] {
            assert!(matches!(found(names), Err(FileError::Several { candidates }) if candidates.len() == 2));
        }
    }
}
