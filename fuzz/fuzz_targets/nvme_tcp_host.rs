//! See `heatsoak_fuzz::nvme::tcp_host`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| heatsoak_fuzz::nvme::tcp_host(data));
