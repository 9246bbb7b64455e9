//! Readers of model formats, pure: bytes or values in, facts out.

pub mod hf_config;
