//! Text from elsewhere - names of files, drives, plans and profiles - as it can be shown: what would steer a terminal or
//! change the order of letters is written out.

use std::borrow::Cow;
use std::fmt::Write as _;

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
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// JSON that says the same, with hidden characters as escapes: they can only stand in strings.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_hidden) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
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
