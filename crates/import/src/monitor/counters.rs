//! Names of Windows' performance counters, in the languages that Windows translates them to.
//!
//! A path is `\\HOST\OBJECT(INSTANCE)\COUNTER`. Object and counter are in the language of the system, `\PhysicalDisk(0 C:)\Disk Write
//! Bytes/sec` being `\Physikalischer Datenträger(0 C:)\Bytes geschrieben/s` in German. A counter is one of speed where it has a
//! word for bytes, one for reading or writing, and ends in a second. Words are from the counters' names in English, German,
//! French, Spanish, Italian, Portuguese, Dutch, Polish, Czech, Hungarian, Swedish, Turkish and Russian.

use trace::SegmentOp::{self, Read, Write};

/// Languages whose names are read, for errors.
pub(super) const LANGUAGES: &str = "English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Czech, Hungarian, Swedish, Turkish or Russian";

// Where the console's code page spoils a letter, as in what typeperf prints into a file, words without it are found.
const READING: [&str; 14] = [
    "read", "gelesen", "lectur", "letti", "leitura", "lidos", "gelezen", "odczyt", "čten", "olvas", "läst",
    "okuma", "чтен", "lesen",
];
const WRITING: [&str; 15] = [
    "write",
    "geschrieben",
    "critur",
    "escritura",
    "scritti",
    "grava",
    "escrita",
    "escritos",
    "geschreven",
    "zapis",
    "írás",
    "skriv",
    "yazma",
    "запис",
    "schreib",
];
const BYTES: [&str; 6] = ["byte", "octet", "bajt", "bájt", "bayt", "байт"];
const SECONDS: [&str; 9] = ["/s", "/sec", "/sek", "/seg", "/sn", "/с", "/сек", "per seconde", "/mp"];
const PHYSICAL: [&str; 9] = ["phys", "fysi", "fyzi", "fizi", "fizy", "físi", "fisi", "disco f", "физич"];
const LOGICAL: [&str; 5] = ["logi", "lógi", "disco l", "логич", "mantıksal"];

/// Words for time in which a drive had nothing to do, and had.
const IDLE: [&str; 6] = ["idle", "leerlauf", "inactiv", "inattiv", "inativ", "bezczynn"];
const BUSY: &str = "% disk time";

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    /// Bytes per second.
    Bytes(SegmentOp),
    /// Percent of the time without, and with, something to do.
    Idle,
    Busy,
}

/// A counter of a drive's speed, or of how busy it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counter {
    pub(super) drive: String,
    pub(super) counts: Counts,
    /// Whether it is of a volume and not of a drive.
    pub(super) is_volume: bool,
}

/// The counter of that path; `None` for one of something else.
pub(super) fn counter(path: &str) -> Option<Counter> {
    let lower = path.trim().trim_matches('"').to_lowercase();
    let (object, name) = lower.rsplit_once('\\')?;
    let (object, instance) = object.strip_suffix(')')?.rsplit_once('(')?;
    let object = object.rsplit('\\').next()?;
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_volume = match () {
        () if has(object, &PHYSICAL) => false,
        () if has(object, &LOGICAL) => true,
        () => return None,
    };
    let drive = if instance == "_total" { "_Total".to_owned() } else { instance.to_uppercase() };
    Some(Counter { drive, counts: counts(name)?, is_volume })
}

/// What the counter of that name counts, in lower case.
fn counts(name: &str) -> Option<Counts> {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let ends = name.trim_end_matches([')', ' ']);
    match (has(&READING), has(&WRITING)) {
        _ if name.contains('%') && has(&IDLE) => Some(Counts::Idle),
        _ if name == BUSY => Some(Counts::Busy),
        _ if !has(&BYTES) || !SECONDS.iter().any(|seconds| ends.ends_with(seconds)) => None,
        (true, false) => Some(Counts::Bytes(Read)),
        (false, true) => Some(Counts::Bytes(Write)),
        _ => None,
    }
}

/// How many of the words that tell counters are in a text of lower case: fewer where it was read in a wrong code page.
pub(super) fn counter_words_in(lower: &str) -> usize {
    let words = READING.iter().chain(&WRITING).chain(&BYTES).chain(&SECONDS).chain(&PHYSICAL).chain(&LOGICAL);
    words.map(|word| lower.matches(word).count()).sum()
}

#[cfg(test)]
mod test {
    use super::*;

    /// Names of the counters as scripts and documents of many countries have them.
    #[test]
    fn counters_are_known_in_many_languages() {
        for (object, reading, writing) in [
            ("PhysicalDisk", "Disk Read Bytes/sec", "Disk Write Bytes/sec"),
            ("Physikalischer Datenträger", "Bytes gelesen/s", "Bytes geschrieben/s"),
            ("Disque physique", "Lectures disque, octets/s", "Écritures disque, octets/s"),
            ("Disco físico", "Bytes de lectura de disco/s", "Bytes de escritura en disco/s"),
            // What typeperf prints in the console's code page, read in that of Windows.
            ("Disco f\u{a1}sico", "Bytes de lectura de disco/s", "Bytes de escritura en disco/s"),
            ("Disco fisico", "Byte letti da disco/sec", "Byte scritti su disco/sec"),
            ("PhysicalDisk", "Bytes de leitura de disco/s", "Bytes de gravação de disco/s"),
            ("Disco físico", "Bytes lidos em disco/seg", "Bytes escritos em disco/seg"),
            ("Fysieke schijf", "Gelezen bytes per seconde", "Geschreven bytes per seconde"),
            ("Dysk fizyczny", "Bajty odczytu dysku/s", "Bajty zapisu dysku/s"),
            ("Fyzický disk", "Bajty čtení z disku/s", "Bajty zapisování na disk/s"),
            ("Fizikai lemez", "Olvasási sebesség (bájt/s)", "Írási sebesség (bájt/s)"),
            ("Fysisk disk", "Disk - lästa byte/s", "Disk - skrivna byte/s"),
            ("FizikselDisk", "Disk Okuma Bayt/sn", "Disk Yazma Bayt/sn"),
            ("Физический диск", "Скорость чтения с диска (байт/с)", "Скорость записи на диск (байт/с)"),
        ] {
            for (name, op) in [(reading, Read), (writing, Write)] {
                let path = format!("\\\\HOST\\{object}(0 C:)\\{name}");
                let told =
                    Some(Counter { drive: "0 C:".into(), counts: Counts::Bytes(op), is_volume: false });
                assert_eq!(counter(&path), told, "{path}");
            }
        }
        assert!(counter("\\LogicalDisk(C:)\\Disk Read Bytes/sec").is_some_and(|one| one.is_volume));
        for other in [
            "\\\\HOST\\PhysicalDisk(0 C:)\\Disk Bytes/sec",
            "\\\\HOST\\PhysicalDisk(0 C:)\\Disk Reads/sec",
            "\\\\HOST\\PhysicalDisk(0 C:)\\Avg. Disk Bytes/Read",
            "\\\\HOST\\PhysicalDisk(0 C:)\\Avg. Disk sec/Write",
            "\\\\HOST\\Disque physique(0 C:)\\Moyenne disque, octets/lecture",
            "\\\\HOST\\Physikalischer Datenträger(0 C:)\\Mittlere Bytes/Schreibvorgang",
            "\\\\HOST\\Process(x)\\IO Read Bytes/sec",
            "\\\\HOST\\System\\File Read Bytes/sec",
        ] {
            assert_eq!(counter(other), None, "{other}");
        }
    }
}
