//! Meters against small servers and trees made from their documentation, honest and faulty.
//!
//! Bodies of Shelly (Gen1 `/meter/0`, Gen2 `Switch.GetStatus`) and Tasmota (`Status 8`) are those of their API documents;
//! trees of hwmon are those of `drivers/hwmon/ina2xx.c`, `ina3221.c` and `powerz.c`. What is faulty must be a gap with a
//! reason that names the remedy, never a wrong number.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use measure::{Instant, Watts};
use plan::MeterAddress;

use super::*;

/// Shelly 1PM, `/meter/0`.
const SHELLY_1: &str =
    r#"{"power":8.25,"overpower":0.00,"is_valid":true,"timestamp":1700000000,"counters":[8.1],"total":4815}"#;
/// Shelly Plus Plug S, `Switch.GetStatus`.
const SHELLY_2: &str = r#"{"id":0,"source":"init","output":true,"apower":8.2,"voltage":231.4,"current":0.062,
    "aenergy":{"total":12.5,"by_minute":[137.1,0,0],"minute_ts":1700000000},"temperature":{"tC":36.1,"tF":97.0}}"#;
/// Tasmota, `cmnd=Status 8`: whole watts.
const TASMOTA: &str =
    r#"{"StatusSNS":{"Time":"2024-01-01T12:00:00","ENERGY":{"Total":1.2,"Power":8,"ApparentPower":14}}}"#;

fn address(typed: &str) -> MeterAddress {
    typed.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// One reading of the meter at `typed`.
fn sample(typed: &str) -> Result<f64, String> {
    let address = address(typed);
    let mut sampler = MeterSampler::new("power".into(), &address, reader(&address).expect("it is read"));
    let row = sampler.sample(Instant::ZERO).row;
    row.gap.map_or_else(|| Ok(row.power.expect("a reading").as_f64()), Err)
}

/// Serves each connection with `serve`; the port it listens on.
fn server(serve: impl Fn(TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    thread::spawn(move || listener.incoming().for_each(|stream| serve(stream.expect("a connection"))));
    port
}

/// Serves `answer` to one HTTP request a connection, after having read it; the request must hold `asked`.
fn http(asked: &'static str, answer: String) -> u16 {
    server(move |mut stream| {
        let mut request = Vec::new();
        let mut part = [0; 1024];
        while !request.ends_with(b"\r\n\r\n") {
            match stream.read(&mut part) {
                Ok(len @ 1..) => request.extend_from_slice(&part[..len]),
                _ => return,
            }
        }
        assert!(String::from_utf8_lossy(&request).contains(asked), "{:?}", String::from_utf8_lossy(&request));
        let _ = stream.write_all(answer.as_bytes());
    })
}

fn ok(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn plugs_are_read_by_http() {
    let cases = [
        ("GET /meter/0 HTTP/1.1\r\n", SHELLY_1, "/meter/0#/power", 8.25),
        ("GET /rpc/Switch.GetStatus?id=0 ", SHELLY_2, "/rpc/Switch.GetStatus?id=0#/apower", 8.2),
        ("GET /cm?cmnd=Status%208 ", TASMOTA, "/cm?cmnd=Status%208#/StatusSNS/ENERGY/Power", 8.0),
        ("GET /s ", r#"{"state":"8.3 W"}"#, "/s#/state", 8.3),
        ("GET /kw ", r#"{"p":0.00825}"#, "/kw#/p?unit=kW", 8.25),
    ];
    for (asked, body, target, watts) in cases {
        let port = http(asked, ok(body));
        assert_eq!(sample(&format!("http://127.0.0.1:{port}{target}")), Ok(watts), "{target}");
    }
    let chunked =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{\"power\"\r\n6\r\n: 8.2}\r\n0\r\n\r\n";
    let port = http("GET", chunked.to_owned());
    assert_eq!(sample(&format!("http://127.0.0.1:{port}/#/power")), Ok(8.2));
}

#[test]
fn faulty_answers_by_http_are_gaps_that_say_what_to_do() {
    let redirect =
        "HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n".to_owned();
    let refused = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".to_owned();
    let cases = [
        (redirect, "redirects to http://elsewhere/, which is not followed"),
        (refused, "header-file=FILE"),
        ("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n".to_owned(), "status 500"),
        (ok(r#"{"power":null}"#), "null at /power"),
        (ok(r#"{"power":"NaN"}"#), "no power"),
        (ok(r#"{"power":-1}"#), "below zero"),
        (ok(r#"{"power":8250}"#), "unit=mW"),
        (ok(r#"{"apower":8}"#), "nothing at /power"),
        (ok("{"), "no JSON"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"power\":8".to_owned(), "cut off"),
        ("220 mail.\r\n\r\n".to_owned(), "no HTTP"),
        (String::new(), "no HTTP"),
    ];
    for (answer, part) in cases {
        let port = http("GET", answer.clone());
        let why = sample(&format!("http://127.0.0.1:{port}/#/power")).expect_err(part);
        assert!(why.contains(part), "expected {part:?} in {why:?} for {answer:?}");
    }
}

/// Goal: an answer without end costs the limit of size, one that never comes the limit of time, and no more.
#[test]
fn an_answer_without_end_has_limits_of_size_and_time() {
    let endless = server(|mut stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b' '; 4096]).is_ok() {}
    });
    let why = sample(&format!("http://127.0.0.1:{endless}/#/power")).expect_err("no end");
    assert!(why.contains("longer than 65536 B"), "{why}");
    // The stream is kept open until the reader goes.
    let silent = server(|mut stream| drop(stream.read_to_end(&mut Vec::new())));
    let why = sample(&format!("http://127.0.0.1:{silent}/#/power?period=500ms")).expect_err("no answer");
    assert!(why.contains("within 500 ms"), "{why}");
}

/// Goal: a token goes to the meter and into no message.
#[test]
fn a_secret_is_sent_and_not_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let (header, query) = (folder.path().join("header"), folder.path().join("query"));
    std::fs::write(&header, "Authorization: Bearer hunter2\n").expect("written");
    std::fs::write(&query, "password=hunter3\n").expect("written");
    let options = format!("header-file={}&query-file={}", header.display(), query.display());
    let port = http("GET /cm?cmnd=x&password=hunter3 HTTP/1.1\r\n", ok(r#"{"p":8}"#));
    assert_eq!(sample(&format!("http://127.0.0.1:{port}/cm?cmnd=x#/p?{options}")), Ok(8.0));
    let port =
        http("Authorization: Bearer hunter2\r\n", "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n".to_owned());
    let typed = format!("http://127.0.0.1:{port}/cm#/p?{options}");
    let why = sample(&typed).expect_err("refused");
    assert!(!why.contains("hunter"), "{why}");
    assert!(facts(&[address(&typed)]).iter().all(|meter| !meter.address.contains("hunter")));
}

/// Answers each line of a connection by `answer`.
fn instrument(answer: impl Fn(&str) -> String + Send + 'static) -> u16 {
    server(move |mut stream| {
        let mut line = Vec::new();
        let mut byte = [0];
        while matches!(stream.read(&mut byte), Ok(1)) {
            if byte[0] != b'\n' {
                line.push(byte[0]);
                continue;
            }
            let reply = answer(&String::from_utf8_lossy(&line));
            line.clear();
            if stream.write_all(reply.as_bytes()).is_err() {
                return;
            }
        }
    })
}

#[test]
fn an_instrument_is_asked_by_scpi() {
    for (reply, watts) in [("8.250E+00\n", 8.25), ("+8.25\r\n", 8.25), ("8250 mW\n", 8.25), ("8.25W\n", 8.25)]
    {
        let port = instrument(move |question| {
            assert_eq!(question, "MEAS:POW? CH1");
            reply.to_owned()
        });
        assert_eq!(sample(&format!("scpi://127.0.0.1:{port}?ask=MEAS:POW? CH1")), Ok(watts), "{reply}");
    }
    let port = instrument(|_| "230.1,0.036,8.25\n".to_owned());
    assert_eq!(sample(&format!("scpi://127.0.0.1:{port}?ask=:NUM:NORM:VAL?&item=3")), Ok(8.25));
    let mut meter = reader(&address(&format!("scpi://127.0.0.1:{port}?ask=X?"))).expect("it is read");
    assert_eq!(meter.about().as_deref(), Some("230.1,0.036,8.25"));
}

#[test]
fn faulty_instruments_are_gaps() {
    let cases: [(&'static str, &str); 5] = [
        ("9.9E37\n", "no power"),
        ("9.91E37\n", "no power"),
        ("nan\n", "no power"),
        ("-3\n", "below zero"),
        ("8.25", "no whole line within 500 ms"),
    ];
    for (reply, part) in cases {
        let port = instrument(move |_| reply.to_owned());
        let why = sample(&format!("scpi://127.0.0.1:{port}?ask=MEAS:POW?&period=500ms")).expect_err(part);
        assert!(why.contains(part), "expected {part:?} in {why:?}");
    }
    let why = sample("scpi:/no/such/usbtmc0?ask=MEAS:POW?").expect_err("no device");
    assert!(why.contains("/no/such/usbtmc0"), "{why}");
}

/// Goal: an answer that came too late is not taken for that of the next question. Method: the first line of each
/// connection is answered twice.
#[test]
fn a_late_answer_is_thrown_away() {
    let port = instrument(|_| "8\n99\n".to_owned());
    let address = address(&format!("scpi://127.0.0.1:{port}?ask=MEAS:POW?"));
    let mut sampler = MeterSampler::new("power".into(), &address, reader(&address).expect("it is read"));
    for _ in 0..3 {
        let row = sampler.sample(Instant::ZERO).row;
        // Both lines in one piece are one answer with a first number, whatever comes behind it.
        assert!(row.power == Some(Watts::new(8.0)) || row.gap.is_some(), "{row:?}");
    }
}

/// A tree below `sys/class/hwmon`, a file a pair.
fn tree(root: &Path, chip: &str, files: &[(&str, &str)]) {
    let folder = root.join("class/hwmon").join(chip);
    std::fs::create_dir_all(&folder).expect("made");
    for (name, text) in files {
        std::fs::write(folder.join(name), format!("{text}\n")).expect("written");
    }
}

fn hwmon(root: &Path, chip: &str, label: Option<&str>) -> Result<f64, String> {
    let mut meter = hwmon::HwmonMeter::named(root, chip, label);
    Ok(meter.read(Instant::ZERO)?.expect("a reading").watts(1.0))
}

#[test]
fn chips_of_the_kernel_are_read_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let ina226 =
        [("name", "ina226"), ("power1_input", "8250000"), ("in1_input", "3300"), ("shunt_resistor", "10000")];
    tree(root, "hwmon3", &ina226);
    let ina3221 = [
        ("name", "ina3221"),
        ("in1_input", "3300"),
        ("curr1_input", "1500"),
        ("in1_label", "VDD_3V3"),
        ("in2_input", "5000"),
        ("curr2_input", "200"),
        ("in2_label", "VDD_5V"),
        ("in3_input", "12000"),
        ("curr3_input", "0"),
        ("in7_input", "55"),
        ("in7_label", "sum of shunt voltages"),
        ("curr4_input", "1700"),
    ];
    tree(root, "hwmon4", &ina3221);
    let powerz = [
        ("name", "powerz"),
        ("in0_input", "99999"),
        ("in0_average", "5000"),
        ("in0_label", "VBUS"),
        ("in1_input", "1200"),
        ("in1_label", "VCC1"),
        ("curr1_input", "1"),
        ("curr1_average", "1650"),
        ("curr1_label", "IBUS"),
    ];
    tree(root, "hwmon5", &powerz);
    tree(root, "hwmon6", &[("name", "nvme"), ("temp1_input", "40000")]);
    assert_eq!(hwmon(root, "ina226", None), Ok(8.25));
    // Three rails, added up: 3.3 V x 1.5 A + 5 V x 0.2 A + 12 V x 0 A.
    assert_eq!(hwmon(root, "ina3221", None), Ok(5.95));
    assert_eq!(hwmon(root, "ina3221", Some("VDD_5V")), Ok(1.0));
    assert_eq!(hwmon(root, "powerz", None), Ok(8.25));
    let about = hwmon::HwmonMeter::named(root, "ina226", None).about().expect("a name");
    assert_eq!(about, "ina226, shunt of 10 mOhm as the kernel is told");
    for (chip, label, part) in [
        ("ina219", None, "there are: ina226, ina3221, nvme, powerz"),
        ("nvme", None, "neither a power file"),
        ("ina3221", Some("VDD_1V"), "no channel \"VDD_1V\""),
    ] {
        let why = hwmon(root, chip, label).expect_err(part);
        assert!(why.contains(part), "expected {part:?} in {why:?}");
    }
    tree(root, "hwmon7", &ina226);
    assert!(hwmon(root, "ina226", None).expect_err("two").contains("there are 2 hwmon chips"));
}

/// Goal: a chip that gets another number is found again, and what is no power is a gap. Method: its folder moves.
#[test]
fn a_chip_that_moves_is_found_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    tree(root, "hwmon3", &[("name", "ina219"), ("power1_input", "8250000")]);
    let mut meter = hwmon::HwmonMeter::named(root, "ina219", None);
    assert!(meter.read(Instant::ZERO).is_ok());
    std::fs::rename(root.join("class/hwmon/hwmon3"), root.join("class/hwmon/hwmon9")).expect("moved");
    assert!(meter.read(Instant::ZERO).expect_err("it is gone").contains("hwmon3"));
    assert!(meter.read(Instant::ZERO).is_ok());
    // INA219 and INA226 have no sign: a current that flows back reads as negative only by volts times amperes.
    let back = [("name", "back"), ("in1_input", "5000"), ("curr1_input", "-200")];
    tree(root, "hwmon1", &back);
    let path = root.join("class/hwmon/hwmon1");
    let why = sample(&format!("hwmon:{}", path.display())).expect_err("negative");
    assert!(why.contains("below zero"), "{why}");
}

/// Reads a pipe until it has given `count` readings or gaps. Time stands still until the program has ended, and is a
/// minute later then.
fn pipe(script: &str, count: usize) -> Vec<Result<f64, String>> {
    let address = address(&format!("pipe:sh -c \"{script}\""));
    let mut sampler = MeterSampler::new("power".into(), &address, reader(&address).expect("it is read"));
    let (mut news, mut now) = (Vec::new(), Instant::ZERO);
    while news.len() < count {
        let row = sampler.sample(now).row;
        match (row.gap, row.power) {
            (Some(why), _) => {
                if why.contains("has ended") {
                    now = now + Duration::from_secs(60);
                }
                news.push(Err(why));
            }
            (None, Some(power)) => news.push(Ok(power.as_f64())),
            (None, None) => thread::yield_now(),
        }
    }
    news
}

#[test]
fn a_program_that_keeps_running_prints_a_line_a_reading() {
    // Lines of a USB tester's logger: a heading, then time and watts.
    assert_eq!(pipe("echo '# time W'; echo 1700000000.5 8.25; exec sleep 600", 1), [Ok(8.25)]);
    assert_eq!(pipe("echo 8250 mW; exec sleep 600", 1), [Ok(8.25)]);
}

#[test]
fn a_program_that_fails_is_a_gap_and_is_started_again() {
    for (script, part) in
        [("echo nan; exec sleep 600", "not watts"), ("exit 3", "has ended; it is started again")]
    {
        let why = pipe(script, 1).remove(0).expect_err(part);
        assert!(why.contains(part), "expected {part:?} in {why:?}");
    }
    let news = pipe("echo 4", 4);
    assert!(matches!(&news[..], [Ok(4.0), Err(_), Ok(4.0), Err(_)]), "{news:?}");
}

#[test]
fn meters_keep_their_names_apart() {
    let meters =
        [address("drive:"), address("hwmon:/x?period=10ms&at=drive"), address("csv:/y"), address("exec:z")];
    let sources: Vec<String> = samplers(&meters).map(|sampler| sampler.source().to_owned()).collect();
    assert_eq!(sources, ["power2", "power4"]);
    let facts = facts(&meters);
    let known: Vec<(&str, &str)> =
        facts.iter().map(|meter| (meter.source.as_str(), meter.address.as_str())).collect();
    let expected = [
        ("smart", "drive:"),
        ("power2", "hwmon:/x?period=10ms&at=drive"),
        ("power3", "csv:/y?t=t_s&p=power_w"),
        ("power4", "exec:z"),
    ];
    assert_eq!(known, expected);
    assert_eq!(facts[1].at.as_deref(), Some("drive"));
}
