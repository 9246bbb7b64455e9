//! One test for each way in which a header can be wrong.

use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use super::super::*;
use super::writer::{Entry, File, Stored, id, sample};
use crate::dtype::Format;

fn error_of(file: &File) -> GgufError {
    let error = parse(&file.bytes()).unwrap_err();
    assert_eq!(parse_whole(&file.bytes()), Err(error.clone()));
    error
}

fn error_of_value(value: Stored) -> GgufError {
    let mut file = sample();
    file.keys.insert(0, ("x".into(), value));
    error_of(&file)
}

fn error_of_tensor(entry: Entry) -> GgufError {
    error_of(&File { tensors: vec![entry], ..sample() })
}

fn key(number: u64, file: &File) -> Place {
    Place::Key { number, of: file.keys.len() as u64 }
}

#[test]
fn an_empty_file() {
    assert_eq!(parse_whole(&[]), Err(GgufError::Empty));
}

#[test]
fn another_format() {
    assert_eq!(parse(b"PK\x03\x04"), Err(GgufError::NotGguf));
    assert_eq!(parse(b"P"), Err(GgufError::NotGguf));
    assert_eq!(parse_whole(b"GGML12345678901234567890"), Err(GgufError::NotGguf));
}

#[test]
fn other_versions() {
    assert_eq!(error_of(&File { version: 1, ..sample() }), GgufError::Version1);
    assert_eq!(error_of(&File { version: 1, big_endian: true, ..sample() }), GgufError::Version1);
    for version in [0, 4, 0x1234_5678] {
        assert_eq!(error_of(&File { version, ..sample() }), GgufError::UnknownVersion { version });
    }
}

#[test]
fn a_file_that_stops_inside_its_preamble() {
    let error = parse_whole(b"GGUF\x03\0\0").unwrap_err();
    assert_eq!(error, GgufError::Truncated { place: Place::Preamble, size: 7 });
}

#[test]
fn a_file_that_stops_inside_its_metadata() {
    let file = sample();
    let error = parse_whole(&file.bytes()[..30]).unwrap_err();
    assert_eq!(error, GgufError::Truncated { place: key(1, &file), size: 30 });
    assert_eq!(error.to_string(), "the file stops after 30 bytes, inside metadata key 1 of 17");
}

#[test]
fn a_file_that_stops_inside_its_tensor_table() {
    let bytes = sample().bytes();
    let size = bytes.len() as u64 - 1;
    let error = parse_whole(&bytes[..bytes.len() - 1]).unwrap_err();
    assert_eq!(error, GgufError::Truncated { place: Place::Tensor { number: 2, of: 2 }, size });
}

#[test]
fn absurd_counts() {
    for count in [MAX_TENSORS + 1, 1 << 62, u64::MAX] {
        let file = File { tensor_count: Some(count), ..sample() };
        assert_eq!(error_of(&file), GgufError::TooManyTensors { count });
        let file = File { key_count: Some(count), ..sample() };
        assert_eq!(error_of(&file), GgufError::TooManyKeys { count });
    }
}

#[test]
fn counts_within_the_limits_but_not_in_the_file() {
    let file = File { tensor_count: Some(MAX_TENSORS), ..sample() };
    let place = Place::Tensor { number: 3, of: MAX_TENSORS };
    let size = file.bytes().len() as u64;
    assert_eq!(parse_whole(&file.bytes()), Err(GgufError::Truncated { place, size }));
}

#[test]
fn long_names() {
    let mut file = sample();
    file.text(&"k".repeat(MAX_NAME_BYTES as usize + 1), "");
    let length = MAX_NAME_BYTES + 1;
    assert_eq!(error_of(&file), GgufError::NameTooLong { place: key(18, &file), length });
    let name = "t".repeat(MAX_NAME_BYTES as usize + 1);
    let place = Place::Tensor { number: 1, of: 1 };
    let error = error_of_tensor(Entry { name, ..sample().tensors[0].clone() });
    assert_eq!(error, GgufError::NameTooLong { place, length });
}

#[test]
fn names_that_are_not_text() {
    let mut bytes = sample().bytes();
    bytes[24 + 8] = 0xff;
    assert_eq!(parse(&bytes), Err(GgufError::BadName { place: key(1, &sample()) }));
}

#[test]
fn long_texts() {
    for length in [MAX_TEXT_BYTES + 1, 1 << 62, u64::MAX] {
        let error = error_of_value(Stored::Raw(8, length.to_le_bytes().into()));
        assert_eq!(error, GgufError::TextTooLong { key: "x".into(), length });
    }
}

#[test]
fn strings_in_arrays_that_go_past_the_longest_header() {
    let place = Place::Key { number: 1, of: 18 };
    for (count, length) in [(1, u64::MAX), (1, MAX_HEADER_BYTES), (1 << 62, 0), (u64::MAX, 0)] {
        let error = error_of_value(Stored::Raw(9, array(Kind::Text, count, length)));
        assert_eq!(error, GgufError::HeaderTooLong { place }, "{count} {length}");
    }
}

#[test]
fn needs_that_add_up_past_the_longest_header() {
    let half = MAX_HEADER_BYTES / 2;
    let error = error_of_value(Stored::Raw(9, array(Kind::Text, half / 8, half)));
    assert_eq!(error, GgufError::HeaderTooLong { place: Place::Key { number: 1, of: 18 } });
}

#[test]
fn arrays_of_numbers_that_go_past_the_longest_header() {
    let place = Place::Key { number: 1, of: 18 };
    for count in [MAX_HEADER_BYTES, 1 << 61, u64::MAX] {
        let error = error_of_value(Stored::Raw(9, array(Kind::U64, count, 0)));
        assert_eq!(error, GgufError::HeaderTooLong { place }, "{count}");
    }
}

/// An array's kind and count, then the length of its first string.
fn array(kind: Kind, count: u64, length: u64) -> Vec<u8> {
    let kind = id(kind) as u32;
    [&kind.to_le_bytes()[..], &count.to_le_bytes(), &length.to_le_bytes()].concat()
}

#[test]
fn arrays_of_arrays() {
    let error = error_of_value(Stored::Raw(9, array(Kind::Array, 1, 0)));
    assert_eq!(error, GgufError::NestedArray { key: "x".into() });
}

#[test]
fn unknown_value_types() {
    let error = error_of_value(Stored::Raw(13, vec![]));
    assert_eq!(error, GgufError::UnknownKind { key: "x".into(), id: 13 });
    let error = error_of_value(Stored::Raw(9, 99u32.to_le_bytes().into()));
    assert_eq!(error, GgufError::UnknownKind { key: "x".into(), id: 99 });
}

#[test]
fn a_key_twice() {
    let mut file = sample();
    file.text("u8", "again");
    assert_eq!(error_of(&file), GgufError::DuplicateKey { key: "u8".into() });
}

#[test]
fn absurd_alignments() {
    for alignment in [0, 3, 48, MAX_ALIGNMENT * 2, u64::MAX] {
        let mut file = sample();
        file.key("general.alignment", Stored::Scalar(Kind::U64, alignment));
        assert_eq!(error_of(&file), GgufError::BadAlignment { alignment });
    }
}

#[test]
fn an_alignment_that_is_no_number() {
    let mut file = sample();
    file.text("general.alignment", "32");
    assert_eq!(
        error_of(&file).to_string(),
        "general.alignment should be a non-negative integer, found a string"
    );
}

#[test]
fn a_tensor_twice() {
    let first = sample().tensors[0].clone();
    let file = File { tensors: vec![first.clone(), first.clone()], ..sample() };
    assert_eq!(error_of(&file), GgufError::DuplicateTensor { tensor: first.name });
}

#[test]
fn too_few_or_too_many_dimensions() {
    for count in [0, 5, 1000] {
        let error = error_of_tensor(Entry::new("t", &vec![32; count], 0, 0));
        assert_eq!(error, GgufError::BadDimensions { tensor: "t".into(), count: count as u32 });
    }
}

#[test]
fn extents_that_are_zero_or_negative() {
    for (extent, signed) in [(0, 0), (u64::MAX, -1), (1 << 63, i64::MIN)] {
        let error = error_of_tensor(Entry::new("t", &[32, extent], 0, 0));
        assert_eq!(error, GgufError::BadExtent { tensor: "t".into(), axis: 1, extent: signed });
    }
}

#[test]
fn sizes_that_overflow() {
    let tensor = || String::from("t");
    for extents in [&[1 << 32, 1 << 32][..], &[1 << 62], &[1 << 20, 1 << 20, 1 << 20, 1 << 20]] {
        let error = error_of_tensor(Entry::new("t", extents, 0, 0));
        assert_eq!(error, GgufError::TooLarge { tensor: tensor() });
    }
}

#[test]
fn ends_that_overflow() {
    let tensor = || String::from("t");
    let last = 0u64.wrapping_sub(32);
    assert_eq!(error_of_tensor(Entry::new("t", &[16], 0, last)), GgufError::TooLarge { tensor: tensor() });
    let fits_only_at_zero = 0u64.wrapping_sub(128);
    assert_eq!(
        error_of_tensor(Entry::new("t", &[16], 0, fits_only_at_zero)),
        GgufError::TooLarge { tensor: tensor() }
    );
}

#[test]
fn unknown_formats() {
    for format in [4, 31, 36, 1000] {
        let error = error_of_tensor(Entry::new("t", &[32], format, 0));
        assert_eq!(error, GgufError::UnknownFormat { tensor: "t".into(), id: format });
    }
    assert_eq!(
        error_of_tensor(Entry::new("blk.0.ffn", &[32], 99, 0)).to_string(),
        "blk.0.ffn has the unknown ggml type 99"
    );
}

#[test]
fn rows_that_are_not_whole_blocks() {
    let error = error_of_tensor(Entry::new("t", &[128, 2], 12, 0));
    assert_eq!(error, GgufError::PartialBlock { tensor: "t".into(), row: 128, format: Format::Q4K });
}

#[test]
fn tensors_off_the_alignment() {
    let error = error_of_tensor(Entry::new("t", &[32], 0, 16));
    assert_eq!(error, GgufError::Misaligned { tensor: "t".into(), offset: 16, alignment: 32 });
}
