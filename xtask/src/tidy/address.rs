//! The rule about network addresses: nothing of ours listens on or talks to anything but this machine.
//!
//! Looks at strings of Rust code and at other text outside comments. A link in prose or in a comment
//! is for people and stays. Section numbers such as 5.16.1.3 look like addresses, so four numbers
//! count only where they are used as one: with a port, as a whole string, behind `://`, or when they
//! lie in a range that only networks use.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Finding;
use super::exceptions::LINKS;
use super::tokens;
use super::tree::{Kind, Tree};

/// Findings in every text of ours.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let rust = tree.of_kind(Kind::Rust).flat_map(|(path, text)| in_rust(path, text));
    let hashed =
        tree.of_kind(Kind::HashComments).flat_map(|(path, text)| in_lines(path, text, without_comment));
    let plain = tree.of_kind(Kind::Plain).flat_map(|(path, text)| in_lines(path, text, |line| line));
    let prose = tree.of_kind(Kind::Markdown).flat_map(|(path, text)| in_prose(path, text));
    rust.chain(hashed).chain(plain).chain(prose).collect()
}

fn in_rust(path: &str, text: &str) -> Vec<Finding> {
    // What is no Rust is told by the rules on source.
    let tokens = tokens::read(text).unwrap_or_default();
    let named = |word: &str| matches!(word, "UNSPECIFIED" | "BROADCAST");
    tokens
        .iter()
        .filter_map(|token| {
            let text = if named(&token.text) { Some(token.text.clone()) } else { foreign(token.string()?) };
            text.map(|text| finding(path, token.line, &text))
        })
        .collect()
}

fn in_lines<'a>(path: &str, text: &'a str, code_of: impl Fn(&'a str) -> &'a str) -> Vec<Finding> {
    let lines = text.lines().zip(1..);
    lines.filter_map(|(line, number)| Some(finding(path, number, &foreign(code_of(line))?))).collect()
}

/// In prose links are for people; an address with a port is something to listen on or connect to.
fn in_prose(path: &str, text: &str) -> Vec<Finding> {
    let lines = text.lines().zip(1..);
    lines
        .filter_map(|(line, number)| {
            let (_, quad, _) =
                quads(line).find(|(address, _, rest)| !address.is_loopback() && has_port(rest))?;
            Some(finding(path, number, quad))
        })
        .collect()
}

fn finding(path: &str, line: usize, address: &str) -> Finding {
    let instead = "use 127.0.0.1, [::1] or localhost; a link for people goes into a comment or into prose";
    Finding::new("address", path, line, format!("`{address}` is not this machine"), instead)
}

/// A line of TOML or shell without its comment. A `#` inside quotes begins none.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    for (at, c) in line.char_indices() {
        match (c, quote) {
            ('"' | '\'', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('#', None) if at == 0 || line[..at].ends_with(char::is_whitespace) => return &line[..at],
            _ => {}
        }
    }
    line
}

/// The first thing in `text` that addresses another machine.
fn foreign(text: &str) -> Option<String> {
    foreign_link(text).or_else(|| foreign_quad(text)).or_else(|| foreign_v6(text))
}

fn foreign_link(text: &str) -> Option<String> {
    text.match_indices("://").find_map(|(at, mark)| {
        let scheme_start = text[..at].rfind(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
        let scheme_start = scheme_start.map_or(0, |before| before + 1);
        let link = &text[scheme_start..];
        let end = link.find(|c: char| c.is_whitespace() || "\"'`<>)|\\".contains(c)).unwrap_or(link.len());
        let link = &link[..end];
        let host = text[at + mark.len()..].split(['/', ' ', '"', '\'', '`', '?', ')', '|', '\\']).next()?;
        let known = LINKS.iter().any(|(start, _)| link.starts_with(start));
        (scheme_start < at && !link.starts_with("file:") && !known && !is_here(host)).then(|| link.to_owned())
    })
}

/// Whether the host of a link, port included, is this machine or stands for one: `HOST`, `{host}` and
/// every other name without a dot reach nothing outside.
fn is_here(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(v6),
        None => host.split(':').next().unwrap_or(host),
    };
    let placeholder =
        name.is_empty() || name.starts_with(['{', '<', '$', '[', '.']) || !name.contains(['.', ':']);
    placeholder || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn foreign_quad(text: &str) -> Option<String> {
    quads(text)
        .find(|(address, quad, rest)| {
            let used_as_address = has_port(rest)
                || *quad == text.trim()
                || address.is_unspecified()
                || address.is_private()
                || address.is_broadcast();
            used_as_address && !address.is_loopback()
        })
        .map(|(_, quad, _)| quad.to_owned())
}

/// Every run of four numbers in `text` that can be an address: itself, as written, what follows it.
fn quads(text: &str) -> impl Iterator<Item = (Ipv4Addr, &str, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    text.split(move |c| !is_part(c)).filter_map(move |word| {
        let word = word.trim_end_matches('.');
        let end = word.as_ptr().addr() - text.as_ptr().addr() + word.len();
        Some((word.parse().ok()?, word, &text[end..]))
    })
}

fn has_port(rest: &str) -> bool {
    rest.strip_prefix(':').is_some_and(|port| port.starts_with(|c: char| c.is_ascii_digit()))
}

/// IPv6 counts in brackets, as socket addresses are written: `[::]:80`.
fn foreign_v6(text: &str) -> Option<String> {
    let inside = text.split('[').skip(1).filter_map(|after| after.split(']').next());
    let addresses = inside.filter(|text| text.contains(':'));
    addresses
        .filter_map(|text| Some((text, text.parse::<Ipv6Addr>().ok()?)))
        .find(|(_, address)| !address.is_loopback())
        .map(|(text, _)| format!("[{text}]"))
}

#[cfg(test)]
mod test {
    use super::*;

    // Put together from pieces, so that this file passes its own rule.
    const PRIVATE: &str = concat!("192.168", ".1.7");
    const ANY: &str = concat!("0.0", ".0.0");
    const LINK: &str = concat!("https:", "//example.org/a");

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn strings_of_rust_may_only_address_this_machine() {
        for foreign in [
            PRIVATE,
            ANY,
            LINK,
            &format!("{ANY}:80"),
            concat!("[:", ":]:80"),
            concat!("nvme-tcp:/", "/8.8.", "8.8:4420/x"),
        ]
        .map(|text| format!("fn a() {{\n b({text:?}) }}"))
        {
            assert_eq!(found("a.rs", &foreign), [2], "{foreign}");
        }
        for here in [
            "127.0.0.1:4420",
            "[::1]:80",
            "nvme-tcp://HOST:PORT/NQN",
            "http://localhost:8080/",
            "http://{host}/",
            "NVMe Base 2.0c 5.16.1.3",
            "file:///dev/sda",
            "a[1:2]",
            "http://www.w3.org/2000/svg",
        ] {
            assert_eq!(found("a.rs", &format!("fn a() {{ b({here:?}) }}")), Vec::<usize>::new(), "{here}");
        }
    }

    #[test]
    fn named_addresses_count_too() {
        assert_eq!(found("a.rs", "fn a() { b(std::net::Ipv4Addr::UNSPECIFIED) }"), [1]);
    }

    #[test]
    fn comments_and_prose_may_link() {
        assert_eq!(
            found("a.rs", &format!("//! See {LINK}.\n/// And {LINK}\nfn a() {{}}")),
            Vec::<usize>::new()
        );
        assert_eq!(found("a.toml", &format!("# {LINK}\na = 1 # {LINK}\nb = \"{LINK}\"")), [3]);
        assert_eq!(
            found("a.md", &format!("[link]({LINK}) section 5.16.1.3\n`--listen {PRIVATE}:4420`")),
            [2]
        );
    }

    #[test]
    fn other_text_is_read_as_it_lies() {
        assert_eq!(found("a.html", &format!("<p>\n<a href=\"{LINK}\">")), [2]);
        assert_eq!(found("fixtures/x/log.txt", LINK), Vec::<usize>::new());
    }
}
