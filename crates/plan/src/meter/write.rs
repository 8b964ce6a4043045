//! The address of a meter as text, as it stands in plans and records; reading it gives the same address.

use std::fmt;
use std::time::Duration;

use super::read::UNITS;
use super::{HttpMeter, MeterAddress, MeterClock, MeterSource, MeterStated, ScpiPort};

impl fmt::Display for MeterAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = Vec::new();
        let mut add = |key: &str, value: &str| options.push(format!("{key}={}", encoded(value)));
        let place = match &self.source {
            MeterSource::Hwmon { chip, label } => match label {
                Some(label) => encoded_place(&format!("{chip}/{label}")),
                None => encoded_place(chip),
            },
            MeterSource::HwmonPath(path) => encoded_place(&path.to_string_lossy()),
            MeterSource::Scpi { port, ask, item } => {
                add("ask", ask);
                if *item != 1 {
                    add("item", &item.to_string());
                }
                match port {
                    ScpiPort::Network { host, port } => format!("//{host}:{port}"),
                    ScpiPort::Device(path) => encoded_place(&path.to_string_lossy()),
                }
            }
            MeterSource::Http(HttpMeter { host, port, target, pointer, header_file, query_file }) => {
                for (key, file) in [("header-file", header_file), ("query-file", query_file)] {
                    file.iter().for_each(|file| add(key, &file.to_string_lossy()));
                }
                format!("//{host}:{port}{target}#{}", encoded_place(pointer))
            }
            MeterSource::Csv { path, time, power, clock } => {
                add("t", time);
                add("p", power);
                if *clock == MeterClock::Unix {
                    add("clock", "unix");
                }
                encoded_place(&path.to_string_lossy())
            }
            MeterSource::Pipe { argv } | MeterSource::Exec { argv } => {
                let options = self.stated.options();
                let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
                let lead =
                    if options.is_empty() { String::new() } else { format!("?{} ", options.join("&")) };
                return write!(f, "{}:{lead}{}", self.kind(), words.join(" "));
            }
            MeterSource::Drive => String::new(),
        };
        options.extend(self.stated.options());
        write!(f, "{}:{place}", self.kind())?;
        if options.is_empty() { Ok(()) } else { write!(f, "?{}", options.join("&")) }
    }
}

impl MeterStated {
    fn options(&self) -> Vec<String> {
        let time = |span: Duration| match span.as_nanos() {
            nanos if nanos % 1_000_000_000 == 0 => format!("{}s", span.as_secs()),
            nanos if nanos % 1_000_000 == 0 => format!("{}ms", nanos / 1_000_000),
            nanos => format!("{nanos}ns"),
        };
        let unit = |watts: f64| UNITS.iter().find(|(_, one)| *one == watts).map_or("W", |(name, _)| name);
        let options = [
            ("period", self.period.map(time)),
            ("unit", self.watts_per_unit.map(|watts| unit(watts).to_owned())),
            ("at", self.at.map(|at| at.name().to_owned())),
            ("window", self.window.map(time)),
            ("lag", self.lag.map(time)),
            ("step", self.step_w.map(|watts| format!("{watts}W"))),
            ("accuracy", self.accuracy.map(|share| format!("{}%25", share * 100.0))),
        ];
        options.into_iter().filter_map(|(key, value)| value.map(|value| format!("{key}={value}"))).collect()
    }
}

/// Text with everything that means something in an address as a percent code.
fn encoded(text: &str) -> String {
    let code = |c: char| match c {
        '%' | '&' | '#' => format!("%{:02X}", c as u32),
        // Behind the first `?` another one means nothing, and questions of SCPI end in it.
        c if c.is_control() || c == ' ' && text.trim() != text => {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")).collect()
        }
        c => c.to_string(),
    };
    text.chars().map(code).collect()
}

/// The same of what stands before the options.
fn encoded_place(text: &str) -> String {
    encoded(text).replace('?', "%3F")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let inside: String =
        word.chars().flat_map(|c| ['"', '\\'].contains(&c).then_some('\\').into_iter().chain([c])).collect();
    format!("\"{inside}\"")
}
