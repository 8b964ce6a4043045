//! What one option of a job file means.

use std::time::Duration;

use super::JobReader;
use super::lines::{JobOption, Section};
use super::value::{self, Amount, KbBase};
use crate::{Order, PlanError};
use measure::nearest::did_you_mean;

/// A value and the line that gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) line: usize,
}

/// One value each for reads, writes and trims, as far as given.
pub(super) type ByOp<T> = At<[Option<T>; 3]>;

/// What `rw` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RwOp {
    Read,
    Write,
    Trim,
    /// Reads and writes in the shares of `rwmixread`.
    ReadWrite,
}

/// The options of a section, those it inherits included.
#[derive(Clone, Default)]
pub(super) struct JobOptions {
    pub(super) description: Option<String>,
    pub(super) rw: Option<At<(Order, RwOp)>>,
    pub(super) rwmixread: Option<At<u8>>,
    pub(super) bs: Option<ByOp<u32>>,
    pub(super) bsrange: Option<ByOp<(u32, u32)>>,
    pub(super) bssplit: Option<ByOp<Vec<(u32, u32)>>>,
    pub(super) iodepth: Option<At<u16>>,
    pub(super) numjobs: Option<At<u16>>,
    pub(super) size: Option<At<Amount>>,
    pub(super) offset: Option<At<Amount>>,
    pub(super) io_size: Option<At<u64>>,
    pub(super) runtime: Option<At<Duration>>,
    pub(super) time_based: Option<At<bool>>,
    pub(super) loops: Option<At<u32>>,
    pub(super) startdelay: Option<At<Duration>>,
    pub(super) stonewall: Option<At<bool>>,
    pub(super) thinktime: Option<At<Duration>>,
    pub(super) rate: Option<ByOp<u64>>,
    pub(super) rate_iops: Option<ByOp<u64>>,
    pub(super) direct: Option<At<bool>>,
    pub(super) norandommap: Option<At<bool>>,
    pub(super) randseed: Option<At<u64>>,
    pub(super) zero_buffers: Option<At<bool>>,
    pub(super) filename: Option<At<String>>,
    pub(super) ioengine: Option<At<String>>,
    kb_base: Option<KbBase>,
}

/// Why a value was not taken: the sentence without its place.
type Why = String;

impl JobOptions {
    /// Takes over the options of a section.
    pub(super) fn apply(
        &mut self,
        section: &Section<'_>,
        reader: &mut JobReader<'_>,
    ) -> Result<(), PlanError> {
        // fio parses this one first, wherever it stands in the section.
        for option in section.options.iter().filter(|option| option.key == "kb_base") {
            let base = option.value.unwrap_or("");
            self.kb_base = Some(
                KbBase::parse(base).map_err(|why| reader.error(option.line, format!("kb_base: {why}")))?,
            );
        }
        for option in &section.options {
            match self.take(*option, reader) {
                Ok(true) => {}
                Ok(false) => pass_over(*option, reader)?,
                Err(why) => return Err(reader.error(option.line, format!("{}: {why}", option.key))),
            }
        }
        Ok(())
    }

    /// Takes over one option; false where it is none that changes the load.
    fn take(&mut self, at: JobOption<'_>, reader: &mut JobReader<'_>) -> Result<bool, Why> {
        let base = self.kb_base.unwrap_or(KbBase::Compatible);
        match at.key {
            "kb_base" => {}
            "description" => self.description = Some(at.text()?.to_owned()),
            "rw" | "readwrite" => self.rw = Some(at.with(operation(at.text()?)?)),
            "rwmixread" => self.rwmixread = Some(at.with(share(at.text()?)?)),
            "rwmixwrite" => self.rwmixread = Some(at.with(100 - share(at.text()?)?)),
            "bs" | "blocksize" => at.by_op(&mut self.bs, |typed| io_size(typed, base))?,
            "bsrange" | "blocksize_range" => at.by_op(&mut self.bsrange, |typed| range(typed, base))?,
            "bssplit" => at.by_op(&mut self.bssplit, |typed| split(typed, base))?,
            "iodepth" => self.iodepth = Some(at.with(at.whole(1)?)),
            "numjobs" => self.numjobs = Some(at.with(at.whole(1)?)),
            "size" => self.size = Some(at.with(value::amount(at.text()?, base)?)),
            "offset" | "fileoffset" => self.offset = Some(at.with(value::amount(at.text()?, base)?)),
            "io_size" | "io_limit" => self.io_size = Some(at.with(value::bytes(at.text()?, base)?)),
            "runtime" | "timeout" => self.runtime = Some(at.with(at.time(Duration::from_secs(1))?)),
            "time_based" => self.time_based = Some(at.with(value::switch(at.value)?)),
            "loops" => self.loops = Some(at.with(at.whole(0)?)),
            "startdelay" => self.startdelay = Some(at.with(at.time(Duration::from_secs(1))?)),
            "stonewall" | "wait_for_previous" => self.stonewall = Some(at.with(value::switch(at.value)?)),
            "thinktime" => self.thinktime = Some(at.with(at.time(Duration::from_micros(1))?)),
            "rate" => at.by_op(&mut self.rate, |typed| value::bytes(typed, base))?,
            "rate_iops" => at.by_op(&mut self.rate_iops, value::whole)?,
            "direct" => self.direct = Some(at.with(value::switch(Some(at.text()?))?)),
            "buffered" => self.direct = Some(at.with(!value::switch(Some(at.text()?))?)),
            "norandommap" => self.norandommap = Some(at.with(value::switch(at.value)?)),
            "randseed" => self.randseed = Some(at.with(value::whole(at.text()?)?)),
            "zero_buffers" => self.zero_buffers = Some(at.with(value::switch(at.value)?)),
            "filename" => self.filename = Some(at.with(filename(at.text()?)?)),
            "ioengine" => self.ioengine = Some(at.with(engine(at.text()?)?.to_owned())),
            "randrepeat" | "allrandrepeat" => {
                if !value::switch(Some(at.text()?))? {
                    reader.note(at.line, "randrepeat=0 is ignored: a run is always repeatable; another randseed gives another run");
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl<'a> JobOption<'a> {
    fn with<T>(self, value: T) -> At<T> {
        At { value, line: self.line }
    }

    fn text(self) -> Result<&'a str, Why> {
        self.value
            .filter(|value| !value.is_empty())
            .ok_or_else(|| "it needs a value behind a \"=\"".to_owned())
    }

    fn whole<T: TryFrom<u64>>(self, min: u64) -> Result<T, Why> {
        let value = value::whole(self.text()?)?;
        if value < min {
            return Err(format!("{value} is too small: at least {min}"));
        }
        T::try_from(value).map_err(|_| format!("{value} is too large"))
    }

    fn time(self, bare: Duration) -> Result<Duration, Why> {
        value::time(self.text()?, bare)
    }

    fn by_op<T: Clone>(
        self,
        slot: &mut Option<ByOp<T>>,
        parse: impl Fn(&str) -> Result<T, Why>,
    ) -> Result<(), Why> {
        let before = slot.take().map_or([None, None, None], |before| before.value);
        *slot = Some(self.with(value::by_op(self.text()?, &before, parse)?));
        Ok(())
    }
}

fn operation(typed: &str) -> Result<(Order, RwOp), Why> {
    const NAMES: [(&str, (Order, RwOp)); 9] = [
        ("read", (Order::Sequential, RwOp::Read)),
        ("write", (Order::Sequential, RwOp::Write)),
        ("trim", (Order::Sequential, RwOp::Trim)),
        ("randread", (Order::Random, RwOp::Read)),
        ("randwrite", (Order::Random, RwOp::Write)),
        ("randtrim", (Order::Random, RwOp::Trim)),
        ("rw", (Order::Sequential, RwOp::ReadWrite)),
        ("readwrite", (Order::Sequential, RwOp::ReadWrite)),
        ("randrw", (Order::Random, RwOp::ReadWrite)),
    ];
    if let Some((_, found)) = NAMES.iter().find(|(name, _)| *name == typed) {
        return Ok(*found);
    }
    if matches!(typed, "trimwrite" | "randtrimwrite") {
        return Err(format!(
            "{typed} ties each write to a trim before it, which no plan can say; use a trim job, then a write job"
        ));
    }
    if let Some((name, _)) = typed.split_once(':') {
        return Err(format!(
            "a number behind the colon changes the order of the offsets, which no plan can say; use rw={name}"
        ));
    }
    let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
    let hint = did_you_mean(typed, names.iter().copied());
    Err(format!("{typed:?} is no operation; {hint}valid are {}", names.join(", ")))
}

fn share(typed: &str) -> Result<u8, Why> {
    match value::whole(typed)? {
        share @ 0..=100 => Ok(share as u8),
        share => Err(format!("{share} is more than 100 percent")),
    }
}

fn io_size(typed: &str, base: KbBase) -> Result<u32, Why> {
    match u32::try_from(value::bytes(typed, base)?) {
        Ok(0) => Err("an I/O of no bytes moves nothing".to_owned()),
        Ok(size) => Ok(size),
        Err(_) => Err(format!("{typed} is too much for one I/O")),
    }
}

/// `4k-64k`, also with a colon between.
fn range(typed: &str, base: KbBase) -> Result<(u32, u32), Why> {
    let (min, max) = typed
        .split_once(['-', ':'])
        .ok_or_else(|| format!("{typed:?} is no range; write for example 4k-64k"))?;
    let (min, max) = (io_size(min.trim(), base)?, io_size(max.trim(), base)?);
    if max < min { Err(format!("it ends ({max} B) below its start ({min} B)")) } else { Ok((min, max)) }
}

/// `4k/60:64k/40`: sizes with their percentages; what has none shares the rest evenly.
fn split(typed: &str, base: KbBase) -> Result<Vec<(u32, u32)>, Why> {
    let mut entries = Vec::new();
    for entry in typed.split(':') {
        let (size, percent) = entry.split_once('/').unwrap_or((entry, ""));
        let percent = match percent.trim() {
            "" => None,
            percent => Some(u32::from(share(percent)?)),
        };
        entries.push((io_size(size.trim(), base)?, percent));
    }
    let given: u32 = entries.iter().filter_map(|(_, percent)| *percent).sum();
    let open = entries.iter().filter(|(_, percent)| percent.is_none()).count() as u32;
    if given > 100 || (open == 0 && given < 100) {
        return Err(format!("its percentages add up to {given}, not to 100"));
    }
    let rest = (100 - given).checked_div(open).unwrap_or(0);
    let list: Vec<(u32, u32)> = entries
        .into_iter()
        .map(|(size, percent)| (size, percent.unwrap_or(rest)))
        .filter(|(_, weight)| *weight > 0)
        .collect();
    if list.is_empty() { Err("all its percentages are 0".to_owned()) } else { Ok(list) }
}

/// One file; fio puts a colon between several and a backslash before one that belongs to a name.
fn filename(typed: &str) -> Result<String, Why> {
    let mut name = String::new();
    let mut chars = typed.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => name.extend(chars.next()),
            ':' => return Err("several files are given; a run is on one target, so name one".to_owned()),
            c => name.push(c),
        }
    }
    Ok(name)
}

/// Engines that read and write a file or a device the plain way, and `null`, which does neither.
fn engine(typed: &str) -> Result<&str, Why> {
    const PLAIN: [&str; 13] = [
        "sync",
        "psync",
        "vsync",
        "pvsync",
        "pvsync2",
        "libaio",
        "io_uring",
        "io_uring_cmd",
        "posixaio",
        "sg",
        "windowsaio",
        "solarisaio",
        "null",
    ];
    if PLAIN.contains(&typed) {
        return Ok(typed);
    }
    Err(format!(
        "the engine {typed:?} does something else than plain reads and writes; heatsoak has an engine of its own, which takes the place of {}",
        PLAIN.join(", ")
    ))
}

/// Notes an option that does not change the load, or refuses it.
fn pass_over(option: JobOption<'_>, reader: &mut JobReader<'_>) -> Result<(), PlanError> {
    let key = option.key;
    if let Some(why) = find_listed(HARMLESS, key) {
        reader.note(option.line, format!("{key} is ignored: {why}"));
        return Ok(());
    }
    if ONLY_AT_ONE.contains(&key) && option.value == Some("1") {
        return Ok(());
    }
    let advice = find_listed(ADVICE, key).map_or_else(
        || {
            let hint = did_you_mean(key, UNDERSTOOD.split(' '));
            let understood = UNDERSTOOD.replace(' ', ", ");
            format!("{hint}understood are {understood}; take it out if the load is right without it")
        },
        str::to_owned,
    );
    Err(reader.error(option.line, format!("the option `{key}` is not understood: {advice}")))
}

/// What a list says of an option.
fn find_listed(list: &[(&str, &'static str)], key: &str) -> Option<&'static str> {
    list.iter().find(|(keys, _)| keys.split(' ').any(|one| one == key)).map(|(_, why)| *why)
}

/// Options that change the load, for people.
const UNDERSTOOD: &str = "rw bs bssplit bsrange iodepth numjobs size io_size offset runtime time_based rate rate_iops direct buffered \
     filename rwmixread rwmixwrite loops startdelay stonewall thinktime randrepeat randseed norandommap \
     zero_buffers ioengine kb_base description";

/// Options whose usual value says what is done anyway.
const ONLY_AT_ONE: &[&str] = &["nrfiles", "nr_files", "openfiles", "thinktime_blocks"];

/// Options that do not change the load, and why they are ignored.
const HARMLESS: &[(&str, &str)] = &[
    (
        "name group_reporting new_group stats unified_rw_reporting per_job_logs write_bw_log write_lat_log \
         write_iops_log write_hist_log log_avg_msec log_hist_msec log_hist_coarseness log_max_value \
         log_window_value log_offset log_prio log_issue_time log_entries log_compression log_compression_cpus \
         log_store_compressed log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id bwavgtime \
         iopsavgtime clat_percentiles lat_percentiles slat_percentiles percentile_list significant_figures \
         disk_util block_error_percentiles unit_base error_dump disable_lat disable_clat disable_slat disable_bw \
         disable_bw_measurement gtod_reduce gtod_cpu clocksource rate_cycle ratecycle",
        "it is about fio's own report; a run folder has every interval and all latencies",
    ),
    (
        "thread cpus_allowed cpumask cpus_allowed_policy numa_cpu_nodes numa_mem_policy nice prio prioclass mem \
         iomem iomem_align mem_align hugepage-size lockmem uid gid",
        "heatsoak places threads and memory itself",
    ),
    (
        "iodepth_batch iodepth_batch_submit iodepth_batch_complete iodepth_batch_complete_min \
         iodepth_batch_complete_max iodepth_low io_submit_mode hipri fixedbufs registerfiles sqthread_poll \
         sqthread_poll_cpu nonvectored userspace_reap force_async cmdprio_percentage",
        "it tunes fio's engine; heatsoak keeps the depth filled at all times",
    ),
    (
        "fallocate fadvise_hint create_serialize create_fsync create_on_open allow_file_create overwrite \
         invalidate unlink unlink_each_loop file_service_type allow_mounted_write file_append",
        "heatsoak has its own rules for how a target is made ready and what may be written to",
    ),
    (
        "refill_buffers scramble_buffers random_generator",
        "heatsoak writes random bytes and draws offsets in its own way",
    ),
    ("continue_on_error ignore_error exitall_on_error", "I/O errors are counted and survived up to a limit"),
];

/// What to do instead, where that is known.
const ADVICE: &[(&str, &str)] = &[
    (
        "ramp_time",
        "a run is recorded from its first I/O and the analysis tells the ramp from the rest; take it out and add its time to runtime",
    ),
    ("directory", "a run is on one target; give the whole path with filename= or the target with --drive"),
    ("nrfiles nr_files openfiles filesize", "a run is on one target; use one file and size="),
    ("offset_increment", "write one job for each offset, with its own offset="),
    ("number_ios", "give the amount as io_size= instead"),
    (
        "verify do_verify verify_interval verify_pattern verify_fatal verify_backlog verify_async verify_only \
         trim_verify_zero trim_backlog trim_percentage experimental_verify",
        "heatsoak does not verify data; take it out",
    ),
    (
        "steadystate ss steadystate_duration ss_dur steadystate_ramp_time ss_ramp",
        "give a runtime instead; the analysis finds where a run is steady",
    ),
    (
        "rate_min ratemin rate_iops_min",
        "a run goes on when it gets slow, that is what it is for; take it out",
    ),
    ("rate_process", "I/Os come at even distances; take it out"),
    (
        "fsync fdatasync sync sync_file_range end_fsync fsync_on_close write_barrier",
        "flushes are no part of a plan; use direct=1 to keep the page cache out",
    ),
    (
        "exec_prerun exec_postrun ioscheduler pre_read",
        "a plan runs no commands and changes no settings of the system; do that beforehand",
    ),
    (
        "buffer_compress_percentage buffer_pattern dedupe_percentage",
        "data is random, or zeroes with zero_buffers; take it out",
    ),
    ("random_distribution percentage_random", "offsets are uniform over the region; take it out"),
    ("ba blockalign", "offsets are multiples of the smallest block size; a TOML plan has `align`"),
];

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn splits_share_out_what_is_open() {
        let split = |typed| split(typed, KbBase::Compatible);
        assert_eq!(split("4k/60:64k/40"), Ok(vec![(4096, 60), (65_536, 40)]));
        assert_eq!(split("4k/50:8k:16k/"), Ok(vec![(4096, 50), (8192, 25), (16_384, 25)]));
        assert_eq!(split("4k/100:8k/0"), Ok(vec![(4096, 100)]));
        assert_eq!(split("8k"), Ok(vec![(8192, 100)]));
        assert!(split("4k/60:64k/50").is_err());
        assert!(split("4k/60:64k/30").is_err());
        assert!(split("").is_err());
    }

    #[test]
    fn a_colon_in_a_name_has_a_backslash_before_it() {
        assert_eq!(filename("/dev/disk/by-path/pci-0000\\:00"), Ok("/dev/disk/by-path/pci-0000:00".into()));
        assert!(filename("/a:/b").is_err());
    }

    /// Goal: an option is in one list only, so that what happens to it does not depend on their order.
    #[test]
    fn no_option_is_in_two_lists() {
        let lists = HARMLESS.iter().chain(ADVICE).map(|(keys, _)| *keys).chain([UNDERSTOOD]);
        let mut all: Vec<&str> = lists.flat_map(|keys| keys.split(' ')).collect();
        all.sort_unstable();
        for pair in all.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
    }
}
