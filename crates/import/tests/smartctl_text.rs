//! Text of smartctl as people keep it: whole, quoted, a loop's, one line of it, and what it says in place of a reading.
//!
//! Lines are composed by hand after smartctl 6.6 to 7.4; drives, serial numbers and counters are invented.

use import::{ImportError, ImportOptions, LogFile, import};
use trace::Trace;

fn tried(text: &str, device: Option<&str>) -> Result<Trace, ImportError> {
    let source = vec![LogFile::from_bytes("smart.txt", text.as_bytes())];
    let options = ImportOptions { device: device.map(str::to_owned), ..ImportOptions::default() };
    import(source, &options)
}

fn kelvins(trace: &Trace) -> Vec<f64> {
    trace.temperatures[0].kelvin.points().iter().map(|point| point.value).collect()
}

/// An NVMe drive's health log with other lines below.
fn health(serial: &str, celsius: u32, more: &str) -> String {
    format!(
        "smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n=== START OF INFORMATION SECTION ===\n\
         Model Number:                       EXAMPLE\nSerial Number:                      {serial}\n\
         Local Time is:                      Sat Mar 14 09:00:00 2026 CET\n\n\
         SMART/Health Information (NVMe Log 0x02)\nCritical Warning:                   0x00\n\
         Temperature:                        {celsius} Celsius\nAvailable Spare:                    100%\n\
         Data Units Written:                 1,000,000 [512 GB]\nPower On Hours:                     1,000\n{more}\n"
    )
}

#[test]
fn counters_that_are_left_out_are_zero_beside_others() {
    let life = |more: &str| tried(&health("S1", 40, more), None).expect(more).life[0].throttling;
    let one = life("Thermal Temp. 1 Total Time:         7\n");
    assert_eq!(
        (one.tmt1_transitions, one.tmt1_seconds, one.tmt2_transitions, one.tmt2_seconds),
        (Some(0), Some(7), Some(0), Some(0))
    );
    let none = tried(&health("S1", 40, ""), None).expect("no counters");
    assert_eq!(none.life[0].throttling, trace::Counters::default());
    assert!(none.notes.iter().any(|note| note.contains("nvme smart-log")), "{:?}", none.notes);
    let counted = tried(&health("S1", 40, "Thermal Temp. 2 Transition Count:   1\n"), None).expect("one");
    assert!(!counted.notes.iter().any(|note| note.contains("nvme smart-log")), "{:?}", counted.notes);
}

#[test]
fn one_of_several_drives_is_asked_for() {
    let both = format!("{}{}", health("S1", 40, ""), health("S2", 60, ""));
    let why = tried(&both, None).expect_err("two drives").to_string();
    assert!(why.contains("--device"), "{why}");
    assert_eq!(kelvins(&tried(&both, Some("S2")).expect("S2")), [333.0]);
    // Without serial numbers the command lines tell them apart.
    let of = |device: &str, celsius: u32| {
        format!(
            "$ sudo smartctl -a {device} | grep -i temp\nWarning  Comp. Temp. Threshold:     77 Celsius\n\
             Temperature:                        {celsius} Celsius\n"
        )
    };
    let both = format!("{}{}", of("/dev/nvme0", 33), of("/dev/nvme1", 44));
    assert!(tried(&both, None).is_err());
    assert_eq!(kelvins(&tried(&both, Some("nvme1")).expect("nvme1")), [317.0]);
}

/// What people show has its serial numbers made unreadable, all alike: models and devices tell drives apart then.
#[test]
fn masked_serial_numbers_are_none() {
    for masked in ["[REDACTED]", "XXXXXXXXXXXX", "202********D8", "<removed>", "0000000000"] {
        let of = |model: &str| health(masked, 40, "").replace("EXAMPLE", model);
        let both = format!("{}{}", of("DRIVE A"), of("OTHER B"));
        let why = tried(&both, None).expect_err(masked).to_string();
        assert!(why.contains("--device"), "{masked}: {why}");
        assert_eq!(kelvins(&tried(&both, Some("other b")).expect(masked)), [313.0]);
    }
    for told in ["S1", "S4EWNX0N123456", "AA000000000000000485", "50026B7685DC2C38"] {
        let two = format!("{}{}", health(told, 40, ""), health("S9", 41, ""));
        assert!(tried(&two, Some(told)).is_ok(), "{told}");
    }
}

#[test]
fn a_loop_keeps_whole_texts_or_one_line_of_each() {
    let lines: [fn(u32) -> String; 4] = [
        |celsius| format!("Temperature:                        {celsius} Celsius\n"),
        |celsius| format!("Current Drive Temperature:     {celsius} C\n"),
        |celsius| {
            format!(
                "194 Temperature_Celsius     0x0022   064   058   ---    Old_age   Always       -       {celsius} (Min/Max 14/58)\n"
            )
        },
        |celsius| {
            format!("194 Temperature_Celsius     -O---K   064   058   000    -    {celsius} (0 14 0 0 0)\n")
        },
    ];
    for line in lines {
        let text: String =
            (0..5).map(|n| format!("2026-11-22T09:40:{:02}+01:00\n{}", 10 * n, line(40 + n))).collect();
        let trace = tried(&text, None).expect(&text);
        assert_eq!(kelvins(&trace), [313.0, 314.0, 315.0, 316.0, 317.0], "{text}");
        assert_eq!(trace.temperatures[0].kelvin.points()[4].t.as_secs_f64(), 40.0, "{text}");
    }
}

#[test]
fn hours_and_data_of_a_sas_drive_are_read_whatever_stands_before_decimals() {
    for (gigabytes, hours) in [("70511.679", "41724:19"), ("70511,679", "41,724:19")] {
        let text = format!(
            "=== START OF INFORMATION SECTION ===\nVendor:               EXAMPLE\nProduct:              SAS\n\
             Serial number:        S3\nPercentage used endurance indicator: 4%\n\
             Current Drive Temperature:     31 C\nDrive Trip Temperature:        70 C\n\
             Accumulated power on time, hours:minutes {hours}\nError counter log:\n\
             read:          0        0         0         0          0      {gigabytes}           0\n\
             write:         0        0         0         0          0        312.500           0\n"
        );
        let trace = tried(&text, None).expect(&text);
        let life = &trace.life[0];
        assert_eq!((life.power_on_h, life.used_percent), (Some(41_724.0), Some(4.0)), "{text}");
        assert_eq!((life.read_bytes, life.written_bytes), (Some(70_511.679e9), Some(312.5e9)), "{text}");
        assert_eq!((trace.name.as_str(), trace.facts.warning_k), ("EXAMPLE SAS", Some(343.0)));
    }
}

#[test]
fn a_history_is_no_longer_than_a_drive_keeps_it() {
    let text = "smartctl 7.2 2020-12-30 r5155 [x86_64-linux] (local build)\n\
         Current Temperature:                    33 Celsius\nTemperature Logging Interval:        1 minute\n\
         Index    Estimated Time   Temperature Celsius\n   6    2026-03-13 11:50    33  ****\n \
         ...    ..(999999999999 skipped).    ..  ****\n   7    2026-03-13 11:50    40  ****\n";
    let trace = tried(text, None).expect("a history");
    assert!(trace.temperatures[0].kelvin.points().len() <= 479);
}

#[test]
fn what_went_wrong_is_said() {
    for said in [
        "/dev/sdb: Unknown USB bridge [0x0bda:0x9210 (0x2100)]",
        "Device is in STANDBY mode, exit(2)",
        "Smartctl open device: /dev/nvme0 failed: Permission denied",
    ] {
        let text = format!("smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n\n{said}\n");
        let why = tried(&text, None).expect_err("no reading").to_string();
        assert!(why.contains("did not get at the drive") && why.contains(said), "{why}");
    }
}

/// A table by Windows, in its code page, with the zone's name in words.
#[test]
fn a_text_of_windows_is_read_in_its_code_page() {
    let text = health("S1", 40, "").replace("CET", "Mitteleurop\u{e4}ische Zeit");
    let bytes: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
    let source = vec![LogFile::from_bytes("smart.txt", &bytes)];
    assert_eq!(kelvins(&import(source, &ImportOptions::default()).expect("a reading")), [313.0]);
}

/// The JSON tells its time by the clock of the place as well.
#[test]
fn text_and_json_of_one_drive_are_on_one_clock() {
    let json = r#"{"smartctl": {"version": [7, 4]}, "local_time": {"time_t": 1774083600, "asctime": "Sat Mar 21 10:00:00 2026 CET"},
        "device": {"protocol": "NVMe"}, "model_name": "EXAMPLE", "serial_number": "S1", "temperature": {"current": 50},
        "nvme_smart_health_information_log": {"temperature": 50, "temperature_sensors": [65262, 55], "power_on_hours": 1100}}"#;
    let text = health("S1", 40, "");
    let sources =
        [("b.json", json), ("a.txt", &text)].map(|(name, text)| LogFile::from_bytes(name, text.as_bytes()));
    let trace = import(sources.into(), &ImportOptions::default()).expect("one drive");
    assert_eq!(trace.life.iter().map(|one| one.t_s).collect::<Vec<_>>(), [0.0, 169.0 * 3600.0]);
    // All bits of a sensor that is not there are set.
    let names: Vec<&str> = trace.temperatures.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["composite", "sensor2"]);
    let nvme = "temperature : 40 C (313 Kelvin)\navailable_spare : 100%\nTemperature Sensor 1 : 65262 C (65535 Kelvin)\n";
    assert_eq!(tried(nvme, None).expect("a reading").temperatures.len(), 1);
}
