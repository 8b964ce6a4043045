//! fio's spelling of numbers, sizes, times and lists.
//!
//! Errors are sentences without line and key; the caller adds both.

use std::time::Duration;

use measure::Bytes;

/// What `k`, `m` and so on stand for, fio's `kb_base`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KbBase {
    /// The default: `4k` and `4kb` are 4096, `4kib` is 4000. The names are swapped; fio keeps it for old files.
    Compatible,
    /// `4k` and `4kb` are 4000, `4kib` is 4096, as the standards have it.
    Standard,
}

impl KbBase {
    pub(super) fn parse(typed: &str) -> Result<Self, String> {
        match typed {
            "1024" => Ok(Self::Compatible),
            "1000" => Ok(Self::Standard),
            _ => Err(format!("{typed:?} is neither 1024 nor 1000")),
        }
    }
}

/// The most a plan can name: up to here every whole number of bytes is exact in a double (2^53).
pub(super) const BYTES_MAX: u64 = 1 << 53;

/// A size, or a share of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    Bytes(Bytes),
    Percent(u8),
}

/// A size in bytes or a percentage.
pub(super) fn amount(typed: &str, base: KbBase) -> Result<Amount, String> {
    match typed.strip_suffix('%') {
        Some(number) => match whole(number)? {
            percent @ 0..=100 => Ok(Amount::Percent(percent as u8)),
            percent => Err(format!("{percent}% is more than the whole")),
        },
        None => bytes(typed, base).map(|bytes| Amount::Bytes(Bytes::new(bytes))),
    }
}

/// A number of bytes with one of fio's suffixes.
pub(super) fn bytes(typed: &str, base: KbBase) -> Result<u64, String> {
    let (number, suffix) = split(typed);
    let value = whole(number).map_err(|_| not_a_size(typed))?;
    let lower = suffix.to_lowercase();
    let (binary_name, prefix) = match lower.strip_suffix("ib") {
        Some(prefix) if !prefix.is_empty() => (true, prefix),
        _ => (false, lower.strip_suffix('b').unwrap_or(&lower)),
    };
    let power = match prefix {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(not_a_size(typed)),
    };
    let unit: u64 = match (base, binary_name) {
        (KbBase::Compatible, false) | (KbBase::Standard, true) => 1024,
        (KbBase::Compatible, true) | (KbBase::Standard, false) => 1000,
    };
    let bytes = value.checked_mul(unit.pow(power)).filter(|bytes| *bytes <= BYTES_MAX);
    bytes.ok_or_else(|| format!("{typed:?} is too large: 8 PiB is the most"))
}

fn not_a_size(typed: &str) -> String {
    format!("{typed:?} is no size; write a whole number with k, m, g or t, such as 4k")
}

/// A time: bare numbers are `bare` long, which depends on the option.
pub(super) fn time(typed: &str, bare: Duration) -> Result<Duration, String> {
    let error =
        || format!("{typed:?} is no time; write a whole number with us, ms, s, m, h or d, such as 60s");
    let (number, suffix) = split(typed);
    let value = whole(number).map_err(|_| error())?;
    let unit = match suffix.to_lowercase().as_str() {
        "" => bare,
        "us" | "usec" => Duration::from_micros(1),
        "ms" | "msec" => Duration::from_millis(1),
        "s" => Duration::from_secs(1),
        "m" => Duration::from_secs(60),
        "h" => Duration::from_secs(3600),
        "d" => Duration::from_secs(86_400),
        _ => return Err(error()),
    };
    u32::try_from(value)
        .ok()
        .and_then(|value| unit.checked_mul(value))
        .ok_or_else(|| format!("{typed:?} is too long"))
}

/// A whole number, decimal or with `0x`.
pub(super) fn whole(typed: &str) -> Result<u64, String> {
    let parsed = match typed.strip_prefix("0x").or_else(|| typed.strip_prefix("0X")) {
        Some(hex) if hex.starts_with(|c: char| c.is_ascii_hexdigit()) => u64::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None if typed.starts_with(|c: char| c.is_ascii_digit()) => typed.parse().ok(),
        None => None,
    };
    parsed.ok_or_else(|| format!("{typed:?} is not a whole number"))
}

/// 0 or 1; a key alone is 1.
pub(super) fn switch(typed: Option<&str>) -> Result<bool, String> {
    match typed {
        None | Some("1") => Ok(true),
        Some("0") => Ok(false),
        Some(other) => Err(format!("{other:?} is neither 0 nor 1")),
    }
}

/// The values for reads, writes and trims. With commas, what is left out keeps `before`; the value for writes
/// holds for trims too where none is given.
pub(super) fn by_op<T: Clone>(
    typed: &str,
    before: &[Option<T>; 3],
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<[Option<T>; 3], String> {
    let parts: Vec<Option<T>> = typed
        .split(',')
        .map(|part| if part.is_empty() { Ok(None) } else { parse(part).map(Some) })
        .collect::<Result<_, _>>()?;
    let [read, write, trim] = before.clone();
    match parts.as_slice() {
        [one] => Ok([one.clone(), one.clone(), one.clone()]),
        [first, second] => Ok([first.clone().or(read), second.clone().or(write), second.clone().or(trim)]),
        [first, second, third] => {
            Ok([first.clone().or(read), second.clone().or(write), third.clone().or(trim)])
        }
        _ => Err(format!("{typed:?} has more than three values; they are for reads, writes and trims")),
    }
}

/// Splits `12k` into `12` and `k`, `0x10m` into `0x10` and `m`.
fn split(typed: &str) -> (&str, &str) {
    let hex = typed.starts_with("0x") || typed.starts_with("0X");
    let digits = if hex { 2 } else { 0 };
    let len = typed[digits..]
        .find(|c: char| if hex { !c.is_ascii_hexdigit() } else { !c.is_ascii_digit() })
        .unwrap_or(typed.len() - digits);
    typed.split_at(digits + len)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn sizes_are_binary_unless_kb_base_says_otherwise_and_iec_names_are_swapped() {
        let compatible = |typed| bytes(typed, KbBase::Compatible);
        assert_eq!(compatible("4k"), Ok(4096));
        assert_eq!(compatible("4KB"), Ok(4096));
        assert_eq!(compatible("4kib"), Ok(4000));
        assert_eq!(compatible("0x10m"), Ok(16 << 20));
        assert_eq!(compatible("512"), Ok(512));
        assert_eq!(compatible("1t"), Ok(1 << 40));
        let standard = |typed| bytes(typed, KbBase::Standard);
        assert_eq!(standard("4k"), Ok(4000));
        assert_eq!(standard("4KiB"), Ok(4096));
        for wrong in ["", "k", "1.5g", "4x", "-1", "4ib", "(2*2)k", "99999999999p", "0x", "10z", "µ", "8193t"]
        {
            assert!(compatible(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_bare_time_depends_on_the_option() {
        let second = Duration::from_secs(1);
        assert_eq!(time("60", second), Ok(Duration::from_secs(60)));
        assert_eq!(time("60", Duration::from_micros(1)), Ok(Duration::from_micros(60)));
        assert_eq!(time("5m", second), Ok(Duration::from_secs(300)));
        assert_eq!(time("20msec", second), Ok(Duration::from_millis(20)));
        for wrong in ["10sec", "", "m", "1.5h", "99999999999", "-1s"] {
            assert!(time(wrong, second).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lists_are_for_reads_writes_and_trims() {
        let none = [None; 3];
        let sizes = |typed, before| by_op(typed, before, |part| bytes(part, KbBase::Compatible));
        assert_eq!(sizes("4k", &none), Ok([Some(4096); 3]));
        assert_eq!(sizes("4k,8k", &none), Ok([Some(4096), Some(8192), Some(8192)]));
        assert_eq!(sizes("1,2,3", &none), Ok([Some(1), Some(2), Some(3)]));
        assert_eq!(sizes(",8k", &[Some(512); 3]), Ok([Some(512), Some(8192), Some(8192)]));
        assert_eq!(sizes("8k,", &[Some(512); 3]), Ok([Some(8192), Some(512), Some(512)]));
        assert!(sizes("1,2,3,4", &none).is_err());
    }

    #[test]
    fn shares_end_at_the_whole() {
        assert_eq!(amount("50%", KbBase::Compatible), Ok(Amount::Percent(50)));
        assert_eq!(amount("1g", KbBase::Compatible), Ok(Amount::Bytes(Bytes::new(1 << 30))));
        assert!(amount("120%", KbBase::Compatible).is_err());
        assert!(amount("%", KbBase::Compatible).is_err());
    }
}
