//! Every JSON document that a test makes the tool write, against its schema in `docs/data`.
//!
//! A checker of our own for the few keywords that our schemas use, so that each document of each test is checked at no
//! cost; a keyword that it does not know fails. `commands/data.rs` holds it against another implementation.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use serde_json::Value;

/// Schemas that were read, by name: they are large, and tests many.
static READ: LazyLock<Mutex<BTreeMap<String, &'static Value>>> = LazyLock::new(Mutex::default);

/// Where the schemas lie.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/data")
}

/// Fails unless what a command printed is a document as its schema has it; the run folder that it names.
pub(crate) fn must_fit_command(args: &[&str], stdout: &str) -> Option<String> {
    let document = serde_json::from_str::<Value>(stdout).ok()?;
    let has = |name: &str| document.get(name).is_some();
    let name = match args[0] {
        "analyze" if args.iter().any(|arg| arg.starts_with("--explain")) => {
            if has("results") {
                "explain-several"
            } else {
                "explain"
            }
        }
        "analyze" if has("results") => "analyze-several",
        "analyze" => "findings",
        "run" if has("runs") => "run-sweep",
        "predict" if has("cells") => "predict-several",
        command => command,
    };
    must_fit(name, &document);
    document.get("run_folder").and_then(Value::as_str).map(str::to_owned)
}

/// Fails unless manifest and findings of a run folder are as their schemas have them.
pub(crate) fn must_fit_folder(folder: &Path) {
    for name in ["manifest", "findings"] {
        if let Ok(text) = fs::read_to_string(folder.join(format!("{name}.json"))) {
            must_fit(name, &serde_json::from_str(&text).expect("JSON of a run folder"));
        }
    }
}

/// Fails unless `document` is as `docs/data/NAME.schema.json` has it.
pub(crate) fn must_fit(name: &str, document: &Value) {
    let root = schema(name);
    if let Err(why) = fits(root, document, root, "$") {
        panic!("docs/data/{name}.schema.json does not hold: {why}");
    }
}

/// The schema of that name.
pub(crate) fn schema(name: &str) -> &'static Value {
    let mut read = READ.lock().expect("no test fails while it reads a schema");
    read.entry(name.to_owned()).or_insert_with(|| {
        let path = folder().join(format!("{name}.schema.json"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Box::leak(Box::new(serde_json::from_str(&text).expect("a schema is JSON")))
    })
}

/// Whether a value is as a schema has it; else where and why not.
pub(crate) fn fits(schema: &Value, value: &Value, root: &Value, at: &str) -> Result<(), String> {
    let Value::Object(keywords) = schema else {
        return if schema == &Value::Bool(true) { Ok(()) } else { Err(format!("{at}: nothing may be here")) };
    };
    for (keyword, rule) in keywords {
        let fitting = || rule.as_array().into_iter().flatten().map(|one| fits(one, value, root, at));
        match keyword.as_str() {
            "$ref" => {
                let pointer = rule.as_str().and_then(|name| name.strip_prefix('#')).unwrap_or_default();
                fits(root.pointer(pointer).ok_or(format!("no {rule}"))?, value, root, at)?;
            }
            "allOf" => fitting().collect::<Result<(), _>>()?,
            "anyOf" if !fitting().any(|one| one.is_ok()) => return none_of(fitting(), at),
            "oneOf" if fitting().filter(Result::is_ok).count() != 1 => return none_of(fitting(), at),
            "type" if !type_names(rule).any(|name| is_of_type(value, name)) => {
                return Err(format!("{at}: {value} is not of type {rule}"));
            }
            "const" if value != rule => return Err(format!("{at}: {value} is not {rule}")),
            "enum" if !rule.as_array().is_some_and(|all| all.contains(value)) => {
                return Err(format!("{at}: {value} is none of {rule}"));
            }
            "required" => {
                let missing = type_names(rule).find(|name| value.is_object() && value.get(*name).is_none());
                missing.map_or(Ok(()), |name| Err(format!("{at}: {name} is missing")))?;
            }
            "properties" => {
                for (name, rule) in rule.as_object().into_iter().flatten() {
                    value
                        .get(name)
                        .map_or(Ok(()), |value| fits(rule, value, root, &format!("{at}.{name}")))?;
                }
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    fits(rule, item, root, &format!("{at}[{number}]"))?;
                }
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten();
                for (rule, item) in rule.as_array().into_iter().flatten().zip(items) {
                    fits(rule, item, root, at)?;
                }
            }
            "minimum" | "maximum" | "minItems" | "maxItems" => within(keyword, rule, value, at)?,
            "anyOf" | "oneOf" | "type" | "const" | "enum" | "$schema" | "$defs" | "title" | "description"
            | "format" | "default" | "x-unit" => {}
            unknown => return Err(format!("{at}: this checker does not know the keyword {unknown:?}")),
        }
    }
    Ok(())
}

/// None of several schemas fits, or more than one does.
fn none_of(all: impl Iterator<Item = Result<(), String>>, at: &str) -> Result<(), String> {
    let why: Vec<String> = all.filter_map(Result::err).collect();
    Err(format!("{at}: not exactly one of several fits: {}", why.join("; ")))
}

fn type_names(rule: &Value) -> impl Iterator<Item = &str> {
    let several = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
    rule.as_str().into_iter().chain(several)
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|f| f.fract() == 0.0),
        _ => false,
    }
}

fn within(keyword: &str, rule: &Value, value: &Value, at: &str) -> Result<(), String> {
    let count = value.as_array().map(|items| items.len() as f64);
    let (Some(limit), Some(number)) =
        (rule.as_f64(), if keyword.ends_with("Items") { count } else { value.as_f64() })
    else {
        return Ok(());
    };
    let holds = if keyword.starts_with("min") { number >= limit } else { number <= limit };
    if holds { Ok(()) } else { Err(format!("{at}: {number} breaks {keyword} {limit}")) }
}
