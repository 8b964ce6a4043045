//! The time in a file's name.
//!
//! 9 to 19 digits are s, ms, µs or ns since 1970; `2026-11-21T10:20:30` in any of its usual spellings is a time of day, in UTC where
//! it ends with Z and of an untold zone otherwise.

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

/// A date and time of day in `name`: year, month, day, hour, minute, second, with anything but letters and digits
/// between them, and `T` or `t` between the halves.
fn date_in(name: &str) -> Option<When> {
    let bytes = name.as_bytes();
    (0..bytes.len()).find_map(|start| {
        let mut at = start;
        let mut parts = [0.0; 6];
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
        let outside = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_digit());
        let [year, month, day, hour, minute, second] = parts;
        let is_date = (1990.0..2200.0).contains(&year)
            && (1.0..=12.0).contains(&month)
            && (1.0..=31.0).contains(&day)
            && hour < 24.0
            && minute < 60.0
            && second < 61.0;
        if !is_date
            || !outside(start.checked_sub(1).and_then(|before| bytes.get(before)))
            || !outside(bytes.get(at))
        {
            return None;
        }
        let seconds = days_since_1970(year as i64, month as i64, day as i64) as f64 * 86_400.0
            + hour * 3600.0
            + minute * 60.0
            + second;
        let zulu = bytes.get(at).is_some_and(|b| b"Zz".contains(b));
        Some(if zulu { When::Unix(seconds) } else { When::Local(seconds) })
    })
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, with years that begin in March so that the leap day is
/// their last.
pub(super) fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
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
    fn days_are_counted_over_leap_years() {
        assert_eq!(days_since_1970(1970, 1, 1), 0);
        assert_eq!(days_since_1970(2000, 3, 1), 11_017);
        assert_eq!(days_since_1970(2026, 11, 21), 20_778);
    }
}
