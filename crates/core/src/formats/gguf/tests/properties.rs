//! What must hold for every header and for every input.

use std::format;
use std::string::String;
use std::vec::Vec;

use proptest::prelude::*;

use super::super::*;
use super::writer::{Entry, File, Stored};

fn scalar_kind() -> impl Strategy<Value = Kind> {
    (0u32..13).prop_filter_map("no fixed width", |id| Kind::from_id(id).filter(|kind| kind.width() > 0))
}

fn value() -> impl Strategy<Value = Stored> {
    let text = || "[a-zé<>_ ]{0,12}".prop_map(String::from);
    prop_oneof![
        (scalar_kind(), any::<u64>()).prop_map(|(kind, bits)| Stored::Scalar(kind, bits)),
        text().prop_map(Stored::Text),
        (scalar_kind(), prop::collection::vec(any::<u64>(), 0..8))
            .prop_map(|(kind, items)| Stored::Numbers(kind, items)),
        prop::collection::vec(text(), 0..8).prop_map(Stored::Texts),
    ]
}

fn tensor() -> impl Strategy<Value = (Vec<u64>, u32, u64)> {
    let format = prop::sample::select(&[0u32, 1, 2, 8, 12, 14, 30, 39, 40][..]);
    (prop::collection::vec(1u64..1 << 12, 1..=4), format, 0u64..1 << 40)
}

fn file() -> impl Strategy<Value = File> {
    let values = prop::collection::vec(value(), 0..8);
    let tensors = prop::collection::vec(tensor(), 0..8);
    (2u32..=3, any::<bool>(), values, tensors).prop_map(|(version, big_endian, values, tensors)| File {
        version,
        big_endian,
        keys: values.into_iter().enumerate().map(|(i, value)| (format!("k{i}"), value)).collect(),
        tensors: tensors.into_iter().enumerate().map(entry).collect(),
        tensor_count: None,
        key_count: None,
    })
}

fn entry((index, (mut extents, format, offset)): (usize, (Vec<u64>, u32, u64))) -> Entry {
    extents[0] *= 256;
    Entry { name: format!("blk.{index}.weight"), extents, format, offset: offset * 32 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_prefix_needs_more_and_no_more_than_the_header(file in file()) {
        let bytes = file.bytes();
        for length in 0..bytes.len() {
            match parse(&bytes[..length]) {
                Ok(Progress::Need(need)) => {
                    prop_assert!(need > length as u64 && need <= bytes.len() as u64, "{length}: {need}");
                }
                other => prop_assert!(false, "{length}: {other:?}"),
            }
            prop_assert!(parse_whole(&bytes[..length]).is_err());
        }
    }

    #[test]
    fn what_follows_the_header_changes_nothing(file in file(), tail: Vec<u8>) {
        let bytes = file.bytes();
        let header = parse_whole(&bytes).unwrap();
        prop_assert_eq!(header.header_bytes, bytes.len() as u64);
        prop_assert_eq!(header.tensors.len(), file.tensors.len());
        prop_assert_eq!(header.metadata.len(), file.keys.len());
        let longer = [bytes, tail].concat();
        prop_assert_eq!(format!("{:?}", parse(&longer)), format!("{:?}", Ok::<_, ()>(Progress::Done(header))));
    }

    #[test]
    fn asking_for_what_is_needed_ends_with_the_header(file in file()) {
        let bytes = file.bytes();
        let mut given = 0;
        while let Progress::Need(need) = parse(&bytes[..given]).unwrap() {
            given = need as usize;
        }
        prop_assert_eq!(given, bytes.len());
    }

    #[test]
    fn the_byte_order_changes_nothing(file in file()) {
        let swapped = File { big_endian: !file.big_endian, ..file.clone() };
        let (one, other) = (parse_whole(&file.bytes()).unwrap(), parse_whole(&swapped.bytes()).unwrap());
        prop_assert_eq!(format!("{:?}", one.metadata), format!("{:?}", other.metadata));
        prop_assert_eq!(one.tensors, other.tensors);
    }

    #[test]
    fn one_wrong_byte_never_panics(file in file(), seed: u8) {
        let mut bytes = file.bytes();
        for at in 0..bytes.len() {
            let before = bytes[at];
            bytes[at] = before.wrapping_add(seed);
            check_any(&bytes);
            bytes[at] = before;
        }
    }

    #[test]
    fn random_bytes_never_panic(tail: Vec<u8>, version in 2u32..=3, counts: (u8, u8)) {
        check_any(&tail);
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(version.to_le_bytes());
        bytes.extend(u64::from(counts.0).to_le_bytes());
        bytes.extend(u64::from(counts.1).to_le_bytes());
        bytes.extend(tail);
        check_any(&bytes);
    }
}

/// What must hold of any bytes at all.
fn check_any(bytes: &[u8]) {
    match parse(bytes) {
        Ok(Progress::Done(header)) => {
            assert!(header.file_bytes() >= header.header_bytes);
            assert!(header.data_offset >= header.header_bytes);
        }
        Ok(Progress::Need(need)) => assert!(need > bytes.len() as u64 && need <= MAX_HEADER_BYTES),
        Err(error) => assert!(!format!("{error}").is_empty()),
    }
}
