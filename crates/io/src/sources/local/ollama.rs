//! Ollama's models: a manifest by name and tag says which blobs are the model, its projector, its settings.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{Keeper, LocalModel, bytes_of};
use crate::sources::places::{Places, files_in, folders_in};
use crate::sources::{FileError, read};

/// Host, namespace and tag of a name that does not say.
const USUAL: (&str, &str, &str) = ("registry.ollama.ai", "library", "latest");

/// Longest manifest or settings read.
const MAX_BYTES: u64 = 4 << 20;

/// Kinds of layers.
const KIND: &str = "application/vnd.ollama.image.";

/// A model of Ollama on this disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OllamaModel {
    /// Its name as people type it: `qwen3:8b`.
    pub name: String,
    /// The GGUF file.
    pub model: PathBuf,
    /// The projector of images, where it has one.
    pub projector: Option<PathBuf>,
    /// Adapters that are applied to it.
    pub adapters: Vec<PathBuf>,
    /// A draft model for speculative decoding.
    pub draft: Option<PathBuf>,
    /// The context that it is started with (`num_ctx`).
    pub context: Option<u64>,
    /// Bytes of all its layers.
    pub bytes: u64,
}

/// Why does a name lead to no model of Ollama?
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OllamaError {
    /// No manifest of this name.
    #[error("no such model")]
    Missing,
    /// Its manifest is not what Ollama writes.
    #[error("{path}: {what}")]
    Broken {
        /// The manifest.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A blob that the manifest lists is not there, or shorter than it says.
    #[error("{0} is not there, or cut short")]
    BlobMissing(PathBuf),
    /// It is kept as tensors, not as a GGUF file.
    #[error("not a GGUF file")]
    NotGguf,
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The model of this name (`qwen3:8b`, `maker/model:tag`, `hf.co/maker/model:Q4_K_M`).
///
/// # Errors
/// There is none, or its files are broken.
pub fn find(places: &Places, name: &str) -> Result<OllamaModel, OllamaError> {
    let manifest = |root: &PathBuf| Some((root.clone(), path_of(root, name)?));
    let found = places.ollama.iter().filter_map(manifest).find(|(_, path)| path.is_file());
    let (root, path) = found.ok_or(OllamaError::Missing)?;
    read_manifest(&root, &path, name)
}

/// Every model whose manifest can be read.
pub(super) fn list(root: &Path) -> Vec<LocalModel> {
    let deeper = |folders: Vec<PathBuf>| folders.iter().flat_map(|f| folders_in(f)).collect::<Vec<_>>();
    let repositories = deeper(deeper(folders_in(&root.join("manifests"))));
    let manifests = repositories.iter().flat_map(|folder| files_in(folder));
    let read = manifests.filter_map(|path| {
        let name = name_of(root, &path)?;
        read_manifest(root, &path, &name).ok()
    });
    let local = |m: OllamaModel| LocalModel {
        name: m.name,
        keeper: Keeper::Ollama,
        path: m.model,
        bytes: m.bytes,
        context: m.context,
    };
    read.map(local).collect()
}

/// Where the manifest of a name lies; `None` for what no name can be.
fn path_of(root: &Path, name: &str) -> Option<PathBuf> {
    let (host, namespace, tag) = USUAL;
    let (rest, tag) = name.rsplit_once(':').filter(|(_, tag)| !tag.contains('/')).unwrap_or((name, tag));
    let words: Vec<&str> = rest.split('/').collect();
    let (host, namespace, model) = match words.as_slice() {
        [model] => (host, namespace, *model),
        [namespace, model] => (host, *namespace, *model),
        [host, namespace, model] => (*host, *namespace, *model),
        _ => return None,
    };
    let plain = |word: &str| !word.is_empty() && !word.starts_with('.') && !word.contains(['/', '\\']);
    let all = [host, namespace, model, tag];
    all.iter()
        .all(|word| plain(word))
        .then(|| all.iter().fold(root.join("manifests"), |p, word| p.join(word)))
}

/// The name that a manifest answers to, as short as Ollama prints it.
fn name_of(root: &Path, manifest: &Path) -> Option<String> {
    let inside = manifest.strip_prefix(root.join("manifests")).ok()?;
    let words: Vec<&str> = inside.iter().filter_map(|word| word.to_str()).collect();
    let [host, namespace, model, tag] = words.as_slice() else { return None };
    let place = match (*host == USUAL.0, *namespace == USUAL.1) {
        (true, true) => String::new(),
        (true, false) => format!("{namespace}/"),
        (false, _) => format!("{host}/{namespace}/"),
    };
    Some(format!("{place}{model}:{tag}"))
}

fn read_manifest(root: &Path, path: &Path, name: &str) -> Result<OllamaModel, OllamaError> {
    let broken = |what: &str| OllamaError::Broken { path: path.to_owned(), what: what.to_owned() };
    let text = read::text(path, MAX_BYTES)?;
    let manifest: Value = serde_json::from_str(&text).map_err(|_| broken("no JSON"))?;
    let layers = manifest["layers"].as_array().ok_or_else(|| broken("no layers"))?;
    let mut model = OllamaModel { name: name.to_owned(), ..OllamaModel::default() };
    for layer in layers {
        let kind = layer["mediaType"].as_str().and_then(|kind| kind.strip_prefix(KIND)).unwrap_or("");
        let size = layer["size"].as_u64().unwrap_or(0);
        let blob = blob(root, layer["digest"].as_str().unwrap_or(""))
            .ok_or_else(|| broken("a digest that is none"))?;
        model.bytes = model.bytes.saturating_add(size);
        let is_whole = |path: PathBuf| {
            if bytes_of(&path) >= size.max(1) { Ok(path) } else { Err(OllamaError::BlobMissing(path)) }
        };
        match kind {
            "model" => model.model = is_whole(blob)?,
            "projector" => model.projector = Some(is_whole(blob)?),
            "adapter" => model.adapters.push(is_whole(blob)?),
            "draft" => model.draft = Some(is_whole(blob)?),
            "params" => model.context = context(&blob),
            "tensor" => return Err(OllamaError::NotGguf),
            _ => {}
        }
    }
    if model.model.as_os_str().is_empty() { Err(broken("no model among its layers")) } else { Ok(model) }
}

/// Where a blob lies: `sha256:…` is kept as `sha256-…`.
fn blob(root: &Path, digest: &str) -> Option<PathBuf> {
    let (kind, hash) = digest.split_once(':')?;
    let is_hash = !hash.is_empty() && hash.chars().all(|c| c.is_ascii_hexdigit());
    (kind == "sha256" && is_hash).then(|| root.join("blobs").join(format!("sha256-{hash}")))
}

/// The context among a model's settings.
fn context(params: &Path) -> Option<u64> {
    let text = read::text(params, MAX_BYTES).ok()?;
    serde_json::from_str::<Value>(&text).ok()?["num_ctx"].as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_of_manifests_and_back() {
        let root = Path::new("/m");
        for (name, path) in [
            ("qwen3:8b", "registry.ollama.ai/library/qwen3/8b"),
            ("qwen3", "registry.ollama.ai/library/qwen3/latest"),
            ("me/mine:v1", "registry.ollama.ai/me/mine/v1"),
            ("hf.co/maker/model-GGUF:Q4_K_M", "hf.co/maker/model-GGUF/Q4_K_M"),
        ] {
            let manifest = root.join("manifests").join(path);
            assert_eq!(path_of(root, name), Some(manifest.clone()), "{name}");
            let full = if name.contains(':') { name.to_owned() } else { format!("{name}:latest") };
            assert_eq!(name_of(root, &manifest), Some(full));
        }
        for name in ["", "../x:1", "a/b/c/d:1", "a:..", "a//b"] {
            assert_eq!(path_of(root, name), None, "{name}");
        }
    }

    #[test]
    fn digests_that_lead_elsewhere_are_none() {
        let root = Path::new("/m");
        assert_eq!(blob(root, "sha256:0a"), Some(PathBuf::from("/m/blobs/sha256-0a")));
        for digest in ["", "sha256:", "sha256:../x", "md5:0a", "0a"] {
            assert_eq!(blob(root, digest), None, "{digest}");
        }
    }
}
