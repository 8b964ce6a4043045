//! The keys of each table of a plan file.

use super::table::Shape;

const IN_A_PHASE: &str = "in a [[phase]]";
const AT_THE_TOP: &str = "at the top of the file, before the first line in brackets";
const IN_TELEMETRY: &str = "in the table [telemetry]";
const IN_SETTINGS: &str = "in the table [settings]";

const PLAN_KEYS: &[&str] = &[
    "name",
    "description",
    "interval",
    "seed",
    "stop_at",
    "stop_unwatched",
    "max_errors",
    "record_ops",
    "drive",
    "notes",
    "telemetry",
    "settings",
    "sweep",
    "phase",
    "rounds",
];
const TELEMETRY_KEYS: &[&str] = &["smart_period", "hwmon_period", "blockstat_period", "power"];
const IN_A_SETTING: &str = "in a [[sweep.setting]]";
const SETTING_KEYS: &[&str] = &["name", "tmt1", "tmt2", "power_state", "link", "ambient"];
const SETTINGS_KEYS: &[&str] = &["tmt1", "tmt2", "power_state"];
const LOAD_KEYS: &[&str] = &[
    "name",
    "op",
    "order",
    "mix",
    "block_size",
    "block_sizes",
    "depth",
    "threads",
    "sharing",
    "region",
    "align",
    "rate",
    "rate_iops",
    "bytes",
    "laps",
    "duration",
    "think_time",
    "visit_once",
    "data",
    "direct",
    "seed",
];
/// A load's keys, then those of the phase alone.
const PHASE_KEYS: &[&str] = &[
    "name",
    "op",
    "order",
    "mix",
    "block_size",
    "block_sizes",
    "depth",
    "threads",
    "sharing",
    "region",
    "align",
    "rate",
    "rate_iops",
    "bytes",
    "laps",
    "duration",
    "think_time",
    "visit_once",
    "data",
    "direct",
    "seed",
    "start_delay",
    "until_below",
    "load",
];

pub(super) static PLAN: Shape = Shape {
    what: "the plan",
    keys: PLAN_KEYS,
    elsewhere: &[(TELEMETRY_KEYS, IN_TELEMETRY), (SETTINGS_KEYS, IN_SETTINGS), (PHASE_KEYS, IN_A_PHASE)],
};
pub(super) static TELEMETRY: Shape = Shape {
    what: "the table [telemetry]",
    keys: TELEMETRY_KEYS,
    elsewhere: &[(PLAN_KEYS, AT_THE_TOP), (SETTINGS_KEYS, IN_SETTINGS), (PHASE_KEYS, IN_A_PHASE)],
};
pub(super) static SETTINGS: Shape = Shape {
    what: "the table [settings]",
    keys: SETTINGS_KEYS,
    elsewhere: &[(PLAN_KEYS, AT_THE_TOP), (TELEMETRY_KEYS, IN_TELEMETRY), (PHASE_KEYS, IN_A_PHASE)],
};
pub(super) static PHASE: Shape = Shape {
    what: "a phase",
    keys: PHASE_KEYS,
    elsewhere: &[(PLAN_KEYS, AT_THE_TOP), (TELEMETRY_KEYS, IN_TELEMETRY), (SETTINGS_KEYS, IN_SETTINGS)],
};
pub(super) static LOAD: Shape = Shape {
    what: "a load",
    keys: LOAD_KEYS,
    elsewhere: &[
        (&["start_delay", "until_below"], "in the [[phase]] itself, before its first [[phase.load]]"),
        (PLAN_KEYS, AT_THE_TOP),
        (TELEMETRY_KEYS, IN_TELEMETRY),
        (SETTINGS_KEYS, IN_SETTINGS),
    ],
};
pub(super) static SWEEP: Shape = Shape {
    what: "the table [sweep]",
    keys: &["deallocate", "cool_to", "cool_at_most", "setting"],
    elsewhere: &[(SETTING_KEYS, IN_A_SETTING)],
};
pub(super) static ROUNDS: Shape = Shape {
    what: "the table [rounds]",
    keys: &["at_most", "until_steady", "phase"],
    elsewhere: &[(PHASE_KEYS, "in a [[rounds.phase]]"), (PLAN_KEYS, AT_THE_TOP)],
};
pub(super) static SETTING: Shape = Shape {
    what: "a setting of a sweep",
    keys: SETTING_KEYS,
    elsewhere: &[(&["deallocate", "cool_to", "cool_at_most"], "in the table [sweep]")],
};
pub(super) static MIX: Shape = Shape { what: "a mix", keys: &["read", "write", "trim"], elsewhere: &[] };
pub(super) static REGION: Shape = Shape { what: "a region", keys: &["start", "len"], elsewhere: &[] };
pub(super) static WEIGHTED_SIZE: Shape =
    Shape { what: "a size in a list", keys: &["size", "weight"], elsewhere: &[] };
pub(super) static SIZE_RANGE: Shape =
    Shape { what: "a range of sizes", keys: &["min", "max", "step", "distribution"], elsewhere: &[] };
pub(super) static POWER: Shape =
    Shape { what: "a power source", keys: &["hwmon", "command", "csv", "period"], elsewhere: &[] };
