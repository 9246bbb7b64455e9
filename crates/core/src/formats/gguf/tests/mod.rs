use std::format;
use std::string::ToString;
use std::vec;
use std::vec::Vec;

use super::*;
use writer::{Entry, File, Stored, sample};

mod bad;
mod properties;
mod writer;

fn read(file: &File) -> Header {
    parse_whole(&file.bytes()).unwrap()
}

fn read_value(value: Stored) -> Metadata {
    let mut file = sample();
    file.key("x", value);
    read(&file).metadata
}

#[test]
fn a_header_reads_back_in_both_versions_and_byte_orders() {
    for (version, big_endian) in [(2, false), (3, false), (2, true), (3, true)] {
        let file = File { version, big_endian, ..sample() };
        let header = read(&file);
        assert_eq!((header.version, header.big_endian), (version, big_endian));
        assert_eq!(header.metadata, read(&sample()).metadata);
        assert_eq!(header.tensors, read(&sample()).tensors);
        assert_eq!(header.header_bytes, file.bytes().len() as u64);
    }
}

#[test]
fn tensors_have_padded_shapes_and_exact_sizes() {
    let header = read(&sample());
    let [embedding, norm] = &header.tensors[..] else { panic!("{:?}", header.tensors) };
    assert_eq!(embedding.name, "token_embd.weight");
    assert_eq!((embedding.shape, embedding.format), ([256, 10, 1, 1], crate::dtype::Format::Q4K));
    assert_eq!((embedding.bytes(), norm.offset, norm.bytes()), (Bytes(1440), 1440, Bytes(1024)));
}

#[test]
fn the_data_section_starts_at_the_alignment() {
    let header = read(&sample());
    assert_eq!(header.alignment, DEFAULT_ALIGNMENT);
    assert_eq!(header.data_offset, header.header_bytes.next_multiple_of(32));
    let mut file = sample();
    file.key("general.alignment", Stored::Scalar(Kind::U32, 4096));
    file.tensors[1].offset = 4096;
    assert_eq!((read(&file).alignment, read(&file).data_offset), (4096, 4096));
}

#[test]
fn the_file_must_reach_the_end_of_the_last_tensor() {
    let header = read(&sample());
    let promised = header.data_offset + 1440 + 1024;
    assert_eq!(header.file_bytes(), promised);
    assert_eq!(header.check_file_bytes(promised), Ok(()));
    let error = GgufError::DataMissing { promised, actual: promised - 1 };
    assert_eq!(header.check_file_bytes(promised - 1), Err(error));
}

#[test]
fn a_file_without_tensors_may_end_with_its_header() {
    let header = read(&File { tensors: vec![], ..sample() });
    assert_eq!(header.file_bytes(), header.header_bytes);
}

#[test]
fn every_integer_type_reads_as_a_whole_number() {
    let metadata = read(&sample()).metadata;
    let known =
        [("u8", 200), ("u16", 60_000), ("u32", 4_000_000_000), ("u64", 1 << 40), ("i8", 100), ("i32", 7)];
    for (key, value) in known {
        assert_eq!(metadata.uint(key), Ok(Some(value)), "{key}");
    }
    assert_eq!(metadata.get("i16"), Some(&Value::Int(-1)));
    assert_eq!(metadata.uint("i64").unwrap_err().found, Found::Negative(-5));
}

#[test]
fn other_scalars_read_as_what_they_are() {
    let metadata = read(&sample()).metadata;
    assert_eq!(metadata.float("f32"), Ok(Some(0.5)));
    assert_eq!(metadata.float("f64"), Ok(Some(0.1)));
    assert_eq!(metadata.bool("yes"), Ok(Some(true)));
    assert_eq!(metadata.text("general.architecture"), Ok(Some("llama")));
    assert_eq!(metadata.text("general.name"), Ok(None));
}

#[test]
fn lists_by_layer_read_from_arrays_and_scalars() {
    let metadata = read(&sample()).metadata;
    assert_eq!(metadata.uints("heads"), Ok(Some(vec![8, 0, 4])));
    assert_eq!(metadata.uints("u8"), Ok(Some(vec![200])));
    assert_eq!(metadata.uints("signs").unwrap_err().found, Found::Negative(-2));
    assert_eq!(metadata.floats("scales"), Ok(Some(vec![1.5])));
    assert_eq!(metadata.bools("windowed"), Ok(Some(vec![true, false])));
    assert_eq!(metadata.bools("yes"), Ok(Some(vec![true])));
}

#[test]
fn a_value_of_another_type_is_an_error_that_says_both() {
    let metadata = read(&sample()).metadata;
    let messages = [
        (metadata.uint("yes").unwrap_err(), "yes should be a non-negative integer, found a truth value"),
        (metadata.float("u8").unwrap_err(), "u8 should be a float, found an integer"),
        (metadata.text("f32").unwrap_err(), "f32 should be a string, found a float"),
        (
            metadata.uint("heads").unwrap_err(),
            "heads should be a non-negative integer, found an array of i32",
        ),
        (metadata.bools("heads").unwrap_err(), "heads should be truth values, found an array of i32"),
    ];
    for (error, message) in messages {
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn string_arrays_keep_their_length_only() {
    let metadata = read(&sample()).metadata;
    assert_eq!(metadata.array_len("tokenizer.ggml.tokens"), Ok(Some(3)));
    let array = Array { kind: Kind::Text, len: 3, items: None };
    assert_eq!(metadata.get("tokenizer.ggml.tokens"), Some(&Value::Array(array)));
}

#[test]
fn long_arrays_keep_their_length_only() {
    let items = |len: u64| Stored::Numbers(Kind::U8, vec![1; len as usize]);
    let kept = read_value(items(MAX_KEPT_ITEMS));
    assert_eq!(kept.uints("x").unwrap().unwrap().len() as u64, MAX_KEPT_ITEMS);
    let skipped = read_value(items(MAX_KEPT_ITEMS + 1));
    assert_eq!(skipped.array_len("x"), Ok(Some(MAX_KEPT_ITEMS + 1)));
    assert_eq!(skipped.uints("x").unwrap_err().found, Found::NotKept(MAX_KEPT_ITEMS + 1));
}

#[test]
fn many_arrays_hold_no_more_than_the_limit_in_all() {
    let mut file = sample();
    for i in 0..=MAX_KEPT_IN_ALL / MAX_KEPT_ITEMS {
        file.key(&format!("x{i:03}"), Stored::Numbers(Kind::U8, vec![1; MAX_KEPT_ITEMS as usize]));
    }
    let metadata = read(&file).metadata;
    assert!(metadata.uints("x000").is_ok());
    assert_eq!(metadata.uints("x064").unwrap_err().found, Found::NotKept(MAX_KEPT_ITEMS));
}

#[test]
fn a_value_may_hold_stray_bytes() {
    let text = [&3u64.to_le_bytes()[..], b"a\xffb"].concat();
    let metadata = read_value(Stored::Raw(8, text));
    assert_eq!(metadata.text("x"), Ok(Some("a\u{fffd}b")));
}

#[test]
fn need_says_how_far_the_next_step_goes() {
    let file = File { tensors: vec![], keys: Vec::new(), ..sample() };
    assert_eq!(parse(&[]), Ok(Progress::Need(24)));
    assert_eq!(parse(b"GGU"), Ok(Progress::Need(24)));
    let mut tokens = file.clone();
    tokens.key("t", Stored::Texts(vec!["abc".into(); 100]));
    let start = 24 + 8 + 1 + 4 + 4 + 8;
    // Inside the length of the first of 100 tokens: that length and 99 more must follow.
    assert_eq!(parse(&tokens.bytes()[..start + 1]), Ok(Progress::Need(start as u64 + 800)));
    let mut scores = file;
    scores.key("s", Stored::Numbers(Kind::F32, vec![0; 100]));
    assert_eq!(parse(&scores.bytes()[..start + 1]), Ok(Progress::Need(start as u64 + 400)));
}

#[test]
fn many_keys_and_tensors_read_in_order() {
    let mut file = sample();
    file.tensors = (0..2000).map(|i| Entry::new(&format!("blk.{i}"), &[32], 0, i * 128)).collect();
    let header = read(&file);
    assert_eq!(header.tensors.len(), 2000);
    assert_eq!(header.tensors[1999].name, "blk.1999");
    assert!(header.metadata.iter().map(|(key, _)| key).is_sorted());
    assert_eq!(header.metadata.len(), file.keys.len());
}
