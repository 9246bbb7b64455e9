// What each fuzz target does with any bytes: no panic, no unbounded memory, and what must hold holds.
// Shared by the fuzz crate and by the test that replays the saved corpus.

use vramplan_core::answer::{Request, answer};
use vramplan_core::archs::{describe, model_of_gguf, stored};
use vramplan_core::catalogue::hardware::{Around, HardwareSpec, named_machine};
use vramplan_core::catalogue::{find_model, normalise};
use vramplan_core::dtype::Format;
use vramplan_core::engines::WeightsSource;
use vramplan_core::formats::Progress;
use vramplan_core::formats::gguf::{MAX_HEADER_BYTES, parse, parse_whole};
use vramplan_core::formats::{hf_config, safetensors};
use vramplan_core::quants::Recipe;
use vramplan_core::{quantity, units};

/// A GGUF header: a need makes progress, a header's parts lie in order.
pub(crate) fn gguf_header(bytes: &[u8]) {
    match parse(bytes) {
        Ok(Progress::Done(header)) => {
            assert!(header.file_bytes() >= header.header_bytes);
            assert!(header.data_offset >= header.header_bytes);
        }
        Ok(Progress::Need(need)) => {
            assert!(need > bytes.len() as u64 && need <= MAX_HEADER_BYTES);
            assert!(parse_whole(bytes).is_err());
        }
        Err(error) => assert_eq!(parse_whole(bytes), Err(error)),
    }
}

/// A GGUF header all the way to a plan.
pub(crate) fn gguf_plan(bytes: &[u8]) {
    let Ok(header) = parse_whole(bytes) else { return };
    let Ok(model) = model_of_gguf(&header, "fuzz") else { return };
    let specs = [HardwareSpec::parse("2x:rtx-3090")];
    let Ok(named) = named_machine(&specs, &Around::default()) else { return };
    let request = Request {
        context: Some(units::Tokens(4096)),
        allow_long_context: true,
        sequences: Some(2),
        ..Request::open(&model, "", &named.machine, WeightsSource::File("fuzz.gguf"))
    };
    if let Ok(answer) = answer(&request) {
        assert!(answer.memories.iter().all(|m| m.need.low <= m.need.high));
    }
}

/// A safetensors header: a need makes progress, and what is read can be held against a config.
pub(crate) fn safetensors_header(bytes: &[u8]) {
    match safetensors::parse(bytes) {
        Ok(Progress::Done(header)) => {
            assert!(header.file_bytes() >= header.data_offset);
            let Ok(described) = describe(&serde_json::json!({
                "model_type": "llama", "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1,
                "intermediate_size": 8, "vocab_size": 8
            })) else {
                return;
            };
            let _ = stored(&described, &header.tensors);
        }
        Ok(Progress::Need(need)) => {
            assert!(need > bytes.len() as u64 && need <= 8 + safetensors::MAX_HEADER_BYTES);
            assert!(safetensors::parse_whole(bytes).is_err());
        }
        Err(_) => assert!(safetensors::parse_whole(bytes).is_err()),
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = safetensors::parse_index(text);
    }
}

/// A config.json all the way to counted parameters: every part is within the whole.
pub(crate) fn hf_config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(value) = hf_config::parse(text) else { return };
    let Ok(described) = describe(&value) else { return };
    let counts = described.counts();
    assert!(counts.active <= counts.built);
    assert!(counts.by_part.values().all(|part| *part <= counts.built));
    for i in 0..described.facts.layers {
        let _ = described.facts.layer(i);
    }
}

/// What people type: quantities, formats, mixes, names of models and hardware.
pub(crate) fn values(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(tokens) = quantity::tokens(text) {
        assert!(tokens.0 > 0);
    }
    let _ = quantity::bytes(text);
    if let Ok(format) = text.parse::<Format>() {
        assert!(format.name().eq_ignore_ascii_case(text));
    }
    let _ = text.parse::<Recipe>();
    let key = normalise(text);
    assert_eq!(normalise(&key), key);
    let _ = find_model(text);
    let spec = HardwareSpec::parse(text);
    if spec.count < 64 {
        let _ = named_machine(&[spec], &Around::default());
    }
}
