//! Which requests are answered at all.
//!
//! A browser that a stranger's page has sent here carries that page's name in `Host` (DNS rebinding) or in `Origin` and
//! `Sec-Fetch-Site` (requests across sites); both are refused before anything is looked up. There are only GET and HEAD,
//! so nothing can be changed. RFC 9110 and 9112; the fetch metadata headers are W3C's.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use hyper::header::{
    AUTHORIZATION, CONTENT_LENGTH, COOKIE, EXPECT, HOST, HeaderMap, HeaderName, ORIGIN, TRANSFER_ENCODING,
    UPGRADE,
};
use hyper::{Method, Uri};
use measure::{input, patient};
use sha2::{Digest as _, Sha256};

use crate::query;

/// Longer addresses are none of ours.
const TARGET_MAX: usize = 4096;
/// A token has at least so many characters: 16 of 64 kinds are 96 bits.
const TOKEN_MIN: usize = 16;
/// A token file is a line.
const TOKEN_FILE_MAX: u64 = 4096;

/// Whom the server answers.
pub(crate) struct Admission {
    pub(crate) hosts: Vec<String>,
    /// Whether the Host header does not matter.
    pub(crate) any_host: bool,
    pub(crate) token: Option<AccessToken>,
    pub(crate) port: u16,
}

/// Why a request is not answered, with the status that says so.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RequestRefusal {
    pub(crate) status: u16,
    pub(crate) why: &'static str,
}

const fn refused(status: u16, why: &'static str) -> RequestRefusal {
    RequestRefusal { status, why }
}

impl Admission {
    /// Refuses what no browser of a user of this server sends.
    ///
    /// # Errors
    /// Why it is refused.
    pub(crate) fn admit(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        local: SocketAddr,
    ) -> Result<(), RequestRefusal> {
        if method != Method::GET && method != Method::HEAD {
            return Err(refused(405, "This server is read-only: it answers GET and HEAD."));
        }
        let target = uri.path_and_query().map_or(0, |target| target.as_str().len());
        if target > TARGET_MAX {
            return Err(refused(414, "The address is too long."));
        }
        if !uri.path().starts_with('/') {
            return Err(refused(400, "The address is no path."));
        }
        self.check_host(uri, headers, local)?;
        let has_body = headers.get(CONTENT_LENGTH).is_some_and(|length| length.as_bytes() != b"0");
        if has_body || headers.contains_key(TRANSFER_ENCODING) || headers.contains_key(EXPECT) {
            return Err(refused(413, "A request has no body here."));
        }
        if headers.contains_key(UPGRADE) {
            return Err(refused(400, "Nothing but HTTP is spoken here."));
        }
        self.check_site(headers, local)?;
        match self.token {
            Some(ref token) if uri.path() != "/login" && !self.knows(token, headers) => {
                Err(refused(401, "The token is needed; it is in the file that --token-file names."))
            }
            _ => Ok(()),
        }
    }

    fn check_host(&self, uri: &Uri, headers: &HeaderMap, local: SocketAddr) -> Result<(), RequestRefusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(refused(400, "A request names its host once."));
        };
        let is_ours = |host: &[u8]| std::str::from_utf8(host).is_ok_and(|host| self.is_our_name(host, local));
        let named = uri.authority().is_none_or(|authority| is_ours(authority.as_str().as_bytes()));
        if self.any_host || is_ours(host.as_bytes()) && named {
            return Ok(());
        }
        Err(refused(421, "This server does not go by that name; --host NAME allows one."))
    }

    /// Whether browsers may ask by this name. Ports do not matter: `ssh -L` changes them, and a stranger's page is known
    /// by its name.
    fn is_our_name(&self, host: &str, local: SocketAddr) -> bool {
        let Some(name) = without_port(host) else { return false };
        if let Ok(address) = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            // An address cannot be rebound: it is that of this very connection, or loopback at the other end of a tunnel.
            return address.to_canonical() == local.ip().to_canonical() || address.is_loopback();
        }
        name.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
    }

    fn check_site(&self, headers: &HeaderMap, local: SocketAddr) -> Result<(), RequestRefusal> {
        let text = |name: &str| headers.get(HeaderName::from_bytes(name.as_bytes()).ok()?)?.to_str().ok();
        let is_navigation = text("sec-fetch-mode").is_none_or(|mode| mode == "navigate");
        let from_elsewhere = matches!(text("sec-fetch-site"), Some("cross-site" | "same-site"));
        // A link from another page may lead here; nothing else of it.
        if from_elsewhere && !(is_navigation && text("sec-fetch-dest").is_none_or(|dest| dest == "document"))
        {
            return Err(refused(403, "Other sites' pages may not ask here."));
        }
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        let host = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|parts| parts.1);
        if host.is_some_and(|host| self.is_our_name(host, local)) {
            return Ok(());
        }
        Err(refused(403, "Other sites' pages may not ask here."))
    }

    fn knows(&self, token: &AccessToken, headers: &HeaderMap) -> bool {
        let bearer =
            headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if bearer.is_some_and(|bearer| token.is(bearer)) {
            return true;
        }
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(key, value)| key == name && same(value.as_bytes(), token.cookie().as_bytes()))
    }

    /// Cookies know no ports: the name has to.
    fn cookie_name(&self) -> String {
        format!("heatsoak-{}", self.port)
    }

    /// The cookie for a browser that has typed the token; `None` where it is another one.
    pub(crate) fn login(&self, query: &str) -> Option<String> {
        let token = self.token.as_ref()?;
        let typed = query::value(query, "token")?;
        token.is(typed.trim()).then(|| {
            format!(
                "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000",
                self.cookie_name(),
                token.cookie()
            )
        })
    }
}

/// `localhost:8080`, `[::1]:8080`, `127.0.0.1`: what stands before the port.
fn without_port(host: &str) -> Option<&str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let end = rest.find(']')? + 2;
            (&host[..end], &host[end..])
        }
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    (is_port && !name.is_empty()).then_some(name)
}

/// What a request has to know. Only its hash is kept.
#[derive(Clone)]
pub struct AccessToken {
    hash: [u8; 32],
    cookie: String,
}

impl AccessToken {
    /// Reads the token in a file of one's own, or makes one there (192 random bits, mode 0600).
    ///
    /// # Errors
    /// Why there is none, as a sentence.
    pub fn in_file(path: &Path) -> Result<Self, String> {
        let about = |why: &str| format!("cannot use the token file {}: {why}", path.display());
        if !path.exists() {
            return make_token(path).map_err(|error| about(&error.to_string()));
        }
        let (text, mode) = read_with_mode(path).map_err(|error| about(&error.to_string()))?;
        if mode & 0o077 != 0 {
            return Err(about(&format!("others may use the file as well (mode {mode:04o}); chmod 600 it")));
        }
        Self::new(text.trim()).ok_or_else(|| {
            about(&format!(
                "a token has at least {TOKEN_MIN} letters, digits, - or _; remove the file to have one made"
            ))
        })
    }

    fn new(text: &str) -> Option<Self> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        (is_plain && text.len() >= TOKEN_MIN).then(|| Self {
            hash: Sha256::digest(text.as_bytes()).into(),
            cookie: hex(&Sha256::digest(format!("cookie {text}").as_bytes())),
        })
    }

    fn is(&self, text: &str) -> bool {
        let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        same(&hash, &self.hash)
    }

    fn cookie(&self) -> &str {
        &self.cookie
    }
}

fn make_token(path: &Path) -> std::io::Result<AccessToken> {
    use rustix::fs::{Mode, OFlags};
    let mut random = [0; 24];
    patient::random(&mut random)?;
    let text = hex(&random);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = patient::retried(|| rustix::fs::open(path, flags, Mode::from_raw_mode(0o600)))?;
    patient::write_all_at(&file.into(), format!("{text}\n").as_bytes(), 0)?;
    AccessToken::new(&text).ok_or_else(|| std::io::Error::other("it is no token"))
}

fn read_with_mode(path: &Path) -> std::io::Result<(String, u32)> {
    use std::io::Read as _;
    use std::os::unix::fs::PermissionsExt as _;
    let file = input::open(path)?;
    let mode = file.metadata()?.permissions().mode() & 0o7777;
    let mut text = String::new();
    patient::Patient::new(file).take(TOKEN_FILE_MAX).read_to_string(&mut text)?;
    Ok((text, mode))
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two texts are the same, in a time that does not depend on where they differ.
fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

#[cfg(test)]
mod test {
    use super::*;

    fn access(token: Option<&str>) -> Admission {
        let token = token.and_then(AccessToken::new);
        Admission { hosts: vec!["lab.example".to_owned()], any_host: false, token, port: 8080 }
    }

    /// What becomes of a request to loopback with these headers.
    fn status(access: &Admission, method: Method, target: &str, headers: &[(&str, &str)]) -> u16 {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).expect("a name"),
                value.parse().expect("a value"),
            );
        }
        let uri: Uri = target.parse().expect("a target");
        let local = SocketAddr::from(([127, 0, 0, 1], 8080));
        access.admit(&method, &uri, &map, local).map_or_else(|refusal| refusal.status, |()| 200)
    }

    #[test]
    fn names_of_strangers_are_refused() {
        for (host, expected) in [
            ("127.0.0.1:8080", 200),
            ("localhost:9999", 200),
            ("LOCALHOST", 200),
            ("[::1]:8080", 200),
            ("lab.example", 200),
            ("evil.example:8080", 421),
            ("127.0.0.1.evil.example", 421),
            ("localhost.evil.example", 421),
            ("localhost:80@evil.example", 421),
            (concat!("203.0.", "113.1"), 421),
            ("", 421),
            ("[::1", 421),
            ("::1", 421),
        ] {
            assert_eq!(status(&access(None), Method::GET, "/", &[("host", host)]), expected, "{host}");
        }
        assert_eq!(status(&access(None), Method::GET, "/", &[]), 400);
        let twice = [("host", "localhost"), ("host", "localhost")];
        assert_eq!(status(&access(None), Method::GET, "/", &twice), 400);
        let absolute = concat!("http:", "//evil.example/");
        assert_eq!(status(&access(None), Method::GET, absolute, &[("host", "localhost")]), 421);
    }

    #[test]
    fn what_changes_something_or_comes_from_elsewhere_is_refused() {
        let host = ("host", "localhost");
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
            assert_eq!(status(&access(None), method, "/", &[host]), 405);
        }
        let cases: [(&[(&str, &str)], u16); 9] = [
            (&[("content-length", "0")], 200),
            (&[("content-length", "5")], 413),
            (&[("transfer-encoding", "chunked")], 413),
            (&[("upgrade", "websocket")], 400),
            (&[("origin", "http://localhost:8080")], 200),
            (&[("origin", concat!("https:", "//evil.example"))], 403),
            (&[("origin", "null")], 403),
            (
                &[
                    ("sec-fetch-site", "cross-site"),
                    ("sec-fetch-mode", "no-cors"),
                    ("sec-fetch-dest", "image"),
                ],
                403,
            ),
            (
                &[
                    ("sec-fetch-site", "cross-site"),
                    ("sec-fetch-mode", "navigate"),
                    ("sec-fetch-dest", "document"),
                ],
                200,
            ),
        ];
        for (headers, expected) in cases {
            let all: Vec<_> = [host].iter().chain(headers).copied().collect();
            assert_eq!(status(&access(None), Method::GET, "/", &all), expected, "{headers:?}");
        }
    }

    /// Goal: only names of this machine are answered to. Method: those, and names that look like them.
    #[test]
    fn hosts_are_known_whole() {
        let answers = |host: &str| status(&access(None), Method::GET, "/", &[("host", host)]);
        for host in ["127.0.0.1:8080", "LOCALHOST:8080", "[::1]:8080", "localhost"] {
            assert_eq!(answers(host), 200, "{host}");
        }
        for host in ["evil.example:8080", "127.0.0.1.evil.example", "localhost.evil:80", "localhost@evil", ""]
        {
            assert_ne!(answers(host), 200, "{host}");
        }
    }

    #[test]
    fn a_token_is_asked_for_where_there_is_one() {
        let secret = "0123456789abcdef-_";
        let access = access(Some(secret));
        let with = |name: &str, value: &str| {
            status(&access, Method::GET, "/", &[("host", "localhost"), (name, value)])
        };
        assert_eq!(with("x", "y"), 401);
        assert_eq!(with("authorization", &format!("Bearer {secret}")), 200);
        assert_eq!(with("authorization", "Bearer 0123456789abcdef-"), 401);
        let cookie = access.login(&format!("token={secret}")).expect("the token");
        assert!(cookie.contains("HttpOnly; SameSite=Strict") && !cookie.contains(secret), "{cookie}");
        let pair = cookie.split(';').next().expect("a pair");
        assert_eq!(with("cookie", pair), 200);
        assert_eq!(with("cookie", &format!("other=1; {pair}")), 200);
        assert_eq!(with("cookie", &pair.replace("8080", "8081")), 401, "another server's");
        assert_eq!(access.login("token=wrong"), None);
        assert_eq!(access.login(""), None);
        assert!(AccessToken::new("short").is_none() && AccessToken::new(&"ä".repeat(20)).is_none());
    }

    #[test]
    fn a_token_is_kept_in_a_file_of_ones_own() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("token");
        let made = AccessToken::in_file(&path).expect("made");
        let text = std::fs::read_to_string(&path).expect("a token");
        assert_eq!(
            (text.len(), std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777),
            (49, 0o600)
        );
        assert!(AccessToken::in_file(&path).expect("the same").is(text.trim()) && made.is(text.trim()));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("ours");
        let why = AccessToken::in_file(&path).err().expect("others can read it");
        assert!(why.contains("0644") && !why.contains(text.trim()), "{why}");
    }
}
