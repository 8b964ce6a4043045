//! Titles of columns in CSV from Grafana: names that people gave their series.
//!
//! Rules
//! - What a column is about say its words ([`crate::words`]), and of `{__name__="..", device=".."}` those of the metric.
//! - The unit stands in brackets or is the last word (`Write (MB/s)`, `Write MB/s`). Bytes without a time are bytes ever moved.
//! - A column that names no drive is of the only one that others name, where that has none of its own. Of several that say the
//!   same, those of sums and means give way; what is left are drives by their titles, so that one can be named. Of temperatures the first is
//!   taken.

use super::titles::{Meaning, unknown_unit};
use super::units::{Measure, Told, Unit, told};
use super::{Quantity, controller};
use crate::words::{self, Topic};
use trace::SegmentOp;

/// What the columns say; what was decided on the way goes into `notes`.
///
/// # Errors
/// Where a unit is not known, or could be two.
pub(super) fn meanings(header: &[String], notes: &mut Vec<String>) -> Result<Vec<Meaning>, String> {
    let mut found: Vec<Meaning> = Vec::new();
    let mut others: Vec<&str> = Vec::new();
    for (cell, title) in header.iter().enumerate().skip(1) {
        match meaning(cell, title, is_netdata(header))? {
            Some(meaning) => found.push(meaning),
            None => others.push(title),
        }
    }
    if is_netdata(header) {
        notes
            .push("reads and writes without a unit: taken as KiB/s, as Netdata's charts of disks are".into());
    }
    one_drive(&mut found, header, &mut others);
    apart(&mut found, header, &mut others);
    has_a_name(&found, &others)?;
    if !others.is_empty() && !found.is_empty() {
        notes.push(format!(
            "columns that are not taken for a speed or temperature of the drive: {}",
            listed(&others)
        ));
    }
    Ok(found)
}

/// Titles, of many the first.
fn listed(titles: &[&str]) -> String {
    const MOST: usize = 12;
    let more = titles.len().saturating_sub(MOST);
    let shown = titles[..titles.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Refuses a legend of nothing but labels, as Grafana makes it for an expression, where no other column is a speed: it may be the one.
fn has_a_name(found: &[Meaning], others: &[&str]) -> Result<(), String> {
    let is_speed = |one: &Meaning| matches!(one.quantity, Quantity::Rate(_) | Quantity::Total(_));
    let is_nameless = |title: &&&str| {
        let title = title.trim();
        title.starts_with('{') && title.ends_with('}') && !title.contains("__name__")
    };
    match others.iter().find(is_nameless) {
        Some(title) if !found.iter().any(is_speed) => Err(format!(
            "column {title:?}: its legend has labels and no name, so what it is of is not told, and no other column is a speed: give the series a legend such as \"write {{{{device}}}}\", or call the column write_bytes_per_s"
        )),
        _ => Ok(()),
    }
}

/// What one column says of a drive; `None` for one of something else.
fn meaning(cell: usize, title: &str, is_netdata: bool) -> Result<Option<Meaning>, String> {
    let (name, unit) = split(title);
    let is = |quantity, unit, is_bare| {
        let drive = words::drive(title).unwrap_or_default();
        Ok(Some(Meaning { cell, drive, quantity, unit, is_bare }))
    };
    if title.starts_with("disk.") {
        return Ok(of_pcp(cell, title));
    }
    if let Some((op, factor)) = words::iostat(title) {
        return is(Quantity::Rate(op), Unit::of(Measure::Rate, factor), false);
    }
    let topic = words::topic(&name).unwrap_or(Topic::Other);
    let (quantity, measure) = match topic {
        Topic::Moved(op) => (Quantity::Rate(op), Measure::Rate),
        Topic::Heat(number) => (Quantity::Celsius(number.unwrap_or(0)), Measure::Heat),
        Topic::Power => (Quantity::Power, Measure::Power),
        Topic::Ambient | Topic::Other => return Ok(None),
    };
    let is_of_a_row = unit.eq_ignore_ascii_case("sum") || words::is_difference(&name);
    match (told(&unit), topic) {
        (Told::Amount(_), Topic::Moved(_)) | (Told::Name, Topic::Moved(_))
            if is_of_a_row && (words::counts_bytes(&name) || told(&unit) != Told::Name) =>
        {
            Err(format!(
                "column {title:?}: it counts what was moved in the time of each row: export a rate, or take the table for one of your own with --format csv"
            ))
        }
        (Told::Unit(unit), _) if unit.measure == measure => is(quantity, unit, false),
        (Told::Amount(bytes), Topic::Moved(op)) => is(Quantity::Total(op), Unit::of(measure, bytes), false),
        (Told::Name, _) if is_netdata => is(quantity, Unit::of(measure, 1024.0), false),
        (Told::Name, Topic::Moved(op)) if words::counts_bytes(&name) && words::is_bound(&name) => {
            is(Quantity::Total(op), Unit::of(measure, 1.0), false)
        }
        (Told::Name, _) => is(quantity, Unit::of(measure, 1.0), !words::names_celsius(title)),
        (Told::Unit(_) | Told::Other | Told::Amount(_), _) => Ok(None),
        (Told::Ambiguous, _) => Err(format!(
            "column {title:?}: the unit {unit:?} may be of bytes or of bits: write MB/s or Mbit/s into the title"
        )),
        (Told::Unknown, _) => Err(unknown_unit(title, &unit, measure)),
    }
}

/// What a metric of PCP says (`pmrep -o csv`: `disk.dev.write_bytes-nvme0n1`). It counts in Kbyte of 1024 bytes (pmdalinux,
/// PM_SPACE_KBYTE), and pmrep shows rates, unless a unit says else.
fn of_pcp(cell: usize, title: &str) -> Option<Meaning> {
    let (metric, unit) = title.split_once(" (").unwrap_or((title, "Kbyte/s)"));
    let (metric, instance) = metric.split_once('-').unwrap_or((metric, ""));
    let op = match metric.split('.').collect::<Vec<_>>()[..] {
        ["disk", "dev" | "all", "read_bytes"] => SegmentOp::Read,
        ["disk", "dev" | "all", "write_bytes"] => SegmentOp::Write,
        _ => return None,
    };
    let unit = unit
        .trim_end_matches(')')
        .to_lowercase()
        .replace("kb", "kib")
        .replace("mb", "mib")
        .replace("gb", "gib");
    let factor = match unit.strip_suffix("/s").or(unit.strip_suffix("/sec"))? {
        "b" | "byte" | "bytes" => 1.0,
        "kib" | "kibyte" | "kibytes" => 1024.0,
        "mib" | "mibyte" | "mibytes" => 1024.0 * 1024.0,
        "gib" | "gibyte" | "gibytes" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let is_bare = !title.contains(" (");
    Some(Meaning {
        cell,
        drive: instance.to_owned(),
        quantity: Quantity::Rate(op),
        unit: Unit::of(Measure::Rate, factor),
        is_bare,
    })
}

/// What a title with labels is of: its metric, the words that its maker put around them, or the sensor in them.
fn labelled_name(metric: &str, labels: &str) -> String {
    let label = |name: &str| {
        let (_, behind) =
            labels.split_once(name)?.1.split_once("=\"").filter(|(between, _)| between.is_empty())?;
        behind.split_once('"').map(|(value, _)| value)
    };
    if let Some(name) = label("__name__") {
        return name.to_owned();
    }
    let behind = labels.rsplit_once('}').map_or("", |(_, behind)| behind);
    let words = format!("{metric}{behind}");
    let says = words.chars().any(char::is_alphanumeric);
    // A rate or a mean of a metric has lost its name: of node_exporter's sensors the label says what they are, the composite
    // being the first.
    let sensor = label("sensor").and_then(|sensor| sensor.strip_prefix("temp")?.parse::<u8>().ok());
    match sensor {
        Some(0 | 1) if !says => "temp".to_owned(),
        Some(number) if !says => format!("temp sensor {}", number - 1),
        _ => words,
    }
}

/// A title's name and its unit, if any: of `metric{device=".."}` the metric's name.
fn split(title: &str) -> (String, String) {
    if let Some((metric, labels)) = title.split_once('{') {
        return (labelled_name(metric, labels), String::new());
    }
    if let Some((name, unit)) = title.rsplit_once(['(', '[']) {
        let unit = unit.trim_end_matches([')', ']', ' ']);
        // What stands in brackets may be a drive as well, or a part of the machine.
        if told(unit) != Told::Name {
            return (name.to_owned(), unit.to_owned());
        }
        // Which value of a time it is (`Write MiB/s [last]`).
        let inner = name.trim_end().rsplit_once(' ').map_or("", |(_, unit)| unit);
        let unit = if matches!(told(inner), Told::Unit(_)) { inner } else { unit };
        return (title.to_owned(), unit.to_owned());
    }
    match title.rsplit_once(' ').filter(|(_, word)| word.ends_with("/s") || word.ends_with("/sec")) {
        Some((name, unit)) => (name.to_owned(), unit.to_owned()),
        None => (title.to_owned(), String::new()),
    }
}

/// Gives columns that name no drive the only one that others name; those that it has itself are passed over.
fn one_drive<'a>(found: &mut Vec<Meaning>, header: &'a [String], others: &mut Vec<&'a str>) {
    let whole = |drive: &str| controller(drive).unwrap_or(drive).to_owned();
    let named = || found.iter().map(|one| one.drive.as_str()).filter(|drive| !drive.is_empty());
    let only = named().next().filter(|first| named().all(|other| whole(other) == whole(first)));
    let only = only.unwrap_or("drive").to_owned();
    let own: Vec<Quantity> =
        found.iter().filter(|one| !one.drive.is_empty()).map(|one| one.quantity).collect();
    found.retain(|one| {
        let is_known = one.drive.is_empty() && own.contains(&one.quantity) && only != "drive";
        others.extend(is_known.then_some(header[one.cell].as_str()));
        !is_known
    });
    found.iter_mut().filter(|one| one.drive.is_empty()).for_each(|one| one.drive.clone_from(&only));
}

/// Tells columns apart that say the same of one drive.
fn apart<'a>(found: &mut Vec<Meaning>, header: &'a [String], others: &mut Vec<&'a str>) {
    let says = |same: &Meaning, one: &Meaning| one.drive == same.drive && one.quantity == same.quantity;
    let title = |one: &Meaning| header[one.cell].as_str();
    let gives_way: Vec<bool> = (0..found.len())
        .map(|at| {
            let one = &found[at];
            let mut alike = found.iter().enumerate().filter(|(_, other)| says(one, other));
            match one.quantity {
                Quantity::Celsius(_) => alike.any(|(other, _)| other < at),
                _ => {
                    words::is_summary(title(one)) && alike.any(|(_, other)| !words::is_summary(title(other)))
                }
            }
        })
        .collect();
    let mut give_way = gives_way.into_iter();
    found.retain(|one| {
        let goes = give_way.next().unwrap_or(false);
        others.extend(goes.then_some(title(one)));
        !goes
    });
    let mut several: Vec<(String, String)> = Vec::new();
    for (at, one) in found.iter().enumerate() {
        if found.iter().enumerate().any(|(other, same)| other != at && says(one, same)) {
            several.push((one.drive.clone(), words::owner(title(one))));
        }
    }
    for one in found.iter_mut() {
        let owner = words::owner(&header[one.cell]);
        if several.contains(&(one.drive.clone(), owner.clone())) {
            one.drive = if owner.is_empty() { header[one.cell].clone() } else { owner };
        }
    }
}

/// `time,reads,writes`, as Netdata names the lines of `disk.io`.
fn is_netdata(header: &[String]) -> bool {
    header.first().is_some_and(|first| first == "time")
        && header.len() > 1
        && header[1..].iter().all(|name| name == "reads" || name == "writes")
}
