//! `heatsoak meter`: reads a power meter for a while and says what it is good for, before an hour is spent on it.

use std::sync::mpsc::channel;
use std::time::Duration;

use analysis::power::meter::{MeterCharacter, character};
use anyhow::{Context as _, bail};
use capture::session::Stop;
use drive::telemetry::power::{self, CsvColumns, MeterSampler};
use drive::telemetry::{Sampler as _, read};
use measure::record::TelemetryRow;
use measure::{Clock as _, Instant, MonotonicClock, Series};
use plan::{MeterAddress, MeterSource};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Exit;
use crate::args::MeterArgs;
use crate::printer::Printer;
use crate::{signals, table};

/// A meter that updates less often is poor for phases of half a minute: powercalc asks for 2 s, and calls 5 s poor.
const INTERVAL_GOOD_S: f64 = 2.0;
const INTERVAL_POOR_S: f64 = 5.0;
/// Phases of `heatsoak run power`.
const PHASE_S: f64 = 30.0;
/// Below so many readings a mean needs its interval.
const READINGS_GOOD: f64 = 10.0;

/// The JSON of `heatsoak meter`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Trial {
    schema: u32,
    /// As it was typed, without what is secret.
    address: String,
    /// Kind of its address, one of seven.
    kind: &'static str,
    /// What it says it is.
    about: Option<String>,
    #[serde(flatten)]
    character: MeterCharacter,
    /// Readings that failed.
    gaps: usize,
    /// Why the first of them did.
    first_gap: Option<String>,
    /// Shortest phase with ten readings, in seconds.
    shortest_phase_s: Option<f64>,
    /// What it is good for.
    verdict: Vec<String>,
}

/// Tries the meter; ends with "not done" where it gave no reading.
pub(crate) fn execute(args: &MeterArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    power::check(&args.address)
        .map_err(|why| anyhow::anyhow!("cannot read the power meter {}: {why}", args.address))?;
    let (about, rows) = match &args.address.source {
        MeterSource::Drive => bail!(
            "drive: is measured under load by the drive itself: heatsoak run power --drive ADDRESS; `heatsoak inspect` says \
             whether it does"
        ),
        MeterSource::Csv { .. } => (None, rows_of_csv(&args.address)?),
        _ => listen(args, printer)?,
    };
    let mut watts = Series::new();
    let mut gaps: Vec<&str> = Vec::new();
    for row in &rows {
        match (&row.gap, row.power) {
            (Some(why), _) => gaps.push(why),
            (None, Some(power)) => watts.push(row.t, power.as_f64()),
            (None, None) => {}
        }
    }
    let character = character(&watts);
    let trial = Trial {
        schema: 1,
        address: args.address.to_string(),
        kind: args.address.kind(),
        about,
        shortest_phase_s: character.interval_s.map(|interval_s| interval_s * READINGS_GOOD),
        verdict: verdict(&character, gaps.len()),
        first_gap: gaps.first().map(|why| (*why).to_owned()),
        gaps: gaps.len(),
        character,
    };
    if args.json {
        printer.json(&trial)?;
    } else {
        printer.data(&for_people(&trial, printer.data_width()))?;
    }
    Ok(if trial.character.readings == 0 { Exit::NotDone } else { Exit::Done })
}

fn rows_of_csv(address: &MeterAddress) -> anyhow::Result<Vec<TelemetryRow>> {
    let MeterSource::Csv { path, time, power, clock } = &address.source else { return Ok(Vec::new()) };
    let watts_per_unit = address.stated.watts_per_unit.unwrap_or(1.0);
    // Only differences of time count here, so that any clock will do.
    let columns = CsvColumns { time, power, clock: *clock, began_unix_s: 0.0, watts_per_unit };
    Ok(power::read_csv(path, "power", &columns)?)
}

/// Reads until the time is over or the user wants no more.
fn listen(args: &MeterArgs, printer: &mut Printer) -> anyhow::Result<(Option<String>, Vec<TelemetryRow>)> {
    let reader = power::reader(&args.address).context("there is nothing to read")?;
    let stop = signals::stop_flag()?;
    let mut sampler = MeterSampler::new("power".to_owned(), &args.address, reader);
    let about = sampler.about();
    if !args.json {
        printer.message(&format!("reading {} for {} s", args.address, args.duration.as_secs()));
    }
    let clock = MonotonicClock::start();
    let mut rows: Vec<TelemetryRow> = Vec::new();
    let mut due = Instant::ZERO;
    // Nobody sends: a wait for it is a pause.
    let (_never, pause) = channel::<()>();
    while clock.now().since(Instant::ZERO) < args.duration && stop.asks() == Stop::No {
        let row = read(&mut sampler, &clock).row;
        if !row.is_empty() {
            rows.push(row);
        }
        due = (due + sampler.period()).max(clock.now());
        while clock.now() < due && stop.asks() == Stop::No {
            let _ = pause.recv_timeout(due.since(clock.now()).min(Duration::from_millis(100)));
        }
    }
    Ok((about, rows))
}

/// What it is good for, a sentence each; the one that decides comes first.
fn verdict(meter: &MeterCharacter, gaps: usize) -> Vec<String> {
    let mut verdict = Vec::new();
    let (Some(mean_w), readings) = (meter.mean_w, meter.readings) else {
        return vec!["No reading: nothing can be measured with it.".to_owned()];
    };
    if mean_w < 0.001 {
        verdict.push(
            "It reads 0 W: what is on it is below its range (plugs show nothing below about 0.4 W). That is no baseline of \
             0 W."
                .to_owned(),
        );
    }
    match meter.interval_s {
        Some(interval_s) if interval_s > INTERVAL_POOR_S => verdict.push(format!(
            "Poor: a reading every {interval_s:.1} s. A phase needs at least {:.0} s for ten readings.",
            interval_s * READINGS_GOOD
        )),
        Some(interval_s) if interval_s > INTERVAL_GOOD_S => verdict.push(format!(
            "Slow: a reading every {interval_s:.1} s; a phase of {PHASE_S:.0} s has {:.0}. Largest seconds are not seen.",
            PHASE_S / interval_s
        )),
        Some(interval_s) => verdict.push(format!(
            "Good for phases of {:.0} s and longer: a reading every {interval_s:.2} s.",
            (interval_s * READINGS_GOOD).max(1.0).ceil()
        )),
        None => verdict.push("One reading only: its interval is not known.".to_owned()),
    }
    if let Some(step_w) = meter.step_w.filter(|step_w| *step_w >= 0.05) {
        // Two readings, each anywhere within its last digit: 1.96 sqrt(2 step^2 / 12).
        verdict.push(format!(
            "Its last digit is {step_w:.2} W: a drive of 1 W is known to {:.0} %, of 8 W to {:.1} %.",
            80.0 * step_w,
            10.0 * step_w
        ));
    }
    if gaps * 10 > readings {
        verdict.push(format!("{gaps} readings failed; see the reason below."));
    }
    verdict
}

fn for_people(trial: &Trial, width: usize) -> String {
    let MeterCharacter { readings, interval_s, step_w, noise_w, mean_w, plus_minus_w, max_1s_w } =
        &trial.character;
    let watts = |watts: &Option<f64>| watts.map_or("-".to_owned(), |watts| format!("{watts:.3} W"));
    let mut rows = vec![["METER".to_owned(), trial.address.clone()]];
    let mut add = |name: &str, value: String| rows.push([name.to_owned(), value]);
    if let Some(about) = &trial.about {
        add("it says", about.clone());
    }
    add("readings", format!("{readings}, {} failed", trial.gaps));
    add("interval", interval_s.map_or("-".to_owned(), |seconds| format!("{seconds:.2} s")));
    add("last digit", watts(step_w));
    add("noise", watts(noise_w));
    add(
        "mean",
        plus_minus_w.map_or(watts(mean_w), |half| format!("{} +- {half:.3} W (95 %)", watts(mean_w))),
    );
    add("largest second", watts(max_1s_w));
    if let Some(why) = &trial.first_gap {
        add("failed", why.clone());
    }
    let mut text = table::fitted(&rows, width);
    for sentence in &trial.verdict {
        text.push_str(&table::paragraph(sentence, "", width));
    }
    text
}
