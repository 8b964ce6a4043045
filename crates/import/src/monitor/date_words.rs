//! The words of dates in many languages: names of months and days, halves of the day, and what stands between them.
//!
//! The names are those of the GNU C Library, which `date` and `iostat -t` take theirs from.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a word of a date may mean, in one language or another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Meaning {
    /// Months, 1 to 12, those of the more common languages first: `lis` is November in Poland and October in Croatia.
    pub(crate) months: Vec<u32>,
    /// Days of the week, from Sunday on.
    pub(crate) weekdays: Vec<u32>,
    /// Whether it is the second half of the day, where it is a half.
    pub(crate) is_afternoon: Option<bool>,
}

/// What a word or a name of two words means; `None` where it has no place in a date.
pub(crate) fn meaning(word: &str) -> Option<&'static Meaning> {
    VOCABULARY.get(&key(word))
}

/// Whether a word is the second half of the day; `None` where it is no half.
pub(crate) fn is_afternoon(word: &str) -> Option<bool> {
    meaning(&without_dots(word))?.is_afternoon
}

/// `a. m.` and `am` are one.
fn without_dots(half: &str) -> String {
    half.chars().filter(|c| !c.is_whitespace() && *c != '.').collect()
}

/// Names of months and days, halves, and formats of a language.
struct Language {
    months: [&'static [&'static str]; 4],
    weekdays: [&'static [&'static str]; 2],
    halves: &'static [&'static str],
    formats: [&'static str; 2],
}

macro_rules! languages {
    ($($locale:ident)*) => { [$({
        use pure_rust_locales::$locale::LC_TIME as names;
        Language {
            months: [
                names::ABMON,
                names::MON,
                or_none(names::AB_ALT_MON),
                or_none(names::ALT_MON),
            ],
            weekdays: [names::ABDAY, names::DAY],
            halves: names::AM_PM,
            formats: [names::D_T_FMT, match names::DATE_FMT { Some(format) => format, None => "" }],
        }
    }),*] };
}

const fn or_none(names: Option<&'static [&'static str]>) -> &'static [&'static str] {
    match names {
        Some(names) => names,
        None => &[],
    }
}

/// Languages, where names differ the one first that more people have.
const LANGUAGES: &[Language] = &languages! {
    en_US de_DE fr_FR es_ES it_IT nl_NL pt_BR pt_PT pl_PL ru_RU sv_SE cs_CZ ar_EG be_BY bg_BG bn_BD ca_ES da_DK el_GR et_EE
    eu_ES fa_IR fi_FI fil_PH gl_ES he_IL hi_IN hr_HR hu_HU id_ID is_IS ja_JP ka_GE kk_KZ ko_KR lt_LT lv_LV mk_MK ms_MY nb_NO
    nn_NO ro_RO sk_SK sl_SI sq_AL sr_RS sr_RS_latin ta_IN th_TH tr_TR uk_UA ur_PK vi_VN zh_CN zh_TW
};

/// Names and words that other programs put into dates: short names of older `date` (French, German, Spanish, Dutch), and
/// what stands between the words of PowerShell's and others' dates.
const MORE_MONTHS: [(&str, u32); 6] =
    [("sept", 9), ("fév", 2), ("juil", 7), ("avr", 4), ("mrt", 3), ("mär", 3)];
const BETWEEN: [&str; 12] = ["de", "del", "den", "der", "at", "um", "à", "le", "kl", "klo", "г", "р"];

static VOCABULARY: LazyLock<HashMap<String, Meaning>> = LazyLock::new(|| {
    let mut words: HashMap<String, Meaning> = HashMap::new();
    for language in LANGUAGES {
        for (month, name) in language.months.iter().flat_map(|names| (1..).zip(*names)) {
            add(&mut words.entry(key(name)).or_default().months, month);
        }
        for (day, name) in language.weekdays.iter().flat_map(|names| (0..).zip(*names)) {
            add(&mut words.entry(key(name)).or_default().weekdays, day);
        }
        for (half, is_afternoon) in language.halves.iter().zip([false, true]) {
            words.entry(key(&without_dots(half))).or_default().is_afternoon = Some(is_afternoon);
        }
        for word in language.formats.iter().flat_map(|format| format.split_whitespace()) {
            if !word.contains('%') && word.chars().any(char::is_alphabetic) {
                words.entry(key(word)).or_default();
            }
        }
    }
    for (name, month) in MORE_MONTHS {
        add(&mut words.entry(key(name)).or_default().months, month);
    }
    for word in BETWEEN {
        words.entry(key(word)).or_default();
    }
    words.remove("");
    words
});

fn add(numbers: &mut Vec<u32>, number: u32) {
    if !numbers.contains(&number) {
        numbers.push(number);
    }
}

/// A word as it is looked up: in small letters, without marks around it.
fn key(word: &str) -> String {
    word.trim_matches(|c: char| c.is_whitespace() || ".,()[]'،".contains(c)).to_lowercase()
}

/// A text with the digits and blanks of ASCII, and without marks of direction.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    text.chars()
        .filter(|c| !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .map(|c| {
            // The first digits of Arabic, Persian, Devanagari, Bengali, Thai, and of full width.
            let zeros = ['\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{e50}', '\u{ff10}'];
            let digit = zeros
                .iter()
                .find_map(|zero| (c as u32).checked_sub(*zero as u32).filter(|digit| *digit < 10));
            digit.and_then(|digit| char::from_digit(digit, 10)).unwrap_or(if c.is_whitespace() {
                ' '
            } else {
                c
            })
        })
        .collect()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn words_mean_what_they_do_in_any_language() {
        let months = |word: &str| meaning(word).map_or(Vec::new(), |told| told.months.clone());
        assert_eq!([months("März"), months("kovo"), months("березня"), months("มี.ค.")], [[3], [3], [3], [3]]);
        assert_eq!(months("lis"), [11, 10]);
        assert_eq!(
            (months("mar."), meaning("mar").map(|told| told.weekdays.clone())),
            (vec![3], Some(vec![2]))
        );
        assert_eq!(["pm", "P.M.", "μμ", "下午"].map(is_afternoon), [Some(true); 4]);
        assert_eq!(["am", "a. m.", "ص"].map(is_afternoon), [Some(false); 3]);
        assert!(meaning("gada").is_some_and(|told| *told == Meaning::default()));
        assert!(["the", "nvme0", "temperature", "", "."].into_iter().all(|word| meaning(word).is_none()));
    }

    #[test]
    fn no_word_is_both_halves_of_the_day() {
        let mut before = HashMap::new();
        for (half, is_afternoon) in
            LANGUAGES.iter().flat_map(|language| language.halves.iter().zip([false, true]))
        {
            assert!(half.is_empty() || *before.entry(half).or_insert(is_afternoon) == is_afternoon, "{half}");
        }
    }

    #[test]
    fn digits_of_other_scripts_are_digits() {
        assert_eq!(plain("\u{202b}۱۴ مارس ۲۶، ١٥:٢०:๐0\u{202c}"), "14 مارس 26، 15:20:00");
    }
}
