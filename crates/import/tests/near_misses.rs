//! Texts of programs that are near a format that is read: read where they can be, else refused with what they look like and
//! what to export in their place. The texts are shortened from what each program prints.

use import::{ImportOptions, LogFile, import};
use trace::Trace;

fn tried(text: &str) -> Result<Trace, String> {
    import(vec![LogFile::from_bytes("log.txt", text.as_bytes())], &ImportOptions::default())
        .map_err(|error| error.to_string())
}

const SMART_LOG: &str = "critical_warning                    : 0\ntemperature                         : 45 C\n\
    available_spare                     : 100%\ndata_units_read                     : 1,928,683\n";

#[test]
fn a_smart_log_without_its_heading_is_read() {
    let options = ImportOptions { every_s: Some(1.0), ..ImportOptions::default() };
    let text = SMART_LOG.repeat(3);
    for text in
        [text.clone(), format!("cut\n{text}"), text[text.find("temperature").unwrap_or(0)..].to_owned()]
    {
        let trace = import(vec![LogFile::from_bytes("log.txt", text.as_bytes())], &options).expect(&text);
        let kelvin = &trace.temperatures[0].kelvin;
        assert!(kelvin.points().iter().all(|point| point.value == 318.0));
        assert_eq!((kelvin.points().len(), kelvin.gaps().len()), (3, 0), "{text}");
    }
}

#[test]
fn the_text_of_id_ctrl_tells_thresholds() {
    let identify = "NVME Identify Controller:\nvid       : 0x144d\nsn        : S1              \nmn        : EXAMPLE NVME 1TB\n\
        wctemp    : 355\n [15:0] : 82 °C (355 K)\tWarning Composite Temperature Threshold (WCTEMP)\n\
        cctemp    : 358\ntnvmcap   : 1,000,204,886,016\nmntmt     : 273\nmxtmt     : 356\n";
    let reading = format!("Smart Log for NVME device:nvme0 namespace-id:ffffffff\n{SMART_LOG}");
    let files = [("smart-1795246049.txt", reading.as_str()), ("id.txt", identify)];
    let sources = files.map(|(name, text)| LogFile::from_bytes(name, text.as_bytes())).into();
    let trace = import(sources, &ImportOptions::default()).expect("both");
    let facts = (trace.facts.warning_k, trace.facts.critical_k, trace.facts.tmt_min_k, trace.facts.tmt_max_k);
    assert_eq!(facts, (Some(355.0), Some(358.0), Some(273.0), Some(356.0)));
    assert_eq!(trace.facts.capacity_bytes, Some(1_000_204_886_016));
    assert_eq!(trace.name, "EXAMPLE NVME 1TB");
}

/// What programs print, and what the refusal has to name.
const PROGRAMS: &[(&str, &str)] = &[
    (
        "smartctl version 5.38 [x86_64-unknown-linux-gnu] Copyright (C) 2002-8 Bruce Allen\n",
        "smartctl --json -x",
    ),
    ("smartctl 7.3 2022-02-28 r5338 [x86_64-linux-6.1.0] (local build)\n", "smartctl --json -x"),
    ("=== START OF READ SMART DATA SECTION ===\nSMART Health Status: OK\n", "smartctl --json -x"),
    (
        "ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE\n241 Total_LBAs_Written     0x0022\n",
        "smartctl --json -x",
    ),
    ("w: (g=0): rw=write, bs=(R) 4096B-4096B\nfio-3.33\nStarting 1 process\n", "--output-format=json"),
    (
        "  write: IOPS=1200, BW=1200MiB/s (1258MB/s)(70.3GiB/60001msec)\n    clat (usec): min=1\n",
        "write_bw_log",
    ),
    (
        "Timestamp,Path,InstanceName,CookedValue\n11/05/2025 10:00:01 AM,\\\\h\\physicaldisk(0 c:)\\disk write bytes/sec,0 c:,0.5\n",
        "Get-Counter with a row for each value, which is not read: use Export-Counter",
    ),
    ("procs -----------memory---------- ---swap-- -----io----\n r  b   swpd   free\n", "vmstat's text"),
    (
        "disk- ------------reads------------ ------------writes-----------\n       total merged sectors      ms\n",
        "vmstat -d",
    ),
    ("\"pcp-dstat 6.0 CSV output\"\n\"Author:\",\"PCP\"\n", "dstat -T -d -D nvme0n1"),
    ("----total-usage---- -dsk/total-\nusr sys idl| read  writ\n  1   1  98| 190k  230k\n", "dstat's text"),
    (
        "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [x]\n  8,0    3  2  0.000001829   697  Q   W 223490 + 8 [x]\n  8,0 3 3 0.1 697 D W 2 + 8 [x]\n  8,0 3 3 0.1 697 C W 2 + 8 [0]\n",
        "blkparse",
    ),
    ("/dev/sda:\n Timing buffered disk reads: 1234 MB in  3.00 seconds = 411.00 MB/sec\n", "hdparm's text"),
    ("1048576000 bytes (1.0 GB, 1000 MiB) copied, 1.2 s, 873 MB/s\n", "dd's text"),
    ("------\nCrystalDiskMark 8.0.4 x64 (C) 2007-2021 hiyohiyo\n* MB/s = 1,000,000 bytes/s\n", "HWiNFO"),
    ("ATTO Disk Benchmark 4.01.0f1\nI/O Size,Write,Read\n512 B,10,20\n", "a result of ATTO"),
    ("\"AIDA64 Log\"\nDate,UpTime,SSD1\n", "AIDA64"),
    (
        "nvme-pci-0100\nAdapter: PCI adapter\nComposite:    +38.9°C  (low  = -273.1°C)\n",
        "nvme smart-log -o json",
    ),
    (
        "{\"nvme-pci-0100\":{\"Adapter\":\"PCI adapter\",\"Composite\":{\"temp1_input\":38.850}}}\n",
        "JSON of sensors",
    ),
    (
        "Node             SN     Model   Namespace Usage  Format  FW Rev\n/dev/nvme0n1 S1 X 1 0 B 512 B 1\n",
        "nvme list",
    ),
    ("{\"Devices\":[{\"DevicePath\":\"/dev/nvme0n1\",\"ModelNumber\":\"X\"}]}\n", "JSON of `nvme list`"),
    ("Total DISK READ :       0.00 B/s | Total DISK WRITE :       0.00 B/s\n", "iotop's text"),
    ("AAA,progname,nmon\nAAA,interval,1\n", "nmon"),
    (
        "              capacity     operations     bandwidth\npool        alloc   free   read  write\n",
        "zpool iostat",
    ),
    (
        "                        extended device statistics\ndevice     r/s   w/s    kr/s    kw/s\n",
        "another system than Linux",
    ),
    ("              disk0\n    KB/t  tps  MB/s\n   22.81   43  0.96\n", "another system than Linux"),
    ("2026-11-22 09:40:00;\t1;100;0;\t194;67;33;\n", "smartd"),
    ("/dev/sda: Samsung SSD 860: 38°C\n", "hddtemp"),
    ("Timestamp                 CounterSamples\n---------                 --------------\n", "typeperf"),
    ("Date , GPU Clock [MHz] , GPU Temperature [°C]\n2026-11-22 09:40:00 , 210.0 , 33.0\n", "GPU-Z"),
    (
        "node_disk_read_bytes_total{device=\"sda\"} 5\nnode_disk_written_bytes_total{device=\"sda\"} 5\n# TYPE x counter\n",
        "api/v1/query_range",
    ),
    (
        "22.11.2026,9:40:00.000,45,1.5,0.000\n22.11.2026,9:40:02.000,45,1.5,0.000\n",
        "whose header line is missing",
    ),
    ("\"11/22/2026 10:40:00.000\",\"4096.5\",\"1600000000\"\n", "whose header line is missing"),
    ("json.json_format_version[0] = 1;\njson.temperature.current = 45;\n", "--json=g"),
    ("---\njson_format_version:\n- 1\n- 0\nsmartctl:\n", "smartctl's YAML"),
    ("<!DOCTYPE html>\n<html><body>404</body></html>\n", "HTML"),
    ("[Read]\n  SEQ    1MiB (Q=  8, T= 1):  3500.0 MB/s [   3337.9 IOPS]\n", "a result of CrystalDiskMark"),
    ("{\"metric\":{\"__name__\":\"x\"},\"values\":[1],\"timestamps\":[1795340400000]}\n", "query_range"),
    ("#group,false,false\n#datatype,string,long\n,result,table,_value\n", "annotated CSV"),
    ("DeviceId Temperature ReadErrorsUncorrected Wear\n0        41\n", "Get-StorageReliabilityCounter"),
    ("Nov 22 09:40:00 host kernel: nvme nvme0: I/O 1 QID 1 timeout, aborting\n", "the kernel's log"),
    (",/intelcpu/0/load/0,/intelcpu/0/temperature/0\nTime,CPU Total,Core\n", "Libre Hardware Monitor"),
    ("{\"Number of Thermal throttling events\":2}\n", "ocp smart-add-log"),
    (
        "{\"Physical media units written\": {\"hi\": 0, \"lo\": 12345}, \"Thermal throttling status\": 0}\n",
        "`nvme ocp smart-add-log`, which is not read: use `date +%s; nvme smart-log -o json`",
    ),
    (
        "Additional Smart Log for NVME device:nvme0 namespace-id:ffffffff\nkey                               normalized raw\nthermal_throttle_status         : 100%       0%, cnt: 5\n",
        "`nvme intel smart-log-add`), which is not read: use `date +%s; nvme smart-log -o json`",
    ),
    (
        "get-feature:0x10 (Host Controlled Thermal Management), Current value:0x015e0163\n",
        "`nvme get-feature`, which has settings and no readings: use `date +%s; nvme smart-log -o json`",
    ),
    (
        "Date Time [CPU]User% [CPU]Nice% [DSK]Reads/sec [DSK]ReadKB/sec\n20261122 09:40:00 1 0 0 0\n",
        "collectl's table",
    ),
    (
        "{\"jsonrpc\":\"2.0\",\"result\":[{\"itemid\":\"1\",\"clock\":\"1795340400\",\"value\":\"35\",\"ns\":\"0\"}]}\n",
        "the history of Zabbix",
    ),
    ("2026-11-22 09:40:00 1795340400 35\n2026-11-22 09:41:00 1795340460 36\n", "the history of Zabbix"),
    (
        "00, 22-11-2026 09:40:00, Hardware monitoring log v1.6 \n02, 22-11-2026 09:40:00, GPU temperature     ,GPU usage\n",
        "MSI Afterburner",
    ),
    ("Argus Monitor Data Logger\n;CPU Temp;SSD Temp\n", "Argus Monitor"),
    (
        "<Results><System></System><Profile><TimeSpans><TimeSpan>\n</TimeSpan></TimeSpans></Profile><TimeSpan><TestTimeSeconds>10</TestTimeSeconds>\n",
        "DiskSpd",
    ),
    ("HD Tune Pro: Example SSD 2TB Benchmark\n\nTest capacity: full\n", "HD Tune"),
    ("\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.489 $\n", "iozone"),
    (
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nFile operations:\n    reads/s: 1000.00\n",
        "sysbench",
    ),
    (
        "Machine model: Mac14,2\n*** Sampled system activity (Sun Nov 22 09:40:00 2026 +0100) (1002.30ms elapsed) ***\n**** Disk activity ****\n",
        "powermetrics",
    ),
    (
        "timestamp,cpu_total,diskio_nvme0n1_read_bytes,diskio_nvme0n1_write_bytes\n2026-11-22 09:40:00,1.0,0,150\n",
        "glances",
    ),
    ("|/dev/sda|WDC WD181KRYZ-01AGBB0|49|C|", "hddtemp"),
    (
        "Linux 6.1.0 (host) \t11/22/2026 \t_x86_64_\t(8 CPU)\n\n09:40:00 AM  UID  PID  %usr %system  %guest  %wait  %CPU  CPU  Command\n",
        "pidstat",
    ),
    ("NVMe status: INVALID_NS\n", "an error of nvme-cli"),
    ("top - 09:40:00 up 1 day,  1 user\nTasks: 1 total\n", "analyze --help"),
    (
        "[  312.400211] nvme nvme0: pci function 0000:01:00.0\n[  912.678901] nvme nvme0: Device temperature above critical threshold\n",
        "the kernel's log",
    ),
    ("[Sun Nov 22 09:40:00 2026] nvme nvme0: I/O 5 QID 2 timeout, reset controller\n", "the kernel's log"),
    (
        "AAA,progname,nmon\nDISKREAD,T0001,0.0\nBBBP,150,/usr/bin/vmstat,\"procs -----memory---- ---swap--\"\n",
        "nmon's recording",
    ),
    (
        "BBU status for Adapter: 0\n\nBatteryType: CVPM02\nVoltage: 9437 mV\nCurrent: 0 mA\nTemperature: 32 C\n",
        "smartctl --json -x -d megaraid",
    ),
    (
        "waiting for 1 second sample...\n#Date,Time,[DSK]ReadKBTot,[DSK]WriteKBTot\n20261122,09:40:00,0,512000\n",
        "write (KiB/s)",
    ),
    (
        "SMART/Health Information Log\n====\nCritical Warning State:         0x00\n Temperature:   0\nTemperature:                    313 K, 39.85 C, 103.73 F\n",
        "FreeBSD's nvmecontrol",
    ),
    ("Time (s),Write (MB/s)\r0,1600\r1,1600\r", "CSV (Macintosh)"),
    (
        "Date,Time,[CPU]User%,[CPU]Sys%,[DSK]ReadKBTot,[DSK]WriteKBTot\n20261122,09:40:00,1,2,0,512000\n",
        "collectl's table",
    ),
    (
        "{\"sysstat\":{\"hosts\":[{\"statistics\":[{\"timestamp\":{\"date\":\"2026-11-22\",\"time\":\"09:40:00\"},\"cpu-load\":[]}]}]}}\n",
        "sadf -j FILE -- -d",
    ),
];

#[test]
fn programs_are_named_with_what_to_export() {
    for (text, named) in PROGRAMS {
        let why = tried(text).expect_err(text);
        assert!(why.contains(named), "{text}: {why}");
        assert!(!why.contains("csv, a table of your own"), "{text}: {why}");
    }
}

/// Loops that keep nothing but temperatures, as `nvme smart-log | grep -i temp` does.
#[test]
fn temperatures_alone_are_readings() {
    for rest in ["", "Warning Temperature Time             : 0\nTemperature Sensor 1           : 45 C\n"] {
        let text: String = (0..5)
            .map(|n| {
                format!(
                    "Sun Nov 22 09:40:{:02} CET 2026\ntemperature    : {} °C ({} K)\n{rest}",
                    10 * n,
                    40 + n,
                    313 + n
                )
            })
            .collect();
        let trace = tried(&text).expect(&text);
        let points = trace.temperatures[0].kelvin.points();
        assert_eq!((points.len(), points[4].value, points[4].t.as_secs_f64()), (5, 317.0, 40.0), "{text}");
        assert_eq!(trace.temperatures.len(), if rest.is_empty() { 1 } else { 2 });
    }
    let untimed = tried("temperature    : 40 C\ntemperature    : 41 C\n").expect_err("no times");
    assert!(untimed.contains("--every"), "{untimed}");
}

/// Loops that print a time before each reading, as `date`, `date -Is` and `date +%s` do.
#[test]
fn a_line_with_a_time_is_that_of_the_reading_after_it() {
    let dates: [fn(u32) -> String; 4] = [
        |s| format!("Sun Nov 22 09:40:{s:02} CET 2026\n"),
        |s| format!("Sun Nov 22 09:40:{s:02} AM UTC 2026\n"),
        |s| format!("2026-11-22T09:40:{s:02}+01:00\n"),
        |s| format!("{}\n", 1_795_340_400 + s),
    ];
    let json = r#"{"critical_warning": 0, "temperature": 318, "avail_spare": 100}"#;
    let heading = format!("Smart Log for NVME device:nvme0 namespace-id:ffffffff\n{SMART_LOG}");
    for date in dates {
        for reading in [SMART_LOG, &heading, json] {
            let text: String = (0..5).map(|n| format!("{}{reading}\n\n", date(10 * n))).collect();
            let trace = tried(&text).expect(&text);
            let points = trace.temperatures[0].kelvin.points();
            let times: Vec<f64> = points.iter().map(|point| point.t.as_secs_f64()).collect();
            assert_eq!(times, [0.0, 10.0, 20.0, 30.0, 40.0], "{text}");
        }
    }
}

#[test]
fn readings_of_json_may_have_a_written_time_and_no_temperature() {
    let one = |second: u32, kelvin: &str| {
        format!(
            r#"{{"timestamp": "2026-11-22T09:40:{second:02}Z", "temperature": {kelvin}, "avail_spare": 100}}"#
        )
    };
    let text = [one(0, "318"), one(10, "null"), one(20, "319")].join("\n");
    let kelvin = &tried(&text).expect("readings").temperatures[0].kelvin;
    assert_eq!((kelvin.points().len(), kelvin.gaps().len()), (2, 1));
    assert_eq!(kelvin.points()[1].t.as_secs_f64(), 20.0);
}

/// Telegraf says what it does before it says what it measured.
/// Words of texts stand in any JSON.
#[test]
fn json_of_something_else_is_no_text() {
    let why =
        tried("{\"a\": \" Q  D  C  + \", \"b\": \"procs memory swap atop - DSK |\"}\n").expect_err("JSON");
    assert!(why.contains("it is JSON, but not of"), "{why}");
}

/// A recording of power alone is no drive's rails.
#[test]
fn a_voltage_and_a_current_are_not_quarchs() {
    let why = tried("Timestamp(s),Main Current(A),Main Voltage(V)\n0.0,0.5,12.0\n0.1,0.5,12.0\n")
        .expect_err("no drive");
    assert!(!why.contains("quarch"), "{why}");
}

/// `influx_inspect export`: statements and comments before the lines.
#[test]
fn an_export_of_influxdb_is_read() {
    let row = |s: u64| {
        format!(
            "diskio,host=h,name=nvme0n1 write_bytes={}i {}\n",
            s * 10_000_000_000,
            1_795_340_400_000_000_000 + s * 10_000_000_000
        )
    };
    let begin = "# INFLUXDB EXPORT: 1677-09-21T00:12:43Z - 2262-04-11T23:47:16Z\n# DDL\nCREATE DATABASE telegraf WITH NAME autogen\n# DML\n# CONTEXT-DATABASE:telegraf\n";
    let trace = tried(&format!("{begin}{}", (0..9).map(row).collect::<String>())).expect("an export");
    assert!(trace.speeds[0].intervals.iter().all(|one| one.bytes_per_s() == 1e9));
}

/// The exporter of Windows, and the collector of smartctl in Python.
#[test]
fn prometheus_has_other_exporters() {
    let points = |value: fn(u64) -> u64| -> String {
        (0..9).map(|s| format!("[{},\"{}\"]", 1_795_340_400 + 10 * s, value(s))).collect::<Vec<_>>().join(",")
    };
    let series = |labels: &str, values: String| format!("{{\"metric\":{{{labels}}},\"values\":[{values}]}}");
    let written = series(
        "\"__name__\":\"windows_physical_disk_write_bytes_total\",\"disk\":\"0\"",
        points(|s| s * 10_000_000_000),
    );
    let heat = series(
        "\"__name__\":\"smartmon_attr_raw_value\",\"name\":\"temperature_celsius\",\"disk\":\"0\"",
        points(|s| 40 + s),
    );
    let text = format!(
        "{{\"status\":\"success\",\"data\":{{\"resultType\":\"matrix\",\"result\":[{written},{heat}]}}}}"
    );
    let trace = tried(&text).expect("a range");
    assert!(trace.speeds[0].intervals.iter().all(|one| one.bytes_per_s() == 1e9));
    assert_eq!(trace.temperatures[0].kelvin.points()[8].value, 321.0);
}

#[test]
fn what_telegraf_says_itself_is_no_metric() {
    let row = |s: u64| {
        format!("> diskio,name=sda read_bytes=0i,write_bytes={}i {}\n", s * 100_000_000, 1_795_340_400 + s)
    };
    let text = format!(
        "2026-11-22T09:40:00Z I! Starting Telegraf 1.28.2\n{}{}{}2026-11-22T09:41:00Z I! Stopping\n",
        row(0),
        row(1),
        row(2)
    );
    assert_eq!(tried(&text).expect("metrics").speeds[1].intervals.len(), 2);
}

#[test]
fn what_is_no_text_is_named_by_its_beginning() {
    for (bytes, named) in [
        (&b"PK\x03\x04\x14\0\x06\0"[..], "save it as CSV"),
        (b"\x28\xb5\x2f\xfdabc", "zstd"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x96\xd5\x75\x21\0\0", "sadf -j"),
    ] {
        let why = import(vec![LogFile::from_bytes("sa22", bytes)], &ImportOptions::default());
        let why = why.expect_err(named).to_string();
        assert!(why.contains(named), "{why}");
    }
}
