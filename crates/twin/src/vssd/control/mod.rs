//! The control socket: changes of the surroundings and faults while drives are at work.
//!
//! A request is one line of JSON and so is its answer; `docs/VSSD.md` lists the verbs. What a verb
//! does is [`answer`], without a socket; [`ControlSocket`] is the Unix socket around it. Every answer says
//! that what it tells is simulated.

mod socket;

use std::sync::Arc;

use measure::{Celsius, Instant};
use serde::{Deserialize, Serialize};

use super::shelf::{Shelf, Unit};
use crate::controller::{Fault, Subsystem};

pub use socket::ControlSocket;

/// Air flow with a fan on, as a multiple of the profile's own: forced convection of air carries off
/// 25 W/m2K and more where free convection has 2 to 25 (Incropera, Fundamentals of Heat and Mass
/// Transfer, table 1.1). Other values are asked for with `airflow`.
const FAN_AIRFLOW: f64 = 3.0;

/// A request. `drive` is the name of a drive or the part of it behind the last colon; it may be left
/// out where there is only one drive, and for `status`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
enum Request {
    /// How the drives are.
    Status { drive: Option<String> },
    /// Changes the temperature of the surroundings.
    Ambient { drive: Option<String>, celsius: f64 },
    /// Changes the air flow; 1 is the profile's own.
    Airflow { drive: Option<String>, scale: f64 },
    /// Switches a fan on or off.
    Fan { drive: Option<String>, on: bool },
    /// Switches a fault on; the answer has its number.
    Inject { drive: Option<String>, fault: Fault },
    /// Switches a fault off, or all without a number.
    Clear { drive: Option<String>, number: Option<u32> },
    /// The faults that are on.
    Faults { drive: Option<String> },
}

/// An answer.
#[derive(Debug, Serialize)]
struct ControlAnswer {
    ok: bool,
    simulated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drives: Option<Vec<DriveStatus>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cleared: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    faults: Option<Vec<NumberedFault>>,
}

#[derive(Debug, Serialize)]
struct NumberedFault {
    number: u32,
    fault: Fault,
}

/// How a drive is. Temperatures of the health log are whole kelvins.
#[derive(Debug, Serialize)]
struct DriveStatus {
    nqn: String,
    profile: String,
    connections: usize,
    /// Seconds of the drive's own time since it was switched on.
    drive_time_s: f64,
    time_scale: u32,
    bandwidth_scale: u32,
    composite_k: u16,
    ambient_celsius: f64,
    power_w: f64,
    power_state: u8,
    tmt1_k: u16,
    tmt2_k: u16,
    /// Bytes of the host's data that are kept.
    used_bytes: Option<u64>,
    faults: usize,
}

impl ControlAnswer {
    const fn done() -> Self {
        Self {
            ok: true,
            simulated: true,
            error: None,
            drives: None,
            number: None,
            cleared: None,
            faults: None,
        }
    }

    fn refused(error: String) -> Self {
        Self { ok: false, error: Some(error), ..Self::done() }
    }
}

/// Does what `line` asks for at `now`; the answer is one line of JSON without its end.
pub fn answer(shelf: &Shelf, now: Instant, line: &str) -> String {
    let answer = match serde_json::from_str::<Request>(line) {
        Ok(request) => act(shelf, now, request).unwrap_or_else(ControlAnswer::refused),
        Err(error) => {
            ControlAnswer::refused(format!("cannot understand the request: {error}; see docs/VSSD.md"))
        }
    };
    serde_json::to_string(&answer)
        .unwrap_or_else(|error| format!(r#"{{"ok":false,"simulated":true,"error":"{error}"}}"#))
}

fn act(shelf: &Shelf, now: Instant, request: Request) -> Result<ControlAnswer, String> {
    match request {
        Request::Status { drive } => {
            let units = match drive {
                Some(_) => vec![Arc::clone(find(shelf, drive.as_deref())?)],
                None => shelf.units().to_vec(),
            };
            // Readings are those of now, not of the last step.
            let drives = units.iter().filter_map(|unit| {
                unit.step(now, None);
                let connections = unit.connections();
                let used_bytes = unit.backing().and_then(|backing| backing.used_bytes().ok());
                unit.with_drive(|subsystem| status(subsystem, connections, used_bytes))
            });
            Ok(ControlAnswer { drives: Some(drives.collect()), ..ControlAnswer::done() })
        }
        Request::Ambient { drive, celsius } => {
            // Colder than any lab and hotter than any drive stands; it also keeps nonsense out.
            if !(-60.0..=150.0).contains(&celsius) {
                return Err(format!("an ambient temperature of {celsius} C cannot be set: -60 to 150"));
            }
            on(shelf, drive, |subsystem| subsystem.set_ambient(now, Celsius::from_degrees(celsius)))?;
            Ok(ControlAnswer::done())
        }
        Request::Airflow { drive, scale } => airflow(shelf, now, drive, scale),
        Request::Fan { drive, on: is_on } => {
            airflow(shelf, now, drive, if is_on { FAN_AIRFLOW } else { 1.0 })
        }
        Request::Inject { drive, fault } => {
            if let Some(why) = fault.impossible() {
                return Err(why);
            }
            let number = on(shelf, drive, |subsystem| subsystem.inject(now, fault))?;
            Ok(ControlAnswer { number: Some(number), ..ControlAnswer::done() })
        }
        Request::Clear { drive, number: Some(number) } => {
            let cleared = on(shelf, drive, |subsystem| subsystem.clear(now, number))?;
            Ok(ControlAnswer { cleared: Some(cleared), ..ControlAnswer::done() })
        }
        Request::Clear { drive, number: None } => {
            on(shelf, drive, |subsystem| subsystem.clear_all(now))?;
            Ok(ControlAnswer::done())
        }
        Request::Faults { drive } => {
            let faults = on(shelf, drive, |subsystem| {
                let numbered =
                    subsystem.faults().map(|(number, fault)| NumberedFault { number, fault: fault.clone() });
                numbered.collect()
            })?;
            Ok(ControlAnswer { faults: Some(faults), ..ControlAnswer::done() })
        }
    }
}

fn airflow(shelf: &Shelf, now: Instant, drive: Option<String>, scale: f64) -> Result<ControlAnswer, String> {
    on(shelf, drive, |subsystem| subsystem.set_airflow(now, scale))?.map_err(|error| error.to_string())?;
    Ok(ControlAnswer::done())
}

fn on<T>(shelf: &Shelf, drive: Option<String>, act: impl FnOnce(&mut Subsystem) -> T) -> Result<T, String> {
    find(shelf, drive.as_deref())?.with_drive(act).ok_or_else(|| "the list of drives is no drive".to_owned())
}

/// The drive with this name; without a name, the only one.
fn find<'a>(shelf: &'a Shelf, name: Option<&str>) -> Result<&'a Arc<Unit>, String> {
    let drives: Vec<&Arc<Unit>> =
        shelf.units().iter().filter(|unit| unit.with_drive(|_| ()).is_some()).collect();
    let short = |unit: &Unit| unit.nqn().rsplit(':').next().unwrap_or_default().to_owned();
    let known = || drives.iter().map(|unit| short(unit)).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => {
            let named = drives.iter().find(|unit| unit.nqn() == name || short(unit) == name);
            named
                .or_else(|| {
                    match drives.iter().filter(|unit| has_profile(unit, name)).collect::<Vec<_>>()[..] {
                        [only] => Some(only),
                        _ => None,
                    }
                })
                .copied()
                .ok_or_else(|| format!("there is no drive {name:?} here, only {}", known()))
        }
        None if drives.len() == 1 => Ok(drives[0]),
        None => Err(format!("say which drive, as \"drive\": one of {}", known())),
    }
}

fn has_profile(unit: &Unit, name: &str) -> bool {
    unit.with_drive(|subsystem| subsystem.options().profile.name == name) == Some(true)
}

fn status(subsystem: &Subsystem, connections: usize, used_bytes: Option<u64>) -> DriveStatus {
    let drive = subsystem.drive();
    let (tmt, scale) = (drive.tmt(), subsystem.scale());
    DriveStatus {
        nqn: subsystem.options().identity.nqn.clone(),
        profile: drive.profile().name.clone(),
        connections,
        drive_time_s: drive.now().as_secs_f64(),
        time_scale: scale.time(),
        bandwidth_scale: scale.bandwidth(),
        composite_k: drive.composite().as_kelvin(),
        ambient_celsius: drive.ambient().as_degrees(),
        power_w: drive.power_w().as_f64(),
        power_state: drive.power_state(),
        tmt1_k: tmt.tmt1_raw(),
        tmt2_k: tmt.tmt2_raw(),
        used_bytes,
        faults: subsystem.faults().count(),
    }
}

#[cfg(test)]
mod test;
