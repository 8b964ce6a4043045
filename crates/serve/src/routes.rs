//! From a request that was admitted to a reply. Paths are a fixed list, and a run in one is its id.

use std::sync::{Arc, Mutex, PoisonError};

use report::web;

use crate::admit::RequestRefusal;
use crate::events::{self, LivePages};
use crate::library::{OpenRun, RunLibrary, RunStamps};
use crate::{pages, query};

/// Runs of one comparison: those that it has letters for.
const COMPARED_MAX: usize = 26;
/// Pages that were made are kept up to so many bytes together.
const KEPT_MAX: usize = 64 << 20;
/// A report is some megabytes; what is larger is not one of ours.
const REPORT_MAX: u64 = 64 << 20;

/// Pages of ours: nothing in them runs but the scripts below `/assets`, and nothing is loaded from elsewhere.
const OURS: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                    form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
/// Reports stand alone, with their scripts in them; one in a run folder may be anybody's. It has no origin, so it can
/// neither ask for other pages nor read them, and it can load nothing.
const STANDS_ALONE: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                            img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

/// What is answered.
#[derive(Debug)]
pub(crate) struct PageReply {
    pub(crate) status: u16,
    pub(crate) media_type: &'static str,
    pub(crate) policy: &'static str,
    pub(crate) body: ReplyBody,
    /// More headers.
    pub(crate) headers: Vec<(&'static str, String)>,
}

/// Its body.
#[derive(Debug)]
pub(crate) enum ReplyBody {
    Whole(Arc<str>),
    /// Events of the run of this id, until one side ends it.
    Events(String),
}

impl PageReply {
    fn page(status: u16, body: impl Into<Arc<str>>) -> Self {
        Self {
            status,
            media_type: "text/html; charset=utf-8",
            policy: OURS,
            body: ReplyBody::Whole(body.into()),
            headers: vec![("cache-control", "no-store".to_owned())],
        }
    }

    /// Text that no browser takes for a page.
    pub(crate) fn plain(status: u16, text: impl Into<Arc<str>>) -> Self {
        Self { media_type: "text/plain; charset=utf-8", ..Self::page(status, text) }.with_methods()
    }

    /// A refusal of a method names those that are allowed (RFC 9110, 15.5.6).
    fn with_methods(mut self) -> Self {
        if self.status == 405 {
            self.headers.push(("allow", "GET, HEAD".to_owned()));
        }
        self
    }

    fn alone(body: Arc<str>) -> Self {
        Self { policy: STANDS_ALONE, ..Self::page(200, body) }
    }

    fn asset(media_type: &'static str, body: String) -> Self {
        let headers = vec![("cache-control", "max-age=600".to_owned())];
        Self { media_type, headers, ..Self::page(200, body) }
    }

    pub(crate) fn error(status: u16, why: &str) -> Self {
        Self::page(status, pages::error(status, why)).with_methods()
    }
}

impl From<&RequestRefusal> for PageReply {
    fn from(refusal: &RequestRefusal) -> Self {
        match refusal.status {
            401 => Self::page(401, pages::login(refusal.why)),
            status => Self::error(status, refusal.why),
        }
    }
}

/// Everything that is answered.
pub(crate) struct Routes {
    pub(crate) library: RunLibrary,
    pub(crate) live: LivePages,
    made: Mutex<Vec<(MadeKey, Arc<str>)>>,
}

/// What a page was made of.
type MadeKey = (&'static str, Vec<(String, RunStamps)>);

impl Routes {
    pub(crate) fn new(library: RunLibrary) -> Self {
        Self { library, live: LivePages::new(), made: Mutex::default() }
    }

    /// Whether an answer takes long enough for others to have to wait their turn.
    pub(crate) fn is_heavy(path: &str) -> bool {
        path == "/compare" || path.starts_with("/run/")
    }

    /// The answer.
    pub(crate) fn answer(&self, path: &str, query: &str) -> PageReply {
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        match parts.as_slice() {
            [""] => PageReply::page(200, pages::library(&self.library.list(), query)),
            ["runs.json"] => self.runs_json(),
            ["compare"] => self.compare(query),
            ["run", id, "report"] => self.with_run(id, |run| self.report(run)),
            ["run", id, "live"] => self.with_run(id, |run| self.live_page(run)),
            ["run", id, "events"] => self.with_run(id, |run| PageReply {
                media_type: "text/event-stream",
                body: ReplyBody::Events(run.run.id.clone()),
                ..PageReply::page(200, "")
            }),
            ["assets", name] => asset(name),
            ["favicon.ico"] => PageReply { status: 204, ..PageReply::asset("image/x-icon", String::new()) },
            _ => PageReply::error(404, "There is no such page."),
        }
    }

    fn runs_json(&self) -> PageReply {
        match serde_json::to_string(&self.library.list()) {
            Ok(text) => PageReply {
                media_type: "application/json",
                ..PageReply::page(200, measure::visible::visible_json(&text))
            },
            Err(error) => PageReply::error(500, &error.to_string()),
        }
    }

    fn with_run(&self, id: &str, answer: impl FnOnce(&OpenRun) -> PageReply) -> PageReply {
        match self.library.run(id) {
            Some(run) => answer(&run),
            None => PageReply::error(404, "There is no such run; it may have been moved or deleted."),
        }
    }

    /// The report that lies there, else one made of the record.
    fn report(&self, run: &OpenRun) -> PageReply {
        if let Some(stored) =
            run.folder.read("report.html", REPORT_MAX).ok().and_then(|page| String::from_utf8(page).ok())
        {
            return PageReply::alone(stored.into());
        }
        let key = ("report", vec![(run.run.id.clone(), run.stamps.clone())]);
        self.made(key, || match run.refusal() {
            Some(why) => Err(why),
            None => self.library.pages().report(&run.run.folder, &run.folder.path()),
        })
    }

    fn compare(&self, query: &str) -> PageReply {
        let mut ids: Vec<String> =
            query::parts(query).filter(|part| part.0 == "run").map(|part| part.1).collect();
        let mut seen = std::collections::BTreeSet::new();
        ids.retain(|id| seen.insert(id.clone()));
        if !(2..=COMPARED_MAX).contains(&ids.len()) {
            let why = format!("Tick 2 to {COMPARED_MAX} runs to compare; these are {}.", ids.len());
            return PageReply::error(400, &why);
        }
        let mut runs = Vec::new();
        for id in &ids {
            match self.library.run(id) {
                Some(run) => runs.push(run),
                None => return PageReply::error(404, "One of these runs is not there any more."),
            }
        }
        let key = ("compare", runs.iter().map(|run| (run.run.id.clone(), run.stamps.clone())).collect());
        self.made(key, || {
            if let Some((run, why)) = runs.iter().find_map(|run| Some((run, run.refusal()?))) {
                return Err(format!("{}: {why}", run.run.folder));
            }
            let folders: Vec<_> =
                runs.iter().map(|run| (run.run.folder.clone(), run.folder.path())).collect();
            self.library.pages().compare(&folders)
        })
    }

    /// A page that stands alone, made once for what it is made of.
    fn made(&self, key: MadeKey, make: impl FnOnce() -> Result<String, String>) -> PageReply {
        let kept = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, page)) = kept().iter().find(|made| made.0 == key) {
            return PageReply::alone(Arc::clone(page));
        }
        match make() {
            Ok(page) => {
                let page: Arc<str> = page.into();
                let mut kept = kept();
                kept.push((key, Arc::clone(&page)));
                while kept.iter().map(|made| made.1.len()).sum::<usize>() > KEPT_MAX {
                    kept.remove(0);
                }
                PageReply::alone(page)
            }
            Err(why) => PageReply::error(500, &why),
        }
    }

    fn live_page(&self, run: &OpenRun) -> PageReply {
        let views = events::views(&self.library, run);
        PageReply::page(200, pages::live(&run.run, &views))
    }
}

fn asset(name: &str) -> PageReply {
    const SCRIPT: &str = "text/javascript; charset=utf-8";
    const STYLE: &str = "text/css; charset=utf-8";
    match name {
        "report.css" => PageReply::asset(STYLE, web::style_sheet()),
        "serve.css" => PageReply::asset(STYLE, include_str!("../assets/serve.css").to_owned()),
        "uplot.js" => PageReply::asset(SCRIPT, web::chart_library()),
        "charts.js" => PageReply::asset(SCRIPT, web::CHART_SCRIPT.to_owned()),
        "library.js" => PageReply::asset(SCRIPT, include_str!("../assets/library.js").to_owned()),
        "live.js" => PageReply::asset(SCRIPT, include_str!("../assets/live.js").to_owned()),
        _ => PageReply::error(404, "There is no such page."),
    }
}
