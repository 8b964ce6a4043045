//! The time in a file's name.
//!
//! 9 to 19 digits are s, ms, µs or ns since 1970; `2026-11-21T10:20:30` in any of its usual spellings is a time of day, in UTC where
//! it ends with Z and of an untold zone otherwise. A date alone is no time; it is asked for where nothing else tells one.

use chrono::{NaiveDate, NaiveTime};

use super::reading::When;

/// The time in a file's name.
pub(super) fn time_in_name(file: &str) -> Option<When> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    if let Some(local) = date_in(name) {
        return Some(local);
    }
    let digits = name.split(|c: char| !c.is_ascii_digit());
    let longest = digits.max_by_key(|digits| digits.len())?;
    let number: f64 = longest.parse().ok()?;
    let unit = match longest.len() {
        9 | 10 => 1.0,
        12 | 13 => 1e3,
        15 | 16 => 1e6,
        18 | 19 => 1e9,
        _ => return None,
    };
    // Between the name and the digits of a fraction there may be a point: 1795246049.25.
    let fraction = name.split(longest).nth(1).and_then(|rest| rest.strip_prefix('.')).map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        format!("0.{digits}").parse::<f64>().unwrap_or(0.0)
    });
    Some(When::Unix(number / unit + fraction.unwrap_or(0.0)))
}

/// The date in a file's name, without a time of day, in seconds since 1970 in an untold zone: `nvme0n1-2025-11-21.json`,
/// `smart_20251121.txt`. Of several none is told.
pub(super) fn date_in_name(file: &str) -> Option<f64> {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let digits: Vec<&str> =
        name.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect();
    let number = |digits: &str| digits.parse::<u32>().ok();
    let whole = digits
        .iter()
        .filter(|digits| digits.len() == 8)
        .filter_map(|d| Some([number(d.get(..4)?)?, number(d.get(4..6)?)?, number(d.get(6..)?)?]));
    let parted = digits
        .windows(3)
        .filter(|parts| [4, 2, 2].iter().eq(parts.iter().map(|p| p.len()).collect::<Vec<_>>().iter()));
    let parted = parted.filter_map(|parts| Some([number(parts[0])?, number(parts[1])?, number(parts[2])?]));
    let mut dates = whole.chain(parted).filter_map(|date| moment_s(date, [0; 3]));
    dates.next().filter(|_| dates.next().is_none())
}

/// A date and time of day in `name`: year, month, day, hour, minute, second, with anything but letters and digits
/// between them, and `T` or `t` between the halves. Digits that are no date, such as those of 31 February, tell no time.
fn date_in(name: &str) -> Option<When> {
    let bytes = name.as_bytes();
    (0..bytes.len()).find_map(|start| {
        let mut at = start;
        let mut parts = [0_u32; 6];
        for (index, (part, width)) in parts.iter_mut().zip([4, 2, 2, 2, 2, 2]).enumerate() {
            if index > 0 && bytes.get(at).is_some_and(|b| b"-_:. Tt".contains(b)) {
                at += 1;
            }
            let digits = bytes.get(at..at + width)?;
            if !digits.iter().all(u8::is_ascii_digit) {
                return None;
            }
            *part = std::str::from_utf8(digits).ok()?.parse().ok()?;
            at += width;
        }
        let is_digit = |b: Option<&u8>| b.is_some_and(u8::is_ascii_digit);
        if is_digit(start.checked_sub(1).and_then(|before| bytes.get(before))) || is_digit(bytes.get(at)) {
            return None;
        }
        let [year, month, day, time @ ..] = parts;
        let seconds = moment_s([year, month, day], time)?;
        let zulu = bytes.get(at).is_some_and(|b| b"Zz".contains(b));
        Some(if zulu { When::Unix(seconds) } else { When::Local(seconds) })
    })
}

/// Seconds from 1970 to a date (year, month, day) and a time of day (hour, minute, second) that a program of our days may
/// have written; `None` where the calendar has no such day.
pub(super) fn moment_s([year, month, day]: [u32; 3], [hour, minute, second]: [u32; 3]) -> Option<f64> {
    let year = i32::try_from(year).ok().filter(|year| (1990..2200).contains(year))?;
    let midnight = NaiveDate::from_ymd_opt(year, month, day)?.and_time(NaiveTime::MIN).and_utc();
    // A leap second is second 60.
    let is_time = hour < 24 && minute < 60 && second <= 60;
    is_time.then(|| midnight.timestamp() as f64 + f64::from(hour * 3600 + minute * 60 + second))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn names_tell_times() {
        assert_eq!(time_in_name("d/smart-1795246049.json"), Some(When::Unix(1_795_246_049.0)));
        assert_eq!(time_in_name("1795246049.250.json"), Some(When::Unix(1_795_246_049.25)));
        assert_eq!(time_in_name("1795246049250.json"), Some(When::Unix(1_795_246_049.25)));
        assert_eq!(time_in_name("nvme0-2026-11-21T10:20:30Z.json"), Some(When::Unix(1_795_256_430.0)));
        assert_eq!(time_in_name("smart_20261121_102030.json"), Some(When::Local(1_795_256_430.0)));
        assert_eq!(time_in_name("smart_20261121-10-20-30.json"), Some(When::Local(1_795_256_430.0)));
        assert_eq!(time_in_name("sensor-12.json"), None);
        assert_eq!(time_in_name("smart_20269921_102030.json"), None);
    }

    #[test]
    fn names_tell_dates() {
        const DAY_S: Option<f64> = Some(1_795_219_200.0);
        for name in ["d-2020-01-01/nvme0n1-2026-11-21.json", "smart_20261121.txt", "2026.11.21-nvme1.json"] {
            assert_eq!((date_in_name(name), time_in_name(name)), (DAY_S, None), "{name}");
        }
        for name in [
            "after.json",
            "2026-11-31.json",
            "2026-11-21-to-2026-11-28.json",
            "1795246049.json",
            "nvme0n1-12-11-21.json",
        ] {
            assert_eq!(date_in_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_day_that_is_not_in_the_calendar_tells_no_time() {
        assert_eq!(time_in_name("smart_20260228_000000.json"), Some(When::Local(1_772_236_800.0)));
        assert_eq!(time_in_name("smart_20240229_000000.json"), Some(When::Local(1_709_164_800.0)));
        for name in ["smart_20260231_102030.json", "smart_20260229_102030.json", "smart_20260431_102030.json"]
        {
            assert_eq!(time_in_name(name), None, "{name}");
        }
    }
}
