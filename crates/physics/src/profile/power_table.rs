//! The drives of a published power table: one profile each, made from one text and one line of figures.
//!
//! Figures: "Power consumption and performance of SSDs" (in Japanese, 2023, revised 2024), a maker's
//! article. Read, write, idle and start-up power in watts are the largest that a person read off a
//! wall meter; speeds are of 8 GiB in sequence. A drive on a Gen3 link is derived from its Gen4
//! figures and two properties of the link; its own figures set nothing and are there to be predicted.

use std::fmt::Write as _;
use std::sync::LazyLock;

const TEXT: &str = include_str!("../../profiles/power-table.toml");

/// What the adapter between meter and drive draws by itself, in watts: stated.
pub const ADAPTER_W: f64 = 0.3;
/// What any Gen3 link saves against Gen4, in watts: stated 5.4 W and 5.1 W idle of the enterprise drive.
const GEN3_SAVES_W: f64 = 0.3;
/// What a Gen3 link of four lanes carries in bytes per second: stated 3545 MB/s of the enterprise drive,
/// which reads twice as fast on Gen4, and up to 3576 MB/s in its other columns.
const GEN3_BYTES_PER_S: f64 = 3.55e9;
/// Busy power of the enterprise drive in watts: its stated writes in power states 0, 5, 6 and 7 lie on
/// 6.23 W + 1.69 W per GB/s, 0.83 W above idle.
const ENTERPRISE_ACTIVE_W: f64 = 0.83;
/// Idle power of the enterprise drive on Gen4, in all states: stated.
const ENTERPRISE_IDLE_W: f64 = 5.4;

/// One column of the table: what the meter and the clock showed.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Power while reading, in watts.
    pub read_w: f64,
    /// Power while writing, in watts.
    pub write_w: f64,
    /// Power without load, in watts.
    pub idle_w: f64,
    /// Peak power at start, in watts.
    pub start_w: f64,
    /// Read speed in 10^6 B/s.
    pub read_mb_per_s: f64,
    /// Write speed in 10^6 B/s.
    pub write_mb_per_s: f64,
}

/// One drive of the table.
#[derive(Clone, Copy, Debug)]
pub struct Tabled {
    /// Profile name; on a Gen4 link it ends in `gen4` and has a sibling that ends in `gen3`.
    pub name: &'static str,
    what: &'static str,
    form: Form,
    capacity_gb: u64,
    /// Its column of the table.
    pub column: Column,
    /// What the same drive showed on a Gen3 link.
    pub gen3: Option<Column>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Disk,
    Sata,
    M2,
    U3,
}

const fn column(watts: [f64; 4], mb_per_s: [f64; 2]) -> Column {
    let [read_w, write_w, idle_w, start_w] = watts;
    let [read_mb_per_s, write_mb_per_s] = mb_per_s;
    Column { read_w, write_w, idle_w, start_w, read_mb_per_s, write_mb_per_s }
}

const fn tabled(
    name: &'static str,
    what: &'static str,
    form: Form,
    capacity_gb: u64,
    watts: [f64; 4],
    mb_per_s: [f64; 2],
) -> Tabled {
    Tabled { name, what, form, capacity_gb, column: column(watts, mb_per_s), gen3: None }
}

impl Tabled {
    const fn gen3(mut self, watts: [f64; 4], mb_per_s: [f64; 2]) -> Self {
        self.gen3 = Some(column(watts, mb_per_s));
        self
    }
}

/// Watts are read, write, idle, start; speeds read, write in MB/s.
#[rustfmt::skip]
pub const DRIVES: [Tabled; 18] = [
    tabled("hdd-nas-14tb", "3.5-inch hard disk for NAS, 14 TB, 7200 rpm", Form::Disk, 14_000, [9.3, 8.7, 6.9, 20.9], [255.0, 249.0]),
    tabled("hdd-ent-2tb", "3.5-inch enterprise hard disk, 2 TB, 7200 rpm", Form::Disk, 2000, [13.2, 12.9, 9.3, 22.7], [134.0, 129.0]),
    tabled("hdd-mobile-1tb", "2.5-inch hard disk, 1 TB, 5400 rpm", Form::Disk, 1000, [3.5, 3.4, 1.1, 4.3], [95.0, 90.0]),
    tabled("sata-480gb-dramless", "2.5-inch SATA SSD without DRAM, 480 GB", Form::Sata, 480, [2.5, 2.5, 0.9, 1.3], [559.0, 509.0]),
    tabled("sata-256gb", "2.5-inch SATA SSD, 256 GB", Form::Sata, 256, [3.5, 3.4, 0.9, 1.4], [506.0, 403.0]),
    tabled("sata-500gb", "2.5-inch SATA SSD, 500 GB", Form::Sata, 500, [2.9, 2.9, 2.1, 2.7], [560.0, 466.0]),
    tabled("sata-2tb", "2.5-inch SATA SSD, 2 TB", Form::Sata, 2000, [3.4, 3.4, 0.8, 3.1], [499.0, 511.0]),
    tabled("sata-ent-480gb", "2.5-inch enterprise SATA SSD, 480 GB", Form::Sata, 480, [4.7, 4.8, 1.7, 3.1], [535.0, 485.0]),
    tabled("sata-ent-1920gb", "2.5-inch enterprise SATA SSD, 1.92 TB", Form::Sata, 1920, [4.2, 4.4, 1.8, 2.9], [538.0, 525.0]),
    tabled("sata-ent-3840gb", "2.5-inch enterprise SATA SSD, 3.84 TB", Form::Sata, 3840, [4.4, 4.4, 1.9, 3.3], [531.0, 516.0]),
    tabled("sata-ent-7680gb", "2.5-inch enterprise SATA SSD, 7.68 TB", Form::Sata, 7680, [4.4, 4.9, 1.9, 3.8], [536.0, 519.0]),
    tabled("m2-sata-250gb-dramless", "M.2 SATA SSD without DRAM, 250 GB", Form::Sata, 250, [2.8, 2.6, 1.0, 1.2], [557.0, 371.0]),
    tabled("m2-sata-256gb", "M.2 SATA SSD, 256 GB", Form::Sata, 256, [4.5, 4.0, 1.3, 2.8], [528.0, 516.0]),
    tabled("nvme-256gb-dramless-gen4", "M.2 NVMe SSD without DRAM, 256 GB", Form::M2, 256, [4.6, 4.1, 1.9, 2.8], [3530.0, 1891.0])
        .gen3([4.2, 3.7, 1.7, 2.5], [3447.0, 1979.0]),
    tabled("nvme-512gb-dramless-gen4", "M.2 NVMe SSD without DRAM, 512 GB", Form::M2, 512, [5.0, 5.2, 2.1, 2.8], [3734.0, 3416.0])
        .gen3([4.5, 4.6, 1.8, 2.6], [3476.0, 3156.0]),
    tabled("nvme-512gb-gen4", "M.2 NVMe SSD, 512 GB", Form::M2, 512, [8.0, 6.2, 2.4, 3.6], [6511.0, 3995.0])
        .gen3([5.7, 5.7, 2.1, 3.1], [3542.0, 3292.0]),
    tabled("nvme-2tb-gen4", "M.2 NVMe Gen5 SSD on a Gen4 link, 2 TB, fan not measured", Form::M2, 2000, [10.0, 9.7, 3.0, 4.6], [7064.0, 6437.0])
        .gen3([4.5, 4.6, 1.8, 2.6], [3476.0, 3156.0]),
    tabled(ENTERPRISE, "U.3 enterprise NVMe SSD, 3.84 TB, eight power states", Form::U3, 3840, [13.8, 15.6, 5.4, 5.9], [6907.0, 5450.0])
        .gen3([10.3, 11.1, 5.1, 5.3], [3545.0, 3576.0]),
];

/// The drive that has power states.
pub const ENTERPRISE: &str = "ent-u3-gen4";

/// The enterprise drive in power states 0 to 7: read W, write W, read MB/s, write MB/s.
pub const STATES_GEN4: [[f64; 4]; 8] = [
    [13.8, 15.6, 6907.0, 5450.0],
    [13.9, 15.3, 6894.0, 5472.0],
    [14.0, 15.3, 6900.0, 5482.0],
    [14.5, 15.5, 6893.0, 5481.0],
    [14.0, 15.6, 6898.0, 5490.0],
    [12.2, 12.9, 6811.0, 3865.0],
    [10.3, 10.2, 4746.0, 2259.0],
    [8.5, 8.6, 3146.0, 1512.0],
];
/// The same on a Gen3 link.
pub const STATES_GEN3: [[f64; 4]; 8] = [
    [10.3, 11.1, 3545.0, 3576.0],
    [10.4, 11.3, 3558.0, 3567.0],
    [10.5, 11.3, 3545.0, 3571.0],
    [10.4, 11.4, 3568.0, 3575.0],
    [10.6, 11.3, 3552.0, 3016.0],
    [10.4, 11.3, 3574.0, 3545.0],
    [9.3, 9.3, 3546.0, 2257.0],
    [8.1, 7.9, 3085.0, 1502.0],
];

/// Name and text of every profile of the table.
static TEXTS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let mut texts = Vec::new();
    for drive in &DRIVES {
        texts.push((drive.name.to_owned(), text(drive, false)));
        if drive.gen3.is_some() {
            texts.push((gen3_name(drive.name), text(drive, true)));
        }
    }
    texts
});

/// The name of a drive of the table on a Gen3 link.
pub fn gen3_name(name: &str) -> String {
    name.replace("gen4", "gen3")
}

/// Name and text of every profile of the table, in its order.
pub fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXTS.iter().map(|(name, text)| (name.as_str(), text.as_str()))
}

fn text(drive: &Tabled, gen3: bool) -> String {
    let column = drive.column;
    let active_w = if drive.form == Form::U3 { ENTERPRISE_ACTIVE_W } else { 0.0 };
    // The link saves the same whatever the drive does, so that it is no part of a byte's energy.
    let per_gb = |watts: f64, mb_per_s: f64| (watts - column.idle_w - active_w) / (mb_per_s / 1e3);
    let saved_w = ADAPTER_W + if gen3 { GEN3_SAVES_W } else { 0.0 };
    let name = if gen3 { gen3_name(drive.name) } else { drive.name.to_owned() };
    let mut text = TEXT.to_owned();
    let mut put = |key: &str, value: &str| text = text.replace(&format!("@{key}@"), value);
    put("NAME", &name);
    put("WHAT", &format!("{}{}", drive.what, if gen3 { ", held to a Gen3 link" } else { "" }));
    put("CAPACITY", &(drive.capacity_gb * 1_000_000_000 / 512 * 512).to_string());
    let [grams, kelvin_per_w] = drive.form.body();
    put("CAPACITY_J", &format!("{:?}", grams * 0.08));
    put("CASE_J", &format!("{:?}", grams * 0.72));
    put("INNER_R", &format!("{kelvin_per_w:?}"));
    put("OUTER_R", &format!("{kelvin_per_w:?}"));
    put("IDLE", &format!("{:.2}", column.idle_w - saved_w));
    put("IDLE_NOTE", if gen3 { " and another 0.3 W that Gen3 saves (stated of ent-u3)" } else { "" });
    put("IDLE_STATED", &format!("{:.1}", column.idle_w));
    put("ACTIVE", &format!("{active_w:?}"));
    put("ACTIVE_NOTE", drive.form.active_note());
    let [e_read, wait_w] = if drive.form == Form::U3 {
        enterprise_read()
    } else {
        [per_gb(column.read_w, column.read_mb_per_s), 0.0]
    };
    put("E_READ", &format!("{e_read:.4}"));
    put("E_READ_NOTE", drive.form.read_note());
    put("READ_STATED", &format!("{:.1}", column.read_w));
    put("READ_WAIT", &format!("{wait_w:.3}"));
    put("READ_MB", &format!("{:.1}", column.read_mb_per_s));
    put("E_WRITE", &format!("{:.4}", per_gb(column.write_w, column.write_mb_per_s)));
    put("WRITE_STATED", &format!("{:.1}", column.write_w));
    put("WRITE_MB", &format!("{:.1}", column.write_mb_per_s));
    put("START", &format!("{:.2}", column.start_w - saved_w));
    put("START_STATED", &format!("{:.1}", column.start_w));
    put("START_S", if drive.form == Form::Disk { "10.0" } else { "3.0" });
    put("IOPS", if drive.form == Form::Disk { "2000.0" } else { "90000.0" });
    let (link, note) = drive.form.link(gen3);
    put("LINK", &format!("{link:.3e}"));
    put("LINK_NOTE", note);
    put("STATES", &states(drive));
    text
}

/// Energy of a read byte in W per GB/s, and power of flash that waits for the link, of the enterprise drive.
///
/// State 5 holds reads just below the link, where flash does not wait; state 0 leaves them to the link. At one
/// and a half percent more speed state 0 draws 1.6 W more: all but a tenth of a watt of it is waiting.
fn enterprise_read() -> [f64; 2] {
    let ([link_w, _, link_mb_per_s, _], [held_w, _, held_mb_per_s, _]) = (STATES_GEN4[0], STATES_GEN4[5]);
    let busy_w = ENTERPRISE_IDLE_W + ENTERPRISE_ACTIVE_W;
    let e_read = (held_w - busy_w) / held_mb_per_s * 1e3;
    [e_read, link_w - busy_w - e_read * link_mb_per_s / 1e3]
}

/// The power states as TOML. Those of the enterprise drive are set from its Gen4 figures alone.
fn states(drive: &Tabled) -> String {
    let column = drive.column;
    let most_w = column.read_w.max(column.write_w);
    let mut text = String::new();
    let stated: &[[f64; 4]] = if drive.form == Form::U3 { &STATES_GEN4 } else { &[[0.0; 4]] };
    let [e_read, _] = enterprise_read();
    for (i, [read_w, write_w, read_mb_per_s, write_mb_per_s]) in stated.iter().enumerate() {
        let limit_w = if i == 0 { most_w } else { read_w.max(*write_w) };
        let _ = writeln!(
            text,
            "[[power_state]]\nmax_power_w = {limit_w:.1} # stated: the larger of read and write"
        );
        // States 0 to 4 are the same but for noise, says the source; they are left without limits.
        if i >= 5 {
            let scale = (read_w - column.idle_w - ENTERPRISE_ACTIVE_W) / read_mb_per_s * 1e3 / e_read;
            let _ = writeln!(text, "read_cap_bytes_per_s = {read_mb_per_s:.1}e6 # stated");
            let _ = writeln!(text, "write_cap_bytes_per_s = {write_mb_per_s:.1}e6 # stated");
            let _ = writeln!(
                text,
                "read_energy_scale = {scale:.3} # derived: (stated {read_w:.1} W - idle - active) over the speed, against the energy of a byte above"
            );
        }
        text.push('\n');
    }
    text
}

impl Form {
    /// Grams and half of the kelvins per watt to the air: usual of the form factor.
    const fn body(self) -> [f64; 2] {
        match self {
            Self::Disk => [500.0, 0.5],
            Self::Sata => [50.0, 3.0],
            Self::M2 => [40.0, 1.5],
            Self::U3 => [150.0, 0.9],
        }
    }

    const fn active_note(self) -> &'static str {
        match self {
            Self::U3 => {
                "derived: writes in power states 0, 5, 6, 7 lie on 6.23 W + 1.69 W per GB/s, above 5.4 W idle"
            }
            _ => "chosen: one point each for reads and writes cannot tell busy power from energy of a byte",
        }
    }

    const fn read_note(self) -> &'static str {
        match self {
            Self::U3 => {
                "derived: (stated 12.2 W of state 5 - idle - active) / stated 6811 MB/s, where no flash waits"
            }
            _ => "derived: (stated W - idle - active) / stated MB/s",
        }
    }

    /// What the link carries, and why.
    const fn link(self, gen3: bool) -> (f64, &'static str) {
        match self {
            Self::Disk | Self::Sata => (600e6, "stated: 600 MB/s of SATA 3"),
            Self::M2 | Self::U3 if gen3 => {
                (GEN3_BYTES_PER_S, "derived: stated 3545 to 3576 MB/s of ent-u3 on Gen3")
            }
            Self::M2 | Self::U3 => (7.2e9, "chosen: Gen4 x4 after packet headers, above every stated speed"),
        }
    }
}
