//! Text as HTML and XML take it, whatever it holds.

use measure::visible::visible_json;

use crate::format::unbroken;

/// Text for an element or a quoted attribute. Control characters, which neither HTML nor XML allow, and
/// those that reorder text become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if measure::is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Escaped text whose numbers stay on one line with their units: "70 °C". What stands between backticks is a command, to
/// be copied as it is.
pub(crate) fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escape(&unbroken(text));
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escape(&unbroken(part)),
        _ => format!("<code>{}</code>", escape(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// JSON for a script element: nothing in it can end the element or start a comment.
pub(crate) fn script_json(value: &serde_json::Value) -> String {
    // Only strings of JSON can hold these characters, and there the escape means the same.
    visible_json(&value.to_string()).replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn nothing_gets_out_of_its_element() {
        assert_eq!(
            escape("<script>\"a\" & 'b'\u{0}"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\u{fffd}"
        );
        assert_eq!(escape("a\u{202e}b\u{9b}"), "a\u{fffd}b\u{fffd}");
        assert_eq!(prose("near 70 °C & 2 3"), "near 70\u{a0}°C &amp; 2 3");
        assert_eq!(prose("70 °C: `a 60C --b` & c"), "70\u{a0}°C: <code>a 60C --b</code> &amp; c");
        assert_eq!(prose("an odd ` <tick>"), "an odd ` &lt;tick&gt;");
        let json = script_json(&serde_json::json!("</script><!--"));
        assert_eq!(json, "\"\\u003c/script\\u003e\\u003c!--\"");
        assert_eq!(serde_json::from_str::<String>(&json).expect("still JSON"), "</script><!--");
    }
}
