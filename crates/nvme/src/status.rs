//! Status codes of completions: what the controller said, by name and in a sentence.
//!
//! Holds the Status Field of a completion without its phase tag (the form in which Linux returns
//! it from the passthrough ioctl). Names and meanings: NVMe Base 2.3, Status Field Definition;
//! Fabrics codes: the same document's Fabrics command set.

use std::fmt;

use crate::command::opcode;

/// The Status Field: code (7:0), code type (10:8), retry delay (12:11), more (13), do not retry (14).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Status(u16);

macro_rules! status_table {
    ($table:ident: $($(#[$doc:meta])* $const:ident = $value:literal, $name:literal, $sentence:literal;)*) => {
        impl Status {
            $($(#[$doc])* #[doc = $sentence] pub const $const: Self = Self($value);)*
        }
        const $table: &[(u16, &str, &str)] = &[$(($value, $name, $sentence)),*];
    };
}

// Value: code type << 8 | code.
status_table! { CODES:
    SUCCESS = 0x000, "Success", "The command completed without error.";
    INVALID_OPCODE = 0x001, "Invalid Command Opcode", "The controller does not know this command.";
    INVALID_FIELD = 0x002, "Invalid Field in Command", "The controller does not support a value in the command, or the feature or page that it names.";
    COMMAND_ID_CONFLICT = 0x003, "Command ID Conflict", "The command identifier is already in use.";
    DATA_TRANSFER_ERROR = 0x004, "Data Transfer Error", "Moving the data of the command failed.";
    POWER_LOSS = 0x005, "Aborted due to Power Loss Notification", "The command was dropped because power is about to go.";
    INTERNAL_ERROR = 0x006, "Internal Error", "The controller failed internally.";
    ABORT_REQUESTED = 0x007, "Command Abort Requested", "An Abort command stopped this one.";
    SQ_DELETED = 0x008, "Aborted due to SQ Deletion", "The queue of the command was deleted.";
    INVALID_NAMESPACE = 0x00b, "Invalid Namespace or Format", "The namespace does not exist or is not usable in its format.";
    COMMAND_SEQUENCE_ERROR = 0x00c, "Command Sequence Error", "The command came out of order.";
    SGL_INVALID_LAST = 0x00d, "Invalid SGL Segment Descriptor", "A scatter-gather segment descriptor is invalid.";
    SGL_INVALID_COUNT = 0x00e, "Invalid Number of SGL Descriptors", "The scatter-gather list has the wrong number of descriptors.";
    SGL_DATA_LENGTH = 0x00f, "Data SGL Length Invalid", "The scatter-gather list does not match the length of the data.";
    SGL_METADATA_LENGTH = 0x010, "Metadata SGL Length Invalid", "The scatter-gather list does not match the length of the metadata.";
    SGL_TYPE = 0x011, "SGL Descriptor Type Invalid", "The controller does not support this kind of scatter-gather descriptor.";
    PRP_OFFSET = 0x013, "PRP Offset Invalid", "A physical page pointer is misaligned.";
    OPERATION_DENIED = 0x015, "Operation Denied", "Access rights are missing.";
    SGL_OFFSET = 0x016, "SGL Offset Invalid", "The offset of in-capsule data is invalid.";
    HOST_ID_FORMAT = 0x018, "Host Identifier Inconsistent Format", "64-bit and 128-bit host identifiers are in use at once.";
    KEEP_ALIVE_EXPIRED = 0x019, "Keep Alive Timer Expired", "The host was silent for too long.";
    KEEP_ALIVE_INVALID = 0x01a, "Keep Alive Timeout Invalid", "The keep-alive timeout is not acceptable.";
    PREEMPTED = 0x01b, "Aborted due to Preempt and Abort", "A reservation took over.";
    SANITIZE_FAILED = 0x01c, "Sanitize Failed", "The last sanitize failed; the drive accepts little until it is repeated.";
    SANITIZE_IN_PROGRESS = 0x01d, "Sanitize In Progress", "The drive is being sanitized.";
    SGL_GRANULARITY = 0x01e, "SGL Data Block Granularity Invalid", "Address or length of a scatter-gather block is misaligned.";
    NAMESPACE_WRITE_PROTECTED = 0x020, "Namespace is Write Protected", "The namespace is write protected.";
    COMMAND_INTERRUPTED = 0x021, "Command Interrupted", "The controller was interrupted; the command may be repeated.";
    TRANSIENT_TRANSPORT_ERROR = 0x022, "Transient Transport Error", "The transport failed for a moment; the command may be repeated.";
    LOCKED_DOWN = 0x023, "Prohibited by Command and Feature Lockdown", "An administrator has locked this command or feature.";
    MEDIA_NOT_READY = 0x024, "Admin Command Media Not Ready", "The media is not ready yet.";
    LBA_OUT_OF_RANGE = 0x080, "LBA Out of Range", "The command reaches beyond the end of the namespace.";
    CAPACITY_EXCEEDED = 0x081, "Capacity Exceeded", "The namespace is full.";
    NAMESPACE_NOT_READY = 0x082, "Namespace Not Ready", "The namespace is not ready yet.";
    RESERVATION_CONFLICT = 0x083, "Reservation Conflict", "Another host holds a reservation.";
    FORMAT_IN_PROGRESS = 0x084, "Format In Progress", "The namespace is being formatted.";

    COMPLETION_QUEUE_INVALID = 0x100, "Completion Queue Invalid", "The completion queue does not exist.";
    QUEUE_ID_INVALID = 0x101, "Invalid Queue Identifier", "The queue identifier is in use or out of range.";
    QUEUE_SIZE_INVALID = 0x102, "Invalid Queue Size", "The queue size is not supported.";
    ABORT_LIMIT = 0x103, "Abort Command Limit Exceeded", "Too many Abort commands are outstanding.";
    ASYNC_EVENT_LIMIT = 0x105, "Asynchronous Event Request Limit Exceeded", "Too many event requests are outstanding.";
    FIRMWARE_SLOT = 0x106, "Invalid Firmware Slot", "The firmware slot is invalid or read-only.";
    FIRMWARE_IMAGE = 0x107, "Invalid Firmware Image", "The firmware image is invalid.";
    INTERRUPT_VECTOR = 0x108, "Invalid Interrupt Vector", "The interrupt vector is invalid.";
    INVALID_LOG_PAGE = 0x109, "Invalid Log Page", "The controller does not have this log page.";
    INVALID_FORMAT = 0x10a, "Invalid Format", "The format is not supported.";
    QUEUE_DELETION = 0x10c, "Invalid Queue Deletion", "The queue cannot be deleted.";
    NOT_SAVEABLE = 0x10d, "Feature Identifier Not Saveable", "The drive cannot keep this setting over a power cycle.";
    NOT_CHANGEABLE = 0x10e, "Feature Not Changeable", "The drive does not let this setting be changed.";
    NOT_NAMESPACE_SPECIFIC = 0x10f, "Feature Not Namespace Specific", "The setting belongs to the whole controller, not to one namespace.";
    OVERLAPPING_RANGE = 0x114, "Overlapping Range", "Ranges overlap.";
    SELF_TEST_IN_PROGRESS = 0x11d, "Device Self-test In Progress", "A self-test is running.";
    INVALID_CONTROLLER_ID = 0x11f, "Invalid Controller Identifier", "There is no controller with this identifier.";
    INVALID_POWER_LIMIT = 0x13e, "Invalid Power Limit", "The power limit would leave no operational power state.";
    CONFLICTING_ATTRIBUTES = 0x180, "Conflicting Attributes", "The attributes of the command contradict each other.";
    INVALID_PROTECTION = 0x181, "Invalid Protection Information", "The protection settings do not fit the format.";
    READ_ONLY_RANGE = 0x182, "Attempted Write to Read Only Range", "The range is read-only.";
    SIZE_LIMIT = 0x183, "Command Size Limit Exceeded", "The command is larger than the controller allows.";

    WRITE_FAULT = 0x280, "Write Fault", "The data could not be written to the media.";
    UNRECOVERED_READ = 0x281, "Unrecovered Read Error", "The data could not be read back from the media.";
    GUARD_CHECK = 0x282, "End-to-end Guard Check Error", "The data does not match its guard.";
    APPLICATION_TAG = 0x283, "End-to-end Application Tag Check Error", "The data does not match its application tag.";
    REFERENCE_TAG = 0x284, "End-to-end Reference Tag Check Error", "The data does not match its reference tag.";
    COMPARE_FAILURE = 0x285, "Compare Failure", "The data on the drive differs from the data of the Compare command.";
    ACCESS_DENIED = 0x286, "Access Denied", "Access to the namespace or range is denied.";
    UNWRITTEN_BLOCK = 0x287, "Deallocated or Unwritten Logical Block", "The range holds blocks that were never written or were deallocated.";

    INTERNAL_PATH_ERROR = 0x300, "Internal Path Error", "The path to the namespace failed inside the controller.";
    ANA_PERSISTENT_LOSS = 0x301, "Asymmetric Access Persistent Loss", "This path to the namespace is lost for good.";
    ANA_INACCESSIBLE = 0x302, "Asymmetric Access Inaccessible", "The namespace cannot be reached on this path.";
    ANA_TRANSITION = 0x303, "Asymmetric Access Transition", "The path to the namespace is changing.";
    CONTROLLER_PATH_ERROR = 0x360, "Controller Pathing Error", "The controller found the path broken.";
    HOST_PATH_ERROR = 0x370, "Host Pathing Error", "The host found the path broken.";
    ABORTED_BY_HOST = 0x371, "Command Aborted By Host", "The host gave the command up, for example at a timeout.";
}

// Codes 80h and above mean something else in the completion of a Fabrics command.
status_table! { FABRICS_CODES:
    CONNECT_FORMAT = 0x180, "Incompatible Format", "The record format of Connect is not supported.";
    CONNECT_BUSY = 0x181, "Controller Busy", "The controller already belongs to another host.";
    CONNECT_INVALID_PARAMETERS = 0x182, "Connect Invalid Parameters", "A parameter of Connect is invalid, often the subsystem name.";
    CONNECT_RESTART_DISCOVERY = 0x183, "Connect Restart Discovery", "The subsystem is not available here; discover again.";
    CONNECT_INVALID_HOST = 0x184, "Connect Invalid Host", "This host is not allowed to connect.";
    INVALID_QUEUE_TYPE = 0x185, "Invalid Queue Type", "The command came on the wrong kind of queue.";
    DISCOVER_RESTART = 0x190, "Discover Restart", "The discovery records changed while they were read.";
    AUTHENTICATION_REQUIRED = 0x191, "Authentication Required", "The subsystem asks for authentication.";
}

const CODE_MASK: u16 = 0x07ff;
const MORE: u16 = 1 << 13;
const DO_NOT_RETRY: u16 = 1 << 14;

impl Status {
    /// A Status Field without phase tag, as the Linux ioctl returns it. Bit 15 is ignored.
    pub const fn from_field(field: u16) -> Self {
        Self(field & 0x7fff)
    }

    /// A Status Field as a completion carries it: the phase tag in bit 0 is dropped.
    pub const fn from_completion(raw: u16) -> Self {
        Self(raw >> 1)
    }

    /// The Status Field without phase tag.
    pub const fn as_field(self) -> u16 {
        self.0
    }

    /// The Status Field as a completion carries it, phase tag 0 (Fabrics have none).
    pub const fn as_completion(self) -> u16 {
        self.0 << 1
    }

    /// Code type and code alone, for comparison with the named codes.
    pub const fn code(self) -> Self {
        Self(self.0 & CODE_MASK)
    }

    /// Whether the command succeeded.
    pub const fn is_success(self) -> bool {
        self.0 & CODE_MASK == 0
    }

    /// Whether this is `other`, whatever the retry bits say.
    pub const fn is(self, other: Self) -> bool {
        self.0 & CODE_MASK == other.0 & CODE_MASK
    }

    /// The same with Do Not Retry set: repeating the command will fail again.
    pub const fn do_not_retry(self) -> Self {
        Self(self.0 | DO_NOT_RETRY)
    }

    /// Whether repeating the command is pointless.
    pub const fn must_not_retry(self) -> bool {
        self.0 & DO_NOT_RETRY != 0
    }

    /// Whether the error log (01h) says more.
    pub const fn has_more(self) -> bool {
        self.0 & MORE != 0
    }

    /// The specification's name and one sentence, in the completion of a command `of_opcode`.
    ///
    /// The opcode matters because codes 180h and up mean something else for Fabrics commands.
    pub fn describe(self, of_opcode: u8) -> (&'static str, &'static str) {
        let find = |table: &'static [(u16, &'static str, &'static str)]| {
            table.iter().find(|(value, ..)| *value == self.0 & CODE_MASK)
        };
        let fabrics = (of_opcode == opcode::FABRICS).then(|| find(FABRICS_CODES)).flatten();
        match fabrics.or_else(|| find(CODES)) {
            Some((_, name, sentence)) => (name, sentence),
            None if self.0 & CODE_MASK >= 0x700 => {
                ("Vendor Specific", "Only the drive maker knows what this status means.")
            }
            None => ("Unknown Status", "This status is not in the specification that we know."),
        }
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Status({:#06x}, {})", self.0, self.describe(0).0)
    }
}

impl fmt::Display for Status {
    /// Name, then the number as nvme-cli prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:#x})", self.describe(0).0, self.0)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: the number users know from nvme-cli, "Invalid Field in Command (0x4002)".
    #[test]
    fn the_status_reads_as_in_other_tools() {
        let status = Status::INVALID_FIELD.do_not_retry();
        assert_eq!(status.to_string(), "Invalid Field in Command (0x4002)");
        assert!(status.is(Status::INVALID_FIELD) && status != Status::INVALID_FIELD);
        assert_eq!(Status::from_completion(status.as_completion()), status);
        // QEMU sets More as well (0x6002).
        let status = Status::from_field(0x6002);
        assert!(status.has_more() && status.must_not_retry());
    }

    #[test]
    fn the_phase_tag_is_not_part_of_the_status() {
        assert!(Status::from_completion(0x0001).is_success());
        assert_eq!(Status::from_completion(0x0005), Status::INVALID_FIELD);
        assert_eq!(Status::from_field(0xffff).as_field(), 0x7fff);
    }

    #[test]
    fn fabrics_codes_are_named_only_for_fabrics_commands() {
        let status = Status::CONNECT_INVALID_PARAMETERS;
        assert_eq!(status.describe(opcode::FABRICS).0, "Connect Invalid Parameters");
        assert_eq!(status.describe(opcode::IDENTIFY).0, "Attempted Write to Read Only Range");
        assert_eq!(Status::from_field(0x7c1).describe(0).0, "Vendor Specific");
        assert_eq!(Status::from_field(0x0f0).describe(0).0, "Unknown Status");
    }

    #[test]
    fn every_code_has_one_entry() {
        for table in [CODES, FABRICS_CODES] {
            assert!(table.is_sorted_by_key(|(value, ..)| *value), "sorted, hence easy to compare");
            assert!(table.windows(2).all(|pair| pair[0].0 != pair[1].0));
            assert!(table.iter().all(|(value, ..)| value & !CODE_MASK == 0));
        }
    }
}
