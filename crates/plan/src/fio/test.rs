//! The fixtures of `fixtures/fio`, with fio itself as referee, and arbitrary text.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;

use crate::Plan;

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fio").join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "fio"))
        .collect();
    paths.sort();
    paths
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn file_name(path: &Path) -> String {
    path.file_name().expect("a fixture has a name").to_string_lossy().into_owned()
}

/// What follows `start` on one of the first two lines.
fn claim(text: &str, start: &str) -> String {
    let line = text.lines().take(2).find_map(|line| line.strip_prefix(start));
    line.unwrap_or_else(|| panic!("no line {start:?} in {text:?}")).to_owned()
}

#[test]
fn good_job_files_become_the_plans_beside_them() {
    let paths = fixtures("good");
    assert!(paths.len() >= 6, "{paths:?}");
    for path in paths {
        let name = file_name(&path);
        let plan = Plan::from_fio(&text(&path), &name).unwrap_or_else(|error| panic!("{error}"));
        let expected = text(&path.with_extension("toml"));
        assert_eq!(plan.to_toml(), expected, "{name}");
        let back = Plan::from_toml(&expected, "x.toml").unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(back, plan, "{name}");
    }
}

#[test]
fn bad_job_files_are_refused_with_their_line_and_what_to_do() {
    let paths = fixtures("bad");
    assert!(paths.len() >= 25, "{paths:?}");
    for path in paths {
        let (name, text) = (file_name(&path), text(&path));
        let expected = claim(&text, "; heatsoak: ");
        let error = Plan::from_fio(&text, &name).expect_err(&name).to_string();
        let start = format!("cannot read the plan {name}, {expected}");
        assert!(error.starts_with(&start), "expected {start:?} in {error:?}");
    }
}

/// Goal: the fixtures say of fio what is true. Method: fio 3.x parses each without running it.
#[test]
fn fio_itself_agrees_about_the_fixtures() {
    let fio = |path: &Path| Command::new("fio").arg("--parse-only").arg(path).output();
    if let Err(error) = Command::new("fio").arg("--version").output() {
        let why = format!("fio cannot be run ({error}), so nobody has refereed fixtures/fio; install fio");
        assert!(std::env::var_os("CI").is_none(), "{why}");
        // Past the test runner's capture: a referee that is missing has to be seen.
        let _ = writeln!(std::io::stderr(), "NOT RUN: fio_itself_agrees_about_the_fixtures: {why}");
        return;
    }
    let cases = fixtures("good").into_iter().map(|path| (path, "takes it".to_owned()));
    let bad = fixtures("bad").into_iter().map(|path| {
        let verdict = claim(&text(&path), "; fio: ");
        (path, verdict)
    });
    for (path, expected) in cases.chain(bad) {
        let output = fio(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let verdict = if output.status.success() { "takes it" } else { "refuses" };
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(verdict, expected, "{}: {said}", path.display());
    }
}

#[test]
fn every_note_names_its_line_once() {
    let job = "[global]\nthread\nfilename=f\n[a]\nsize=1g\n[b]\nsize=1g\nioengine=libaio\n";
    let plan = Plan::from_fio(job, "j.fio").expect("it is right");
    let starts: Vec<&str> = plan.notes.iter().filter_map(|note| note.split(" is ignored").next()).collect();
    assert_eq!(starts, ["j.fio, line 2: thread", "j.fio, line 8: ioengine=libaio"]);
}

#[test]
fn the_null_engine_never_reaches_a_file() {
    let job = "[a]\nioengine=null\nfilename=/dev/sda\nrw=write\nsize=1g\n";
    assert_eq!(Plan::from_fio(job, "j.fio").expect("it is right").drive.as_deref(), Some("null:"));
}

fn option() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "rw",
        "bs",
        "bssplit",
        "bsrange",
        "iodepth",
        "numjobs",
        "size",
        "offset",
        "io_size",
        "runtime",
        "time_based",
        "rate",
        "rate_iops",
        "direct",
        "filename",
        "rwmixread",
        "loops",
        "startdelay",
        "stonewall",
        "thinktime",
        "randseed",
        "kb_base",
        "ioengine",
        "verify",
        "group_reporting",
    ]);
    let value = prop_oneof![
        "[0-9]{1,20}[kmgtp]?(ib|b)?".boxed(),
        "[0-9]{1,4}(%|s|ms|us|d)".boxed(),
        prop::sample::select(vec!["randrw", "rw", "trim", "1000", "null", "1", "0", "", "µ", "0x"])
            .prop_map(str::to_owned)
            .boxed(),
        "[0-9k,:/%-]{0,12}".boxed(),
    ];
    prop_oneof![
        (key.clone(), value).prop_map(|(key, value)| format!("{key}={value}")),
        key.prop_map(str::to_owned),
        Just("[global]".to_owned()),
        Just("[job]".to_owned()),
    ]
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC*") {
        let _ = Plan::from_fio(&text, "any.fio");
    }

    /// Whatever is taken can be written down and read again.
    #[test]
    fn arbitrary_jobs_never_panic_and_what_is_taken_survives_toml(
        lines in prop::collection::vec(option(), 0..10),
    ) {
        let text = format!("[job]\n{}", lines.join("\n"));
        if let Ok(plan) = Plan::from_fio(&text, "any.fio") {
            match Plan::from_toml(&plan.to_toml(), "any.toml") {
                Ok(back) => prop_assert_eq!(back, plan),
                Err(error) => prop_assert!(false, "{}\n{}", error, text),
            }
        }
    }
}
