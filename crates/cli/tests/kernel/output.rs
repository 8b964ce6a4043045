//! What came of a guest: what its script printed, section by section, and what its kernel said.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::schema;

/// What a kernel says when it has met a bug of its own or of our making.
const KERNEL_BUGS: &[&str] =
    &["BUG:", "Oops", "general protection fault", "Kernel panic", "hung_task", "blocked for more than"];

/// What came of a guest.
pub(crate) struct Output {
    scratch: tempfile::TempDir,
    /// Where the sections lie: below `out/`, a folder for each case.
    case: &'static str,
}

impl Output {
    pub(super) fn new(scratch: tempfile::TempDir) -> Self {
        Self { scratch, case: "" }
    }

    /// Turns to what came of this case.
    pub(super) fn turn_to(&mut self, case: &'static str) {
        self.case = case;
    }

    /// The exit status of the script, or of the case's part of it; `None` when the guest did not get so far.
    pub(super) fn status(&self) -> Option<i32> {
        let name = if self.case.is_empty() { "status" } else { "case-status" };
        let path = if self.case.is_empty() { name.to_owned() } else { format!("out/{}/{name}", self.case) };
        self.file(&path).trim().parse().ok()
    }

    /// What was printed after `section NAME`, errors aside.
    pub(crate) fn section(&self, name: &str) -> String {
        let path = self.folder().join(name);
        let bytes = fs::read(path).unwrap_or_else(|_| panic!("no section `{name}`\n{}", self.everything()));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What went to standard error after `section NAME`.
    pub(crate) fn errors(&self, name: &str) -> String {
        self.section(&format!("{name}.err"))
    }

    /// A section as JSON; a document of ours must be as its schema has it.
    pub(crate) fn json(&self, name: &str) -> Value {
        let text = self.section(name);
        let document = serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("section `{name}` is no JSON: {error}\n{text}\n{}", self.errors(name))
        });
        must_fit_a_schema(&document);
        document
    }

    /// The file that was the drive of this serial.
    pub(crate) fn image(&self, serial: &str) -> PathBuf {
        self.scratch.path().join(serial)
    }

    /// The kernel's messages.
    pub(crate) fn dmesg(&self) -> String {
        self.file("dmesg")
    }

    /// Whether a worker of the kernel's own waited for ever, which ended the guest (`hung_task_panic`, set by its `init`).
    pub(super) fn kernel_hung(&self) -> bool {
        self.file("console").contains("INFO: task kworker/")
    }

    /// Fails when the kernel, or the guest's own beginning, has met what must not be.
    pub(super) fn must_be_in_order(&self) {
        let missing = self.file("modules-missing");
        assert!(missing.is_empty(), "modules that this guest has not: {missing}");
        let dmesg = self.dmesg();
        let bug = KERNEL_BUGS.iter().find(|bug| dmesg.contains(*bug));
        assert!(bug.is_none(), "the kernel has met a bug\n{dmesg}");
    }

    fn folder(&self) -> PathBuf {
        self.scratch.path().join("job/out").join(self.case)
    }

    fn file(&self, name: &str) -> String {
        let bytes = fs::read(self.scratch.path().join("job").join(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Everything that helps to understand a failure.
    pub(super) fn everything(&self) -> String {
        let job = self.scratch.path().join("job");
        let within = |folder: PathBuf| {
            let entries = fs::read_dir(folder).into_iter().flatten();
            let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            paths.sort();
            paths
        };
        // Of all cases, where none is turned to yet.
        let sections = within(self.folder()).into_iter();
        let files = sections.flat_map(|path| if path.is_dir() { within(path) } else { vec![path] });
        let mut text = String::new();
        for file in files.chain([job.join("console"), job.join("qemu")]) {
            let content = String::from_utf8_lossy(&fs::read(&file).unwrap_or_default()).into_owned();
            if !content.trim().is_empty() {
                let name = file.strip_prefix(&job).unwrap_or(&file).display();
                text += &format!("--- {name}\n{}\n", telling(&content));
            }
        }
        text
    }
}

/// The lines that say what went wrong: those of the kernel about its bugs, however long ago, and the last ones.
pub(super) fn telling(text: &str) -> String {
    const LAST: usize = 40;
    let lines: Vec<&str> = text.lines().collect();
    let (earlier, last) = lines.split_at(lines.len().saturating_sub(LAST));
    let of_bugs = earlier.iter().filter(|line| KERNEL_BUGS.iter().any(|bug| line.contains(bug)));
    of_bugs.chain(last).copied().collect::<Vec<_>>().join("\n")
}

/// Fails unless a document of ours, known by its number, is as one of the schemas has it; those of others pass.
fn must_fit_a_schema(document: &Value) {
    if !document.get("schema").is_some_and(Value::is_u64) {
        return;
    }
    let files = fs::read_dir(schema::folder()).expect("docs/data").flatten().map(|entry| entry.file_name());
    let names: Vec<String> =
        files.filter_map(|name| Some(name.to_str()?.strip_suffix(".schema.json")?.to_owned())).collect();
    let against: Vec<String> = names
        .iter()
        .filter_map(|name| {
            let root = schema::schema(name);
            schema::fits(root, document, root, "$").err().map(|why| format!("{name}: {why}"))
        })
        .collect();
    assert!(against.len() < names.len(), "no schema in docs/data holds:\n{}", against.join("\n"));
}
