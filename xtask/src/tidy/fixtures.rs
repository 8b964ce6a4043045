//! The rule about fixtures: bytes whose origin nobody wrote down prove nothing.
//!
//! Every file under a `fixtures` folder is named by a README.md in its own folder or above it, up to
//! `fixtures` itself. A recorded tree is covered by naming one of its folders, written `like/this/`.

use std::collections::BTreeMap;

use super::Finding;
use super::tree::Tree;

/// How many files a finding names before it only counts them.
const NAMES_MAX: usize = 5;

/// One finding for each folder that holds files nobody wrote down.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut untold: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (folder, name) in tree.paths().filter_map(|path| path.rsplit_once('/')) {
        if !is_told(tree, folder, name) {
            untold.entry(folder).or_default().push(name);
        }
    }
    untold.into_iter().map(|(folder, names)| finding(folder, &names)).collect()
}

fn finding(folder: &str, names: &[&str]) -> Finding {
    let more = names.len().saturating_sub(NAMES_MAX);
    let mut what =
        format!("nobody wrote down where this came from: {}", names[..names.len() - more].join(", "));
    if more > 0 {
        what += &format!(" and {more} more");
    }
    let instead = "say it in a README.md beside or above: device or tool, version or firmware, how it was taken \
                   or made; name the files, or their folder as `folder/`";
    Finding::new("provenance", folder, 0, what, instead)
}

/// Whether a README.md speaks of the file `name` in `folder`, if it is a fixture at all.
fn is_told(tree: &Tree, folder: &str, name: &str) -> bool {
    let parts: Vec<&str> = folder.split('/').collect();
    let Some(top) = parts.iter().position(|part| *part == "fixtures") else { return true };
    let mut readmes = (top..parts.len()).filter_map(|depth| {
        let inside = parts[depth + 1..].iter().chain([&name]).copied().collect::<Vec<_>>().join("/");
        Some((tree.text(&format!("{}/README.md", parts[..=depth].join("/")))?, inside))
    });
    name == "README.md" || readmes.any(|(readme, inside)| names(readme, &inside))
}

/// Whether `readme` names the file `inside` its folder: by name, or by a folder above it.
fn names(readme: &str, inside: &str) -> bool {
    let says = |name: &str| {
        readme.match_indices(name).any(|(at, _)| {
            let is_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
            let after = &readme[at + name.len()..];
            // A full stop after a name ends the sentence, one within it would be part of the name.
            let ends = !after.trim_start_matches('.').starts_with(is_name) || after.starts_with(". ");
            !readme[..at].ends_with(is_name) && ends
        })
    };
    let name = inside.rsplit('/').next().unwrap_or(inside);
    let folders = inside.match_indices('/').map(|(at, _)| &inside[..=at]);
    says(name) || folders.into_iter().any(says)
}

#[cfg(test)]
mod test {
    use super::*;

    /// Folder and text of every finding.
    fn found(files: &[(&str, &str)]) -> Vec<(String, String)> {
        check(&Tree::from_texts(files)).into_iter().map(|finding| (finding.path, finding.what)).collect()
    }

    fn untold(folder: &str, names: &str) -> (String, String) {
        (folder.into(), format!("nobody wrote down where this came from: {names}"))
    }

    #[test]
    fn a_file_without_a_line_is_found() {
        let tree = [
            ("fixtures/smart/README.md", "# Health pages\n- `good.bin`: QEMU 7.2.\n"),
            ("fixtures/smart/good.bin", ""),
            ("fixtures/smart/bad.bin", ""),
            ("fixtures/other/log.csv", ""),
        ];
        assert_eq!(found(&tree), [untold("fixtures/other", "log.csv"), untold("fixtures/smart", "bad.bin")]);
    }

    #[test]
    fn a_folder_is_one_finding() {
        let names = ["1", "2", "3", "4", "5", "6", "7"].map(|name| format!("fixtures/x/{name}"));
        let tree = names.each_ref().map(|path| (path.as_str(), ""));
        assert_eq!(found(&tree), [untold("fixtures/x", "1, 2, 3, 4, 5 and 2 more")]);
    }

    #[test]
    fn a_longer_name_does_not_cover_a_shorter_one() {
        assert!(!names("`old-log.csv`", "log.csv"));
        assert!(!names("`log.csv.gz`", "log.csv"));
        assert!(names("the file log.csv.", "log.csv"));
    }

    #[test]
    fn a_readme_above_covers_folders_it_names() {
        let tree = [
            ("crates/nvme/fixtures/README.md", "`sysfs/qemu/`: recorded in a guest."),
            ("crates/nvme/fixtures/sysfs/qemu/class/nvme0/model", ""),
            ("crates/nvme/fixtures/sysfs/other/model", ""),
        ];
        assert_eq!(found(&tree), [untold("crates/nvme/fixtures/sysfs/other", "model")]);
    }

    #[test]
    fn what_is_no_fixture_is_left_alone() {
        assert_eq!(found(&[("crates/x/src/fixtures.rs", ""), ("docs/a.png", "")]), []);
    }
}
