//! Text from elsewhere - names of files, drives, plans and profiles - as it can be shown: what would steer a terminal or
//! change the order of letters is written out.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// Whether a character does something else than being seen: control characters (ECMA-48: C0 without line feed and tab,
/// DEL, C1), and of Unicode what reorders text, what separates lines, and what has no width (Cf and its kin).
pub const fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text with hidden characters written out as in Rust and in shells: `\u{1b}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    with_hidden(text, |shown, c| write!(shown, "\\u{{{:x}}}", u32::from(c)))
}

/// JSON that says the same, with hidden characters as escapes: they can only stand in strings.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    with_hidden(json, |shown, c| {
        c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(shown, "\\u{unit:04x}"))
    })
}

/// The text with each hidden character written by `write_out`.
fn with_hidden(text: &str, write_out: impl Fn(&mut String, char) -> fmt::Result) -> Cow<'_, str> {
    let (mut shown, mut rest) = (String::new(), text);
    while let Some((plain, hidden, after)) = split_at_hidden(rest) {
        shown.push_str(plain);
        // Writing to a string does not fail.
        let _ = write_out(&mut shown, hidden);
        rest = after;
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// What is before the first hidden character, it, and what is after it. Text is mostly ASCII, and that is passed over by its bytes.
fn split_at_hidden(text: &str) -> Option<(&str, char, &str)> {
    let mut at = 0;
    loop {
        at += text.as_bytes()[at..].iter().position(|byte| !matches!(byte, b' '..=b'~' | b'\n' | b'\t'))?;
        let c = text[at..].chars().next()?;
        let after = at + c.len_utf8();
        if is_hidden(c) {
            return Some((&text[..at], c, &text[after..]));
        }
        at = after;
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_written_out_and_letters_stay() {
        let plain = "SSD 980 PRO\t\u{fc}\u{4e2d}\u{1f525}\n";
        assert!(matches!(visible(plain), Cow::Borrowed(shown) if shown == plain));
        let steers = "a\u{1b}]0;b\u{7}\u{9b}2J\r\u{202e}c\u{7f}";
        assert_eq!(visible(steers), r"a\u{1b}]0;b\u{7}\u{9b}2J\u{d}\u{202e}c\u{7f}");
        assert!(!visible(steers).contains(is_hidden));
    }

    #[test]
    fn json_says_the_same_without_hidden_characters() {
        let text = "\u{1b}\u{9b}\u{202e}\u{e0041}\u{7f}x";
        let json = serde_json::to_string(text).expect("JSON");
        let shown = visible_json(&json);
        assert!(shown.is_ascii(), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).expect("JSON"), text);
    }
}
