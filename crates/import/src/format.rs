//! The formats that are read, and their names on the command line. How each is told stands in [`super::detect`].

/// Formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The plain CSV with a header line.
    Csv,
    /// fio's bandwidth log.
    FioBwLog,
    /// fio's log of I/Os per second.
    FioIopsLog,
    /// fio's logs of latencies: lat, clat, slat.
    FioLatLog,
    /// fio's histogram logs: known, not read.
    FioHistLog,
    /// fio's JSON and JSON+.
    FioJson,
    /// Iometer's results.
    Iometer,
    /// Iometer's instantaneous results.
    IometerInst,
    /// JSON of `nvme smart-log` and `nvme id-ctrl`.
    NvmeJson,
    /// Text of `nvme smart-log`.
    NvmeText,
    /// JSON of smartctl.
    SmartctlJson,
    /// Text of smartctl.
    SmartctlText,
    /// Answer of Prometheus to a range query.
    Prometheus,
    /// Text of Prometheus or OpenMetrics with timestamps.
    OpenMetrics,
    /// HWiNFO's log.
    HwInfo,
    /// The log of Libre or Open Hardware Monitor.
    HardwareMonitor,
    /// Windows' performance counters as CSV: typeperf, relog, Performance Monitor.
    Perfmon,
    /// A table that Grafana wrote.
    GrafanaCsv,
    /// Netdata's answers as JSON.
    NetdataJson,
    /// collectd's CSV, a file a value.
    Collectd,
    /// Text of iostat or `sar -d`.
    SysstatText,
    /// JSON of iostat or sadf.
    SysstatJson,
    /// CSV of dstat, dool or pcp-dstat.
    Dstat,
    /// Telegraf's metrics as InfluxDB's annotated CSV.
    InfluxCsv,
    /// Telegraf's metrics in InfluxDB's line protocol.
    TelegrafInflux,
    /// Telegraf's metrics as JSON.
    TelegrafJson,
    /// Text of CrystalDiskInfo.
    CrystalDiskInfo,
    /// CSV of Quarch's power modules.
    Quarch,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 28] = [
        Self::Csv,
        Self::FioBwLog,
        Self::FioIopsLog,
        Self::FioLatLog,
        Self::FioHistLog,
        Self::FioJson,
        Self::Iometer,
        Self::IometerInst,
        Self::NvmeJson,
        Self::NvmeText,
        Self::SmartctlJson,
        Self::SmartctlText,
        Self::Prometheus,
        Self::OpenMetrics,
        Self::HwInfo,
        Self::HardwareMonitor,
        Self::Perfmon,
        Self::GrafanaCsv,
        Self::NetdataJson,
        Self::Collectd,
        Self::SysstatText,
        Self::SysstatJson,
        Self::Dstat,
        Self::InfluxCsv,
        Self::TelegrafInflux,
        Self::TelegrafJson,
        Self::CrystalDiskInfo,
        Self::Quarch,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::FioBwLog => "fio-bw-log",
            Self::FioIopsLog => "fio-iops-log",
            Self::FioLatLog => "fio-lat-log",
            Self::FioHistLog => "fio-hist-log",
            Self::FioJson => "fio-json",
            Self::Iometer => "iometer",
            Self::IometerInst => "iometer-inst",
            Self::NvmeJson => "nvme-json",
            Self::NvmeText => "nvme-text",
            Self::SmartctlJson => "smartctl-json",
            Self::SmartctlText => "smartctl-text",
            Self::Prometheus => "prometheus",
            Self::OpenMetrics => "openmetrics",
            Self::HwInfo => "hwinfo",
            Self::HardwareMonitor => "hardware-monitor",
            Self::Perfmon => "perfmon",
            Self::GrafanaCsv => "grafana-csv",
            Self::NetdataJson => "netdata-json",
            Self::Collectd => "collectd",
            Self::SysstatText => "sysstat",
            Self::SysstatJson => "sysstat-json",
            Self::Dstat => "dstat",
            Self::InfluxCsv => "influx-csv",
            Self::TelegrafInflux => "telegraf",
            Self::TelegrafJson => "telegraf-json",
            Self::CrystalDiskInfo => "crystaldiskinfo",
            Self::Quarch => "quarch",
        }
    }

    /// The format with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}
