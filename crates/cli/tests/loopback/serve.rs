//! `heatsoak serve` over real sockets: what a browser is given, and what it is refused.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Scratch, schema};

/// A stranger's page.
const EVIL: &str = concat!("http:", "//evil.example");

/// The server as a process.
struct Served {
    child: Child,
    port: u16,
}

impl Served {
    fn start(scratch: &Scratch, dir: &str, more: &[&str]) -> Self {
        let mut command = scratch.command(&["serve", dir, "--listen", "127.0.0.1:0", "--json"]);
        let mut child =
            command.args(more).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let told: Value = serde_json::from_str(&line).expect("JSON");
        schema::must_fit("serve", &told);
        Self { child, port: told["port"].as_u64().expect("a port") as u16 }
    }

    /// Sends bytes and reads what comes until the server closes, or has said enough.
    fn raw(&self, request: &[u8], most: usize) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        // A server that closes early takes the rest of nothing.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        while answer.len() < most {
            match stream.read(&mut piece) {
                Ok(read @ 1..) => answer.extend_from_slice(&piece[..read]),
                _ => break,
            }
        }
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get_with(&self, path: &str, headers: &str) -> (u16, String) {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{headers}Connection: close\r\n\r\n",
            self.port
        );
        let answer = self.raw(request.as_bytes(), usize::MAX);
        (status(&answer), answer)
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.get_with(path, "")
    }

    fn runs(&self) -> Value {
        let (status, answer) = self.get("/runs.json");
        assert_eq!(status, 200);
        let document = serde_json::from_str(answer.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
        schema::must_fit("serve-runs", &document);
        document
    }

    fn id(&self, folder: &str) -> String {
        let runs = self.runs();
        let run = runs["runs"].as_array().expect("a list").iter().find(|run| run["folder"] == folder);
        run.unwrap_or_else(|| panic!("no {folder} in {runs}"))["id"].as_str().expect("an id").to_owned()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The status of an answer; 0 where the server closed without one.
fn status(answer: &str) -> u16 {
    answer.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// A library with two runs.
fn library() -> Scratch {
    let scratch = Scratch::new();
    for (name, tmt1) in [("runs/a", "60C"), ("runs/b", "70C")] {
        let done = scratch.run(&["run", "hctm-read", "--tmt1", tmt1, "--tmt2", "80C", "--out", name, "-q"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }
    scratch
}

#[test]
fn a_browser_is_given_library_reports_comparison_and_live_pages() {
    let scratch = library();
    fs::remove_file(scratch.path("runs/b/report.html")).expect("it is there");
    let served = Served::start(&scratch, "runs", &[]);
    let (a, b) = (served.id("a"), served.id("b"));
    let (code, page) = served.get("/?q=ssd1");
    assert!(
        code == 200 && page.contains("SIMULATED (all runs)") && page.contains(&format!("/run/{a}/report")),
        "{page}"
    );
    let stored = fs::read_to_string(scratch.path("runs/a/report.html")).expect("a report");
    let (code, page) = served.get(&format!("/run/{a}/report"));
    assert!(
        code == 200 && page.ends_with(&stored) && page.contains("sandbox allow-scripts"),
        "as it lies there"
    );
    let (code, page) = served.get(&format!("/run/{b}/report"));
    assert!(code == 200 && page.contains("SIMULATED (profile ssd1"), "made of the record");
    assert!(!page.contains("/proc/self"), "named as in the library");
    let (code, page) = served.get(&format!("/compare?run={a}&run={b}"));
    assert!(code == 200 && page.contains("2 runs compared"), "{code}");
    assert!(!page.contains("/proc/self"));
    assert_eq!(served.get(&format!("/compare?run={a}")).0, 400);
    assert_eq!(served.get(&format!("/compare?run={a}&run=0123")).0, 404);
    let (code, page) = served.get(&format!("/run/{a}/live"));
    assert!(code == 200 && page.contains("data-events"), "{code}");
    for asset in ["report.css", "serve.css", "uplot.js", "charts.js", "library.js", "live.js"] {
        assert_eq!(served.get(&format!("/assets/{asset}")).0, 200, "{asset}");
    }
    // Nothing was written.
    assert!(!scratch.path("runs/index.html").exists() && !scratch.path("runs/b/report.html").exists());
}

#[test]
fn a_live_page_is_sent_what_is_new() {
    let scratch = library();
    let manifest = scratch.path("runs/a/manifest.json");
    let mut open: Value =
        serde_json::from_str(&fs::read_to_string(&manifest).expect("a manifest")).expect("JSON");
    open["end"] = Value::Null;
    fs::write(&manifest, open.to_string()).expect("room");
    let live = |speed: f64| {
        let drive = json!({"address": "/dev/nvme0n1", "model": "<i>Lab</i>", "simulated": true, "read_bytes_per_s": speed,
            "recent": [{"t_s": 1.0, "read_bytes_per_s": speed}]});
        let document = json!({"schema": 1, "drives": [drive]});
        schema::must_fit("watch", &json!({"schema": 1, "drives": []}));
        fs::write(scratch.path("runs/a/live.new"), document.to_string()).expect("room");
        fs::rename(scratch.path("runs/a/live.new"), scratch.path("runs/a/live.json")).expect("ours");
    };
    live(1e9);
    let served = Served::start(&scratch, "runs", &[]);
    let id = served.id("a");
    let (_, page) = served.get(&format!("/run/{id}/live"));
    assert!(
        page.contains("&lt;i&gt;Lab") && page.contains("1.00 GB/s") && page.contains("SIMULATED"),
        "{page}"
    );
    let mut stream = TcpStream::connect(("127.0.0.1", served.port)).expect("it listens");
    write!(stream, "GET /run/{id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut lines = BufReader::new(stream).lines().map(|line| line.expect("it goes on"));
    let mut next = |wanted: &str| lines.find(|line| line.contains(wanted)).expect("an event");
    assert!(next("content-type").contains("text/event-stream"));
    assert!(next("data: ").contains("1.00 GB/s"));
    live(2e9);
    assert!(next("2.00 GB/s").contains("\"charts\""));
}

/// Twenty and more requests that no browser of a user sends: none is answered with a page, and the server goes on.
#[test]
fn hostile_requests_are_refused() {
    let scratch = library();
    fs::write(scratch.path("secret.txt"), "the secret").expect("room");
    let served = Served::start(&scratch, "runs", &[]);
    let id = served.id("a");
    let host = "Host: localhost\r\n";
    let long = "x".repeat(40_000);
    let many: String = (0..200).map(|number| format!("X-{number}: y\r\n")).collect();
    let requests = [
        format!("GET /../secret.txt HTTP/1.1\r\n{host}"),
        format!("GET /..%2f..%2fsecret.txt HTTP/1.1\r\n{host}"),
        format!("GET /run/../../secret.txt HTTP/1.1\r\n{host}"),
        format!("GET /run/%2e%2e%2fa/report HTTP/1.1\r\n{host}"),
        format!("GET /run/{id}/../../../secret.txt HTTP/1.1\r\n{host}"),
        format!("GET /run/{id}/manifest.json HTTP/1.1\r\n{host}"),
        format!("GET /run/a/report HTTP/1.1\r\n{host}"),
        format!("GET /assets/..%2fsecret.txt HTTP/1.1\r\n{host}"),
        format!("GET //etc/passwd HTTP/1.1\r\n{host}"),
        "GET /etc/passwd HTTP/1.1\r\nHost: evil.example\r\n".to_owned(),
        "GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n".to_owned(),
        format!("GET {EVIL}/ HTTP/1.1\r\nHost: localhost\r\n"),
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n".to_owned(),
        "GET / HTTP/1.1\r\n".to_owned(),
        "GET / HTTP/1.0\r\n".to_owned(),
        format!("POST / HTTP/1.1\r\n{host}Content-Length: 0\r\n"),
        format!("DELETE /run/{id}/report HTTP/1.1\r\n{host}"),
        format!("PUT /run/{id}/report HTTP/1.1\r\n{host}Content-Length: 1\r\n\r\nx"),
        format!("OPTIONS / HTTP/1.1\r\n{host}Origin: {EVIL}\r\n"),
        format!("GET / HTTP/1.1\r\n{host}Origin: {EVIL}\r\n"),
        format!(
            "GET /compare?run={id} HTTP/1.1\r\n{host}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"
        ),
        format!("GET / HTTP/1.1\r\n{host}Content-Length: 9\r\nTransfer-Encoding: chunked\r\n"),
        format!("GET / HTTP/1.1\r\n{host}Upgrade: websocket\r\nConnection: Upgrade\r\n"),
        format!("CONNECT localhost:1 HTTP/1.1\r\n{host}"),
        format!("TRACE / HTTP/1.1\r\n{host}"),
        format!("GET /?q={long} HTTP/1.1\r\n{host}"),
        format!("GET / HTTP/1.1\r\n{host}X: {long}\r\n"),
        format!("GET / HTTP/1.1\r\n{host}{many}"),
        format!("GET / HTTP/1.1\r\n{host}X: a\0b\r\n"),
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n".to_owned(),
    ];
    for request in &requests {
        let answer = served.raw(format!("{request}Connection: close\r\n\r\n").as_bytes(), 1 << 20);
        let code = status(&answer);
        assert!(code == 0 || (400..500).contains(&code), "{code} for {:.200}", request);
        assert!(!answer.contains("the secret") && !answer.contains("root:"), "{request:.200}");
    }
    println!("{} hostile requests refused", requests.len());
    assert_eq!(served.get("/").0, 200, "it goes on");
    // Nor does one that never ends its request hold up the others.
    let mut slow = TcpStream::connect(("127.0.0.1", served.port)).expect("it listens");
    slow.write_all(b"GET / HT").expect("sent");
    assert_eq!(served.get("/").0, 200);
}

#[test]
fn hostile_run_folders_show_nothing_of_others_and_hold_up_nobody() {
    let scratch = library();
    let runs = scratch.path("runs");
    fs::create_dir_all(scratch.path("outside")).expect("room");
    fs::copy(runs.join("a/manifest.json"), scratch.path("outside/manifest.json")).expect("room");
    symlink(scratch.path("outside"), runs.join("link")).expect("a link");
    for name in ["fifo", "linked", "huge", "deep", "noise", "<script>alert(1)<"] {
        fs::create_dir(runs.join(name)).expect("room");
        fs::copy(runs.join("a/manifest.json"), runs.join(name).join("manifest.json")).expect("room");
    }
    let fifo =
        Command::new("mkfifo").arg(runs.join("fifo/io.parquet")).arg(runs.join("fifo/live.json")).status();
    assert!(fifo.expect("mkfifo is there").success());
    symlink("/etc/passwd", runs.join("linked/report.html")).expect("a link");
    symlink("/dev/zero", runs.join("linked/io.parquet")).expect("a link");
    fs::File::create(runs.join("huge/manifest.json")).expect("room").set_len(1 << 40).expect("sparse");
    fs::write(runs.join("deep/manifest.json"), "[".repeat(1 << 20)).expect("room");
    fs::write(runs.join("noise/io.parquet"), [0xff; 4096]).expect("room");
    fs::write(runs.join("noise/report.html"), "<script>parent.x</script>").expect("room");
    let served = Served::start(&scratch, "runs", &[]);
    let listed = served.runs();
    let names: Vec<&str> =
        listed["runs"].as_array().expect("a list").iter().filter_map(|run| run["folder"].as_str()).collect();
    assert!(!names.contains(&"link") && names.len() == 8, "{names:?}");
    let (_, page) = served.get("/");
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert"), "{page}");
    for name in ["fifo", "linked", "huge", "deep", "<script>alert(1)<"] {
        for kind in ["report", "live"] {
            let (code, page) = served.get(&format!("/run/{}/{kind}", served.id(name)));
            assert!(matches!(code, 200 | 500), "{name}: {code}");
            assert!(!page.contains("root:") && !page.contains("<script>alert"), "{name}: {page}");
        }
    }
    let (code, page) = served.get(&format!("/run/{}/report", served.id("noise")));
    assert!(
        code == 200 && page.contains("sandbox allow-scripts;") && page.contains("frame-ancestors 'none'"),
        "{page}"
    );
}

#[test]
fn a_token_is_asked_for_and_other_machines_need_one() {
    let scratch = library();
    let served = Served::start(&scratch, "runs", &["--token-file", "token"]);
    let token = fs::read_to_string(scratch.path("token")).expect("made").trim().to_owned();
    assert_eq!(fs::metadata(scratch.path("token")).expect("a file").permissions().mode() & 0o777, 0o600);
    let (code, page) = served.get("/");
    assert!(code == 401 && page.contains("name=\"token\"") && !page.contains(&token));
    assert_eq!(served.get("/runs.json").0, 401);
    assert_eq!(served.get("/login?token=wrong").0, 401);
    let (code, answer) = served.get(&format!("/login?token={token}"));
    assert_eq!(code, 303);
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    let pair = cookie.split(';').next().expect("a pair");
    assert_eq!(served.get_with("/runs.json", &format!("Cookie: {pair}\r\n")).0, 200);
    assert_eq!(served.get_with("/", &format!("Authorization: Bearer {token}\r\n")).0, 200);
    let open = scratch.run(&["serve", "runs", "--listen", concat!("0.", "0.0.0:0")]);
    assert!(open.code == Some(2) && open.stderr.contains("--token-file"), "{}", open.stderr);
    let missing = scratch.run(&["serve", "no-such-folder"]);
    assert!(missing.code == Some(2) && missing.stderr.contains("no-such-folder"), "{}", missing.stderr);
}
