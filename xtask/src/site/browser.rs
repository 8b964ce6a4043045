//! `cargo xtask site --look`: the site as a reader has it, in headless Chromium.
//!
//! One page of our own loads every page of the site in a frame at each width, asks whether anything sticks out sideways,
//! and opens the search with a word, as a link with `?q=` does. Pictures are taken for people to look at. The site is
//! served on loopback, because browsers let no page of a local file search.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

use super::server::Server;

/// Widths in CSS pixels: a phone, a tablet, a desk.
const WIDTHS: [u32; 3] = [390, 820, 1440];
/// Height of a picture in CSS pixels.
const HEIGHT: u32 = 1100;
/// How long the browser may take for all pages: on a busy machine it needs half a minute.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);

/// Pages that pictures are taken of, as a page within `html` or, for the search, the page of our own that waits for it.
const PICTURES: [(&str, &str); 5] = [
    ("start", "html/index.html"),
    ("tutorial", "html/TUTORIAL.html"),
    ("fields", "html/data/FIELDS.html"),
    ("report", "html/gallery/firmware-threshold/report.html"),
    ("search", "search.html"),
];

/// What both pages of our own can do.
const SCRIPT: &str = r#"
const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const frame = document.querySelector("iframe");
async function load(page) {
    await new Promise((done) => { frame.onload = done; frame.src = "html/" + page; });
    return frame.contentDocument;
}
async function search(shown) {
    let hits = [];
    for (let tries = 0; tries < 600 && hits.length == 0; tries++) {
        await rest(100);
        hits = [...shown.querySelectorAll(".md-search-result__link")].map((link) => link.getAttribute("href"));
    }
    return hits;
}
function culprits(shown, width) {
    const out = [...shown.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > width + 0.5);
    return out.slice(0, 5).map((one) => `<${one.tagName.toLowerCase()} class="${one.className}">`).join(" ");
}
async function look() {
    const found = { wide: [], pages: 0, hits: [] };
    for (const width of WIDTHS) {
        frame.style.width = width + "px";
        for (const page of PAGES) {
            const shown = (await load(page)).documentElement;
            found.pages += 1;
            if (shown.scrollWidth > width)
                found.wide.push(`${page} at ${width} px: ${shown.scrollWidth} px, by ${culprits(shown, width)}`);
        }
    }
    found.hits = await search(await load("index.html?q=TMT1"));
    return found;
}
const tell = (found) => fetch("found", { method: "POST", body: JSON.stringify(found) });
"#;

/// A browser, ended with its value.
struct Browser(Child);

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Looks at the site in `site/html`; pictures go to `site/pictures`.
pub(super) fn look(site: &Path) -> Result<()> {
    let Some(chromium) = chromium() else { bail!("no Chromium is installed: apt-get install chromium") };
    let pictures = site.join("pictures");
    fs::create_dir_all(&pictures)?;
    let pages = pages(&site.join("html"))?;
    fs::write(site.join("look.html"), page("height: 900px", "", &pages, "look().then(tell)"))?;
    let hold = "<img src='hold' hidden>";
    let all = "position: fixed; inset: 0; width: 100%; height: 100%";
    fs::write(
        site.join("search.html"),
        page(all, hold, &[], "load('index.html?q=TMT1').then(search).then(tell)"),
    )?;
    let server = Server::start(site)?;
    let found = {
        let profile = profile()?;
        let address = format!("{}/look.html", server.address);
        // The port keeps it running until it is ended.
        let mut command = browser(&chromium, profile.path(), &["--remote-debugging-port=0", &address]);
        let _running = Browser(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
        server.wait(PATIENCE).context("the browser did not get through the pages")?
    };
    for (name, page) in PICTURES {
        for width in WIDTHS {
            server.forget();
            let file = pictures.join(format!("{name}-{width}.png"));
            let window = format!("--window-size={width},{HEIGHT}");
            let shot = format!("--screenshot={}", file.display());
            let address = format!("{}/{page}", server.address);
            let profile = profile()?;
            let output = browser(&chromium, profile.path(), &["--hide-scrollbars", &window, &shot, &address])
                .output()?;
            let said = String::from_utf8_lossy(&output.stderr);
            ensure!(file.is_file(), "{} took no picture of {page}\n{said}", chromium.display());
        }
    }
    println!("site: pictures at {WIDTHS:?} px in {}", pictures.display());
    judge(&found, pages.len() * WIDTHS.len())
}

/// A page of our own: a frame, and what is done with it.
fn page(style: &str, more: &str, pages: &[String], action: &str) -> String {
    format!(
        "<!doctype html><title>heatsoak</title><iframe style='border: 0; {style}'></iframe>{more}\n\
         <script>const WIDTHS = {WIDTHS:?};\nconst PAGES = {pages:?};\n{SCRIPT}{action};</script>\n"
    )
}

/// Reads what the page of our own found.
fn judge(json: &str, expected: usize) -> Result<()> {
    let found: serde_json::Value =
        serde_json::from_str(json).with_context(|| format!("what the browser found is no JSON: {json:?}"))?;
    ensure!(
        found["pages"].as_u64() == Some(expected as u64),
        "only {} of {expected} views came",
        found["pages"]
    );
    let list = |name: &str| -> Vec<&str> {
        let items = found[name].as_array().into_iter().flatten();
        items.filter_map(|item| item.as_str()).collect()
    };
    let (wide, hits) = (list("wide"), list("hits"));
    ensure!(wide.is_empty(), "pages that are wider than the window:\n{}", wide.join("\n"));
    ensure!(!hits.is_empty(), "the search finds nothing for TMT1");
    let first = hits.iter().take(3).copied().collect::<Vec<_>>().join(" ");
    println!(
        "site: {expected} views fit their window, the search finds TMT1 {} times: {first} ..",
        hits.len()
    );
    Ok(())
}

fn chromium() -> Option<PathBuf> {
    let works = |name: &&str| {
        let status = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    ["chromium", "chromium-headless-shell", "google-chrome"].into_iter().find(works).map(PathBuf::from)
}

/// A profile that is thrown away.
fn profile() -> Result<tempfile::TempDir> {
    tempfile::tempdir().context("making a folder for the browser")
}

fn browser(chromium: &Path, profile: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(chromium);
    // No sandbox: a container that builds may give it no user namespace, and the pages are our own.
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(arguments)
        .stdin(Stdio::null());
    command
}

/// Every page, reports of the gallery included, by path.
fn pages(html: &Path) -> Result<Vec<String>> {
    let mut pages = Vec::new();
    let mut waiting = vec![html.to_owned()];
    while let Some(folder) = waiting.pop() {
        for path in super::entries(&folder)? {
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|end| end == "html") && !path.ends_with("404.html") {
                pages.push(path.strip_prefix(html)?.display().to_string());
            }
        }
    }
    pages.sort();
    Ok(pages)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn what_the_browser_found_is_judged() {
        assert!(judge(r#"{"wide":[],"pages":3,"hits":["a.html#TMT1"]}"#, 3).is_ok());
        for (found, why) in [
            (r#"{"wide":["a at 390: 500"],"pages":3,"hits":["a"]}"#, "wider than the window"),
            (r#"{"wide":[],"pages":2,"hits":["a"]}"#, "only 2 of 3"),
            (r#"{"wide":[],"pages":3,"hits":[]}"#, "finds nothing"),
            ("", "no JSON"),
        ] {
            let error = judge(found, 3).expect_err(why).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
