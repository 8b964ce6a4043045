//! The data reference, `docs/data`: a JSON Schema a document, and a page of every field and column, from the types.
//!
//! It is made by a test, so that a user's build carries none of it. `INSTA_UPDATE=always`, as for snapshots, writes it
//! anew; without, the test fails where it is stale. What a release has promised stands in `released.txt`: no later
//! build may take it back under the same number.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use measure::record::{self, unit_in_name};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::{DOCUMENTS, DocumentKind};

/// What writes snapshots writes this as well.
const UPDATE: &str = "INSTA_UPDATE";
/// What a release has promised: document, number, path of a field, its types.
const RELEASED: &str = "released.txt";
const PAGE: &str = "FIELDS.md";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data")
}

/// The schema of what serde writes of `T`, each field with the unit in its name.
pub(super) fn schema_of<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = serde_json::to_value(generator.into_root_schema_for::<T>()).expect("a schema is JSON");
    add_units(&mut schema);
    schema
}

fn add_units(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                for (name, property) in properties {
                    if let (Some(unit), Value::Object(property)) = (unit_in_name(name), property) {
                        property.insert("x-unit".to_owned(), unit.into());
                    }
                }
            }
            members.values_mut().for_each(add_units);
        }
        Value::Array(items) => items.iter_mut().for_each(add_units),
        _ => {}
    }
}

impl DocumentKind {
    /// Its schema as it is published.
    fn published(&self) -> Value {
        let mut schema = (self.json_schema)();
        let members = schema.as_object_mut().expect("a document is an object");
        members.insert("title".to_owned(), format!("heatsoak {}, format {}", self.name, self.schema).into());
        let number = members
            .get_mut("properties")
            .and_then(|properties| properties.get_mut("schema"))
            .and_then(Value::as_object_mut)
            .unwrap_or_else(|| panic!("{} has no member `schema`", self.name));
        number.insert("const".to_owned(), self.schema.into());
        schema
    }
}

/// The properties of an object schema, those of its flattened parts and variants included.
fn properties<'a>(
    schema: &'a Value,
    root: &'a Value,
    seen: &mut BTreeSet<String>,
) -> Vec<(&'a String, &'a Value)> {
    let mut found = Vec::new();
    if let Some(name) = reference(schema)
        && seen.insert(name.to_owned())
    {
        found.extend(properties(&root["$defs"][name], root, seen));
    }
    found.extend(schema["properties"].as_object().into_iter().flatten());
    for part in ["allOf", "oneOf", "anyOf"] {
        for one in schema[part].as_array().into_iter().flatten() {
            found.extend(properties(one, root, seen));
        }
    }
    found
}

/// The name in a `$ref` to this schema's own definitions.
fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

/// The types of a field: JSON's names, of what it refers to or consists of.
fn types(schema: &Value, root: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    match &schema["type"] {
        Value::String(one) => {
            found.insert(one.clone());
        }
        several => found
            .extend(several.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)),
    }
    if let Some(name) = reference(schema) {
        found.extend(types(&root["$defs"][name], root));
    }
    for part in ["oneOf", "anyOf", "allOf"] {
        found.extend(schema[part].as_array().into_iter().flatten().flat_map(|one| types(one, root)));
    }
    if found.is_empty() && schema.get("const").is_some_and(Value::is_string) {
        found.insert("string".to_owned());
    }
    found
}

/// Every field of a document by its path, with its types and unit: what a reader may hold on to.
fn paths(schema: &Value, root: &Value, at: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
    for (name, property) in properties(schema, root, &mut BTreeSet::new()) {
        let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
        let unit = property["x-unit"].as_str().map_or_else(String::new, |unit| format!(" in {unit}"));
        let types = types(property, root);
        found.entry(path.clone()).or_default().extend(types.iter().map(|one| format!("{one}{unit}")));
        deeper(property, root, &path, found);
    }
}

/// What lies within a field: its own fields, or those of its items.
fn deeper(schema: &Value, root: &Value, path: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
    // Types of ours do not contain themselves; a bound all the same, for the day one does.
    if path.matches('.').count() > 12 {
        return;
    }
    paths(schema, root, path, found);
    let mut parts = vec![schema];
    parts.extend(reference(schema).map(|name| &root["$defs"][name]));
    for part in ["anyOf", "oneOf"] {
        parts.extend(schema[part].as_array().into_iter().flatten());
    }
    for part in parts {
        if part.get("items").is_some_and(Value::is_object) {
            deeper(&part["items"], root, &format!("{path}[]"), found);
        }
    }
}

/// Lines of `released.txt`.
fn promises() -> Vec<String> {
    let mut lines = Vec::new();
    for document in DOCUMENTS {
        let schema = document.published();
        let mut found = BTreeMap::new();
        paths(&schema, &schema, "", &mut found);
        for (path, types) in found {
            let types: Vec<String> = types.into_iter().collect();
            lines.push(format!("{} {} {path}: {}", document.name, document.schema, types.join(" | ")));
        }
    }
    for table in record::table_reference() {
        for column in table.columns {
            let null = if column.nullable { " | null" } else { "" };
            lines.push(format!(
                "{}.parquet {} {}: {}{null}",
                table.name,
                record::SCHEMA,
                column.name,
                column.data_type
            ));
        }
    }
    lines
}

/// The page: tables of the record, then documents, then the types they are made of.
fn page() -> String {
    let mut text = String::from(
        "# Every column and field\n\n\
         Made by a test from the types themselves, and never edited by hand; [DATA](../DATA.md) says how to read it.\n\n\
         ## Tables of a run folder\n",
    );
    for table in record::table_reference() {
        let _ = write!(text, "\n### {}.parquet\n\nA row is {}.\n\n", table.name, table.row);
        text += "| column | type | unit | null | meaning |\n| --- | --- | --- | --- | --- |\n";
        for column in table.columns {
            let null = if column.nullable { "yes" } else { "" };
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {null} | {} |",
                column.name, column.data_type, column.unit, column.description
            );
        }
    }
    text += "\n## JSON documents\n\nA field that says `or null` is always there; one in brackets may be missing.\n";
    let mut types = BTreeMap::new();
    for document in DOCUMENTS {
        let schema = document.published();
        let _ = write!(
            text,
            "\n### {}\n\n{}. Format {}, [schema]({}.schema.json).\n\n",
            document.name, document.what, document.schema, document.name
        );
        fields(&schema, &mut text);
        let definitions = schema["$defs"].as_object().into_iter().flatten();
        for (name, one) in definitions {
            let before = types.insert(name.clone(), one.clone());
            assert!(before.is_none_or(|before| before == *one), "two types are called {name}");
        }
    }
    text += "\n## Types\n";
    for (name, schema) in &types {
        let _ = write!(text, "\n### {name}\n\n{}\n\n", sentence(schema));
        words(schema, &mut text);
        fields(schema, &mut text);
    }
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    text.trim_end().to_owned() + "\n"
}

fn sentence(schema: &Value) -> String {
    let words = schema["description"].as_str().unwrap_or_default();
    words.replace('\n', " ").replace('|', "\\|")
}

/// What a type of words may be.
fn words(schema: &Value, text: &mut String) {
    let variants = schema["oneOf"].as_array().into_iter().flatten();
    let single = variants.filter(|one| one.get("const").is_some());
    let mut any = false;
    for one in single {
        let _ = writeln!(text, "- `{}`: {}", one["const"].as_str().unwrap_or_default(), sentence(one));
        any = true;
    }
    for one in schema["enum"].as_array().into_iter().flatten() {
        let _ = writeln!(text, "- `{}`", one.as_str().unwrap_or_default());
        any = true;
    }
    if any {
        text.push('\n');
    }
}

/// The table of an object's fields; of variants one table, with the variant that has each.
fn fields(schema: &Value, text: &mut String) {
    let mut rows: Vec<String> = rows_of(schema, "");
    for variant in schema["oneOf"].as_array().into_iter().flatten() {
        let tag = ["kind", "case"].into_iter().find_map(|tag| variant["properties"][tag]["const"].as_str());
        if let Some(tag) = tag {
            rows.push(format!("| **`{tag}`** | | | {} |", sentence(variant)));
            rows.extend(rows_of(variant, tag));
        }
    }
    if !rows.is_empty() {
        *text += "| field | type | unit | meaning |\n| --- | --- | --- | --- |\n";
        for row in rows {
            *text += &row;
            text.push('\n');
        }
    }
}

fn rows_of(schema: &Value, tag: &str) -> Vec<String> {
    let mut rows = Vec::new();
    let required: BTreeSet<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (name, property) in properties.filter(|(_, one)| tag.is_empty() || one["const"] != tag) {
        let shown =
            if required.contains(name.as_str()) { format!("`{name}`") } else { format!("(`{name}`)") };
        let unit = property["x-unit"].as_str().unwrap_or_default();
        rows.push(format!("| {shown} | {} | {unit} | {} |", shown_type(property), sentence(property)));
    }
    // Flattened into it.
    if let Some(name) = reference(schema) {
        rows.push(format!("| and all of | {} | | |", link(name)));
    }
    for part in ["allOf", "anyOf"] {
        for one in schema[part].as_array().into_iter().flatten() {
            rows.extend(reference(one).map(|name| format!("| and all of | {} | | |", link(name))));
        }
    }
    rows
}

fn link(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase())
}

/// A field's type in a few words, with links.
fn shown_type(schema: &Value) -> String {
    if let Some(name) = reference(schema) {
        return link(name);
    }
    if let Some(one) = schema.get("const") {
        return format!("`{one}`");
    }
    let several = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
    if let Some(several) = several {
        return several.iter().map(shown_type).collect::<Vec<_>>().join(" or ");
    }
    let names: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        several => several.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    };
    let shown = names.iter().map(|name| match *name {
        "array" => match schema.get("items").filter(|items| items.is_object()) {
            Some(items) => format!("list of {}", shown_type(items)),
            None => "list".to_owned(),
        },
        other => other.to_owned(),
    });
    shown.collect::<Vec<_>>().join(" or ")
}

/// Everything in `docs/data` but the promises: name and content.
fn files() -> BTreeMap<String, String> {
    let schema = |document: &DocumentKind| {
        let text = serde_json::to_string_pretty(&document.published()).expect("a schema is JSON");
        (format!("{}.schema.json", document.name), text + "\n")
    };
    let mut files: BTreeMap<String, String> = DOCUMENTS.iter().map(schema).collect();
    files.insert(PAGE.to_owned(), page());
    files
}

/// Goal: schemas and page are those of the types. Method: make them, compare.
#[test]
fn the_data_reference_is_fresh() {
    let folder = folder();
    let files = files();
    if std::env::var_os(UPDATE).is_some_and(|value| value == "always") {
        fs::create_dir_all(&folder).expect("docs/data");
        for (name, text) in &files {
            fs::write(folder.join(name), text).expect("a file of docs/data");
        }
    }
    let stale: Vec<&String> = files
        .iter()
        .filter(|(name, text)| fs::read_to_string(folder.join(name)).ok().as_ref() != Some(*text))
        .map(|(name, _)| name)
        .collect();
    let again = "INSTA_UPDATE=always cargo test --workspace --bin heatsoak data_reference";
    assert!(stale.is_empty(), "stale in docs/data: {stale:?}; `{again}` writes them anew");
    let known = |name: &str| files.contains_key(name) || name == RELEASED;
    let names = fs::read_dir(&folder).expect("docs/data").map(|entry| entry.expect("an entry").file_name());
    let foreign: Vec<_> = names.filter(|name| !name.to_str().is_some_and(known)).collect();
    assert!(foreign.is_empty(), "in docs/data and made of no type: {foreign:?}; delete them");
}

/// Goal: what a release has promised holds until its number is raised: a field that is renamed, removed or of another
/// type or unit fails here. `HEATSOAK_RELEASE=1` writes today's promises, as a step of a release.
#[test]
fn the_data_reference_takes_nothing_back() {
    let path = folder().join(RELEASED);
    let now = promises();
    if std::env::var_os("HEATSOAK_RELEASE").is_some() {
        fs::write(&path, now.join("\n") + "\n").expect("docs/data");
    }
    let numbers: BTreeMap<&str, u32> = DOCUMENTS.iter().map(|one| (one.name, one.schema)).collect();
    let released = fs::read_to_string(&path).expect("docs/data/released.txt");
    let now: BTreeSet<&str> = now.iter().map(String::as_str).collect();
    let mut broken = Vec::new();
    for line in released.lines().filter(|line| !now.contains(line)) {
        let mut words = line.split(' ');
        let (name, number) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let today = numbers.get(name).copied().unwrap_or(record::SCHEMA);
        if number.parse::<u32>().is_ok_and(|number| number >= today) {
            broken.push(line);
        }
    }
    assert!(
        broken.is_empty(),
        "taken back under the same number (docs/DATA.md, \"When a format changes\"); raise it in documents.rs, or write \
         the promises anew with HEATSOAK_RELEASE=1 where no release has made them yet:\n{}",
        broken.join("\n")
    );
}

/// Goal: a field that is renamed is found by both tests. Method: rename one in a schema.
#[test]
fn the_data_reference_notices_a_renamed_field() {
    let document = DOCUMENTS.iter().find(|one| one.name == "findings").expect("findings");
    let mut schema = document.published();
    let before = {
        let mut found = BTreeMap::new();
        paths(&schema, &schema, "", &mut found);
        found
    };
    assert!(before.contains_key("segments[].start_s"), "{:?}", before.keys());
    assert!(before.contains_key("events[].observations[].kind"), "{:?}", before.keys());
    assert!(before.contains_key("caveats[].text"), "{:?}", before.keys());
    let segment: &mut Map<String, Value> =
        schema["$defs"]["Segment"]["properties"].as_object_mut().expect("segments have fields");
    let field = segment.remove("start_s").expect("a start");
    segment.insert("begin_s".to_owned(), field);
    let mut after = BTreeMap::new();
    paths(&schema, &schema, "", &mut after);
    assert!(!after.contains_key("segments[].start_s") && after.contains_key("segments[].begin_s"));
    assert_eq!(before["segments[].start_s"], BTreeSet::from(["number in s".to_owned()]));
}
