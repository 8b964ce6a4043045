//! The only file that knows hyper and tokio: connections, their limits, and bodies.
//!
//! The rest of heatsoak is threads; here a thread of its own runs a runtime of one thread, because a browser keeps
//! connections open for hours. Whatever reads a file is done on a few threads beside it.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{HeaderName, HeaderValue};
use hyper::rt::{Read, ReadBufCursor, Sleep, Timer, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::admit::Admission;
use crate::events::PERIOD;
use crate::library::RunLibrary;
use crate::routes::{PageReply, ReplyBody, Routes};
use crate::{RunPages, ServeError, ServeOptions};

/// Connections at once; a browser opens six.
const CONNECTIONS_MAX: usize = 96;
/// Live pages at once.
const STREAMS_MAX: usize = 32;
/// Pages that are being made at once, and threads that read files.
const HEAVY_MAX: usize = 2;
const THREADS_MAX: usize = 8;
/// A request is a line and some headers.
const HEAD_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Nobody holds a connection longer, whatever is sent or read how slowly; a live page connects again by itself.
const CONNECTION_TIME: Duration = Duration::from_secs(600);

/// A server that answers until it is stopped.
pub struct LibraryServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

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
        let refused = |source| ServeError::Listen { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let access = Admission { hosts: options.hosts, token: options.token, port: address.port() };
        let served = Arc::new(Served {
            routes: Routes::new(library),
            access,
            heavy: Semaphore::new(HEAVY_MAX),
            streams: Arc::new(Semaphore::new(STREAMS_MAX)),
        });
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(THREADS_MAX)
            .build()
            .map_err(ServeError::Start)?;
        let serving = move || {
            runtime.block_on(async {
                tokio::spawn(accept(listener, served));
                // A sender that was dropped says the same.
                let _ = stopped.await;
            });
            // A page that is being made is not waited for.
            runtime.shutdown_background();
        };
        let thread =
            std::thread::Builder::new().name("http".to_owned()).spawn(serving).map_err(ServeError::Start)?;
        Ok(Self { address, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for LibraryServer {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        self.thread.take().map(JoinHandle::join);
    }
}

/// What all connections share.
struct Served {
    routes: Routes,
    access: Admission,
    heavy: Semaphore,
    streams: Arc<Semaphore>,
}

async fn accept(listener: TcpListener, served: Arc<Served>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let warm = Arc::clone(&served);
    // The first list reads every manifest: before somebody asks.
    tokio::task::spawn_blocking(move || warm.routes.library.list());
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        // Who comes when all are taken waits in the system's queue.
        let Ok(room) = Arc::clone(&connections).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, or a connection that went away: not as fast as the system can say so.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let served = Arc::clone(&served);
        tokio::spawn(async move {
            let _room = room;
            let _ = tokio::time::timeout(CONNECTION_TIME, connection(stream, served)).await;
        });
    }
}

async fn connection(stream: TcpStream, served: Arc<Served>) -> Result<(), hyper::Error> {
    let Ok(local) = stream.local_addr() else { return Ok(()) };
    let service = service_fn(move |request| {
        let served = Arc::clone(&served);
        async move { Ok::<_, Infallible>(response(&request, local, served).await) }
    });
    http1::Builder::new()
        .timer(RuntimeTimer)
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(HyperStream(stream), service)
        .await
}

async fn response(
    request: &Request<Incoming>,
    local: SocketAddr,
    served: Arc<Served>,
) -> Response<ReplyStream> {
    let head_only = request.method() == Method::HEAD;
    let uri = request.uri().clone();
    if let Err(refusal) = served.access.admit(request.method(), &uri, request.headers(), local) {
        // What is left of such a request is not read: the connection ends with it.
        let mut refused = made(PageReply::from(&refusal), None, head_only);
        refused.headers_mut().insert(hyper::header::CONNECTION, HeaderValue::from_static("close"));
        return refused;
    }
    if uri.path() == "/login" {
        return made(login(&served.access, uri.query().unwrap_or_default()), None, head_only);
    }
    let (path, query) = (uri.path().to_owned(), uri.query().unwrap_or_default().to_owned());
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

fn made(reply: PageReply, events: Option<mpsc::Receiver<Bytes>>, head_only: bool) -> Response<ReplyStream> {
    let body = match (&reply.body, events) {
        (_, Some(events)) => ReplyStream::Events(events),
        (ReplyBody::Whole(text), None) => ReplyStream::whole(text.as_bytes(), head_only),
        (ReplyBody::Events(_), None) => ReplyStream::whole(b"", head_only),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let fixed = [
        ("content-type", reply.media_type),
        ("content-security-policy", reply.policy),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ];
    let more = reply.headers.iter().map(|(name, value)| (*name, value.as_str()));
    for (name, value) in fixed.into_iter().chain(more) {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// A body, whole or as it comes.
enum ReplyStream {
    Whole(Option<Bytes>),
    Events(mpsc::Receiver<Bytes>),
}

impl ReplyStream {
    fn whole(bytes: &[u8], head_only: bool) -> Self {
        Self::Whole((!head_only && !bytes.is_empty()).then(|| Bytes::copy_from_slice(bytes)))
    }
}

impl Body for ReplyStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Events(events) => {
                events.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Events(_) => SizeHint::default(),
        }
    }
}

/// A connection of tokio as hyper takes it.
struct HyperStream(TcpStream);

/// Bytes that are read at once.
const CHUNK: usize = 4096;

impl Read for HyperStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        // By way of a buffer of our own: hyper's own cannot be borrowed without unsafe code. Requests are short.
        let mut chunk = [0; CHUNK];
        let mut buffer = ReadBuf::new(&mut chunk[..CHUNK.min(into.remaining())]);
        let read = Pin::new(&mut self.0).poll_read(context, &mut buffer);
        if let Poll::Ready(Ok(())) = &read {
            into.put_slice(buffer.filled());
        }
        read
    }
}

impl Write for HyperStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

/// Times of tokio as hyper takes them.
#[derive(Clone, Copy)]
struct RuntimeTimer;

struct RuntimeSleep(Pin<Box<tokio::time::Sleep>>);

impl Future for RuntimeSleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl Sleep for RuntimeSleep {}

impl Timer for RuntimeTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(RuntimeSleep(Box::pin(tokio::time::sleep(duration))))
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(RuntimeSleep(Box::pin(tokio::time::sleep_until(deadline.into()))))
    }
}
