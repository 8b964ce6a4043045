//! The part of an address behind the question mark, as names and values (WHATWG URL, application/x-www-form-urlencoded).

/// Values beyond this many are not looked at: a page asks for two dozen at most.
const PARTS_MAX: usize = 64;

/// Names and values in their order, decoded; what is no UTF-8 is shown as such.
pub(crate) fn parts(query: &str) -> impl Iterator<Item = (String, String)> {
    let pairs = query.split('&').filter(|part| !part.is_empty()).take(PARTS_MAX);
    pairs.map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        (decoded(name), decoded(value))
    })
}

/// The first value of that name.
pub(crate) fn value(query: &str, name: &str) -> Option<String> {
    parts(query).find(|part| part.0 == name).map(|part| part.1)
}

/// As the value of a query.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match (first, hex(0), hex(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            (b'+', ..) => {
                bytes.push(b' ');
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn queries_are_read_as_browsers_write_them() {
        assert_eq!(value("q=a+b%26c&sort=date", "q").as_deref(), Some("a b&c"));
        assert_eq!(value("q=%4", "q").as_deref(), Some("%4"));
        assert_eq!(value("q=%zz%ff", "q").as_deref(), Some("%zz\u{fffd}"));
        assert_eq!(value("", "q"), None);
        assert_eq!(parts("run=1&run=2").count(), 2);
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes_to_itself(text: String) {
            prop_assert_eq!(value(&format!("q={}", encoded(&text)), "q"), Some(text));
        }

        #[test]
        fn nothing_typed_is_too_much(text: String) {
            let _ = parts(&text).count();
        }
    }
}
