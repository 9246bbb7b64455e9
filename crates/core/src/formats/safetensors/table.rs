//! The JSON object of a header, read tensor by tensor.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{MAX_DIMENSIONS, MAX_TENSORS, SafetensorsError, TensorInfo};
use crate::dtype::Format;

/// The key that is no tensor.
const METADATA: &str = "__metadata__";

/// A tensor as it is written.
#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    dtype: Cow<'a, str>,
    shape: Shape,
    data_offsets: (u64, u64),
}

/// Extents, no more of them than any tensor has.
struct Shape(Vec<u64>);

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Extents;
        impl<'de> Visitor<'de> for Extents {
            type Value = Shape;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of extents")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Shape, A::Error> {
                let mut shape = Vec::new();
                while let Some(extent) = seq.next_element()? {
                    if shape.len() == MAX_DIMENSIONS {
                        return Err(A::Error::custom("too many dimensions"));
                    }
                    shape.push(extent);
                }
                Ok(Shape(shape))
            }
        }
        deserializer.deserialize_seq(Extents)
    }
}

/// The whole object; its entries are checked one by one, so the first error stops it.
struct Table(Result<Vec<TensorInfo>, SafetensorsError>);

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Table;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table, A::Error> {
                let mut tensors = Ok(Vec::new());
                while let Some(name) = map.next_key::<String>()? {
                    if name == METADATA {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    let entry = map.next_value::<Entry<'de>>()?;
                    let Ok(list) = &mut tensors else { continue };
                    if list.len() == MAX_TENSORS {
                        return Err(A::Error::custom("too many tensors"));
                    }
                    match tensor(name, entry) {
                        Ok(tensor) => list.push(tensor),
                        Err(error) => tensors = Err(error),
                    }
                }
                Ok(Table(tensors))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Reads the tensors of a header.
pub(super) fn read(header: &[u8]) -> Result<Vec<TensorInfo>, SafetensorsError> {
    let table: Table =
        serde_json::from_slice(header).map_err(|error| SafetensorsError::Broken(error.to_string()))?;
    table.0
}

fn tensor(name: String, entry: Entry<'_>) -> Result<TensorInfo, SafetensorsError> {
    let format = entry.dtype.parse().ok().filter(|format: &Format| !format.is_quantised());
    let Some(format) = format else {
        return Err(SafetensorsError::UnknownFormat { tensor: name, dtype: entry.dtype.into_owned() });
    };
    let (begin, end) = entry.data_offsets;
    let tensor = TensorInfo { name, format, shape: entry.shape.0, end };
    let (wanted, place) = (tensor.bytes().0, end.wrapping_sub(begin));
    if begin > end || wanted != place {
        let place = end.saturating_sub(begin);
        return Err(SafetensorsError::WrongSize { tensor: tensor.name, wanted, place });
    }
    Ok(tensor)
}
