//! A controller on a network: its admin queue as a transport, and queues for I/O beside it.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use measure::Bytes;

use super::connect::QueueSpec;
use super::patience::GRACE;
use super::queue::{Direction, TcpQueue};
use super::{TcpAddress, TcpOptions};
use crate::auth::MESSAGE_LEN_MAX;
use crate::command::{AdminCommand, Completion, GetLogPage};
use crate::fabrics::FabricsCommand;
use crate::fabrics::property::{ControllerCapabilities, ControllerStatus, Property, ShutdownState};
use crate::feature::DwordFeature as _;
use crate::feature::session::NumberOfQueues;
use crate::host::{AdminTransport, Controller, Data, HostError};
use crate::identify::IdentifyController;
use crate::log::LogId;
use crate::log::discovery::{
    DISCOVERY_NQN, DISCOVERY_RECORD_LEN, DYNAMIC_CONTROLLER, DiscoveryLog, DiscoveryRecord,
};

/// Entries of the admin queue: the least that Fabrics demand (NVMe Base 2.3, Admin Queue on Fabrics).
const ADMIN_ENTRIES: u32 = 32;
/// Most data of one admin command: more than any page that we read at once.
const ADMIN_DATA_MAX: usize = 1 << 20;
/// CC: entries of 64 and 16 bytes, as the kernel sets them, not yet enabled.
const CONFIG: u64 = 0x46_0000;
/// CC.EN.
const ENABLE: u64 = 1;
/// CC.SHN: a normal shutdown.
const SHUTDOWN: u64 = 1 << 14;
/// Time between two looks at the controller's state: the kernel's (drivers/nvme/host/core.c).
const STATE_PERIOD: Duration = Duration::from_millis(100);
/// Longest that a shutdown is waited for: nothing of ours is lost by leaving earlier.
const SHUTDOWN_SPAN: Duration = Duration::from_secs(2);
/// Most discovery records that are read: a shelf, not a data centre.
const DISCOVERY_RECORDS_MAX: u64 = 1024;
/// CNTRLTYPE of a discovery controller.
const DISCOVERY_CONTROLLER: u8 = 2;
/// The smallest memory page, the unit of MDTS: CAP.MPSMIN is 0 on every fabric that we know.
const PAGE: Bytes = Bytes::new(4096);

/// A controller, connected and ready. Clones share it; the last one shuts it down.
#[derive(Clone, Debug)]
pub struct TcpController {
    shared: Arc<TcpState>,
    name: String,
}

struct TcpState {
    address: TcpAddress,
    options: TcpOptions,
    admin: Mutex<Admin>,
    controller_id: u16,
    queue_entries_max: u32,
    in_capsule_max: usize,
    transfer_max: Option<Bytes>,
    queues: Mutex<Queues>,
}

/// I/O queues: granted by the controller, and made so far.
#[derive(Clone, Copy, Debug)]
struct Queues {
    granted: u16,
    made: u16,
}

/// The admin queue by itself.
struct Admin {
    queue: TcpQueue,
    timeout: Duration,
}

impl TcpController {
    /// Connects to the subsystem, enables its controller and asks for I/O queues.
    ///
    /// # Errors
    /// [`HostError::Connection`] when nobody is there or what is there speaks nonsense,
    /// [`HostError::Status`] when the controller refuses.
    pub fn connect(address: &TcpAddress, options: &TcpOptions) -> Result<Self, HostError> {
        let (queue, controller_id) = QueueSpec {
            address,
            options,
            id: 0,
            controller_id: DYNAMIC_CONTROLLER,
            slots: 1,
            entries: ADMIN_ENTRIES,
            stride: ADMIN_DATA_MAX,
            in_capsule_max: crate::tcp::ADMIN_CAPSULE_DATA_MAX as usize,
        }
        .open()?;
        let mut admin = Admin { queue, timeout: options.timeout };
        let capabilities = admin.enable()?;
        let mut controller = Controller::new(&mut admin);
        let identify = controller.identify_controller()?;
        let granted = if address.nqn == DISCOVERY_NQN || identify.controller_type == DISCOVERY_CONTROLLER {
            0
        } else {
            ask_for_queues(&mut controller, options.io_queues)?
        };
        drop(controller);
        let shared = Arc::new(TcpState {
            address: address.clone(),
            options: options.clone(),
            admin: Mutex::new(admin),
            controller_id,
            queue_entries_max: capabilities.queue_entries_max,
            in_capsule_max: in_capsule_max(&identify),
            transfer_max: identify.max_transfer(PAGE),
            queues: Mutex::new(Queues { granted, made: 0 }),
        });
        if !options.keep_alive.is_zero() {
            keep_alive(&shared)?;
        }
        Ok(Self { shared, name: address.to_string() })
    }

    /// Asks the discovery service at `socket` of `address` which subsystems there are.
    ///
    /// # Errors
    /// As [`TcpController::connect`].
    pub fn discover(address: &TcpAddress, options: &TcpOptions) -> Result<Vec<DiscoveryRecord>, HostError> {
        let address = TcpAddress { nqn: DISCOVERY_NQN.to_owned(), ..address.clone() };
        let options = TcpOptions { keep_alive: Duration::ZERO, ..options.clone() };
        let mut controller = Controller::new(Self::connect(&address, &options)?);
        let decode = |page: &[u8]| {
            DiscoveryLog::decode(page)
                .map_err(|source| HostError::Decode { device: address.to_string(), source })
        };
        let mut read = |records: u64| {
            let mut page = vec![0; DISCOVERY_RECORD_LEN * (1 + records as usize)];
            let command =
                GetLogPage { nsid: 0, ..GetLogPage::controller(LogId::DISCOVERY, page.len() as u64) };
            controller.send(&AdminCommand::GetLogPage(command), Data::Read(&mut page)).map(|_| page)
        };
        let count = decode(&read(0)?)?.record_count;
        Ok(decode(&read(count.min(DISCOVERY_RECORDS_MAX))?)?.records)
    }

    /// Where it is.
    pub fn address(&self) -> &TcpAddress {
        &self.shared.address
    }

    /// Most bytes of one I/O command; `None` without a limit.
    pub fn transfer_max(&self) -> Option<Bytes> {
        self.shared.transfer_max
    }

    /// Makes an I/O queue for `depth` commands of up to `io_bytes` in flight; it keeps the controller.
    ///
    /// # Errors
    /// [`HostError::Connection`] when there are no queues left, when the controller's queues are
    /// shorter, or when the connection cannot be made.
    pub fn io_queue(&self, depth: usize, io_bytes: usize) -> Result<TcpQueue, HostError> {
        let TcpState { address, options, controller_id, queue_entries_max, in_capsule_max, .. } =
            &*self.shared;
        let refused = |why: String| HostError::Connection {
            device: address.to_string(),
            what: format!("an I/O queue of {depth} commands"),
            why,
        };
        // A queue with N entries holds N-1 commands.
        let entries = u32::try_from(depth).ok().and_then(|depth| depth.checked_add(1)).unwrap_or(u32::MAX);
        if entries > *queue_entries_max {
            return Err(refused(format!(
                "the controller's queues hold {} commands",
                queue_entries_max.saturating_sub(1)
            )));
        }
        let id = {
            let mut queues = lock(&self.shared.queues);
            if queues.made >= queues.granted {
                return Err(refused(format!("the controller grants {} I/O queues", queues.granted)));
            }
            queues.made += 1;
            queues.made
        };
        let spec = QueueSpec {
            address,
            options,
            id,
            controller_id: *controller_id,
            slots: depth,
            entries,
            // Connect's data and messages of authentication go through the first slot.
            stride: io_bytes.max(crate::fabrics::CONNECT_DATA_LEN.max(MESSAGE_LEN_MAX)),
            in_capsule_max: *in_capsule_max,
        };
        let (mut queue, _) = spec.open()?;
        queue.kept = Some(Box::new(self.clone()));
        Ok(queue)
    }
}

impl AdminTransport for TcpController {
    fn name(&self) -> &str {
        &self.name
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError> {
        lock(&self.shared.admin).admin(command, data)
    }
}

impl AdminTransport for Admin {
    fn name(&self) -> &str {
        self.queue.name()
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError> {
        let got = data.len();
        let needed = command.data_len().unwrap_or(got as u64);
        if needed != got as u64 || got > ADMIN_DATA_MAX {
            let (device, command) = (self.queue.name().to_owned(), command.to_string());
            return Err(HostError::Length { device, command, needed, got });
        }
        let direction = match &data {
            Data::None => Direction::None,
            Data::Read(_) => Direction::Read(got),
            Data::Write(bytes) => {
                self.queue.memory(0)[..got].copy_from_slice(bytes);
                Direction::write(got)
            }
        };
        let direction = if got == 0 { Direction::None } else { direction };
        let completion = self.queue.command(&command.encode(), direction, self.timeout)?;
        if let (Data::Read(buffer), true) = (data, completion.status.is_success()) {
            buffer.copy_from_slice(&self.queue.memory(0)[..got]);
        }
        Ok(completion)
    }
}

impl Admin {
    fn property(&mut self, property: Property) -> Result<u64, HostError> {
        self.fabrics(&FabricsCommand::PropertyGet { property }, "Property Get").map(|c| c.result)
    }

    fn set_config(&mut self, value: u64) -> Result<(), HostError> {
        let property = Property::CONTROLLER_CONFIG;
        self.fabrics(&FabricsCommand::PropertySet { property, value }, "Property Set").map(|_| ())
    }

    fn fabrics(&mut self, command: &FabricsCommand, name: &str) -> Result<Completion, HostError> {
        let completion = self.queue.command(&command.encode(), Direction::None, self.timeout)?;
        if completion.status.is_success() {
            return Ok(completion);
        }
        let why = completion.status.describe(crate::command::opcode::FABRICS).0.to_owned();
        Err(self.queue.error(name, why))
    }

    fn status(&mut self) -> Result<ControllerStatus, HostError> {
        Ok(ControllerStatus::decode(self.property(Property::CONTROLLER_STATUS)? as u32))
    }

    /// Enables the controller and waits until it is ready, as long as it says that this takes.
    fn enable(&mut self) -> Result<ControllerCapabilities, HostError> {
        let capabilities = ControllerCapabilities::decode(self.property(Property::CAPABILITIES)?);
        self.set_config(CONFIG)?;
        self.set_config(CONFIG | ENABLE)?;
        let span = Duration::from_millis(500) * u32::from(capabilities.ready_timeout_500ms.max(1));
        let limit = self.queue.now() + span;
        loop {
            let status = self.status()?;
            if status.ready {
                return Ok(capabilities);
            }
            let given_up = self.queue.give_up.is_raised();
            if status.fatal || given_up || self.queue.now() >= limit {
                let why = if status.fatal {
                    "the controller reports a fatal state".to_owned()
                } else if given_up {
                    "the controller was not ready when the user ended the wait".to_owned()
                } else {
                    format!("the controller was not ready after {} s", span.as_secs_f64())
                };
                return Err(self.queue.error("enabling the controller", why));
            }
            self.queue.pause(STATE_PERIOD);
        }
    }

    /// Shuts the controller down, as far as it takes part.
    fn shut_down(&mut self) -> Result<(), HostError> {
        self.set_config(CONFIG | ENABLE | SHUTDOWN)?;
        let span = if self.queue.give_up.is_raised() { GRACE } else { SHUTDOWN_SPAN };
        let limit = self.queue.now() + span;
        while self.status()?.shutdown != ShutdownState::Complete && self.queue.now() < limit {
            self.queue.pause(STATE_PERIOD);
        }
        Ok(())
    }
}

impl Drop for TcpState {
    fn drop(&mut self) {
        let admin = self.admin.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Whoever is not there any more needs no goodbye.
        let _ = admin.shut_down();
    }
}

impl fmt::Debug for TcpState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Nothing is left half done by a panic while it is held: each command is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of data that an I/O command may carry inside.
fn in_capsule_max(identify: &IdentifyController) -> usize {
    let fabrics = &identify.fabrics;
    // Data at an offset behind the command (ICDOFF) is used by nobody; Linux refuses it.
    if fabrics.data_offset_16b != 0 {
        return 0;
    }
    (fabrics.command_capsule_16b as usize).saturating_mul(16).saturating_sub(crate::command::SQE_LEN)
}

/// Asks for `wanted` I/O queues; says how many there will be.
fn ask_for_queues(controller: &mut Controller<'_>, wanted: u16) -> Result<u16, HostError> {
    let wanted = wanted.max(1);
    let value = NumberOfQueues { submission: wanted, completion: wanted };
    let granted = NumberOfQueues::decode(controller.set_features(value.set(false))?)
        .map_err(|source| HostError::Decode { device: controller.name().to_owned(), source })?;
    Ok(wanted.min(granted.submission).min(granted.completion))
}

/// Starts the thread that tells the controller that we live, twice as often as it asks for.
fn keep_alive(shared: &Arc<TcpState>) -> Result<(), HostError> {
    let period = shared.options.keep_alive / 2;
    let weak = Arc::downgrade(shared);
    let (stay, gone) = channel::<()>();
    // Dropped with the queue, which ends the thread at once.
    lock(&shared.admin).queue.kept = Some(Box::new(stay));
    thread::Builder::new()
        .name("nvme-tcp-alive".to_owned())
        .spawn(move || stay_alive(&weak, &gone, period))
        .map(|_| ())
        .map_err(|error| HostError::Connection {
            device: shared.address.to_string(),
            what: "keeping it alive".to_owned(),
            why: format!("no thread could be started: {error}"),
        })
}

fn stay_alive(controller: &Weak<TcpState>, gone: &Receiver<()>, period: Duration) {
    while gone.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
        let Some(shared) = controller.upgrade() else { return };
        // Failures are found by whoever uses the controller next.
        if lock(&shared.admin).admin(&AdminCommand::KeepAlive, Data::None).is_err() {
            return;
        }
    }
}
