//! The data reference from outside: documents against their schemas by another implementation, Parquet by other
//! readers, and the examples of `docs/DATA.md` as they stand there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Scratch, schema};

/// A Python for the tests, where there is another than `python3`; with it the modules are there, and must be.
const PYTHON: &str = "HEATSOAK_PYTHON";

/// The interpreter, if it has these modules; else says which tests did not run, and why.
pub(super) fn python(modules: &[&str]) -> Option<PathBuf> {
    let named = std::env::var_os(PYTHON);
    let python = PathBuf::from(named.clone().unwrap_or_else(|| "python3".into()));
    let import = format!("import {}", [&["sys"], modules].concat().join(", "));
    let status =
        Command::new(&python).args(["-c", &import]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if status.is_ok_and(|status| status.success()) {
        return Some(python);
    }
    assert!(named.is_none(), "{} cannot `{import}`", python.display());
    left_out(&format!("python3 cannot `{import}`; {PYTHON}=PATH names one that can"));
    None
}

/// Says why a test did not look at something.
#[expect(clippy::print_stderr, reason = "what did not run is told, never silent")]
fn left_out(why: &str) {
    eprintln!("LEFT OUT: {why}");
}

/// A run folder in `scratch/runs/example`.
fn example(scratch: &Scratch) {
    let done = scratch.run(&["run", "--out", "runs/example", "--quiet", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}

/// Goal: documents of each kind that need no hardware fit their schemas. Others are checked where tests make them.
#[test]
fn documents_fit_their_schemas() {
    let scratch = Scratch::new();
    example(&scratch);
    schema::must_fit_folder(&scratch.path("runs/example"));
    for line in [
        "analyze runs/example --json",
        "analyze runs/example runs/example --json",
        "analyze runs/example --explain --json",
        "analyze runs/example runs/example --explain --json",
        "runs runs --json",
        "list --json",
        "inspect twin:ssd1 --json",
        "hctm twin:ssd1 --json",
        "power-state twin:ssd1 --json",
        "temp-threshold twin:ssd1 --json",
    ] {
        let done = scratch.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(done.code, Some(0), "{line}: {}", done.stderr);
        let document: Value = serde_json::from_str(&done.stdout).expect("one document");
        assert!(document["schema"].is_u64(), "{line} does not say which format it is");
    }
}

/// Goal: the checker can fail. Method: spoil a good document in each way it looks at.
#[test]
fn spoilt_documents_do_not_fit() {
    let scratch = Scratch::new();
    example(&scratch);
    let text = fs::read_to_string(scratch.path("runs/example/findings.json")).expect("findings");
    let good: Value = serde_json::from_str(&text).expect("JSON");
    let root = schema::schema("findings");
    assert_eq!(schema::fits(root, &good, root, "$"), Ok(()));
    type Spoil = (&'static str, fn(&mut Value));
    let spoils: [Spoil; 5] = [
        ("schema", |it| it["schema"] = json!(99)),
        ("segments[0].start_s", |it| it["segments"][0]["start_s"] = json!("soon")),
        ("label", |it| it["segments"][0]["label"] = json!("quick")),
        ("end_s is missing", |it| {
            let segment = it["segments"][0].as_object_mut().expect("a segment");
            let end = segment.remove("end_s").expect("an end");
            segment.insert("stop_s".to_owned(), end);
        }),
        ("kind", |it| it["caveats"][0]["kind"] = json!("rain")),
    ];
    for (where_, spoil) in spoils {
        let mut bad = good.clone();
        spoil(&mut bad);
        let why = schema::fits(root, &bad, root, "$").expect_err(where_);
        assert!(why.contains(where_), "{where_}: {why}");
    }
}

/// Goal: another implementation of JSON Schema says the same. Referee: Python's `jsonschema`.
#[test]
fn another_validator_agrees() {
    let Some(python) = python(&["jsonschema"]) else { return };
    let scratch = Scratch::new();
    example(&scratch);
    let done = scratch.run(&["inspect", "twin:ssd1", "--json"]);
    fs::write(scratch.path("inspect.json"), done.stdout).expect("a scratch file");
    let program = "
import json, sys
from pathlib import Path
from jsonschema import Draft202012Validator
folder = Path(sys.argv[1])
for path in folder.glob('*.schema.json'):
    Draft202012Validator.check_schema(json.loads(path.read_text()))
names_and_paths = iter(sys.argv[2:])
for name, path in zip(names_and_paths, names_and_paths):
    schema = json.loads((folder / f'{name}.schema.json').read_text())
    document = json.loads(Path(path).read_text())
    Draft202012Validator(schema).validate(document)
    del document['schema']
    assert not Draft202012Validator(schema).is_valid(document)
print('agreed')
";
    let output = Command::new(python)
        .args(["-W", "ignore", "-c", program])
        .arg(schema::folder())
        .args(["findings", "runs/example/findings.json", "manifest", "runs/example/manifest.json"])
        .args(["inspect", "inspect.json"])
        .current_dir(scratch.path("."))
        .output()
        .expect("python runs");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "agreed\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Goal: the Python package gives the command line's answers. Referee: its own tests, by pytest.
#[test]
fn the_python_package_passes_its_tests() {
    let Some(python) = python(&["pytest", "polars", "pyarrow", "duckdb", "pandas"]) else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
    let output = Command::new(python)
        .args(["-B", "-W", "ignore", "-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg(&folder)
        .env("HEATSOAK", env!("CARGO_BIN_EXE_heatsoak"))
        .env("PYTHONPATH", &folder)
        .output()
        .expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// The blocks of code in `docs/DATA.md` that are in this language.
fn examples(language: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/DATA.md");
    let text = fs::read_to_string(path).expect("docs/DATA.md");
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).map(str::to_owned).collect()
}

/// Goal: what `docs/DATA.md` shows works as it stands there. Each block of Python says by its imports what it needs.
#[test]
fn the_examples_of_the_data_reference_run() {
    let scratch = Scratch::new();
    example(&scratch);
    let examples = examples("python");
    assert!(examples.len() >= 3, "docs/DATA.md has lost its examples");
    for example in examples {
        let modules: Vec<&str> = example
            .lines()
            .filter_map(|line| line.strip_prefix("import "))
            .map(|rest| rest.split(' ').next().unwrap_or(rest))
            .collect();
        // pandas reads Parquet by pyarrow.
        let modules: Vec<&str> = modules.into_iter().filter(|module| *module != "heatsoak").collect();
        let needed = if modules.contains(&"pandas") { vec!["pandas", "pyarrow"] } else { modules };
        let Some(python) = python(&needed) else { continue };
        let output = Command::new(python)
            .args(["-B", "-W", "ignore", "-c", &example])
            .current_dir(scratch.path("."))
            .env("HEATSOAK", env!("CARGO_BIN_EXE_heatsoak"))
            .env("PYTHONPATH", Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python"))
            .output()
            .expect("python runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{example}\n{errors}");
        assert!(!output.stdout.is_empty(), "prints nothing:\n{example}");
    }
}
