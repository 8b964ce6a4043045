//! The rule about network addresses: nothing of ours listens on or talks to anything but this machine.
//!
//! Reads lines as they lie, comments aside: a link in a comment or in prose is for people and stays.
//! Section numbers such as 5.16.1.3 look like addresses, so four numbers count only where they are used
//! as one: with a port, as a whole string, behind `://`, or when they lie in a range that only networks
//! use.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Finding;
use super::exceptions::LINKS;
use super::tree::{Kind, Tree, kind_of};

/// Addresses of other machines that Rust has names for.
const NAMED: [&str; 2] = [concat!("::", "UNSPECIFIED"), concat!("::", "BROADCAST")];

/// The first foreign address of every line of ours.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let lines = tree.texts().flat_map(|(path, text)| {
        let kind = kind_of(path);
        text.lines().zip(1..).map(move |(line, number)| (path, kind, line, number))
    });
    let found = lines.filter_map(|(path, kind, line, number)| Some((path, number, foreign(kind, line)?)));
    found.map(|(path, number, address)| finding(path, number, &address)).collect()
}

fn finding(path: &str, line: usize, address: &str) -> Finding {
    let instead = "use 127.0.0.1, [::1] or localhost; a link for people goes into a comment or into prose";
    Finding::new("address", path, line, format!("`{address}` is not this machine"), instead)
}

/// The first thing in a line of a file of this kind that addresses another machine.
fn foreign(kind: Kind, line: &str) -> Option<String> {
    let code = match kind {
        Kind::Rust => without_comment(line, "//"),
        Kind::HashComments => without_comment(line, "#"),
        Kind::Plain => line,
        // In prose links are for people; an address with a port is something to listen on or connect to.
        Kind::Markdown => return foreign_quad(line, |_, quad| has_port(quad.after)),
        Kind::Foreign => return None,
    };
    let named = || NAMED.iter().find(|name| code.contains(*name)).map(|name| (*name).to_owned());
    let is_network =
        |address: Ipv4Addr| address.is_unspecified() || address.is_private() || address.is_broadcast();
    foreign_link(code)
        .or_else(|| {
            foreign_quad(code, |address, quad| has_port(quad.after) || is_whole(quad) || is_network(address))
        })
        .or_else(|| foreign_v6(code))
        .or_else(named)
}

/// A line without its comment, which begins with `mark` after a space or with the line.
fn without_comment<'a>(line: &'a str, mark: &str) -> &'a str {
    let begins = |at: &usize| line[..*at].chars().next_back().is_none_or(char::is_whitespace);
    line.match_indices(mark).map(|(at, _)| at).find(begins).map_or(line, |at| &line[..at])
}

fn foreign_link(text: &str) -> Option<String> {
    text.match_indices("://").find_map(|(at, mark)| {
        let start =
            text[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "+-.".contains(c)).len();
        let link = text[start..].split(|c: char| c.is_whitespace() || "\"'`<>)|\\".contains(c)).next()?;
        let host = text[at + mark.len()..].split(['/', ' ', '"', '\'', '`', '?', ')', '|', '\\']).next()?;
        let known = LINKS.iter().any(|(beginning, _)| link.starts_with(beginning));
        (start < at && !link.starts_with("file:") && !known && !is_here(host)).then(|| link.to_owned())
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

/// Four numbers with dots between, and what stands around them in the line.
struct Quad<'a> {
    before: &'a str,
    after: &'a str,
}

/// The first address that is not this machine's and is `used` as one.
fn foreign_quad(text: &str, used: impl Fn(Ipv4Addr, &Quad) -> bool) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    text.split(|c| !is_part(c)).map(|word| word.trim_end_matches('.')).find_map(|word| {
        let address: Ipv4Addr = word.parse().ok()?;
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        let quad = Quad { before: &text[..start], after: &text[start + word.len()..] };
        (!address.is_loopback() && used(address, &quad)).then(|| word.to_owned())
    })
}

fn has_port(after: &str) -> bool {
    after.strip_prefix(':').is_some_and(|port| port.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether it is all there is, in its quotes or in its line.
fn is_whole(quad: &Quad) -> bool {
    let quoted = quad.before.ends_with(['"', '\'']) && quad.after.starts_with(['"', '\'']);
    quoted || quad.before.trim().is_empty() && quad.after.trim().is_empty()
}

/// IPv6 counts in brackets, as socket addresses are written: `[::]:80`.
fn foreign_v6(text: &str) -> Option<String> {
    let inside = text.split('[').skip(1).filter_map(|after| after.split(']').next());
    let addresses = inside.filter_map(|text| Some((text, text.parse::<Ipv6Addr>().ok()?)));
    addresses.into_iter().find(|(_, address)| !address.is_loopback()).map(|(text, _)| format!("[{text}]"))
}

#[cfg(test)]
mod test {
    use super::*;

    // Put together from pieces, so that this file passes its own rule.
    const PRIVATE: &str = concat!("192.168", ".1.7");
    const ANY: &str = concat!("0.0", ".0.0");
    const LINK: &str = concat!("https:", "//example.org/a");

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::from_texts(&[(path, text)])).iter().map(|finding| finding.line).collect()
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
        assert_eq!(found("a.rs", &format!("fn a() {{ b(std::net::Ipv4Addr{}) }}", NAMED[0])), [1]);
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
