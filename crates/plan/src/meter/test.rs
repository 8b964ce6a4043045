//! Addresses of meters: both ways, and what is refused.

use std::path::PathBuf;
use std::time::Duration;

use super::*;

fn read(typed: &str) -> MeterAddress {
    typed.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_kind_is_read_and_written_the_same() {
    for typed in [
        "hwmon:ina226",
        "hwmon:ina3221/VDD_5V?at=drive",
        "hwmon:/sys/class/hwmon/hwmon3/power1_input?period=100ms",
        "scpi://127.0.0.1:5025?ask=MEAS:POW? CH1&period=500ms",
        "scpi:/dev/usbtmc0?ask=:NUM:NORM:VAL?&item=2",
        "http://plug:80/rpc/Switch.GetStatus?id=0#/apower?unit=mW&at=wall",
        "http://plug:80/a#/x?header-file=/etc/meter token",
        "pipe:?at=adapter&window=500ms sh -c \"a b; c\"",
        "exec:read-watts --once",
        "csv:meter.csv?t=time&p=Tot_P W&clock=unix&lag=2s",
        "drive:",
    ] {
        let address = read(typed);
        assert_eq!(address.to_string(), typed);
        assert_eq!(read(&address.to_string()), address);
    }
    let MeterSource::Scpi { port, ask, item } = read("scpi://psu?ask=MEAS:POW?&step=0.01W").source else {
        panic!()
    };
    assert_eq!((ask.as_str(), item), ("MEAS:POW?", 1));
    assert_eq!(port, ScpiPort::Network { host: "psu".into(), port: 5025 });
    assert_eq!(
        read("exec:a 'b c' \"d\\\"e\"").source,
        MeterSource::Exec { argv: vec!["a".into(), "b c".into(), "d\"e".into()] }
    );
    let stated = read("drive:?period=2s&accuracy=1.5%25&step=100mW&window=0s").stated;
    assert_eq!((stated.period, stated.window), (Some(Duration::from_secs(2)), Some(Duration::ZERO)));
    assert_eq!((stated.step_w, stated.accuracy), (Some(0.1), Some(0.015)));
    let odd = MeterAddress {
        source: MeterSource::HwmonPath(PathBuf::from("/a b/%20&#?")),
        stated: MeterStated::default(),
    };
    assert_eq!(read(&odd.to_string()), odd);
}

#[test]
fn what_is_no_meter_is_refused_with_what_would_be() {
    for (typed, part) in [
        ("ina226", "no kind before a colon"),
        ("hwmn:ina226", "did you mean `hwmon`"),
        ("hwmon:hwmon3", "changes between boots"),
        ("hwmon:", "name the chip"),
        ("scpi://psu", "?ask=MEAS:POW?"),
        ("scpi:psu?ask=X?", "scpi://HOST"),
        ("scpi://psu:0?ask=X?", "no TCP port"),
        ("scpi://psu?ask=X?&item=0", "`item`"),
        ("http://plug/status", "JSON pointer"),
        ("http://plug/status#power", "does not begin with /"),
        ("https://plug/status#/power", "https is not read"),
        ("pipe:", "names no command"),
        ("pipe:?at=wall", "followed by a space"),
        ("exec:a 'b", "without a closing one"),
        ("csv:", "names no file"),
        ("csv:a?period=1s", "no `period`"),
        ("csv:a?clock=iso", "valid are run and unix"),
        ("drive:0", "nothing behind it"),
        ("drive:?perid=1s", "did you mean"),
        ("drive:?period=0s", "too short"),
        ("drive:?unit=VA", "valid are W, mW, uW and kW"),
        ("drive:?at=plug", "wall, adapter, drive and system"),
        ("drive:?step=-1W", "above zero"),
        ("drive:?accuracy=1", "percentage"),
        ("drive:?lag", "has no value"),
        ("drive:?lag=1s&lag=2s", "twice"),
        ("hwmon:a%2", "%25"),
    ] {
        let error = typed.parse::<MeterAddress>().expect_err(typed).to_string();
        assert!(error.contains(part), "expected {part:?} in {error:?}");
    }
}

/// Goal: a password is neither kept nor repeated in an error, which goes into logs.
#[test]
fn secrets_are_refused_and_not_repeated() {
    for typed in ["http://user:hunter2@plug/a#/b", "http://plug/cm?user=a&password=hunter2&cmnd=x#/b"] {
        let error = typed.parse::<MeterAddress>().expect_err(typed).to_string();
        assert!(!error.contains("hunter2") && error.contains("file"), "{error}");
    }
}
