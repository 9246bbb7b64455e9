//! Readers of model files: what do the bytes at the start of a file say?
//!
//! Each reader is a pure function from bytes to a header; the caller brings the bytes, from a file, an
//! HTTP range or a page upload, and brings more when [`Progress::Need`] asks for them.

pub mod gguf;
pub mod hf_config;
pub mod safetensors;

/// Is the header read, or are more bytes of the file needed?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<T> {
    /// It is read.
    Done(T),
    /// Call again with at least the first so many bytes of the file; always more than were given, and
    /// never more than the header takes.
    Need(u64),
}
