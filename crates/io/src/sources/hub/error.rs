//! Why a repository on the hub leads to no model.

use std::time::Duration;

use crate::sources::error::FileError;

/// Why can a repository not be read?
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HubError {
    /// The name is none that a repository can have.
    #[error("no name of a repository")]
    BadName,
    /// It is not on this disk, and nothing may be fetched.
    #[error("not on this disk, and offline")]
    Offline,
    /// There is no such repository, or it is private.
    #[error("no such repository")]
    NotFound,
    /// Its makers want their licence accepted, or a token is needed.
    #[error("the hub wants a token, or a licence accepted")]
    Gated {
        /// A token was sent.
        with_token: bool,
    },
    /// Too many requests.
    #[error("too many requests")]
    RateLimited {
        /// When to try again, where the hub says.
        retry_after: Option<Duration>,
    },
    /// The hub could not be reached.
    #[error("{0}")]
    Unreachable(String),
    /// It did not answer in time.
    #[error("no answer in time")]
    Timeout,
    /// It answered with an error.
    #[error("status {0}")]
    Status(u16),
    /// The connection ended before the file did.
    #[error("the connection ended after {received} bytes of {file}")]
    Interrupted {
        /// The file.
        file: String,
        /// Bytes that came.
        received: u64,
    },
    /// Its answer is not what the hub answers.
    #[error("an answer that makes no sense: {0}")]
    BadAnswer(String),
    /// A header longer than any model's.
    #[error("{file}: a header of more than {most} bytes")]
    HeaderTooLong {
        /// The file.
        file: String,
        /// The longest read.
        most: u64,
    },
    /// It holds several models, and none was chosen.
    #[error("several models: {}", .candidates.join(", "))]
    Several {
        /// The files.
        candidates: Vec<String>,
    },
    /// It holds no file of this quantisation.
    #[error("no file of this quantisation")]
    NoSuchQuant {
        /// The quantisations that there are.
        quants: Vec<String>,
    },
    /// It holds nothing that can be read.
    #[error("neither a config.json nor a GGUF file")]
    NoModel,
    /// It is a pipeline of several models (diffusion).
    #[error("a pipeline of several models")]
    Pipeline,
    /// What it holds is broken, or not understood.
    #[error(transparent)]
    File(#[from] FileError),
}
