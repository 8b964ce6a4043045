//! Readings that are torn at their end, alone and among others of the drive.

use import::{ImportOptions, LogFile, import};
use trace::Trace;
use trace::caveat::Caveat;

fn tried(files: &[(&str, &str)]) -> Result<Trace, String> {
    let sources = files.iter().map(|(name, text)| LogFile::from_bytes(name, text.as_bytes()));
    import(sources.collect(), &ImportOptions::default()).map_err(|error| error.to_string())
}

fn cuts(trace: &Trace) -> usize {
    trace.caveats.iter().filter(|caveat| matches!(caveat, Caveat::Truncated { .. })).count()
}

fn smartctl(n: u32) -> String {
    format!(
        "{{\n  \"json_format_version\": [1, 0],\n  \"smartctl\": {{\"exit_status\": 0}},\n  \"local_time\": {{\"time_t\": {}}},\n  \"temperature\": {{\"current\": {}}},\n  \"nvme_smart_health_information_log\": {{\"temperature_sensors\": [40, 41], \"data_units_written\": 5}},\n  \"power_on_time\": {{\"hours\": 1474}}\n}}\n",
        1_795_246_000 + n,
        40 + n
    )
}

fn nvme(n: u32) -> String {
    format!(
        "{{\n  \"critical_warning\": 0,\n  \"temperature\": {},\n  \"avail_spare\": 100,\n  \"data_units_written\": 12345\n}}\n",
        310 + n
    )
}

/// Goal: half a reading is never a whole one. Method: one reading, cut at each of its bytes.
#[test]
fn a_single_reading_that_is_torn_is_refused_wherever_it_ends() {
    for (name, text) in [("s.json", smartctl(0)), ("smart-1795246000.json", nvme(0))] {
        for end in 1..text.trim_end().len() {
            let why = tried(&[(name, &text[..end])]).expect_err("half a reading");
            assert!(
                why.contains("line 1: the JSON that begins here does not end")
                    && why.contains("Make it again"),
                "{end}: {why}"
            );
        }
        assert_eq!(cuts(&tried(&[(name, text.trim_end())]).expect("a whole one")), 0);
    }
}

#[test]
fn a_torn_file_among_others_is_left_out_with_a_caveat() {
    let whole: Vec<String> = (0..5).map(nvme).collect();
    let names: Vec<String> = (0..6).map(|n| format!("smart-{}.json", 1_795_246_000 + n)).collect();
    let last = nvme(5);
    let zeros = "\0".repeat(120);
    for torn in [&last[..1], &last[..20], &last[..40], &last[..60], &zeros] {
        let texts = whole.iter().map(String::as_str).chain([torn]);
        let files: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts).collect();
        let trace = tried(&files).expect("five whole ones");
        assert_eq!((trace.temperatures[0].kelvin.points().len(), cuts(&trace)), (5, 1), "{torn}");
        let why = tried(&files[5..]).expect_err("only the torn one");
        assert!(why.contains("does not end") || why.contains("zero bytes"), "{why}");
    }
}

const READING: &str = "critical_warning                    : 0\ntemperature                         : 45 C\n\
    available_spare                     : 100%\ndata_units_written                  : 1,928,683\n\
    Thermal Management T2 Total Time    : 14\n";

/// Goal: a number that lost digits is no number. Method: a text of three readings, cut at each byte of the last one.
#[test]
fn a_text_that_is_torn_has_no_number_without_its_end() {
    let one = |n: u32| {
        format!("2026-11-05 23:52:{n:02}\nSmart Log for NVME device:nvme0 namespace-id:ffffffff\n{READING}")
    };
    let before: String = (0..3).map(one).collect();
    let text = format!("{before}{}", one(3));
    for end in before.len() + 1..text.trim_end().len() {
        let trace = tried(&[("log.txt", &text[..end])]).expect("three whole ones");
        let life = trace.life.last().expect("counters");
        assert!(life.written_bytes.is_none_or(|bytes| bytes == 1_928_683.0 * 512_000.0), "{end}");
        let kelvin = trace.temperatures[0].kelvin.points();
        assert!(kelvin.len() >= 3 && kelvin.iter().all(|point| point.value == 318.0), "{end}");
        let has_torn_number = text[..end].trim_end().ends_with(|c: char| c.is_ascii_digit());
        assert!(!has_torn_number || cuts(&trace) == 1 || text[..end].contains("Total Time    : 1"), "{end}");
    }
    // Copied by hand, without the last line end.
    assert_eq!(cuts(&tried(&[("log.txt", text.trim_end())]).expect("all")), 0);
}
