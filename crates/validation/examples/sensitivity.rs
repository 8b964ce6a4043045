//! How much each number of a profile matters: which rows of the validation turn when it is changed.
//!
//! Every number of the profiles behind the published experiments is changed by 10 and by 20 % either way - where it is
//! a temperature, by 1 and by 2 K - and all rows of its drive are run again. Where a number comes from is read
//! from the comment beside it, so that none can be left out. Shares that must make a whole cannot be changed alone and
//! are left out. At last it counts on how many of 20 seeds each row holds.
//!
//! `cargo run -p heatsoak-validation --example sensitivity` prints the tables that docs/VALIDATION.md has.

use std::collections::BTreeMap;
use std::io::Write;

use measure::Seed;
use physics::Profile;
use validation::{part_seeded, part_with};

/// Profiles that are the same drive and change together, and the part of the validation that runs them.
const DRIVES: [(&[&str], usize); 6] = [
    (&["ssd1"], 0),
    (&["ssd2"], 1),
    (&["exceria-g2-usb10", "exceria-g2-usb10-fan", "exceria-g2-usb5"], 2),
    (&["usb-stick-usb10", "usb-stick-usb5"], 2),
    (&["om8tap4"], 3),
    (&["ent-u3-gen4", "ent-u3-gen3"], 4),
];

/// Changes of a number, and of a temperature in kelvins.
const SHARES: [f64; 4] = [-0.2, -0.1, 0.1, 0.2];
const KELVINS: [f64; 4] = [-2.0, -1.0, 1.0, 2.0];
/// What is shown where no drive can be made of a change.
const NO_DRIVE: &str = "no drive";
/// More rows than this are counted and not named.
const NAMED: usize = 6;
const SEEDS: u64 = 20;

/// A number in the text of a profile.
#[derive(Clone, Debug)]
struct Number {
    line: usize,
    /// Where in the line.
    start: usize,
    end: usize,
    /// Its key, with the section it stands in.
    name: String,
    origin: &'static str,
    /// Whether kelvins are added to it; else it is multiplied.
    is_temperature: bool,
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for (names, part) in DRIVES {
        let text =
            Profile::builtin_toml(names[0]).expect("experiments name built-in profiles only (our own bug)");
        let all = numbers(text);
        let before = verdicts(part, &BTreeMap::new());
        writeln!(out, "**{}**, {} numbers\n", names[0], all.len())?;
        writeln!(
            out,
            "| number | value | origin | -20 % or -2 K | -10 % or -1 K | +10 % or +1 K | +20 % or +2 K |"
        )?;
        writeln!(out, "|---|---|---|---|---|---|---|")?;
        let mut still: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for number in &all {
            let turned = turned(names, part, number, &before);
            let value = &text.lines().nth(number.line).unwrap_or_default()[number.start..number.end];
            if turned.iter().all(|rows| rows == "-" || rows == NO_DRIVE) {
                let names = still.entry(number.origin).or_default();
                let name = format!("`{}`", number.name);
                if !names.contains(&name) {
                    names.push(name);
                }
            } else {
                writeln!(
                    out,
                    "| `{}` | {value} | {} | {} |",
                    number.name,
                    number.origin,
                    turned.join(" | ")
                )?;
            }
            out.flush()?;
        }
        writeln!(out, "\nNo row turns with any other:")?;
        for (origin, names) in still {
            writeln!(out, "- {origin}: {}", names.join(", "))?;
        }
        writeln!(out)?;
    }
    seeds(&mut out)
}

/// The rows that hang on chance.
fn seeds(out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "| row | holds on, of {SEEDS} seeds |")?;
    writeln!(out, "|---|---|")?;
    for part in 0..5 {
        let mut holds: BTreeMap<String, u64> = BTreeMap::new();
        for seed in 1..=SEEDS {
            for row in part_seeded(part, Seed::new(seed)).unwrap_or_default() {
                *holds.entry(row.id).or_default() += u64::from(row.holds);
            }
        }
        for (id, count) in holds.into_iter().filter(|(_, count)| ![0, SEEDS].contains(count)) {
            writeln!(out, "| {id} | {count} |")?;
        }
        out.flush()?;
    }
    writeln!(out, "\nEvery other row holds on all of them or on none.")
}

/// The rows that turn at each change.
fn turned(names: &[&str], part: usize, number: &Number, before: &BTreeMap<String, bool>) -> [String; 4] {
    let steps = if number.is_temperature { KELVINS } else { SHARES };
    steps.map(|step| {
        let mut changed = BTreeMap::new();
        for name in names {
            let text =
                Profile::builtin_toml(name).expect("experiments name built-in profiles only (our own bug)");
            match Profile::from_toml(&with(text, number, step)) {
                Ok(profile) => drop(changed.insert((*name).to_owned(), profile)),
                Err(_) => return NO_DRIVE.to_owned(),
            }
        }
        let after = verdicts(part, &changed);
        let turned: Vec<String> = before
            .iter()
            .filter(|(id, holds)| after.get(*id) != Some(holds))
            .map(|(id, _)| id.replace("P ent-u3-g", "G"))
            .collect();
        match turned.len() {
            0 => "-".to_owned(),
            1..=NAMED => turned.join(", "),
            many => format!("{many} rows"),
        }
    })
}

/// Whether each row holds on drives some of which are replaced.
fn verdicts(part: usize, changed: &BTreeMap<String, Profile>) -> BTreeMap<String, bool> {
    let change = |profile: &mut Profile| {
        if let Some(other) = changed.get(&profile.name) {
            *profile = other.clone();
        }
    };
    let rows = part_with(part, &change).unwrap_or_default();
    rows.into_iter().map(|row| (row.id, row.holds)).collect()
}

/// The text with one number changed; a whole number stays one.
fn with(text: &str, number: &Number, step: f64) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = &mut lines[number.line];
    let old = &line[number.start..number.end];
    let value: f64 = old.parse().unwrap_or(f64::NAN);
    let new = if number.is_temperature { value + step } else { value * (1.0 + step) };
    let whole = !old.contains(['.', 'e']);
    let new = if whole { format!("{new:.0}") } else { format!("{new:?}") };
    line.replace_range(number.start..number.end, &new);
    lines.join("\n")
}

/// Every number of a profile that says how the drive behaves: not who it is, and not what it only reports.
fn numbers(text: &str) -> Vec<Number> {
    let (mut section, mut above) = (String::new(), "");
    let mut all = Vec::new();
    for (line, content) in text.lines().enumerate() {
        let (code, comment) = content.split_once('#').unwrap_or((content, ""));
        if code.trim().is_empty() {
            above = if comment.is_empty() {
                ""
            } else if origin(comment).is_some() {
                comment
            } else {
                above
            };
            continue;
        }
        if code.starts_with('[') {
            section = code.trim_matches(['[', ']', ' ']).to_owned();
            continue;
        }
        if ["identity", "limits", "limits.hctm"].contains(&section.as_str()) {
            continue;
        }
        let origin = origin(comment).or_else(|| origin(above)).unwrap_or("not said");
        for (start, end) in places(code) {
            let key =
                code[..start].trim_end_matches([' ', '=']).rsplit([' ', '{']).next().unwrap_or_default();
            let value: f64 = code[start..end].parse().unwrap_or(f64::NAN);
            let first = code.split('=').next().unwrap_or_default().trim();
            let name = if first == key { key.to_owned() } else { format!("{first} {key}") };
            let is_temperature = key.ends_with("_plus_k")
                || key == "ambient_c"
                || (key.contains("k") && (250.0..400.0).contains(&value));
            all.push(Number { line, start, end, name: format!("{section} {name}"), origin, is_temperature });
        }
    }
    all
}

/// Where single numbers stand in a line: after an equals sign, and not in a list.
fn places(code: &str) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    for (at, _) in code.match_indices("= ") {
        let start = at + 2;
        let len = code[start..].find([' ', ',', '}']).unwrap_or(code.len() - start);
        if code[start..start + len].parse::<f64>().is_ok() {
            places.push((start, start + len));
        }
    }
    places
}

fn origin(comment: &str) -> Option<&'static str> {
    let first = |word: &str| comment.find(word).unwrap_or(usize::MAX);
    let all = ["stated", "derived", "chosen", "Derived"];
    let found = all.into_iter().min_by_key(|word| first(word)).filter(|word| first(word) < usize::MAX)?;
    Some(if found == "Derived" { "derived" } else { found })
}
