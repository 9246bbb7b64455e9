//! Which of a repository's files are the model?

use std::collections::BTreeMap;

use vramplan_core::quants::tag_of_file;

use super::error::HubError;
use crate::sources::split::part_of;

/// A file of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RemoteFile {
    /// Its path in the repository.
    pub(super) name: String,
    /// Its bytes, where the hub says.
    pub(super) size: Option<u64>,
}

/// The files of the one model that was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// A GGUF file, or all parts of one.
    Gguf(Vec<RemoteFile>),
    /// A config.json and the safetensors files that belong to it, if any.
    Config(Vec<RemoteFile>),
}

/// The quantisation that is taken when nobody asks for another, as llama.cpp does.
const USUAL: &str = "Q4_K_M";

/// Chooses: safetensors beside a config, else the GGUF file of the quantisation `tag`.
pub(super) fn choose(files: &[RemoteFile], tag: Option<&str>) -> Result<Choice, HubError> {
    let has = |name: &str| files.iter().any(|f| f.name == name);
    let weights = safetensors(files);
    let ggufs = ggufs(files);
    if has("config.json") && (!weights.is_empty() || ggufs.is_empty()) {
        return Ok(Choice::Config(weights));
    }
    if ggufs.is_empty() {
        return Err(if has("model_index.json") { HubError::Pipeline } else { HubError::NoModel });
    }
    one_gguf(ggufs, tag).map(Choice::Gguf)
}

/// The root's safetensors files of one model: the one by its usual name, else the usual set of parts, else
/// the only set.
fn safetensors(files: &[RemoteFile]) -> Vec<RemoteFile> {
    let at_root = |f: &&RemoteFile| f.name.ends_with(".safetensors") && !f.name.contains('/');
    let mut sets: BTreeMap<&str, Vec<RemoteFile>> = BTreeMap::new();
    for file in files.iter().filter(at_root) {
        let stem = file.name.trim_end_matches(".safetensors");
        sets.entry(without_part(stem)).or_default().push(file.clone());
    }
    match sets.remove("model") {
        Some(usual) => usual,
        None => sets
            .into_values()
            .next()
            .filter(|_| files.iter().any(|f| f.name == "config.json"))
            .unwrap_or_default(),
    }
}

/// GGUF models by their first part; projectors of images and importance matrices are none.
fn ggufs(files: &[RemoteFile]) -> Vec<Vec<RemoteFile>> {
    let mut models: BTreeMap<&str, Vec<RemoteFile>> = BTreeMap::new();
    for file in files {
        let Some(stem) = file.name.strip_suffix(".gguf") else { continue };
        if !stem.contains("mmproj") && !stem.contains("imatrix") {
            models.entry(without_part(stem)).or_default().push(file.clone());
        }
    }
    let mut models: Vec<_> = models.into_values().collect();
    models.iter_mut().for_each(|parts| parts.sort_by(|a, b| a.name.cmp(&b.name)));
    models
}

/// The stem without `-00001-of-00003`.
fn without_part(stem: &str) -> &str {
    part_of(stem).map_or(stem, |(prefix, ..)| prefix)
}

fn one_gguf(models: Vec<Vec<RemoteFile>>, tag: Option<&str>) -> Result<Vec<RemoteFile>, HubError> {
    let name = |parts: &[RemoteFile]| parts.first().map_or_else(String::new, |f| f.name.clone());
    let quant = |parts: &[RemoteFile]| tag_of_file(&name(parts)).map(str::to_owned);
    let wanted = tag.unwrap_or(USUAL);
    let fits = |parts: &&Vec<RemoteFile>| quant(parts).is_some_and(|q| q.eq_ignore_ascii_case(wanted));
    let mut fitting: Vec<_> = models.iter().filter(fits).cloned().collect();
    if let [_] = fitting.as_slice() {
        return fitting.pop().ok_or(HubError::NoModel);
    }
    if let ([only], None) = (models.as_slice(), tag) {
        return Ok(only.clone());
    }
    if fitting.is_empty() && tag.is_some() {
        let quants: std::collections::BTreeSet<String> = models.iter().filter_map(|m| quant(m)).collect();
        return Err(HubError::NoSuchQuant { quants: quants.into_iter().collect() });
    }
    let several = if fitting.is_empty() { models } else { fitting };
    Err(HubError::Several { candidates: several.iter().map(|parts| name(parts)).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&str], tag: Option<&str>) -> Result<Vec<String>, HubError> {
        let files: Vec<_> = names.iter().map(|n| RemoteFile { name: (*n).into(), size: None }).collect();
        choose(&files, tag).map(|choice| match choice {
            Choice::Gguf(files) | Choice::Config(files) => files.into_iter().map(|f| f.name).collect(),
        })
    }

    #[test]
    fn safetensors_come_before_gguf_and_by_their_usual_name() {
        let names = [
            "config.json",
            "consolidated.safetensors",
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            "x/model.safetensors",
            "a.gguf",
        ];
        assert_eq!(chosen(&names, None).unwrap(), names[2..4]);
        assert_eq!(chosen(&["config.json", "README.md"], None).unwrap(), Vec::<String>::new());
        assert_eq!(chosen(&["README.md"], None), Err(HubError::NoModel));
        assert_eq!(chosen(&["model_index.json", "vae/config.json"], None), Err(HubError::Pipeline));
    }

    #[test]
    fn a_gguf_is_chosen_by_its_quantisation() {
        let names = ["config.json", "m-Q4_K_M.gguf", "m-Q8_0.gguf", "mmproj-F16.gguf", "m-imatrix.gguf"];
        assert_eq!(chosen(&names, None).unwrap(), ["m-Q4_K_M.gguf"]);
        assert_eq!(chosen(&names, Some("q8_0")).unwrap(), ["m-Q8_0.gguf"]);
        let missing = HubError::NoSuchQuant { quants: vec!["Q4_K_M".into(), "Q8_0".into()] };
        assert_eq!(chosen(&names, Some("Q2_K")), Err(missing));
        let parts = ["BF16/m-BF16-00001-of-00002.gguf", "BF16/m-BF16-00002-of-00002.gguf", "m-Q8_0.gguf"];
        assert_eq!(chosen(&parts, Some("BF16")).unwrap(), parts[..2]);
        assert!(
            matches!(chosen(&parts, None), Err(HubError::Several { candidates }) if candidates.len() == 2)
        );
        assert_eq!(chosen(&["odd name.gguf"], None).unwrap(), ["odd name.gguf"]);
    }
}
