//! What the engine does for some architectures only, by architecture key.

/// Loaders that create the head of a tied model before the embedding: the head is a copy of its own
/// even where both lie in the same buffer (`src/models/gemma3n.cpp, gemma4.cpp`).
const HEAD_BEFORE_EMBEDDING: &[&str] = &["gemma3n", "gemma4"];

/// Does a tied head take memory of its own in the very buffer that holds the embedding?
pub(super) fn copies_tied_head_in_place(arch: &str) -> bool {
    HEAD_BEFORE_EMBEDDING.contains(&arch)
}
