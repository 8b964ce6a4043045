//! Connections, their limits, and bodies: what every server of this crate stands on.
//!
//! The rest of heatsoak is threads; here a thread of its own runs a runtime of one thread, because a browser keeps
//! connections open for hours. Beside it only `http`, `latest` and `admit` know hyper's types.

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
use hyper::{Request, Response, StatusCode};
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::ServeError;
use crate::routes::{PageReply, ReplyBody};

/// Connections at once; a browser opens six.
const CONNECTIONS_MAX: usize = 96;
/// Threads that read files.
const THREADS_MAX: usize = 8;
/// A request is a line and some headers.
const HEAD_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Nobody holds a connection longer, whatever is sent or read how slowly; a live page connects again by itself.
const CONNECTION_TIME: Duration = Duration::from_secs(600);

/// What answers requests.
pub(crate) trait Answering: Send + Sync + 'static {
    /// Done once, on a thread beside, before somebody asks.
    fn warm(&self) {}

    /// The reply to one request.
    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        local: SocketAddr,
    ) -> impl Future<Output = Response<ReplyStream>> + Send;
}

/// A server that answers until it is dropped.
pub(crate) struct HttpServer {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HttpServer {
    /// Opens the address, and answers from now on by what is made for it.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn start<A: Answering>(
        listen: SocketAddr,
        make: impl FnOnce(SocketAddr) -> A,
    ) -> Result<Self, ServeError> {
        let refused = |source| ServeError::Listen { address: listen, source };
        let listener = TcpListener::bind(listen).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let answering = Arc::new(make(address));
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(THREADS_MAX)
            .build()
            .map_err(ServeError::Start)?;
        let serving = move || {
            runtime.block_on(async {
                tokio::spawn(accept(listener, answering));
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
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        self.thread.take().map(JoinHandle::join);
    }
}

async fn accept<A: Answering>(listener: TcpListener, answering: Arc<A>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let warm = Arc::clone(&answering);
    tokio::task::spawn_blocking(move || warm.warm());
    let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        // Who comes when all are taken waits in the system's queue.
        let Ok(room) = Arc::clone(&connections).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, or a connection that went away: not as fast as the system can say so.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let answering = Arc::clone(&answering);
        tokio::spawn(async move {
            let _room = room;
            let _ = tokio::time::timeout(CONNECTION_TIME, connection(stream, answering)).await;
        });
    }
}

async fn connection<A: Answering>(stream: TcpStream, answering: Arc<A>) -> Result<(), hyper::Error> {
    let Ok(local) = stream.local_addr() else { return Ok(()) };
    let service = service_fn(move |request| {
        let answering = Arc::clone(&answering);
        async move { Ok::<_, Infallible>(answering.answer(request, local).await) }
    });
    http1::Builder::new()
        .timer(RuntimeTimer)
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(HyperStream(stream), service)
        .await
}

/// A refusal: what is left of such a request is not read, the connection ends with it.
pub(crate) fn refused(reply: PageReply, head_only: bool) -> Response<ReplyStream> {
    let mut refused = made(reply, None, head_only);
    refused.headers_mut().insert(hyper::header::CONNECTION, HeaderValue::from_static("close"));
    refused
}

/// A reply with its headers; events where they come one by one.
pub(crate) fn made(
    reply: PageReply,
    events: Option<mpsc::Receiver<Bytes>>,
    head_only: bool,
) -> Response<ReplyStream> {
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
pub(crate) enum ReplyStream {
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
