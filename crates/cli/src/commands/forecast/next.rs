//! "What to do" of a run: the numbers of `fit::next` as sentences with commands.
//!
//! Only where heat slowed the drive down and the thermal model holds; else nothing is said here, and the verdict's own
//! open questions stand alone.

use ::fit::next::{
    AIRFLOW, COOLER_K, NextOpen, NextSteps, hottest_seen_k, is_short, mean_speed, next_steps, peak_k,
};
use ::fit::predict::{Forecast, Ranged};
use ::fit::recommend::{Choice, Settings};
use ::fit::{Fitted, RateLimit, RunData, opinion, rate_limit, with_cache_size};
use analysis::Findings;
use analysis::findings::EventKind;
use analysis::wording::heating_unknown;
use measure::BytesPerSec;
use trace::Trace;
use trace::caveat::{Caveat, HeatingUnknown};

use super::{RecordedTmt, SEED, degrees, most_advised_k, stop_k, to_advise_on};

/// Speeds that differ by less are one speed to a reader, as a share.
const SAME_SHARE: f64 = 0.01;

/// What a run gives to advise on.
pub(crate) enum Advisable {
    /// A fit in passing is worth its second.
    Run(Box<RunData>),
    /// It is too long for one, and none of its data are kept for it.
    TooLong,
}

/// What a run gives to advise on; `None` where heat did not slow it down.
pub(crate) fn advisable(trace: &Trace, findings: &Findings) -> Option<Advisable> {
    let onset =
        |event: &&analysis::findings::Event| event.kind == EventKind::ThrottleOnset && event.cause.is_heat();
    findings.events.iter().find(onset)?;
    Some(match is_short(trace) {
        true => {
            let run = RunData::with_findings(trace, findings.clone(), None);
            Advisable::Run(Box::new(run))
        }
        false => Advisable::TooLong,
    })
}

/// What a fit in passing tells a reader of the run.
#[derive(Default)]
pub(crate) struct RunAdvice {
    /// What to do, a sentence a choice.
    pub(crate) sentences: Vec<String>,
    /// What the fit says of the throttling policy.
    pub(crate) second_opinion: Option<String>,
}

impl RunAdvice {
    fn only(sentence: String) -> Self {
        Self { sentences: vec![sentence], second_opinion: None }
    }
}

/// What to do. `from` is the run as it was typed, `drive` its address, if that is one to be set.
pub(crate) fn advice(run: &Advisable, from: &str, drive: Option<&str>) -> RunAdvice {
    let Advisable::Run(run) = run else {
        return RunAdvice::only(format!(
            "Forecasts of other settings and cooling: `heatsoak recommend {from} --goal fastest` (runs over an hour are \
             not fitted in passing)."
        ));
    };
    let mut advice = of_run(run, from, drive);
    for sentence in &mut advice.sentences {
        *sentence = with_cache_size(sentence, run.simulated);
    }
    advice
}

fn of_run(run: &RunData, from: &str, drive: Option<&str>) -> RunAdvice {
    let runs = std::slice::from_ref(run);
    // Runs that a fit refuses have their caveats already: no temperature, too few readings.
    let Ok(fitting) = ::fit::fit("run", runs, SEED) else { return RunAdvice::default() };
    let fitted = to_advise_on(Fitted::new(runs, fitting));
    // One reason and one figure on a page: that of the findings where these have one.
    let misses = |rms_k| HeatingUnknown::ModelOff { rms_k };
    let doubtful = || fitted.is_doubtful().then(|| misses(fitted.residual_rms_k));
    if let Some(why) = heating_refused(run).or_else(doubtful) {
        return RunAdvice::only(format!(
            "No forecast is made from this run: {}. `{}` is the run to fit.",
            heating_unknown(&why),
            ::fit::THERMAL_ID
        ));
    }
    let mut next = next_steps(&fitted, run);
    // A warning temperature bounds peaks where it is known.
    next.change = next.change.filter(|choice| is_below_stop(&fitted, choice));
    if let Some([measured, foretold]) = next.misses(run).map(|pair| pair.map(BytesPerSec::new)) {
        return RunAdvice::only(format!(
            "No forecast is made from this run: the drive fitted to it comes to {foretold} under its load, the run came to {measured}. \
             `{}` is the run to fit.",
            ::fit::THERMAL_ID
        ));
    }
    let onset_k = run.findings.policy.onset_k;
    let changed = next.change.as_ref().map(|choice| change(&fitted, &next, choice, drive));
    let mut sentences: Vec<String> = changed.into_iter().collect();
    sentences.extend(open(&next, drive));
    if sentences.is_empty() {
        sentences.push(no_change(&fitted, onset_k));
    }
    sentences.extend(cooling(&next));
    if next.load.is_empty() {
        return RunAdvice { sentences, second_opinion: None };
    }
    let fit = format!("`heatsoak fit {from} -o drive.toml`");
    sentences.push(format!(
        "These are simulations of a drive fitted to this run alone, with 90 % intervals; {fit} keeps it and names the \
         run that would narrow them most."
    ));
    let policy = &run.findings.policy;
    let classes: Vec<_> = std::iter::once(policy.class).chain(policy.also.iter().copied()).collect();
    RunAdvice { sentences, second_opinion: opinion::sentence(&fitted, &classes) }
}

/// Why the findings have no heating, where that is because no model is right for this run: then no forecast by one is.
fn heating_refused(run: &RunData) -> Option<HeatingUnknown> {
    use HeatingUnknown::{ModelOff, WarmerAtRest};
    run.findings.caveats.iter().find_map(|caveat| match caveat {
        Caveat::ThermalNotIdentified(why @ (ModelOff { .. } | WarmerAtRest { .. })) => Some(why.clone()),
        _ => None,
    })
}

/// Whether a drive whose warning temperature is not known stays below where load stops by itself; a rate does not heat it up.
fn is_below_stop(fitted: &Fitted, choice: &Choice) -> bool {
    let sets = choice.settings.rate_bytes_per_s.is_none();
    let peak_k = peak_k(&choice.predicted).map(|peak| peak.value);
    !sets || stop_k(fitted).is_none_or(|stop_k| peak_k.is_some_and(|peak_k| peak_k < stop_k))
}

/// That no setting is worth a line; `onset_k` is where this run was throttled first.
fn no_change(fitted: &Fitted, onset_k: Option<f64>) -> String {
    let Some(most_k) = most_advised_k(fitted) else {
        return "Settings: no other TMT1, TMT2 or rate limit would make this load as much as 2 % faster."
            .to_owned();
    };
    let most = degrees(most_k);
    match onset_k.filter(|onset_k| *onset_k >= most_k) {
        // Such a setting throttles a load earlier that is throttled as it is.
        Some(onset_k) => format!(
            "Settings: no rate limit would make this load as much as 2 % faster. TMT1 and TMT2 up to {most:.0} °C lie below the onset \
             ({:.1} °C), and higher ones are not advised without a known warning temperature.",
            degrees(onset_k)
        ),
        None => format!(
            "Settings: no rate limit and no TMT1 or TMT2 up to {most:.0} °C would make this load as much as 2 % faster (higher ones are \
             not advised without a known warning temperature)."
        ),
    }
}

/// Why it is not known what other settings bring, and the run that shows it.
fn open(next: &NextSteps, drive: Option<&str>) -> Option<String> {
    let run = match next.open.as_ref()? {
        NextOpen::FullSpeed { plan, .. } => plan,
        NextOpen::Threshold | NextOpen::Settings | NextOpen::Asked => ::fit::THERMAL_ID_QUICK,
    };
    let run = drive.map_or_else(|| run.to_owned(), |drive| run.replace("DRIVE", drive));
    Some(match next.open.as_ref()? {
        NextOpen::FullSpeed { loads, .. } => format!(
            "Settings: what another TMT1, TMT2 or rate limit would bring {loads} is not known: heat held them back all along, so \
             their full speed was not seen. `{run}`, from a cool drive, shows it."
        ),
        NextOpen::Threshold => format!(
            "Settings: what another TMT1, TMT2 or rate limit would bring is not known: the fit finds no threshold in the speeds of \
             this run. `{run}` is the run to fit."
        ),
        NextOpen::Settings => format!(
            "Settings: what another TMT1 or TMT2 would bring is not known: nothing here says what they are set to. `{run}` records \
             that and shows it."
        ),
        NextOpen::Asked => format!(
            "Settings: what another TMT1, TMT2 or rate limit would bring is not known: how much was asked for while heat held the \
             load back is not recorded. `{run}` asks for all that goes."
        ),
    })
}

/// The setting or rate that brings most.
fn change(fitted: &Fitted, next: &NextSteps, choice: &Choice, drive: Option<&str>) -> String {
    let Settings { tmt1_k, tmt2_k, rate_bytes_per_s } = choice.settings;
    let named =
        |command: &str| drive.map_or_else(|| command.to_owned(), |drive| command.replace("DRIVE", drive));
    let brings = format!("{}{}", speeds(next, &choice.predicted), peak(&next.now, &choice.predicted));
    match (tmt1_k, tmt2_k, rate_bytes_per_s) {
        (_, _, Some(rate)) => {
            let RateLimit { plan, fio } = rate_limit(rate, &next.load);
            let fio = fio.map(|fio| format!(", `{fio}`")).unwrap_or_default();
            format!(
                "Limit the load to {}: {brings}. `{plan}` in the plan{fio}; to undo, leave it out.",
                BytesPerSec::new(rate)
            )
        }
        _ => {
            let beyond = hottest_seen_k(fitted, &choice.predicted).map_or_else(String::new, |hottest_k| {
                format!(
                    ", unless a firmware threshold above the {:.0} °C of this run throttles first",
                    degrees(hottest_k)
                )
            });
            let undo = RecordedTmt::of(fitted).undo_sentence(&choice.undo, "`");
            format!("`{}`: {brings}{beyond}. To undo: {}.", named(&choice.command), named(&undo))
        }
    }
}

/// What cooler air and more of it bring.
fn cooling(next: &NextSteps) -> Option<String> {
    let brings = |then: &Forecast| speeds(next, then);
    let cooler = next.cooler.as_ref().map(|then| format!("air {COOLER_K:.0} K cooler: {}", brings(then)));
    let aired = next.aired.as_ref().map(|then| {
        format!(
            "{AIRFLOW:.0} times the airflow: {}; a run with the fan on narrows this (`{}`)",
            brings(then),
            ::fit::THERMAL_ID_QUICK
        )
    });
    let all: Vec<String> = cooler.into_iter().chain(aired).collect();
    (!all.is_empty()).then(|| format!("Cooling: {}.", all.join(". ")))
}

/// "reads 2.80 GB/s (2.62 GB/s to 2.98 GB/s) instead of 2.54 GB/s" for each operation that changes.
fn speeds(next: &NextSteps, then: &Forecast) -> String {
    let one = |op: &str| {
        let of = |forecast| mean_speed(&next.load, forecast, Some(op));
        let (now, then) = (of(&next.now)?, of(then)?);
        let same = (then.value / now.value - 1.0).abs() < SAME_SHARE;
        (!same).then(|| {
            let Ranged { value, low, high } = then;
            let [value, low, high, now] =
                [value, low, high, now.value].map(|speed| BytesPerSec::new(speed).to_string());
            // What rounds to one figure is no interval.
            let interval = if low == high { String::new() } else { format!(" ({low} to {high})") };
            let loads = if op == "mixed" { "reads and writes at once".to_owned() } else { format!("{op}s") };
            format!("{loads} {value}{interval} instead of {now}")
        })
    };
    let all: Vec<String> = ["write", "read", "mixed"].into_iter().filter_map(one).collect();
    if all.is_empty() { "the same speed".to_owned() } else { all.join(", ") }
}

/// ", peak 75 °C instead of 61 °C" where it changes by a kelvin.
fn peak(now: &Forecast, then: &Forecast) -> String {
    match (peak_k(now), peak_k(then)) {
        (Some(now), Some(then)) if (then.value - now.value).abs() >= 1.0 => {
            format!(", peak {:.0} °C instead of {:.0} °C", degrees(then.value), degrees(now.value))
        }
        _ => String::new(),
    }
}
