//! Run with `cargo +nightly fuzz run safetensors_header`.
#![no_main]

#[path = "../src/targets.rs"]
#[allow(dead_code)]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::safetensors_header(bytes));
