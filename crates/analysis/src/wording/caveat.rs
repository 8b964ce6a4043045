//! Caveats as sentences.

use measure::{Bytes, BytesPerSec};
use trace::SegmentOp;
use trace::caveat::{
    Caveat, ClockDoubt, ClockStep, CounterDoubt, CutOff, Cycles, Damage, HeatingUnknown, Hole, IoFailure,
    SettingsSeen, SlowdownSeen, SteppedClock, StillCounters, StillSensor, Sums, Unseen,
};

use super::degrees;

/// A caveat as a sentence.
#[expect(clippy::too_many_lines, reason = "a table: one sentence a variant")]
pub fn caveat(caveat: &Caveat) -> String {
    match caveat {
        Caveat::AboveLinkRate { span_s, of_s, lasting, fastest_bytes_per_s, link_bytes_per_s } => {
            let (fastest, link) = (BytesPerSec::new(*fastest_bytes_per_s), BytesPerSec::new(*link_bytes_per_s));
            let seen = format!("Up to {fastest} for {span_s:.1} s of {of_s:.0} s, faster than the link ({link})");
            match lasting {
                true => format!("{seen}: the stated link rate or the units of the log are wrong, check both."),
                false => format!(
                    "{seen}: more than I/Os at the edge of an interval explain, so times or bytes are off there; means over a minute are not."
                ),
            }
        }
        Caveat::AtLinkRate { span_s, bytes_per_s, link_bytes_per_s, all_of_it } => {
            let speed = BytesPerSec::new(*bytes_per_s);
            let what = at_link(*bytes_per_s, *link_bytes_per_s, *all_of_it);
            format!("For {span_s:.0} s the speed was {speed}, {what}.")
        }
        Caveat::AmbientUnknown => "The temperature around the drive is not known: in a place that is warmer or cooler by some kelvins the drive is as well, and heat slows it down sooner, later or not at all.".to_owned(),
        Caveat::Averaged { interval_s } => {
            format!("Speeds are means over {interval_s:.0} s: shorter bursts and cycles are not in them.")
        }
        Caveat::Clock(doubt) => clock(doubt),
        Caveat::ClockDrift { over_s, by_s, scatter_s } => format!(
            "Within {over_s:.0} s the temperature's times move by {:.0} s (± {scatter_s:.0} s) against the speed's: the clock of the speed runs {} than that of the temperature. Temperatures of events belong to other moments, the more the further apart the clocks are.",
            by_s.abs(),
            if *by_s > 0.0 { "slower" } else { "faster" }
        ),
        Caveat::ClockOffsetEstimated { lead, part, offset_s, uncertainty_s, explained } => format!(
            "The clocks of {lead} and {part} are not one: the second was set {offset_s:+.1} s ± {uncertainty_s:.1} s from the first one's beginning, where its temperature follows the speed best (it explains {:.0} % of it). A lag of the sensor is part of that. --offset {part}={offset_s:+.1}s fixes it.",
            100.0 * explained
        ),
        Caveat::ClockStep(step) => clock_step(step),
        Caveat::CopiedSensor { sensors } => format!(
            "Every reading of {} is that of the composite: one of them is a copy.",
            sensors.join(", ")
        ),
        Caveat::CountersWithoutHeat(doubt) => counters_without_heat(doubt),
        Caveat::CountersWithoutSlowdown { threshold, moved } => {
            format!("The drive's counters of {threshold} moved by {moved}, but its speed did not give way.")
        }
        Caveat::Cyclostationary(cycles) => cyclostationary(cycles),
        Caveat::Damaged(damage) => damaged(damage),
        Caveat::Duplicated { file, rows, first_line } => format!(
            "{file}: {rows} rows are there twice, first in line {first_line}: the second ones were left out."
        ),
        Caveat::FrozenSensor(sensor) => frozen(sensor),
        Caveat::Gap(hole) => gap(hole),
        Caveat::IoErrors(IoFailure::Some { failed }) => {
            format!("{failed} I/Os failed; they count neither as data nor as time saved.")
        }
        Caveat::IoErrors(IoFailure::Job { job, error }) => format!("fio ended job {job:?} with error {error}."),
        Caveat::PolicyUndetermined { seen } | Caveat::MechanismUndetermined { seen } => undetermined(*seen).to_owned(),
        Caveat::NoTemperature { outside_load: false } => {
            "There is no temperature, so heat can neither be blamed nor cleared.".to_owned()
        }
        Caveat::NoTemperature { outside_load: true } => "No temperature was read while the drive was under load, so heat can neither be blamed nor cleared: are the clocks of load and temperature one?".to_owned(),
        Caveat::SameRecord { runs, records: 1 } => {
            format!("All {runs} runs hold the same data, so they count as one: another run would add to it.")
        }
        Caveat::SameRecord { runs, records } => {
            format!("Of {runs} runs some hold the same data: they count as {records}.")
        }
        Caveat::NotHotEnough { runs, hottest_k } => not_hot_enough(*runs, *hottest_k),
        Caveat::NotSeen { values } => {
            let values: Vec<String> = values.iter().map(unseen).collect();
            format!("Not seen in this run, and so not known: {}.", values.join("; "))
        }
        Caveat::OtherJobs { first, last } => {
            let names = if first == last { first.clone() } else { format!("{first} to {last}") };
            format!("Only some of the jobs of this run of fio were named: {names} lie beside them. The drive did more than this; name all with --join.")
        }
        Caveat::PageCache { phases } => format!(
            "Through the page cache: {}. Its speed is partly the memory's, not the drive's.",
            phases.join(", ")
        ),
        Caveat::ReleaseNotSeen => "No run shows where the slow speed is given up again: a phase of less load behind it, until the drive has cooled, would.".to_owned(),
        Caveat::Simulated => "The drive is simulated: these numbers are a model's, not a device's.".to_owned(),
        Caveat::SlowdownWithoutCounters { why } => {
            let why = match why {
                StillCounters::OwnThreshold => {
                    ": they count TMT1 and TMT2, and not thresholds of the drive's own"
                }
                StillCounters::CountedBefore => ", although it has counted before",
                StillCounters::NeverCounted => ": it may be one that does not count",
            };
            format!("The drive was slowed down by heat and its TMT counters stood still{why}. A health log does not show this slow-down.")
        }
        Caveat::SlowTemperature { period_s } => {
            format!("Temperatures are {period_s:.0} s apart: peaks between two are not seen.")
        }
        Caveat::SumDiffers(sums) => sum_differs(sums),
        Caveat::ThermalNotIdentified(why) => {
            format!("How load becomes temperature was not determined: {}.", heating_unknown(why))
        }
        Caveat::ThresholdUndetermined { settings } => which_setting(*settings).to_owned(),
        Caveat::TooShort { longest_s } => format!(
            "The longest load took {longest_s:.0} s: too short for the drive to reach a steady temperature."
        ),
        Caveat::Truncated { file, line, left_out } => truncated(file.as_deref(), *line, *left_out),
        Caveat::Unfinished { why } => format!("The run is not whole: {why}."),
        Caveat::UnitUnstated { file, tests: None } => {
            format!("{file}: MBps states no base: 2^20 B/s is taken, as Iometer 2006 divides.")
        }
        Caveat::UnitUnstated { file, tests: Some(tests) } => format!(
            "{file}: in {tests} tests MBps states no base and the transfer sizes do not tell: 2^20 B/s is taken, as Iometer 2006 divides. If it were 10^6, speeds would be 4.6 % lower."
        ),
        Caveat::WholeKelvin => "Temperatures are whole kelvins: thresholds are known to 1 K.".to_owned(),
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
        return format!("that of the link ({rate}): the drive itself may be faster");
    }
    let of_link = 100.0 * bytes_per_s / link_bytes_per_s;
    format!(
        "{of_link:.0} % of the link's rate ({rate}), about what its protocol leaves for data: the link may be what limits, and the drive itself faster"
    )
}

fn damaged(damage: &Damage) -> String {
    match damage {
        Damage::Table { file } => {
            format!("{file} is not in the run folder, although the run has ended: what it held is not known.")
        }
        Damage::Rest { file, bytes, after_s, why } => {
            let from = after_s.map_or_else(|| "all its rows".to_owned(), |s| format!("its rows after {s:.1} s"));
            format!("{file} is cut off or damaged ({why}): {from} are missing, {bytes} bytes were left out.")
        }
        Damage::Manifest => {
            "manifest.json is not as it was written: it was edited, or it is damaged. Times of phases, settings and limits are as it has them now.".to_owned()
        }
        Damage::Phases { intervals } => {
            format!("{intervals} intervals belong to phases that the manifest does not have: left out")
        }
    }
}

fn clock(doubt: &ClockDoubt) -> String {
    match doubt {
        ClockDoubt::Overlap { intervals } => format!(
            "{intervals} intervals of load overlap the one before: their times or lengths are wrong."
        ),
        ClockDoubt::JobsInOneFile { file, times, first_line } => format!(
            "{file}: times fall back {times} times, first in line {first_line}: read as {} jobs in one file (per_job_logs=0), their speeds summed. If one run was written twice, the speeds are doubled.",
            times + 1
        ),
        ClockDoubt::JobStarts { logs } => format!(
            "The logs of {logs} count from each job's own start, which is not known without fio's JSON: they are taken to have started together."
        ),
        ClockDoubt::SameTime { readings } => {
            format!("{readings} readings have the same time as the one before.")
        }
        ClockDoubt::FileTimes => "The readings carry no time: when each file was last written is taken for it, which copying or unpacking changes.".to_owned(),
        ClockDoubt::RowsLeftOut { rows } => {
            format!("{rows} rows whose time does not lie after the row before were left out.")
        }
    }
}

fn clock_step(step: &ClockStep) -> String {
    let ClockStep { after_s, before_s, by_s, scatter_s, cyclic, set } = step;
    let way = if *by_s > 0.0 { "later" } else { "earlier" };
    let or = if *cyclic { ", or by that and whole cycles of the load" } else { "" };
    let whose = match set {
        Some(SteppedClock::Speed) => {
            "the speed's clock was set, as a hole or overlap of that size in it shows"
        }
        Some(SteppedClock::Temperature) => {
            "the temperature's clock was set, as a hole of that size in it shows"
        }
        None => "one of the two clocks was set",
    };
    format!(
        "Between {after_s:.0} s and {before_s:.0} s the temperature's times become {way} by {:.0} s (± {scatter_s:.0} s) against the speed's{or}: {whose}. Temperatures of events on one side of it belong to other moments.",
        by_s.abs()
    )
}

fn counters_without_heat(doubt: &CounterDoubt) -> String {
    match doubt {
        CounterDoubt::StillComposite { threshold, moved, composite_k } => format!(
            "The drive's counter of {threshold} moved {moved} times while the composite stood at {}: the drive goes by another temperature than it shows.",
            degrees(*composite_k)
        ),
        CounterDoubt::FarBelow { threshold, moved, below_k } => format!(
            "The drive's counter of {threshold} moved {moved} times while the composite was {below_k:.0} K below it or more: counter or temperature is wrong."
        ),
    }
}

fn cyclostationary(cycles: &Cycles) -> String {
    match cycles {
        Cycles::Heat { period_s } => format!(
            "The drive goes to and fro every {period_s:.0} s (cyclostationary): rounds shorter than that never show a steady state, rounds of several cycles always do. Mean, slowest and fastest speed belong together."
        ),
        Cycles::Dips { period_s, round_s, steady_share } => format!(
            "Speed dips every {period_s:.0} s, hot or cool (cyclostationary): with rounds of {:.0} s a rule for steady state holds in {:.0} % of its windows, with rounds of {:.0} s in {:.0} %. Mean, slowest and fastest speed belong together.",
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
            format!("The sensor {sensor} never moved while another one did: it is not gone by.")
        }
        StillSensor::WholeRun { temp_k } => format!(
            "The temperature stood at {} for the whole run, load or not: it is not measured.",
            degrees(*temp_k)
        ),
        StillSensor::Stopped { sensor, temp_k, from_s, to_s, other, other_moved_k } => format!(
            "The sensor {sensor} stood at {} from {from_s:.0} s to {to_s:.0} s while {other} moved by {other_moved_k:.0} K: it had stopped.",
            degrees(*temp_k)
        ),
    }
}

fn gap(hole: &Hole) -> String {
    match hole {
        Hole::Speed { holes, missing_s } => {
            format!("Speed is missing {holes} times, {missing_s:.1} s in all.")
        }
        Hole::Temperature { holes, missing_s, reason } => {
            let reason = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("The temperature is missing {holes} times, {missing_s:.1} s in all{reason}.")
        }
        Hole::CounterReset { resets } => {
            format!("A counter of bytes was reset {resets} times: there the speed is not known.")
        }
    }
}

/// Which measurement would decide how the drive slows down.
const fn undetermined(seen: SlowdownSeen) -> &'static str {
    match seen {
        SlowdownSeen::NoTemperature => {
            "No temperature that moves was recorded during a load: how the drive manages its heat cannot be told."
        }
        SlowdownSeen::LoadUnread => {
            "The speed was not read for most of the time, so what the drive did then is not known: a log with a speed for every second would tell."
        }
        SlowdownSeen::Unexplained => {
            "Speed gave way, and heat can neither be blamed for it nor cleared of it, so whether the drive throttles is open. `heatsoak analyze RUN --explain N` tells for each event what would decide it; the same run with a fan on the drive mostly does."
        }
        SlowdownSeen::Irregular => {
            "The drive was slowed down by heat, but too shortly or irregularly to tell by which rule. A load at full speed for 15 minutes would show whether it holds its temperature or goes to and fro."
        }
        SlowdownSeen::Following => {
            "The drive was slowed down by heat and neither a release nor a temperature that was held was seen, so the rule behind it cannot be told. A longer load, or the same one with another air flow, would decide it: a regulator keeps the temperature, a relay keeps the speed."
        }
        SlowdownSeen::OneStep => {
            "Heat slowed the drive down in one step to a speed that stayed the same, and no release was seen: that is a fixed lower speed, or one that has come to rest. A longer load, or the same one with another air flow, would decide it: a regulator keeps the temperature, a relay keeps the speed."
        }
        SlowdownSeen::SeveralRuns => {
            "Whether a fixed lower speed or one that follows the temperature is used was not seen: the same load with another air flow or ambient would decide it, as a regulator keeps the temperature and a relay keeps the speed."
        }
    }
}

fn not_hot_enough(runs: usize, hottest_k: Option<f64>) -> String {
    match hottest_k.map(degrees) {
        Some(hottest) if runs == 1 => format!(
            "Heat did not slow the drive down, and it got no hotter than {hottest}: what it does when hotter was not seen."
        ),
        hottest => {
            let up_to = hottest.map(|hottest| format!(" up to {hottest}")).unwrap_or_default();
            format!(
                "None of these runs was slowed down by heat{up_to}. A longer or heavier load, a warmer place, or a lower TMT1 where the drive takes one, would show what it does."
            )
        }
    }
}

fn unseen(value: &Unseen) -> String {
    match *value {
        Unseen::SlcBytes { written_bytes, over_stated } => {
            let why = match written_bytes {
                0.0 => "nothing was written".to_owned(),
                bytes if bytes < 1e9 => "less than 1 GB was written".to_owned(),
                _ if over_stated => "before it ended more than twice what is stated was written".to_owned(),
                bytes => format!("writing {:.0} GB was not seen to fill one", bytes / 1e9),
            };
            format!("how large a fast write cache is ({why})")
        }
        Unseen::Onset => "at which temperature slowing down begins".to_owned(),
        Unseen::Release => "at which temperature slowing down ends".to_owned(),
        Unseen::Heating { op, moved } => {
            let (doing, done) =
                if op == SegmentOp::Write { ("writing", "written") } else { ("reading", "read") };
            let why = match moved {
                true => "the data do not decide it".to_owned(),
                false => format!("nothing was {done}"),
            };
            format!("how {doing} warms the drive ({why})")
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
                "The logs add up to {} {done}, fio's own total is {} ({:+.1} %): a log is missing, is from another run, or has windows that fio left out.",
                Bytes::new(*logged_bytes as u64),
                Bytes::new(*reported_bytes as u64),
                100.0 * (logged_bytes - reported_bytes) / reported_bytes.max(1.0)
            )
        }
        Sums::Iometer { file, line, workers_mb, total_mb } => format!(
            "{file}, line {line}: the rows of the workers add up to {workers_mb:.1} MB, Iometer's total is {total_mb:.1} MB."
        ),
    }
}

fn heating_unknown(why: &HeatingUnknown) -> String {
    match why {
        HeatingUnknown::LoadUnread { share } => {
            format!("the speed was not read for {:.0} % of the time", 100.0 * share)
        }
        HeatingUnknown::FewTemperatures => "there are fewer than 30 temperatures".to_owned(),
        HeatingUnknown::ShortRun => "the run is shorter than four minutes".to_owned(),
        HeatingUnknown::EvenTemperature => "the temperature changed by less than 8 K".to_owned(),
        HeatingUnknown::NoModelFits => "no heating model fits the run".to_owned(),
        HeatingUnknown::ModelOff { rms_k } => {
            format!("the best heating model is off by {rms_k:.1} K on average")
        }
        HeatingUnknown::SeveralModels => {
            "several models fit this run equally well; a longer one with steps and a cool-down would decide"
                .to_owned()
        }
    }
}

const fn which_setting(settings: SettingsSeen) -> &'static str {
    match settings {
        SettingsSeen::Unknown => {
            "No run says what TMT1 and TMT2 were set to: runs at two settings that are 5 K apart, with them recorded, would tell whether the threshold follows them."
        }
        SettingsSeen::ChangedTogether => {
            "TMT1 and TMT2 were changed together, so which of them the threshold follows is not told: a run with one of them as before and the other 5 K lower would decide it."
        }
        SettingsSeen::TooFew => {
            "The threshold was not seen at enough settings: one more run with TMT1 and TMT2 another 5 K lower would decide whether it follows them."
        }
        SettingsSeen::AllAlike => {
            "All runs have the same TMT1 and TMT2, so whether the threshold follows them is not told: a run with both of them 5 K lower would decide it."
        }
    }
}

fn truncated(file: Option<&str>, line: usize, left_out: CutOff) -> String {
    let Some(file) = file else {
        return format!("The last line, {line}, was cut short and is left out.");
    };
    match left_out {
        CutOff::LastLine => format!("{file}: the last line ({line}) is cut short and was left out."),
        CutOff::LastStatus => {
            format!("{file}: the last status (from line {line}) is cut short and was left out.")
        }
        CutOff::LastReading => {
            format!("{file}: the last reading (from line {line}) is cut short and was left out.")
        }
        CutOff::Line => format!("{file}: line {line} is cut short and was left out."),
        CutOff::Test => {
            format!("{file}: the test that begins in line {line} has no end: it was left out.")
        }
    }
}
