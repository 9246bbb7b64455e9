//! Replays the saved corpus of every fuzz target: what fuzzing once found, or started from.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use std::path::Path;

/// Runs a target over its saved inputs, and over each of their prefixes.
fn replay(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let mut inputs = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        (0..=bytes.len()).for_each(|n| target(&bytes[..n]));
        inputs += 1;
    }
    assert!(inputs > 0, "no corpus for {name}");
}

#[test]
fn gguf_headers() {
    replay("gguf_header", targets::gguf_header);
}

#[test]
fn gguf_headers_to_plans() {
    replay("gguf_plan", targets::gguf_plan);
}

#[test]
fn safetensors_headers() {
    replay("safetensors_header", targets::safetensors_header);
}

#[test]
fn configs() {
    replay("hf_config", targets::hf_config);
}

#[test]
fn typed_values() {
    replay("values", targets::values);
}
