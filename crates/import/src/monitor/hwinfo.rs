//! Titles of HWiNFO's columns, in the languages that it has.
//!
//! Rules
//! - In English `Drive Temperature`, `Drive Temperature 2`, `Read Rate` and `Write Rate`, and nothing else.
//! - In any other language a temperature has a word for a drive and one for temperature (`Laufwerkstemperatur [°C]`), a rate one
//!   for reading or writing, one for speed, and a unit of data a second (`Leserate [MB/s]`). Words of other parts (memory,
//!   graphics, network, amounts since the start) rule a column out.
//! - Words are parts of words, so that endings and composites do not matter.

use trace::SegmentOp::{self, Read, Write};

/// What a column is of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HwInfoColumn {
    /// The temperature, or that of a further sensor by its number.
    Temperature(Option<u8>),
    Rate(SegmentOp),
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

const DRIVES: [&str; 27] = [
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
    "disk",
];
const HEAT: [&str; 9] =
    ["temperat", "températ", "температ", "温度", "溫度", "온도", "hőmérs", "teplot", "sıcaklı"];
const READING: [&str; 16] = [
    "lese", "lectur", "lettur", "leitura", "odczyt", "чтен", "読み", "読込", "读取", "讀取", "읽기", "olvas",
    "okuma", "lees", "čten", "läs",
];
const WRITING: [&str; 18] = [
    "schreib",
    "écritur",
    "ecritur",
    "escritura",
    "scrittur",
    "grava",
    "escrita",
    "zapis",
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
const SPEED: [&str; 21] = [
    "rate",
    "geschwind",
    "vitesse",
    "débit",
    "taux",
    "veloc",
    "tasso",
    "taxa",
    "prędko",
    "szybko",
    "скорост",
    "速度",
    "速率",
    "レート",
    "속도",
    "sebess",
    "hızı",
    "snelheid",
    "rychlost",
    "hastig",
    "transfer",
];
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

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Whether the first two titles are those of a day and of a time of day.
pub(super) fn begins(first: &str, second: &str) -> bool {
    DATES.contains(&first) && TIMES.contains(&second)
}

/// What a title without its unit says; whether its unit is a rate is told by the caller.
pub(super) fn column(name: &str, is_rate: bool) -> Option<HwInfoColumn> {
    if let Some(number) = name.strip_prefix("Drive Temperature") {
        return numbered(number);
    }
    match name {
        "Read Rate" => return Some(HwInfoColumn::Rate(Read)),
        "Write Rate" => return Some(HwInfoColumn::Rate(Write)),
        _ => {}
    }
    let lower = name.to_lowercase();
    if has(&lower, &OTHERS) {
        return None;
    }
    if has(&lower, &HEAT) && has(&lower, &DRIVES) {
        return numbered(lower.trim_start_matches(|c: char| !c.is_ascii_digit()));
    }
    let is_speed = is_rate && has(&lower, &SPEED);
    match (is_speed && has(&lower, &READING), is_speed && has(&lower, &WRITING)) {
        (true, false) => Some(HwInfoColumn::Rate(Read)),
        (false, true) => Some(HwInfoColumn::Rate(Write)),
        _ => None,
    }
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
    let words = DRIVES.iter().chain(&HEAT).chain(&SPEED).chain(&READING).chain(&WRITING);
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
            assert_eq!(column(heat, false), Some(HwInfoColumn::Temperature(None)), "{heat}");
            assert_eq!(
                column(&format!("{heat} 2"), false),
                Some(HwInfoColumn::Temperature(Some(2))),
                "{heat}"
            );
            assert_eq!(column(reading, true), Some(HwInfoColumn::Rate(Read)), "{reading}");
            assert_eq!(column(writing, true), Some(HwInfoColumn::Rate(Write)), "{writing}");
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
            assert_eq!(column(name, true), None, "{name}");
        }
        for name in [
            "GPU-Temperatur",
            "SPD Hub Temperatur",
            "Host-Schreibvorgänge insgesamt",
            "Leserate",
            "Drive Temperature of x",
        ] {
            assert_eq!(column(name, false), None, "{name}");
        }
    }
}
