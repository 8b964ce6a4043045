//! Files that end before their program did: zero bytes after a loss of power, and lists of JSON without an end.

use import::{ImportOptions, LogFile, import};
use trace::Trace;
use trace::caveat::Caveat;

fn tried(name: &str, bytes: &[u8]) -> Result<Trace, String> {
    import(vec![LogFile::from_bytes(name, bytes)], &ImportOptions::default())
        .map_err(|error| error.to_string())
}

fn cuts(trace: &Trace) -> usize {
    trace.caveats.iter().filter(|caveat| matches!(caveat, Caveat::Truncated { .. })).count()
}

fn rows(trace: &Trace) -> usize {
    trace.speeds[0].intervals.len()
}

fn logs() -> Vec<(&'static str, String)> {
    let rows = |row: fn(u32) -> String| (0..9).map(row).collect::<String>();
    vec![
        ("own.csv", format!("t_s,write_mb_per_s\n{}", rows(|n| format!("{n},100.5\n")))),
        (
            "h.csv",
            format!(
                "Date,Time,\"Drive Temperature [°C]\",\"Write Rate [MB/s]\",\n{}",
                rows(|n| format!("5.11.2026,23:52:0{n}.000,45,100.5,\n"))
            ),
        ),
        (
            "p.csv",
            format!(
                "\"(PDH-CSV 4.0) (X)(-60)\",\"\\\\PC\\PhysicalDisk(0 C:)\\Disk Read Bytes/sec\",\"\\\\PC\\PhysicalDisk(0 C:)\\Disk Write Bytes/sec\"\n{}",
                rows(|n| format!("\"11/05/2026 23:52:0{n}.117\",\"0\",\"100000\"\n"))
            ),
        ),
        ("x_bw.1.log", rows(|n| format!("{}, 100000, 1, 0, 0\n", 1000 * (n + 1)))),
        (
            "t.lp",
            rows(|n| format!("diskio,name=sda write_bytes={}i,reads=5i 179391913{n}000000000\n", n * 5000)),
        ),
    ]
}

/// Goal: what a loss of power leaves is read. Method: zero bytes behind the last row, and in place of its end.
#[test]
fn zero_bytes_at_the_end_are_cut_off_with_a_caveat() {
    for (name, text) in logs() {
        let whole = tried(name, text.as_bytes()).expect(name);
        assert_eq!(cuts(&whole), 0);
        for count in [1, 500, 100_000] {
            let padded = [text.as_bytes(), &vec![0; count]].concat();
            let trace = tried(name, &padded).expect(name);
            assert_eq!((rows(&trace), cuts(&trace)), (rows(&whole), 1), "{name}");
            assert!(trace.notes.iter().any(|note| note.contains("zero bytes")));
            let torn = [&text.as_bytes()[..text.len() - 4], &vec![0; count]].concat();
            let trace = tried(name, &torn).expect(name);
            assert_eq!((rows(&trace), cuts(&trace)), (rows(&whole) - 1, 1), "{name}");
        }
    }
    // So is a last row that ends where the file does.
    for (name, text) in logs().into_iter().filter(|(name, _)| *name != "own.csv") {
        let cut = tried(name, &text.as_bytes()[..text.len() - 12]).expect(name);
        assert_eq!(cuts(&cut), 1, "{name}");
    }
    assert!(tried("x.csv", &[0; 4096]).expect_err("nothing").contains("nothing in it but zero bytes"));
}

#[test]
fn rows_behind_zero_bytes_are_read() {
    let row = |n: u32| format!("{n},100\n");
    let (before, behind): (String, String) = ((0..9).map(row).collect(), (12..20).map(row).collect());
    let bytes =
        [format!("t_s,write_mb_per_s\n{before}9,1").as_bytes(), &[0; 4096], behind.as_bytes()].concat();
    let trace = tried("own.csv", &bytes).expect("rows");
    assert_eq!(rows(&trace), 17);
    assert!(trace.notes.iter().any(|note| note.contains("before line 11")), "{:?}", trace.notes);
}

/// Goal: of a recording that was ended by force all whole reports are read. Method: each format that has a list of them, cut
/// at every place behind the third.
#[test]
fn lists_of_json_without_an_end_are_read_as_far_as_they_are_whole() {
    let list = |row: fn(u32) -> String| (0..6).map(row).collect::<Vec<_>>().join(",\n");
    for (name, begin, list) in [
        (
            "iostat.json",
            "{\"sysstat\": {\"hosts\": [{\"nodename\": \"a\", \"statistics\": [\n",
            list(|n| {
                format!(
                    "{{\"timestamp\": \"11/05/2026 11:52:0{n} PM\", \"disk\": [{{\"disk_device\": \"sda\", \"wkB/s\": 9.5}}, {{\"disk_device\": \"dm-0\", \"wkB/s\": 1.5}}]}}"
                )
            }),
        ),
        (
            "sadf.json",
            "{\"sysstat\": {\"hosts\": [{\"statistics\": [\n",
            list(|n| {
                format!(
                    "{{\"timestamp\": {{\"date\": \"2026-11-05\", \"time\": \"23:52:0{n}\", \"utc\": 1}}, \"disk\": [{{\"disk-device\": \"sda\", \"wkB\": 9.5}}]}}"
                )
            }),
        ),
        (
            "telegraf.json",
            "{\"metrics\": [\n",
            list(|n| {
                format!(
                    "{{\"name\": \"diskio\", \"tags\": {{\"name\": \"sda\"}}, \"fields\": {{\"write_bytes\": {}}}, \"timestamp\": 179391913{n}}}",
                    n * 5000
                )
            }),
        ),
        (
            "prometheus.json",
            "{\"status\": \"success\", \"data\": {\"resultType\": \"matrix\", \"result\": [{\"metric\": {\"__name__\": \"node_disk_written_bytes_total\", \"device\": \"sda\"}, \"values\": [\n",
            list(|n| format!("[179391913{n}, \"{}\"]", n * 5000)),
        ),
    ] {
        let whole_to = begin.len() + list.match_indices('\n').nth(2).map_or(0, |(at, _)| at);
        let text = format!("{begin}{list}");
        for end in whole_to..text.len() {
            let trace = tried(name, &text.as_bytes()[..end]).expect(&text[..end]);
            assert!(rows(&trace) >= 2 && cuts(&trace) == 1, "{}", &text[..end]);
        }
    }
    let readings: String = (0..4)
        .map(|n| format!("{{\"timestamp\": 179391913{n}, \"temperature\": 313, \"avail_spare\": 100}},\n"))
        .collect();
    let trace = tried("nvme.json", format!("[{readings}{{\"timest").as_bytes()).expect("readings");
    assert_eq!((trace.temperatures[0].kelvin.points().len(), cuts(&trace)), (4, 1));
}
