//! A job as a load, and the jobs between two stonewalls as a phase.

use std::time::Duration;

use measure::{Bytes, BytesPerSec, QueueDepth, Seed};

use super::JobReader;
use super::options::{ByOp, JobOptions, RwOp};
use super::value::{Amount, BYTES_MAX};
use crate::toml::whole_bytes;
use crate::{Extent, Load, Mix, Order, Phase, PlanError, Region, Sharing, Sizes, WriteData};

/// fio's default block size.
const BLOCK_BYTES: u32 = 4096;
/// fio's default share of reads in a mix.
const MIX_READ: u8 = 50;
/// Engines that do one I/O at a time whatever the depth; the first is fio's default on Linux.
const ONE_AT_A_TIME: [&str; 5] = ["psync", "sync", "vsync", "pvsync", "pvsync2"];

/// A section that is a job, with everything it inherits.
pub(super) struct FioJob<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) options: JobOptions,
}

/// The phases: a job with `stonewall` begins a new one, the others run at once with those before them.
pub(super) fn phases(jobs: &[FioJob<'_>], reader: &mut JobReader<'_>) -> Result<Vec<Phase>, PlanError> {
    let mut groups: Vec<Vec<&FioJob<'_>>> = Vec::new();
    for job in jobs {
        let wait = job.options.stonewall.is_some_and(|wait| wait.value);
        match groups.last_mut() {
            Some(group) if !wait => group.push(job),
            _ => groups.push(vec![job]),
        }
    }
    groups.iter().map(|group| phase(group, reader)).collect()
}

fn phase(group: &[&FioJob<'_>], reader: &mut JobReader<'_>) -> Result<Phase, PlanError> {
    let delay = |job: &FioJob<'_>| job.options.startdelay.map_or(Duration::ZERO, |delay| delay.value);
    let start_delay = group.first().map_or(Duration::ZERO, |job| delay(job));
    if let Some(other) = group.iter().find(|job| delay(job) != start_delay) {
        let line = other.options.startdelay.map_or(other.line, |delay| delay.line);
        return Err(reader.error(
            line,
            "jobs that run at once also start at once; give them the same startdelay, or put a stonewall between them",
        ));
    }
    let mut loads = group.iter().map(|job| load(job, reader)).collect::<Result<Vec<_>, _>>()?;
    // Where all end by the same time, that is the phase's.
    let shared = loads.first().and_then(|load| load.duration);
    let duration = shared.filter(|_| loads.iter().all(|load| load.duration == shared));
    if duration.is_some() {
        loads.iter_mut().for_each(|load| load.duration = None);
    }
    let names: Vec<&str> = group.iter().map(|job| job.name).collect();
    Ok(Phase { name: names.join(" + "), loads, duration, start_delay, until_below: None })
}

fn load(job: &FioJob<'_>, reader: &mut JobReader<'_>) -> Result<Load, PlanError> {
    let options = &job.options;
    // fio's default is a sequential read.
    let (order, kind) = options.rw.map_or((Order::Sequential, RwOp::Read), |rw| rw.value);
    let mix = match kind {
        RwOp::Read => Mix::READ,
        RwOp::Write => Mix::WRITE,
        RwOp::Trim => Mix::TRIM,
        RwOp::ReadWrite => {
            let read = options.rwmixread.map_or(MIX_READ, |share| share.value);
            Mix { read, write: 100 - read, trim: 0 }
        }
    };
    let mut load = Load::new(job.name, order, mix, sizes(job, mix, reader)?);
    load.threads = options.numjobs.map_or(1, |jobs| jobs.value);
    load.sharing = Sharing::Overlap;
    load.region = region(options);
    load.direct = options.direct.is_some_and(|direct| direct.value);
    load.visit_once = !options.norandommap.is_some_and(|off| off.value);
    load.seed = options.randseed.map(|seed| Seed::new(seed.value));
    if options.zero_buffers.is_some_and(|on| on.value) {
        load.data = WriteData::Zeroes;
    }
    depth(job, &mut load, reader);
    rates(job, mix, &mut load, reader)?;
    end(job, &mut load, reader)?;
    Ok(load)
}

/// When it ends: fio's jobs end after `size` bytes, times `loops`, or after `runtime`, whichever is first;
/// with `time_based` after `runtime` alone.
fn end(job: &FioJob<'_>, load: &mut Load, reader: &JobReader<'_>) -> Result<(), PlanError> {
    let options = &job.options;
    load.duration = options.runtime.map(|time| time.value).filter(|time| !time.is_zero());
    if let Some(on) = options.time_based.filter(|on| on.value) {
        return match load.duration {
            Some(_) => Ok(()),
            None => {
                Err(reader.error(on.line, "time_based: without a runtime this never ends; add runtime=60s"))
            }
        };
    }
    // fio takes no loops for one.
    let loops = options.loops.map_or(1, |loops| loops.value).max(1);
    if let (Some(amount), Some(Amount::Bytes(size))) = (options.io_size, options.size.map(|size| size.value))
        && loops > 1
        && Bytes::new(amount.value) > size
        && size > Bytes::ZERO
    {
        return Err(reader.error(
            amount.line,
            "io_size: larger than size, with loops, fio 3.33 does neither one nor the product; give the whole amount as io_size and take the loops out",
        ));
    }
    match options.io_size {
        Some(amount) => match amount.value.checked_mul(loops.into()) {
            Some(bytes) if bytes <= BYTES_MAX => load.bytes = Some(Bytes::new(bytes)),
            _ => return Err(reader.error(amount.line, "io_size: times loops it is too large")),
        },
        None => load.laps = Some(loops),
    }
    Ok(())
}

/// `bssplit` comes before `bsrange`, and that before `bs`, wherever they stand; fio has it so.
fn sizes(job: &FioJob<'_>, mix: Mix, reader: &mut JobReader<'_>) -> Result<Sizes, PlanError> {
    let options = &job.options;
    if let Some(split) = &options.bssplit
        && let Some(list) = of_mix(split, mix, "bssplit", reader)?
    {
        return Ok(Sizes::Weighted(list));
    }
    if let Some(given) = &options.bsrange
        && let Some((min, max)) = of_mix(given, mix, "bsrange", reader)?
    {
        // fio rounds what it draws down to a multiple of the smallest.
        let highest = max - max % min;
        if highest != max {
            reader.note(given.line, format!("bsrange ends at {highest} B, the last multiple of its start"));
        }
        return Ok(Sizes::Uniform { min, max: highest, step: min });
    }
    let size = match &options.bs {
        Some(given) => of_mix(&with_default(given), mix, "bs", reader)?,
        None => None,
    };
    Ok(Sizes::Fixed(size.unwrap_or(BLOCK_BYTES)))
}

/// `bs=,8k` leaves the reads at the default, which then differs from the writes.
fn with_default(given: &ByOp<u32>) -> ByOp<u32> {
    ByOp { value: given.value.map(|size| size.or(Some(BLOCK_BYTES))), line: given.line }
}

/// The one value that all operations of the mix have.
fn of_mix<T: Clone + PartialEq>(
    given: &ByOp<T>,
    mix: Mix,
    key: &str,
    reader: &JobReader<'_>,
) -> Result<Option<T>, PlanError> {
    let [read, write, trim] = &given.value;
    let shares = [(mix.read, read), (mix.write, write), (mix.trim, trim)];
    let mut used = shares.into_iter().filter(|(share, _)| *share > 0).map(|(_, value)| value);
    let first = used.next().cloned().flatten();
    if used.any(|other| *other != first) {
        return Err(reader.error(
            given.line,
            format!("{key}: reads and writes of one job have to have the same here; write a job for each"),
        ));
    }
    Ok(first)
}

fn depth(job: &FioJob<'_>, load: &mut Load, reader: &mut JobReader<'_>) {
    let options = &job.options;
    let engine = options.ioengine.as_ref();
    if let Some(engine) = engine {
        reader.note(
            engine.line,
            format!("ioengine={} is ignored: heatsoak has one engine, io_uring", engine.value),
        );
    }
    let Some(depth) = options.iodepth else { return };
    load.depth = QueueDepth::new(depth.value).unwrap_or(load.depth);
    if depth.value == 1 {
        return;
    }
    if let Some(pause) = options.thinktime.filter(|pause| !pause.value.is_zero()) {
        // fio waits for all I/Os in flight before it pauses, so there is never more than one.
        load.depth = QueueDepth::new(1).unwrap_or(load.depth);
        reader.note(pause.line, format!("thinktime makes iodepth={} one, as it does in fio", depth.value));
    } else if engine.is_none_or(|engine| ONE_AT_A_TIME.contains(&engine.value.as_str())) {
        let engine = engine.map_or(ONE_AT_A_TIME[0], |engine| engine.value.as_str());
        reader.note(
            depth.line,
            format!(
                "iodepth={} holds here, while fio's engine {engine} would do one I/O at a time",
                depth.value
            ),
        );
    }
}

fn rates(job: &FioJob<'_>, mix: Mix, load: &mut Load, reader: &mut JobReader<'_>) -> Result<(), PlanError> {
    let options = &job.options;
    load.think_time = options.thinktime.map_or(Duration::ZERO, |pause| pause.value);
    let rate = limit(options.rate.as_ref(), mix, "rate", reader)?;
    let rate_iops = limit(options.rate_iops.as_ref(), mix, "rate_iops", reader)?;
    if let (Some(_), Some(_), Some(given)) = (rate, rate_iops, &options.rate_iops) {
        return Err(reader.error(given.line, "rate_iops: there is a rate too; fio takes one of them"));
    }
    // fio's limits are for each clone, ours for all threads together.
    let threads = f64::from(load.threads);
    load.rate = rate.map(|rate| BytesPerSec::new(rate as f64 * threads));
    load.rate_iops = rate_iops.map(|iops| iops as f64 * threads);
    // fio limits bytes alone: with several sizes it takes I/Os for I/Os of the smallest (HOWTO, rate_iops).
    if let (Some(iops), Some(given)) = (load.rate_iops, &options.rate_iops)
        && load.sizes.min() < load.sizes.max()
    {
        let rate = BytesPerSec::new(iops * f64::from(load.sizes.min()));
        reader.note(
            given.line,
            format!(
                "rate_iops counts I/Os of the smallest size, as it does in fio: it is a rate of {rate} here"
            ),
        );
        (load.rate, load.rate_iops) = (Some(rate), None);
    }
    Ok(())
}

fn limit(
    given: Option<&ByOp<u64>>,
    mix: Mix,
    key: &str,
    reader: &JobReader<'_>,
) -> Result<Option<u64>, PlanError> {
    let Some(given) = given else { return Ok(None) };
    let limits = given.value.map(|limit| limit.filter(|limit| *limit > 0));
    if mix.ops().count() > 1 && limits.iter().any(Option::is_some) {
        return Err(reader.error(
            given.line,
            format!(
                "{key}: fio limits reads and writes apart, a plan limits them together; write a job for each"
            ),
        ));
    }
    of_mix(&ByOp { value: limits, line: given.line }, mix, key, reader)
}

fn region(options: &JobOptions) -> Region {
    let percent = |percent: u8| Extent::Fraction(f64::from(percent) / 100.0);
    let start = match options.offset.map(|offset| offset.value) {
        None => Region::ALL.start,
        Some(Amount::Bytes(bytes)) => Extent::Bytes(bytes),
        Some(Amount::Percent(share)) => percent(share),
    };
    let len = match (options.offset.map(|offset| offset.value), options.size.map(|size| size.value)) {
        // No size is the rest of the target, and so is a share that would pass its end.
        (_, None | Some(Amount::Percent(100))) => None,
        (Some(Amount::Percent(from)), Some(Amount::Percent(share))) if from + share >= 100 => None,
        (_, Some(Amount::Bytes(bytes))) if bytes == Bytes::ZERO => None,
        (_, Some(Amount::Bytes(bytes))) => Some(Extent::Bytes(bytes)),
        (_, Some(Amount::Percent(share))) => Some(percent(share)),
    };
    Region { start, len }
}

/// The address of what the jobs are on, where they name it.
pub(super) fn drive(jobs: &[FioJob<'_>], reader: &JobReader<'_>) -> Result<Option<String>, PlanError> {
    // The engine without I/O has a target of its own here: what it must not do is write to a real file.
    let nulls =
        |job: &&FioJob<'_>| job.options.ioengine.as_ref().is_some_and(|engine| engine.value == "null");
    if let Some(null) = jobs.iter().find(nulls) {
        if let Some(other) = jobs.iter().find(|job| !nulls(job)) {
            return Err(reader.error(
                other.line,
                format!(
                    "a run is on one target: the job {:?} has ioengine=null and this one has not",
                    null.name
                ),
            ));
        }
        return Ok(Some("null:".to_owned()));
    }
    let named: Vec<_> = jobs.iter().filter_map(|job| job.options.filename.as_ref()).collect();
    let Some(first) = named.first() else { return Ok(None) };
    if let Some(other) = named.iter().find(|name| name.value != first.value) {
        return Err(reader.error(
            other.line,
            format!("filename: a run is on one target, and line {} names {}", first.line, first.value),
        ));
    }
    if first.value.starts_with("/dev/") && !first.value.starts_with("/dev/shm/") {
        return Ok(Some(first.value.clone()));
    }
    // fio makes the file as large as its jobs need.
    let ends: Option<Vec<u64>> = jobs.iter().map(|job| end_of_region(&job.options)).collect();
    let size = ends.and_then(|ends| ends.into_iter().max());
    Ok(Some(match size {
        Some(size) => format!("file:{}?size={}", first.value, whole_bytes(size)),
        None => format!("file:{}", first.value),
    }))
}

/// Says so where fio would give each job, and each of its clones, a file of its own.
pub(super) fn note_shared_target(jobs: &[FioJob<'_>], reader: &mut JobReader<'_>) {
    let clones = |job: &FioJob<'_>| job.options.numjobs.map_or(1, |jobs| usize::from(jobs.value));
    let nameless = |job: &&FioJob<'_>| job.options.filename.is_none();
    if jobs.iter().map(clones).sum::<usize>() > 1
        && let Some(job) = jobs.iter().find(nameless)
    {
        reader
            .note(job.line, "without a filename, fio makes a file for each job; here all are on one target");
    }
}

/// The last byte that a job touches, where its place and size are given in bytes.
fn end_of_region(options: &JobOptions) -> Option<u64> {
    let start = match options.offset.map(|offset| offset.value) {
        None => 0,
        Some(Amount::Bytes(bytes)) => bytes.as_u64(),
        Some(Amount::Percent(_)) => return None,
    };
    match options.size.map(|size| size.value) {
        Some(Amount::Bytes(bytes)) if bytes > Bytes::ZERO => {
            start.checked_add(bytes.as_u64()).filter(|end| *end <= BYTES_MAX)
        }
        _ => None,
    }
}
