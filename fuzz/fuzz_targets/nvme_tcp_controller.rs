//! See `heatsoak_fuzz::nvme::tcp_controller`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::nvme::tcp_controller(data));
