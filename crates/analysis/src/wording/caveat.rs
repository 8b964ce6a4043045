//! Caveats as sentences.

use measure::{Bytes, BytesPerSec};
use trace::SegmentOp;
use trace::caveat::{
    Caveat, ClockDoubt, ClockStep, CounterDoubt, CutOff, Cycles, Damage, HeatingUnknown, Hole, IoFailure,
    SettingsSeen, SlowdownSeen, SteppedClock, StillCounters, StillSensor, Sums, Unseen,
};

use super::{degrees, duration, sensor_name, with_cache_size};

/// " (100 transitions, 16800 s)", of what is known and moved.
fn counted(transitions: Option<u64>, seconds: Option<u64>) -> String {
    let transitions = transitions.filter(|count| *count > 0).map(|count| match count {
        1 => "one transition".to_owned(),
        n => format!("{n} transitions"),
    });
    let seconds = seconds.filter(|seconds| *seconds > 0).map(|seconds| format!("{seconds} s"));
    let moved: Vec<String> = transitions.into_iter().chain(seconds).collect();
    if moved.is_empty() { String::new() } else { format!(" ({})", moved.join(", ")) }
}

/// A caveat as a sentence, with commands as real drives need them.
pub fn caveat(caveat: &Caveat) -> String {
    caveat_of(caveat, false)
}

/// A caveat as a sentence; of a simulated drive its commands need less.
pub fn caveat_of(caveat: &Caveat, simulated: bool) -> String {
    with_cache_size(&sentence(caveat), simulated)
}

#[expect(clippy::too_many_lines, reason = "a table: one sentence a variant")]
fn sentence(caveat: &Caveat) -> String {
    match caveat {
        Caveat::AboveLinkRate { span_s, of_s, lasting, fastest_bytes_per_s, link_bytes_per_s } => {
            let (fastest, link) = (BytesPerSec::new(*fastest_bytes_per_s), BytesPerSec::new(*link_bytes_per_s));
            let seen = format!("Above the link rate of {link} (up to {fastest}) for {span_s:.1} s of {of_s:.0} s");
            match lasting {
                true => format!("{seen}: the stated link rate or the units of the log are wrong."),
                false => format!(
                    "{seen}, more than interval jitter explains: times or bytes are wrong there. Use means of a minute, not single samples."
                ),
            }
        }
        Caveat::AtLinkRate { span_s, bytes_per_s, link_bytes_per_s, all_of_it, possible_bytes_per_s } => {
            let speed = BytesPerSec::new(*bytes_per_s);
            let what = at_link(*bytes_per_s, *link_bytes_per_s, *all_of_it);
            let slow = possible_bytes_per_s.map_or(String::new(), |possible| {
                let possible = BytesPerSec::new(possible);
                format!(" The drive's side of it can carry {possible}: use a faster port, hub or cable.")
            });
            format!("For {span_s:.0} s the speed was {speed}, {what}.{slow}")
        }
        Caveat::AmbientAboveDrive { ambient_k, coolest_k } => format!(
            "The stated ambient of {} is hotter than the drive, which was read at {}: one of the two is wrong, or the drive had just been brought in. Heating above ambient is not to be trusted.",
            degrees(*ambient_k),
            degrees(*coolest_k)
        ),
        Caveat::AmbientUnknown => "Ambient was not recorded; onset times shift with it (`--ambient 24C` records it).".to_owned(),
        Caveat::Averaged { interval_s, longest_interval_s } => {
            let longest = longest_interval_s.map_or_else(String::new, |longest_s| format!(", the longest of {}", duration(longest_s)));
            format!("Speeds are means of {}{longest}; shorter bursts and cycles are averaged out.", duration(*interval_s))
        }
        Caveat::Clock(doubt) => clock(doubt),
        Caveat::ClockDrift { over_s, by_s, scatter_s } => format!(
            "Clock drift: over {over_s:.0} s the temperature log shifts by {:.0} s (± {scatter_s:.0} s) against the speed log, whose clock runs {}. Temperatures of events are off by up to that.",
            by_s.abs(),
            if *by_s > 0.0 { "slower" } else { "faster" }
        ),
        Caveat::ClockOffsetEstimated { lead, part, offset_s, uncertainty_s, explained } => format!(
            "{lead} and {part} have different clocks. The offset of {part} was estimated as {offset_s:+.1} s ± {uncertainty_s:.1} s, sensor lag included, from how its temperature follows the speed ({:.0} % explained). To fix it: --offset {part}={offset_s:+.1}s.",
            100.0 * explained
        ),
        Caveat::ClockStep(step) => clock_step(step),
        Caveat::CopiedSensor { sensors } => format!(
            "{} and the composite temperature are always equal: copies of one sensor.",
            sensors.iter().map(|sensor| sensor_name(sensor)).collect::<Vec<_>>().join(" and ")
        ),
        Caveat::CountersWithoutHeat(doubt) => counters_without_heat(doubt),
        Caveat::CountersWithoutSlowdown { threshold, transitions, seconds } => format!(
            "The {threshold} counters moved{}, but the speed shows no slowdown by heat.",
            counted(*transitions, *seconds)
        ),
        Caveat::Cyclostationary(cycles) => cyclostationary(cycles),
        Caveat::Damaged(damage) => damaged(damage),
        Caveat::Duplicated { file, rows, first_line } => format!(
            "{file}: {rows} duplicate rows were left out, the first in line {first_line}."
        ),
        Caveat::FasterInOtherRun { op, bytes_per_s } => format!(
            "Another run of the drive {} at {}: whether this one did so at full speed is not known.",
            ran(*op),
            BytesPerSec::new(*bytes_per_s)
        ),
        Caveat::SlowerPowerState { op, power_state, bytes_per_s, faster_power_state, faster_bytes_per_s } => format!(
            "Power state {power_state} is slower, without throttling: the drive {} at {} in it, and at {} in power state {faster_power_state}, {:.1} times as fast.",
            ran(*op),
            BytesPerSec::new(*bytes_per_s),
            BytesPerSec::new(*faster_bytes_per_s),
            faster_bytes_per_s / bytes_per_s
        ),
        Caveat::FrozenSensor(sensor) => frozen(sensor),
        Caveat::Gap(hole) => gap(hole),
        Caveat::TransportReset { start_s, stopped_s, log: Some(log) } if *stopped_s > 0.0 => format!(
            "Transport reset: no I/O ended for {stopped_s:.0} s from {start_s:.0} s on, and the kernel logged \"{log}\". Not throttling; these seconds are left out of the speed."
        ),
        Caveat::TransportReset { start_s, log: Some(log), .. } => format!(
            "The kernel gave up commands or reset the transport, first at {start_s:.0} s (\"{log}\"); no I/O waited long for it. Check cable, port power and the bridge's firmware."
        ),
        Caveat::TransportLost { at_s, log } => format!(
            "The drive left the bus at {at_s:.0} s: the kernel logged \"{log}\". Check cable, port power and bridge; this is not throttling."
        ),
        Caveat::TransportReset { start_s, stopped_s, log: None } => format!(
            "No I/O ended for {stopped_s:.0} s from {start_s:.0} s on: as long as the kernel waits before it resets a USB bridge. Taken for a transport reset, not for throttling; `dmesg` shows \"reset SuperSpeed\" or \"uas_eh_abort_handler\" then."
        ),
        Caveat::IoErrors(IoFailure::Some { failed }) => {
            format!("{failed} I/Os failed; they are not counted in speed, IOPS or latency.")
        }
        Caveat::IoErrors(IoFailure::Job { job, error }) => format!("fio ended job {job:?} with error {error}."),
        Caveat::PolicyUndetermined { seen } | Caveat::MechanismUndetermined { seen } => undetermined(*seen).to_owned(),
        Caveat::NoTemperature { outside_load, counted } => no_temperature(*outside_load, *counted),
        Caveat::RunsDisagree { run, free_k, threshold_k } => format!(
            "Open: the runs contradict each other. {run} ran the same load at full speed up to {}, {:.0} K above the threshold ({}) of the others. Check that all are of one drive, firmware and temperature sensor, and that TMT1 and TMT2 were the same; then repeat that load until it is that hot.",
            degrees(*free_k),
            free_k - threshold_k,
            degrees(*threshold_k)
        ),
        Caveat::SameRecord { runs, records, exact } => same_record(*runs, *records, *exact),
        Caveat::NotHotEnough { runs, hottest_k, governed } => not_hot_enough(*runs, *hottest_k, *governed),
        Caveat::NotSeen { values } => {
            let values: Vec<String> = values.iter().map(unseen).collect();
            format!("Not observed in this run: {}.", values.join("; "))
        }
        Caveat::OtherJobs { first, last } => {
            let names = if first == last { first.clone() } else { format!("{first} to {last}") };
            format!("Other jobs of this fio run were not included ({names}): the drive did more I/O than shown. Name all of them with --join.")
        }
        Caveat::PageCache { phases } => format!(
            "Buffered I/O: {}. Its speed is partly the page cache's.",
            phases.join(", ")
        ),
        Caveat::ReleaseNotSeen => "Open: the release temperature. A cool-down under light load after the heavy one shows it, as in `heatsoak run thermal-id --drive DRIVE`.".to_owned(),
        Caveat::Simulated => "Simulated drive: these numbers come from a model.".to_owned(),
        Caveat::SlowdownWithoutCounters { why } => {
            let why = match why {
                StillCounters::OwnThreshold => {
                    ": a firmware threshold is not counted there"
                }
                StillCounters::CountedBefore => ", although they have moved before",
                StillCounters::NeverCounted => ": this drive may not implement them",
            };
            format!("The TMT counters did not move while the drive throttled{why}. The SMART log does not show this throttling.")
        }
        Caveat::SensorSpikes { readings: 1, by_k } => format!(
            "One temperature reading is {by_k:.0} K away from those before and after it; it is not used."
        ),
        Caveat::SensorSpikes { readings, by_k } => format!(
            "{readings} temperature readings are up to {by_k:.0} K away from those before and after them; they are not used."
        ),
        Caveat::SlowTemperature { period_s } => {
            format!("Temperature was read every {}; peaks in between are missed.", every(*period_s))
        }
        Caveat::SumDiffers(sums) => sum_differs(sums),
        Caveat::ThermalNotIdentified(HeatingUnknown::TimeConstants) => {
            "Thermal time constants not determined: several fit this run equally well; `heatsoak run thermal-id --drive DRIVE` decides."
                .to_owned()
        }
        Caveat::ThermalNotIdentified(why @ HeatingUnknown::SeveralModels) => {
            format!("Heating (K for each GB/s) not determined: {}.", heating_unknown(why))
        }
        Caveat::ThermalNotIdentified(why) => {
            format!("Heating model not determined: {}.", heating_unknown(why))
        }
        Caveat::ThresholdUndetermined { settings } => which_setting(*settings).to_owned(),
        Caveat::TooShort { longest_s } => format!(
            "The longest load lasted {longest_s:.0} s, too short for a steady temperature."
        ),
        Caveat::Truncated { file, line, left_out } => truncated(file.as_deref(), *line, *left_out),
        Caveat::Unfinished { why } => format!("Incomplete run: {why}."),
        Caveat::UnitUnstated { file, tests: None } => {
            format!("{file}: MBps has no stated base; read as 2^20 B/s, as Iometer 2006 reports it.")
        }
        Caveat::UnitUnstated { file, tests: Some(tests) } => format!(
            "{file}: in {tests} tests MBps has no stated base and the transfer sizes do not show it; read as 2^20 B/s, as Iometer 2006 reports it. As 10^6 B/s, speeds are 4.6 % lower."
        ),
        Caveat::WholeKelvin { step_k } if *step_k > 1.0 => {
            format!("Temperatures move in steps of {step_k:.0} K, so thresholds are known to {step_k:.0} K.")
        }
        Caveat::WholeKelvin { .. } => {
            "Temperatures are whole kelvins, so thresholds are known to 1 K.".to_owned()
        }
    }
}

/// The fixed name of a caveat, as JSON has it.
pub fn kind(caveat: &Caveat) -> String {
    let json = serde_json::to_value(caveat).unwrap_or_default();
    json["kind"].as_str().unwrap_or_default().to_owned()
}

fn at_link(bytes_per_s: f64, link_bytes_per_s: f64, all_of_it: bool) -> String {
    let rate = BytesPerSec::new(link_bytes_per_s);
    if all_of_it {
        return format!("the link rate ({rate}): the drive may be faster than its link");
    }
    let of_link = 100.0 * bytes_per_s / link_bytes_per_s;
    format!(
        "{of_link:.0} % of the link rate ({rate}), about the protocol limit: the link may be the bottleneck"
    )
}

fn damaged(damage: &Damage) -> String {
    match damage {
        Damage::Table { file } => {
            format!("{file} is missing from the run folder of a finished run.")
        }
        Damage::Rest { file, bytes, after_s, why } => {
            let from = after_s.map_or_else(|| "all rows".to_owned(), |s| format!("rows after {s:.1} s"));
            format!("{file} is truncated or damaged ({why}): {from} are missing ({bytes} bytes).")
        }
        Damage::Manifest => {
            "manifest.json was edited or is damaged; phase times, settings and limits are taken as they stand.".to_owned()
        }
        Damage::Phases { intervals } => {
            format!("{intervals} intervals belong to phases that are not in the manifest and were left out.")
        }
    }
}

fn clock(doubt: &ClockDoubt) -> String {
    match doubt {
        ClockDoubt::Overlap { intervals } => format!(
            "{intervals} intervals overlap the previous one: their times or lengths are wrong."
        ),
        ClockDoubt::JobsInOneFile { file, times, first_line } => format!(
            "{file}: times go backwards {}, first in line {first_line}; read as {} jobs in one file (per_job_logs=0) with their speeds summed. If one run was written twice, speeds are doubled.",
            often(*times),
            times + 1
        ),
        ClockDoubt::JobStarts { logs } => format!(
            "The logs of {logs} count from each job's start, which only fio's JSON records; they are assumed to start together."
        ),
        ClockDoubt::SameTime { readings } => {
            match readings {
                1 => "One reading has the same time as the previous one.".to_owned(),
                n => format!("{n} readings have the same time as the previous one."),
            }
        }
        ClockDoubt::FileTimes => "The readings carry no time; the modification time of each file is used, which copying or unpacking changes.".to_owned(),
        ClockDoubt::DatesInNames => "The readings carry no time; the dates in their files' names are used, so times between them are off by up to a day.".to_owned(),
        ClockDoubt::RowsLeftOut { rows } => {
            match rows {
                1 => "One row with a time not after the previous row was left out.".to_owned(),
                rows => format!("{rows} rows with a time not after the previous row were left out."),
            }
        }
        ClockDoubt::DaylightSaving { file, after, is_back: true } => format!(
            "{file}: the clock was set back by 1 h after {after}, as at the end of daylight saving time. Rows stay in the order of the file; those after it count 1 h later."
        ),
        ClockDoubt::DaylightSaving { file, after, is_back: false } => format!(
            "{file}: the clock was set forward by 1 h after {after}, as at the start of daylight saving time. That hour is left out."
        ),
        ClockDoubt::SetBack { file, after, by_s, more, step_s } => {
            let again = match more {
                0 => String::new(),
                1 => " and once more".to_owned(),
                more => format!(" and {more} more times"),
            };
            format!(
                "{file}: the clock was set back by {by_s:.0} s after {after}{again}. Rows stay in the order of the file and go on after the usual {step_s:.3} s; the real pause is unknown."
            )
        }
        ClockDoubt::OlderRows { file, first_row } => format!(
            "{file}: the rows from no. {first_row} on are older than all before, as in a file that was appended in the wrong place; they were sorted by time."
        ),
    }
}

fn clock_step(step: &ClockStep) -> String {
    let ClockStep { after_s, before_s, by_s, scatter_s, cyclic, set } = step;
    let way = if *by_s > 0.0 { "later" } else { "earlier" };
    let or = if *cyclic { ", or that plus whole cycles of the load" } else { "" };
    let whose = match set {
        Some(SteppedClock::Speed) => {
            "the clock of the speed log was set, as its gap or overlap of that size shows"
        }
        Some(SteppedClock::Temperature) => {
            "the clock of the temperature log was set, as its gap of that size shows"
        }
        None => "one of the two clocks was set",
    };
    format!(
        "Clock step between {after_s:.0} s and {before_s:.0} s: the temperature log shifts {way} by {:.0} s (± {scatter_s:.0} s) against the speed log{or}; {whose}. Temperatures of events on one side of it are off by that.",
        by_s.abs()
    )
}

fn counters_without_heat(doubt: &CounterDoubt) -> String {
    match doubt {
        CounterDoubt::StillComposite { threshold, moved, composite_k } => format!(
            "The {threshold} counter moved {} while the composite temperature stayed at {}: the drive throttles by another sensor.",
            if *moved == 1 { "once".to_owned() } else { format!("{moved} times") },
            degrees(*composite_k)
        ),
        CounterDoubt::FarBelow { threshold, moved, below_k } => format!(
            "The {threshold} counter moved {moved} times with the composite temperature at least {below_k:.0} K below it: counter or temperature is wrong."
        ),
    }
}

fn cyclostationary(cycles: &Cycles) -> String {
    match cycles {
        Cycles::Heat { period_s } => format!(
            "Throttling comes and goes every {period_s:.0} s, so speed has no steady state. Measure over several whole cycles, and quote mean, lowest and highest speed together."
        ),
        Cycles::Dips { period_s, round_s, steady_share } => format!(
            "Speed dips every {period_s:.0} s, and not from heat: whether it is steady depends on the length of the rounds. With rounds of {:.0} s the SNIA steady-state rule holds in {:.0} % of its windows, with rounds of {:.0} s in {:.0} %. Quote mean, lowest and highest speed together.",
            round_s[0],
            100.0 * steady_share[0],
            round_s[1],
            100.0 * steady_share[1]
        ),
    }
}

fn frozen(sensor: &StillSensor) -> String {
    match sensor {
        StillSensor::BesideOthers { sensor } => {
            format!("{} never changed while another did; it is not used.", sensor_at_start(sensor))
        }
        StillSensor::WholeRun { temp_k } => format!(
            "The temperature was {} in every reading and shows nothing of the load; it is not used.",
            degrees(*temp_k)
        ),
        StillSensor::Stopped { sensor, temp_k, from_s, to_s, other, other_moved_k } => format!(
            "{} stayed at {} from {from_s:.0} s to {to_s:.0} s while {} changed by {other_moved_k:.0} K: it was stuck.",
            sensor_at_start(sensor),
            degrees(*temp_k),
            sensor_name(other)
        ),
    }
}

/// "Sensor 1" or "Sensor `hwmon`", at the start of a sentence.
fn sensor_at_start(name: &str) -> String {
    match sensor_name(name).strip_prefix("sensor ") {
        Some(number) => format!("Sensor {number}"),
        None => format!("Sensor `{name}`"),
    }
}

fn gap(hole: &Hole) -> String {
    match hole {
        Hole::Speed { holes, missing_s } => {
            format!("Speed has {}, {} in total.", gaps(*holes), duration(*missing_s))
        }
        Hole::Temperature { holes, missing_s, reason } => {
            let reason = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("Temperature has {}, {} in total{reason}.", gaps(*holes), duration(*missing_s))
        }
        Hole::CounterReset { resets } => {
            format!("A byte counter was reset {}; the speed is not known there.", often(*resets))
        }
    }
}

/// That runs are one record, and by what that is known.
fn same_record(runs: usize, records: usize, exact: bool) -> String {
    let what = match exact {
        true => "hold the same data, or parts of it",
        false => {
            "differ by no more than rounding and the lengths of their rows, as copies or parts of one record do"
        }
    };
    match records {
        1 => format!("All {runs} runs {what}, and count as one."),
        records => format!("Some of the {runs} runs {what}; they count as {records}."),
    }
}

/// What a missing temperature leaves open, and how to have one.
fn no_temperature(outside_load: bool, counted: bool) -> String {
    let open = match counted {
        true => ": the drive counted throttling, at which temperature is not known",
        false => ", so thermal throttling can be neither confirmed nor ruled out",
    };
    match outside_load {
        true => format!(
            "No temperature was recorded under load{open}. Check that load and temperature logs use one clock (`--offset`)."
        ),
        false => format!(
            "No temperature was recorded{open}. Repeat the load with `heatsoak watch DRIVE` beside it; or log `nvme smart-log -o json` every second, and join both logs: `heatsoak analyze SPEEDS TEMPERATURES --join`."
        ),
    }
}

/// What a drive did in an operation.
const fn ran(op: SegmentOp) -> &'static str {
    match op {
        SegmentOp::Read => "read",
        SegmentOp::Write => "wrote",
        SegmentOp::Mixed | SegmentOp::Trim | SegmentOp::Idle => "ran",
    }
}

/// A period of seconds, or of hours.
fn every(period_s: f64) -> String {
    if period_s < 7200.0 { format!("{period_s:.0} s") } else { format!("{:.0} h", period_s / 3600.0) }
}

fn often(times: usize) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}

fn gaps(count: usize) -> String {
    if count == 1 { "one gap".to_owned() } else { format!("{count} gaps") }
}

/// Which measurement would decide how the drive slows down.
const fn undetermined(seen: SlowdownSeen) -> &'static str {
    match seen {
        SlowdownSeen::NoLoad => {
            "Open: thermal throttling; no load was recorded. `heatsoak run thermal-id --drive DRIVE` runs one and records the temperature."
        }
        SlowdownSeen::CountedWithoutLoad => {
            "Open: which load throttles the drive, and how far its speed falls then; no load was recorded. `heatsoak watch DRIVE` records it under its usual load, `heatsoak run thermal-id --drive DRIVE` runs one."
        }
        SlowdownSeen::NoTemperature => "Open: thermal throttling. Record a temperature during the load.",
        SlowdownSeen::StillTemperature => {
            "Open: thermal throttling; a temperature that never moves is that of a stuck sensor, or of a drive that was throttled at it before the log began. Begin the log with the drive cool and at rest: a sensor that works rises with the load."
        }
        SlowdownSeen::ShortLoad => {
            "Open: thermal throttling; a load of a few seconds does not warm a drive. Record 10 minutes of it."
        }
        SlowdownSeen::LoadUnread => {
            "Open: the throttling policy, as the speed was not recorded for most of the time. Log it every second."
        }
        SlowdownSeen::Unexplained => {
            "Open: whether the drop in speed is thermal. Repeat the run with a fan on the drive; `heatsoak analyze RUN --explain N` shows the reasoning behind event N."
        }
        SlowdownSeen::HeatOrCache => {
            "Open: whether heat or a full SLC cache slowed the writes. Repeat the run from rest with a fan on the drive: a cache is full after the same amount of data, a throttle begins later or not at all."
        }
        SlowdownSeen::NeverCool => {
            "Open: whether a load was throttled from its first second on; the drive was hot when it began, so its speed on a cool drive is not known. Run that load alone, from a cold start."
        }
        SlowdownSeen::NeverSteady => {
            "Open: thermal throttling; the speed was never steady for two rows, as cycles shorter than the rows of a log look. Log speed and temperature more often, every second or faster."
        }
        SlowdownSeen::Irregular => {
            "Open: the throttling policy; the drive throttled too briefly or irregularly. Repeat with a longer load at full speed, or with another airflow."
        }
        SlowdownSeen::OnlyHot => {
            "Open: thermal throttling; speed fell for seconds at a time, and only while the drive was hot. Log speed and temperature every second or faster through 15 minutes at full speed."
        }
        SlowdownSeen::Clipped => {
            "Open: thermal throttling; the temperature stood at its highest while the speed changed, as a regulator holds it. Repeat with a constant load at full speed, once with a fan on the drive."
        }
        SlowdownSeen::EndedAlike => {
            "Open: whether the host paused or the drive stopped to cool; each load ended at the same temperature, the highest, however long it had lasted. Repeat with a load that does not pause: 15 minutes at full speed."
        }
        SlowdownSeen::BetweenRows => {
            "Open: the throttling policy; each drop is shorter than two rows of the log, so the speed while throttled is not known. Log the speed more often, every second or faster."
        }
        SlowdownSeen::Following => {
            "Open: the throttling policy; no release was observed, and speed and temperature did not both come to rest. Repeat with a longer load or another airflow: a regulator holds the temperature, a relay the speed."
        }
        SlowdownSeen::OneStep => {
            "Open: a fixed throttled speed, or a regulator that has settled. Repeat with a longer load or another airflow: a regulator holds the temperature, a fixed speed does not change."
        }
        SlowdownSeen::SeveralRuns => {
            "Open: a fixed throttled speed, or a regulator. Repeat the load with another airflow or ambient: a regulator holds the temperature, a fixed speed does not change."
        }
    }
}

fn not_hot_enough(runs: usize, hottest_k: Option<f64>, governed: bool) -> String {
    match hottest_k.map(degrees) {
        Some(hottest) if governed => format!(
            "Open: throttling above {hottest}; the load was held back there. The same plan with `heatsoak run` reaches more."
        ),
        Some(hottest) if runs == 1 => format!(
            "Open: throttling above {hottest}, the highest temperature of this run. A longer or heavier load, warmer air or less airflow reaches more."
        ),
        hottest => {
            let up_to = hottest.map(|hottest| format!(" up to {hottest}")).unwrap_or_default();
            format!(
                "Open: no run throttled{up_to}. Repeat with a longer load, a warmer ambient, or a lower TMT1 if the drive supports it (`--tmt1`)."
            )
        }
    }
}

fn unseen(value: &Unseen) -> String {
    match *value {
        Unseen::SlcBytes { written_bytes, over_stated, in_all_bytes } => {
            let in_all = in_all_bytes.unwrap_or(written_bytes);
            let why = match written_bytes {
                _ if in_all <= 0.0 => "nothing was written".to_owned(),
                _ if in_all < 1e9 => "less than 1 GB was written".to_owned(),
                bytes if bytes < 1e9 => {
                    format!("{} were written, while writing was slow", Bytes::new(in_all as u64).decimal())
                }
                _ if over_stated => "more than twice its stated size was written before the drop".to_owned(),
                bytes => {
                    format!("{} were written without reaching its end", Bytes::new(bytes as u64).decimal())
                }
            };
            format!("SLC cache size ({why})")
        }
        Unseen::Onset => "onset temperature".to_owned(),
        Unseen::Release => "release temperature".to_owned(),
        Unseen::LightestOnset => "onset temperature of the lightest threshold".to_owned(),
        Unseen::LightestRelease => "release temperature of the lightest threshold".to_owned(),
        Unseen::Heating { op, moved } => {
            let (doing, done) =
                if op == SegmentOp::Write { ("writes", "written") } else { ("reads", "read") };
            let why = match moved {
                true => "several models fit".to_owned(),
                false => format!("nothing was {done}"),
            };
            format!("heating by {doing} ({why})")
        }
    }
}

fn sum_differs(sums: &Sums) -> String {
    match sums {
        Sums::Fio { op, logged_bytes, reported_bytes } => {
            let done = match op {
                SegmentOp::Read => "read",
                SegmentOp::Write => "written",
                _ => "trimmed",
            };
            format!(
                "The logs sum to {} {done}, fio reports {} ({:+.1} %): a log is missing, belongs to another run, or has windows that fio omitted.",
                Bytes::new(*logged_bytes as u64),
                Bytes::new(*reported_bytes as u64),
                100.0 * (logged_bytes - reported_bytes) / reported_bytes.max(1.0)
            )
        }
        Sums::Iometer { file, line, workers_mb, total_mb } => format!(
            "{file}, line {line}: the worker rows sum to {workers_mb:.1} MB, Iometer reports {total_mb:.1} MB."
        ),
    }
}

/// Why how load becomes temperature stays open, as a clause.
pub fn heating_unknown(why: &HeatingUnknown) -> String {
    match why {
        HeatingUnknown::LoadUnread { share } => {
            format!("the speed was not recorded for {:.0} % of the time", 100.0 * share)
        }
        HeatingUnknown::FewTemperatures => "fewer than 30 temperature readings".to_owned(),
        HeatingUnknown::RareTemperatures { every_s, longest_s } => format!(
            "one temperature reading every {} is fewer than 30 in {}, the longest part of a run that is fitted",
            every(*every_s),
            every(*longest_s)
        ),
        HeatingUnknown::ShortRun => "the run is shorter than four minutes".to_owned(),
        HeatingUnknown::EvenTemperature => "the temperature changed by less than 8 K".to_owned(),
        HeatingUnknown::ModelOff { rms_k } => {
            format!("the best thermal model misses the readings by {rms_k:.1} K rms")
        }
        HeatingUnknown::WarmerAtRest { floor_k, coolest_k } => format!(
            "the best thermal model puts the idle drive at {}, and it was read at {} in this run",
            degrees(*floor_k),
            degrees(*coolest_k)
        ),
        HeatingUnknown::SeveralModels | HeatingUnknown::TimeConstants => {
            "several models fit this run equally well; `heatsoak run thermal-id --drive DRIVE` decides"
                .to_owned()
        }
    }
}

const fn which_setting(settings: SettingsSeen) -> &'static str {
    match settings {
        SettingsSeen::Unknown => {
            "Open: whether the threshold follows TMT1 or TMT2, which no run records. Record two runs with settings 5 K apart."
        }
        SettingsSeen::ChangedTogether => {
            "Open: whether the threshold follows TMT1 or TMT2, which were changed together. Run once more with only one of them 5 K lower."
        }
        SettingsSeen::TooFew => {
            "Open: whether the threshold follows TMT1 or TMT2. Run once more with both another 5 K lower."
        }
        SettingsSeen::AllAlike => {
            "Open: whether the threshold follows TMT1 or TMT2, which are the same in all runs. Run once more with both 5 K lower."
        }
    }
}

fn truncated(file: Option<&str>, line: usize, left_out: CutOff) -> String {
    let Some(file) = file else {
        return format!("The last line ({line}) is truncated and was left out.");
    };
    match left_out {
        CutOff::LastLine => format!("{file}: the last line ({line}) is truncated and was left out."),
        CutOff::LastStatus => {
            format!("{file}: the last status (from line {line}) is truncated and was left out.")
        }
        CutOff::LastReading => {
            format!("{file}: the last reading (from line {line}) is truncated and was left out.")
        }
        CutOff::Line => format!("{file}: line {line} is truncated and was left out."),
        CutOff::Test => {
            format!("{file}: the test that begins in line {line} has no end and was left out.")
        }
    }
}
