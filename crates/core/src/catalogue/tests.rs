//! What the committed data must answer.

use alloc::string::String;
use alloc::vec::Vec;

use super::*;
use crate::units::{Bytes, BytesPerSecond};

fn device(name: &str) -> String {
    match find_device(name) {
        Lookup::One(row) => row.id,
        other => panic!("{name}: {:?}", other.into_rows().iter().map(|r| &r.id).collect::<Vec<_>>()),
    }
}

fn devices_called(name: &str) -> Vec<String> {
    match find_device(name) {
        Lookup::Several(rows) => rows.into_iter().map(|r| r.id).collect(),
        Lookup::One(row) => panic!("{name} is only {}", row.id),
        Lookup::None => panic!("no {name}"),
    }
}

fn model(name: &str) -> String {
    find_model(name).one().unwrap_or_else(|| panic!("no {name}")).name
}

fn driver_mib(id: &str) -> u64 {
    driver_memory(&find_device(id).one().unwrap()).unwrap().bytes.0 >> 20
}

#[test]
fn every_row_can_be_read() {
    assert_eq!(devices().count(), generated::DEVICES.count());
    assert_eq!(models().count(), generated::MODELS.count());
    assert_eq!(memory_systems().count(), generated::MEMORY_SYSTEMS.count());
    assert_eq!(classes().count(), generated::CLASSES.count());
    assert!(devices().count() >= 422 && models().count() >= 40 && memory_systems().count() >= 111);
}

#[test]
fn names_are_sorted_for_the_search() {
    for names in [device_names().collect::<Vec<_>>(), model_names().collect()] {
        assert!(names.is_sorted());
    }
}

#[test]
fn spellings_that_are_the_same_are_equal() {
    assert_eq!(normalise(" GeForce  RTX_4090:x "), "geforce-rtx-4090-x");
    assert_eq!(normalise("Intel(R) Arc(TM) A770"), "intel-arc-a770");
    assert_eq!(normalise("Qwen/Qwen3-0.6B"), "qwen/qwen3-0.6b");
    assert_ne!(normalise("opt-1.3b"), normalise("opt-13b"));
    assert_eq!(normalise("®–Ö"), "–ö");
    assert_eq!(normalise(" -_: "), "");
}

#[test]
fn vendor_words_are_trimmed_but_never_all() {
    assert_eq!(names::trimmed("nvidia-geforce-rtx-4090"), ("rtx-4090", Some("NVIDIA")));
    assert_eq!(names::trimmed("amd-radeon-780m-graphics"), ("780m", Some("AMD")));
    assert_eq!(names::trimmed("amd-geforce-x"), ("geforce-x", Some("AMD")));
    assert_eq!(names::trimmed("nvidia"), ("nvidia", None));
    assert_eq!(names::trimmed("rtx-4090"), ("rtx-4090", None));
}

#[test]
fn devices_answer_to_id_name_and_alias() {
    for name in ["rtx-4090", "RTX 4090", "NVIDIA GeForce RTX 4090", "geforce_rtx_4090", "nvidia rtx 4090"] {
        assert_eq!(device(name), "geforce-rtx-4090");
    }
    for (name, id) in [
        ("Radeon RX 7900 XTX", "radeon-rx-7900-xtx"),
        ("AMD RX 7900 XTX", "radeon-rx-7900-xtx"),
        ("Intel(R) Arc(TM) B580 Graphics", "arc-b580"),
        ("AMD Radeon 780M Graphics", "radeon-780m"),
        ("AMD Radeon(TM) 8060S Graphics", "ryzen-ai-max-395"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"),
        ("Apple M4 Pro", "apple-m4-pro"),
        ("m4", "apple-m4"),
        ("rtx-3060:12gb", "geforce-rtx-3060-12gb"),
        ("NVIDIA RTX 2000 Ada Generation Laptop GPU", "rtx-2000-laptop-ada"),
    ] {
        assert_eq!(device(name), id, "{name}");
    }
}

#[test]
fn a_laptop_part_is_never_the_desktop_card() {
    for name in ["RTX 5090 Laptop", "NVIDIA GeForce RTX 5090 Laptop GPU", "rtx-5090-mobile"] {
        assert_eq!(device(name), "geforce-rtx-5090-laptop");
    }
    assert_eq!(device("RTX 5090"), "geforce-rtx-5090");
    assert_eq!(device("NVIDIA GeForce RTX 4070 Laptop GPU"), "geforce-rtx-4070-laptop");
}

#[test]
fn a_shared_name_gives_every_card_that_bears_it() {
    assert_eq!(devices_called("h100"), ["h100-pcie-80gb", "h100-sxm5-80gb", "h100-nvl-94gb"]);
    assert_eq!(devices_called("rtx 3060").len(), 2);
    assert_eq!(devices_called("NVIDIA GeForce RTX 3060").len(), 2);
    assert_eq!(devices_called("NVIDIA A100").len(), 4);
    assert_eq!(devices_called("m3 max").len(), 2);
}

#[test]
fn a_part_of_a_name_or_another_vendor_is_no_match() {
    for name in
        ["", "rtx", "A1000 SXM", "AMD A40", "Intel RTX 4090", "NVIDIA", "M4 Ultra", "rtx 4090 mobile ti"]
    {
        assert_eq!(find_device(name), Lookup::None, "{name}");
    }
    assert_eq!(device("NVIDIA RTX A1000"), "rtx-a1000");
    assert_eq!(device("Tesla M40"), "m40");
}

#[test]
fn every_device_is_found_by_its_own_names() {
    for row in devices() {
        assert_eq!(device(&row.id), row.id);
        for name in row.aliases.iter().chain([&row.name]) {
            let found = find_device(name).into_rows();
            let is_an_id = found.len() == 1 && found[0].id == normalise(name);
            assert!(is_an_id || found.contains(&row), "{} by {name}", row.id);
            assert!(devices::bearers(name).contains(&row), "{} by {name}", row.id);
        }
    }
}

#[test]
fn a_size_decides_between_chips_of_one_name() {
    let of_size = |name, gb| find_device_of_size(name, gb).one().map(|r| r.id).unwrap_or_default();
    assert_eq!(of_size("m3-max", 64), "apple-m3-max");
    assert_eq!(of_size("m3-max", 96), "apple-m3-max-30");
    assert_eq!(of_size("apple-m3-max", 96), "apple-m3-max-30");
    assert_eq!(of_size("rtx-3080", 12), "geforce-rtx-3080-12gb");
    assert_eq!(of_size("h100", 94), "h100-nvl-94gb");
    assert_eq!(of_size("radeon-780m", 32), "radeon-780m");
    assert_eq!(find_device_of_size("m4", 20), Lookup::None);
}

#[test]
fn unified_chips_of_several_sizes_need_one() {
    let needs = |id| find_device(id).one().unwrap().needs_size();
    assert!(needs("apple-m4") && needs("ryzen-ai-max-395") && needs("radeon-780m"));
    assert!(!needs("apple-m4-max-32") && !needs("dgx-spark-gb10") && !needs("jetson-agx-orin-64gb"));
    assert!(!needs("rtx-4090"));
    assert!(driver_memory(&find_device("apple-m4").one().unwrap()).is_none());
}

#[test]
fn a_drivers_total_tells_cards_of_one_name_apart() {
    let found = |name, mib| match find_detected(name, Bytes::from_mib(mib)) {
        Lookup::None => String::new(),
        found => found.into_rows().swap_remove(0).id,
    };
    assert_eq!(found("NVIDIA GeForce RTX 3060", 8192), "geforce-rtx-3060-8gb");
    assert_eq!(found("NVIDIA GeForce RTX 3060", 12288), "geforce-rtx-3060-12gb");
    assert_eq!(found("NVIDIA GeForce RTX 3080", 12288), "geforce-rtx-3080-12gb");
    assert_eq!(found("NVIDIA GeForce RTX 3080", 10240), "geforce-rtx-3080");
    assert_eq!(found("NVIDIA GeForce RTX 4070", 12282), "geforce-rtx-4070");
    assert_eq!(found("NVIDIA H100 NVL", 95830), "h100-nvl-94gb");
    assert_eq!(found("Apple M3 Max", 96 * 1024), "apple-m3-max-30");
    assert_eq!(found("Voodoo 2", 12), "");
}

#[test]
fn the_driver_reports_less_than_is_sold_by_generation() {
    assert_eq!(driver_mib("rtx-4090"), 24564);
    assert_eq!(driver_mib("rtx-2070"), 8192);
    assert_eq!(driver_mib("rtx-4060-ti-8gb"), 8188);
    assert_eq!(driver_mib("rtx-5060-ti-8gb"), 8151);
    assert_eq!(driver_mib("l40"), 46068);
    assert_eq!(driver_mib("t4g"), 15360);
    assert_eq!(driver_mib("rx-7900-xtx"), 24 * 1024);
    let basis = |id| driver_memory(&find_device(id).one().unwrap()).unwrap().basis;
    assert!(matches!(basis("rtx-4090"), MemoryBasis::Seen { .. }));
    assert!(matches!(basis("rtx-2070"), MemoryBasis::Rule { .. }));
    assert_eq!(basis("rx-7900-xtx"), MemoryBasis::Nominal);
}

#[test]
fn rules_of_the_driver_agree_with_what_was_seen() {
    let ruled = |row: &DeviceRow| driver_memory(&DeviceRow { driver_mib: None, ..row.clone() });
    for row in devices().filter(|r| r.driver_mib.is_some()) {
        let Some(Memory { bytes, basis: MemoryBasis::Rule { .. } }) = ruled(&row) else { continue };
        let seen = Bytes::from_mib(row.driver_mib.unwrap());
        let slack = Bytes(seen.0 / 500);
        assert!(bytes <= seen + Bytes::from_mib(12) && seen <= bytes + slack, "{}: {bytes}", row.id);
    }
}

#[test]
fn models_answer_to_id_last_part_alias_and_sibling() {
    for name in
        ["llama-3.1-8b", "Llama 3.1 8B", "llama3.1:8b", "meta-llama/Llama-3.1-8B", "Llama-3.1-8B-Instruct"]
    {
        assert_eq!(model(name), "Llama-3.1-8B");
    }
    for (name, expected) in [
        ("qwen3-30b-a3b", "Qwen3-30B-A3B"),
        ("qwen3:30b", "Qwen3-30B-A3B"),
        ("gemma-3-12b", "Gemma-3-12B"),
        ("gpt-oss-20b", "gpt-oss-20b"),
        ("gpt-oss:20b", "gpt-oss-20b"),
        ("deepseek-v3", "DeepSeek-V3"),
        ("deepseek-r1", "DeepSeek-R1"),
        ("mistral-7b", "Mistral-7B-v0.3"),
        ("mixtral_8x7b", "Mixtral-8x7B"),
        ("Qwen2.5-7B", "Qwen2.5-7B"),
        ("phi-4", "Phi-4"),
    ] {
        assert_eq!(model(name), expected, "{name}");
    }
    for name in ["llama", "llama-31-8b", "Llama-3.1-8B/x", "8b"] {
        assert_eq!(find_model(name), Lookup::None, "{name}");
    }
}

#[test]
fn configs_are_whole_with_their_nulls() {
    for row in models() {
        assert!(row.config.as_object().is_some_and(|fields| fields.len() > 3), "{}", row.id);
        let stated = row.config.get("model_type").and_then(serde_json::Value::as_str);
        assert!(stated.is_none_or(|stated| stated == row.model_type), "{}", row.id);
    }
    let gemma = find_model("gemma-4-31b").one().unwrap().config;
    assert!(gemma["text_config"].get("num_experts").is_some_and(serde_json::Value::is_null));
}

#[test]
fn every_class_names_hardware_that_exists() {
    for class in classes() {
        let (name, size) = class.hardware.split_once(':').unwrap_or((&class.hardware, ""));
        let gb = size.trim_end_matches("gb").parse::<u64>().ok();
        if name == "cpu" {
            assert!(gb.is_some() && find_memory_system(&class.memory_system.unwrap()).is_some());
            continue;
        }
        let row = gb.map_or_else(|| find_device(name), |gb| find_device_of_size(name, gb)).one();
        assert_eq!(row.expect(&class.id).needs_size(), gb.is_some(), "{}", class.id);
    }
    assert_eq!(find_class("16GB GPU").unwrap().hardware, "rtx-5060-ti-16gb");
    assert_eq!(find_class("1tb-gpu"), None);
}

#[test]
fn bandwidths_are_whole_bytes() {
    let ddr5 = find_memory_system("DDR5-5600-2ch").unwrap();
    assert_eq!(ddr5.bandwidth(), BytesPerSecond(89_600_000_000));
    assert_eq!(find_device("rx-vega-56").one().unwrap().bandwidth(), Some(BytesPerSecond(409_600_000_000)));
}

#[test]
fn apples_limit_follows_capacity_and_system() {
    let mib = |gb, os| working_set(gb, os).unwrap().bytes.0 >> 20;
    assert_eq!(mib(16, Macos::Older), 10922);
    assert_eq!(mib(16, Macos::From26), 12124);
    assert_eq!(mib(8, Macos::Older), 5461);
    assert_eq!(mib(36, Macos::Older), 24576);
    assert_eq!(mib(48, Macos::Older), 36864);
    assert_eq!(mib(64, Macos::From26), 49152);
    assert!(matches!(working_set(48, Macos::Older).unwrap().basis, MemoryBasis::Rule { .. }));
}
