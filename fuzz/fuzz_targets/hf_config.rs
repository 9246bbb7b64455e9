//! Run with `cargo +nightly fuzz run hf_config`.
#![no_main]

#[path = "../src/targets.rs"]
#[allow(dead_code)]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::hf_config(bytes));
