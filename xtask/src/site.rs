//! `cargo xtask site`: the documents as a web site of static files, under `target/site`, by Debian's mkdocs.
//!
//! Sources stay as they are read in the repository. For the site they are copied, links that leave `docs` become names of
//! files, and what GitHub's Markdown forgives (a list without an empty line before it) is put right. The gallery is made
//! by the tool itself, on simulated drives. Then every link of every page is followed.

mod browser;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use crate::cargo;

/// Pages in the order of the menu: what one tries first, then what one looks up.
const MENU: &[(&str, &str)] = &[
    ("Start", "index.md"),
    ("Tutorial", "TUTORIAL.md"),
    ("How-to", "HOWTO.md"),
    ("Reading a report", "REPORT.md"),
    ("Gallery", "GALLERY.md"),
    ("Command line", "cli/cli.md"),
    ("Plans", "PLANS.md"),
    ("Data", "DATA.md"),
    ("Columns and fields", "data/FIELDS.md"),
    ("Formats that are read", "FORMATS.md"),
    ("Metrics", "METRICS.md"),
    ("Virtual SSD", "VSSD.md"),
    ("Fleets", "FLEET.md"),
    ("TRIM", "TRIM.md"),
    ("In a browser", "SERVE.md"),
    ("Other machines", "REMOTE.md"),
    ("Safety", "SAFETY.md"),
    ("Methods", "METHODS.md"),
    ("Accuracy", "ACCURACY.md"),
    ("Beside the articles", "GALLERY.md"),
    ("Validation", "VALIDATION.md"),
    ("For the sceptic", "VALIDATION-SCEPTIC.md"),
    ("Conformance", "CONFORMANCE.md"),
    ("Architecture", "ARCHITECTURE.md"),
    ("Hacking", "HACKING.md"),
    ("Changes", "CHANGELOG.md"),
    ("日本語", "README.ja.md"),
];

/// Reports of the gallery: what they show, and the run.
const GALLERY: &[(&str, &str, &[&str])] = &[
    (
        "firmware-threshold",
        "Reads throttled by a firmware threshold",
        &["run", "hctm-read", "--drive", "twin:ssd1"],
    ),
    (
        "host-threshold",
        "The same drive with host thresholds of 65 and 70 °C",
        &["run", "hctm-read", "--drive", "twin:ssd1", "--tmt1", "65C", "--tmt2", "70C"],
    ),
    ("another-drive", "Another drive under the same plan", &["run", "hctm-read", "--drive", "twin:ssd2"]),
];

const CONFIGURATION: &str = "\
site_name: heatsoak
site_description: Measures how an SSD throttles when it gets hot
docs_dir: docs
site_dir: html
use_directory_urls: false
theme: {name: material, font: false, language: en}
plugins: [search]
extra_css: [extra.css]
markdown_extensions: [tables, toc, pymdownx.superfences]
nav:
";

/// Tables of five columns on a phone: columns as wide as their words need, and no wider.
const STYLE: &str = "@media (max-width: 45em) {\n  \
    .md-typeset table:not([class]) th { min-width: 0; padding: .5em .6em; }\n  \
    .md-typeset table:not([class]) td { padding: .5em .6em; }\n  \
    .md-typeset table:not([class]) td:last-child { min-width: 9rem; }\n}\n";

/// Why the site cannot be made here.
pub(crate) fn missing() -> Option<String> {
    let there = Command::new("mkdocs").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_there = there.is_ok_and(|status| status.success());
    (!is_there)
        .then(|| "mkdocs is not installed: apt-get install mkdocs-material python3-pymdownx".to_owned())
}

/// Makes the site as a step of `check`: left out, loudly, where there is no mkdocs, but never in CI.
pub(crate) fn check(root: &Path) -> Result<()> {
    match missing() {
        Some(reason) if std::env::var_os("CI").is_some() => bail!("CI requires the site: {reason}"),
        Some(reason) => println!("left out: {reason}"),
        None => run(root, false)?,
    }
    Ok(())
}

/// Makes the site, and opens it in a browser if asked to.
pub(crate) fn run(root: &Path, look: bool) -> Result<()> {
    if let Some(reason) = missing() {
        bail!("cannot make the site: {reason}");
    }
    let site = root.join("target/site");
    if site.exists() {
        fs::remove_dir_all(&site).with_context(|| format!("emptying {}", site.display()))?;
    }
    copy(root, &site.join("docs"))?;
    gallery(root, &site.join("docs"))?;
    fs::write(site.join("docs/extra.css"), STYLE)?;
    let menu: String = MENU.iter().map(|(title, page)| format!("  - \"{title}\": {page}\n")).collect();
    fs::write(site.join("mkdocs.yml"), CONFIGURATION.to_owned() + &menu)?;
    let output = Command::new("mkdocs")
        .args(["build", "--strict", "--quiet"])
        .current_dir(&site)
        .stdin(Stdio::null())
        .output()
        .context("starting mkdocs")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "mkdocs build --strict failed\n{said}");
    let pages = links(&site.join("html"))?;
    println!("site: {pages} pages in {}, every link leads somewhere", site.join("html").display());
    if look { browser::look(&site) } else { Ok(()) }
}

/// Copies the documents as the site needs them.
fn copy(root: &Path, to: &Path) -> Result<()> {
    let mut waiting = vec![root.join("docs")];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("listing {}", folder.display()))? {
            let path = entry?.path();
            let inside = path.strip_prefix(root.join("docs"))?.to_owned();
            if path.is_dir() {
                waiting.push(path);
            } else {
                put(root, &path, &to.join(&inside), &Path::new("docs").join(&inside))?;
            }
        }
    }
    for (name, page) in
        [("README.md", "index.md"), ("CHANGELOG.md", "CHANGELOG.md"), ("README.ja.md", "README.ja.md")]
    {
        put(root, &root.join(name), &to.join(page), Path::new(name))?;
    }
    Ok(())
}

fn put(root: &Path, from: &Path, to: &Path, name: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    if from.extension().is_some_and(|end| end == "md") {
        let text = fs::read_to_string(from).with_context(|| format!("reading {}", from.display()))?;
        fs::write(to, page(root, &text, name))?;
    } else {
        fs::copy(from, to).with_context(|| format!("copying {}", from.display()))?;
    }
    Ok(())
}

/// A document as mkdocs wants it.
fn page(root: &Path, text: &str, name: &Path) -> String {
    let mut page = String::new();
    let (mut fenced, mut before) = (false, "");
    for line in text.lines() {
        let trimmed = line.trim_start();
        let is_item = |line: &str| {
            let line = line.trim_start();
            let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
            line.starts_with("- ") || number.len() < line.len() && number.starts_with(". ")
        };
        let indent = line.len() - trimmed.len();
        if !fenced && is_item(line) && !before.trim().is_empty() && !is_item(before) && indent == 0 {
            page.push('\n');
        }
        // Within a list four columns are one level.
        let deeper = if (2..=3).contains(&indent) { " ".repeat(4 - indent) } else { String::new() };
        let line_shown = if fenced { line.to_owned() } else { linked(root, line, name) };
        let _ = writeln!(page, "{deeper}{line_shown}");
        if trimmed.starts_with("```") {
            fenced = !fenced;
        }
        before = line;
    }
    page
}

/// A line with its links as they are on the site.
fn linked(root: &Path, line: &str, name: &Path) -> String {
    let mut shown = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("](") {
        let (head, tail) = rest.split_at(at + 2);
        let Some(end) = tail.find(')') else { break };
        let (target, tail) = tail.split_at(end);
        shown += head;
        shown += &on_site(root, target, name);
        rest = tail;
    }
    shown + rest
}

/// Where a link leads on the site: pages keep their place below `docs`; what is not there is named after its file, on the
/// page that tells the tree.
fn on_site(root: &Path, target: &str, name: &Path) -> String {
    if target.contains("://") || target.starts_with('#') || target.starts_with("mailto:") {
        return target.to_owned();
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let folder = name.parent().unwrap_or(Path::new(""));
    let whole = plain(&folder.join(path));
    let depth = folder.strip_prefix("docs").unwrap_or(Path::new("")).components().count();
    let up = "../".repeat(depth);
    let anchor = anchor.map(|anchor| format!("#{anchor}")).unwrap_or_default();
    match whole.strip_prefix("docs") {
        Ok(inside) if root.join(&whole).is_file() => format!("{up}{}{anchor}", inside.display()),
        Ok(inside) if inside == Path::new("cli") => format!("{up}cli/cli.md"),
        _ => match whole.to_str() {
            Some("README.md") => format!("{up}index.md{anchor}"),
            Some(page @ ("CHANGELOG.md" | "README.ja.md")) => format!("{up}{page}{anchor}"),
            _ => format!("{up}HACKING.md#the-tree"),
        },
    }
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

/// Runs on simulated drives and lays their reports out.
fn gallery(root: &Path, docs: &Path) -> Result<()> {
    let tool = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let tool = tool.join("debug/heatsoak");
    // The tests have built it; building it alone would be with other features, and minutes.
    if !tool.is_file() {
        cargo::run(root, &["build", "--workspace", "--bins", "--quiet"], &[])?;
    }
    let mut text = String::from(
        "# Gallery\n\nReports as `heatsoak run` leaves them, on simulated drives. Each is one file that loads nothing.\n\n",
    );
    let gallery = docs.join("gallery");
    fs::create_dir_all(&gallery)?;
    for (name, what, arguments) in GALLERY {
        let folder = gallery.join(name);
        // By name from beside it: reports name their folder, and no path of this machine belongs on a site.
        let output = Command::new(&tool)
            .args(*arguments)
            .args(["--quiet", "--out", name])
            .current_dir(&gallery)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("starting {}", tool.display()))?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for file in entries(&folder)? {
            if file.file_name().is_none_or(|name| name != "report.html") {
                fs::remove_file(file)?;
            }
        }
        let report = fs::read_to_string(folder.join("report.html"))?;
        let here = root.display().to_string();
        ensure!(!report.contains(&here), "the report of {name} names {here}, a path of this machine");
        let line = arguments.join(" ");
        let _ = writeln!(text, "- [{what}](gallery/{name}/report.html): `heatsoak {line}`");
    }
    Ok(fs::write(docs.join("GALLERY.md"), text)?)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

/// Follows every link between pages, anchors included, and looks whether the search knows what it must; how many pages
/// there are.
fn links(html: &Path) -> Result<usize> {
    let mut pages: BTreeMap<PathBuf, String> = BTreeMap::new();
    let mut waiting = vec![html.to_owned()];
    while let Some(folder) = waiting.pop() {
        for path in entries(&folder)? {
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|end| end == "html")
                && !path.starts_with(html.join("gallery"))
            {
                pages.insert(path.clone(), fs::read_to_string(&path)?);
            }
        }
    }
    let mut dead = BTreeSet::new();
    for (page, text) in
        pages.iter().filter(|(page, _)| page.file_name().is_some_and(|name| name != "404.html"))
    {
        for target in attributes(text, "href").into_iter().chain(attributes(text, "src")) {
            if target.contains(':') || target.starts_with("//") || target.is_empty() {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = path.split('?').next().unwrap_or(path);
            let file = match path {
                "" => page.clone(),
                path => plain(&page.parent().unwrap_or(html).join(path)),
            };
            let leads = match pages.get(&file) {
                Some(text) if !anchor.is_empty() && anchor != "__skip" => {
                    text.contains(&format!("id=\"{anchor}\"")) || text.contains(&format!("name=\"{anchor}\""))
                }
                Some(_) => true,
                None => file.is_file() || file.join("index.html").is_file(),
            };
            if !leads {
                dead.insert(format!("{}: {target}", page.strip_prefix(html)?.display()));
            }
        }
    }
    let dead: Vec<String> = dead.into_iter().collect();
    ensure!(dead.is_empty(), "links of the site that lead nowhere:\n{}", dead.join("\n"));
    let index =
        fs::read_to_string(html.join("search/search_index.json")).context("the site has no search")?;
    ensure!(index.contains("TMT1"), "the search does not know TMT1");
    Ok(pages.len())
}

/// The values of an attribute.
fn attributes<'a>(html: &'a str, name: &str) -> Vec<&'a str> {
    let begin = format!(" {name}=\"");
    html.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn links_lead_to_where_pages_lie_on_the_site() {
        let root = cargo::root();
        let at = |target: &str, name: &str| on_site(&root, target, Path::new(name));
        assert_eq!(at("docs/TUTORIAL.md", "README.md"), "TUTORIAL.md");
        assert_eq!(at("../README.md", "docs/HACKING.md"), "index.md");
        assert_eq!(at("METHODS.md#rules", "docs/TUTORIAL.md"), "METHODS.md#rules");
        assert_eq!(at("../DATA.md", "docs/data/FIELDS.md"), "../DATA.md");
        assert_eq!(at("../clippy.toml", "docs/HACKING.md"), "HACKING.md#the-tree");
        assert_eq!(at("#rules", "docs/METHODS.md"), "#rules");
    }

    #[test]
    fn lists_stand_by_themselves() {
        let root = cargo::root();
        let text = page(&root, "text:\n- one\n  - two\n```\nx\n- y\n```\n", Path::new("docs/X.md"));
        assert_eq!(text, "text:\n\n- one\n    - two\n```\nx\n- y\n```\n");
    }
}
