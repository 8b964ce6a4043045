//! A simulated drive as a [`Drive`]: the session of `capture` runs on the controller of `twin`.
//!
//! This is the only place where the two meet. It adds nothing of its own: I/O goes to the drive as it comes,
//! the health log is the drive's page through the decoder that real drives have, and admin commands are answered
//! by the controller that a virtual SSD has.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use drive::io::{Io, IoCompletion, VirtualDrive};
use drive::settings::DriveSettings;
use drive::settings::journal::Journals;
use drive::telemetry::{Reading, smart};
use drive::{
    Address, Drive, DriveError, DriveIo, Examination, FillProgress, Prepared, PreparedSettings, SettingsLast,
    Stated, WatchIo, WatchSources,
};
use measure::record::{DriveFacts, LinkFacts, Origin, ThermalSettings};
use measure::{Bytes, Instant, Seed};
use nvme::command::{AdminCommand, Completion as AdminCompletion};
use nvme::host::{AdminTransport, Data, HostError};
use physics::Profile;
use plan::check::TargetFacts;
use plan::{Plan, SweepSetting, TelemetryPlan};
use twin::controller::{Direct, Payload};

use crate::opening::Opening;

/// A simulated drive with what its record has to say about it. Copies are the same drive.
#[derive(Clone)]
pub(crate) struct TwinDrive {
    address: Address,
    profile: Profile,
    origin: Origin,
    /// How far a plan's region for the fast write cache goes on a drive without one.
    slc: Option<Bytes>,
    state: Arc<Mutex<TwinState>>,
}

/// What changes while it runs.
struct TwinState {
    direct: Direct,
    /// The drive's own time when the present run began: a drive that has several runs goes on where it was.
    epoch_ns: u64,
    in_flight: InFlight,
    /// Completions of one call, kept for its memory.
    completed: Vec<(u64, Instant)>,
}

impl TwinDrive {
    /// The drive that `name` names - a built-in, or a TOML file - on the link and in the room that are said, at rest there.
    ///
    /// # Errors
    /// An unknown name with the nearest ones, what is wrong with the file, surroundings in which no drive could be, or
    /// something stated that the drive tells itself.
    pub(crate) fn open(address: &Address, name: &str, opening: &Opening) -> anyhow::Result<Self> {
        let Opening { stated: Stated { slc, destroy, .. }, seed, surroundings } = opening;
        if destroy.is_some() {
            bail!("--destroy is for real drives: a twin has no data");
        }
        let (profile, name) = placed_in(read_profile(name)?, surroundings)?;
        if let (Some(_), Some(own)) = (slc, profile.slc_bytes()) {
            bail!(
                "--slc is for drives that do not tell their fast write cache: that of {address} has {}",
                Bytes::new(own)
            );
        }
        let origin = Origin::Twin {
            profile: name,
            profile_toml: profile.to_toml().context("cannot keep the profile in the record")?,
            seed: seed.as_u64(),
        };
        let direct = Direct::new(&profile, *seed).context("no drive could say such a thing about itself")?;
        let in_flight = InFlight { slots: Vec::new(), free: Vec::new() };
        let state = TwinState { direct, epoch_ns: 0, in_flight, completed: Vec::new() };
        let (address, state) = (address.clone(), Arc::new(Mutex::new(state)));
        Ok(Self { address, profile, origin, slc: *slc, state })
    }

    fn facts(&self) -> DriveFacts {
        let Profile { identity, limits, power_state, .. } = &self.profile;
        let states = (0_u8..).zip(power_state).filter(|(_, state)| state.operational);
        DriveFacts {
            kind: "twin".to_owned(),
            model: Some(identity.model.clone()),
            serial: Some(identity.serial.clone()),
            firmware: Some(identity.firmware.clone()),
            wwn: None,
            size_bytes: identity.capacity_bytes,
            block_bytes: identity.block_bytes,
            warning_k: Some(limits.wctemp_k),
            critical_k: Some(limits.cctemp_k),
            tmt_min_k: limits.hctm.as_ref().map(|hctm| hctm.mntmt_k),
            tmt_max_k: limits.hctm.as_ref().map(|hctm| hctm.mxtmt_k),
            hctm: Some(limits.hctm.is_some()),
            slc_bytes: self.profile.slc_bytes().or(self.slc.map(Bytes::as_u64)),
            power_states: Some(states.map(|(number, _)| number).collect()),
        }
    }
}

impl Drive for TwinDrive {
    fn address(&self) -> &Address {
        &self.address
    }

    /// A simulated link is never slower than it could be.
    fn link(&self) -> Option<LinkFacts> {
        Some(LinkFacts {
            name: "simulated link".to_owned(),
            ceiling_bytes_per_s: self.profile.media.link_bytes_per_s,
            possible_bytes_per_s: None,
        })
    }

    /// Anything may be done to it.
    fn examine(&mut self) -> Result<Examination, DriveError> {
        let facts = self.facts();
        let limits = TargetFacts {
            address: self.address.to_string(),
            size: Bytes::new(facts.size_bytes),
            block_bytes: facts.block_bytes,
            read_only: None,
            direct: true,
            trim: true,
            slc: facts.slc_bytes.map(Bytes::new),
        };
        let origin = self.origin.clone();
        let starts_off = self.profile.thermal.start != physics::profile::Start::Idle;
        let switched_on = starts_off && locked(&self.state).direct.drive().now() == Instant::ZERO;
        Ok(Examination { facts, origin, limits, worn_by_writes: false, buffers_io: false, switched_on })
    }

    fn settings_last(&self) -> Option<SettingsLast> {
        Some(SettingsLast::Process)
    }

    fn settings(&mut self) -> Result<DriveSettings<'static>, DriveError> {
        let admin = TwinAdmin { name: self.address.to_string(), state: Arc::clone(&self.state) };
        Ok(DriveSettings::open(admin)?)
    }

    fn journals(&self) -> Vec<Journals> {
        vec![Journals::in_memory()]
    }

    /// Asked of another drive of the same profile.
    fn check_settings(&self, wanted: &ThermalSettings) -> Result<(), DriveError> {
        let direct = Direct::new(&self.profile, Seed::new(0));
        let direct = direct.map_err(|error| DriveError::Simulated { why: error.to_string() })?;
        let mut drive = DriveSettings::open(FreshTwin { name: self.address.to_string(), direct })?;
        for change in drive.changes(wanted)? {
            drive.check(&change)?;
        }
        Ok(())
    }

    fn prepare(&mut self, plan: &Plan, _: &mut FillProgress<'_>) -> Result<Prepared, DriveError> {
        self.check_settings(&plan.settings)?;
        let settings =
            PreparedSettings { drive: self.settings()?, nsid: None, journals: Journals::in_memory() };
        let drive = Box::new(TwinIo { state: Arc::clone(&self.state) });
        let buffered = plan.phases.iter().flat_map(|phase| &phase.loads).any(|load| !load.direct);
        let (io, notes): (Box<dyn VirtualDrive>, _) = match self.profile.host {
            Some(host) if buffered => {
                let note = format!(
                    "SIMULATED page cache in front of the drive: a computer with {} of memory and Linux defaults.",
                    Bytes::new(host.memory_bytes)
                );
                (validation::behind_page_cache(drive, Some(host)), vec![note])
            }
            None if buffered => {
                let note = "No page cache is simulated: buffered I/O goes to the drive as it comes. A profile with a [host] has one.";
                (drive, vec![note.to_owned()])
            }
            _ => (drive, Vec::new()),
        };
        Ok(Prepared { io: DriveIo::Simulated(io), settings: Some(settings), notes })
    }

    fn watch(&mut self, _: &TelemetryPlan) -> Result<WatchSources, DriveError> {
        let settings = self.settings()?.thermal();
        let io = WatchIo::Simulated(Box::new(TwinIo { state: Arc::clone(&self.state) }));
        Ok(WatchSources { facts: self.facts(), origin: self.origin.clone(), settings, io, notes: Vec::new() })
    }

    /// From here on time counts from zero again, and the drive stays as it is: hot, full, worn.
    fn again(&self) -> Box<dyn Drive> {
        let mut state = locked(&self.state);
        state.epoch_ns = state.direct.drive().now().as_ns();
        Box::new(self.clone())
    }
}

/// The profile on another link or in another room, and what runs there are told apart by.
fn placed_in(mut profile: Profile, surroundings: &SweepSetting) -> anyhow::Result<(Profile, String)> {
    let name = profile.name.clone();
    if surroundings.link.is_none() && surroundings.ambient.is_none() {
        return Ok((profile, name));
    }
    if let Some(link) = surroundings.link {
        profile.media.link_bytes_per_s = link.as_f64();
    }
    if let Some(ambient) = surroundings.ambient {
        profile.thermal.ambient_c = ambient.as_degrees();
    }
    let text = profile.to_toml().context("cannot change the profile")?;
    Profile::from_toml(&text).context("no drive could be in these surroundings")?;
    Ok((profile, format!("{name}, {}", surroundings.name)))
}

/// A built-in wins over a file of the same name, as with plans; `./ssd1` names the file.
pub(crate) fn read_profile(name: &str) -> anyhow::Result<Profile> {
    let is_path = name.contains('/') || Path::new(name).extension().is_some_and(|end| end == "toml");
    if Profile::builtin_names().any(|known| known == name) || !is_path && !Path::new(name).exists() {
        return Ok(Profile::builtin(name)?);
    }
    if !Path::new(name).exists() {
        bail!(
            "cannot read the profile {name}: there is no such file; check the path, or name one of the simulated drives \
             that `heatsoak profiles` lists"
        );
    }
    let text = measure::input::read_to_string(Path::new(name))
        .with_context(|| format!("cannot read the profile {name}"))?;
    Profile::from_toml(&text).with_context(|| format!("cannot use the profile {name}"))
}

/// A simulated drive that panicked is no use to anybody else, and nobody else is left then.
fn locked(state: &Mutex<TwinState>) -> MutexGuard<'_, TwinState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// I/O and readings of a simulated drive.
struct TwinIo {
    state: Arc<Mutex<TwinState>>,
}

impl VirtualDrive for TwinIo {
    fn submit(&mut self, now: Instant, io: Io) {
        let mut state = locked(&self.state);
        let slot = state.in_flight.put(io.token, io.len);
        let now = state.drive_time(now);
        state.direct.submit(now, slot, io.op, io.offset, io.len);
    }

    fn next_completion(&mut self) -> Option<Instant> {
        let state = locked(&self.state);
        let next = state.direct.next_completion();
        next.map(|t| state.run_time(t))
    }

    fn advance(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Instant {
        locked(&self.state).advance(until, done)
    }

    fn sources(&self, plan: &TelemetryPlan) -> Vec<(&'static str, Duration)> {
        vec![("smart", plan.smart_period)]
    }

    fn sample(&mut self, _source: usize, now: Instant) -> Reading {
        smart::decode(now, &locked(&self.state).direct.smart_page())
    }
}

impl TwinState {
    const fn drive_time(&self, run: Instant) -> Instant {
        Instant::from_ns(run.as_ns().saturating_add(self.epoch_ns))
    }

    const fn run_time(&self, drive: Instant) -> Instant {
        Instant::from_ns(drive.as_ns().saturating_sub(self.epoch_ns))
    }

    fn advance(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Instant {
        self.completed.clear();
        let drive_until = self.drive_time(until);
        self.direct.advance(drive_until, &mut self.completed);
        let mut stands = until;
        for &(slot, t) in &self.completed {
            let (token, len) = self.in_flight.take(slot);
            stands = Instant::from_ns(t.as_ns().saturating_sub(self.epoch_ns));
            done.push(IoCompletion { token, t: stands, result: Ok(len) });
        }
        stands
    }
}

/// Admin commands to a simulated drive.
struct TwinAdmin {
    name: String,
    state: Arc<Mutex<TwinState>>,
}

impl AdminTransport for TwinAdmin {
    fn name(&self) -> &str {
        &self.name
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<AdminCompletion, HostError> {
        send(&mut locked(&self.state).direct, &self.name, command, data)
    }
}

/// Another drive of the same profile, to ask what the one in use would do.
struct FreshTwin {
    name: String,
    direct: Direct,
}

impl AdminTransport for FreshTwin {
    fn name(&self) -> &str {
        &self.name
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<AdminCompletion, HostError> {
        send(&mut self.direct, &self.name, command, data)
    }
}

fn send(
    direct: &mut Direct,
    address: &str,
    command: &AdminCommand,
    data: Data<'_>,
) -> Result<AdminCompletion, HostError> {
    let reply = match &data {
        Data::Write(bytes) => direct.admin(command, bytes, 0),
        Data::None | Data::Read(_) => direct.admin(command, &[], data.len()),
    };
    let reply = reply.ok_or_else(|| HostError::Send {
        device: address.to_owned(),
        command: format!("{command:?}"),
        source: std::io::Error::other("the simulated drive has no answer to it"),
    })?;
    if let (Data::Read(buffer), Payload::Bytes(page)) = (data, &reply.payload) {
        let (filled, rest) = buffer.split_at_mut(page.len().min(buffer.len()));
        filled.copy_from_slice(&page[..filled.len()]);
        rest.fill(0);
    }
    Ok(reply.completion)
}

/// What is under way on the drive: token and length by the number under which the drive has it.
struct InFlight {
    slots: Vec<(u64, u32)>,
    free: Vec<u64>,
}

impl InFlight {
    fn put(&mut self, token: u64, len: u32) -> u64 {
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = (token, len);
                slot
            }
            None => {
                self.slots.push((token, len));
                self.slots.len() as u64 - 1
            }
        }
    }

    fn take(&mut self, slot: u64) -> (u64, u32) {
        self.free.push(slot);
        self.slots[slot as usize]
    }
}
