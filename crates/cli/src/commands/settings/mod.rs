//! `heatsoak hctm`, `power-state`, `temp-threshold` and `restore`: settings of a drive, by hand.
//!
//! Unlike a run, these change for good: until the next power cycle, or beyond it with `--save`. They say what was
//! before and how to put it back, before they send anything. While a run's journal is open on a drive they refuse.

pub(crate) mod hctm;
pub(crate) mod power_state;
pub(crate) mod restore;
pub(crate) mod temp_threshold;

use drive::settings::{Applied, Change, SettingValues, Value};
use nvme::feature::Capabilities;
use schemars::JsonSchema;
use serde::Serialize;

use crate::open_settings::{DriveJson, OpenSettings};
use crate::printer::Printer;

/// A setting in JSON: the same words for all of them.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SettingOf{V}")]
pub(crate) struct SettingJson<V: Serialize> {
    /// In force now.
    pub(crate) current: V,
    /// As the drive was made; `null` when it does not tell.
    pub(crate) default: Option<V>,
    /// In force after the next power cycle; `null` when it does not tell.
    pub(crate) saved: Option<V>,
    /// `null` when it does not tell.
    pub(crate) changeable: Option<bool>,
    /// `null` when it does not tell.
    pub(crate) saveable: Option<bool>,
}

impl<V: Serialize> SettingJson<V> {
    /// Every value as `show` has it.
    pub(crate) fn new(values: &SettingValues, show: impl Fn(Value) -> V) -> Self {
        Self {
            current: show(values.current),
            default: values.default.map(&show),
            saved: values.saved.map(&show),
            changeable: values.capabilities.map(|can| can.changeable),
            saveable: values.capabilities.map(|can| can.saveable),
        }
    }
}

/// The document of a command about one setting.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Document<S> {
    /// Version of this format.
    schema: u32,
    /// The drive.
    drive: DriveJson,
    #[serde(flatten)]
    setting: S,
    /// What was changed; empty where nothing was asked to be.
    changed: Vec<ChangeJson>,
}

/// A change that was made and read back.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangeJson {
    /// Which setting.
    setting: String,
    /// What it was.
    before: String,
    /// What was read back.
    now: String,
    /// What was saved before; `null` where nothing was saved.
    saved_before: Option<String>,
    /// Whether it was saved over power cycles.
    saved: bool,
    /// What to type to undo it.
    put_back: String,
}

/// Makes changes that stay; says before the first of them what is there and how to have it back.
///
/// `typed` is what to type to have a value of a change.
fn change(
    opened: &mut OpenSettings,
    changes: &[Change],
    save: bool,
    typed: impl Fn(&Change) -> String,
    printer: &mut Printer,
) -> anyhow::Result<Vec<ChangeJson>> {
    let _claim = opened.claim()?;
    for change in changes {
        opened.settings.check(change)?;
    }
    let mut made = Vec::new();
    for change in changes {
        let before = opened.settings.get(change.setting, nvme::feature::Select::Current)?;
        let put_back = typed(&Change { setting: change.setting, value: before });
        printer.message(&format!(
            "{}: {}; to put it back: {put_back}",
            change.setting.name(),
            change.setting.text_of(before)
        ));
        let applied = opened.settings.apply(change, save)?;
        made.push(change_json(&applied, put_back));
    }
    Ok(made)
}

fn change_json(applied: &Applied, put_back: String) -> ChangeJson {
    let text = |value: Value| applied.setting.text_of(value);
    ChangeJson {
        setting: applied.setting.to_string(),
        before: text(applied.before),
        now: text(applied.now),
        saved_before: applied.saved_before.map(text),
        saved: applied.saved,
        put_back,
    }
}

/// What was changed, for people.
fn summary(changes: &[ChangeJson], opened: &OpenSettings) -> String {
    let mut text = String::new();
    for change in changes {
        let how_long = opened.lasts(change.saved);
        text.push_str(&format!("{} (was: {}), read back; {how_long}\n", change.now, change.before));
        if let Some(saved) = &change.saved_before {
            text.push_str(&format!("saved before: {saved}\n"));
        }
    }
    text
}

/// Whether it can be changed and saved, as far as the drive tells.
fn can(capabilities: Option<Capabilities>) -> &'static str {
    match capabilities {
        None => "The drive does not report whether it is changeable or saveable.",
        Some(Capabilities { changeable: false, .. }) => "Not changeable.",
        Some(Capabilities { saveable: true, .. }) => "Changeable and saveable.",
        Some(Capabilities { saveable: false, .. }) => "Changeable, not saveable.",
    }
}

/// A temperature as it is typed again, exactly.
fn kelvin(raw: u16, off: u16) -> String {
    if raw == off { "off".to_owned() } else { format!("{raw}K") }
}
