//! Models on the hub, known by the headers of their files: weights are never fetched.
//!
//! One request lists a repository; then the start of a GGUF file, or config.json and the start of every
//! safetensors file, are read as far as their headers go.

mod cache;
mod client;
mod error;
mod files;
mod header;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use serde_json::Value;
use vramplan_core::formats::gguf::{self, GgufError, Header};
use vramplan_core::formats::safetensors::{self, MAX_TENSORS, SafetensorsError, TensorInfo};

use super::error::FileError;
use super::safetensors::too_many;
use super::{Opened, config, gguf as gguf_file, split};
use cache::Repository;
use client::Client;
pub use client::Settings;
pub use error::HubError;
use files::{Choice, RemoteFile, choose};
use header::{Fetched, Parser};

/// Longest header of a safetensors file that is fetched: half a million tensors in one file have less.
const MAX_SAFETENSORS_HEADER: u64 = 32 << 20;

/// Files whose headers are fetched at once: each may cost the memory of the longest header.
const AT_ONCE: usize = 4;

type FetchedHeader = Fetched<safetensors::Header>;

const GGUF: Parser<Header, GgufError> = Parser {
    parse: gguf::parse,
    most: gguf::MAX_HEADER_BYTES,
    broken: |_, error| match error {
        GgufError::NotGguf => FileError::NotGguf,
        other => FileError::Gguf(other),
    },
};

const SAFETENSORS: Parser<safetensors::Header, SafetensorsError> = Parser {
    parse: safetensors::parse,
    most: MAX_SAFETENSORS_HEADER,
    broken: |file, error| FileError::Safetensors { file: file.into(), error },
};

/// The hub, and what is kept of it on this disk.
pub struct Hub<'a> {
    client: Client,
    cache: Option<PathBuf>,
    /// Told before every file is read: its name, its number and how many there are.
    progress: &'a dyn Fn(&str, usize, usize),
}

/// A model of the hub, read.
#[derive(Clone, Debug)]
pub struct Remote {
    /// The model.
    pub opened: Opened,
    /// The file in the repository, for a GGUF.
    pub file: Option<String>,
    /// Bytes that were fetched.
    pub fetched: u64,
}

/// The name of a repository, and the quantisation behind a colon: `maker/name:Q4_K_M`.
///
/// # Errors
/// It is no name that a repository can have.
pub fn split_id(text: &str) -> Result<(&str, Option<&str>), HubError> {
    let (id, tag) = text.split_once(':').map_or((text, None), |(id, tag)| (id, Some(tag)));
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_part = |word: &str| {
        let in_length = (1..=96).contains(&word.len());
        in_length && word.chars().all(plain) && !word.starts_with('.') && !word.contains("..")
    };
    match id.split_once('/') {
        Some((maker, name)) if is_part(maker) && is_part(name) && tag != Some("") => Ok((id, tag)),
        _ => Err(HubError::BadName),
    }
}

/// The folder of a repository's files on this disk, if it was fetched before.
pub fn cached(cache: &Path, id: &str) -> Option<PathBuf> {
    Repository::new(cache, id).snapshot()
}

impl<'a> Hub<'a> {
    /// The hub by these settings; small files are kept in `cache`.
    pub fn new(settings: Settings, cache: Option<PathBuf>, progress: &'a dyn Fn(&str, usize, usize)) -> Self {
        Self { client: Client::new(settings), cache, progress }
    }

    /// Reads the model `id`; of several GGUF files the one of the quantisation `tag`. The headers of
    /// safetensors files, which may be two hundred, are read if `weights` are wanted.
    ///
    /// # Errors
    /// The hub cannot be reached or refuses; or what it holds is no model, or several, or broken.
    pub fn open(&self, id: &str, tag: Option<&str>, weights: bool) -> Result<Remote, HubError> {
        (self.progress)(id, 0, 1);
        let listing =
            Listing::parse(self.client.get(&format!("/api/models/{id}/revision/main?blobs=true"), None)?)?;
        let at = Place { id, commit: &listing.commit };
        match choose(&listing.files, tag)? {
            Choice::Gguf(parts) => self.gguf(&at, &parts),
            Choice::Config(files) => self.config(&at, if weights { &files } else { &[] }),
        }
    }

    fn gguf(&self, at: &Place<'_>, parts: &[RemoteFile]) -> Result<Remote, HubError> {
        let mut whole: Option<Header> = None;
        let mut fetched = 0;
        for (number, part) in parts.iter().enumerate() {
            (self.progress)(&part.name, number + 1, parts.len());
            let answer = self.client.get(&at.path(&part.name), Some(GGUF.most))?;
            let read = header::read(answer, &part.name, &GGUF)?;
            fetched += read.bytes;
            holds(part, read.header.file_bytes())?;
            match &mut whole {
                None => whole = Some(read.header),
                Some(header) => split::append(header, read.header),
            }
        }
        let (header, first) = whole.zip(parts.first()).ok_or(HubError::NoModel)?;
        let stem = first.name.rsplit('/').next().unwrap_or_default().trim_end_matches(".gguf");
        let model = gguf_file::of_header(&header, stem)?;
        Ok(Remote { opened: Opened::Gguf(Box::new(model)), file: Some(first.name.clone()), fetched })
    }

    fn config(&self, at: &Place<'_>, weights: &[RemoteFile]) -> Result<Remote, HubError> {
        const CONFIG: &str = "config.json";
        (self.progress)(CONFIG, 0, weights.len());
        let answer = self.client.get(&at.path(CONFIG), None)?;
        let tag = tag_of(answer.header("x-linked-etag").or(answer.header("etag")));
        let bytes = answer.bytes()?;
        let mut fetched = bytes.len() as u64;
        let mut tensors: Vec<TensorInfo> = Vec::new();
        for read in self.headers(at, weights)? {
            fetched += read.bytes;
            tensors.extend(read.header.tensors);
        }
        let name = at.id.rsplit('/').next().unwrap_or(at.id);
        let stored = (!weights.is_empty()).then_some(tensors);
        let model = config::of_bytes(name, &bytes, stored)?;
        // Only what made sense is kept.
        if let (Some(cache), Some(tag)) = (&self.cache, tag) {
            drop(Repository::new(cache, at.id).keep(at.commit, CONFIG, &tag, &bytes));
        }
        Ok(Remote { opened: Opened::Config(Box::new(model)), file: None, fetched })
    }

    /// The headers of these files, in their order. A model may have two hundred, and most of the time of
    /// each goes by waiting: some are under way at once.
    fn headers(&self, at: &Place<'_>, files: &[RemoteFile]) -> Result<Vec<FetchedHeader>, HubError> {
        let next = AtomicUsize::new(0);
        let client = &self.client;
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(files.len()) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some((number, file)) = take(next, files) {
                        let read = header_of(client, at, file);
                        let failed = read.is_err();
                        // After an error nobody starts another, nor when nobody waits for this one.
                        if sender.send((number, read)).is_err() || failed {
                            next.store(files.len(), Ordering::Relaxed);
                        }
                    }
                });
            }
            drop(sender);
            self.in_order(files, &receiver)
        })
    }

    /// Gathers headers as they come.
    fn in_order(
        &self,
        files: &[RemoteFile],
        receiver: &mpsc::Receiver<(usize, Result<FetchedHeader, HubError>)>,
    ) -> Result<Vec<FetchedHeader>, HubError> {
        let mut headers = BTreeMap::new();
        let mut tensors = 0;
        for (number, read) in receiver {
            let Some(file) = files.get(number) else { continue };
            (self.progress)(&file.name, headers.len() + 1, files.len());
            let read = read?;
            tensors += read.header.tensors.len();
            if tensors > MAX_TENSORS {
                return Err(too_many(file.name.clone()).into());
            }
            headers.insert(number, read);
        }
        Ok(headers.into_values().collect())
    }
}

/// The next file that nobody has taken.
fn take<'f>(next: &AtomicUsize, files: &'f [RemoteFile]) -> Option<(usize, &'f RemoteFile)> {
    let number = next.fetch_add(1, Ordering::Relaxed);
    files.get(number).map(|file| (number, file))
}

fn header_of(client: &Client, at: &Place<'_>, file: &RemoteFile) -> Result<FetchedHeader, HubError> {
    let answer = client.get(&at.path(&file.name), Some(MAX_SAFETENSORS_HEADER))?;
    let read = header::read(answer, &file.name, &SAFETENSORS)?;
    holds(file, read.header.file_bytes())?;
    Ok(read)
}

/// A repository at a commit.
struct Place<'a> {
    id: &'a str,
    commit: &'a str,
}

impl Place<'_> {
    fn path(&self, file: &str) -> String {
        let file = file.replace('%', "%25").replace(' ', "%20").replace('#', "%23").replace('?', "%3F");
        format!("/{}/resolve/{}/{file}", self.id, self.commit)
    }
}

/// The files of a repository.
struct Listing {
    commit: String,
    files: Vec<RemoteFile>,
}

impl Listing {
    fn parse(answer: client::Answer) -> Result<Self, HubError> {
        let bytes = answer.bytes()?;
        let bad = |what: &str| HubError::BadAnswer(what.into());
        let listing: Value =
            serde_json::from_slice(&bytes).map_err(|_| bad("no JSON where files are listed"))?;
        let siblings = listing["siblings"].as_array().ok_or_else(|| bad("no list of files"))?;
        let file = |entry: &Value| {
            let name = entry["rfilename"].as_str().filter(|name| is_inside(name))?.to_owned();
            Some(RemoteFile { name, size: entry["size"].as_u64() })
        };
        let commit = listing["sha"].as_str().filter(|sha| sha.chars().all(|c| c.is_ascii_alphanumeric()));
        Ok(Self {
            commit: commit.unwrap_or("main").to_owned(),
            files: siblings.iter().filter_map(file).collect(),
        })
    }
}

/// A path that stays in its repository.
fn is_inside(name: &str) -> bool {
    !name.starts_with('/')
        && !name.contains('\\')
        && name.split('/').all(|word| word != ".." && !word.is_empty())
}

/// Whether a file is as long as its header promises.
fn holds(file: &RemoteFile, promised: u64) -> Result<(), HubError> {
    match file.size.filter(|size| promised > *size) {
        Some(found) => Err(FileError::DataMissing { file: file.name.clone(), promised, found }.into()),
        None => Ok(()),
    }
}

/// The tag that a cache files a blob under.
fn tag_of(stated: Option<&str>) -> Option<String> {
    stated.map(|tag| tag.trim_start_matches("W/").trim_matches('"').to_owned()).filter(|tag| !tag.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_repositories_are_a_maker_and_a_name() {
        assert_eq!(split_id("Qwen/Qwen3-8B").unwrap(), ("Qwen/Qwen3-8B", None));
        assert_eq!(split_id("a/b-GGUF:Q4_K_M").unwrap(), ("a/b-GGUF", Some("Q4_K_M")));
        for name in ["a", "a/b/c", "/b", "a/", "../b", "a/..", "a/b:", "a/b c", "a/.b", "a/b?x"] {
            assert_eq!(split_id(name), Err(HubError::BadName), "{name}");
        }
    }
}
