//! One drive with its controllers: how a command goes through, and how time passes.
//!
//! A command is accepted (which makes its permit), struck by faults, carried out as far as it can
//! be ([`Flow`]), parked while it waits, and answered. What single commands mean is in `admin`, `io`
//! and `power`; who is connected is in `hosts`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use measure::record::Op;
use measure::{Celsius, Instant};
use nvme::Status;
use nvme::command::{Completion, Sqe, opcode};
use nvme::fabrics::ConnectParameter;
use nvme::identify::Version;

use super::admin::errors::ErrorLog;
use super::admin::features::Features;
use super::admin::self_test::SelfTests;
use super::command::{Answer, Command, CommandKey, Failure, Permit, Stage, Success};
use super::fault::{Faults, Struck};
use super::health::HealthAnswers;
use super::hosts::Hosts;
use super::{
    Accepted, Backing, BackingOptions, Blocks, ConnectRequest, Connected, Fault, HostEvent, Options,
    OptionsError, Payload, Queue, SavedState, Scale, Service, Ticket,
};
use crate::lifetime::Lifetime;
use physics::Drive;
use physics::drive::SettingError;

/// One simulated drive behind its controllers.
#[derive(Debug)]
pub struct Subsystem {
    pub(super) drive: Drive,
    pub(super) options: Options,
    pub(super) backing: Arc<Backing>,
    pub(super) blocks: u64,
    /// Bytes of a block: the profile's until a host formats.
    pub(super) block_bytes: u32,
    pub(super) hosts: Hosts,
    pub(super) features: Features,
    pub(super) health: HealthAnswers,
    pub(super) errors: ErrorLog,
    pub(super) self_tests: SelfTests,
    pub(super) faults: Faults,
    now: Instant,
    /// Whether a host relies on something that is not kept yet: it has seen the counters, or has formatted.
    pub(super) unsaved: bool,
    /// Answers that a fault holds back, by the time they may go.
    held: BTreeSet<(Instant, CommandKey)>,
    /// Drive time at which temperatures and power are next looked at.
    next_look: Instant,
    /// Drive time since when no I/O is under way.
    idle_since: Instant,
    /// Completions of one call, kept for its memory.
    served: Vec<(u64, Instant)>,
}

/// How far a command could be carried out.
#[derive(Debug)]
pub(super) enum Flow {
    /// To its end.
    Done(Answer),
    /// It needs so many bytes of data.
    Data(u32),
    /// It needs so many bytes of data, which a fault throws away.
    Discard(u32),
    /// It needs its data in the backing store.
    Blocks(Blocks),
    /// The drive has to do something; then this is sent.
    Drive { op: Op, at: Blocks, payload: Payload },
    /// It waits for an event.
    Event,
    /// It never ends.
    Lost,
    /// It aborts the command with this identifier on this queue.
    Abort { queue: Option<Queue>, cid: u16 },
}

impl<E: Into<Failure>> From<E> for Flow {
    fn from(failure: E) -> Self {
        Self::Done(Err(failure.into()))
    }
}

/// How often temperatures and power are looked at, in drive time: the interval of Interval Power.
const LOOK: Duration = Duration::from_secs(1);
/// Longest that nobody looks, in the host's time: there must not be hours to catch up with when
/// simulated time runs fast.
const IDLE: Duration = Duration::from_secs(1);
/// What the controller calls itself, and with the power features of 2.3.
const VERSION: Version = Version { major: 1, minor: 4, tertiary: 0 };
const VERSION_WITH_POWER: Version = Version { major: 2, minor: 3, tertiary: 0 };

impl Subsystem {
    /// The drive, switched on at [`Instant::ZERO`] and without a host.
    ///
    /// # Errors
    /// Names that cannot be told, a scale that leaves nothing, or a file that cannot be used.
    pub fn new(mut options: Options) -> Result<Self, OptionsError> {
        options.identity.check()?;
        options.profile.identity.serial.clone_from(&options.identity.serial);
        let identity = &options.profile.identity;
        let block = u64::from(identity.block_bytes);
        let blocks = identity.capacity_bytes / options.scale.bytes(block);
        if blocks == 0 {
            let (bandwidth, capacity_bytes) = (options.scale.bandwidth(), identity.capacity_bytes);
            return Err(OptionsError::Scale { bandwidth, capacity_bytes });
        }
        let backing = match &options.backing {
            BackingOptions::Memory { limit_bytes } => Backing::memory(blocks * block, *limit_bytes),
            BackingOptions::File(file) => Backing::file(file, options.identity.name(), blocks * block)
                .map_err(|why| OptionsError::File { path: file.path.clone(), why })?,
        };
        let block_bytes = match options.saved.block_bytes {
            Some(chosen @ (512 | 4096)) => chosen,
            _ => identity.block_bytes,
        };
        let drive = Drive::new(&options.profile, options.seed);
        let version = if options.profile.limits.power_control { VERSION_WITH_POWER } else { VERSION };
        let mut subsystem = Self {
            hosts: Hosts::new(options.limits, version),
            features: Features::new(&options),
            health: HealthAnswers::new(&options),
            errors: ErrorLog::after(options.saved.error_entries),
            self_tests: SelfTests::after(&options.saved.self_tests, options.saved.lifetime.power_on_ms),
            faults: Faults::default(),
            drive,
            backing: Arc::new(backing),
            blocks: blocks * block / u64::from(block_bytes),
            block_bytes,
            options,
            now: Instant::ZERO,
            unsaved: false,
            held: BTreeSet::new(),
            next_look: Instant::ZERO + LOOK,
            idle_since: Instant::ZERO,
            served: Vec::new(),
        };
        subsystem.reset_features();
        Ok(subsystem)
    }

    /// The drive and its truth, for tests and for people. Its time is the simulated one.
    pub const fn drive(&self) -> &Drive {
        &self.drive
    }

    /// What it was made from.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Size of the namespace as hosts see it.
    pub fn capacity_bytes(&self) -> u64 {
        self.backing.len_bytes()
    }

    /// How time and data are scaled.
    pub const fn scale(&self) -> Scale {
        self.options.scale
    }

    /// Commands that wait for the drive, for data, for events or for a fault to let them go.
    pub fn under_way(&self) -> usize {
        self.hosts.commands.len()
    }

    /// Changes the temperature of the surroundings from `now` on.
    pub fn set_ambient(&mut self, now: Instant, ambient: Celsius) {
        self.pass(now);
        self.drive.set_ambient(ambient);
    }

    /// Changes the air flow from `now` on: 1 is the profile's own, more is a fan, less a closed case.
    ///
    /// # Errors
    /// A scale outside 0.01 to 100.
    pub fn set_airflow(&mut self, now: Instant, airflow: f64) -> Result<(), SettingError> {
        self.pass(now);
        self.drive.set_airflow(airflow)
    }

    /// Switches a fault on from `now` on; the number clears it again.
    pub fn inject(&mut self, now: Instant, fault: Fault) -> u32 {
        self.pass(now);
        if matches!(fault, Fault::Vanish { .. }) {
            self.hosts.close_all();
        }
        let shown = self.smart_log();
        self.faults.inject(self.now, fault, shown)
    }

    /// Switches the fault with this number off; whether there was one.
    pub fn clear(&mut self, now: Instant, number: u32) -> bool {
        self.pass(now);
        self.faults.clear(number)
    }

    /// Switches all faults off.
    pub fn clear_all(&mut self, now: Instant) {
        self.pass(now);
        self.faults.clear_all();
    }

    /// The faults that are on, with their numbers.
    pub fn faults(&self) -> impl Iterator<Item = (u32, &Fault)> {
        self.faults.iter()
    }

    /// The state to keep for the next start, if something in it must not be lost: a host saved a setting or has seen
    /// the counters since it was last taken. The first call after the start has one: the drive was switched on.
    pub fn take_saved(&mut self) -> Option<SavedState> {
        let unsaved = std::mem::replace(&mut self.unsaved, false);
        (self.features.take_changed() || unsaved).then(|| self.saved_state(true))
    }

    /// The state to keep for the next start: while it is on, or for when it has been switched off.
    pub fn saved_state(&self, is_on: bool) -> SavedState {
        SavedState {
            name: Some(self.options.identity.name().to_owned()),
            power_cycles: self.power_cycles(),
            unsafe_shutdowns: self.unsafe_shutdowns(),
            is_on,
            error_entries: self.errors.count(),
            lifetime: self.options.saved.lifetime.then(&Lifetime::from_health(&self.drive.health())),
            block_bytes: Some(self.block_bytes),
            self_tests: self.self_tests.saved(self.drive.now()),
            features: self.features.saved(),
            ..SavedState::default()
        }
    }

    /// How often it was switched on, this time included.
    pub(super) const fn power_cycles(&self) -> u64 {
        self.options.saved.power_cycles.saturating_add(1)
    }

    /// How often it was switched off without an end.
    pub(super) const fn unsafe_shutdowns(&self) -> u64 {
        self.options.saved.unsafe_shutdowns.saturating_add(self.options.saved.is_on as u64)
    }

    /// Carries a command on from where it is.
    fn go_on(&mut self, permit: Permit, sqe: &Sqe, not_before: Option<Instant>, flow: Flow) -> Accepted {
        let stage = match flow {
            Flow::Done(answer) => return self.finish(permit, sqe, not_before, answer),
            Flow::Event => {
                return match self.hosts.wait_for_event(permit, sqe) {
                    Some((permit, failure)) => self.finish(permit, sqe, not_before, Err(failure)),
                    None => Accepted::Pending,
                };
            }
            Flow::Abort { queue, cid } => return self.abort(permit, queue, cid),
            Flow::Drive { op, at, payload } => {
                let stage = Stage::Drive(payload);
                let key = self.hosts.commands.put(Command { permit, sqe: *sqe, stage, not_before });
                self.serve(key, op, at);
                return Accepted::Pending;
            }
            Flow::Data(len) => Stage::Data(len),
            Flow::Discard(len) => Stage::Discard(len),
            Flow::Blocks(blocks) => Stage::Blocks(blocks),
            Flow::Lost => Stage::Lost,
        };
        let wants = match &stage {
            Stage::Data(len) | Stage::Discard(len) => Wants::Data(*len),
            Stage::Blocks(blocks) => Wants::Blocks(*blocks),
            _ => Wants::Nothing,
        };
        let ticket = self.hosts.commands.put(Command { permit, sqe: *sqe, stage, not_before }).ticket();
        match wants {
            Wants::Data(len_bytes) => Accepted::NeedsData { ticket, len_bytes },
            Wants::Blocks(blocks) => Accepted::NeedsBlocks { ticket, blocks },
            Wants::Nothing => Accepted::Pending,
        }
    }

    /// Hands the drive what a command has it do.
    fn serve(&mut self, key: CommandKey, op: Op, at: Blocks) {
        let scale = self.options.scale;
        let len = u32::try_from(scale.bytes(at.len_bytes.into())).unwrap_or(u32::MAX);
        self.drive.submit(self.drive.now(), key.token(), op, scale.bytes(at.offset_bytes), len);
    }

    /// Answers a command, or holds the answer back.
    fn finish(&mut self, permit: Permit, sqe: &Sqe, not_before: Option<Instant>, answer: Answer) -> Accepted {
        if let Err(failure) = &answer {
            self.errors.add(permit.queue(), sqe, failure);
        }
        if let Some(until) = not_before.filter(|until| *until > self.now) {
            self.hold(permit, sqe, until, answer);
            return Accepted::Pending;
        }
        match self.hosts.reply(permit, answer) {
            Some(reply) => Accepted::Done(reply),
            None => Accepted::Close,
        }
    }

    fn hold(&mut self, permit: Permit, sqe: &Sqe, until: Instant, answer: Answer) {
        let stage = Stage::Held(answer);
        let key = self.hosts.commands.put(Command { permit, sqe: *sqe, stage, not_before: None });
        self.held.insert((until, key));
    }

    /// Ends another command before its time. Both completions come out in their order.
    fn abort(&mut self, permit: Permit, queue: Option<Queue>, cid: u16) -> Accepted {
        // Data on their way cannot be called back; what the drive has, it goes on with for nothing.
        let ends_now = |command: &Command| {
            !matches!(command.stage, Stage::Data(_) | Stage::Discard(_) | Stage::Blocks(_))
        };
        let commands = &mut self.hosts.commands;
        let key = queue.and_then(|queue| commands.find(queue, cid));
        let key = key.filter(|key| commands.get(*key).is_some_and(ends_now));
        let aborted = key.and_then(|key| commands.take(key));
        let not_aborted = u32::from(aborted.is_none());
        if let (Some(key), Some(command)) = (key, aborted) {
            if let Some(controller) = self.hosts.controller_mut(command.permit.queue()) {
                controller.events.forget(key);
            }
            self.hosts.post(command.permit, Err(Failure::as_is(Status::ABORT_REQUESTED)));
        }
        self.hosts.post(permit, Ok(Success::with_result(not_aborted)));
        Accepted::Pending
    }

    /// Lets time pass until `now`: the drive works, answers come due, silent hosts are given up.
    pub(super) fn pass(&mut self, now: Instant) {
        self.now = self.now.max(now);
        let target = self.options.scale.to_drive(self.now);
        let mut served = std::mem::take(&mut self.served);
        loop {
            self.work(target, &mut served);
            if served.is_empty() {
                break;
            }
            for (token, _) in served.drain(..) {
                self.served_by_drive(CommandKey::of_token(token));
            }
        }
        self.served = served;
        self.let_go();
        self.faults.expire(self.now);
        self.hosts.expire(self.now);
        self.end_orphaned_self_test();
    }

    /// Lets the drive work until `target`, in its own time, or until it is done with something: then that is appended
    /// to `served`.
    pub(super) fn work(&mut self, target: Instant, served: &mut Vec<(u64, Instant)>) {
        let before = served.len();
        loop {
            let stop = target.min(self.next_look).min(self.next_transition().unwrap_or(Instant::NEVER));
            self.drive.advance(stop.max(self.drive.now()), served);
            if let Some((_, at)) = served[before..].last() {
                if self.drive.outstanding() == 0 {
                    self.idle_since = *at;
                }
                return;
            }
            if self.next_look <= stop {
                self.next_look = self.next_look + LOOK;
                self.look();
            }
            if self.next_transition().is_some_and(|at| at <= stop) {
                self.power_down();
            }
            if stop == target {
                return;
            }
        }
    }

    /// The drive is done with a command.
    fn served_by_drive(&mut self, key: CommandKey) {
        // It may have been aborted, or its queue may have gone.
        let Some(command) = self.hosts.commands.take(key) else { return };
        let Stage::Drive(payload) = command.stage else {
            debug_assert!(false, "the drive served a command that it never had");
            return command.permit.close();
        };
        let answer = Ok(Success { result: 0, payload });
        match command.not_before.filter(|until| *until > self.now) {
            Some(until) => self.hold(command.permit, &command.sqe, until, answer),
            None => self.hosts.post(command.permit, answer),
        }
    }

    /// Lets go what no fault holds back any longer.
    fn let_go(&mut self) {
        while let Some((until, key)) = self.held.first().copied()
            && until <= self.now
        {
            self.held.pop_first();
            // Aborted, or without its queue, it is no longer there.
            let Some(command) = self.hosts.commands.take(key) else { continue };
            match command.stage {
                Stage::Held(answer) => self.hosts.post(command.permit, answer),
                _ => command.permit.close(),
            }
        }
    }

    /// Drive time of the next autonomous change of the power state (feature 0Ch).
    fn next_transition(&self) -> Option<Instant> {
        // Asked before each completion: the cheap question first.
        if self.drive.outstanding() > 0 {
            return None;
        }
        let (_, after) = self.features.apst_transition(self.power_state())?;
        Some(self.idle_since + after)
    }

    /// Idleness counts from here: in a new power state, for the next transition.
    pub(super) const fn rest_from_here(&mut self) {
        self.idle_since = self.drive.now();
    }

    fn power_down(&mut self) {
        if let Some((state, _)) = self.features.apst_transition(self.power_state()) {
            self.set_power_state(state);
        }
    }

    /// The present, in the host's time.
    pub(super) const fn now(&self) -> Instant {
        self.now
    }

    /// Takes the command of a ticket that waits for its data.
    fn take_waiting(&mut self, ticket: Ticket) -> Option<Command> {
        let key = CommandKey::of_ticket(ticket);
        let waits = |command: &Command| {
            matches!(command.stage, Stage::Data(_) | Stage::Discard(_) | Stage::Blocks(_))
        };
        if !self.hosts.commands.get(key).is_some_and(waits) {
            return None;
        }
        self.hosts.commands.take(key)
    }

    /// What a command comes to, before its data.
    fn carry_out(&mut self, queue: Queue, sqe: &Sqe, capsule_data: &[u8], struck: &Struck) -> Flow {
        if let Some(failure) = struck.fail {
            return failure.into();
        }
        if struck.lose {
            return Flow::Lost;
        }
        if sqe.opcode == opcode::FABRICS {
            let (answer, reset) = self.hosts.fabrics(queue, sqe);
            if reset {
                self.reset_controller_features(queue);
                self.end_self_test_of(queue);
                if self.hosts.count() == 1 {
                    self.reset_features();
                }
            }
            return Flow::Done(answer);
        }
        if !self.hosts.controller(queue).is_some_and(super::hosts::HostController::is_ready) {
            return Failure::new(Status::COMMAND_SEQUENCE_ERROR).into();
        }
        match (struck.ignore, queue.is_admin()) {
            (true, is_admin) if changes_something(is_admin, sqe.opcode) => self.ignored(is_admin, sqe),
            (_, true) => self.admin(queue, sqe, capsule_data),
            (_, false) => self.io(sqe, capsule_data),
        }
    }
}

/// What a parked command asks of the transport.
enum Wants {
    Data(u32),
    Blocks(Blocks),
    Nothing,
}

impl Service for Subsystem {
    fn nqn(&self) -> &str {
        &self.options.identity.nqn
    }

    fn backing(&self) -> Option<&Arc<Backing>> {
        Some(&self.backing)
    }

    fn is_present(&self) -> bool {
        !self.faults.vanished()
    }

    fn connect(&mut self, now: Instant, request: &ConnectRequest) -> Result<Connected, Completion> {
        self.pass(now);
        if request.data.subsystem_nqn != self.nqn() {
            return Err(request.refuse(ConnectParameter::SUBSYSTEM_NQN));
        }
        if !self.is_present() {
            return Err(request.refuse_with(Status::CONNECT_RESTART_DISCOVERY));
        }
        let allowed = &self.options.allowed_hosts;
        if !allowed.is_empty() && !allowed.contains(&request.data.host_nqn) {
            return Err(request.refuse_with(Status::CONNECT_INVALID_HOST.do_not_retry()));
        }
        let is_first = self.hosts.count() == 0;
        let connected = self.hosts.connect(self.now, request)?;
        if is_first {
            // The first controller knows nothing of those before it but what was saved.
            self.reset_features();
        }
        if connected.queue.is_admin() {
            self.reset_controller_features(connected.queue);
        }
        Ok(connected)
    }

    fn disconnect(&mut self, now: Instant, queue: Queue) {
        self.pass(now);
        self.hosts.disconnect(queue);
        self.end_orphaned_self_test();
    }

    fn submit(&mut self, now: Instant, queue: Queue, sqe: &Sqe, capsule_data: &[u8]) -> Accepted {
        self.pass(now);
        let Some(permit) = self.hosts.accept(queue, sqe) else { return Accepted::Close };
        let struck = self.faults.strike(self.now, queue, sqe);
        if struck.disconnect {
            permit.close();
            self.hosts.disconnect(queue);
            return Accepted::Close;
        }
        // Searched for on the admin queue alone: there are few, and they matter most.
        if queue.is_admin() && self.hosts.commands.find(queue, sqe.cid).is_some() {
            let conflict = Failure { location: 2, ..Failure::new(Status::COMMAND_ID_CONFLICT) };
            return self.finish(permit, sqe, None, Err(conflict));
        }
        let flow = self.carry_out(queue, sqe, capsule_data, &struck);
        self.go_on(permit, sqe, struck.not_before, flow)
    }

    fn note(&mut self, now: Instant, queue: Queue) -> Option<u16> {
        self.pass(now);
        self.hosts.note(queue)
    }

    fn data(&mut self, now: Instant, ticket: Ticket, data: &[u8]) -> Accepted {
        self.pass(now);
        let Some(Command { permit, sqe, stage, not_before }) = self.take_waiting(ticket) else {
            return Accepted::Close;
        };
        let flow = match stage {
            Stage::Data(len) if len as usize == data.len() => match permit.queue().is_admin() {
                true => self.admin_data(permit.queue(), &sqe, data),
                false => self.io_data(&sqe, data),
            },
            Stage::Discard(_) => Flow::Done(Ok(Success::NOTHING)),
            _ => Status::DATA_TRANSFER_ERROR.into(),
        };
        self.go_on(permit, &sqe, not_before, flow)
    }

    fn stored(&mut self, now: Instant, ticket: Ticket) -> Accepted {
        self.pass(now);
        let Some(Command { permit, sqe, stage, not_before }) = self.take_waiting(ticket) else {
            return Accepted::Close;
        };
        let flow = match stage {
            Stage::Blocks(at) => Flow::Drive { op: Op::Write, at, payload: Payload::None },
            _ => Status::DATA_TRANSFER_ERROR.into(),
        };
        self.go_on(permit, &sqe, not_before, flow)
    }

    fn fail(&mut self, now: Instant, ticket: Ticket, status: Status) -> Accepted {
        self.pass(now);
        let Some(Command { permit, sqe, not_before, .. }) = self.take_waiting(ticket) else {
            return Accepted::Close;
        };
        self.go_on(permit, &sqe, not_before, Failure::as_is(status).into())
    }

    fn advance(&mut self, now: Instant, out: &mut Vec<HostEvent>) {
        self.pass(now);
        self.hosts.drain(out);
    }

    fn next_event(&self) -> Option<Instant> {
        if self.hosts.has_output() {
            return Some(self.now);
        }
        let scale = self.options.scale;
        let waits_for_events = self.hosts.controllers().any(|controller| controller.events.waiting() > 0);
        let in_drive_time = [
            self.drive.next_completion(),
            waits_for_events.then_some(self.next_look),
            self.next_transition(),
        ];
        let held = self.held.first().map(|(until, _)| *until);
        let idle = Some(self.now + IDLE);
        let in_host_time = [held, self.hosts.next_expiry(), self.faults.next_expiry(), idle];
        let scaled = in_drive_time.into_iter().flatten().map(|then| scale.to_host(then));
        scaled.chain(in_host_time.into_iter().flatten()).min()
    }
}

/// Whether a command changes settings or data, so that leaving it undone is a fault.
const fn changes_something(is_admin: bool, code: u8) -> bool {
    match is_admin {
        true => code == opcode::SET_FEATURES,
        false => matches!(code, opcode::WRITE | opcode::WRITE_ZEROES | opcode::DATASET_MANAGEMENT),
    }
}
