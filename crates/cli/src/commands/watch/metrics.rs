//! Metrics as a page over HTTP, or as a file for node_exporter's textfile collector.
//!
//! `serve` answers with the page that the loop made last: a scrape touches no drive and waits for none.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, bail};
use serve::{LatestPages, LatestServer};
use watch::{DriveWatch, OwnFigures, expose};

use crate::args::MetricsArgs;
use crate::printer::Printer;

/// Text format 0.0.4.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

const INDEX: &str = "heatsoak exporter: metrics are at /metrics\n";

/// Where metrics go.
pub(super) struct MetricsSink {
    page: Arc<MetricsPage>,
    _server: Option<LatestServer>,
    textfile: Option<PathBuf>,
    serials: bool,
}

/// The page that was made last.
#[derive(Default)]
struct MetricsPage {
    text: Mutex<String>,
    scrapes: AtomicU64,
}

impl MetricsSink {
    /// Serves at `listen` from now on; says where.
    ///
    /// # Errors
    /// When the address is taken, or reached by other machines without that having been allowed.
    pub(super) fn serve(
        listen: SocketAddr,
        args: &MetricsArgs,
        printer: &mut Printer,
    ) -> anyhow::Result<Self> {
        if !listen.ip().is_loopback() && !args.allow_network {
            bail!(
                "cannot serve metrics at {listen}: other machines reach that address, and nobody is asked who he is; if that is \
                 meant, add --allow-network"
            );
        }
        let page = Arc::<MetricsPage>::default();
        let server = LatestServer::start(listen, Arc::clone(&page) as Arc<dyn LatestPages>)
            .context("cannot serve metrics")?;
        printer.message(&format!("metrics: http://{}/metrics", server.address()));
        Ok(Self { page, _server: Some(server), textfile: None, serials: !args.no_serial })
    }

    /// Writes them into `path`.
    pub(super) fn textfile(path: &Path, args: &MetricsArgs) -> Self {
        Self {
            page: Arc::default(),
            _server: None,
            textfile: Some(path.to_owned()),
            serials: !args.no_serial,
        }
    }

    /// Scrapes that were answered.
    pub(super) fn scrapes(&self) -> u64 {
        self.page.scrapes.load(Ordering::Relaxed)
    }

    /// Makes the page anew.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn publish(
        &mut self,
        watches: &[DriveWatch],
        now_s: f64,
        own: &OwnFigures,
    ) -> anyhow::Result<()> {
        let text = expose(watches, now_s, self.serials, own);
        if let Some(path) = &self.textfile {
            return super::replace_unsynced(path, text.as_bytes());
        }
        *self.page.text.lock().unwrap_or_else(PoisonError::into_inner) = text;
        Ok(())
    }
}

impl LatestPages for MetricsPage {
    fn page(&self, path: &str) -> Option<(&'static str, String)> {
        match path {
            "/" => Some(("text/plain; charset=utf-8", INDEX.to_owned())),
            "/metrics" => {
                self.scrapes.fetch_add(1, Ordering::Relaxed);
                Some((CONTENT_TYPE, self.text.lock().unwrap_or_else(PoisonError::into_inner).clone()))
            }
            _ => None,
        }
    }
}

/// Resident memory of this process: `VmRSS` of `/proc/self/status` (proc(5)).
pub(super) fn resident_bytes() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0)
}
