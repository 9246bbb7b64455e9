//! The hub's client against a local server that speaks the hub's API, in good and in bad ways.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod made;
mod server;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use made::gguf;
use server::{Reply, Server};
use vramplan_io::sources::hub::{Hub, HubError, Remote, Settings};
use vramplan_io::sources::{FileError, Opened, hub};

fn settings(server: &Server) -> Settings {
    Settings {
        endpoint: server.address.clone(),
        patience: Duration::from_millis(800),
        longest_wait: Duration::from_secs(2),
        ..Settings::default()
    }
}

fn open_with(settings: Settings, cache: Option<&Path>) -> Result<Remote, HubError> {
    Hub::new(settings, cache.map(Path::to_owned), &|_, _, _| {}).open("maker/name", None, true)
}

fn open(server: &Server) -> Result<Remote, HubError> {
    open_with(settings(server), None)
}

const LISTING: &str = "/api/models/maker/name/revision/main?blobs=true";

/// Where a file of the repository lies.
fn at(file: &str) -> String {
    format!("/maker/name/resolve/c0ffee/{file}")
}

fn listing(files: &[(&str, usize)]) -> Reply {
    let siblings: Vec<_> =
        files.iter().map(|(name, size)| serde_json::json!({"rfilename": name, "size": size})).collect();
    let body = serde_json::json!({"sha": "c0ffee", "siblings": siblings}).to_string();
    Reply::File(Arc::new(body.into_bytes()))
}

/// Bytes of a whole file of 70B: more than any test sends.
const WHOLE_70B: usize = 50 << 30;

/// The header, and then as much of the data as a server may have sent before it notices.
fn started(header: &[u8]) -> Reply {
    Reply::File(Arc::new([header, &vec![0; 24 << 20]].concat()))
}

/// A repository of one GGUF file.
fn of_gguf(reply: Reply) -> Server {
    Server::start(&[(LISTING, listing(&[("m.gguf", WHOLE_70B)])), (&at("m.gguf"), reply)])
}

#[test]
fn a_gguf_of_70b_takes_three_requests_and_its_header() {
    let header = gguf(128_256);
    assert!(header.len() > 3 << 20, "{}", header.len());
    let file = "big-Q4_K_M.gguf";
    let server = Server::start(&[
        (LISTING, listing(&[(file, WHOLE_70B), ("big-Q8_0.gguf", WHOLE_70B), ("README.md", 10)])),
        (&at(file), Reply::Status(302, vec![("Location", "/storage/blob?signed=1".into())])),
        ("/storage/blob?signed=1", started(&header)),
    ]);
    let remote = open(&server).unwrap();
    assert_eq!(server.requests().len(), 3);
    assert!(remote.fetched <= header.len() as u64 + (64 << 10), "{} of {}", remote.fetched, header.len());
    let Opened::Gguf(model) = remote.opened else { panic!("no GGUF") };
    assert_eq!((model.model.layers.len(), model.quant.as_str()), (80, "Q4_K_M"));
    assert_eq!(remote.file.as_deref(), Some(file));
}

const CONFIG: &str = r#"{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128,
    "vocab_size": 100, "tie_word_embeddings": true, "max_position_embeddings": 2048}"#;

/// A safetensors file of one layer's parameters of the model above, its header padded to this many bytes.
fn shard(layer: Option<u64>, padded: usize) -> Vec<u8> {
    let value: serde_json::Value = serde_json::from_str(CONFIG).unwrap();
    let described = vramplan_core::archs::describe(&value).unwrap();
    let is_here = |name: &str| match layer {
        Some(n) => name.contains(&format!("layers.{n}.")),
        None => !name.contains("layers."),
    };
    let mut table = serde_json::Map::new();
    let mut end = 0;
    for p in described.parameters.iter().filter(|p| is_here(&p.name)) {
        let start = end;
        end += p.elements() * 2;
        let entry = serde_json::json!({"dtype": "BF16", "shape": p.shape, "data_offsets": [start, end]});
        table.insert(p.name.clone(), entry);
    }
    let mut json = serde_json::to_string(&table).unwrap();
    json.push_str(&" ".repeat(padded.saturating_sub(json.len())));
    let data = vec![0; usize::try_from(end).unwrap()];
    [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &data].concat()
}

const SHARDS: [&str; 3] = [
    "model-00001-of-00003.safetensors",
    "model-00002-of-00003.safetensors",
    "model-00003-of-00003.safetensors",
];

/// The replies of a repository in three shards: the listing, the config, the shards.
fn sharded(padded: usize) -> Vec<(String, Reply)> {
    let shards = [shard(None, padded), shard(Some(0), padded), shard(Some(1), padded)];
    let mut files = vec![("config.json", CONFIG.len())];
    files.extend(SHARDS.iter().zip(&shards).map(|(name, bytes)| (*name, bytes.len())));
    let mut replies = vec![
        (LISTING.to_owned(), listing(&files)),
        (at("config.json"), Reply::File(Arc::new(CONFIG.as_bytes().to_vec()))),
    ];
    replies.extend(SHARDS.iter().zip(shards).map(|(name, bytes)| (at(name), Reply::File(Arc::new(bytes)))));
    replies
}

fn start(replies: &[(String, Reply)]) -> Server {
    let borrowed: Vec<_> = replies.iter().map(|(path, reply)| (path.as_str(), reply.clone())).collect();
    Server::start(&borrowed)
}

#[test]
fn safetensors_take_a_request_a_shard_also_around_a_hundred_thousand_bytes() {
    for padded in [0, 99_000, 99_992, 100_000, 100_008, 101_000, 3 << 20] {
        let server = start(&sharded(padded));
        let remote = open(&server).unwrap();
        assert_eq!(server.requests().len(), 2 + SHARDS.len(), "{padded}");
        let Opened::Config(model) = remote.opened else { panic!("no config") };
        assert_eq!(model.stored.unwrap().values, model.described.counts().built);
    }
}

#[test]
fn mirrors_that_ignore_ranges_are_read_no_further_either() {
    let header = gguf(1000);
    let server = of_gguf(Reply::Whole(Arc::new([&header[..], &vec![0; 8 << 20]].concat())));
    assert!(open(&server).unwrap().fetched <= header.len() as u64 + (64 << 10));
}

/// A repository whose first shard starts with this length.
fn with_header_of(length: u64) -> Server {
    let mut replies = sharded(0);
    let bytes = [&length.to_le_bytes()[..], &vec![b'{'; 1 << 20]].concat();
    replies[2].1 = Reply::File(Arc::new(bytes));
    start(&replies)
}

#[test]
fn a_header_of_100_mb_is_refused() {
    let error = open(&with_header_of(60_000_000)).unwrap_err();
    assert!(matches!(&error, HubError::HeaderTooLong { file, .. } if file == SHARDS[0]), "{error:?}");
    let limit = open(&with_header_of(100_000_000)).unwrap_err();
    assert!(matches!(limit, HubError::HeaderTooLong { .. }), "{limit:?}");
    for length in [100_000_001, u64::MAX] {
        let error = open(&with_header_of(length)).unwrap_err();
        assert!(matches!(error, HubError::File(FileError::Safetensors { .. })), "{error:?}");
    }
}

#[test]
fn a_connection_that_ends_early_is_one_clear_error_and_leaves_nothing() {
    let header = gguf(1000);
    for after in [0, 1, 24, 5000, header.len() - 1] {
        let error = open(&of_gguf(Reply::Cut(Arc::new(header.clone()), after))).unwrap_err();
        assert!(
            matches!(&error, HubError::Interrupted { file, .. } if file == "m.gguf"),
            "{after}: {error:?}"
        );
    }
    let cache = tempfile::tempdir().unwrap();
    for n in 0..sharded(0).len() {
        let mut replies = sharded(0);
        let Reply::File(bytes) = replies[n].1.clone() else { panic!() };
        replies[n].1 = Reply::Cut(bytes, 9);
        let error = open_with(settings(&start(&replies)), Some(cache.path())).unwrap_err();
        assert!(matches!(error, HubError::Interrupted { .. }), "{error:?}");
        assert_eq!(std::fs::read_dir(cache.path()).unwrap().count(), 0, "{n}");
    }
}

#[test]
fn a_server_that_lies_is_found_out() {
    let header = gguf(1000);
    let short =
        Server::start(&[(LISTING, listing(&[("m.gguf", header.len())])), (&at("m.gguf"), started(&header))]);
    assert!(matches!(open(&short), Err(HubError::File(FileError::DataMissing { .. }))));
    let page = Reply::File(Arc::new(b"<html>log in</html>".to_vec()));
    assert!(matches!(open(&Server::start(&[(LISTING, page.clone())])), Err(HubError::BadAnswer(_))));
    assert_eq!(open(&of_gguf(page)).unwrap_err(), HubError::File(FileError::NotGguf));
    let mut replies = sharded(0);
    replies[1].1 = Reply::File(Arc::new(b"[1, 2]".to_vec()));
    assert!(matches!(open(&start(&replies)), Err(HubError::File(_))));
    let elsewhere = [("../../etc/passwd.gguf", 9), ("/abs.gguf", 9)];
    assert_eq!(open(&Server::start(&[(LISTING, listing(&elsewhere))])).unwrap_err(), HubError::NoModel);
}

#[test]
fn redirects_in_a_circle_end() {
    let circle = Server::start(&[(LISTING, Reply::Status(302, vec![("Location", LISTING.into())]))]);
    assert!(matches!(open(&circle), Err(HubError::BadAnswer(_))));
    assert!(circle.requests().len() <= 6);
}

#[test]
fn refusals_are_told_apart() {
    let status = |status, extra: Vec<(&'static str, String)>| {
        open(&Server::start(&[(LISTING, Reply::Status(status, extra))])).unwrap_err()
    };
    assert_eq!(status(404, vec![]), HubError::NotFound);
    assert_eq!(status(401, vec![("X-Error-Code", "RepoNotFound".into())]), HubError::NotFound);
    assert_eq!(status(401, vec![]), HubError::Gated { with_token: false });
    let gated = vec![("X-Error-Code", "GatedRepo".into())];
    assert_eq!(status(403, gated), HubError::Gated { with_token: false });
    assert_eq!(status(500, vec![]), HubError::Status(500));
    let limited = HubError::RateLimited { retry_after: Some(Duration::from_secs(300)) };
    assert_eq!(status(429, vec![("Retry-After", "300".into())]), limited);
    assert_eq!(status(429, vec![]), HubError::RateLimited { retry_after: None });
    let file = of_gguf(Reply::Status(403, vec![]));
    let with_token = Settings { token: Some("secret".into()), ..settings(&file) };
    assert_eq!(open_with(with_token, None).unwrap_err(), HubError::Gated { with_token: true });
}

#[test]
fn a_short_rate_limit_is_waited_for() {
    let server = Server::start(&[
        (LISTING, Reply::Status(429, vec![("Retry-After", "1".into())])),
        (LISTING, listing(&[("m.gguf", WHOLE_70B)])),
        (&at("m.gguf"), started(&gguf(100))),
    ]);
    open(&server).unwrap();
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for() {
    assert_eq!(open(&Server::start(&[(LISTING, Reply::Silence)])).unwrap_err(), HubError::Timeout);
    let nobody = Settings { endpoint: "http://127.0.0.1:9".into(), ..Settings::default() };
    assert!(matches!(open_with(nobody, None), Err(HubError::Unreachable(_))));
}

#[test]
fn the_token_goes_to_the_hub_and_nowhere_else() {
    let storage = Server::start(&[("/blob", started(&gguf(100)))]);
    let hub = of_gguf(Reply::Status(302, vec![("Location", format!("{}/blob", storage.address))]));
    open_with(Settings { token: Some("secret".into()), ..settings(&hub) }, None).unwrap();
    for n in 0..2 {
        assert_eq!(hub.headers(n).get("authorization").map(String::as_str), Some("Bearer secret"));
    }
    assert_eq!(storage.headers(0).get("authorization"), None);
    assert!(storage.headers(0)["range"].starts_with("bytes=0-"));
}

#[test]
fn what_was_fetched_is_read_from_the_cache_the_next_time() {
    let cache = tempfile::tempdir().unwrap();
    open_with(settings(&start(&sharded(0))), Some(cache.path())).unwrap();
    let folder = hub::cached(cache.path(), "maker/name").unwrap();
    assert!(folder.ends_with("models--maker--name/snapshots/c0ffee"));
    let Ok(Opened::Config(model)) = vramplan_io::sources::open(&folder) else { panic!("not read") };
    assert_eq!((model.name.as_str(), model.stored.is_none()), ("name", true));
    assert_eq!(std::fs::read_to_string(folder.join("config.json")).unwrap(), CONFIG);
}
