//! Figures as text: the table of phases, the same as lines for narrow places, and the details.

use analysis::findings::Label;

use super::{FullSpeedSeen, PhaseFigures};
use crate::format::{self, MISSING};
use crate::sentences;

/// Labels told in full; a limit cycle has these and no more.
const LABELS: usize = 4;

/// The table that answers "what happened": headers, and a row for each operation of each phase.
///
/// Where every load is of small I/Os, IOPS and latency come first.
pub(crate) fn phase_table(figures: &[PhaseFigures]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let loads = figures.iter().filter(|one| one.mean_bytes_per_s.is_some());
    let is_small = loads.clone().count() > 0 && loads.clone().all(PhaseFigures::leads_with_iops);
    let has_latency = loads.clone().any(|one| one.latency.is_some());
    let has_iops = loads.clone().any(|one| one.iops.is_some());
    let mut headers = vec!["Phase", "Operation"];
    let speed = ["Speed", "Of full speed"];
    let mut ios: Vec<&str> = Vec::new();
    if has_iops {
        ios.push("IOPS");
    }
    if has_latency {
        ios.extend(["p50", "p99", "p99.9", "max"]);
    }
    match is_small {
        true => headers.extend(ios.iter().chain(&speed)),
        false => headers.extend(speed.iter().chain(&ios)),
    }
    headers.extend(["Temperature", "State"]);
    let row = |one: &PhaseFigures| headers.iter().map(|header| cell(one, header)).collect();
    (headers.clone(), figures.iter().map(row).collect())
}

fn cell(one: &PhaseFigures, header: &str) -> String {
    let latency = |pick: fn(&crate::view::LatencyTotals) -> f64| {
        one.latency.as_ref().map_or_else(missing, |latency| format::latency(pick(latency)))
    };
    match header {
        "Phase" => one.name(),
        "Operation" => one.op.to_owned(),
        "Speed" => one.mean_bytes_per_s.map_or_else(missing, |rate| format::speed(Some(rate))),
        "Of full speed" => share(one),
        "IOPS" => one.iops.map_or_else(missing, format::count),
        "p50" => latency(|l| l.p50_ns),
        "p99" => latency(|l| l.p99_ns),
        "p99.9" => latency(|l| l.p999_ns),
        "max" => latency(|l| l.max_ns),
        "Temperature" => temperature(one),
        _ => state(one),
    }
}

fn missing() -> String {
    MISSING.to_owned()
}

fn share(one: &PhaseFigures) -> String {
    one.share_of_full().map_or_else(missing, format::percent)
}

/// "45 → 63 °C", to the highest; one temperature where it stood.
pub(crate) fn temperature(one: &PhaseFigures) -> String {
    one.temperature_c.map_or_else(missing, |[first, highest, _]| {
        match (format::degrees(first), format::degrees(highest)) {
            (first, highest) if first == highest => first,
            (first, highest) => format!("{} → {highest}", first.trim_end_matches(" °C")),
        }
    })
}

fn state(one: &PhaseFigures) -> String {
    let told: Vec<&str> = one.labels.iter().take(LABELS).map(|label| one.state(*label)).collect();
    match (told.as_slice(), one.labels.as_slice()) {
        ([], _) if one.op == "idle" => "idle".to_owned(),
        ([], _) => missing(),
        // A speed that nothing is known to exceed is no full speed by itself.
        (_, [Label::FullSpeed]) if one.is_one_mean() => sentences::ONE_MEAN.to_owned(),
        (_, [Label::FullSpeed]) if !one.is_unsteady() => sentences::CONSTANT.to_owned(),
        (told, _) => told.join(" → "),
    }
}

/// The same as lines for a place that is too narrow for the table: a heading and its figures for each row.
pub(crate) fn phase_lines(figures: &[PhaseFigures]) -> Vec<(String, String)> {
    figures.iter().map(|one| (heading(one), line(one))).collect()
}

fn heading(one: &PhaseFigures) -> String {
    let name = one.name_with_op();
    if one.what.is_empty() || one.what == one.op { name } else { format!("{name}: {}", one.what) }
}

/// "1.60 GB/s (100 % of full speed), 1,526 IOPS, p50 41.9 ms, … 45 → 63 °C, constant".
fn line(one: &PhaseFigures) -> String {
    let mut speed: Vec<String> = Vec::new();
    if let Some(rate) = one.mean_bytes_per_s {
        let share = one.share_of_full().map(|share| format!(" ({} of full speed)", format::percent(share)));
        speed.push(format!("{}{}", format::speed(Some(rate)), share.unwrap_or_default()));
    }
    let mut ios: Vec<String> =
        one.iops.map(|iops| format!("{} IOPS", format::count(iops))).into_iter().collect();
    if let Some(latency) = &one.latency {
        let all = [
            ("p50", latency.p50_ns),
            ("p99", latency.p99_ns),
            ("p99.9", latency.p999_ns),
            ("max", latency.max_ns),
        ];
        ios.extend(all.map(|(name, ns)| format!("{name} {}", format::latency(ns))));
    }
    let (first, second) = if one.leads_with_iops() { (ios, speed) } else { (speed, ios) };
    let mut parts: Vec<String> = first.into_iter().chain(second).collect();
    if one.temperature_c.is_some() {
        parts.push(temperature(one));
    }
    parts.push(state(one));
    parts.retain(|part| part != MISSING);
    parts.join(", ")
}

/// What stands in the details: times, levels, spread, power.
pub(crate) fn detail_table(figures: &[PhaseFigures]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let headers = vec![
        "Phase",
        "Operation",
        "Load",
        "Time",
        "Data",
        "Full speed",
        "While throttled",
        "Time throttled",
        "First onset",
        "Spread of 1 s means (5 to 95 %)",
        "Mean power",
    ];
    let row = |one: &PhaseFigures| {
        let speed = |rate: Option<f64>| rate.map_or_else(missing, |rate| format::speed(Some(rate)));
        vec![
            one.name(),
            one.op.to_owned(),
            if one.what.is_empty() { missing() } else { one.what.clone() },
            format::seconds(one.span_s),
            if one.bytes > 0.0 { format::amount(one.bytes) } else { missing() },
            full_speed(one),
            speed(one.throttled_bytes_per_s),
            one.throttled_s.filter(|_| one.mean_bytes_per_s.is_some()).map_or_else(missing, format::seconds),
            onset(one),
            spread(one),
            one.power_w.map_or_else(missing, |watts| format!("{} W", format::cell(Some(watts), 2))),
        ]
    };
    (headers, figures.iter().map(row).collect())
}

fn full_speed(one: &PhaseFigures) -> String {
    one.full.map_or_else(missing, |full| {
        let speed = format::speed(Some(full.bytes_per_s));
        match full.seen {
            FullSpeedSeen::Here => speed,
            FullSpeedSeen::SameLoad => format!("{speed} (in another phase of the same load)"),
            FullSpeedSeen::PowerState(state) => format!("{speed} (in power state {state} of another run)"),
        }
    })
}

/// "374 s at 80 °C".
pub(crate) fn onset(one: &PhaseFigures) -> String {
    one.onset.map_or_else(missing, |(t_s, temp_k)| {
        let at = temp_k.map(|k| format!(" at {}", format::temperature(Some(k)))).unwrap_or_default();
        format!("{}{at}", format::seconds(t_s))
    })
}

/// "1.58 to 1.62 GB/s"; one figure where both ends are the same.
pub(crate) fn spread(one: &PhaseFigures) -> String {
    one.spread_bytes_per_s.map_or_else(missing, |[low, high]| {
        match (format::speed(Some(low)), format::speed(Some(high))) {
            (low, high) if low == high => low,
            (low, high) => format!("{low} to {high}"),
        }
    })
}
