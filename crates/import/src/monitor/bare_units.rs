//! Values of tables whose titles people chose, where neither title nor cells have a unit.

use super::titles::Meaning;
use super::{Quantity, Samples};
use crate::rates::counts_up;

/// Speeds without a unit whose fastest is below this are in another one than B/s: no drive under load is so slow, and none moves
/// as many GB/s or, in MB/s, more.
const SLOWEST_LOAD: f64 = 20_000.0;

/// Drives that are hotter are rare, and one of 33 °C has more degrees Fahrenheit: a temperature without a unit above this is asked for.
const HOTTEST_BARE_C: f64 = 92.0;

/// Looks what values without any unit are: bytes ever moved where a speed only ever rises, else bytes per second, and °C. Refuses
/// speeds that no drive is so slow as, and temperatures that no drive is so hot as.
pub(super) fn take<'a>(
    meanings: impl Iterator<Item = &'a Meaning>,
    header: &[String],
    samples: &mut Samples,
) -> Result<(), String> {
    let mut bare: Vec<(&str, &str)> = Vec::new();
    for meaning in meanings {
        let title = &header[meaning.cell];
        let values = samples.values(&meaning.drive, meaning.quantity);
        let highest = values.iter().map(|value| value.abs()).fold(0.0, f64::max);
        match meaning.quantity {
            Quantity::Rate(op) if counts_up(&values) => {
                samples.rename(&meaning.drive, meaning.quantity, Quantity::Total(op));
                samples.notes.push(format!(
                    "{title:?} has no unit and only ever rises: taken as bytes moved so far, whose differences are the speed"
                ));
            }
            Quantity::Rate(_) if meaning.unit.factor > 1.0 => bare.push((title, "KiB/s, as PCP counts")),
            Quantity::Rate(_) if highest > 0.0 && highest < SLOWEST_LOAD => {
                return Err(format!(
                    "column {title:?}: without a unit it is in bytes per second, and its fastest is {highest}: is it in MB/s? Write the unit into its title, such as \"write (MB/s)\""
                ));
            }
            Quantity::Rate(_) => bare.push((title, "bytes per second")),
            Quantity::Celsius(_) if highest > HOTTEST_BARE_C => {
                return Err(format!(
                    "column {title:?}: it has no unit, and its highest is {highest}, which would be too hot for a drive in °C: is it in °F? Write the unit into its title: \"{title} (°F)\" or \"{title} (°C)\""
                ));
            }
            Quantity::Celsius(_) => bare.push((title, "°C")),
            Quantity::Power => bare.push((title, "W")),
            Quantity::Total(_) | Quantity::Busy | Quantity::BusyTotal => {}
        }
    }
    for (title, unit) in bare {
        samples.notes.push(format!("without a unit, taken as {unit}: {title}"));
    }
    Ok(())
}
