//! Models that other programs keep, in folders laid out as those programs lay them out.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod made;

use std::fs;
use std::path::Path;

use made::gguf;
use vramplan_io::sources::Opened;
use vramplan_io::sources::local::{Keeper, OllamaError, find, find_ollama, list};
use vramplan_io::sources::places::Places;

/// Bytes of the whole file whose header the server's module writes: room that a file with a hole has not.
const WHOLE: u64 = 60 << 30;

/// A GGUF file whose data are a hole.
fn write_gguf(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, gguf(100)).unwrap();
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(WHOLE).unwrap();
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn places(home: &Path) -> Places {
    let home = home.display().to_string();
    let mut places = Places::of(&|name| (name == "HOME").then(|| home.clone()));
    // A service of the machine that runs the test is none of its business.
    places.ollama.truncate(1);
    places
}

const HEX: &str = "00ff";

fn manifest(layers: &[(&str, &str, u64)]) -> String {
    let layers: Vec<_> = layers
        .iter()
        .map(|(kind, digest, size)| {
            let media = format!("application/vnd.ollama.image.{kind}");
            serde_json::json!({"mediaType": media, "digest": format!("sha256:{digest}"), "size": size})
        })
        .collect();
    serde_json::json!({"schemaVersion": 2, "layers": layers}).to_string()
}

fn ollama(home: &Path, name: &str, layers: &[(&str, &str, u64)]) {
    write(&home.join(".ollama/models/manifests").join(name), &manifest(layers));
}

#[test]
fn every_keeper_is_listed_with_names_that_open() {
    let home = tempfile::tempdir().unwrap();
    let h = home.path();
    let snapshot = h.join(".cache/huggingface/hub/models--maker--name-GGUF/snapshots/abc");
    write_gguf(&snapshot.join("name-Q4_K_M.gguf"));
    write_gguf(&snapshot.join("name-Q8_0.gguf"));
    write_gguf(&snapshot.join("mmproj-F16.gguf"));
    write(&snapshot.join("../../refs/main"), "abc");
    write_gguf(&h.join(".cache/llama.cpp/maker_flat_flat-Q4_0.gguf"));
    write_gguf(&h.join(".lmstudio/models/publisher/repo/studio-Q5_K_M.gguf"));
    write_gguf(&h.join(".lmstudio/models/not-seen.gguf"));
    write_gguf(&h.join(".ollama/models/blobs").join(format!("sha256-{HEX}")));
    ollama(h, "registry.ollama.ai/library/big/70b", &[("model", HEX, WHOLE), ("license", "aa", 5)]);
    let models = list(&places(h));
    let names: Vec<(Keeper, &str)> = models.iter().map(|m| (m.keeper, m.name.as_str())).collect();
    assert_eq!(
        names,
        [
            (Keeper::Hub, "maker/name-GGUF:Q4_K_M"),
            (Keeper::Hub, "maker/name-GGUF:Q8_0"),
            (Keeper::LlamaCpp, "maker_flat_flat-Q4_0"),
            (Keeper::Ollama, "big:70b"),
            (Keeper::LmStudio, "publisher/studio-Q5_K_M"),
        ]
    );
    for model in &models {
        let Opened::Gguf(file) = model.open().unwrap() else { panic!("{}", model.name) };
        assert_eq!(file.model.layers.len(), 80);
        assert!(model.bytes >= WHOLE);
    }
    assert_eq!(find(&places(h), "Studio-Q5-K-M").len(), 1);
    assert_eq!(find(&places(h), "studio").len(), 0);
}

#[test]
fn ollama_tells_projector_adapter_and_context() {
    let home = tempfile::tempdir().unwrap();
    let h = home.path();
    let blobs = h.join(".ollama/models/blobs");
    write_gguf(&blobs.join("sha256-01"));
    for (blob, text) in
        [("02", "projector"), ("03", "adapter"), ("04", r#"{"num_ctx": 16384, "stop": ["x"]}"#)]
    {
        write(&blobs.join(format!("sha256-{blob}")), text);
    }
    let layers = [("model", "01", WHOLE), ("projector", "02", 9), ("adapter", "03", 7), ("params", "04", 33)];
    ollama(h, "registry.ollama.ai/me/seeing/latest", &layers);
    let model = find_ollama(&places(h), "me/seeing").unwrap();
    assert_eq!((model.context, model.adapters.len()), (Some(16384), 1));
    assert!(model.projector.unwrap().ends_with("sha256-02"));
    assert_eq!(model.bytes, WHOLE + 9 + 7 + 33);
    assert_eq!(list(&places(h))[0].context, Some(16384));
}

#[test]
fn broken_manifests_are_told_apart_and_not_listed() {
    let home = tempfile::tempdir().unwrap();
    let h = home.path();
    write(&h.join(".ollama/models/blobs/sha256-01"), "short");
    let at = |name: &str| format!("registry.ollama.ai/library/{name}/1");
    ollama(h, &at("short"), &[("model", "01", 1000)]);
    ollama(h, &at("gone"), &[("model", "02", 1000)]);
    ollama(h, &at("none"), &[("license", "01", 5)]);
    ollama(h, &at("away"), &[("model", "../../../etc/passwd", 5)]);
    ollama(h, &at("tensors"), &[("tensor", "01", 5)]);
    write(&h.join(".ollama/models/manifests").join(at("text")), "<html>");
    let error = |name: &str| find_ollama(&places(h), &format!("{name}:1")).unwrap_err();
    assert!(matches!(error("short"), OllamaError::BlobMissing(_)));
    assert!(matches!(error("gone"), OllamaError::BlobMissing(_)));
    assert!(matches!(error("none"), OllamaError::Broken { .. }));
    assert!(matches!(error("away"), OllamaError::Broken { .. }));
    assert!(matches!(error("text"), OllamaError::Broken { .. }));
    assert_eq!(error("tensors"), OllamaError::NotGguf);
    assert_eq!(error("nothing"), OllamaError::Missing);
    assert_eq!(list(&places(h)), []);
}
