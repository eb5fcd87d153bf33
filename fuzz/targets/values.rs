//! Stored values, made up by libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| quixos_fuzz_properties::values(bytes));
