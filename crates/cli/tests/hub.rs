//! Models of a hub, and of other programs on this disk, by the real program.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../io/tests/made/mod.rs"]
mod made;
#[path = "../../io/tests/server/mod.rs"]
mod server;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use server::{Reply, Server};

const CONFIG: &str = r#"{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
    "vocab_size": 128256, "tie_word_embeddings": false, "max_position_embeddings": 131072,
    "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true}}"#;

const LISTING: &str = "/api/models/maker/name-AWQ/revision/main?blobs=true";

fn server() -> Server {
    let listing =
        serde_json::json!({"sha": "c0ffee", "siblings": [{"rfilename": "config.json"}]}).to_string();
    Server::start(&[
        (LISTING, Reply::File(Arc::new(listing.into_bytes()))),
        ("/maker/name-AWQ/resolve/c0ffee/config.json", Reply::File(Arc::new(CONFIG.into()))),
        ("/api/models/maker/gated/revision/main?blobs=true", Reply::Status(403, vec![])),
    ])
}

fn run(home: &Path, endpoint: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vram"));
    command.args(args).env("HF_ENDPOINT", endpoint).env("HOME", home);
    for name in
        ["HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME", "LLAMA_CACHE", "HF_TOKEN"]
    {
        command.env_remove(name);
    }
    command.env("OLLAMA_MODELS", home.join("ollama")).env_remove("HF_HUB_OFFLINE").output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_quantised_repository_is_weighed_without_its_weights_and_again_offline() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    let shown = run(home.path(), &server.address, &["models", "show", "maker/name-AWQ"]);
    assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
    // 5,727,854,592 bytes in the engine's own layout, which pads nothing here.
    assert!(text(&shown.stdout).contains("awq                5.33 GiB"), "{}", text(&shown.stdout));
    assert_eq!(server.requests().len(), 2);
    let again = run(home.path(), &server.address, &["models", "show", "maker/name-AWQ", "--offline"]);
    assert_eq!((again.status.code(), text(&again.stdout)), (Some(0), text(&shown.stdout)));
    assert_eq!(server.requests().len(), 2, "nothing was fetched");
    let plan =
        run(home.path(), &server.address, &["plan", "maker/name-AWQ", "--on", "rtx-4090", "--offline"]);
    assert_eq!(plan.status.code(), Some(0), "{}", text(&plan.stderr));
}

#[test]
fn what_the_hub_does_not_give_is_one_error_with_its_own_exit_code() {
    let (home, server) = (tempfile::tempdir().unwrap(), server());
    for (args, code, words) in [
        (&["plan", "maker/gated"][..], 3, "does not give"),
        (&["plan", "maker/missing"], 2, "no repository"),
        (&["plan", "maker/name-AWQ", "--offline"], 3, "nothing may be fetched"),
    ] {
        let output = run(home.path(), &server.address, args);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.starts_with("error: ") && error.contains(words), "{error}");
        assert!(output.stdout.is_empty());
    }
    let nobody = run(home.path(), "http://127.0.0.1:9", &["plan", "maker/name-AWQ"]);
    assert_eq!(nobody.status.code(), Some(3), "{}", text(&nobody.stderr));
}

#[test]
fn models_of_other_programs_are_listed_and_planned_by_their_names() {
    let home = tempfile::tempdir().unwrap();
    let blob = home.path().join("ollama/blobs/sha256-00ff");
    fs::create_dir_all(blob.parent().unwrap()).unwrap();
    fs::write(&blob, made::gguf(1000)).unwrap();
    fs::OpenOptions::new().write(true).open(&blob).unwrap().set_len(60 << 30).unwrap();
    fs::write(home.path().join("ollama/blobs/sha256-0a"), r#"{"num_ctx": 4096}"#).unwrap();
    let manifest = home.path().join("ollama/manifests/registry.ollama.ai/library/big/70b");
    fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    let layer = |kind: &str, digest: &str, size: u64| {
        let media = format!("application/vnd.ollama.image.{kind}");
        serde_json::json!({"mediaType": media, "digest": digest, "size": size})
    };
    let layers = [layer("model", "sha256:00ff", 60 << 30), layer("params", "sha256:0a", 17)];
    fs::write(&manifest, serde_json::json!({"layers": layers}).to_string()).unwrap();
    let offline = |args: &[&str]| run(home.path(), "http://127.0.0.1:9", args);
    let list = offline(&["models", "--local", "--on", "2x:rtx-4090"]);
    let shown = text(&list.stdout);
    assert_eq!(list.status.code(), Some(0), "{}", text(&list.stderr));
    assert!(shown.lines().any(|line| line.contains("big:70b") && line.contains("Q4_K_M")), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    let json = offline(&["models", "--local", "--on", "2x:rtx-4090", "--json"]);
    let rows: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((rows[0]["keeper"].as_str(), rows[0]["context"].as_u64()), (Some("ollama"), Some(4096)));
    let plan = offline(&["plan", "big:70b", "--on", "2x:rtx-4090", "--json"]);
    let answer: serde_json::Value = serde_json::from_slice(&plan.stdout).unwrap();
    assert_eq!(answer["context_per_sequence"].as_u64(), Some(4096));
}

#[test]
fn an_empty_disk_is_an_answer() {
    let home = tempfile::tempdir().unwrap();
    let output = run(home.path(), "http://127.0.0.1:9", &["models", "--local", "--on", "rtx-4090"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("no models on this disk"));
}
