//! The library over HTTP: which requests are answered, and by how many at once.

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response};
use tokio::sync::{Semaphore, mpsc};

use crate::admit::Admission;
use crate::events::PERIOD;
use crate::library::RunLibrary;
use crate::routes::{PageReply, ReplyBody, Routes};
use crate::wire::{Answering, HttpServer, ReplyStream, made, refused};
use crate::{RunPages, ServeError, ServeOptions};

/// Live pages at once.
const STREAMS_MAX: usize = 32;
/// Pages that are being made at once.
const HEAVY_MAX: usize = 2;

/// A server that answers until it is dropped.
pub struct LibraryServer(HttpServer);

impl LibraryServer {
    /// Opens the folder and the address, and answers from now on.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn start(options: ServeOptions, pages: Arc<dyn RunPages>) -> Result<Self, ServeError> {
        if !options.listen.ip().is_loopback() && options.token.is_none() {
            return Err(ServeError::NeedsToken { address: options.listen, port: options.listen.port() });
        }
        let library = RunLibrary::open(&options.dir, pages)
            .map_err(|source| ServeError::Folder { path: options.dir.clone(), source })?;
        let served = |address: SocketAddr| Served {
            routes: Routes::new(library),
            access: Admission {
                hosts: options.hosts,
                any_host: false,
                token: options.token,
                port: address.port(),
            },
            heavy: Semaphore::new(HEAVY_MAX),
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
        };
        HttpServer::start(options.listen, served).map(Self)
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

/// What all connections share.
struct Served {
    routes: Routes,
    access: Admission,
    heavy: Semaphore,
    streams: Arc<Semaphore>,
}

impl Answering for Served {
    /// The first list reads every manifest.
    fn warm(&self) {
        self.routes.library.list();
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>, local: SocketAddr) -> Response<ReplyStream> {
        let head_only = request.method() == Method::HEAD;
        let uri = request.uri().clone();
        if let Err(refusal) = self.access.admit(request.method(), &uri, request.headers(), local) {
            return refused(PageReply::from(&refusal), head_only);
        }
        if uri.path() == "/login" {
            return made(login(&self.access, uri.query().unwrap_or_default()), None, head_only);
        }
        let (path, query) = (uri.path().to_owned(), uri.query().unwrap_or_default().to_owned());
        page(self, path, query, head_only).await
    }
}

async fn page(served: Arc<Served>, path: String, query: String, head_only: bool) -> Response<ReplyStream> {
    let turn = if Routes::is_heavy(&path) { served.heavy.acquire().await.ok() } else { None };
    let answering = Arc::clone(&served);
    let answer = tokio::task::spawn_blocking(move || answering.routes.answer(&path, &query)).await;
    drop(turn);
    let reply =
        answer.unwrap_or_else(|_| PageReply::error(500, "This page cannot be made: a fault of heatsoak."));
    let events = match &reply.body {
        ReplyBody::Events(id) if !head_only => match Arc::clone(&served.streams).try_acquire_owned() {
            Ok(room) => {
                let (sender, receiver) = mpsc::channel(1);
                let id = id.clone();
                tokio::spawn(async move {
                    let _room = room;
                    send_events(&served, &id, &sender).await;
                });
                Some(receiver)
            }
            Err(_) => {
                let busy = PageReply::error(503, "Too many live pages are open; close one.");
                return made(busy, None, head_only);
            }
        },
        _ => None,
    };
    made(reply, events, head_only)
}

/// What came of a token that was typed: a cookie and the library, or the form again.
fn login(access: &Admission, query: &str) -> PageReply {
    match access.login(query) {
        Some(cookie) => {
            let mut reply = PageReply::error(303, "Welcome.");
            reply.headers.extend([("set-cookie", cookie), ("location", "/".to_owned())]);
            reply
        }
        None if access.token.is_none() => PageReply::error(404, "There is no such page."),
        None => PageReply::from(&crate::admit::RequestRefusal { status: 401, why: "This is not the token." }),
    }
}

/// An event a period, until the browser goes or the run is gone. Who reads slowly gets fewer, never older ones.
async fn send_events(served: &Arc<Served>, id: &str, sender: &mpsc::Sender<Bytes>) {
    let mut last: Arc<str> = Arc::from("");
    loop {
        let (served, asked) = (Arc::clone(served), id.to_owned());
        let made = tokio::task::spawn_blocking(move || {
            let event = served.routes.live.event(&served.routes.library, &asked);
            let is_there = event.is_some() || served.routes.library.run(&asked).is_some();
            (event, is_there)
        });
        let Ok((event, true)) = made.await else { return };
        let text = match event {
            Some(event) if event != last => {
                last = Arc::clone(&event);
                format!("retry: 2000\nevent: view\ndata: {event}\n\n")
            }
            // A comment, by which a browser that went away is noticed.
            _ => ":\n\n".to_owned(),
        };
        if sender.send(Bytes::from(text)).await.is_err() {
            return;
        }
        tokio::time::sleep(PERIOD).await;
    }
}
