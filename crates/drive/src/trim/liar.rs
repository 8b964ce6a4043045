//! A simulated SCSI unit behind a bridge that lies about UNMAP, or does not: for tests of the check.
//!
//! It speaks the commands that the check sends and nothing else, in no time at all: what takes long says so. What it does
//! wrong is one [`BridgeLie`]; what honest units do differently from one another is in [`HonestUnmap`].

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use crate::scsi::{ScsiData, ScsiDone, ScsiTransport, SgError, UnmapDescriptor, command};

/// What an honest unit makes of blocks that are unmapped. All of it is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HonestUnmap {
    /// They read as zeroes.
    Zeroes,
    /// They read as something else.
    Noise,
    /// Whole groups read as zeroes; what only touches a group stays.
    WholeGroups,
    /// Nothing happens.
    Ignored,
    /// The command is refused.
    Refused,
    /// They read as before until the cache is flushed.
    AtFlush,
}

/// What a bridge does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BridgeLie {
    /// Nothing.
    None,
    /// So many blocks more than it was told go with them.
    TooMuch(u64),
    /// Groups that are covered in part go as a whole.
    RoundsOut,
    /// It unmaps so many blocks further on.
    Shifted(u64),
    /// It counts blocks in 16 bits: of 65,536 it makes none, of 65,537 one, and takes addresses likewise.
    SixteenBits,
    /// A block that is written after it was unmapped reads once as it was before.
    Stale,
    /// So many blocks beside what was unmapped are gone after the next power cycle.
    LateLoss(u64),
    /// UNMAP takes that long.
    Hangs(Duration),
    /// UNMAP never comes back.
    NeverAnswers,
    /// It is smaller than it says: addresses go round.
    FakeCapacity(u64),
    /// Of several descriptors it takes the first one's length for all.
    OneLength,
}

/// The unit.
#[derive(Clone, Debug)]
pub struct LyingUnit {
    /// Logical block size.
    pub block_bytes: u32,
    /// Size in blocks.
    pub blocks: u64,
    /// LBPME of READ CAPACITY (16).
    pub says_provisioned: bool,
    /// Page B0h: most blocks in one UNMAP; 0 is not reported.
    pub unmap_blocks_max: u32,
    /// Page B0h: most descriptors.
    pub unmap_ranges_max: u32,
    /// Page B0h: blocks that are deallocated together.
    pub granularity: u32,
    /// Whether UNMAPs over its limits are refused.
    pub keeps_limits: bool,
    /// What becomes of unmapped blocks.
    pub honest: HonestUnmap,
    /// What else does.
    pub lie: BridgeLie,
    /// Most blocks that the kernel sends in one UNMAP; `None` where there is no kernel between.
    pub kernel_blocks_max: Option<u64>,
    store: BTreeMap<u64, Box<[u8]>>,
    /// What erased blocks held, for a bridge that gives it once more.
    erased: BTreeMap<u64, Vec<u8>>,
    stale: BTreeMap<u64, Vec<u8>>,
    at_flush: Vec<(u64, u64)>,
    at_power_cycle: Vec<(u64, u64)>,
}

/// Blocks that are kept together.
const CHUNK_BLOCKS: u64 = 128;

impl LyingUnit {
    /// A unit that acts on UNMAP and does no harm.
    pub fn new(blocks: u64) -> Self {
        Self {
            block_bytes: 512,
            blocks,
            says_provisioned: false,
            unmap_blocks_max: 2048,
            unmap_ranges_max: 64,
            granularity: 8,
            keeps_limits: true,
            honest: HonestUnmap::Zeroes,
            lie: BridgeLie::None,
            kernel_blocks_max: None,
            store: BTreeMap::new(),
            erased: BTreeMap::new(),
            stale: BTreeMap::new(),
            at_flush: Vec::new(),
            at_power_cycle: Vec::new(),
        }
    }

    /// The same with a lie.
    #[must_use]
    pub fn with(mut self, lie: BridgeLie) -> Self {
        self.lie = lie;
        self
    }

    /// Power off and on.
    pub fn power_cycle(&mut self) {
        self.flush();
        for (first, blocks) in std::mem::take(&mut self.at_power_cycle) {
            self.erase(first, blocks);
        }
    }

    fn flush(&mut self) {
        for (first, blocks) in std::mem::take(&mut self.at_flush) {
            self.erase(first, blocks);
        }
    }

    /// Where a block really lies.
    const fn place(&self, block: u64) -> u64 {
        match self.lie {
            BridgeLie::FakeCapacity(real) => block % real,
            _ => block,
        }
    }

    fn read(&mut self, first: u64, data: &mut [u8]) {
        let len = self.block_bytes as usize;
        for (block, part) in (first..).zip(data.chunks_exact_mut(len)) {
            if let Some(stale) = self.stale.remove(&block) {
                part.copy_from_slice(&stale);
                continue;
            }
            let place = self.place(block);
            let at = (place % CHUNK_BLOCKS) as usize * len;
            match self.store.get(&(place / CHUNK_BLOCKS)) {
                Some(chunk) => part.copy_from_slice(&chunk[at..at + len]),
                None => part.fill(0),
            }
        }
    }

    fn write(&mut self, first: u64, data: &[u8]) {
        let len = self.block_bytes as usize;
        for (block, part) in (first..).zip(data.chunks_exact(len)) {
            // What is written is no longer to be lost: a late loss takes what was there.
            self.at_flush.retain(|(first, blocks)| !(*first..first + blocks).contains(&block));
            if let Some(old) = self.erased.remove(&block) {
                self.stale.insert(block, old);
            }
            let place = self.place(block);
            let at = (place % CHUNK_BLOCKS) as usize * len;
            let chunk_bytes = CHUNK_BLOCKS as usize * len;
            let chunk = self
                .store
                .entry(place / CHUNK_BLOCKS)
                .or_insert_with(|| vec![0; chunk_bytes].into_boxed_slice());
            chunk[at..at + len].copy_from_slice(part);
        }
    }

    fn erase(&mut self, first: u64, blocks: u64) {
        let (end, len) = (first.saturating_add(blocks).min(self.blocks), self.block_bytes as usize);
        for block in first..end {
            let place = self.place(block);
            if self.lie == BridgeLie::Stale {
                let mut held = vec![0; len];
                self.read(block, &mut held);
                self.erased.insert(block, held);
            }
            let at = (place % CHUNK_BLOCKS) as usize * len;
            if let Some(chunk) = self.store.get_mut(&(place / CHUNK_BLOCKS)) {
                let filler = if self.honest == HonestUnmap::Noise { 0xa5 } else { 0 };
                chunk[at..at + len].fill(filler);
            }
        }
    }

    /// What becomes of blocks that are unmapped.
    fn unmap_range(&mut self, first: u64, blocks: u64) {
        let group = u64::from(self.granularity.max(1));
        let (mut start, mut end) = (first, first + blocks);
        match self.honest {
            HonestUnmap::Ignored | HonestUnmap::Refused => return,
            HonestUnmap::WholeGroups => {
                (start, end) = (start.next_multiple_of(group), end / group * group);
            }
            HonestUnmap::AtFlush => {
                self.at_flush.push((start, end - start));
                return;
            }
            HonestUnmap::Zeroes | HonestUnmap::Noise => {}
        }
        if self.lie == BridgeLie::RoundsOut {
            (start, end) = (first / group * group, end.next_multiple_of(group));
        }
        self.erase(start, end.saturating_sub(start));
    }

    fn unmap(&mut self, descriptors: &[UnmapDescriptor]) {
        let len_of_first = descriptors.first().map_or(0, |one| u64::from(one.blocks));
        for UnmapDescriptor { first, blocks } in descriptors {
            let (mut first, mut blocks) = (*first, u64::from(*blocks));
            match self.lie {
                BridgeLie::TooMuch(more) => blocks += more,
                BridgeLie::Shifted(by) => first += by,
                BridgeLie::SixteenBits => {
                    // A count of 0 is the whole range of the counter to some firmware: what a bug looks like.
                    blocks = if blocks % 65_536 == 0 { 65_536 } else { blocks % 65_536 };
                    first %= 1 << 32;
                }
                BridgeLie::LateLoss(more) => self.at_power_cycle.push((first + blocks, more)),
                BridgeLie::OneLength => blocks = len_of_first.max(2),
                _ => {}
            }
            self.unmap_range(first, blocks);
        }
    }

    fn inquire(&self, page: Option<u8>) -> Option<Vec<u8>> {
        let mut answer = vec![0; 64];
        answer[1] = page.unwrap_or(0);
        answer[3] = 60;
        match page {
            None => {
                answer[2] = 6;
                answer[8..16].copy_from_slice(b"Realtek ");
                answer[16..32].copy_from_slice(b"RTL9210B-CG     ");
                answer[32..36].copy_from_slice(b"1.00");
            }
            Some(0xb0) => {
                answer[20..24].copy_from_slice(&self.unmap_blocks_max.to_be_bytes());
                answer[24..28].copy_from_slice(&self.unmap_ranges_max.to_be_bytes());
                answer[28..32].copy_from_slice(&self.granularity.to_be_bytes());
            }
            Some(0xb2) => answer[5] = 0x80,
            Some(_) => return None,
        }
        Some(answer)
    }

    fn capacity(&self) -> [u8; 32] {
        let mut answer = [0; 32];
        answer[..8].copy_from_slice(&(self.blocks - 1).to_be_bytes());
        answer[8..12].copy_from_slice(&self.block_bytes.to_be_bytes());
        answer[14] = u8::from(self.says_provisioned) << 7;
        answer
    }

    /// Whether a command that names these blocks is one that it takes.
    fn takes(&self, descriptors: &[UnmapDescriptor]) -> bool {
        let blocks: u64 = descriptors.iter().map(|one| u64::from(one.blocks)).sum();
        let within = (self.unmap_blocks_max == 0 || blocks <= u64::from(self.unmap_blocks_max))
            && descriptors.len() as u64 <= u64::from(self.unmap_ranges_max.max(1));
        let on_it = descriptors.iter().all(|one| one.first + u64::from(one.blocks) <= self.blocks);
        self.honest != HonestUnmap::Refused && on_it && (within || !self.keeps_limits)
    }
}

fn refused(command: &'static str) -> SgError {
    // ILLEGAL REQUEST, INVALID FIELD IN CDB (SPC-5, 4.4.8 and annex F).
    SgError::Refused { command, key: 5, code: 0x24, qualifier: 0 }
}

/// The eight bytes of an address in a 16-byte command.
fn address(cdb: &[u8]) -> u64 {
    cdb.get(2..10).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_be_bytes)
}

impl ScsiTransport for LyingUnit {
    fn execute(
        &mut self,
        command: &'static str,
        cdb: &[u8],
        data: ScsiData<'_>,
        timeout: Duration,
    ) -> Result<ScsiDone, SgError> {
        let mut took = Duration::from_millis(1);
        let answered = |answer: &[u8], data: ScsiData<'_>| match data {
            ScsiData::In(buffer) => {
                let len = answer.len().min(buffer.len());
                buffer[..len].copy_from_slice(&answer[..len]);
                len
            }
            _ => 0,
        };
        let bytes = match (cdb.first(), data) {
            (Some(0x12), data) => {
                let page = (cdb[1] & 1 == 1).then_some(cdb[2]);
                answered(&self.inquire(page).ok_or_else(|| refused(command))?, data)
            }
            (Some(0x9e), data) => answered(&self.capacity(), data),
            (Some(0x88), ScsiData::In(buffer)) => {
                self.read(address(cdb), buffer);
                buffer.len()
            }
            (Some(0x8a), ScsiData::Out(buffer)) => {
                self.write(address(cdb), buffer);
                buffer.len()
            }
            (Some(0x35), _) => {
                self.flush();
                0
            }
            (Some(0x42), ScsiData::Out(list)) => {
                let descriptors = command::unmap_descriptors(list);
                if !self.takes(&descriptors) {
                    return Err(refused(command));
                }
                match self.lie {
                    BridgeLie::NeverAnswers => {
                        return Err(SgError::Transport { command, status: 0, host: 3, driver: 0 });
                    }
                    BridgeLie::Hangs(long) => took = long.min(timeout),
                    _ => {}
                }
                self.unmap(&descriptors);
                list.len()
            }
            _ => return Err(refused(command)),
        };
        Ok(ScsiDone { bytes, took })
    }

    /// As Linux cuts it: one descriptor a command (`sd_setup_unmap_cmnd`).
    fn discard(&mut self, start_bytes: u64, len_bytes: u64) -> Option<io::Result<()>> {
        let most = self.kernel_blocks_max?;
        let block = u64::from(self.block_bytes);
        let (mut at, end) = (start_bytes / block, (start_bytes + len_bytes) / block);
        while at < end {
            let blocks = most.min(end - at);
            let list = command::unmap_list(&[UnmapDescriptor { first: at, blocks: blocks as u32 }]);
            let cdb = command::unmap(list.len() as u16);
            let sent = self.execute("UNMAP", &cdb, ScsiData::Out(&list), Duration::MAX);
            if let Err(error) = sent {
                return Some(Err(io::Error::other(error)));
            }
            at += blocks;
        }
        Some(Ok(()))
    }
}
