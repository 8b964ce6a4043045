//! Metrics as a page over HTTP, or as a file for node_exporter's textfile collector.
//!
//! One thread with a runtime of its own serves the page that the loop made last: a scrape touches no drive and waits for
//! none. Only GET of `/metrics` and `/` is answered. On a loopback address the Host header must name it, because pages
//! of other origins could ask through a name that they resolve to 127.0.0.1.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context as _, bail};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use watch::{DriveWatch, OwnFigures, expose};

use crate::args::MetricsArgs;
use crate::printer::Printer;

/// Text format 0.0.4.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

const INDEX: &str = "heatsoak exporter: metrics are at /metrics\n";

/// Where metrics go.
pub(super) struct MetricsSink {
    page: Arc<MetricsPage>,
    textfile: Option<PathBuf>,
    serials: bool,
}

/// The page that was made last.
#[derive(Default)]
struct MetricsPage {
    text: Mutex<String>,
    scrapes: AtomicU64,
    loopback_only: bool,
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
        let loopback_only = listen.ip().is_loopback();
        if !loopback_only && !args.allow_network {
            bail!(
                "cannot serve metrics at {listen}: other machines reach that address, and nobody is asked who he is; if that is \
                 meant, add --allow-network"
            );
        }
        let listener = TcpListener::bind(listen).with_context(|| {
            format!("cannot listen at {listen} (another port is named with ADDRESS:PORT)")
        })?;
        listener.set_nonblocking(true).context("cannot serve metrics")?;
        let address = listener.local_addr().context("cannot serve metrics")?;
        let page = Arc::new(MetricsPage { loopback_only, ..MetricsPage::default() });
        let served = Arc::clone(&page);
        thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || serve(listener, served))
            .context("cannot serve metrics")?;
        printer.message(&format!("metrics: http://{address}/metrics"));
        Ok(Self { page, textfile: None, serials: !args.no_serial })
    }

    /// Writes them into `path`.
    pub(super) fn textfile(path: &Path, args: &MetricsArgs) -> Self {
        Self { page: Arc::default(), textfile: Some(path.to_owned()), serials: !args.no_serial }
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

fn serve(listener: TcpListener, page: Arc<MetricsPage>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    runtime.block_on(async {
        let router = Router::new().route("/", get(index)).route("/metrics", get(metrics)).with_state(page);
        if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
            // It ends with the process.
            let _ = axum::serve(listener, router).await;
        }
    });
}

async fn index(State(page): State<Arc<MetricsPage>>, headers: HeaderMap) -> Response {
    if page.refuses(&headers) { misdirected() } else { INDEX.into_response() }
}

async fn metrics(State(page): State<Arc<MetricsPage>>, headers: HeaderMap) -> Response {
    if page.refuses(&headers) {
        return misdirected();
    }
    page.scrapes.fetch_add(1, Ordering::Relaxed);
    let text = page.text.lock().unwrap_or_else(PoisonError::into_inner).clone();
    ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response()
}

fn misdirected() -> Response {
    (StatusCode::MISDIRECTED_REQUEST, "the Host header names another host\n").into_response()
}

impl MetricsPage {
    /// Whether a request was meant for somebody else.
    fn refuses(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        self.loopback_only && !host.is_some_and(is_loopback_host)
    }
}

/// Whether a Host header names this machine to itself.
fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost")
        || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// Resident memory of this process: `VmRSS` of `/proc/self/status` (proc(5)).
pub(super) fn resident_bytes() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_hosts() {
        for host in ["127.0.0.1:9897", "localhost:1", "LOCALHOST", "[::1]:80", "127.0.0.2"] {
            assert!(is_loopback_host(host), "{host}");
        }
        for host in ["evil.example:9897", "127.0.0.1.evil.example", "", "localhost.evil:80"] {
            assert!(!is_loopback_host(host), "{host}");
        }
    }
}
