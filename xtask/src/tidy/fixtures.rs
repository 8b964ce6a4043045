//! The rule about fixtures: bytes whose origin nobody wrote down prove nothing.
//!
//! Every file under a `fixtures` folder is named by a README.md in its own folder or above it, up to
//! `fixtures` itself. A recorded tree is covered by naming one of its folders, written `like/this/`.

use super::Finding;
use super::tree::Tree;

/// Findings about every file below a folder called `fixtures`.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.paths().filter_map(|path| check_file(tree, path)).collect()
}

fn check_file(tree: &Tree, path: &str) -> Option<Finding> {
    let (folder, name) = path.rsplit_once('/')?;
    let parts: Vec<&str> = folder.split('/').collect();
    let top = parts.iter().position(|part| *part == "fixtures")?;
    if name == "README.md" {
        return None;
    }
    let readmes = (top..parts.len()).rev().filter_map(|depth| {
        let folder = parts[..=depth].join("/");
        let text = tree.text(&format!("{folder}/README.md"))?;
        Some((text, path[folder.len() + 1..].to_owned()))
    });
    if readmes.into_iter().any(|(readme, inside)| names(readme, &inside)) {
        return None;
    }
    let instead = format!(
        "name `{name}` in {folder}/README.md: device or tool, version or firmware, how it was taken or made"
    );
    Some(Finding::new("provenance", path, 0, "nobody wrote down where it came from", instead))
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

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).into_iter().map(|finding| finding.path).collect()
    }

    #[test]
    fn a_file_without_a_line_is_found() {
        let tree = [
            ("fixtures/smart/README.md", "# Health pages\n- `good.bin`: QEMU 7.2.\n"),
            ("fixtures/smart/good.bin", ""),
            ("fixtures/smart/bad.bin", ""),
            ("fixtures/other/log.csv", ""),
        ];
        assert_eq!(found(&tree), ["fixtures/other/log.csv", "fixtures/smart/bad.bin"]);
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
        assert_eq!(found(&tree), ["crates/nvme/fixtures/sysfs/other/model"]);
    }

    #[test]
    fn what_is_no_fixture_is_left_alone() {
        assert_eq!(found(&[("crates/x/src/fixtures.rs", ""), ("docs/a.png", "")]), Vec::<String>::new());
    }
}
