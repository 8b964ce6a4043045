//! Titles of HWiNFO's columns, in the languages that it has.
//!
//! Rules
//! - In English `Drive Temperature`, `Drive Temperature 2`, `Read Rate` and `Write Rate`, and nothing else.
//! - In any other language a temperature has a word for a drive and one for temperature (`Laufwerkstemperatur [°C]`), a rate one
//!   for reading or writing and a unit of data a second (`Leserate [MB/s]`). Words of other parts (memory, graphics, network,
//!   amounts since the start) rule a column out. Other rates are named in a note.
//! - Words are parts of words, so that endings and composites do not matter.
//! - What S.M.A.R.T. says of a drive stands together: temperatures, then warnings (`Drive Failure [Yes/No]`). A title that comes again, or a
//!   temperature behind warnings, begins the next drive. Of two temperatures without a number the first is the drive's: SATA drives have
//!   `Drive Airflow Temperature` beside it, or alone.

use std::collections::{BTreeMap, BTreeSet};

use super::titles::Meaning;
use super::{Quantity, Samples};
use trace::SegmentOp::{self, Read, Write};

/// What a column is of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HwInfoColumn {
    /// The temperature, or that of a further sensor by its number.
    Temperature(Option<u8>),
    /// Whether the drive warns of something.
    Warning,
    Rate(SegmentOp),
    /// Share of the time in which it had something to do.
    Activity,
}

/// Which drive each of the columns that S.M.A.R.T. fills is of, counted from 1 along the header.
#[derive(Debug, Default)]
pub(super) struct SmartColumns<'a> {
    /// The drive of the last one, and so how many there are.
    pub(super) drive: usize,
    titles: BTreeSet<&'a str>,
    has_warning: bool,
    /// Whether the drive has its temperature.
    has_temperature: bool,
}

impl<'a> SmartColumns<'a> {
    /// Takes the next column; whether it is the temperature of the drive itself or one with a number of its own.
    pub(super) fn next(&mut self, title: &'a str, column: HwInfoColumn) -> bool {
        let is_warning = column == HwInfoColumn::Warning;
        if self.drive == 0 || self.titles.contains(title) || self.has_warning && !is_warning {
            *self = Self { drive: self.drive + 1, ..Self::default() };
        }
        self.titles.insert(title);
        self.has_warning |= is_warning;
        match column {
            HwInfoColumn::Temperature(None) => !std::mem::replace(&mut self.has_temperature, true),
            HwInfoColumn::Temperature(Some(_)) => true,
            HwInfoColumn::Warning | HwInfoColumn::Rate(_) | HwInfoColumn::Activity => false,
        }
    }
}

/// Titles of the day and of the time of day: English, German, French, Spanish, Italian, Portuguese, Polish, Czech, Hungarian,
/// Dutch, Swedish, Turkish, Russian, Japanese, Chinese, Korean.
const DATES: [&str; 15] = [
    "date",
    "datum",
    "fecha",
    "data",
    "dátum",
    "tarih",
    "дата",
    "日付",
    "日期",
    "날짜",
    "date [dd.mm.yyyy]",
    "dato",
    "date (utc)",
    "jour",
    "dia",
];
const TIMES: [&str; 20] = [
    "time",
    "zeit",
    "uhrzeit",
    "heure",
    "temps",
    "hora",
    "ora",
    "tempo",
    "czas",
    "godzina",
    "čas",
    "idő",
    "tijd",
    "tid",
    "saat",
    "время",
    "時刻",
    "時間",
    "时间",
    "시간",
];

const DRIVES: [&str; 28] = [
    "laufwerk",
    "festplatte",
    "disque",
    "lecteur",
    "disco",
    "unidad",
    "unità",
    "dysk",
    "napęd",
    "диск",
    "накопител",
    "привод",
    "ドライブ",
    "ディスク",
    "驱动器",
    "硬盘",
    "磁盘",
    "硬碟",
    "磁碟",
    "드라이브",
    "디스크",
    "meghajtó",
    "lemez",
    "schijf",
    "sürücü",
    "jednotk",
    "enhet",
    "disk",
];
const HEAT: [&str; 9] =
    ["temperat", "températ", "температ", "温度", "溫度", "온도", "hőmérs", "teplot", "sıcaklı"];
const READING: [&str; 16] = [
    "lese", "lectur", "lettur", "leitura", "odczyt", "чтен", "読み", "読込", "读取", "讀取", "읽기", "olvas",
    "okuma", "lees", "čten", "läs",
];
const WRITING: [&str; 19] = [
    "schreib",
    "écritur",
    "ecritur",
    "escritura",
    "scrittur",
    "grava",
    "escrita",
    "zapis",
    "zápis",
    "запис",
    "書き",
    "書込",
    "写入",
    "寫入",
    "쓰기",
    "írás",
    "yazma",
    "schrijf",
    "skriv",
];
/// How busy a drive is, by all of its operations.
const ACTIVITY: [&str; 4] = ["activ", "attivit", "aktiv", "ativid"];
const OF_ALL: [&str; 2] = ["tota", "gesamt"];
/// Other parts of a machine, and amounts.
const OTHERS: [&str; 21] = [
    "dram",
    "gpu",
    "cpu",
    "pcie",
    "speicher",
    "memory",
    "mémoire",
    "memoria",
    "память",
    "内存",
    "メモリ",
    "메모리",
    "bandbreite",
    "bandwidth",
    "netz",
    "network",
    "cache",
    "host",
    "total",
    "gesamt",
    "max",
];

/// Words of a network's rates.
const NETWORK: [&str; 9] =
    ["upload", "download", " dl ", " up ", "dl rate", "up rate", "網路", "网络", "сет"];

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Whether the first two titles are those of a day and of a time of day.
pub(super) fn begins(first: &str, second: &str) -> bool {
    DATES.contains(&first) && TIMES.contains(&second)
}

/// What a title says without its unit, and with whether that is a rate; a unit such as `Yes/No` is one of warnings.
pub(super) fn column(name: &str, unit: &str, is_rate: bool) -> Option<HwInfoColumn> {
    if let Some(number) = name.strip_prefix("Drive Temperature") {
        return numbered(number);
    }
    match name {
        "Drive Airflow Temperature" => return Some(HwInfoColumn::Temperature(None)),
        "Read Rate" => return Some(HwInfoColumn::Rate(Read)),
        "Write Rate" => return Some(HwInfoColumn::Rate(Write)),
        _ => {}
    }
    let lower = name.to_lowercase();
    if unit == "%" && has(&lower, &ACTIVITY) && has(&lower, &OF_ALL) {
        return Some(HwInfoColumn::Activity);
    }
    if has(&lower, &OTHERS) {
        return None;
    }
    let is_of_a_drive = lower.starts_with("drive ") || has(&lower, &DRIVES);
    if is_of_a_drive && unit.contains('/') && !unit.ends_with("/s") {
        return Some(HwInfoColumn::Warning);
    }
    if has(&lower, &HEAT) && has(&lower, &DRIVES) {
        return numbered(lower.trim_start_matches(|c: char| !c.is_ascii_digit()));
    }
    match (is_rate && has(&lower, &READING), is_rate && has(&lower, &WRITING)) {
        (true, false) => Some(HwInfoColumn::Rate(Read)),
        (false, true) => Some(HwInfoColumn::Rate(Write)),
        _ => None,
    }
}

/// Whether a rate may be a drive's in words that are not known: it has none of other parts of a machine.
pub(super) fn may_be_of_a_drive(name: &str) -> bool {
    let lower = name.to_lowercase();
    !has(&lower, &OTHERS) && !has(&lower, &NETWORK)
}

/// Brings temperatures and rates of one drive together: by the names of their columns, else by their order where S.M.A.R.T. is of as
/// many `drives` as there are rates.
pub(super) fn name_drives(
    samples: &mut Samples,
    meanings: &[Meaning],
    drives: usize,
    names: Option<&[String]>,
) {
    let count = |is: fn(&Quantity) -> bool| {
        let drives = meanings.iter().filter(|one| is(&one.quantity)).map(|one| one.drive.as_str());
        drives.collect::<BTreeSet<_>>().len()
    };
    let (hot, moving) =
        (count(|one| matches!(one, Quantity::Celsius(_))), count(|one| matches!(one, Quantity::Rate(_))));
    let has_both = names.is_none() && hot > 0 && moving > 0;
    let is_in_order = drives == moving;
    if has_both && drives.max(moving) > 1 {
        let taken = if is_in_order {
            "the first temperature is taken for that of the first rates, and so on"
        } else {
            "no temperature is used, as its drive is not known. HWiNFO writes the names when its logging is stopped; or leave only the columns of one drive in the log"
        };
        samples.notes.push(format!(
            "temperatures of {hot} and rates of {moving} drives are in it, and no names of drives at its end: {taken}"
        ));
    }
    let footer = |meaning: &Meaning| {
        let name = names.and_then(|names| names.get(meaning.cell))?.trim();
        (!name.is_empty()).then(|| drive_in(name).to_owned())
    };
    for (meaning, told) in meanings.iter().zip(apart(meanings, footer)) {
        let name = match told {
            Some(name) => name,
            None if has_both && !is_in_order && matches!(meaning.quantity, Quantity::Celsius(_)) => {
                meaning.drive.replace("drive", "temperature")
            }
            None => meaning.drive.replace("rates of ", ""),
        };
        if name != meaning.drive {
            samples.merge(&meaning.drive, &name);
        }
    }
}

/// The names that the file's end has, with a number behind those of several drives: the n-th temperatures of a name are those of the
/// n-th rates of it, where there are as many.
fn apart(meanings: &[Meaning], footer: impl Fn(&Meaning) -> Option<String>) -> Vec<Option<String>> {
    let is_rate = |one: &Meaning| matches!(one.quantity, Quantity::Rate(_) | Quantity::Busy);
    let mut of_name: BTreeMap<(String, bool), Vec<&str>> = BTreeMap::new();
    for one in meanings {
        let Some(name) = footer(one) else { continue };
        let drives = of_name.entry((name, is_rate(one))).or_default();
        if !drives.contains(&one.drive.as_str()) {
            drives.push(&one.drive);
        }
    }
    let count = |name: &str, rates: bool| of_name.get(&(name.to_owned(), rates)).map_or(0, Vec::len);
    let name = |one: &Meaning| {
        let name = footer(one)?;
        let (heats, rates) = (count(&name, false), count(&name, true));
        let at = of_name[&(name.clone(), is_rate(one))].iter().position(|drive| *drive == one.drive)? + 1;
        Some(match heats.max(rates) {
            0 | 1 => name,
            _ if heats != rates && !is_rate(one) => format!("temperature {at} of {name}"),
            _ => format!("{name} ({at})"),
        })
    };
    meanings.iter().map(name).collect()
}

/// The drive of `S.M.A.R.T.: MODEL (SERIAL)` and `Drive: MODEL (SERIAL) [C:, D:]`, which says what volumes are on it, too.
fn drive_in(name: &str) -> &str {
    let drive = name.split_once(':').map_or(name, |(_, drive)| drive.trim());
    let volumes = drive.ends_with(']').then(|| drive.rsplit_once(" [")).flatten();
    volumes.map_or(drive, |(drive, _)| drive.trim())
}

/// The cells of the row of names, which has `Drive: MODEL (SERIAL) [C:, D:]` without quotation marks, put together again.
pub(super) fn whole_names(cells: Vec<String>) -> Vec<String> {
    let mut whole: Vec<String> = Vec::with_capacity(cells.len());
    for cell in cells {
        match whole.last_mut().filter(|before| ends_in_volumes(before)) {
            Some(before) => {
                before.push(',');
                before.push_str(&cell);
            }
            None => whole.push(cell),
        }
    }
    whole
}

/// Whether a name ends within its volumes: `.. [C:` and `.. [C:, D:`.
fn ends_in_volumes(name: &str) -> bool {
    name.ends_with(':') && name.rsplit_once('[').is_some_and(|(_, volumes)| !volumes.contains(']'))
}

/// The temperature of a sensor by what stands behind its name.
fn numbered(number: &str) -> Option<HwInfoColumn> {
    match number.trim() {
        "" => Some(HwInfoColumn::Temperature(None)),
        number => number.parse().ok().map(|number| HwInfoColumn::Temperature(Some(number))),
    }
}

/// How many words of titles are in a text of lower case: fewer where it was read in a wrong code page.
pub(super) fn words_in(lower: &str) -> usize {
    // Words of one character are found in any page.
    let words = DRIVES.iter().chain(&HEAT).chain(&READING).chain(&WRITING);
    words.map(|word| lower.matches(word).count()).sum()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn drives_are_found_in_many_languages() {
        for (heat, reading, writing) in [
            ("Drive Temperature", "Read Rate", "Write Rate"),
            ("Laufwerkstemperatur", "Leserate", "Schreibrate"),
            ("Laufwerkstemperatur", "Lesegeschwindigkeit", "Schreibgeschwindigkeit"),
            ("Température du disque", "Vitesse de lecture", "Vitesse d'écriture"),
            ("Temperatura dysku", "Szybkość odczytu", "Szybkość zapisu"),
            ("Temperatura del disco", "Velocidad de lectura", "Velocidad de escritura"),
            ("Температура диска", "Скорость чтения", "Скорость записи"),
            ("ドライブ温度", "読み取り速度", "書き込み速度"),
            ("驱动器温度", "读取速率", "写入速率"),
            ("磁碟溫度", "讀取速率", "寫入速率"),
            ("드라이브 온도", "읽기 속도", "쓰기 속도"),
        ] {
            assert_eq!(column(heat, "°C", false), Some(HwInfoColumn::Temperature(None)), "{heat}");
            assert_eq!(
                column(&format!("{heat} 2"), "°C", false),
                Some(HwInfoColumn::Temperature(Some(2))),
                "{heat}"
            );
            assert_eq!(column(reading, "MB/s", true), Some(HwInfoColumn::Rate(Read)), "{reading}");
            assert_eq!(column(writing, "MB/s", true), Some(HwInfoColumn::Rate(Write)), "{writing}");
        }
    }

    #[test]
    fn other_parts_of_a_machine_are_no_drives() {
        for name in [
            "DRAM-Lesebandbreite",
            "DRAM Read Bandwidth",
            "Aktuelle Upload-Rate",
            "GPU Memory Read Rate",
            "Current DL rate",
        ] {
            assert_eq!(column(name, "GB/s", true), None, "{name}");
        }
        for name in [
            "GPU-Temperatur",
            "SPD Hub Temperatur",
            "Host-Schreibvorgänge insgesamt",
            "Leserate",
            "Drive Temperature of x",
        ] {
            assert_eq!(column(name, "GB", false), None, "{name}");
        }
    }
}
