//! Where programs keep models on this disk: by their own variables, else where they put them unasked.

use std::path::{Path, PathBuf};

/// Folders of models by the program that fills them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The hub's cache (`models--maker--name/…`).
    pub hub: Option<PathBuf>,
    /// The file with the token for the hub.
    pub token_file: Option<PathBuf>,
    /// llama.cpp's own cache: the hub's layout since March 2026, flat files before.
    pub llama_cpp: Vec<PathBuf>,
    /// Ollama's models, those of its service included.
    pub ollama: Vec<PathBuf>,
    /// LM Studio's models.
    pub lm_studio: Vec<PathBuf>,
}

/// Looks up an environment variable.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Places {
    /// The places of this user.
    pub fn of_user() -> Self {
        Self::of(&|name| std::env::var(name).ok())
    }

    /// The places that these variables give.
    pub fn of(variable: Variable<'_>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("HOME").or_else(|| set("USERPROFILE"));
        let in_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let cache = set("XDG_CACHE_HOME").or_else(|| in_home(".cache"));
        let hub_home = set("HF_HOME").or_else(|| cache.as_ref().map(|c| c.join("huggingface")));
        let in_hub_home = |name: &str| hub_home.as_ref().map(|hub| hub.join(name));
        let flat = [
            set("LLAMA_CACHE"),
            cache.as_ref().map(|c| c.join("llama.cpp")),
            in_home("Library/Caches/llama.cpp"),
            set("LOCALAPPDATA").map(|local| local.join("llama.cpp")),
        ];
        let service = Some(PathBuf::from("/usr/share/ollama/.ollama/models"));
        let ollama = match set("OLLAMA_MODELS") {
            Some(stated) => vec![stated],
            None => [in_home(".ollama/models"), service].into_iter().flatten().collect(),
        };
        let studio = [in_home(".lmstudio/models"), in_home(".cache/lm-studio/models")];
        Self {
            hub: set("HF_HUB_CACHE").or_else(|| set("HUGGINGFACE_HUB_CACHE")).or_else(|| in_hub_home("hub")),
            token_file: set("HF_TOKEN_PATH").or_else(|| in_hub_home("token")),
            llama_cpp: flat.into_iter().flatten().collect(),
            ollama,
            lm_studio: studio.into_iter().flatten().collect(),
        }
    }
}

/// Folders in `folder`, in order of their names; none where it cannot be read.
pub(super) fn folders_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().flatten().filter(|path| path.is_dir()).collect()
}

/// Files in `folder`, in order of their names; none where it cannot be read.
pub(super) fn files_in(folder: &Path) -> Vec<PathBuf> {
    entries(folder).into_iter().flatten().filter(|path| path.is_file()).collect()
}

/// Most entries of a folder looked at.
const MAX_ENTRIES: usize = 10_000;

/// What is in `folder`, in order of the names.
pub(super) fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let read = std::fs::read_dir(folder)?.take(MAX_ENTRIES);
    let mut paths: Vec<PathBuf> = read.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(set: &[(&str, &str)]) -> Places {
        let value = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        Places::of(&value)
    }

    #[test]
    fn the_hubs_variables_win_in_its_own_order() {
        let hub = |set: &[(&str, &str)]| places(set).hub;
        assert_eq!(hub(&[("HOME", "/h")]), Some("/h/.cache/huggingface/hub".into()));
        assert_eq!(hub(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]), Some("/c/huggingface/hub".into()));
        assert_eq!(hub(&[("HOME", "/h"), ("HF_HOME", "/f")]), Some("/f/hub".into()));
        let all = [("HF_HUB_CACHE", "/a"), ("HUGGINGFACE_HUB_CACHE", "/b"), ("HF_HOME", "/f")];
        assert_eq!(hub(&all), Some("/a".into()));
        assert_eq!(hub(&[]), None);
        assert_eq!(places(&[("HF_HOME", "/f")]).token_file, Some("/f/token".into()));
    }

    #[test]
    fn ollama_has_the_users_folder_and_its_services() {
        assert_eq!(places(&[("HOME", "/h")]).ollama[0], PathBuf::from("/h/.ollama/models"));
        assert_eq!(places(&[("OLLAMA_MODELS", "/m")]).ollama, [PathBuf::from("/m")]);
    }
}
