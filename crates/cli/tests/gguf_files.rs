//! Model files as people have them, whole and broken, against the real program.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Writes GGUF headers; the data section is a hole.
#[derive(Clone)]
struct Gguf {
    version: u32,
    keys: Vec<(String, Vec<u8>)>,
    tensors: Vec<(String, Vec<u64>, u32)>,
}

fn text(s: &str) -> Vec<u8> {
    [&(s.len() as u64).to_le_bytes()[..], s.as_bytes()].concat()
}

impl Gguf {
    /// A model of two layers that plans.
    fn small() -> Self {
        Self::of("llama")
    }

    /// The same layers under another architecture's key.
    fn of(arch: &str) -> Self {
        let mut gguf = Self { version: 3, keys: Vec::new(), tensors: Vec::new() }
            .string("general.architecture", arch)
            .uint(&format!("{arch}.block_count"), 2)
            .uint(&format!("{arch}.embedding_length"), 64)
            .uint(&format!("{arch}.context_length"), 4096)
            .uint(&format!("{arch}.feed_forward_length"), 128)
            .uint(&format!("{arch}.attention.head_count"), 4)
            .uint(&format!("{arch}.attention.head_count_kv"), 2)
            .tensor("token_embd.weight", &[64, 100], 0);
        for i in 0..2 {
            for (part, shape) in [("attn_q", [64, 64]), ("ffn_up", [64, 128]), ("ffn_down", [128, 64])] {
                gguf = gguf.tensor(&format!("blk.{i}.{part}.weight"), &shape, 0);
            }
        }
        gguf
    }

    fn key(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        let bytes = [&kind.to_le_bytes()[..], value].concat();
        self.keys.retain(|(k, _)| k != key);
        self.keys.push((key.into(), bytes));
        self
    }

    fn uint(self, key: &str, n: u32) -> Self {
        self.key(key, 4, &n.to_le_bytes())
    }

    fn int(self, key: &str, n: i32) -> Self {
        self.key(key, 5, &n.to_le_bytes())
    }

    fn float(self, key: &str, n: f32) -> Self {
        self.key(key, 6, &n.to_le_bytes())
    }

    fn string(self, key: &str, s: &str) -> Self {
        self.key(key, 8, &text(s))
    }

    fn uints(self, key: &str, list: &[u32]) -> Self {
        let items = list.iter().flat_map(|n| n.to_le_bytes());
        let head = 4_u32.to_le_bytes().into_iter().chain((list.len() as u64).to_le_bytes());
        let bytes: Vec<u8> = head.chain(items).collect();
        self.key(key, 9, &bytes)
    }

    fn without(mut self, key: &str) -> Self {
        self.keys.retain(|(k, _)| k != key);
        self
    }

    fn tensor(mut self, name: &str, shape: &[u64], kind: u32) -> Self {
        self.tensors.push((name.into(), shape.to_vec(), kind));
        self
    }

    fn header(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(self.version.to_le_bytes());
        bytes.extend((self.tensors.len() as u64).to_le_bytes());
        bytes.extend((self.keys.len() as u64).to_le_bytes());
        for (key, value) in &self.keys {
            bytes.extend(text(key));
            bytes.extend(value);
        }
        for (i, (name, shape, kind)) in self.tensors.iter().enumerate() {
            bytes.extend(text(name));
            bytes.extend((shape.len() as u32).to_le_bytes());
            shape.iter().for_each(|n| bytes.extend(n.to_le_bytes()));
            bytes.extend(kind.to_le_bytes());
            bytes.extend((i as u64 * DATA_STEP).to_le_bytes());
        }
        bytes
    }

    /// Writes the file at full size.
    fn write(&self, path: &Path) {
        fs::write(path, self.header()).unwrap();
        let file = fs::OpenOptions::new().append(true).open(path).unwrap();
        file.set_len(1 << 24).unwrap();
    }
}

/// Room for each tensor in the data section.
const DATA_STEP: u64 = 1 << 16;

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Plans a file of this folder, named as a person in it would.
    fn plan(&self, name: &str) -> Output {
        let args = ["plan", name, "--on", "rtx-4090"];
        Command::new(env!("CARGO_BIN_EXE_vram")).args(args).current_dir(self.dir.path()).output().unwrap()
    }

    /// The one error about a file: exit code 2, nothing printed, and these words in it.
    fn refused(&self, name: &str, words: &[&str]) {
        let output = self.plan(name);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(output.stdout.is_empty());
        assert!(error.starts_with(&format!("error: {name}")), "{error}");
        for word in words {
            assert!(error.contains(word), "{word:?} is not in {error}");
        }
    }

    fn refused_gguf(&self, gguf: &Gguf, words: &[&str]) {
        gguf.write(&self.path("m.gguf"));
        self.refused("m.gguf", words);
    }

    fn refused_bytes(&self, bytes: &[u8], words: &[&str]) {
        fs::write(self.path("m.gguf"), bytes).unwrap();
        self.refused("m.gguf", words);
    }
}

#[test]
fn a_whole_file_plans() {
    let place = Place::new();
    Gguf::small().write(&place.path("m.gguf"));
    let output = place.plan("m.gguf");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8(output.stdout).unwrap().contains("llama-server -m m.gguf"));
}

#[test]
fn files_that_are_no_models() {
    let place = Place::new();
    place.refused_bytes(b"", &["is empty"]);
    place.refused_bytes(b"PK\x03\x04 a zip file", &["no model file"]);
    fs::create_dir(place.path("folder.gguf")).unwrap();
    place.refused("folder.gguf", &["is a folder without a model"]);
    let missing = place.plan("gone.gguf");
    assert!(String::from_utf8(missing.stderr).unwrap().contains("there is no file gone.gguf"));
    assert_eq!(missing.status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn pipes_and_loops_hold_nobody_up() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let made = Command::new("mkfifo").arg(place.path("pipe.gguf")).status().unwrap();
    assert!(made.success());
    place.refused("pipe.gguf", &["no regular file"]);
    symlink("b.gguf", place.path("a.gguf")).unwrap();
    symlink("a.gguf", place.path("b.gguf")).unwrap();
    place.refused("a.gguf", &["cannot be read"]);
}

#[test]
fn every_truncation_is_said_to_be_one() {
    let place = Place::new();
    let header = Gguf::small().header();
    for length in (4..header.len()).step_by(7) {
        place.refused_bytes(&header[..length], &["ends too early", "fetch it again"]);
    }
    // The whole header, and no data.
    place.refused_bytes(&header, &["ends too early", "the header of m.gguf promises"]);
    let cut_in_table = &header[..header.len() - 4];
    place.refused_bytes(cut_in_table, &["promises 7 tensors, the file stops inside the 7th"]);
}

#[test]
fn absurd_headers() {
    let place = Place::new();
    let with_counts = |tensors: u64, keys: u64| {
        [&b"GGUF\x03\0\0\0"[..], &tensors.to_le_bytes(), &keys.to_le_bytes(), &[0; 64]].concat()
    };
    place.refused_bytes(&with_counts(1 << 62, 1), &["is broken", "tensors"]);
    place.refused_bytes(&with_counts(1, 1 << 62), &["is broken", "metadata keys"]);
    let long_key = [&b"GGUF\x03\0\0\0"[..], &1_u64.to_le_bytes(), &1_u64.to_le_bytes(), &[255; 64]].concat();
    place.refused_bytes(&long_key, &["is broken"]);
    place.refused_gguf(&Gguf { version: 1, ..Gguf::small() }, &["version 1"]);
    place.refused_gguf(&Gguf { version: 77, ..Gguf::small() }, &["unknown GGUF version 77"]);
    let mut twice = Gguf::small();
    twice.keys.push(twice.keys[1].clone());
    place.refused_gguf(&twice, &["is broken"]);
    place.refused_gguf(&Gguf::small().tensor("token_embd.weight", &[64, 100], 0), &["is broken"]);
    place.refused_gguf(&Gguf::small().tensor("x", &[64, 0], 0), &["is broken"]);
    place.refused_gguf(&Gguf::small().tensor("x", &[1 << 40, 1 << 40], 0), &["is broken"]);
    place.refused_gguf(&Gguf::small().tensor("x", &[64, 1], 999), &["is broken", "999"]);
    place.refused_gguf(&Gguf::small().tensor("x", &[100, 1], 12), &["is broken"]);
    // An array of arrays.
    let nested = [9_u32.to_le_bytes().as_slice(), &1_u64.to_le_bytes()].concat();
    place.refused_gguf(&Gguf::small().key("x", 9, &nested), &["is broken"]);
}

#[test]
fn metadata_that_describe_no_model() {
    let place = Place::new();
    let small = Gguf::small;
    place.refused_gguf(&small().uint("llama.block_count", 0), &["block_count", "out of range"]);
    place.refused_gguf(&small().uint("llama.block_count", 1 << 30), &["block_count", "out of range"]);
    place.refused_gguf(&small().int("llama.block_count", -3), &["block_count", "whole number"]);
    place.refused_gguf(&small().uint("llama.block_count", 3), &["layer 2 has no tensors"]);
    place.refused_gguf(&small().without("llama.block_count"), &["block_count", "missing"]);
    place.refused_gguf(&small().without("llama.embedding_length"), &["embedding_length", "missing"]);
    place.refused_gguf(&small().float("llama.embedding_length", f32::NAN), &["embedding_length"]);
    place.refused_gguf(&small().string("llama.attention.head_count", "four"), &["head_count"]);
    place.refused_gguf(&small().uint("llama.attention.head_count", 0), &["do not divide"]);
    place.refused_gguf(&small().int("llama.attention.head_count", -4), &["head_count"]);
    place.refused_gguf(&small().uint("llama.attention.head_count_kv", 3), &["do not divide"]);
    place.refused_gguf(&small().uints("llama.attention.head_count_kv", &[2]), &["1 entries for 2 layers"]);
    place.refused_gguf(&small().without("general.architecture"), &["does not say which architecture"]);
}

#[test]
fn an_unknown_architecture_still_has_weights() {
    let place = Place::new();
    let unknown = Gguf::small().string("general.architecture", "brandnew");
    place.refused_gguf(&unknown, &["not understood: brandnew", "7 tensors take", "cannot be told"]);
}

/// An encoder is understood, and shown; what an engine keeps for it is not known yet.
#[test]
fn an_encoder_is_shown_and_not_planned() {
    let place = Place::new();
    place.refused_gguf(&Gguf::of("bert"), &["cannot be planned yet", "vram models show"]);
}

#[test]
fn split_models_need_all_their_parts() {
    let place = Place::new();
    let part = |n: u32| Gguf::small().uint("split.count", 3).uint("split.no", n);
    part(0).write(&place.path("m-00001-of-00003.gguf"));
    place.refused("m-00001-of-00003.gguf", &["m-00002-of-00003.gguf is missing"]);
    for n in 1..3 {
        let mut rest = Gguf { tensors: Vec::new(), ..part(n) };
        rest = rest.tensor(&format!("blk.{}.attn_k.weight", n - 1), &[64, 32], 0);
        rest.write(&place.path(&format!("m-{:05}-of-00003.gguf", n + 1)));
    }
    place.refused("m-00002-of-00003.gguf", &["not the first part", "2nd of 3 parts"]);
    let output = place.plan("m-00001-of-00003.gguf");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_file_keeps_its_own_formats() {
    let place = Place::new();
    Gguf::small().write(&place.path("m.gguf"));
    let args = ["plan", "m.gguf", "--on", "rtx-4090", "--quant", "Q8_0"];
    let output =
        Command::new(env!("CARGO_BIN_EXE_vram")).args(args).current_dir(place.dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("formats of its own"));
}
