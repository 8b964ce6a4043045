//! `heatsoak power-state`: the power states of a drive, and which it is in.

use drive::settings::{Change, Setting, SettingValues, Value};
use nvme::feature::DwordFeature as _;
use nvme::feature::power::PowerManagement;
use nvme::identify::PowerState;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Document, SettingJson, can, change, summary};
use crate::Exit;
use crate::args::PowerStateArgs;
use crate::commands::documents::JsonDocument as _;
use crate::open_settings::{OpenSettings, open_settings};
use crate::printer::Printer;
use crate::table;

/// The setting in JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PowerSetting {
    /// The power state.
    power_state: SettingJson<u8>,
    /// The states that the drive has.
    states: Vec<StateJson>,
}

/// A power state; what is not reported is `null`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StateJson {
    /// Its number.
    number: usize,
    /// Most power (MP).
    max_power_w: Option<f64>,
    /// Power when idle (IDLP).
    idle_power_w: Option<f64>,
    /// Power under load (ACTP).
    active_power_w: Option<f64>,
    /// Whether it serves I/O.
    operational: bool,
    /// Time to enter it (ENLAT).
    entry_us: Option<u64>,
    /// Time to leave it (EXLAT).
    exit_us: Option<u64>,
}

impl StateJson {
    /// State `number`.
    pub(crate) fn new(number: usize, state: &PowerState) -> Self {
        let watts = |power: Option<nvme::power::ScaledPower>| power.map(|power| power.watts().as_f64());
        let us = |span: Option<std::time::Duration>| span.map(|span| span.as_micros() as u64);
        Self {
            number,
            max_power_w: watts(state.max_power),
            idle_power_w: watts(state.idle_power),
            active_power_w: watts(state.active_power),
            operational: !state.non_operational,
            entry_us: us(state.entry_latency),
            exit_us: us(state.exit_latency),
        }
    }
}

/// Shows, or changes.
pub(crate) fn execute(args: &PowerStateArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let mut opened = open_settings(&args.drive)?;
    let mut changed = Vec::new();
    let address = opened.address.clone();
    match args.state {
        None => opened.warn_of_journal(printer),
        Some(wanted) => {
            let wanted = opened.settings.power_change(wanted)?;
            let save = if args.save { " --save" } else { "" };
            let typed =
                |change: &Change| format!("heatsoak power-state {address} {}{save}", state(change.value));
            warn_of_sleep(&opened, &wanted, printer);
            changed = change(&mut opened, &[wanted], args.save, typed, printer)?;
        }
    }
    let values = opened.settings.read(Setting::PowerState)?;
    if args.json {
        let states = opened.settings.identify().power_states.iter().enumerate();
        let states = states.map(|(number, state)| StateJson::new(number, state)).collect();
        let setting = PowerSetting { power_state: SettingJson::new(&values, state), states };
        printer.json(&Document {
            schema: Document::<PowerSetting>::SCHEMA,
            drive: opened.drive_json(),
            setting,
            changed,
        })?;
    } else if changed.is_empty() {
        let width = printer.data_width();
        printer.data(&for_people(&opened, &values, width))?;
    } else {
        printer.data(&summary(&changed, &opened))?;
    }
    Ok(Exit::Done)
}

/// The number of the state.
pub(crate) fn state(value: Value) -> u8 {
    match value {
        Value::Dword(dword) => PowerManagement::decode(dword).map_or(0, |power| power.state),
        Value::Latency(_) | Value::Provisioning(_) | Value::Size(_) => 0,
    }
}

fn warn_of_sleep(opened: &OpenSettings, change: &Change, printer: &mut Printer) {
    let number = state(change.value);
    let states = &opened.settings.identify().power_states;
    if states.get(usize::from(number)).is_some_and(|state| state.non_operational) {
        printer.warning(&format!(
            "power state {number} serves no I/O: the drive leaves it at the next one, for the last state that does"
        ));
    }
}

fn for_people(opened: &OpenSettings, values: &SettingValues, width: usize) -> String {
    let states = states_table(&opened.settings.identify().power_states, Some(state(values.current)));
    let number = |value: Option<Value>| {
        value.map_or_else(|| "not reported".to_owned(), |value| state(value).to_string())
    };
    let rest = format!(
        "Default: {}. After a power cycle: {}. {}",
        number(values.default),
        number(values.saved),
        can(values.capabilities)
    );
    [
        table::paragraph(&opened.heading(), "", width),
        table::fitted(&states, width),
        table::paragraph(&rest, "", width),
    ]
    .join("\n")
}

/// The states as a table, the present one marked.
pub(crate) fn states_table(states: &[PowerState], now: Option<u8>) -> Vec<[String; 6]> {
    let heading = ["STATE", "MAX POWER", "IDLE POWER", "SERVES I/O", "ENTRY", "EXIT"].map(str::to_owned);
    let rows = states.iter().enumerate().map(|(number, state)| {
        let watts = |power: Option<nvme::power::ScaledPower>| {
            power.map_or_else(|| "-".to_owned(), |power| power.watts().to_string())
        };
        let span = |span: Option<std::time::Duration>| {
            span.map_or_else(|| "-".to_owned(), |span| format!("{} µs", span.as_micros()))
        };
        let mark = if now.map(usize::from) == Some(number) { " (now)" } else { "" };
        [
            format!("{number}{mark}"),
            watts(state.max_power),
            watts(state.idle_power),
            if state.non_operational { "no".to_owned() } else { "yes".to_owned() },
            span(state.entry_latency),
            span(state.exit_latency),
        ]
    });
    std::iter::once(heading).chain(rows).collect()
}
