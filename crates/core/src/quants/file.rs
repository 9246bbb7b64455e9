//! How large is a GGUF file beside its tensors?

use crate::model::Model;
use crate::units::Bytes;

use super::ALIGNMENT;

/// The parts of a GGUF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileBytes {
    /// The tensors, each padded.
    pub tensors: Bytes,
    /// The table that names them.
    pub table: Bytes,
    /// Metadata, nearly all of it the tokenizer's: an estimate from the vocabulary.
    pub metadata: Bytes,
}

impl FileBytes {
    /// The whole file.
    pub fn total(self) -> Bytes {
        self.tensors + self.table + self.metadata
    }
}

/// Bytes of metadata for every entry of the vocabulary: published files have 22 (no merges) to 65.
const METADATA_A_TOKEN: u64 = 42;

/// Bytes of a tensor's entry in the table beside its name and extents: length of the name, number of
/// extents, format, offset.
const TABLE_ENTRY: u64 = 8 + 4 + 4 + 8;

/// The file that would hold these tensors.
pub fn file_bytes(model: &Model) -> FileBytes {
    let entry = |name: &str, dimensions: usize| TABLE_ENTRY + name.len() as u64 + 8 * dimensions as u64;
    FileBytes {
        tensors: model.tensors.iter().map(|t| t.size().padded(ALIGNMENT)).sum(),
        table: Bytes(model.tensors.iter().map(|t| entry(&t.name, t.dimensions())).sum()),
        metadata: Bytes(model.vocab.saturating_mul(METADATA_A_TOKEN)),
    }
}
