//! Any bytes as a GGUF header: no panic, and a need that makes progress.
//!
//! Run with `cargo +nightly fuzz run gguf_header`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vramplan_core::formats::Progress;
use vramplan_core::formats::gguf::{MAX_HEADER_BYTES, parse, parse_whole};

fuzz_target!(|bytes: &[u8]| {
    match parse(bytes) {
        Ok(Progress::Done(header)) => {
            assert!(header.file_bytes() >= header.header_bytes);
            assert!(header.data_offset >= header.header_bytes);
        }
        Ok(Progress::Need(need)) => {
            assert!(need > bytes.len() as u64 && need <= MAX_HEADER_BYTES);
            assert!(parse_whole(bytes).is_err());
        }
        Err(error) => assert_eq!(parse_whole(bytes), Err(error)),
    }
});
