//! Files of a folder over HTTP on loopback, for the browser that looks at the site, and the place where it leaves what it
//! found.
//!
//! No server for anybody else: one thread a connection, GET of files, POST of `/found`. `/hold` is answered once that has
//! come, so that a page with it as a picture is not loaded, and not photographed, any sooner.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// What a page may leave here, at most: names of pages.
const FOUND_BYTES_MAX: u64 = 1 << 20;

/// What was found, and who waits for it.
#[derive(Default)]
struct Found {
    text: Mutex<Option<String>>,
    came: Condvar,
}

impl Found {
    /// Waits for what was found; `None` when it does not come in time.
    fn wait(&self, limit: Duration) -> Option<String> {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, _) = self
            .came
            .wait_timeout_while(text, limit, |text| text.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        text.clone()
    }

    fn put(&self, found: Option<String>) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = found;
        self.came.notify_all();
    }
}

/// A server that ends with this process.
pub(super) struct Server {
    /// `http://127.0.0.1:PORT`.
    pub(super) address: String,
    found: Arc<Found>,
}

impl Server {
    /// Serves the files of `folder`.
    pub(super) fn start(folder: &Path) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("listening on loopback")?;
        let address = format!("http://{}", listener.local_addr()?);
        let found = Arc::new(Found::default());
        let (folder, shared) = (folder.to_owned(), Arc::clone(&found));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (folder, found) = (folder.clone(), Arc::clone(&shared));
                // A browser that hangs up is no matter.
                thread::spawn(move || drop(answer(&stream, &folder, &found)));
            }
        });
        Ok(Self { address, found })
    }

    /// What a page has left, once it has.
    pub(super) fn wait(&self, limit: Duration) -> Option<String> {
        self.found.wait(limit)
    }

    /// Forgets what was found.
    pub(super) fn forget(&self) {
        self.found.put(None);
    }
}

fn answer(mut stream: &TcpStream, folder: &Path, found: &Found) -> Result<()> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let target = first.split(' ').nth(1).unwrap_or_default();
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let (status, kind, body) = match (first.starts_with("POST "), path) {
        (true, "/found") => {
            let mut text = String::new();
            reader.take(length.min(FOUND_BYTES_MAX)).read_to_string(&mut text)?;
            found.put(Some(text));
            ("204 No Content", "text/plain", Vec::new())
        }
        (false, "/hold") => {
            found.wait(super::browser::PATIENCE);
            ("404 Not Found", "text/plain", Vec::new())
        }
        (false, path) => match fs::read(folder.join(inside(path))) {
            Ok(bytes) => ("200 OK", kind(path), bytes),
            Err(_) => ("404 Not Found", "text/plain", Vec::new()),
        },
        _ => ("405 Method Not Allowed", "text/plain", Vec::new()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    Ok(stream.write_all(&body)?)
}

/// The plain parts of a path: no way out of the folder.
fn inside(path: &str) -> PathBuf {
    Path::new(path).components().filter(|part| matches!(part, Component::Normal(_))).collect()
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css",
        Some("js") => "text/javascript",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn ask(server: &Server, request: &str) -> String {
        let address = server.address.strip_prefix("http://").expect("an address");
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        text
    }

    #[test]
    fn files_are_given_and_what_was_found_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a.html"), "<p>a").expect("a file");
        let server = Server::start(&folder.path().join(".")).expect("loopback");
        assert!(
            ask(&server, "GET /a.html?q=1 HTTP/1.1\r\n\r\n")
                .ends_with("charset=utf-8\r\nContent-Length: 4\r\nConnection: close\r\n\r\n<p>a")
        );
        assert!(ask(&server, "GET /../a.txt HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert_eq!(server.wait(Duration::ZERO), None);
        ask(&server, "POST /found HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}");
        assert_eq!(server.wait(Duration::ZERO).as_deref(), Some("{}"));
        assert!(ask(&server, "GET /hold HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        server.forget();
        assert_eq!(server.wait(Duration::ZERO), None);
    }
}
