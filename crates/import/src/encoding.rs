//! Which characters the bytes of a file are.
//!
//! Rules
//! - UTF-16 by its mark, or where every other byte of the beginning is a zero.
//! - UTF-8 by its mark, whatever follows: HWiNFO writes titles in it behind the mark, and words in cells (`Yes`, `No`) in the code
//!   page of the system. UTF-8 too where the beginning is that.
//! - What Windows programs write is else in the code page of their system, which nothing names: the one in which most of the
//!   words that matter are found (degrees, names of counters, titles of HWiNFO), and the first of [`PAGES`] where several find as many. Bytes
//!   that a page does not have rule it out.

use encoding_rs::{
    BIG5, EUC_KR, Encoding, GBK, IBM866, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1252, WINDOWS_1254,
};

use super::monitor::title_words_in;

/// Code pages of Windows: Western, Central European, Cyrillic (and that of its console), Turkish, Japanese, both Chinese,
/// Korean.
const PAGES: [&Encoding; 9] =
    [WINDOWS_1252, WINDOWS_1250, WINDOWS_1251, IBM866, WINDOWS_1254, SHIFT_JIS, GBK, BIG5, EUC_KR];
const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";
/// How degrees are written.
const DEGREES: [&str; 4] = ["°C", "°F", "℃", "℉"];

/// Which UTF-16 a head is in: as its mark says, or as every other byte of what is mostly ASCII shows.
pub(super) fn unicode(head: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(head) {
        return Some(encoding).filter(|encoding| *encoding != UTF_8);
    }
    let begin = &head[..head.len().min(64)];
    let zeros = |first: usize| begin.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    match begin.len() / 2 {
        pairs if pairs < 8 => None,
        pairs if odd * 10 >= pairs * 9 && even == 0 => Some(UTF_16LE),
        pairs if even * 10 >= pairs * 9 && odd == 0 => Some(UTF_16BE),
        _ => None,
    }
}

/// What a Windows program wrote a head in that is no UTF-16.
pub(super) fn code_page(head: &[u8]) -> &'static Encoding {
    if head.starts_with(UTF_8_MARK) {
        return UTF_8;
    }
    // The head may end within a character.
    let end = head.iter().rposition(|byte| *byte == b'\n').unwrap_or(head.len());
    let head = &head[..end];
    if std::str::from_utf8(head).is_ok() {
        return UTF_8;
    }
    let known = |page: &&&'static Encoding| {
        let text = page.decode_without_bom_handling(head).0;
        let is_outside = |c: char| c == '\u{fffd}' || ('\u{80}'..'\u{a0}').contains(&c);
        (!text.contains(is_outside)).then(|| {
            let degrees: usize = DEGREES.iter().map(|degrees| text.matches(degrees).count()).sum();
            degrees + title_words_in(&text.to_lowercase())
        })
    };
    // Of equals the last is taken: the first page.
    PAGES.iter().rev().max_by_key(known).copied().unwrap_or(WINDOWS_1252)
}

#[cfg(test)]
mod test {
    use super::*;

    /// Titles and names as they stand in files of each country, with what else has bytes over 7Fh in them.
    #[test]
    fn the_code_page_is_the_one_in_which_words_are_found() {
        for (page, text) in [
            (WINDOWS_1252, "Date,Time,\"Drive Temperature [°C]\",\"Größe\"\r\n"),
            (WINDOWS_1252, "\"\\\\PC\\Disque physique(0 C:)\\Écritures disque, octets/s\"\r\n"),
            (WINDOWS_1250, "\"\\\\PC\\Fyzický disk(0 C:)\\Bajty čtení z disku/s\"\r\n"),
            (WINDOWS_1251, "\"\\\\PC\\Физический диск(0 C:)\\Скорость записи на диск (байт/с)\"\r\n"),
            (IBM866, "\"\\\\PC\\Физический диск(0 C:)\\Скорость записи на диск (байт/с)\"\r\n"),
            (WINDOWS_1254, "\"\\\\PC\\MantıksalDisk(C:)\\Disk Yazma Bayt/sn\"\r\n"),
            (SHIFT_JIS, "Date,Time,\"ドライブの温度 [°C]\",\"ソ表 [MB/s]\"\r\n"),
            (GBK, "Date,Time,\"硬盘温度 [°C]\",\"读取速率 [MB/s]\"\r\n"),
            (BIG5, "Date,Time,\"磁碟溫度 [℃]\",\"讀取速率 [MB/s]\"\r\n"),
            (EUC_KR, "Date,Time,\"드라이브 온도 [°C]\",\"읽기 [MB/s]\"\r\n"),
        ] {
            assert_eq!(code_page(&page.encode(text).0), page, "{text}");
        }
        assert_eq!(code_page("Drive Temperature [°C]\n\u{b0}".as_bytes()), UTF_8);
        let beside = ["\u{feff}Date,\"磁盘温度 [℃]\"\n".as_bytes(), &GBK.encode("否\n").0].concat();
        assert_eq!(code_page(&beside), UTF_8);
    }
}
