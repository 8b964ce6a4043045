//! Invented runs of realistic shape. No drive behaved like this.

use std::time::Duration;

use analysis::Findings;
use analysis::findings::{
    Cause, Caveat, Event, EventKind, Label, Policy, PolicyClass, Segment, SegmentOp, SlcCache, Thermal,
    WeighedObservation,
};
use analysis::observation::Observation;
use measure::record::{
    ClockAnchor, DriveFacts, End, EndReason, HostFacts, IoRow, LinkFacts, Manifest, Op, Origin, PhaseFacts,
    Record, SettingsFacts, TelemetryRow, ThermalSettings,
};
use measure::{Bytes, Histogram, Instant, Kelvin, Watts};
use report::ReportInput;
use trace::HostThreshold;
use trace::caveat::{Hole, Unseen};

const TICK_NS: u64 = 100_000_000;

/// Written for 5 minutes without throttling, then read: 3.0 GB/s, 2.4 GB/s from 80 °C on.
pub(crate) fn vendor() -> ReportInput {
    let mut noise = Noise(1);
    let mut io = Vec::new();
    for tick in 0..6000u64 {
        let t_s = tick as f64 / 10.0;
        let (op, rate) = match t_s {
            t if t < 300.0 => (Op::Write, 1.6e9),
            t if t < 512.0 => (Op::Read, 3.0e9),
            _ => (Op::Read, 2.4e9),
        };
        let wobble = 1.0 + 0.012 * noise.next() + if tick % 437 == 400 { -0.35 } else { 0.0 };
        io.push(row(tick, u32::from(t_s >= 300.0), op, rate * wobble, &mut noise));
    }
    let telemetry = (0..600).map(|s| sample(s, vendor_kelvin(f64::from(s)), &mut noise)).collect();
    let record = record(io, telemetry, &["write", "read"], hctm(358, 358));
    ReportInput::new(&record, vendor_findings())
}

/// Read for 5 minutes at 3.0 GB/s, while the drive warms by so many kelvins.
pub(crate) fn constant(warmed_k: f64) -> ReportInput {
    let mut noise = Noise(2);
    let io = (0..3000).map(|tick| row(tick, 0, Op::Read, 3.0e9, &mut noise)).collect();
    let kelvin = |s: u32| 330.0 + warmed_k * f64::from(s) / 300.0;
    let telemetry = (0..300).map(|s| sample(s, kelvin(s), &mut noise)).collect();
    let record = record(io, telemetry, &["read"], hctm(358, 358));
    let mut findings = vendor_findings();
    findings.segments =
        vec![segment(0.0, 300.0, SegmentOp::Read, 3.0e9, Label::FullSpeed, 330.0, 330.0 + warmed_k)];
    findings.events.clear();
    findings.policy.class = PolicyClass::None;
    ReportInput::new(&record, findings)
}

fn vendor_kelvin(t_s: f64) -> f64 {
    if t_s < 300.0 {
        303.0 + 34.0 * (1.0 - (-t_s / 90.0).exp())
    } else {
        (335.8 + 26.0 * (1.0 - (-(t_s - 300.0) / 190.0).exp())).min(353.2)
    }
}

fn vendor_findings() -> Findings {
    Findings {
        schema: analysis::SCHEMA,
        simulated: Some(true),
        segments: vec![
            segment(0.0, 300.0, SegmentOp::Write, 1.6e9, Label::FullSpeed, 303.0, 335.0),
            segment(300.0, 512.0, SegmentOp::Read, 3.0e9, Label::FullSpeed, 335.0, 353.0),
            segment(512.0, 600.0, SegmentOp::Read, 2.4e9, Label::Throttled, 353.0, 353.0),
        ],
        events: vec![Event {
            kind: EventKind::ThrottleOnset,
            t_s: 512.0,
            temp_k: Some(353.0),
            cause: Cause::Vendor,
            strength: Some(0.8),
            confidence: 0.95,
            candidates: Vec::new(),
            observations: vec![
                weighed(Observation::Hot { temp_k: 353.0 }, 1.2),
                weighed(Observation::CounterStill { threshold: HostThreshold::Tmt1, has_counted: true }, 0.4),
            ],
        }],
        policy: Policy {
            class: PolicyClass::Vendor,
            also: Vec::new(),
            onset_k: Some(353.0),
            release_k: None,
            floor_bytes_per_s: Some(2.4e9),
            levels: Vec::new(),
            confidence: 0.95,
            from_runs: None,
        },
        slc_cache: None,
        thermal: Thermal {
            kelvin_per_gb_per_s_write: Some(21.3),
            kelvin_per_gb_per_s_write_90: Some([19.8, 23.0]),
            kelvin_per_gb_per_s_read: Some(16.9),
            kelvin_per_gb_per_s_read_90: Some([16.0, 18.1]),
            tau_s: Some(vec![41.0, 140.0]),
            tau_s_90: Some(vec![[30.0, 52.0], [110.0, 190.0]]),
            idle_floor_k: Some(303.0),
        },
        steady_state: None,
        life: None,
        power: None,
        accesses: None,
        fills: Vec::new(),
        wear: None,
        wobble: Vec::new(),
        caveats: vec![Caveat::NotSeen { values: vec![Unseen::Release] }],
    }
}

/// One plan with three settings of TMT1.
pub(crate) fn sweep() -> Vec<ReportInput> {
    [343u16, 338, 333].into_iter().map(relay_at).collect()
}

/// One plan at three rates: what a phase asked for is all that differs.
pub(crate) fn rates() -> Vec<ReportInput> {
    [("", 1.6e9), (", at most 400 MB/s", 4.0e8), (", at most 1.00 GB/s", 1.0e9)].map(at_rate).into()
}

fn at_rate((limit, rate): (&str, f64)) -> ReportInput {
    let mut noise = Noise(3);
    let io = (0..600).map(|tick| row(tick, 0, Op::Write, rate, &mut noise)).collect();
    let mut noise = Noise(4);
    let telemetry = (0..60).map(|second| sample(second, 313.0, &mut noise)).collect();
    let mut record = record(io, telemetry, &["write"], hctm(343, 358));
    record.manifest.phases[0].what = format!("sequential write, 1 MiB, depth 64{limit}");
    let mut findings = relay_findings();
    findings.caveats.clear();
    findings.segments.push(segment(0.0, 60.0, SegmentOp::Write, rate, Label::FullSpeed, 313.0, 313.0));
    ReportInput::new(&record, findings)
}

/// Written under a relay: 2.6 GB/s up to 70 °C, 0.2 GB/s until it has cooled to 67 °C, again and again.
pub(crate) fn relay() -> ReportInput {
    relay_at(343)
}

fn relay_at(tmt1_k: u16) -> ReportInput {
    let (onset_k, release_k) = (f64::from(tmt1_k), f64::from(tmt1_k) - 3.0);
    let mut noise = Noise(2);
    let (mut kelvin, mut slow, mut since_s) = (313.0f64, false, 0.0);
    let (mut io, mut telemetry, mut findings) = (Vec::new(), Vec::new(), relay_findings());
    let (mut onsets, mut slow_s) = (0u32, 0.0f64);
    for tick in 0..6000u64 {
        let t_s = tick as f64 / 10.0;
        let rate = if slow { 2.0e8 } else { 2.6e9 };
        kelvin += (303.0 + 23.0 * rate / 1e9 - kelvin) / 60.0 * 0.1;
        slow_s += if slow { 0.1 } else { 0.0 };
        let switches = if slow { kelvin < release_k } else { kelvin > onset_k };
        if switches {
            let label = if slow { Label::Throttled } else { Label::FullSpeed };
            findings.segments.push(segment(
                since_s,
                t_s,
                SegmentOp::Write,
                rate,
                label,
                341.0,
                kelvin.floor(),
            ));
            findings.events.push(relay_event(t_s, if slow { release_k } else { onset_k }, slow));
            onsets += u32::from(!slow);
            (slow, since_s) = (!slow, t_s);
        }
        io.push(row(tick, 0, Op::Write, rate * (1.0 + 0.02 * noise.next()), &mut noise));
        if tick % 10 == 0 {
            let mut reading = sample(tick as u32 / 10, kelvin, &mut noise);
            (reading.tmt1_transitions, reading.tmt1_seconds) = (Some(40 + onsets), Some(900 + slow_s as u32));
            let is_gap = (300..312).contains(&(tick / 10));
            telemetry.push(match is_gap {
                true => TelemetryRow::failed(reading.t, "smart", reading.cost, "ioctl: timed out"),
                false => reading,
            });
        }
    }
    findings.segments.push(segment(since_s, 600.0, SegmentOp::Write, 2.6e9, Label::FullSpeed, 340.0, 342.0));
    (findings.policy.onset_k, findings.policy.release_k) = (Some(onset_k), Some(release_k));
    let mut record = record(io, telemetry, &["write"], hctm(tmt1_k, 358));
    record.manifest.origin = Origin::Device;
    record.manifest.drive.kind = "nvme".into();
    record.manifest.address = "/dev/nvme0n1".into();
    record.manifest.drive.model = Some("Example NVMe 1TB".into());
    record.manifest.drive.serial = Some("S123456789".into());
    ReportInput::new(&record, findings)
}

fn relay_event(t_s: f64, kelvin: f64, is_release: bool) -> Event {
    let kind = if is_release { EventKind::ThrottleRelease } else { EventKind::ThrottleOnset };
    Event {
        kind,
        t_s,
        temp_k: Some(kelvin),
        cause: Cause::HctmTmt1,
        strength: Some(if is_release { 13.0 } else { 0.077 }),
        confidence: 0.98,
        candidates: Vec::new(),
        observations: vec![weighed(Observation::CounterMoved { threshold: HostThreshold::Tmt1 }, 5.0)],
    }
}

fn relay_findings() -> Findings {
    Findings {
        schema: analysis::SCHEMA,
        simulated: Some(false),
        segments: vec![],
        events: vec![],
        policy: Policy {
            class: PolicyClass::Relay,
            also: vec![],
            onset_k: Some(343.0),
            release_k: Some(340.0),
            floor_bytes_per_s: Some(2.0e8),
            levels: Vec::new(),
            confidence: 0.97,
            from_runs: None,
        },
        slc_cache: None,
        thermal: Thermal::default(),
        steady_state: None,
        life: None,
        power: None,
        accesses: None,
        fills: Vec::new(),
        wear: None,
        wobble: Vec::new(),
        caveats: vec![Caveat::Gap(Hole::Temperature {
            holes: 1,
            missing_s: 11.0,
            reason: Some("ioctl: timed out".into()),
        })],
    }
}

fn weighed(observation: Observation, weight: f64) -> WeighedObservation {
    WeighedObservation { observation, weight: Some(weight) }
}

/// Read and written at once, until the write cache is full.
pub(crate) fn mixed() -> ReportInput {
    let mut noise = Noise(3);
    let mut io = Vec::new();
    for tick in 0..1200u64 {
        let factor = if tick < 700 { 1.0 } else { 0.1 };
        for (op, rate) in [(Op::Read, 4.0e8), (Op::Write, 6.0e8)] {
            io.push(row(tick, 0, op, rate * factor * (1.0 + 0.05 * noise.next()), &mut noise));
        }
    }
    let telemetry = (0..120).map(|s| sample(s, 310.0 + f64::from(s) / 20.0, &mut noise)).collect();
    let record = record(io, telemetry, &["mixed"], ThermalSettings::default());
    let mut findings = relay_findings();
    findings.segments = vec![
        segment(0.0, 70.0, SegmentOp::Mixed, 1.0e9, Label::FullSpeed, 310.0, 313.0),
        segment(70.0, 120.0, SegmentOp::Mixed, 1.0e8, Label::SlcExhausted, 313.0, 315.0),
    ];
    findings.events = vec![Event {
        kind: EventKind::SlcExhausted,
        t_s: 70.0,
        temp_k: Some(313.0),
        cause: Cause::NotThermal,
        strength: Some(0.1),
        confidence: 0.9,
        candidates: Vec::new(),
        observations: vec![weighed(Observation::Cool { temp_k: 313.0 }, 3.0)],
    }];
    findings.slc_cache =
        Some(SlcCache { bytes: 42_000_000_000, before_bytes_per_s: 6.0e8, after_bytes_per_s: 6.0e7 });
    findings.policy.class = PolicyClass::Undetermined;
    (findings.policy.onset_k, findings.policy.release_k, findings.policy.floor_bytes_per_s) =
        (None, None, None);
    findings.caveats.clear();
    ReportInput::new(&record, findings)
}

fn segment(
    start_s: f64,
    end_s: f64,
    op: SegmentOp,
    rate: f64,
    label: Label,
    temp_start_k: f64,
    temp_end_k: f64,
) -> Segment {
    Segment {
        start_s,
        end_s,
        op,
        mean_bytes_per_s: Some(rate),
        label,
        temp_start_k: Some(temp_start_k),
        temp_end_k: Some(temp_end_k),
    }
}

fn row(tick: u64, phase: u32, op: Op, rate: f64, noise: &mut Noise) -> IoRow {
    let mut clat = Histogram::new();
    // 1 MiB at depth 64: Little's law gives the mean, a long tail the rest.
    let mean_ns = 64.0 * 1_048_576.0 / rate.max(1.0) * 1e9;
    for index in 0..40 {
        let tail = if index == 39 { 3.0 } else { 1.0 };
        clat.record_ns((mean_ns * tail * (1.0 + 0.3 * noise.next())) as u64);
    }
    IoRow {
        t: Instant::from_ns(tick * TICK_NS),
        span: Duration::from_nanos(TICK_NS),
        phase,
        op,
        bytes: Bytes::new((rate * 0.1) as u64),
        ios: (rate * 0.1 / 1_048_576.0) as u64,
        errors: 0,
        slat: Histogram::new(),
        clat,
    }
}

fn sample(second: u32, kelvin: f64, noise: &mut Noise) -> TelemetryRow {
    let t = Instant::from_ns(u64::from(second) * 1_000_000_000);
    let whole = |kelvin: f64| Some(Kelvin::from_kelvin(kelvin as u16));
    let mut row = TelemetryRow::empty(t, "smart", Duration::from_micros(90));
    row.composite = whole(kelvin);
    row.sensors[0] = whole(kelvin - 4.0);
    row.sensors[1] = whole(kelvin + 9.0);
    (row.tmt1_transitions, row.tmt1_seconds) = (Some(40), Some(900));
    row.power = Some(Watts::new(3.0 + (kelvin - 300.0) / 12.0 + 0.1 * noise.next()));
    row
}

fn hctm(tmt1_k: u16, tmt2_k: u16) -> ThermalSettings {
    ThermalSettings { tmt1_k: Some(tmt1_k), tmt2_k: Some(tmt2_k), power_state: None }
}

const CLOCK_ANCHOR: ClockAnchor =
    ClockAnchor { wall_unix_ns: 1_790_000_000_000_000_000, monotonic_ns: Some(123_456_789) };

fn record(io: Vec<IoRow>, telemetry: Vec<TelemetryRow>, phases: &[&str], set: ThermalSettings) -> Record {
    let end_ns = io.last().map_or(0, |row| row.t.as_ns() + TICK_NS);
    let length_ns = end_ns / phases.len() as u64;
    let phase = |(index, name): (usize, &&str)| PhaseFacts {
        name: (*name).to_owned(),
        ops: if *name == "mixed" { vec!["read".into(), "write".into()] } else { vec![(*name).to_owned()] },
        what: format!("sequential {name}, 1 MiB, depth 64"),
        rate_limit_bytes_per_s: None,
        buffered: false,
        start_ns: Some(index as u64 * length_ns),
        end_ns: Some((index as u64 + 1) * length_ns),
        ended_by: Some("duration".into()),
        round: None,
        tracked: false,
        within_cache: false,
    };
    let before = ThermalSettings { tmt1_k: Some(0), tmt2_k: Some(358), power_state: Some(0) };
    let manifest = Manifest {
        schema: analysis::SCHEMA,
        heatsoak_version: "0.1.0".into(),
        origin: Origin::Twin { profile: "ssd1".into(), profile_toml: "name = \"ssd1\"\n".into(), seed: 1 },
        address: "twin:ssd1".into(),
        drive: DriveFacts {
            kind: "twin".into(),
            model: Some("SSD1".into()),
            serial: None,
            firmware: None,
            wwn: None,
            size_bytes: 1_000_204_886_016,
            block_bytes: 512,
            warning_k: Some(358),
            critical_k: Some(363),
            tmt_min_k: Some(273),
            tmt_max_k: Some(358),
            hctm: Some(true),
            slc_bytes: None,
            power_states: None,
        },
        plan_name: "hctm-read".into(),
        plan_toml: "name = \"hctm-read\"\ninterval = \"100ms\"\nseed = 1\n".into(),
        interval_ns: TICK_NS,
        phases: phases.iter().enumerate().map(phase).collect(),
        settings: SettingsFacts { before: before.clone(), after: Some(before), set },
        stop_at_k: Some(360),
        host: Some(HostFacts {
            hostname: "lab3".into(),
            kernel: "Linux 6.1.0-28-amd64 #1 SMP".into(),
            cpu: Some("Example CPU".into()),
            cpu_count: 8,
            memory_bytes: Some(32 << 30),
        }),
        link: Some(LinkFacts {
            name: "PCIe 8.0 GT/s x4".into(),
            ceiling_bytes_per_s: 3.938e9,
            possible_bytes_per_s: None,
        }),
        link_end: None,
        ambient_k: None,
        meters: Vec::new(),
        power_baseline: None,
        rated_write_bytes: None,
        switched_on: false,
        answers: Vec::new(),
        clock_anchor: CLOCK_ANCHOR,
        transport_events: Vec::new(),
        governor: None,
        notes: vec!["The first 20 % of the drive was written before.".into()],
        end: Some(End { reason: EndReason::Completed, t_ns: end_ns, detail: None }),
    };
    Record { manifest, io, telemetry, smart: vec![], unfinished: false, lost: vec![] }
}

/// Seeded noise, roughly normal with deviation 1: the sum of four uniform draws.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        (0..4).map(|_| self.uniform() - 0.5).sum::<f64>() * 1.732
    }

    fn uniform(&mut self) -> f64 {
        // Knuth's MMIX generator; good enough to look at.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
