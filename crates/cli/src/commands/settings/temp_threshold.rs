//! `heatsoak temp-threshold`: where a drive warns of heat and cold.

use drive::settings::{Change, Setting, SettingValues, SettingsError, Value};
use measure::Kelvin;
use nvme::feature::Select;
use nvme::feature::temperature::{TemperatureThreshold, ThresholdSelector, ThresholdSensor, ThresholdSide};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Document, SettingJson, change, kelvin, summary};
use crate::Exit;
use crate::args::TempThresholdArgs;
use crate::commands::documents::JsonDocument as _;
use crate::open_settings::{OpenSettings, open_settings};
use crate::printer::Printer;
use crate::table;

/// Sensors that a drive may have (NVMe Base 2.3, SMART log).
const SENSORS: u8 = 8;

/// The thresholds in JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ThresholdRows {
    /// Each sensor, over and under.
    thresholds: Vec<ThresholdJson>,
}

/// One threshold, in kelvins; FFFFh above and 0 below never warn.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ThresholdJson {
    /// `composite`, or `sensor1` to `sensor8`.
    sensor: String,
    /// `over` or `under`.
    side: &'static str,
    #[serde(flatten)]
    values: SettingJson<u16>,
}

/// Shows, or changes.
pub(crate) fn execute(args: &TempThresholdArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    refuse_always(args)?;
    let mut opened = open_settings(&args.drive)?;
    let sensor = args.sensor.map_or(ThresholdSensor::Composite, ThresholdSensor::Sensor);
    let wanted = [(ThresholdSide::Over, args.over), (ThresholdSide::Under, args.under)];
    let mut changes = Vec::new();
    for (side, temperature) in wanted {
        let Some(temperature) = temperature else { continue };
        changes.push(to(&mut opened, ThresholdSelector { sensor, side }, temperature)?);
    }
    let mut changed = Vec::new();
    let address = opened.address.clone();
    if changes.is_empty() {
        if args.save {
            anyhow::bail!("--save keeps a change over power cycles: say which, with --over or --under");
        }
        opened.warn_of_journal(printer);
    } else {
        let save = if args.save { " --save" } else { "" };
        let typed = |change: &Change| typed(&address, change, save);
        changed = change(&mut opened, &changes, args.save, typed, printer)?;
    }
    let sensors = if args.sensor.is_some() { vec![sensor] } else { sensors(&mut opened.settings) };
    let thresholds = read_all(&mut opened.settings, &sensors)?;
    if args.json {
        let thresholds = thresholds.iter().map(|(which, values)| json(*which, values)).collect();
        printer.json(&Document {
            schema: Document::<ThresholdRows>::SCHEMA,
            drive: opened.drive_json(),
            setting: ThresholdRows { thresholds },
            changed,
        })?;
    } else if changed.is_empty() {
        let width = printer.data_width();
        printer.data(&for_people(&opened, &thresholds, width))?;
    } else {
        printer.data(&summary(&changed, &opened))?;
    }
    Ok(Exit::Done)
}

/// Refuses two thresholds that no temperature lies between.
fn refuse_always(args: &TempThresholdArgs) -> anyhow::Result<()> {
    let over = args.over.filter(|over| over.as_kelvin() != u16::MAX);
    match (over, args.under) {
        (Some(over), Some(under)) if over <= under => anyhow::bail!(
            "cannot set --over {over} with --under {under} on {}: the drive would warn at every temperature; name an \
             --under below --over",
            args.drive
        ),
        _ => Ok(()),
    }
}

/// The change of one threshold that leaves its hysteresis alone.
fn to(opened: &mut OpenSettings, which: ThresholdSelector, temperature: Kelvin) -> anyhow::Result<Change> {
    let found = opened.settings.get(Setting::Threshold(which), Select::Current);
    let before = match found {
        Ok(value) => threshold(which, value),
        Err(error) if error.is_unsupported() => anyhow::bail!(
            "cannot set the {} of {}: the drive has no such threshold ({error})",
            Setting::Threshold(which).name(),
            opened.address
        ),
        Err(error) => return Err(error.into()),
    };
    Ok(Change::threshold(TemperatureThreshold { temperature, ..before }))
}

/// What to type to have this value.
fn typed(address: &str, change: &Change, save: &str) -> String {
    let Setting::Threshold(which) = change.setting else { return String::new() };
    let raw = threshold(which, change.value).temperature.as_kelvin();
    let sensor = match which.sensor {
        ThresholdSensor::Sensor(number) => format!(" --sensor {number}"),
        ThresholdSensor::Composite | ThresholdSensor::All => String::new(),
    };
    let value = match which.side {
        ThresholdSide::Over => format!("--over {}", kelvin(raw, u16::MAX)),
        ThresholdSide::Under => format!("--under {}", kelvin(raw, 0)),
    };
    format!("heatsoak temp-threshold {address}{sensor} {value}{save}")
}

/// A value as a threshold.
pub(crate) fn threshold(which: ThresholdSelector, value: Value) -> TemperatureThreshold {
    let dword = if let Value::Dword(dword) = value { dword } else { 0 };
    TemperatureThreshold::from_dword(which, dword)
}

/// The sensors that the drive has. Others are not asked for: drives keep a log of what they had to refuse.
pub(crate) fn sensors(settings: &mut drive::settings::DriveSettings<'_>) -> Vec<ThresholdSensor> {
    let log = settings.controller().smart_log().ok();
    let there = |number: &u8| {
        let index = usize::from(*number) - 1;
        log.as_ref().and_then(|log| log.sensors.get(index)).is_some_and(Option::is_some)
    };
    let numbered = (1..=SENSORS).filter(there).map(ThresholdSensor::Sensor);
    std::iter::once(ThresholdSensor::Composite).chain(numbered).collect()
}

/// The thresholds of these sensors, as far as the drive has them.
///
/// # Errors
/// When the drive does not answer; a threshold that it does not have is left out.
pub(crate) fn read_all(
    settings: &mut drive::settings::DriveSettings<'_>,
    sensors: &[ThresholdSensor],
) -> Result<Vec<(ThresholdSelector, SettingValues)>, SettingsError> {
    let mut thresholds = Vec::new();
    for &sensor in sensors {
        for side in [ThresholdSide::Over, ThresholdSide::Under] {
            let which = ThresholdSelector { sensor, side };
            match settings.read(Setting::Threshold(which)) {
                Ok(values) => thresholds.push((which, values)),
                Err(error) if error.is_unsupported() => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(thresholds)
}

/// A threshold in JSON.
pub(crate) fn json(which: ThresholdSelector, values: &SettingValues) -> ThresholdJson {
    ThresholdJson {
        sensor: match which.sensor {
            ThresholdSensor::Composite => "composite".to_owned(),
            ThresholdSensor::Sensor(number) => format!("sensor{number}"),
            ThresholdSensor::All => "all".to_owned(),
        },
        side: if which.side == ThresholdSide::Over { "over" } else { "under" },
        values: SettingJson::new(values, |value| threshold(which, value).temperature.as_kelvin()),
    }
}

fn for_people(
    opened: &OpenSettings,
    thresholds: &[(ThresholdSelector, SettingValues)],
    width: usize,
) -> String {
    let heading = table::paragraph(&opened.heading(), "", width);
    if thresholds.is_empty() {
        return format!("{heading}\nNo temperature threshold is reported.\n");
    }
    [
        heading,
        table::fitted(&thresholds_table(thresholds), width),
        table::paragraph("Thresholds raise warnings; they do not throttle.", "", width),
    ]
    .join("\n")
}

/// The thresholds as a table.
pub(crate) fn thresholds_table(thresholds: &[(ThresholdSelector, SettingValues)]) -> Vec<[String; 4]> {
    let heading = ["THRESHOLD", "NOW", "DEFAULT", "SAVED"].map(str::to_owned);
    let rows = thresholds.iter().map(|(which, values)| {
        let setting = Setting::Threshold(*which);
        let cell = |value: Option<Value>| {
            value.map_or_else(|| "not reported".to_owned(), |value| setting.text_of(value))
        };
        let name = setting.name().replace("-temperature threshold", "");
        let [now, default, saved] = [Some(values.current), values.default, values.saved].map(cell);
        [name, now, default, saved]
    });
    std::iter::once(heading).chain(rows).collect()
}
