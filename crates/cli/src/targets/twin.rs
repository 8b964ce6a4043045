//! A simulated drive as a target: the session of `capture` runs on the physics of `twin`.
//!
//! This is the only place where the two meet. It adds nothing of its own: I/O goes to the drive as it comes,
//! the health log is the drive's page through the decoder that real drives have, and admin commands are answered
//! by the controller that a virtual SSD has.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use capture::load::VirtualDrive;
use drive::io::{Completion, Io};
use drive::settings::DriveSettings;
use drive::system::Address;
use drive::telemetry::{Reading, smart};
use measure::record::{DriveFacts, LinkFacts, Origin, ThermalSettings};
use measure::{Bytes, Celsius, Instant, Seed};
use nvme::command::{AdminCommand, Completion as AdminCompletion};
use nvme::host::{AdminTransport, Data, HostError};
use physics::{Drive, Profile};
use plan::check::TargetFacts;
use plan::{Setting, TelemetryPlan};
use twin::controller::{Direct, Payload};

/// A simulated drive with what its record has to say about it.
pub(crate) struct TwinTarget {
    address: String,
    direct: Direct,
    /// The drive's own time when the present run began: a drive that has several runs goes on where it was.
    epoch_ns: u64,
    origin: Origin,
    /// How far a plan's region for the fast write cache goes on a drive without one.
    slc: Option<Bytes>,
    in_flight: InFlight,
    /// Completions of one call, kept for its memory.
    completed: Vec<(u64, Instant)>,
}

impl TwinTarget {
    /// The drive that `profile` names: a built-in, or a TOML file.
    ///
    /// # Errors
    /// An unknown name with the nearest ones, or what is wrong with the file.
    pub(crate) fn open(profile: &str, seed: Seed) -> anyhow::Result<Self> {
        Self::open_in(profile, seed, &Setting::default())
    }

    /// The same on another link or in another room, at rest there.
    ///
    /// # Errors
    /// As [`Self::open`], or surroundings in which no drive could be.
    pub(crate) fn open_in(profile: &str, seed: Seed, surroundings: &Setting) -> anyhow::Result<Self> {
        let address = format!("twin:{profile}");
        let mut profile = read_profile(profile)?;
        if let Some(link) = surroundings.link {
            profile.media.link_bytes_per_s = link.as_f64();
        }
        if let Some(ambient) = surroundings.ambient {
            profile.thermal.ambient_c = Celsius::from_kelvin_f64(f64::from(ambient.as_kelvin())).as_degrees();
        }
        let mut name = profile.name.clone();
        if surroundings.link.is_some() || surroundings.ambient.is_some() {
            // A comparison tells runs apart by it.
            name = format!("{name}, {}", surroundings.name);
            let text = profile.to_toml().context("cannot change the profile")?;
            Profile::from_toml(&text).context("no drive could be in these surroundings")?;
        }
        let origin = Origin::Twin {
            profile: name,
            profile_toml: profile.to_toml().context("cannot keep the profile in the record")?,
            seed: seed.as_u64(),
        };
        Ok(Self {
            address,
            direct: Direct::new(&profile, seed).context("no drive could say such a thing about itself")?,
            epoch_ns: 0,
            origin,
            slc: None,
            in_flight: InFlight { slots: Vec::new(), free: Vec::new() },
            completed: Vec::new(),
        })
    }

    /// The same with a size for the fast write cache, as typed, where the drive has none of its own.
    ///
    /// # Errors
    /// When it has one.
    pub(crate) fn with_slc(self, slc: Option<Bytes>) -> anyhow::Result<Self> {
        match (slc, self.drive().profile().slc_bytes()) {
            (Some(_), Some(own)) => anyhow::bail!(
                "--slc is for drives that do not tell their fast write cache: that of {} has {}",
                self.address,
                Bytes::new(own)
            ),
            _ => Ok(Self { slc, ..self }),
        }
    }

    /// From here on time counts from zero again, and the drive stays as it is: hot, full, worn.
    pub(crate) const fn begin_next_run(&mut self) {
        self.epoch_ns = self.direct.drive().now().as_ns();
    }

    const fn drive_time(&self, run: Instant) -> Instant {
        Instant::from_ns(run.as_ns().saturating_add(self.epoch_ns))
    }

    const fn run_time(&self, drive: Instant) -> Instant {
        Instant::from_ns(drive.as_ns().saturating_sub(self.epoch_ns))
    }

    /// Where its numbers come from: profile and seed.
    pub(crate) fn origin(&self) -> Origin {
        self.origin.clone()
    }

    /// What a plan's check has to know about it: anything may be done to it.
    pub(crate) fn plan_facts(&self, address: &Address) -> TargetFacts {
        let facts = self.facts();
        TargetFacts {
            address: address.to_string(),
            size: Bytes::new(facts.size_bytes),
            block_bytes: facts.block_bytes,
            read_only: None,
            direct: true,
            trim: true,
            slc: facts.slc_bytes.map(Bytes::new),
        }
    }

    /// Whether the drive will take a plan's settings: asked of another one of the same profile.
    ///
    /// # Errors
    /// Why it refuses them.
    pub(crate) fn check_settings(&self, settings: &ThermalSettings) -> anyhow::Result<()> {
        let other = Other {
            address: self.address.clone(),
            direct: Direct::new(self.drive().profile(), Seed::new(0))?,
        };
        let mut drive = DriveSettings::open(other)?;
        for change in drive.changes(settings)? {
            drive.check(&change)?;
        }
        Ok(())
    }

    const fn drive(&self) -> &Drive {
        self.direct.drive()
    }

    /// Its link; a simulated one is never slower than it could be.
    pub(crate) fn link(&self) -> LinkFacts {
        LinkFacts {
            name: "simulated link".to_owned(),
            ceiling_bytes_per_s: self.drive().profile().media.link_bytes_per_s,
            possible_bytes_per_s: None,
        }
    }

    /// What Identify says about it.
    pub(crate) fn facts(&self) -> DriveFacts {
        let Profile { identity, limits, .. } = self.drive().profile();
        DriveFacts {
            kind: "twin".to_owned(),
            model: Some(identity.model.clone()),
            serial: Some(identity.serial.clone()),
            firmware: Some(identity.firmware.clone()),
            size_bytes: identity.capacity_bytes,
            block_bytes: identity.block_bytes,
            warning_k: Some(limits.wctemp_k),
            critical_k: Some(limits.cctemp_k),
            tmt_min_k: limits.hctm.as_ref().map(|hctm| hctm.mntmt_k),
            tmt_max_k: limits.hctm.as_ref().map(|hctm| hctm.mxtmt_k),
            hctm: Some(limits.hctm.is_some()),
            slc_bytes: self.drive().profile().slc_bytes().or(self.slc.map(Bytes::as_u64)),
        }
    }
}

/// A built-in wins over a file of the same name, as with plans; `./ssd1` names the file.
pub(crate) fn read_profile(name: &str) -> anyhow::Result<Profile> {
    if Profile::builtin_names().any(|known| known == name) || !Path::new(name).exists() {
        return Ok(Profile::builtin(name)?);
    }
    let text = std::fs::read_to_string(name).with_context(|| format!("cannot read the profile {name}"))?;
    Profile::from_toml(&text).with_context(|| format!("cannot use the profile {name}"))
}

impl VirtualDrive for TwinTarget {
    fn submit(&mut self, now: Instant, io: Io) {
        let slot = self.in_flight.put(io.token, io.len);
        self.direct.submit(self.drive_time(now), slot, io.op, io.offset, io.len);
    }

    fn next_completion(&mut self) -> Option<Instant> {
        self.direct.next_completion().map(|t| self.run_time(t))
    }

    fn advance(&mut self, until: Instant, done: &mut Vec<Completion>) -> Instant {
        self.completed.clear();
        self.direct.advance(self.drive_time(until), &mut self.completed);
        let mut stands = until;
        for &(slot, t) in &self.completed {
            let (token, len) = self.in_flight.take(slot);
            stands = Instant::from_ns(t.as_ns().saturating_sub(self.epoch_ns));
            done.push(Completion { token, t: stands, result: Ok(len) });
        }
        stands
    }

    fn sources(&self, plan: &TelemetryPlan) -> Vec<(&'static str, Duration)> {
        vec![("smart", plan.smart_period)]
    }

    fn sample(&mut self, _source: usize, now: Instant) -> Reading {
        smart::decode(now, &self.direct.smart_page())
    }

    fn admin(&mut self) -> &mut dyn AdminTransport {
        self
    }
}

/// Another drive of the same profile, to ask what the one in use would do.
struct Other {
    address: String,
    direct: Direct,
}

impl AdminTransport for Other {
    fn name(&self) -> &str {
        &self.address
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<AdminCompletion, HostError> {
        send(&mut self.direct, &self.address, command, data)
    }
}

impl AdminTransport for TwinTarget {
    fn name(&self) -> &str {
        &self.address
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<AdminCompletion, HostError> {
        send(&mut self.direct, &self.address, command, data)
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
