//! Rules about words that have no business in the tree: notes to self, the workshop's own paths,
//! which mean nothing to anybody else, and the few words of code that no lint can forbid.
//!
//! The words are put together from pieces here, so that this file passes its own rules.

use super::Finding;
use super::tree::{Kind, Tree, kind_of};

/// Notes to self that must be settled before they are committed.
const NOTES: &[&str] = &[concat!("FIX", "ME"), concat!("X", "XX"), concat!("HA", "CK:")];
/// A note that may stay when it names its issue: `(#12)` must follow.
const DEFERRED: &str = concat!("TO", "DO");
/// Beginnings of paths and names that exist only where the tree was written.
const WORKSHOP: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/tm", "p/hs"),
    concat!("shared/", "facts"),
    concat!("shared/", "design.md"),
    concat!("shared/", "interface.md"),
    concat!("shared/", "style.md"),
    concat!("shared/", "seeds"),
    concat!("BRIEF", ".md"),
];
/// Hosts of package registries: where packages come from is the machine's business.
const REGISTRIES: &[&str] = &[
    concat!("crates", ".io"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("npmjs", ".org"),
    concat!("proxy.golang", ".org"),
    concat!("repo.maven", ".apache"),
    concat!("deb.debian", ".org"),
];

/// What code may not say, and no lint can tell: folder, words, rule, what to do instead.
const CODE: &[(&str, &str, &str, &str)] = &[
    // The simulated drive is the other side of the wire: it must not borrow the host's view of it.
    ("crates/twin/", concat!("nvme:", ":host"), "twin-host", TWIN_HOST),
    ("crates/twin/", concat!("host:", ":"), "twin-host", TWIN_HOST),
    ("", concat!("new(\"sl", "eep\")"), "sleep", "wait for the event itself: a channel, a join, a read"),
];
const TWIN_HOST: &str = "what both sides share belongs beside the host's side in nvme; a test of both \
                         belongs to crates/cli";

/// Findings in every text file.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.texts()
        .filter(|(path, _)| !path.ends_with("Cargo.lock"))
        .flat_map(|(path, text)| text.lines().zip(1..).map(move |(line, number)| (path, number, line)))
        .filter_map(|(path, number, line)| {
            let ours = !matches!(kind_of(path), Kind::Foreign | Kind::Markdown);
            let note = || if ours { note(path, number, line) } else { None };
            note().or_else(|| workshop(path, number, line)).or_else(|| in_code(path, number, line))
        })
        .collect()
}

fn note(path: &str, number: usize, line: &str) -> Option<Finding> {
    if let Some(word) = NOTES.iter().find(|word| places(line, word).next().is_some()) {
        let instead = "settle it now, or file an issue and cite it";
        return Some(Finding::new("note", path, number, format!("a `{word}` is left"), instead));
    }
    places(line, DEFERRED).find(|end| !line[*end..].starts_with("(#"))?;
    let instead = format!("settle it now, or cite its issue: `{DEFERRED}(#12)`");
    Some(Finding::new("note", path, number, format!("a `{DEFERRED}` without its issue"), instead))
}

fn workshop(path: &str, number: usize, line: &str) -> Option<Finding> {
    let word = WORKSHOP.iter().chain(REGISTRIES).find(|word| {
        // A folder of that name inside a longer path is ours, one at its beginning is not.
        places(line, word).any(|end| !line[..end - word.len()].ends_with(['.', '-', '/']))
            || (!word.starts_with('/') && places(line, word).next().is_some())
    })?;
    let instead = "say it without the place: cite a specification, a paper, a file of this tree, or nothing";
    let what = format!("`{word}` exists only where this was written");
    Some(Finding::new("workshop", path, number, what, instead))
}

fn in_code(path: &str, number: usize, line: &str) -> Option<Finding> {
    let (_, _, rule, instead) = CODE.iter().find(|(folder, words, ..)| {
        path.starts_with(folder) && path.ends_with(".rs") && places(line, words).next().is_some()
    })?;
    let is_comment = line.trim_start().starts_with("//");
    (!is_comment).then(|| Finding::new(rule, path, number, format!("`{}`", line.trim()), *instead))
}

/// The end of every place where `word` stands as a word of its own in `line`.
fn places(line: &str, word: &str) -> impl Iterator<Item = usize> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let open_end = !word.ends_with(is_word);
    line.match_indices(word).filter_map(move |(start, _)| {
        let end = start + word.len();
        let free_before = !line[..start].ends_with(is_word);
        let free_after = open_end || !line[end..].starts_with(is_word);
        (free_before && free_after).then_some(end)
    })
}

#[cfg(test)]
mod test {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        check(&Tree::from_texts(&[(path, text)])).iter().map(|finding| (finding.rule, finding.line)).collect()
    }

    #[test]
    fn notes_to_self_are_found_as_words() {
        let text = format!("// {}\n// {}: later\n// {}X\n", NOTES[0], NOTES[1], NOTES[1]);
        assert_eq!(found("a.rs", &text), [("note", 1), ("note", 2)]);
        assert_eq!(found("a.md", &text), [], "prose may speak of them");
    }

    #[test]
    fn a_deferred_note_needs_its_issue() {
        assert_eq!(found("a.rs", &format!("// {DEFERRED}(#12): b\n// {DEFERRED}: c\n")), [("note", 2)]);
    }

    #[test]
    fn paths_of_the_workshop_are_found_and_like_sounding_ones_are_not() {
        let home = WORKSHOP[0];
        let text = format!("see {home}main\n({home}x)\nbench{home}x\n./a-b{home}c\n");
        assert_eq!(found("docs/a.md", &text), [("workshop", 1), ("workshop", 2)]);
        assert_eq!(found("fixtures/x/log.txt", &format!("file={home}t.bin")), [("workshop", 1)]);
        assert_eq!(found("a.rs", &format!("//! From `../{}/nvme.md`.", WORKSHOP[3])), [("workshop", 1)]);
    }

    #[test]
    fn registries_are_found_outside_the_lock_file() {
        let text = format!("source = \"{}-index\"", REGISTRIES[0]);
        assert_eq!(found("Cargo.lock", &text), []);
        assert_eq!(found(".cargo/config.toml", &text), [("workshop", 1)]);
    }

    #[test]
    fn the_twin_does_not_name_the_host_side() {
        let names = ["use nvme::host::Admin;", "use nvme::{log, host::Admin};", "fn a() { host::b() }"];
        for source in names.into_iter().chain(["use nvme::host;"]) {
            assert_eq!(found("crates/twin/src/a.rs", source), [("twin-host", 1)], "{source}");
            assert_eq!(found("crates/capture/src/a.rs", source), [], "{source}");
        }
        let innocent = "//! As `nvme::host` does.\nuse nvme::log::host;\nstruct A { host: u8 }";
        assert_eq!(found("crates/twin/src/a.rs", innocent), []);
    }

    #[test]
    fn a_command_that_sleeps_is_found() {
        let source = format!("fn a() {{ Command::{}.arg(\"1\"); }}", CODE[2].1);
        assert_eq!(found("a.rs", &source), [("sleep", 1)]);
    }
}
