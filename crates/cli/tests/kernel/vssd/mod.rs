//! The virtual SSD, connected to by the kernel's own initiator over NVMe/TCP.
//!
//! Emulation moves some 60 MB/s, so drives are scaled to what a guest can follow (`--bandwidth-scale`)
//! and live faster (`--time-scale`). Truth is read from the profile.

mod data;
mod heat;
mod restart;
pub(crate) mod server;
mod tools;

use serde_json::Value;

pub(crate) use server::Vssd;

/// A number of nvme-cli's JSON, which has 128 bit numbers as text.
fn number(value: &Value) -> u128 {
    let number = value.as_u64().map(u128::from).or_else(|| value.as_str()?.parse().ok());
    number.unwrap_or_else(|| panic!("{value} is no number"))
}
