//! Models split over several files: `name-00001-of-00003.gguf` and so on, in one folder.

use std::path::{Path, PathBuf};

use vramplan_core::formats::gguf::Header;

use super::error::FileError;

/// Most parts a model may have: the file names count in five digits.
const MOST_PARTS: u64 = 99_999;

/// The other parts of a split model, in order; none for a model in one file.
pub(super) fn other_parts(path: &Path, header: &Header) -> Result<Vec<PathBuf>, FileError> {
    let stated = |key| header.metadata.uint(key).ok().flatten();
    let count = stated("split.count").unwrap_or(1).min(MOST_PARTS);
    let number = stated("split.no").unwrap_or(0).saturating_add(1);
    if count < 2 {
        return Ok(Vec::new());
    }
    let prefix = prefix(path, number, count).filter(|_| number == 1);
    let prefix = prefix.ok_or(FileError::NotFirstPart { number, count })?;
    let part = |n: u64| path.with_file_name(format!("{prefix}{}", ending(n, count)));
    Ok((2..=count).map(part).collect())
}

/// What the stem `name-00001-of-00003` of a part's file says: what all parts start with, which one it is and
/// how many there are.
pub(super) fn part_of(stem: &str) -> Option<(&str, u64, u64)> {
    let (rest, count) = stem.rsplit_once("-of-")?;
    let (prefix, number) = rest.rsplit_once('-')?;
    Some((prefix, number.parse().ok()?, count.parse().ok()?))
}

/// What the names of all parts start with.
fn prefix(path: &Path, number: u64, count: u64) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(&ending(number, count)).map(str::to_owned)
}

fn ending(number: u64, count: u64) -> String {
    format!("-{number:05}-of-{count:05}.gguf")
}

/// Adds another part's tensors, as if its data followed.
pub(super) fn append(header: &mut Header, part: Header) {
    let behind = header.file_bytes().saturating_sub(header.data_offset);
    let moved = part.tensors.into_iter().map(|mut tensor| {
        tensor.offset = tensor.offset.saturating_add(behind);
        tensor
    });
    header.tensors.extend(moved);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_by_number_and_count() {
        assert_eq!(ending(1, 3), "-00001-of-00003.gguf");
        let path = Path::new("dir/model-00001-of-00003.gguf");
        assert_eq!(prefix(path, 1, 3), Some("model".into()));
        assert_eq!(prefix(path, 2, 3), None);
        assert_eq!(prefix(Path::new("renamed.gguf"), 1, 3), None);
    }
}
