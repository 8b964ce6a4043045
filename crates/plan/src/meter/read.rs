//! From text to the address of a meter.

use std::str::FromStr;
use std::time::Duration;

use measure::nearest::did_you_mean;
use measure::parse;

use super::{
    HttpMeter, MeasuredAt, MeterAddress, MeterClock, MeterError, MeterSource, MeterStated, ScpiPort,
};

const KINDS: [&str; 7] = ["hwmon", "scpi", "http", "pipe", "exec", "csv", "drive"];
const EXAMPLES: &str = "hwmon:ina226, scpi://127.0.0.1?ask=MEAS:POW?, http://plug/rpc/Switch.GetStatus?id=0#/apower, \
                        pipe:LOGGER, exec:COMMAND, csv:FILE, drive:";

/// AddressOptions that every meter has.
const COMMON: [&str; 7] = ["period", "unit", "at", "window", "lag", "step", "accuracy"];

/// Words in a query that give a secret away.
const SECRET_KEYS: [&str; 8] = ["password", "passwd", "pass", "token", "key", "apikey", "auth", "secret"];

impl FromStr for MeterAddress {
    type Err = MeterError;

    fn from_str(typed: &str) -> Result<Self, MeterError> {
        read(typed).map_err(|why| MeterError { address: without_secret(typed), why })
    }
}

/// What was typed, without what must not be shown: an error goes into logs.
fn without_secret(typed: &str) -> String {
    match (typed.split_once("://"), typed.contains('@')) {
        (Some((scheme, rest)), true) => {
            let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
            format!("{scheme}://...@{host}")
        }
        _ => SECRET_KEYS.iter().fold(typed.to_owned(), |text, key| {
            match text.to_lowercase().find(&format!("{key}=")) {
                Some(at) => {
                    let from = at + key.len() + 1;
                    let to = text[from..].find(['&', '#']).map_or(text.len(), |end| from + end);
                    format!("{}...{}", &text[..from], &text[to..])
                }
                None => text,
            }
        }),
    }
}

fn read(typed: &str) -> Result<MeterAddress, String> {
    let typed = typed.trim();
    let Some((kind, rest)) = typed.split_once(':') else {
        return Err(format!("it has no kind before a colon; write for example {EXAMPLES}"));
    };
    match kind {
        "hwmon" => hwmon(rest),
        "scpi" => scpi(rest),
        "http" => http(rest),
        "https" => {
            Err("https is not read; let a program ask: \"pipe:\" or \"exec:\" and for example curl".into())
        }
        "pipe" | "exec" => program(kind, rest),
        "csv" => csv(rest),
        "drive" => {
            let (place, options) = split_options(rest)?;
            match place {
                "" => options.finish(MeterSource::Drive, &[]),
                _ => {
                    Err("drive: has nothing behind it; it is the measurement of the drive under load".into())
                }
            }
        }
        _ => Err(format!(
            "{kind:?} is no kind of meter; {}kinds are {}; write for example {EXAMPLES}",
            did_you_mean(kind, KINDS),
            KINDS.join(", ")
        )),
    }
}

fn hwmon(rest: &str) -> Result<MeterAddress, String> {
    let (place, options) = split_options(rest)?;
    let place = decoded(place)?;
    if place.starts_with('/') {
        return options.finish(MeterSource::HwmonPath(place.into()), &[]);
    }
    let (chip, label) = match place.split_once('/') {
        Some((chip, label)) => (chip, Some(label.to_owned()).filter(|label| !label.is_empty())),
        None => (place.as_str(), None),
    };
    if chip.is_empty() {
        return Err("name the chip as in /sys/class/hwmon/*/name, such as hwmon:ina226".into());
    }
    let numbered = chip.strip_prefix("hwmon").filter(|rest| !rest.is_empty());
    if numbered.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        return Err(format!(
            "the number of {chip} changes between boots; name the chip: cat /sys/class/hwmon/{chip}/name"
        ));
    }
    options.finish(MeterSource::Hwmon { chip: chip.to_owned(), label }, &[])
}

fn scpi(rest: &str) -> Result<MeterAddress, String> {
    let (place, mut options) = split_options(rest)?;
    let port = match place.strip_prefix("//") {
        Some(host) => {
            let (host, port) = host_and_port(host.trim_end_matches('/'), 5025)?;
            ScpiPort::Network { host, port }
        }
        None if place.starts_with('/') => ScpiPort::Device(decoded(place)?.into()),
        None => return Err("write scpi://HOST?ask=MEAS:POW? or scpi:/dev/usbtmc0?ask=MEAS:POW?".into()),
    };
    let ask = options.take("ask").ok_or("it needs the question to ask, such as ?ask=MEAS:POW?")?;
    if ask.is_empty() || ask.chars().any(char::is_control) {
        return Err("`ask` is one line of text, such as MEAS:POW?".into());
    }
    let item =
        match options.take("item") {
            Some(item) => item.parse().ok().filter(|item| (1..=1000).contains(item)).ok_or_else(|| {
                format!("`item` is {item:?}, not which number of the answer (1 is the first)")
            })?,
            None => 1,
        };
    options.finish(MeterSource::Scpi { port, ask, item }, &["ask", "item"])
}

fn http(rest: &str) -> Result<MeterAddress, String> {
    let rest = rest.strip_prefix("//").ok_or("write http://HOST/PATH#/json/pointer")?;
    let (url, fragment) = rest.split_once('#').ok_or(
        "it needs a JSON pointer to the number behind a #, such as http://plug/rpc/Switch.GetStatus?id=0#/apower",
    )?;
    let (authority, target) = match url.find('/') {
        Some(slash) => url.split_at(slash),
        None => (url, "/"),
    };
    if authority.contains('@') {
        return Err("a password in an address would stand in the record; put the line \"Authorization: Basic ...\" into a \
                    file and add ?header-file=FILE behind the pointer"
            .into());
    }
    if target.chars().any(|c| c.is_control() || c == ' ') {
        return Err("its path has a space or a control character; write %20 for a space".into());
    }
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let name = |pair: &str| pair.split('=').next().unwrap_or_default().to_lowercase();
    if let Some(key) = query.split('&').map(name).find(|key| SECRET_KEYS.contains(&key.as_str())) {
        return Err(format!(
            "`{key}` in an address would stand in the record; put {key}=... into a file and add ?query-file=FILE behind the pointer"
        ));
    }
    let (pointer, mut options) = split_options(fragment)?;
    let pointer = decoded(pointer)?;
    if !pointer.starts_with('/') {
        return Err(format!("its JSON pointer {pointer:?} does not begin with /, as in #/apower"));
    }
    let (host, port) = host_and_port(authority, 80)?;
    let header_file = options.take("header-file").map(Into::into);
    let query_file = options.take("query-file").map(Into::into);
    let meter = HttpMeter { host, port, target: target.to_owned(), pointer, header_file, query_file };
    options.finish(MeterSource::Http(meter), &["header-file", "query-file"])
}

fn program(kind: &str, rest: &str) -> Result<MeterAddress, String> {
    let (options, command) = match rest.strip_prefix('?') {
        Some(rest) => rest.split_once(' ').ok_or("its options are followed by a space and the command")?,
        None => ("", rest),
    };
    let argv = words(command)?;
    if argv.first().is_none_or(String::is_empty) {
        return Err(format!("it names no command; write for example {kind}:read-watts --once"));
    }
    let source = if kind == "pipe" { MeterSource::Pipe { argv } } else { MeterSource::Exec { argv } };
    AddressOptions::read(options)?.finish(source, &[])
}

fn csv(rest: &str) -> Result<MeterAddress, String> {
    let (place, mut options) = split_options(rest)?;
    let path = decoded(place)?;
    if path.is_empty() {
        return Err("it names no file; write csv:FILE".into());
    }
    let clock = match options.take("clock").as_deref() {
        None | Some("run") => MeterClock::Run,
        Some("unix") => MeterClock::Unix,
        Some(other) => return Err(format!("`clock` is {other:?}; valid are run and unix")),
    };
    let time = options.take("t").unwrap_or_else(|| "t_s".into());
    let power = options.take("p").unwrap_or_else(|| "power_w".into());
    if options.given.iter().any(|(key, _)| key == "period") {
        return Err("a CSV is merged when the run ends, so it has no `period`".into());
    }
    options.finish(MeterSource::Csv { path: path.into(), time, power, clock }, &["t", "p", "clock"])
}

fn host_and_port(authority: &str, usual: u16) -> Result<(String, u16), String> {
    let named = |host: &str| match host {
        "" => Err("it names no host".to_owned()),
        host => Ok(host.to_owned()),
    };
    // An IPv6 number has its colons in brackets.
    match authority.rsplit_once(':').filter(|(_, port)| !port.contains(']')) {
        Some((host, port)) => {
            let number = port.parse().ok().filter(|port| *port > 0);
            Ok((named(host)?, number.ok_or_else(|| format!("{port:?} is no TCP port"))?))
        }
        None => Ok((named(authority)?, usual)),
    }
}

/// The options of an address, in their order.
struct AddressOptions {
    given: Vec<(String, String)>,
}

/// What stands before the first `?`, and the options behind it.
fn split_options(text: &str) -> Result<(&str, AddressOptions), String> {
    let (place, options) = text.split_once('?').unwrap_or((text, ""));
    Ok((place, AddressOptions::read(options)?))
}

impl AddressOptions {
    fn read(text: &str) -> Result<Self, String> {
        let mut given: Vec<(String, String)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| format!("the option {pair:?} has no value; write {pair}=..."))?;
            if given.iter().any(|(known, _)| known == key) {
                return Err(format!("`{key}` is given twice"));
            }
            given.push((key.to_owned(), decoded(value)?));
        }
        Ok(Self { given })
    }

    fn take(&mut self, key: &str) -> Option<String> {
        let at = self.given.iter().position(|(known, _)| known == key)?;
        Some(self.given.remove(at).1)
    }

    /// The address of `source`, whose own options are `own`; what is left over is not known.
    fn finish(mut self, source: MeterSource, own: &[&str]) -> Result<MeterAddress, String> {
        let stated = MeterStated {
            period: self.time("period")?.map(above_zero).transpose()?,
            watts_per_unit: self.take("unit").map(|unit| watts_per(&unit)).transpose()?,
            at: self.take("at").map(|at| measured_at(&at)).transpose()?,
            window: self.time("window")?,
            lag: self.time("lag")?,
            step_w: self.take("step").map(|step| watts("step", &step)).transpose()?,
            accuracy: self.take("accuracy").map(|share| accuracy(&share)).transpose()?,
        };
        match self.given.first() {
            None => Ok(MeterAddress { source, stated }),
            Some((key, _)) => {
                let known = own.iter().copied().chain(COMMON);
                let hint = did_you_mean(key, known.clone());
                let known: Vec<&str> = known.collect();
                Err(format!("it has no option `{key}`; {hint}options are {}", known.join(", ")))
            }
        }
    }

    fn time(&mut self, key: &str) -> Result<Option<Duration>, String> {
        let typed = self.take(key);
        typed.map(|typed| parse::duration(&typed).map_err(|error| format!("`{key}`: {error}"))).transpose()
    }
}

fn above_zero(period: Duration) -> Result<Duration, String> {
    if period.is_zero() { Err("`period`: a time of zero is too short".into()) } else { Ok(period) }
}

/// Units a meter may count in, with their watts.
pub(super) const UNITS: [(&str, f64); 4] = [("W", 1.0), ("mW", 1e-3), ("uW", 1e-6), ("kW", 1e3)];

fn watts_per(unit: &str) -> Result<f64, String> {
    let known = UNITS.iter().find(|(name, _)| *name == unit);
    known.map(|(_, watts)| *watts).ok_or_else(|| format!("`unit` is {unit:?}; valid are W, mW, uW and kW"))
}

fn measured_at(word: &str) -> Result<MeasuredAt, String> {
    let known = MeasuredAt::ALL.into_iter().find(|at| at.name() == word);
    known.ok_or_else(|| format!("`at` is {word:?}; valid are wall, adapter, drive and system"))
}

fn watts(key: &str, typed: &str) -> Result<f64, String> {
    let number = typed.strip_suffix('W').unwrap_or(typed);
    let (number, scale) = match number.strip_suffix('m') {
        Some(number) => (number, 1e-3),
        None => (number, 1.0),
    };
    let watts = number.trim().parse::<f64>().ok().map(|watts| watts * scale);
    let above_zero = watts.filter(|watts| watts.is_finite() && *watts > 0.0);
    above_zero.ok_or_else(|| format!("`{key}` is {typed:?}, not watts above zero such as 0.1W"))
}

fn accuracy(typed: &str) -> Result<f64, String> {
    let percent = typed.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = percent.map(|percent| percent / 100.0).filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| format!("`accuracy` is {typed:?}, not a percentage of the reading such as 1%"))
}

/// Text with its percent codes read (RFC 3986, 2.1).
fn decoded(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        rest = others;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let code = others.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(
            byte.ok_or_else(|| format!("{text:?} has a % without two hexadecimal digits; write %25 for %"))?,
        );
        rest = &others[2..];
    }
    String::from_utf8(bytes).map_err(|_| format!("{text:?} is not UTF-8 behind its percent codes"))
}

/// The words of a command, with the quotes of a shell and nothing else of it.
fn words(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some(end) if end == c => break,
                        Some('\\') if c == '"' => word.extend(chars.next()),
                        Some(inside) => word.push(inside),
                        None => return Err(format!("its command has an opening {c} without a closing one")),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            plain => word.get_or_insert_default().push(plain),
        }
    }
    words.extend(word);
    Ok(words)
}
