//! Rules about what Rust code of ours may say: left-overs, skipped and sleeping tests, clocks,
//! `unsafe`, and who may name the host side of the protocol.
//!
//! Works on tokens, so comments and strings are free to speak of all of it.

use super::Finding;
use super::exceptions::{self, permits};
use super::tokens::{self, Token, starts_with};
use super::tree::{Kind, Tree};

/// Names that put a thread to sleep for a time. Methods are left alone: a clock that can wait is
/// how waiting is done, and it may be a virtual one.
const SLEEPERS: &[&str] =
    &["sleep", "sleep_ms", "sleep_until", "usleep", "nanosleep", "clock_nanosleep", "park_timeout"];

/// Findings in every Rust file of the tree.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.of_kind(Kind::Rust).flat_map(|(path, text)| check_file(path, text)).collect()
}

fn check_file(path: &str, text: &str) -> Vec<Finding> {
    let tokens = match tokens::read(text) {
        Ok(tokens) => tokens,
        Err(error) => {
            let what = format!("cannot be read as Rust: {error}");
            return vec![Finding::new("source", path, 0, what, "make it compile")];
        }
    };
    let in_tests_folder = path.split('/').any(|part| part == "tests");
    (0..tokens.len())
        .filter_map(|at| {
            let previous = at.checked_sub(1).map_or("", |before| tokens[before].text.as_str());
            let place = Place { path, previous, rest: &tokens[at..], in_tests_folder };
            [left_over, ignored_test, sleeper, clock, unsafe_code, host_in_twin]
                .into_iter()
                .find_map(|rule| rule(&place))
        })
        .collect()
}

/// One token with what stands around it.
struct Place<'a> {
    path: &'a str,
    previous: &'a str,
    rest: &'a [Token],
    in_tests_folder: bool,
}

impl Place<'_> {
    fn reads(&self, words: &[&str]) -> bool {
        starts_with(self.rest, words)
    }

    fn in_test(&self) -> bool {
        self.in_tests_folder || self.rest[0].in_test
    }

    fn finding(
        &self,
        rule: &'static str,
        what: impl Into<String>,
        instead: impl Into<String>,
    ) -> Option<Finding> {
        Some(Finding::new(rule, self.path, self.rest[0].line, what, instead))
    }
}

fn left_over(place: &Place) -> Option<Finding> {
    let name = ["dbg", "todo", "unimplemented"].into_iter().find(|name| place.reads(&[name, "!"]))?;
    let instead = "finish it, return an error that says what is missing, or take it out";
    place.finding("left-over", format!("`{name}!` is left in the code"), instead)
}

fn ignored_test(place: &Place) -> Option<Finding> {
    let is_attribute = place.rest[0].in_attribute && matches!(place.previous, "[" | ",");
    if !(is_attribute && place.reads(&["ignore"])) {
        return None;
    }
    let instead = "give the test to the tier that can run it, or delete it: a test that does not run \
                   keeps nothing";
    place.finding("ignored-test", "a test is switched off by `ignore`", instead)
}

fn sleeper(place: &Place) -> Option<Finding> {
    let [first, next, ..] = place.rest else { return None };
    let is_name = SLEEPERS.contains(&first.text.as_str());
    // A call or an import of a free function: `thread::sleep(..)`, `use std::thread::{sleep, ..}`.
    let names_function = is_name && matches!(place.previous, "::" | "{" | ",") && next.text != ":";
    let calls_function = is_name && next.text == "(" && !matches!(place.previous, "." | "fn" | "::");
    let runs_command = place.reads(&["new", "(", "\"sleep\"", ")"]);
    if !(names_function || calls_function || runs_command) {
        return None;
    }
    if place.in_test() {
        let instead = "wait for the thing itself (a channel, a join, a read) or use virtual time: a test \
                       that sleeps is slow on one machine and wrong on another";
        return place.finding("sleep", "a test sleeps", instead);
    }
    if permits(exceptions::SLEEP, place.path) {
        return None;
    }
    let instead = "wait on the session's clock or on the event itself, so that virtual time can stand in; \
                   if it must sleep, say why in xtask/src/tidy/exceptions.rs";
    place.finding("sleep", "code sleeps", instead)
}

fn clock(place: &Place) -> Option<Finding> {
    let read = ["Instant", "SystemTime"].into_iter().find(|name| place.reads(&[name, "::", "now"]));
    let read = read.or_else(|| place.reads(&["clock_gettime"]).then_some("clock_gettime"))?;
    if permits(exceptions::CLOCK, place.path) {
        return None;
    }
    let instead = "take a `measure::time::Clock` from the caller: then the same code runs in virtual time";
    place.finding("clock", format!("a clock is read by `{read}`"), instead)
}

fn unsafe_code(place: &Place) -> Option<Finding> {
    if !place.reads(&["unsafe"]) || permits(exceptions::UNSAFE, place.path) {
        return None;
    }
    let places: Vec<&str> = exceptions::UNSAFE.iter().map(|(path, _)| *path).collect();
    let instead = format!(
        "use a safe crate (rustix, zerocopy) or put it behind what {} already offers",
        places.join(" or ")
    );
    place.finding("unsafe", "`unsafe` outside the places made for it", instead)
}

/// The simulated drive is the other side of the wire: it must not borrow the host's view of it.
fn host_in_twin(place: &Place) -> Option<Finding> {
    if !place.path.starts_with("crates/twin/") || !place.reads(&["nvme", "::"]) {
        return None;
    }
    let names_host = place.reads(&["nvme", "::", "host"])
        || place.reads(&["nvme", "::", "{"]) && group_names(&place.rest[2..], "host");
    let instead = "tests that need both sides belong to crates/cli; what both sides share belongs beside \
                   `nvme::host`, not in it";
    names_host.then(|| place.finding("twin-host", "the twin names `nvme::host`", instead)).flatten()
}

/// Whether the group that `tokens` opens names `word` at its own level: `{word, ..}`.
fn group_names(tokens: &[Token], word: &str) -> bool {
    let mut depth = 0_usize;
    for pair in tokens.windows(2) {
        match pair[0].text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return false;
        }
        if depth == 1 && matches!(pair[0].text.as_str(), "{" | ",") && pair[1].text == word {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod test {
    use super::*;

    /// The rule and line of every finding in `text` at `path`.
    fn found(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        check(&Tree::of(&[(path, text)])).iter().map(|finding| (finding.rule, finding.line)).collect()
    }

    #[test]
    fn left_overs_are_found_in_code_and_not_in_what_speaks_of_them() {
        assert_eq!(found("a.rs", "fn a() {\n dbg!(1);\n todo!()\n}"), [("left-over", 2), ("left-over", 3)]);
        assert_eq!(found("a.rs", "/// No `dbg!(1)` here.\nfn a() { /* todo!() */ b(\"dbg!(1)\"); }"), []);
        assert_eq!(found("a.rs", "fn todo() -> bool { !todo() }"), []);
    }

    #[test]
    fn ignored_tests_are_found_in_every_spelling() {
        for attribute in ["#[ignore]", "#[ignore = \"slow\"]", "#[cfg_attr(slow, ignore)]"] {
            assert_eq!(found("a.rs", &format!("#[test]\n{attribute}\nfn a() {{}}")), [("ignored-test", 2)]);
        }
        assert_eq!(found("a.rs", "fn ignore(ignore: u8) { [ignore, ignore]; }"), []);
    }

    #[test]
    fn sleeping_is_found_in_tests_and_in_code() {
        assert_eq!(found("a.rs", "fn a() { std::thread::sleep(b); }"), [("sleep", 1)]);
        assert_eq!(
            found("a.rs", "use std::thread::{self, sleep};\nfn a() { sleep(b) }"),
            [("sleep", 1), ("sleep", 2)]
        );
        assert_eq!(found("crates/x/tests/t.rs", "fn a() { thread::park_timeout(b); }"), [("sleep", 1)]);
        assert_eq!(found("a.rs", "fn a() { Command::new(\"sleep\").arg(\"1\"); }"), [("sleep", 1)]);
        assert_eq!(found("a.rs", "fn sleep(&self) {} fn b() { clock.sleep(c); sleep_model(); }"), []);
        assert_eq!(found("a.rs", "struct A { sleep: u8, sleep_ms: u8 }"), []);
    }

    #[test]
    fn clocks_are_read_in_one_place() {
        assert_eq!(
            found("crates/capture/src/a.rs", "fn a() { let t = std::time::Instant::now(); }"),
            [("clock", 1)]
        );
        assert_eq!(found("crates/measure/src/time.rs", "fn a() { Instant::now(); SystemTime::now(); }"), []);
    }

    #[test]
    fn unsafe_has_its_places() {
        assert_eq!(found("crates/report/src/a.rs", "fn a() {\n unsafe { b() } }"), [("unsafe", 2)]);
        assert_eq!(found("crates/drive/src/io/ring.rs", "unsafe fn a() {}"), []);
        assert_eq!(found("crates/drive/src/io/ring/buffers.rs", "unsafe fn a() {}"), []);
    }

    #[test]
    fn the_twin_does_not_name_the_host_side() {
        for source in ["use nvme::host::Admin;", "use nvme::{log, host};", "fn a() { nvme::host::b() }"] {
            assert_eq!(found("crates/twin/src/a.rs", source), [("twin-host", 1)], "{source}");
            assert_eq!(found("crates/capture/src/a.rs", source), [], "{source}");
        }
        let innocent = "use nvme::{log::{self, host}, spec}; struct A { host: u8 }";
        assert_eq!(found("crates/twin/src/a.rs", innocent), []);
    }

    #[test]
    fn a_file_that_is_no_rust_is_a_finding() {
        assert_eq!(found("a.rs", "fn a( {"), [("source", 0)]);
    }
}
