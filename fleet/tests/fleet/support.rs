//! The built program in a folder of its own, and the tables it leaves.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use tempfile::TempDir;

pub(crate) struct Folder(TempDir);

pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    /// The text on stdout of a run that ended well.
    pub(crate) fn good(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self.stdout
    }
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// Runs `heatsoak-fleet` in the folder; words are cut at blanks.
    pub(crate) fn run(&self, line: &str) -> Done {
        self.run_words(&line.split(' ').collect::<Vec<_>>())
    }

    pub(crate) fn run_words(&self, words: &[&str]) -> Done {
        self.run_all(words, &[])
    }

    /// With variables of the environment.
    pub(crate) fn run_with(&self, line: &str, variables: &[(&str, &str)]) -> Done {
        self.run_all(&line.split(' ').collect::<Vec<_>>(), variables)
    }

    fn run_all(&self, words: &[&str], variables: &[(&str, &str)]) -> Done {
        let output = Command::new(env!("CARGO_BIN_EXE_heatsoak-fleet"))
            .args(words)
            .current_dir(self.0.path())
            .env("TMPDIR", self.0.path())
            .envs(variables.iter().copied())
            .output()
            .expect("heatsoak-fleet starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Done { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(self.path(name)).expect("it was written")).expect("JSON")
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("it was written")
    }

    pub(crate) fn table(&self, name: &str) -> Vec<BTreeMap<String, Field>> {
        rows(&self.path(name))
    }

    /// The truth of a generated fleet: columns by serial number.
    pub(crate) fn truth(&self, name: &str) -> BTreeMap<String, Vec<String>> {
        let text = fs::read_to_string(self.path(name)).expect("the truth");
        let line = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        text.lines().skip(1).map(line).map(|columns| (columns[0].clone(), columns)).collect()
    }
}

fn rows(path: &Path) -> Vec<BTreeMap<String, Field>> {
    let reader = SerializedFileReader::new(File::open(path).expect("the table")).expect("Parquet");
    let named = |row: Row| row.into_columns().into_iter().collect();
    reader.get_row_iter(None).expect("rows").map(|row| named(row.expect("a row"))).collect()
}

pub(crate) fn text(row: &BTreeMap<String, Field>, name: &str) -> String {
    match &row[name] {
        Field::Str(text) => text.clone(),
        Field::Null => String::new(),
        other => panic!("{name} is {other}"),
    }
}

pub(crate) fn number(row: &BTreeMap<String, Field>, name: &str) -> f64 {
    match &row[name] {
        Field::Double(value) => *value,
        Field::ULong(value) => *value as f64,
        Field::Long(value) => *value as f64,
        other => panic!("{name} is {other}"),
    }
}
