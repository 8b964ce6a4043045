//! What a shell may offer where a plan, a drive, a profile or a run is expected: asked for at the moment of typing.
//!
//! The shell calls this binary with `COMPLETE` set (clap's dynamic completions), so names never go stale.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter as _};
use measure::record;
use physics::Profile;
use plan::Plan;

/// Most run folders that are offered; a lab has thousands.
const MOST_RUNS: usize = 200;

/// Built-in plans, and files.
pub(super) fn plans(typed: &OsStr) -> Vec<CompletionCandidate> {
    let help = |name: &str| Plan::builtin(name).map(|plan| plan.description).unwrap_or_default();
    let names = Plan::builtin_names().map(|name| (name.to_owned(), help(name)));
    starting(typed, names).into_iter().chain(PathCompleter::file().complete(typed)).collect()
}

/// Addresses of drives: simulated ones by profile, the other forms, and files.
pub(super) fn drives(typed: &OsStr) -> Vec<CompletionCandidate> {
    let twins = Profile::builtin_names().map(|name| (format!("twin:{name}"), description(name)));
    let forms = [
        ("file:", "a file on a file system"),
        ("nvme-tcp://", "an NVMe/TCP subsystem"),
        ("null:", "completes at once"),
    ];
    let forms = forms.map(|(form, help)| (form.to_owned(), help.to_owned()));
    starting(typed, twins.chain(forms)).into_iter().chain(PathCompleter::any().complete(typed)).collect()
}

/// Built-in profiles, and files.
pub(super) fn profiles(typed: &OsStr) -> Vec<CompletionCandidate> {
    let names = Profile::builtin_names().map(|name| (name.to_owned(), description(name)));
    starting(typed, names).into_iter().chain(PathCompleter::file().complete(typed)).collect()
}

/// Names that `plans` and `profiles` print.
pub(super) fn names(typed: &OsStr) -> Vec<CompletionCandidate> {
    let plans = Plan::builtin_names().map(|name| (name.to_owned(), String::from("plan")));
    let profiles = Profile::builtin_names().map(|name| (name.to_owned(), String::from("profile")));
    starting(typed, plans.chain(profiles))
}

/// Run folders under `runs`, then everything else that has a path.
pub(super) fn runs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let named = |path: PathBuf| (path.display().to_string(), String::from("run"));
    let found = run_folders(Path::new("runs")).into_iter().take(MOST_RUNS).map(named);
    starting(typed, found).into_iter().chain(PathCompleter::any().complete(typed)).collect()
}

fn run_folders(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| record::is_run_folder(path)).collect();
    folders.sort();
    folders
}

fn description(profile: &str) -> String {
    Profile::builtin(profile).map(|profile| profile.description).unwrap_or_default()
}

fn starting(typed: &OsStr, all: impl Iterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    all.filter(|(name, _)| name.starts_with(typed.as_ref()))
        .map(|(name, help)| CompletionCandidate::new(name).help((!help.is_empty()).then(|| help.into())))
        .collect()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn names_that_begin_as_typed_are_offered() {
        let values = |all: Vec<CompletionCandidate>| -> Vec<String> {
            all.iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(values(plans(OsStr::new("hctm-r"))), ["hctm-read"]);
        assert_eq!(values(drives(OsStr::new("twin:ss"))), ["twin:ssd1", "twin:ssd2"]);
        assert_eq!(values(profiles(OsStr::new("om8"))), ["om8tap4"]);
        assert!(values(names(OsStr::new(""))).len() > 40);
    }
}
