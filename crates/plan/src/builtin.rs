//! The plans that come with the tool, and the way from what a user typed to a plan.

use std::io::ErrorKind;
use std::path::Path;

use measure::input;
use measure::nearest::did_you_mean;

use super::{Plan, PlanError};

/// Name and text of each, in the order in which people should meet them.
const BUILTINS: [(&str, &str); 16] = [
    ("quick", include_str!("../plans/quick.toml")),
    ("hctm-write", include_str!("../plans/hctm-write.toml")),
    ("hctm-read", include_str!("../plans/hctm-read.toml")),
    ("hctm-sweep", include_str!("../plans/hctm-sweep.toml")),
    ("power", include_str!("../plans/power.toml")),
    ("power-states", include_str!("../plans/power-states.toml")),
    ("full-span", include_str!("../plans/full-span.toml")),
    ("cache-recovery", include_str!("../plans/cache-recovery.toml")),
    ("cache-by-fill", include_str!("../plans/cache-by-fill.toml")),
    ("random-sizes", include_str!("../plans/random-sizes.toml")),
    ("buffered", include_str!("../plans/buffered.toml")),
    ("thermal-id", include_str!("../plans/thermal-id.toml")),
    ("thermal-id-quick", include_str!("../plans/thermal-id-quick.toml")),
    ("pts-iops", include_str!("../plans/pts-iops.toml")),
    ("pts-throughput", include_str!("../plans/pts-throughput.toml")),
    ("pts-write-saturation", include_str!("../plans/pts-write-saturation.toml")),
];

impl Plan {
    /// The names of the built-in plans.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTINS.into_iter().map(|(name, _)| name)
    }

    /// The built-in plan of that name.
    ///
    /// # Errors
    /// [`PlanError::Unknown`] with the nearest names.
    pub fn builtin(name: &str) -> Result<Self, PlanError> {
        match BUILTINS.into_iter().find(|(known, _)| *known == name) {
            Some((known, text)) => Self::from_toml(text, &format!("{known}.toml")),
            None => Err(PlanError::Unknown { name: name.to_owned(), why: builtin_hint(name) }),
        }
    }

    /// A plan from what the user typed: the name of a built-in, a TOML file or a fio job file.
    ///
    /// A built-in wins over a file of the same name; `./quick` names the file.
    ///
    /// # Errors
    /// Whatever is wrong with the plan; where there is none, what there could have been.
    pub fn load(typed: &str) -> Result<Self, PlanError> {
        if Self::builtin_names().any(|name| name == typed) {
            return Self::builtin(typed);
        }
        let path = Path::new(typed);
        let bytes = input::read(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => {
                let why = format!("it is neither a built-in nor a file here; {}", builtin_hint(typed));
                PlanError::Unknown { name: typed.to_owned(), why }
            }
            _ => PlanError::Io { path: path.to_owned(), source },
        })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            PlanError::Line {
                file: typed.to_owned(),
                line,
                column: None,
                why: "this is no text (UTF-8); a plan is a TOML file or a fio job file".to_owned(),
            }
        })?;
        if is_toml(path, &text) { Self::from_toml(&text, typed) } else { Self::from_fio(&text, typed) }
    }
}

fn builtin_hint(typed: &str) -> String {
    let names: Vec<&str> = Plan::builtin_names().collect();
    let hint = did_you_mean(typed, Plan::builtin_names());
    format!("{hint}built-in plans are {}; or name a TOML file or a fio job file", names.join(", "))
}

/// By the ending where it says so; else a TOML plan has a `[[phase]]`, which no job file can have.
fn is_toml(path: &Path, text: &str) -> bool {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => true,
        Some("fio" | "job" | "ini") => false,
        _ => text.lines().any(|line| line.trim_start().starts_with("[[phase")),
    }
}

#[cfg(test)]
mod test {
    use std::time::Duration;

    use super::*;
    use crate::Mix;

    #[test]
    fn every_builtin_is_a_plan_that_says_what_it_is_for() {
        for name in Plan::builtin_names() {
            let plan = Plan::builtin(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(plan.name, name);
            assert!(plan.description.len() > 30, "{name}: {:?}", plan.description);
            assert!(plan.drive.is_none() && plan.notes.is_empty(), "{name} is for any drive");
        }
    }

    /// Goal: `quick` is safe on a drive in use, and lasts what the documents promise.
    #[test]
    fn quick_only_reads_for_a_minute() {
        let plan = Plan::builtin("quick").expect("it is built in");
        assert!(plan.phases.iter().flat_map(|phase| &phase.loads).all(|load| load.mix == Mix::READ));
        let total: Duration = plan.phases.iter().filter_map(|phase| phase.duration).sum();
        assert_eq!(total, Duration::from_secs(60));
    }

    #[test]
    fn what_is_no_plan_is_named_with_all_that_could_have_been() {
        let error = Plan::load("htcm-read").expect_err("there is none").to_string();
        for part in ["\"htcm-read\"", "neither", "`hctm-read`", "thermal-id", "TOML file", "fio job file"] {
            assert!(error.contains(part), "{part:?} is missing in {error}");
        }
        assert!(Plan::builtin("./quick").is_err());
    }

    #[test]
    fn files_are_told_apart_by_ending_then_by_content() {
        let toml = "\n [[phase]]\nop = \"idle\"\n";
        assert!(is_toml(Path::new("x.toml"), ""));
        assert!(is_toml(Path::new("x"), toml));
        assert!(!is_toml(Path::new("x.fio"), toml));
        assert!(!is_toml(Path::new("x.txt"), "[job]\nrw=read\n"));
    }

    #[test]
    fn job_files_and_toml_files_are_loaded_by_path() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fio/good");
        let load = |name: &str| Plan::load(fixtures.join(name).to_str().expect("a plain path"));
        let job = load("two-at-once.fio").unwrap_or_else(|error| panic!("{error}"));
        let toml = load("two-at-once.toml").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((job.phases.len(), job.phases), (2, toml.phases));
    }

    #[test]
    fn a_file_that_is_no_text_is_refused_with_its_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.toml");
        std::fs::write(&path, b"name = \"x\"\n\xff").expect("written");
        let error = Plan::load(path.to_str().expect("plain name")).expect_err("no text").to_string();
        assert!(error.contains("line 2") && error.contains("UTF-8"), "{error}");
    }
}
