//! `heatsoak hctm`: the two thermal management temperatures of a drive.

use drive::settings::{Change, Setting, SettingValues, Value};
use measure::Kelvin;
use measure::record::ThermalSettings;
use nvme::feature::DwordFeature as _;
use nvme::hctm::{Hctm, HctmLimits, RULE};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Document, SettingJson, can, change, kelvin, summary};
use crate::Exit;
use crate::args::HctmArgs;
use crate::commands::documents::JsonDocument as _;
use crate::open_settings::{OpenSettings, open_settings};
use crate::printer::Printer;
use crate::table;

/// The setting in JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HctmSetting {
    /// Whether the drive has it (HCTMA).
    supported: bool,
    /// Lowest temperature that it takes (MNTMT); `null` when not reported.
    min_k: Option<u16>,
    /// Highest temperature that it takes (MXTMT).
    max_k: Option<u16>,
    /// The thresholds; `null` where the drive has none.
    hctm: Option<SettingJson<HctmJson>>,
}

/// A pair of temperatures; 0 is off.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HctmJson {
    /// Light throttling from this temperature on (TMT1); 0 is off.
    pub(crate) tmt1_k: u16,
    /// Heavy throttling from this temperature on (TMT2); 0 is off.
    pub(crate) tmt2_k: u16,
}

/// Shows, or changes.
pub(crate) fn execute(args: &HctmArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let mut opened = open_settings(&args.drive)?;
    let wanted = ThermalSettings {
        tmt1_k: args.tmt1.map(Kelvin::as_kelvin),
        tmt2_k: args.tmt2.map(Kelvin::as_kelvin),
        power_state: None,
    };
    let mut changed = Vec::new();
    let address = opened.address.clone();
    if wanted == ThermalSettings::default() {
        if args.save {
            anyhow::bail!("--save keeps a change over power cycles: say which, with --tmt1 or --tmt2");
        }
        opened.warn_of_journal(printer);
    } else {
        let changes = opened.settings.changes(&wanted)?;
        let save = if args.save { " --save" } else { "" };
        let typed = |change: &Change| typed(&address, change, save);
        changed = change(&mut opened, &changes, args.save, typed, printer)?;
    }
    let limits = opened.settings.identify().hctm;
    let values = if limits.supported { Some(opened.settings.read(Setting::Hctm)?) } else { None };
    if args.json {
        let setting = HctmSetting {
            supported: limits.supported,
            min_k: limits.min.map(Kelvin::as_kelvin),
            max_k: limits.max.map(Kelvin::as_kelvin),
            hctm: values.map(|values| SettingJson::new(&values, json)),
        };
        printer.json(&Document {
            schema: Document::<HctmSetting>::SCHEMA,
            drive: opened.drive_json(),
            setting,
            changed,
        })?;
        return Ok(Exit::Done);
    }
    if changed.is_empty() {
        let width = printer.data_width();
        printer.data(&for_people(&opened, limits, values, width))?;
    } else {
        printer.data(&summary(&changed, &opened))?;
    }
    Ok(Exit::Done)
}

/// What to type to have these values.
fn typed(address: &str, change: &Change, save: &str) -> String {
    let HctmJson { tmt1_k, tmt2_k } = json(change.value);
    format!("heatsoak hctm {address} --tmt1 {} --tmt2 {}{save}", kelvin(tmt1_k, 0), kelvin(tmt2_k, 0))
}

/// A value as numbers.
pub(crate) fn json(value: Value) -> HctmJson {
    let hctm = hctm(value);
    let raw = |kelvin: Option<Kelvin>| kelvin.map_or(0, Kelvin::as_kelvin);
    HctmJson { tmt1_k: raw(hctm.tmt1), tmt2_k: raw(hctm.tmt2) }
}

/// A value as temperatures.
pub(crate) fn hctm(value: Value) -> Hctm {
    let off = Hctm { tmt1: None, tmt2: None };
    match value {
        Value::Dword(dword) => Hctm::decode(dword).unwrap_or(off),
        Value::Latency(_) | Value::Provisioning(_) | Value::Size(_) => off,
    }
}

fn for_people(
    opened: &OpenSettings,
    limits: HctmLimits,
    values: Option<SettingValues>,
    width: usize,
) -> String {
    let mut text = table::paragraph(&opened.heading(), "", width) + "\n";
    let Some(values) = values else {
        text.push_str(&table::paragraph(
            "The drive does not support host controlled thermal management (HCTMA is 0): only firmware thresholds apply.",
            "",
            width,
        ));
        return text;
    };
    let row = |name: &str, of: fn(Hctm) -> Option<Kelvin>, meaning: &str| {
        let cell = |value: Option<Value>| match value.map(|value| of(hctm(value))) {
            None => "not reported".to_owned(),
            Some(None) => "off".to_owned(),
            Some(Some(kelvin)) => format!("{kelvin} ({} K)", kelvin.as_kelvin()),
        };
        let [now, default, saved] = [Some(values.current), values.default, values.saved].map(cell);
        [name.to_owned(), now, default, saved, meaning.to_owned()]
    };
    let rows = [
        ["", "NOW", "DEFAULT", "SAVED", "EFFECT"].map(str::to_owned),
        row("TMT1", |hctm| hctm.tmt1, "light throttling"),
        row("TMT2", |hctm| hctm.tmt2, "heavy throttling"),
    ];
    text.push_str(&table::fitted(&rows, width));
    text.push('\n');
    text.push_str(&table::paragraph(&format!("Range: {}; {RULE}.", limits_text(limits)), "", width));
    text.push_str(&table::paragraph(can(values.capabilities), "", width));
    text
}

/// The range that the drive reports.
pub(crate) fn limits_text(limits: HctmLimits) -> String {
    let one = |kelvin: Kelvin| format!("{kelvin} ({} K)", kelvin.as_kelvin());
    match (limits.min, limits.max) {
        (Some(min), Some(max)) => format!("{} to {}", one(min), one(max)),
        (Some(min), None) => format!("{} and above", one(min)),
        (None, Some(max)) => format!("up to {}", one(max)),
        (None, None) => "not reported".to_owned(),
    }
}
