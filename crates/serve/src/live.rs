//! A run or a watch that is under way, as its page shows it: from `live.json` in its folder, which whoever loads or
//! watches writes once a second, else from its growing record.

use report::web::{self, LiveView, RecentSeries};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Drives and sentences of a document that are shown; of more, the page says how many there are.
const DRIVES_MAX: usize = 64;
const EVENTS_MAX: usize = 50;
/// Points of a curve: what a wide screen can tell apart.
const POINTS_MAX: usize = 4000;
/// Characters of a name or a sentence.
const TEXT_MAX: usize = 400;

/// `live.json`. Everything but the address may be `null` or missing; members that are not known are passed over.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SeenLive {
    /// Version of this format.
    pub schema: u32,
    /// The drives that are loaded or watched.
    pub drives: Vec<SeenDrive>,
}

/// A drive as it is now.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SeenDrive {
    /// What `--drive` takes.
    pub address: String,
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Whether it is simulated.
    pub simulated: Option<bool>,
    /// How old the last reading was when this was written, in seconds.
    pub age_s: Option<f64>,
    /// Composite temperature in kelvins.
    pub temperature_k: Option<f64>,
    /// Thresholds.
    pub limits_k: Option<SeenLimits>,
    /// Bytes read a second.
    pub read_bytes_per_s: Option<f64>,
    /// Bytes written a second.
    pub write_bytes_per_s: Option<f64>,
    /// Power in watts.
    pub power_w: Option<f64>,
    /// What it does, in a few words.
    pub state: Option<String>,
    /// What happened, the latest last: sentences, or objects with a member `text`.
    pub events: Option<Vec<Value>>,
    /// The last minutes, in order of time.
    pub recent: Option<Vec<SeenPoint>>,
}

/// Thresholds of a drive, in kelvins.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct SeenLimits {
    /// Light throttling.
    pub tmt1: Option<f64>,
    /// Heavy throttling.
    pub tmt2: Option<f64>,
    /// Warning.
    pub warning: Option<f64>,
    /// Critical.
    pub critical: Option<f64>,
}

/// A moment of a drive.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SeenPoint {
    /// Seconds since the run or watch began.
    pub t_s: Option<f64>,
    /// Bytes read a second.
    pub read_bytes_per_s: Option<f64>,
    /// Bytes written a second.
    pub write_bytes_per_s: Option<f64>,
    /// Composite temperature in kelvins.
    pub temperature_k: Option<f64>,
}

/// The name of the chart of a drive within the page.
pub(crate) fn chart_id(index: usize) -> String {
    format!("live-{index}")
}

/// Reads `live.json`, written so many seconds ago.
///
/// # Errors
/// Why it cannot be shown.
pub(crate) fn views(text: &[u8], written_s_ago: f64) -> Result<Vec<LiveView>, String> {
    let document: SeenLive =
        serde_json::from_slice(text).map_err(|error| format!("live.json cannot be read: {error}"))?;
    Ok(document
        .drives
        .into_iter()
        .take(DRIVES_MAX)
        .enumerate()
        .map(|(at, drive)| view(drive, at, written_s_ago))
        .collect())
}

fn view(drive: SeenDrive, index: usize, written_s_ago: f64) -> LiveView {
    let mut now = Vec::new();
    let mut add = |name: &str, value: Option<String>| now.extend(value.map(|value| (name.to_owned(), value)));
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    add("State", drive.state.as_deref().map(short));
    add("Read", finite(drive.read_bytes_per_s).map(|rate| web::speed_text(Some(rate))));
    add("Write", finite(drive.write_bytes_per_s).map(|rate| web::speed_text(Some(rate))));
    add("Temperature", finite(drive.temperature_k).map(|kelvin| web::temperature_text(Some(kelvin))));
    let limits = drive.limits_k.unwrap_or_default();
    let limits = [
        ("TMT1", limits.tmt1),
        ("TMT2", limits.tmt2),
        ("WCTEMP", limits.warning),
        ("CCTEMP", limits.critical),
    ];
    // 0 K: not set, or not reported.
    let limits: Vec<(&'static str, f64)> =
        limits.into_iter().filter_map(|(name, k)| Some((name, finite(k).filter(|k| *k > 0.0)?))).collect();
    for (name, limit) in &limits {
        let away = finite(drive.temperature_k).map_or(String::new(), |now| match limit - now {
            left if left > 0.0 => format!(", {left:.0} K away"),
            over => format!(", {:.0} K over", -over),
        });
        add(name, Some(format!("{}{away}", web::temperature_text(Some(*limit)))));
    }
    add("Power", finite(drive.power_w).map(|watts| format!("{watts:.2} W")));
    add("Serial number", drive.serial.as_deref().map(short));
    add(
        "Last reading",
        finite(drive.age_s).map(|age| format!("{:.0} s ago", (age + written_s_ago).max(0.0))),
    );
    let events = drive.events.unwrap_or_default();
    let sentences = events.iter().rev().take(EVENTS_MAX).map(sentence).collect();
    let model = drive.model.as_deref().map(short);
    let address = short(&drive.address);
    LiveView {
        title: model.map_or_else(|| address.clone(), |model| format!("{model} · {address}")),
        badge: (drive.simulated == Some(true)).then(|| "SIMULATED".to_owned()),
        now,
        sentences,
        chart: web::recent_chart(&series(drive.recent.unwrap_or_default(), limits), &chart_id(index)),
    }
}

fn series(points: Vec<SeenPoint>, limits_k: Vec<(&'static str, f64)>) -> RecentSeries {
    let mut series = RecentSeries { limits_k, ..RecentSeries::default() };
    let from = points.len().saturating_sub(POINTS_MAX);
    let mut last = f64::NEG_INFINITY;
    for point in &points[from..] {
        // Time that stands still or goes back cannot be drawn.
        let Some(t) = point.t_s.filter(|t| t.is_finite() && *t > last) else { continue };
        last = t;
        series.t_s.push(t);
        series.read_bytes_per_s.push(point.read_bytes_per_s);
        series.write_bytes_per_s.push(point.write_bytes_per_s);
        series.temperature_k.push(point.temperature_k);
    }
    series
}

/// An event, whatever form it has.
fn sentence(event: &Value) -> String {
    let text = ["text", "sentence", "message"].iter().find_map(|name| event.get(*name)?.as_str());
    match text.or_else(|| event.as_str()) {
        Some(text) => short(text),
        None => short(&event.to_string()),
    }
}

fn short(text: &str) -> String {
    measure::visible::visible(&text.chars().take(TEXT_MAX).collect::<String>()).to_string()
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_drive_is_shown_with_what_is_known_of_it() {
        let text = br#"{"schema":1,"drives":[{"address":"/dev/nvme0n1","model":"<b>X</b>","simulated":true,"age_s":0.4,
            "temperature_k":341,"limits_k":{"tmt1":343,"tmt2":0,"warning":null},"read_bytes_per_s":2.4e9,"power_w":8.25,
            "state":"throttled since 14:02:11","events":["first",{"text":"second"},{"kind":"x"}],
            "recent":[{"t_s":1,"read_bytes_per_s":1e9,"temperature_k":340},{"t_s":1},{"t_s":null},{"t_s":2}],"new":1}]}"#;
        let views = views(text, 0.6).expect("a document");
        assert_eq!(views[0].badge.as_deref(), Some("SIMULATED"));
        assert_eq!(views[0].title, "<b>X</b> · /dev/nvme0n1", "escaped where it is shown");
        let now: Vec<String> = views[0].now.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let expected = [
            "State: throttled since 14:02:11",
            "Read: 2.40 GB/s",
            "Temperature: 68 °C",
            "TMT1: 70 °C, 2 K away",
            "Power: 8.25 W",
            "Last reading: 1 s ago",
        ];
        assert_eq!(now, expected);
        assert_eq!(views[0].sentences, [r#"{"kind":"x"}"#, "second", "first"]);
        assert_eq!(views[0].chart["lines"][0]["t"], serde_json::json!([0.0, 1.0]));
    }

    #[test]
    fn only_the_address_is_needed() {
        let bare = views(br#"{"schema":1,"drives":[{"address":"x"}]}"#, 0.0).expect("a document");
        assert_eq!((bare[0].title.as_str(), bare[0].now.len()), ("x", 0));
        for bad in [&b"{}"[..], b"", b"[]", b"{\"schema\":1,\"drives\":[{}]}", b"\xff"] {
            assert!(views(bad, 0.0).is_err());
        }
    }

    proptest! {
        #[test]
        fn no_document_is_too_much(numbers: Vec<(f64, f64)>, text: String) {
            let recent: Vec<_> = numbers.iter().map(|(t, v)| serde_json::json!({"t_s": t, "read_bytes_per_s": v, "temperature_k": v})).collect();
            let document = serde_json::json!({"schema": 1, "drives": [{"address": text, "state": text, "recent": recent, "age_s": 1e308}]});
            prop_assert!(views(document.to_string().as_bytes(), 1e308).is_ok());
        }
    }
}
