//! Pages that somebody makes anew all the time, such as metrics: a request reads the last one and waits for nothing.

use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Method, Request, Response};

use crate::ServeError;
use crate::admit::Admission;
use crate::routes::PageReply;
use crate::wire::{Answering, HttpServer, ReplyStream, made, refused};

/// Where such pages are had.
pub trait LatestPages: Send + Sync + 'static {
    /// Media type and text of the page at `path`; `None` where there is none.
    fn page(&self, path: &str) -> Option<(&'static str, String)>;
}

/// A server of such pages that answers until it is dropped.
pub struct LatestServer(HttpServer);

impl LatestServer {
    /// Opens the address, and answers from now on. On a loopback address the Host header must name it, because pages of
    /// other origins could ask through a name that they resolve to it; elsewhere nobody is asked who he is.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn start(listen: SocketAddr, pages: Arc<dyn LatestPages>) -> Result<Self, ServeError> {
        let any_host = !listen.ip().is_loopback();
        let latest = |address: SocketAddr| Latest {
            access: Admission { hosts: Vec::new(), any_host, token: None, port: address.port() },
            pages,
        };
        HttpServer::start(listen, latest).map(Self)
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

struct Latest {
    access: Admission,
    pages: Arc<dyn LatestPages>,
}

impl Answering for Latest {
    async fn answer(self: Arc<Self>, request: Request<Incoming>, local: SocketAddr) -> Response<ReplyStream> {
        let head_only = request.method() == Method::HEAD;
        match self.access.admit(request.method(), request.uri(), request.headers(), local) {
            Err(refusal) if refusal.status == 421 => {
                refused(PageReply::plain(421, "the Host header names another host\n"), head_only)
            }
            Err(refusal) => refused(PageReply::plain(refusal.status, refusal.why), head_only),
            Ok(()) => {
                let reply = match self.pages.page(request.uri().path()) {
                    Some((media_type, text)) => PageReply { media_type, ..PageReply::plain(200, text) },
                    None => PageReply::plain(404, "There is no such page.\n"),
                };
                made(reply, None, head_only)
            }
        }
    }
}
