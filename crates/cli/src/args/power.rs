//! What may be typed about power meters: `heatsoak meter`, and `--power` and `--baseline` of `heatsoak run`.

use std::path::Path;
use std::time::Duration;

use clap::{Args, ValueEnum};
use measure::record::PowerBaseline;
use measure::{input, parse};
use plan::MeterAddress;
use serde_json::Value;

/// Below the help of `heatsoak meter`.
pub(crate) const AFTER_METER_HELP: &str = "\
Addresses (the same as for `heatsoak run --power`; options behind ?, several with &):
  hwmon:NAME[/LABEL], hwmon:/sys/...     a chip of the kernel: INA226, INA3221, POWER-Z, PMBus
  scpi://HOST[:5025]?ask=MEAS:POW?       an instrument; scpi:/dev/usbtmc0?ask=... by USB; item=N
  http://HOST/PATH#/json/pointer         a plug or a script; header-file=FILE, query-file=FILE
  pipe:COMMAND                           a program that prints a line a reading: watts, or a time
                                         and watts; pipe:?at=adapter COMMAND for options
  exec:COMMAND                           a program that is started for each reading
  csv:FILE?t=COLUMN&p=COLUMN             merged when the run ends; clock=run or unix
  drive:                                 the drive's own measurement, for `heatsoak run`
Options of all: period=1s unit=mW at=wall|adapter|drive|system window=1s lag=2s step=0.1W
  accuracy=1%25

Examples:
  heatsoak meter hwmon:ina226
  heatsoak meter 'http://plug/rpc/Switch.GetStatus?id=0#/apower?at=wall'
  heatsoak meter 'http://plug/meter/0#/power' --json > empty.json   the rig without the drive
  heatsoak run power --power 'http://plug/meter/0#/power' --baseline empty.json";

/// How `heatsoak compare --power-table` writes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TableFormatArg {
    /// For a terminal
    Text,
    /// A Markdown table
    Markdown,
    /// One line a run
    Csv,
    /// A page
    Html,
}

impl From<TableFormatArg> for report::PowerTableFormat {
    fn from(format: TableFormatArg) -> Self {
        match format {
            TableFormatArg::Text => Self::Text,
            TableFormatArg::Markdown => Self::Markdown,
            TableFormatArg::Csv => Self::Csv,
            TableFormatArg::Html => Self::Html,
        }
    }
}

/// `heatsoak meter`.
#[derive(Debug, Args)]
pub(crate) struct MeterArgs {
    /// The meter
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: MeterAddress,
    /// How long to read it
    #[arg(long, value_name = "TIME", value_parser = parse::duration, default_value = "20s")]
    pub(crate) duration: Duration,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where power is read in a run.
#[derive(Debug, Default, Args)]
pub(crate) struct PowerArgs {
    /// Read a power meter beside the load, such as hwmon:ina226 or scpi://HOST?ask=MEAS:POW?; repeatable, figures are
    /// of the first (`heatsoak meter --help` lists the addresses)
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) power: Vec<MeterAddress>,
    /// Power that the meter shows without the drive, such as 0.3W, 0.3W+-0.05W, or a file of `heatsoak meter --json`:
    /// taken off every figure
    #[arg(long, value_name = "WATTS|FILE", value_parser = baseline)]
    pub(crate) baseline: Option<PowerBaseline>,
}

fn baseline(typed: &str) -> Result<PowerBaseline, String> {
    let (watts, plus_minus) = match typed.split_once("+-").or_else(|| typed.split_once('±')) {
        Some((watts, plus_minus)) => (watts, Some(plus_minus)),
        None => (typed, None),
    };
    let number = |text: &str| {
        let number = text.trim().strip_suffix('W')?.trim_end();
        let (number, scale) = number.strip_suffix('m').map_or((number, 1.0), |number| (number, 1e-3));
        number
            .trim()
            .parse::<f64>()
            .ok()
            .map(|number| number * scale)
            .filter(|watts| (0.0..1000.0).contains(watts))
    };
    match (number(watts), plus_minus.map(number)) {
        (Some(watts), None) => Ok(PowerBaseline { watts, plus_minus_w: 0.0 }),
        (Some(watts), Some(Some(plus_minus_w))) => Ok(PowerBaseline { watts, plus_minus_w }),
        _ if Path::new(typed).exists() => measured_baseline(Path::new(typed)),
        _ => Err(format!(
            "{typed:?} is neither watts such as 0.3W or 0.3W+-0.05W, nor a file of `heatsoak meter ADDRESS --json`"
        )),
    }
}

fn measured_baseline(path: &Path) -> Result<PowerBaseline, String> {
    let what = "the output of `heatsoak meter ADDRESS --json`";
    let text =
        input::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let document: Value =
        serde_json::from_str(&text).map_err(|error| format!("{} is not {what}: {error}", path.display()))?;
    let number = |key: &str| document.get(key).and_then(Value::as_f64);
    match (number("mean_w"), number("plus_minus_w")) {
        (Some(watts), _) if watts < 0.001 => Err(format!(
            "{} has a mean of {watts} W: the meter reads nothing below its range, which is no baseline of 0 W; put a \
             load of known watts beside the rig, or use another meter",
            path.display()
        )),
        (Some(watts), plus_minus) => Ok(PowerBaseline { watts, plus_minus_w: plus_minus.unwrap_or(0.0) }),
        (None, _) => Err(format!("{} is not {what}: it has no mean_w", path.display())),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_baseline_is_watts_with_or_without_their_interval() {
        let known = |watts, plus_minus_w| Ok(PowerBaseline { watts, plus_minus_w });
        assert_eq!(baseline("0.3W"), known(0.3, 0.0));
        assert_eq!(baseline("300 mW"), known(0.3, 0.0));
        assert_eq!(baseline("0.3W+-0.05W"), known(0.3, 0.05));
        assert_eq!(baseline("0.3 W ± 0.05 W"), known(0.3, 0.05));
        for wrong in ["0.3", "-1W", "NaNW", "0.3W+-x", ""] {
            assert!(baseline(wrong).is_err_and(|why| why.contains("0.3W+-0.05W")), "{wrong}");
        }
    }
}
