//! Units of columns and cells, by name.
//!
//! A rate is a prefix, bytes or bits, and a second: `MB/s`, `MiB/sec`, `Mbit/s`, `MBps`. `B` is a byte and `b` a bit; prefixes are
//! those of the SI (k, K, M, G, T) and of IEC 80000-13 (Ki, Mi, ..). What is no unit that is known here is an error, not a guess.

/// What a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Rate,
    Heat,
    Power,
    /// Of the time.
    Share,
}

/// A unit: what its zero is, and what one of it counts, in bytes per second, °C or W.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    pub(crate) measure: Measure,
    pub(crate) zero: f64,
    pub(crate) factor: f64,
}

impl Unit {
    pub(crate) const fn of(measure: Measure, factor: f64) -> Self {
        Self { measure, zero: 0.0, factor }
    }

    /// So much of this unit in bytes per second, °C or W.
    pub(crate) fn count(self, number: f64) -> f64 {
        (number - self.zero) * self.factor
    }

    /// The unit of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.trim();
        let heat = |zero, factor| Some(Self { measure: Measure::Heat, zero, factor });
        // The sign of degrees comes in several characters, and spoilt.
        let letters: String = name.chars().filter(char::is_ascii).collect();
        match letters.as_str() {
            _ if name.starts_with(['µ', 'μ']) => return None,
            "C" | "?C" | "celsius" | "Celsius" | "degC" => return heat(0.0, 1.0),
            "F" | "?F" | "fahrenheit" | "Fahrenheit" | "degF" => return heat(32.0, 1.0 / 1.8),
            "K" | "kelvin" | "Kelvin" => return heat(273.15, 1.0),
            _ if name == "℃" => return heat(0.0, 1.0),
            _ if name == "℉" => return heat(32.0, 1.0 / 1.8),
            _ => {}
        }
        match name {
            "W" | "watt" | "Watt" | "watts" | "Watts" => Some(Self::of(Measure::Power, 1.0)),
            "mW" => Some(Self::of(Measure::Power, 1e-3)),
            "kW" => Some(Self::of(Measure::Power, 1e3)),
            _ => rate(name).map(|factor| Self::of(Measure::Rate, factor)),
        }
    }
}

/// Bytes per second in one of that unit.
fn rate(name: &str) -> Option<f64> {
    const SECONDS: [&str; 9] = ["/s", "/sec", "/Sec", "/second", " per second", "ps", "/S", "/с", "/сек"];
    data(SECONDS.iter().find_map(|seconds| name.strip_suffix(seconds))?.trim_end())
}

/// Whether a unit may be of bytes or of bits: small letters throughout, as nobody writes prefixes (`mbps`, `mb/s`), or large ones (`MBPS`).
pub(crate) fn is_ambiguous(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    let is_loose = ["b/s", "kb/s", "mb/s", "gb/s", "bps", "kbps", "mbps", "gbps", "kb_s", "mb_s", "gb_s"]
        .contains(&lower.as_str());
    is_loose
        && (!name.contains('B') && name.trim_start().starts_with(char::is_lowercase) || name.contains("BPS"))
}

/// Bytes in one of that unit.
pub(crate) fn data(name: &str) -> Option<f64> {
    // Octets in French, and the Russian letters.
    let bytes = ["bytes", "Bytes", "byte", "Byte", "B", "octets", "o", "байт", "Б"]
        .into_iter()
        .map(|base| (base, 1.0));
    let bits = ["bits", "Bits", "bit", "Bit", "b", "бит"].into_iter().map(|base| (base, 0.125));
    let (base, factor) = bytes.chain(bits).find(|(base, _)| name.ends_with(base))?;
    const PREFIXES: [(&str, i32); 13] = [
        ("", 0),
        ("k", 1),
        ("K", 1),
        ("M", 2),
        ("G", 3),
        ("T", 4),
        ("m", 2),
        ("g", 3),
        ("к", 1),
        ("К", 1),
        ("М", 2),
        ("Г", 3),
        ("Т", 4),
    ];
    const BINARY: [(&str, i32); 9] =
        [("Ki", 1), ("ki", 1), ("Mi", 2), ("Gi", 3), ("Ti", 4), ("Ки", 1), ("Ми", 2), ("Ги", 3), ("Ти", 4)];
    let prefix = name.strip_suffix(base)?.trim_end();
    // A small m or g is no milli and no gram where the data are spelt out or bits (`mbps`); `mB/s` is left alone.
    let is_loose = |letter: &str| !["m", "g"].contains(&letter) || base != "B";
    let decimal =
        PREFIXES.iter().filter(|(letter, _)| is_loose(letter)).find(|(letter, _)| *letter == prefix);
    let binary = BINARY.iter().find(|(letters, _)| *letters == prefix);
    let scale = decimal
        .map(|(_, power)| 1e3_f64.powi(*power))
        .or_else(|| binary.map(|(_, power)| 1024_f64.powi(*power)))?;
    Some(scale * factor)
}

/// What stands in the brackets of a title.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Told {
    Unit(Unit),
    /// Data and no time: so many bytes.
    Amount(f64),
    /// Bytes or bits.
    Ambiguous,
    /// A drive, a host, a sum: no unit.
    Name,
    /// A unit of something else: I/Os, times, shares.
    Other,
    Unknown,
}

/// Units of other things than rates, temperatures and powers.
const OTHERS: [&str; 24] = [
    "iops", "io/s", "ios/s", "ops/s", "ops", "io", "ios", "req/s", "reqs/s", "rps", "wps", "/s", "s", "ms",
    "us", "µs", "μs", "ns", "sec", "seconds", "min", "h", "%", "percent",
];
/// What data may be counted in, of a size that is not told.
const COUNTS: [&str; 4] = ["blocks", "sectors", "pages", "chunks"];
/// What a column may be over, or of.
const NAMES: [&str; 12] =
    ["avg", "average", "mean", "max", "min", "last", "total", "sum", "all", "current", "ssd", "disk"];

/// Titles with the units that a row below them holds; `None` where it is no such row.
pub(crate) fn with_units_below(titles: &[String], row: &[String]) -> Option<Vec<String>> {
    let unit = |cell: &String| cell.trim().trim_matches(['(', ')', '[', ']']).replace(" / ", "/");
    let is_unit = |cell: &String| {
        let unit = unit(cell);
        let is_time = ["date", "datetime", "timestamp", "hh:mm:ss"].contains(&unit.to_lowercase().as_str());
        unit.is_empty()
            || unit == "none"
            || unit == "count/s"
            || is_time
            || !matches!(told(&unit), Told::Name | Told::Unknown)
    };
    let is_of_drive = |cell: &String| matches!(told(&unit(cell)), Told::Unit(_));
    if row.len() > titles.len() || !row.iter().all(is_unit) || !row.iter().any(is_of_drive) {
        return None;
    }
    let both = titles.iter().zip(row.iter().map(unit).chain(std::iter::repeat(String::new())));
    let is_told =
        |unit: &str| matches!(told(unit), Told::Unit(_) | Told::Amount(_) | Told::Ambiguous | Told::Other);
    Some(
        both.map(|(title, unit)| if is_told(&unit) { format!("{title} ({unit})") } else { title.clone() })
            .collect(),
    )
}

/// What the text in the brackets of a title is.
pub(crate) fn told(text: &str) -> Told {
    let lower = text.trim().to_lowercase();
    if is_ambiguous(text) {
        return Told::Ambiguous;
    }
    if let Some(unit) = Unit::named(text) {
        return Told::Unit(unit);
    }
    if NAMES.contains(&lower.as_str()) || lower.is_empty() {
        return Told::Name;
    }
    if OTHERS.contains(&lower.as_str()) || lower.ends_with("iops") {
        return Told::Other;
    }
    if let Some(bytes) = data(text.trim()) {
        return Told::Amount(bytes);
    }
    // Symbols of units are short; a longer word is whose column it is (`root`, `drive`, `backup`).
    let is_symbol = lower.chars().all(char::is_alphabetic) && lower.chars().count() <= 3;
    let is_ratio = lower.contains(['/', '%', '°', 'º']) && !lower.starts_with('/');
    let is_unit = is_symbol || is_ratio || COUNTS.contains(&lower.as_str());
    if is_unit && !super::is_drive(&lower) { Told::Unknown } else { Told::Name }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn units_are_known_by_their_parts() {
        for (name, factor) in [
            ("B/s", 1.0),
            ("MB/s", 1e6),
            ("MBps", 1e6),
            ("KiB/s", 1024.0),
            ("TB/s", 1e12),
            ("Mbit/s", 125e3),
            ("Mbps", 125e3),
            ("mbps", 125e3),
            ("Gb/s", 125e6),
            ("bytes/sec", 1.0),
            ("MBytes/s", 1e6),
            ("Mib/s", 131_072.0),
        ] {
            assert_eq!(Unit::named(name).map(|unit| unit.factor), Some(factor), "{name}");
        }
        for name in ["mB/s", "XB/s", "blocks/s", "MB", "foo", "", "/s", "MB/min"] {
            assert_eq!(Unit::named(name), None, "{name}");
        }
        assert!(matches!(told("nvme0n1"), Told::Name) && matches!(told("host-3"), Told::Name));
        assert!(matches!(told("io/s"), Told::Other) && matches!(told("MB"), Told::Amount(_)));
        assert!(matches!(told("blocks/s"), Told::Unknown) && matches!(told("sectors"), Told::Unknown));
        assert!(matches!(told("kn"), Told::Unknown) && matches!(told("root"), Told::Name));
    }
}
