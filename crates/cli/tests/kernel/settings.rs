//! Settings and what is told of a drive, with nvme-cli as the referee: on QEMU's drive, on Linux's own target that
//! answers almost nothing, and on the virtual SSD, which has thermal management.

use serde_json::Value;

use crate::kernel::case::Case;
use crate::kernel::guest::{Guest, Kernel, on_each_kernel};
use crate::kernel::output::Output;
use crate::kernel::vssd::server::Vssd;

on_each_kernel!(every_setting_is_as_found);

fn number(value: &Value) -> u128 {
    let number = value.as_u64().map(u128::from).or_else(|| value.as_str()?.parse().ok());
    number.unwrap_or_else(|| panic!("{value} is no number"))
}

/// Zero is "not reported", which is null.
fn or_zero(value: &Value) -> u128 {
    if value.is_null() { 0 } else { number(value) }
}

pub(crate) const INSPECT: &str = "
    for drive in nvme0 nvme2; do
        section id-$drive; nvme id-ctrl /dev/$drive -o json
        section log-$drive; nvme smart-log /dev/$drive -o json
        section inspect-$drive; heatsoak inspect /dev/$drive --json
        section by-namespace-$drive; heatsoak inspect /dev/${drive}n1 --json
    done";

/// Goal: Identify, health log, power state and threshold agree field by field; what a target does not have is null.
pub(crate) fn inspect_says_what_nvme_cli_says(output: &Output) {
    for drive in ["nvme0", "nvme2"] {
        let shown = output.json(&format!("inspect-{drive}"));
        agrees(&shown, &output.json(&format!("id-{drive}")), &output.json(&format!("log-{drive}")));
        assert_eq!(shown["nvme"]["namespaces"], serde_json::json!([format!("{drive}n1")]));
        let by_namespace = output.json(&format!("by-namespace-{drive}"));
        assert_eq!(by_namespace["nvme"]["controller"], drive);
        assert_eq!(by_namespace["serial"], shown["serial"]);
    }
}

fn agrees(shown: &Value, id: &Value, log: &Value) {
    let nvme = &shown["nvme"];
    for (ours, theirs) in [("model", "mn"), ("serial", "sn"), ("firmware", "fr")] {
        assert_eq!(shown[ours].as_str(), id[theirs].as_str().map(str::trim), "{ours}");
    }
    for (ours, theirs) in [("warning_k", "wctemp"), ("critical_k", "cctemp")] {
        assert_eq!(or_zero(&nvme[ours]), number(&id[theirs]), "{ours}");
    }
    for (ours, theirs) in [("min_k", "mntmt"), ("max_k", "mxtmt")] {
        assert_eq!(or_zero(&nvme["hctm"][ours]), number(&id[theirs]), "{ours}");
    }
    assert_eq!(nvme["hctm"]["supported"], number(&id["hctma"]) & 1 == 1);
    assert_eq!(nvme["apst"]["supported"], number(&id["apsta"]) & 1 == 1);
    assert_eq!(nvme["power_states"].as_array().map(Vec::len), Some(number(&id["npss"]) as usize + 1));
    let preferred = or_zero(&nvme["host_memory"]["preferred_bytes"]);
    assert_eq!(preferred, number(&id["hmpre"]) * 4096);
    for (ours, theirs) in [
        ("critical_warning", "critical_warning"),
        ("composite_k", "temperature"),
        ("available_spare_percent", "avail_spare"),
        ("spare_threshold_percent", "spare_thresh"),
        ("percentage_used", "percent_used"),
        ("data_units_written", "data_units_written"),
        ("host_writes", "host_write_commands"),
        ("power_cycles", "power_cycles"),
        ("power_on_hours", "power_on_hours"),
        ("unsafe_shutdowns", "unsafe_shutdowns"),
        ("media_errors", "media_errors"),
        ("warning_minutes", "warning_temp_time"),
        ("critical_minutes", "critical_comp_time"),
        ("tmt1_transitions", "thm_temp1_trans_count"),
        ("tmt2_transitions", "thm_temp2_trans_count"),
        ("tmt1_seconds", "thm_temp1_total_time"),
        ("tmt2_seconds", "thm_temp2_total_time"),
    ] {
        assert_eq!(or_zero(&nvme["smart"][ours]), number(&log[theirs]), "{ours}");
    }
}

/// Reads under settings of its own, for longer than any machine takes to stop it.
const PLAN: &str = r#"cat >/tmp/plan.toml <<'PLAN'
name = "killed"
stop_unwatched = "1h"
[settings]
tmt1 = "60C"
tmt2 = "70C"
[[phase]]
op = "read"
block_size = "64KiB"
depth = 4
duration = "1h"
PLAN
hctm() {
    # A crowded machine may lose the connection for a moment: asked is a controller that is there.
    wait_for nvme get-feature /dev/nvme0 -f 0x10
    nvme get-feature /dev/nvme0 -f 0x10 | grep -o 'alue:.*'
}
"#;

/// The virtual SSD as `/dev/nvme0n1`, slow enough for emulation.
fn every_setting_is_as_found(kernel: Kernel) {
    let vssd = Vssd::start(&["--profile", "ssd2", "--bandwidth-scale", "500"]);
    let guest = Guest::on(kernel).network().modules(&["nvme-tcp"]).script("net_up").script(PLAN);
    guest.script(&vssd.connect(0, "")).script("wait_for test -b /dev/nvme0n1").run_cases(vec![
        Case::new("kills", KILLS, twenty_kills_leave_every_setting_as_found),
        Case::new("stops", STOPS, a_run_that_is_stopped_puts_its_settings_back),
    ]);
}

const KILLS: &str = r#"
    section found; hctm
    section kills
    for round in $(seq 1 20); do
        heatsoak run /tmp/plan.toml --drive /dev/nvme0n1 --out /tmp/run --quiet >/tmp/out 2>&1 &
        run=$!
        # Every fourth kill comes once the settings are changed, every other once the journal is there: just
        # before, in and after the changes.
        if [ $((round % 4)) = 0 ]; then
            wait_for sh -c 'nvme get-feature /dev/nvme0 -f 0x10 | grep -q 14d0157'
            usleep $((round * 37000 % 500000))
        elif [ $((round % 2)) = 0 ]; then
            wait_for sh -c 'ls /var/lib/heatsoak/*.json'
            usleep $((round * 37000 % 500000))
        else
            usleep $((round * 83000 + 10000))
        fi
        kill -9 $run || true
        wait $run || true
        left=$(hctm)
        refused=0
        if [ "$left" != "$(cat $out/found)" ]; then
            heatsoak run /tmp/plan.toml --drive /dev/nvme0n1 --out /tmp/again --quiet >/tmp/out 2>&1 || refused=$?
            grep -q 'heatsoak restore /dev/nvme0' /tmp/out
            heatsoak hctm /dev/nvme0 --tmt2 off >/tmp/out 2>&1 && exit 9
            heatsoak inspect /dev/nvme0n1 2>&1 >/dev/null | grep -q 'heatsoak restore'
        fi
        heatsoak restore >/dev/null
        heatsoak restore >/dev/null
        echo "$left|$refused|$(hctm)|$(ls /var/lib/heatsoak | grep -c 'json$' || true)"
        rm -rf /tmp/run /tmp/again
    done"#;

/// Goal: after kill -9 anywhere in a run the settings are as found, or `restore` makes them so. Method: 20 kills at
/// times from before the first command to well into the load, and some once nvme-cli sees the change, however long the
/// machine takes for that; nvme-cli says what is set.
fn twenty_kills_leave_every_setting_as_found(output: &Output) {
    let found = output.section("found").trim().to_owned();
    let kills = output.section("kills");
    assert_eq!(kills.lines().count(), 20, "{kills}");
    let mut changed = 0;
    for line in kills.lines() {
        let [left, refused, now, journals] = line.split('|').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        assert_eq!((now, journals), (found.as_str(), "0"), "{line}");
        changed += u32::from(left != found);
        assert_eq!(refused, if left == found { "0" } else { "2" }, "{line}");
    }
    assert!(changed >= 5, "only {changed} of 20 kills came while the settings were changed\n{kills}");
}

const STOPS: &str = r#"
    section found; hctm
    section stops
    for signal in INT TERM HUP; do
        heatsoak run /tmp/plan.toml --drive /dev/nvme0n1 --out /tmp/$signal --quiet >/tmp/out 2>&1 &
        run=$!
        wait_for sh -c 'ls /var/lib/heatsoak/*.json'
        wait_for test -s /tmp/$signal/manifest.json
        during=$(hctm)
        usleep 500000
        kill -$signal $run
        code=0; wait $run || code=$?
        echo "$during|$code|$(hctm)|$(ls /var/lib/heatsoak | grep -c 'json$' || true)"
    done
    section manifest; cat /tmp/TERM/manifest.json
    section one; heatsoak hctm /dev/nvme0 --tmt1 62C --json
    section one-set; hctm"#;

/// Goal: every way to stop a run that it can see puts the settings back by itself.
fn a_run_that_is_stopped_puts_its_settings_back(output: &Output) {
    let found = output.section("found").trim().to_owned();
    for line in output.section("stops").lines() {
        let [during, code, now, journals] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert_eq!((code, now, journals), ("3", found.as_str(), "0"), "{line}");
        // 333 K and 343 K, unless nvme-cli asked before they were set.
        assert!(during == found || during.contains("14d0157"), "{line}");
    }
    let settings = &output.json("manifest")["settings"];
    assert_eq!((&settings["set"]["tmt1_k"], &settings["set"]["tmt2_k"]), (&333.into(), &343.into()));
    assert_eq!(settings["before"], settings["after"]);
    assert_eq!(output.json("one")["hctm"]["current"]["tmt1_k"], 335);
    assert!(output.section("one-set").contains("14f"), "{}", output.section("one-set"));
}
