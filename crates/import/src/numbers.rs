//! Numbers as programs write them for people: with a point or a comma before the decimals, and with marks between
//! thousands.
//!
//! Rules
//! - Blanks of any width and apostrophes between groups of three digits are nothing.
//! - Of a point and a comma the last is before the decimals. One that is there twice is between thousands, and so is neither
//!   where the digits behind it are not three, or those before it more than three, or a 0.
//! - What is left (`1,600`) is told by the other numbers of its file: see [`Number::Either`].

/// What a text says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// A number, and the mark before its decimals where it shows that.
    One(f64, Option<char>),
    /// With this mark before decimals the number; between thousands, a thousand times that.
    Either(f64, char),
}

/// Marks between thousands that are never before decimals: blank, no-break, figure, punctuation, thin and narrow
/// no-break space, apostrophes.
const GROUPING: [char; 9] =
    [' ', '\u{a0}', '\u{2007}', '\u{2008}', '\u{2009}', '\u{202f}', '\'', '\u{2019}', '\u{66c}'];

/// The number that `text` is; `None` where it is none.
pub(crate) fn number(text: &str) -> Option<Number> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(digits) => (-1.0, digits),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits.parse::<f64>().ok().map(|number| Number::One(sign * number, None));
    }
    if digits.contains(['e', 'E']) {
        let number = digits.replace(',', ".").parse::<f64>().ok().filter(|number| number.is_finite());
        return number.map(|number| Number::One(sign * number, None));
    }
    let is_grouped = digits.contains(GROUPING);
    let last = digits.rfind(['.', ',']);
    let mark = last.and_then(|at| digits[at..].chars().next());
    let (whole, decimals) = match (last, mark) {
        (Some(at), Some(mark)) if digits.matches(mark).count() == 1 => (&digits[..at], &digits[at + 1..]),
        _ => (digits, ""),
    };
    if !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let plain = ungrouped(whole)?;
    let value = sign * format!("{plain}.{decimals}").parse::<f64>().ok()?;
    let other = |mark| if mark == '.' { ',' } else { '.' };
    Some(match mark {
        None => Number::One(value, None),
        // Twice: between thousands.
        Some(mark) if whole.len() == digits.len() => Number::One(value, Some(other(mark))),
        Some(mark) => {
            let could_be_thousand = decimals.len() == 3
                && (1..=3).contains(&whole.len())
                && !whole.starts_with('0')
                && !is_grouped;
            if could_be_thousand { Number::Either(value, mark) } else { Number::One(value, Some(mark)) }
        }
    })
}

/// Digits without the one mark that is between their groups of three.
fn ungrouped(text: &str) -> Option<String> {
    let Some(mark) = text.chars().find(|c| !c.is_ascii_digit()) else { return Some(text.to_owned()) };
    let mut groups = text.split(mark);
    let first = groups.next()?;
    let is_mark = GROUPING.contains(&mark) || mark == '.' || mark == ',';
    let is_group = |group: &str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
    let fits = is_mark && (1..=3).contains(&first.len()) && groups.all(is_group);
    fits.then(|| text.chars().filter(char::is_ascii_digit).collect())
}

/// The whole number that `text` begins with, whatever is between its thousands; `None` where the digits are in no such groups. Behind it
/// may stand a unit: a blank, a bracket or `%` and more.
pub(crate) fn whole(text: &str) -> Option<f64> {
    let text = text.trim();
    let mut mark = None;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let is_mark = GROUPING.contains(&c) || BETWEEN_THOUSANDS.contains(&c);
        let is_between = || text[at + c.len_utf8()..].starts_with(|next: char| next.is_ascii_digit());
        if !(c.is_ascii_digit() || is_mark && is_between()) {
            break;
        }
        if is_mark && *mark.get_or_insert(c) != c {
            return None;
        }
        end = at + c.len_utf8();
    }
    let (number, unit) = text.split_at(end);
    let has_end = unit.is_empty() || unit.starts_with(|c: char| c.is_whitespace() || "(%".contains(c));
    let groups: Vec<&str> = mark.map_or_else(|| vec![number], |mark| number.split(mark).collect());
    let [first, between @ .., last] = groups.as_slice() else {
        return number.parse().ok().filter(|_| has_end);
    };
    let all = |digits: usize| between.iter().all(|group| group.len() == digits);
    // India counts in lakhs and crores: 1,23,45,678.
    let fits = last.len() == 3 && ((1..=3).contains(&first.len()) && all(3) || first.len() < 3 && all(2));
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|_| fits && has_end && !first.starts_with('0'))
}

/// Marks between thousands that stand before decimals elsewhere, and what a lost character became.
const BETWEEN_THOUSANDS: [char; 4] = ['.', ',', '_', '\u{fffd}'];

/// How much of `text` is a number, in bytes: what follows is a unit.
pub(crate) fn end_of_number(text: &str) -> usize {
    let belongs = |(at, c): (usize, char)| {
        let next = || text[at + c.len_utf8()..].chars().next();
        match c {
            'e' | 'E' => next().is_some_and(|c| c.is_ascii_digit() || "+-".contains(c)) && at > 0,
            '+' | '-' | '.' | ',' | '\u{2212}' => true,
            _ if GROUPING.contains(&c) => next().is_some_and(|c| c.is_ascii_digit()),
            _ => c.is_ascii_digit(),
        }
    };
    text.char_indices().find(|place| !belongs(*place)).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_number_is_told_whatever_stands_between_its_digits() {
        for (text, value, mark) in [
            ("1600", 1600.0, None),
            ("-3.5", -3.5, Some('.')),
            ("1\u{202f}600,5", 1600.5, Some(',')),
            ("1\u{a0}600\u{a0}000", 1.6e6, None),
            ("1\u{2009}600", 1600.0, None),
            ("1'600.125", 1600.125, Some('.')),
            ("1’600", 1600.0, None),
            ("1.600.000", 1.6e6, Some(',')),
            ("1,600,000.5", 1_600_000.5, Some('.')),
            ("1.600,5", 1600.5, Some(',')),
            ("0,125", 0.125, Some(',')),
            ("3000,125", 3000.125, Some(',')),
            ("45,5", 45.5, Some(',')),
            ("1.6e9", 1.6e9, None),
        ] {
            assert_eq!(number(text), Some(Number::One(value, mark)), "{text}");
        }
        assert_eq!(number("1,600"), Some(Number::Either(1.6, ',')));
        assert_eq!(number("45.125"), Some(Number::Either(45.125, '.')));
        for text in [
            "", "-", "1 60", "1,60,000", "1.2.3", "1'600'00", "0x10", "nan", "1e999", "1.5.", ",", "12 345 6",
        ] {
            assert!(
                number(text).is_none_or(|found| matches!(found, Number::One(value, _) if value.is_nan())),
                "{text}"
            );
        }
    }

    #[test]
    fn counts_are_read_whatever_is_between_their_thousands() {
        const MARKS: &str = " \u{a0}\u{202f}\u{2009}\u{2019}'_.,\u{66c}\u{fffd}";
        for mark in MARKS.chars() {
            let grouped = |groups: &[&str]| groups.join(&mark.to_string());
            for (groups, value) in [
                (&["1", "000"][..], 1000.0),
                (&["12", "345", "678"], 12_345_678.0),
                (&["1", "23", "45", "678"], 12_345_678.0),
                (&["40", "000", "000"], 4e7),
            ] {
                for unit in ["", " (6.32 TB)", "%", "\t", "\u{202f}h"] {
                    assert_eq!(
                        whole(&format!(" {}{unit}", grouped(groups))),
                        Some(value),
                        "{mark:?} {unit:?}"
                    );
                }
            }
            for groups in [
                &["12", "345", "6"][..],
                &["1", "5"],
                &["0", "500"],
                &["1234", "567"],
                &["1", "23", "456", "789"],
            ] {
                assert_eq!(whole(&grouped(groups)), None, "{mark:?} {groups:?}");
            }
        }
        assert_eq!(
            (whole("0"), whole("100%"), whole("12345678 (6 TB)")),
            (Some(0.0), Some(100.0), Some(12_345_678.0))
        );
        assert_eq!(whole("340282366920938463463374607431768211455"), Some(u128::MAX as f64));
        for text in ["", "much", "-1", "1.234,567", "1,000.5", "0x9", "1e9", "12:30", ",5"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn a_unit_follows_a_number() {
        for (text, number) in [
            ("1.60 GB/s", "1.60"),
            ("1 600,5 MB/s", "1 600,5"),
            ("1.6EB/s", "1.6"),
            ("2e3W", "2e3"),
            ("45", "45"),
        ] {
            assert_eq!(&text[..end_of_number(text)], number);
        }
    }
}
