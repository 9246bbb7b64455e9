//! Model files made for tests.
#![allow(unreachable_pub, reason = "tests share it")]

fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

/// The GGUF header of a Llama of 70B with a vocabulary of this many tokens, every matrix in Q4_K.
pub fn gguf(tokens: u32) -> Vec<u8> {
    let numbers: &[(&str, u32)] = &[
        ("llama.block_count", 80),
        ("llama.embedding_length", 8192),
        ("llama.feed_forward_length", 28672),
        ("llama.attention.head_count", 64),
        ("llama.attention.head_count_kv", 8),
        ("llama.context_length", 131_072),
        ("general.file_type", 15),
    ];
    let tensors = tensors(tokens);
    let mut bytes = b"GGUF\x03\0\0\0".to_vec();
    bytes.extend((tensors.len() as u64).to_le_bytes());
    bytes.extend((numbers.len() as u64 + 2).to_le_bytes());
    text(&mut bytes, "general.architecture");
    bytes.extend(8u32.to_le_bytes());
    text(&mut bytes, "llama");
    for (key, value) in numbers {
        text(&mut bytes, key);
        bytes.extend(4u32.to_le_bytes());
        bytes.extend(value.to_le_bytes());
    }
    text(&mut bytes, "tokenizer.ggml.tokens");
    bytes.extend(9u32.to_le_bytes());
    bytes.extend(8u32.to_le_bytes());
    bytes.extend(u64::from(tokens).to_le_bytes());
    (0..tokens).for_each(|i| text(&mut bytes, &format!("token number {i:09}")));
    let mut offset = 0u64;
    for (name, [columns, rows]) in &tensors {
        text(&mut bytes, name);
        bytes.extend(2u32.to_le_bytes());
        bytes.extend(columns.to_le_bytes());
        bytes.extend(rows.to_le_bytes());
        bytes.extend(12u32.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        offset += columns * rows / 256 * 144;
    }
    bytes
}

fn tensors(tokens: u32) -> Vec<(String, [u64; 2])> {
    let rows = u64::from(tokens);
    let mut tensors = vec![
        ("token_embd.weight".to_owned(), [8192, rows]),
        ("output.weight".to_owned(), [8192, rows]),
        ("output_norm.weight".to_owned(), [8192, 1]),
    ];
    let shapes = [
        ("attn_norm", [8192, 1]),
        ("ffn_norm", [8192, 1]),
        ("attn_q", [8192, 8192]),
        ("attn_k", [8192, 1024]),
        ("attn_v", [8192, 1024]),
        ("attn_output", [8192, 8192]),
        ("ffn_gate", [8192, 28672]),
        ("ffn_up", [8192, 28672]),
        ("ffn_down", [28672, 8192]),
    ];
    for i in 0..80 {
        tensors.extend(shapes.iter().map(|(name, shape)| (format!("blk.{i}.{name}.weight"), *shape)));
    }
    tensors
}
