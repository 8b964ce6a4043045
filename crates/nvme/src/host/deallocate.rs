//! Deallocating a span of a namespace: as many ranges and commands as its size and the drive need.
//!
//! Destroys data. Whoever calls has earned that with the guard of `capture`.

use measure::Lba;

use super::{Data, HostError, IoTransport};
use crate::command::{DeallocateRange, IoCommand, MAX_RANGES, RANGE_BLOCKS_MAX, opcode};
use crate::identify::IdentifyNvm;

/// Gives up `blocks` blocks from `start`, within the `limits` the drive states, if it states any.
///
/// Returns the number of commands sent.
///
/// # Errors
/// [`HostError`] of the first command that failed; those before it have taken effect.
pub fn deallocate(
    transport: &mut impl IoTransport,
    start: Lba,
    blocks: u64,
    limits: Option<&IdentifyNvm>,
) -> Result<usize, HostError> {
    let range_blocks = limits.and_then(|limits| limits.deallocate_range_blocks).unwrap_or(RANGE_BLOCKS_MAX);
    let ranges_max = limits.and_then(|limits| limits.deallocate_ranges).map_or(MAX_RANGES, usize::from);
    let blocks_max = limits.and_then(|limits| limits.deallocate_blocks).unwrap_or(u64::MAX);

    let mut sent = 0;
    let mut done = 0;
    while done < blocks {
        let span = (blocks - done).min(blocks_max).min(u64::from(range_blocks) * ranges_max as u64);
        let ranges: Vec<_> =
            DeallocateRange::cover(Lba::new(start.as_u64() + done), span, range_blocks).collect();
        send(transport, &ranges)?;
        done += span;
        sent += 1;
    }
    Ok(sent)
}

fn send(transport: &mut impl IoTransport, ranges: &[DeallocateRange]) -> Result<(), HostError> {
    let command = IoCommand::DatasetManagement { ranges: ranges.len() as u16, deallocate: true };
    let data = DeallocateRange::encode_all(ranges);
    let completion = transport.io(&command, Data::Write(&data))?;
    if completion.status.is_success() {
        return Ok(());
    }
    Err(HostError::Status {
        device: transport.name().to_owned(),
        command: "deallocation (Dataset Management)".to_owned(),
        opcode: opcode::DATASET_MANAGEMENT,
        status: completion.status,
    })
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::Status;
    use crate::host::scripted::{ScriptedTransport, Step};

    const NO_LIMITS: IdentifyNvm = IdentifyNvm {
        verify_shift: None,
        write_zeroes_shift: None,
        deallocate_ranges: None,
        deallocate_range_blocks: None,
        deallocate_blocks: None,
    };

    fn range(start: u64, blocks: u32) -> Vec<u8> {
        [0_u32.to_le_bytes().to_vec(), blocks.to_le_bytes().to_vec(), start.to_le_bytes().to_vec()].concat()
    }

    /// Goal: a drive of 3 TB needs two ranges and still one command.
    #[test]
    fn a_big_drive_takes_one_command_with_several_ranges() {
        let blocks = 5_860_533_168_u64;
        let data =
            [range(0, u32::MAX), range(u32::MAX.into(), (blocks - u64::from(u32::MAX)) as u32)].concat();
        let mut transport =
            ScriptedTransport::new(vec![Step::raw(0x09, 1, [1, 4, 0, 0, 0, 0]).expects_data(&data)]);
        assert_eq!(deallocate(&mut transport, Lba::new(0), blocks, None).expect("accepted"), 1);
        transport.finish();
    }

    #[test]
    fn stated_limits_are_kept() {
        let limits =
            IdentifyNvm { deallocate_ranges: Some(2), deallocate_range_blocks: Some(8), ..NO_LIMITS };
        let mut transport = ScriptedTransport::new(vec![
            Step::raw(0x09, 1, [1, 4, 0, 0, 0, 0]).expects_data(&[range(100, 8), range(108, 8)].concat()),
            Step::raw(0x09, 1, [0, 4, 0, 0, 0, 0]).expects_data(&range(116, 4)),
        ]);
        assert_eq!(deallocate(&mut transport, Lba::new(100), 20, Some(&limits)).expect("accepted"), 2);
        transport.finish();
    }

    #[test]
    fn nothing_to_do_sends_nothing_and_a_refusal_is_told() {
        let mut transport = ScriptedTransport::new(vec![]);
        assert_eq!(deallocate(&mut transport, Lba::new(0), 0, None).expect("nothing"), 0);
        let step = Step::raw(0x09, 1, [0, 4, 0, 0, 0, 0]).expects_data(&range(0, 1));
        let mut transport = ScriptedTransport::new(vec![step.fails(Status::NAMESPACE_WRITE_PROTECTED)]);
        let error = deallocate(&mut transport, Lba::new(0), 1, None).expect_err("write protected");
        assert!(error.to_string().contains("Namespace is Write Protected"), "{error}");
    }
}
