//! The tensor table of a GGUF file: which tensors are there, how large, and where?

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::error::{GgufError, Place};
use super::reader::{Read, Reader};
use crate::dtype::Format;
use crate::units::Bytes;

/// What does the file say about one tensor?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    /// Its name.
    pub name: String,
    /// Extents, fastest first, padded with 1.
    pub shape: [u64; 4],
    /// Number format.
    pub format: Format,
    /// Where it starts in the data section, in bytes.
    pub offset: u64,
}

impl TensorInfo {
    /// How many bytes does the tensor take, padding after it apart? Exact for a tensor from a file.
    pub fn bytes(&self) -> Bytes {
        Bytes(size(self.shape, self.format).unwrap_or(u64::MAX))
    }

    fn end(&self, data_offset: u64) -> Option<u64> {
        let start = data_offset.checked_add(self.offset)?;
        start.checked_add(size(self.shape, self.format)?)
    }

    fn too_large(&self) -> GgufError {
        GgufError::TooLarge { tensor: self.name.clone() }
    }
}

/// Bytes of a tensor of whole blocks; `None` when its values or its bytes overflow.
fn size(shape: [u64; 4], format: Format) -> Option<u64> {
    let elements = shape.iter().try_fold(1u64, |n, extent| n.checked_mul(*extent))?;
    (elements / format.block_elements()).checked_mul(format.block_bytes())
}

/// Reads `count` entries.
pub(super) fn read(reader: &mut Reader<'_>, count: u64, alignment: u64) -> Read<Vec<TensorInfo>> {
    let mut tensors = Vec::new();
    let mut names = BTreeSet::new();
    for number in 1..=count {
        reader.place = Place::Tensor { number, of: count };
        let name = reader.name()?;
        if !names.insert(name) {
            return Err(GgufError::DuplicateTensor { tensor: name.into() }.into());
        }
        let tensor = read_tensor(reader, name)?;
        check(&tensor, alignment)?;
        tensors.push(tensor);
    }
    Ok(tensors)
}

fn read_tensor(reader: &mut Reader<'_>, name: &str) -> Read<TensorInfo> {
    let shape = read_shape(reader, name)?;
    let id = reader.u32()?;
    let format =
        Format::from_ggml_id(id).ok_or_else(|| GgufError::UnknownFormat { tensor: name.into(), id })?;
    Ok(TensorInfo { name: name.into(), shape, format, offset: reader.u64()? })
}

fn read_shape(reader: &mut Reader<'_>, name: &str) -> Read<[u64; 4]> {
    let count = reader.u32()?;
    let mut shape = [1; 4];
    if count == 0 || count as usize > shape.len() {
        return Err(GgufError::BadDimensions { tensor: name.into(), count }.into());
    }
    for (axis, extent) in shape.iter_mut().enumerate().take(count as usize) {
        *extent = reader.u64()?;
        let signed = *extent as i64;
        if signed <= 0 {
            return Err(GgufError::BadExtent { tensor: name.into(), axis, extent: signed }.into());
        }
    }
    Ok(shape)
}

fn check(tensor: &TensorInfo, alignment: u64) -> Result<(), GgufError> {
    let TensorInfo { name, shape, format, offset } = tensor;
    let (row, offset, format) = (shape[0], *offset, *format);
    if !row.is_multiple_of(format.block_elements()) {
        return Err(GgufError::PartialBlock { tensor: name.clone(), row, format });
    }
    if !offset.is_multiple_of(alignment) {
        return Err(GgufError::Misaligned { tensor: name.clone(), offset, alignment });
    }
    tensor.end(0).map(|_| ()).ok_or_else(|| tensor.too_large())
}

/// Refuses tensors that end past 2^64 in the file, now that the start of the data is known.
pub(super) fn check_ends(tensors: &[TensorInfo], data_offset: u64) -> Result<(), GgufError> {
    match tensors.iter().find(|t| t.end(data_offset).is_none()) {
        Some(tensor) => Err(tensor.too_large()),
        None => Ok(()),
    }
}
