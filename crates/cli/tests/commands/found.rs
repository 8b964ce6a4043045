//! What a command left in its scratch folder.

use std::path::{Path, PathBuf};

use crate::support::Scratch;

/// The only run under `./runs/`.
pub(crate) fn only_run(scratch: &Scratch) -> PathBuf {
    let runs = std::fs::read_dir(scratch.path("runs")).expect("a folder of runs");
    let runs: Vec<_> = runs.map(|run| run.expect("an entry").path()).collect();
    let [run] = &runs[..] else { panic!("one run, not {runs:?}") };
    run.clone()
}

/// All files below a folder, as paths from it, in order.
pub(crate) fn files(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let below = path.strip_prefix(dir).expect("it lies below");
                found.push(below.to_str().expect("a plain name").to_owned());
            }
        }
    }
    found.sort();
    found
}

/// A text file.
pub(crate) fn read_text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
