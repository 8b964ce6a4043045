//! The virtual SSD, connected to by the kernel's own initiator over NVMe/TCP.
//!
//! Emulation moves some 60 MB/s, so drives are scaled to what a guest can follow (`--bandwidth-scale`)
//! and live faster (`--time-scale`). Truth is read from the profile.

mod auth;
mod data;
mod heat;
mod restart;
pub(crate) mod server;
mod tools;

use serde_json::Value;

use crate::kernel::case::{self, Case};
use crate::kernel::features;
use crate::kernel::guest::{Guest, Kernel, on_each_kernel, scratch};
use auth::secrets_are_checked_on_both_sides;
use server::Bell;
pub(crate) use server::Vssd;

on_each_kernel!(a_drive_to_every_tool, data_stay_what_they_are, secrets_are_checked_on_both_sides);

/// A guest with a network, and the modules of NVMe/TCP.
fn on_network(kernel: Kernel) -> Guest {
    Guest::on(kernel).network().modules(&["nvme-tcp", "crc32c_generic"]).script("net_up")
}

/// What nvme-cli, smartctl, hwmon and heatsoak itself make of it; one drive after the other.
fn a_drive_to_every_tool(kernel: Kernel) {
    let folder = scratch();
    let (state, wire) = (folder.path().join("state.json"), folder.path().join("wire.pcap"));
    let ssd1 = Vssd::start(&["--profile", "ssd1"]);
    let other = Vssd::start(&["--profile", "ssd1"]);
    let saving = Vssd::start(&["--profile", "relay", "--state", &state.display().to_string()]);
    let relay = Vssd::start(&["--profile", "relay"]);
    let shelf = Vssd::start(&["--shelf"]);
    let dump = format!("filter-dump,id=dump,netdev=net,file={}", wire.display());
    on_network(kernel).device(&["-object", &dump]).run_cases(vec![
        tools::the_tools_take_it_for_a_drive(&ssd1, &wire),
        data::io_commands_do_what_they_say(&other),
        tools::thermal_settings_keep_the_specification(&saving),
        features::what_is_set_is_what_nvme_cli_reads(&relay),
        tools::a_shelf_is_discovered(&shelf),
    ]);
}

/// What is written is what is read, in peace and over a power cut.
fn data_stay_what_they_are(kernel: Kernel) {
    let folder = scratch();
    let [state, backing] = ["state.json", "data"].map(|name| folder.path().join(name).display().to_string());
    // As fast as it goes: this is about data.
    let ssd1 = Vssd::start(&["--profile", "ssd1"]);
    let mut relay = Vssd::start(&["--profile", "relay", "--state", &state, "--backing", &backing]);
    let bell = Bell::new();
    let cases: Vec<Case<'_>> = vec![
        data::data_survive_random_sizes_and_trims(&ssd1),
        restart::a_power_cut_under_load_loses_nothing(&relay, &bell),
    ];
    let guest = on_network(kernel).with_cases(&cases);
    case::check(bell.answer(guest, || relay.crash_and_restart()), cases);
}

/// A number of nvme-cli's JSON, which has 128 bit numbers as text.
fn number(value: &Value) -> u128 {
    let number = value.as_u64().map(u128::from).or_else(|| value.as_str()?.parse().ok());
    number.unwrap_or_else(|| panic!("{value} is no number"))
}
