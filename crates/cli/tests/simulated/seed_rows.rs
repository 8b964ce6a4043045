//! The rows of the seed experiments that say what slowed a drive down: each is run again by the tool, on the
//! simulated drive that reproduces it, and has to be called what its authors found it to be.
//!
//! Whether the drives reproduce the published numbers is not asked here: `heatsoak validate` does that. Loads and
//! settings are those of the published runs; how long writes alone ran is not stated: 10 min, as there.

use analysis::Findings;
use analysis::findings::{Cause, Event, EventKind, Label, PolicyClass, SegmentOp};

use crate::support::Scratch;

/// Onset temperatures of the rows are whole kelvins that were read off figures.
const READ_OFF_K: f64 = 2.0;

/// TMT1 and TMT2 in whole degrees Celsius.
type Tmt = Option<(u16, u16)>;

/// 1 MiB in sequence at depth 64 over a part that fits the fast write cache; operation and seconds.
fn phases(loads: &[(&str, u32)]) -> String {
    let region = "{ start = \"0B\", len = \"50GiB\" }";
    let phase = |(op, seconds): &(&str, u32)| {
        format!(
            "[[phase]]\nop = \"{op}\"\nblock_size = \"1MiB\"\ndepth = 64\nregion = {region}\nduration = \"{seconds}s\"\n"
        )
    };
    loads.iter().map(phase).collect()
}

/// What the tool finds in a run of `plan`.
fn found(profile: &str, tmt: Tmt, plan: &str) -> Findings {
    let scratch = Scratch::new();
    let settings = tmt.map_or(String::new(), |(tmt1, tmt2)| {
        format!("[settings]\ntmt1 = \"{tmt1}C\"\ntmt2 = \"{tmt2}C\"\n")
    });
    std::fs::write(scratch.path("row.toml"), settings + plan).expect("a scratch file");
    let drive = format!("twin:{profile}");
    let done = scratch.run(&["run", "row.toml", "--drive", &drive, "--json", "--quiet", "--no-report"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    serde_json::from_str(&done.stdout).expect("findings")
}

fn write(profile: &str, tmt: Tmt) -> Findings {
    found(profile, tmt, &phases(&[("write", 600)]))
}

/// 5 min of writes and at once 5 min of reads of the same data.
fn write_read(profile: &str, tmt: Tmt) -> Findings {
    found(profile, tmt, &phases(&[("write", 300), ("read", 300)]))
}

/// Written from end to end once.
fn full(profile: &str) -> Findings {
    found(profile, None, "[[phase]]\nop = \"write\"\nblock_size = \"1MiB\"\ndepth = 64\nlaps = 1\n")
}

fn onsets(findings: &Findings) -> Vec<&Event> {
    findings.events.iter().filter(|event| event.kind == EventKind::ThrottleOnset).collect()
}

/// Onsets of the second phase of [`write_read`].
fn read_onsets(findings: &Findings) -> Vec<&Event> {
    onsets(findings).into_iter().filter(|event| event.t_s >= 300.0).collect()
}

fn not_slowed_down_by_heat(row: &str, findings: &Findings) {
    assert!(onsets(findings).is_empty(), "{row}: {:#?}", findings.events);
    assert!(findings.segments.iter().all(|s| s.label != Label::Throttled), "{row}: {:#?}", findings.segments);
    assert_eq!(findings.policy.class, PolicyClass::None, "{row}");
}

/// There are onsets, and all of them are of this cause, near this temperature where the row states one.
fn all_are(row: &str, onsets: &[&Event], cause: Cause, near_c: Option<f64>) {
    assert!(!onsets.is_empty(), "{row}: no onset");
    for event in onsets {
        assert_eq!(event.cause, cause, "{row}: {event:#?}");
        let near = |c: f64| event.temp_k.is_some_and(|k| (k - 273.0 - c).abs() <= READ_OFF_K);
        assert!(near_c.is_none_or(near), "{row}: {event:#?}");
    }
}

fn strength_is(row: &str, onsets: &[&Event], holds: impl Fn(f64) -> bool) {
    assert!(onsets.iter().all(|event| event.strength.is_some_and(&holds)), "{row}: {onsets:#?}");
}

fn acts(row: &str, findings: &Findings, class: PolicyClass) {
    let policy = &findings.policy;
    assert!(policy.class == class || policy.also.contains(&class), "{row}: {policy:?}");
}

#[test]
fn a1_a2_a4_writes_below_the_thresholds_of_ssd1_are_not_slowed_down() {
    not_slowed_down_by_heat("A1", &write("ssd1", None));
    not_slowed_down_by_heat("A2", &write("ssd1", Some((70, 80))));
    let a4 = write_read("ssd1", None);
    assert!(a4.events.iter().all(|event| event.t_s >= 300.0), "A4: {:#?}", a4.events);
}

#[test]
fn a3_a6_ssd1_goes_to_and_fro_at_tmt1() {
    let a3 = write("ssd1", Some((60, 70)));
    all_are("A3", &onsets(&a3), Cause::HctmTmt1, Some(60.0));
    strength_is("A3", &onsets(&a3), |strength| strength <= 0.2);
    let a6 = write_read("ssd1", Some((70, 80)));
    all_are("A6", &onsets(&a6), Cause::HctmTmt1, Some(70.0));
    assert_eq!(read_onsets(&a6).len(), onsets(&a6).len(), "A6: writes stay below 70 °C");
    for (row, findings) in [("A3", &a3), ("A6", &a6)] {
        assert_eq!(findings.policy.class, PolicyClass::Relay, "{row}: {:?}", findings.policy);
        assert!(onsets(findings).len() >= 3, "{row}: large variation, on and off");
    }
}

#[test]
fn a5_ssd1_reads_are_slowed_down_by_the_drives_own_threshold() {
    let a5 = write_read("ssd1", None);
    let [onset] = onsets(&a5)[..] else { panic!("A5: {:#?}", a5.events) };
    all_are("A5", &[onset], Cause::Vendor, Some(80.0));
    strength_is("A5", &[onset], |strength| (strength - 0.8).abs() <= 0.05);
    // Well before the 150 s after which the reads would have left the fast cache.
    assert!((300.0..450.0).contains(&onset.t_s), "{onset:?}");
    assert_eq!(a5.policy.class, PolicyClass::Vendor);
}

/// B1 is held at 70 °C by nothing but its load; the dips of B5 are not heat, nor is the wobble of B6.
#[test]
fn b1_b5_b6_default_settings_of_ssd2_slow_nothing_down() {
    not_slowed_down_by_heat("B1", &write("ssd2", None));
    let free = write_read("ssd2", None);
    not_slowed_down_by_heat("B5 and B6", &free);
    let dips: Vec<_> = free.events.iter().filter(|event| event.kind == EventKind::Dip).collect();
    assert!(!dips.is_empty() && dips.iter().all(|dip| dip.cause == Cause::NotThermal), "B5: {dips:#?}");
    assert!(dips.iter().all(|dip| dip.t_s < 300.0), "B6: {dips:#?}");
}

#[test]
fn b2_b3_writes_of_ssd2_are_regulated_below_tmt1() {
    for (row, tmt1) in [("B2", 65), ("B3", 60)] {
        let found = write("ssd2", Some((tmt1, 70)));
        all_are(row, &onsets(&found), Cause::HctmTmt1, None);
        assert_eq!(found.policy.class, PolicyClass::Regulator, "{row}: {:?}", found.policy);
        let last = found.segments.last().expect("a segment");
        let held_c = last.temp_end_k.expect("a temperature") - 273.0;
        assert!(held_c < f64::from(tmt1) && held_c >= f64::from(tmt1) - 3.0, "{row}: held at {held_c} °C");
    }
}

#[test]
fn b4_writes_of_ssd2_are_held_slow_from_tmt2_to_below_tmt1() {
    let b4 = write("ssd2", Some((50, 60)));
    all_are("B4", &onsets(&b4), Cause::HctmTmt2, Some(60.0));
    strength_is("B4", &onsets(&b4), |strength| strength < 0.08);
    assert_eq!(b4.policy.class, PolicyClass::TwoLevel, "{:?}", b4.policy);
    let release_c = b4.policy.release_k.expect("released") - 273.0;
    assert!((48.0..=50.0).contains(&release_c), "B4: fast again at {release_c} °C");
}

#[test]
fn b7_b8_reads_of_ssd2_are_regulated_by_bursts() {
    for (row, tmt1) in [("B7", 65), ("B8", 60)] {
        let found = write_read("ssd2", Some((tmt1, 70)));
        all_are(row, &read_onsets(&found), Cause::HctmTmt1, None);
        acts(row, &found, PolicyClass::DutyCycled);
        let last = found.segments.last().expect("a segment");
        let held_c = last.temp_end_k.expect("a temperature") - 273.0;
        assert!((held_c - f64::from(tmt1)).abs() <= READ_OFF_K, "{row}: held at {held_c} °C");
    }
}

/// Which of the two thresholds holds the reads of B9 is left open by the source.
#[test]
fn b9_reads_of_ssd2_are_slow_from_their_first_second_on() {
    let b9 = write_read("ssd2", Some((50, 60)));
    let [onset] = read_onsets(&b9)[..] else { panic!("B9: {:#?}", b9.events) };
    assert!(onset.t_s < 302.0, "{onset:?}");
    assert!(matches!(onset.cause, Cause::HctmTmt1 | Cause::HctmTmt2), "{onset:?}");
    acts("B9", &b9, PolicyClass::PreLimited);
    let reads: Vec<_> = b9.segments.iter().filter(|s| s.op == SegmentOp::Read).collect();
    assert!(reads.iter().all(|s| s.label == Label::Throttled), "{reads:#?}");
}

#[test]
fn c1_to_c3_a_usb_drive_protects_itself_where_nothing_else_cools_it() {
    let c1 = full("exceria-g2-usb10");
    let [onset] = onsets(&c1)[..] else { panic!("C1: {:#?}", c1.events) };
    all_are("C1", &[onset], Cause::Vendor, Some(80.0));
    acts("C1", &c1, PolicyClass::Vendor);
    acts("C1", &c1, PolicyClass::Regulator);
    not_slowed_down_by_heat("C2", &full("exceria-g2-usb10-fan"));
    not_slowed_down_by_heat("C3", &full("exceria-g2-usb5"));
}

/// The same stick on a slower link is not slowed down, and on the faster one it is.
#[test]
fn c4_a_stick_is_slowed_down_on_the_faster_link_only() {
    let fast = full("usb-stick-usb10");
    assert!(!onsets(&fast).is_empty(), "{:#?}", fast.events);
    assert!(
        onsets(&fast).iter().all(|e| matches!(e.cause, Cause::Vendor | Cause::Thermal)),
        "{:#?}",
        fast.events
    );
    not_slowed_down_by_heat("C4", &full("usb-stick-usb5"));
}

/// D2 and D3: the cliff at a quarter of the file is the end of the fast write cache.
#[test]
fn d3_the_cliff_of_a_qlc_drive_is_its_full_cache() {
    let plan = "[[phase]]\nop = \"write\"\nblock_size = \"1MiB\"\ndepth = 64\n\
                region = { start = \"0B\", len = \"400GiB\" }\nduration = \"5m\"\n";
    let d3 = found("om8tap4", None, plan);
    not_slowed_down_by_heat("D3", &d3);
    let [event] = &d3.events[..] else { panic!("D3: {:#?}", d3.events) };
    assert_eq!((event.kind, event.cause), (EventKind::SlcExhausted, Cause::NotThermal));
    let slc = d3.slc_cache.as_ref().expect("its end was passed");
    let ratio = slc.before_bytes_per_s / slc.after_bytes_per_s;
    assert!((0.95..1.05).contains(&(slc.bytes as f64 / 100.0 / 1_073_741_824.0)), "{slc:?}");
    assert!((32.0..=36.0).contains(&ratio), "33 to 34 times slower: {ratio}");
}
