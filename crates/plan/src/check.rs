//! Whether a plan fits a target, where its regions lie there, and what it will take.
//!
//! Everything that can be refused is refused here, before anything runs, in a sentence with numbers.
//! It touches no target: who opened it says what it is in [`TargetFacts`].

use std::ops::Range;
use std::time::Duration;

use measure::record::Op;
use measure::{Bytes, BytesPerSec, Kelvin};

use super::{Extent, Load, MeterAddress, Order, Phase, Plan, PlanError, Region, Sharing, Sizes};
use crate::memory::fits_memory;

/// The shortest interval, and the shortest time between two readings. Each is a row that is kept: at 1 ms an hour is
/// 3.6 million of them, at 1 ns a simulated second fills the memory of any machine.
const STEP_MIN: Duration = Duration::from_millis(1);

/// What a plan has to know about a target.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetFacts {
    /// Its address, for errors.
    pub address: String,
    /// Its size.
    pub size: Bytes,
    /// Direct I/O and deallocation come in multiples of this many bytes: the logical block size.
    pub block_bytes: u32,
    /// Why it must not be written to; `None` where it may be.
    pub read_only: Option<String>,
    /// Whether the page cache can be bypassed.
    pub direct: bool,
    /// Whether blocks can be deallocated.
    pub trim: bool,
    /// How much fits its fast write cache, where known or given.
    pub slc: Option<Bytes>,
}

/// Whether the plan can run on the target.
///
/// # Errors
/// [`PlanError::Unfit`] with the first phase that cannot, and why.
pub fn check(plan: &Plan, target: &TargetFacts) -> Result<(), PlanError> {
    let unfit = |phase: Option<&Phase>, why: String| PlanError::Unfit {
        plan: plan.name.clone(),
        phase: phase.map(|phase| phase.name.clone()),
        why,
    };
    if plan.phases.is_empty() {
        return Err(unfit(None, "it has no phases, so there is nothing to do".to_owned()));
    }
    check_steps(plan).map_err(|why| unfit(None, why))?;
    // NVMe Base 2.3, 5.2.26.1.9: of two thresholds in use, TMT1 lies below TMT2.
    if let (Some(tmt1 @ 1..), Some(tmt2 @ 1..)) = (plan.settings.tmt1_k, plan.settings.tmt2_k)
        && tmt1 >= tmt2
    {
        return Err(unfit(
            None,
            format!(
                "TMT1 ({}) has to be below TMT2 ({})",
                Kelvin::from_kelvin(tmt1),
                Kelvin::from_kelvin(tmt2)
            ),
        ));
    }
    if let Some(sweep) = &plan.sweep {
        super::sweep::check(plan, sweep)?;
    }
    if let Some(rounds) = &plan.rounds {
        super::rounds::check(plan, rounds)?;
    }
    for phase in &plan.phases {
        check_end(phase).map_err(|why| unfit(Some(phase), why))?;
        for load in &phase.loads {
            check_load(load, target).map_err(|why| unfit(Some(phase), why))?;
        }
    }
    Ok(())
}

impl Plan {
    /// The plan with the ranges of sizes of its direct loads in blocks of `block_bytes`; `None` where they are so already. A
    /// drive of 4 KiB blocks has no I/O of 512 B.
    #[must_use]
    pub fn in_blocks(&self, block_bytes: u32) -> Option<Self> {
        let mut plan = self.clone();
        for load in plan.phases.iter_mut().flat_map(|phase| &mut phase.loads).filter(|load| load.direct) {
            if let Sizes::LogUniform { min, step, .. } | Sizes::Uniform { min, step, .. } = &mut load.sizes
                && block_bytes.is_multiple_of((*step).max(1))
            {
                *step = block_bytes;
                *min = min.next_multiple_of(block_bytes);
            }
        }
        (plan != *self).then_some(plan)
    }

    /// The plan for a drive of `size` that has no fast write cache: a region as large as the cache is [`NO_CACHE_REGION`],
    /// one behind the cache begins at the start. `None` where there is no such region.
    #[must_use]
    pub fn without_cache(&self, size: Bytes) -> Option<Self> {
        let mut plan = self.clone();
        for load in plan.phases.iter_mut().flat_map(|phase| &mut phase.loads) {
            let region = &mut load.region;
            if region.start == Extent::Slc {
                region.start = Extent::Bytes(Bytes::ZERO);
            }
            if region.len == Some(Extent::Slc) {
                let rest = resolve(Region { len: None, ..*region }, size, None);
                let rest = rest.map_or(0, |range| range.end - range.start);
                region.len = Some(Extent::Bytes(Bytes::new(rest.min(NO_CACHE_REGION.as_u64()))));
            }
        }
        (plan != *self).then(|| {
            plan.notes.push(format!(
                "the drive has no fast write cache: regions of its size are {NO_CACHE_REGION}"
            ));
            plan
        })
    }
}

/// As large as the caches of many drives: a load of minutes goes over all of it, and what it reads was written.
pub const NO_CACHE_REGION: Bytes = Bytes::new(64 << 30);

/// Where `region` lies on a target of `size`, in bytes from its start.
///
/// A share is rounded down to whole bytes. The range of the fast write cache ends where the target ends:
/// what is smaller than the cache fits it whole.
///
/// # Errors
/// A sentence with numbers: the region is empty, passes the end, or needs the size of a cache nobody knows.
pub fn resolve(region: Region, size: Bytes, slc: Option<Bytes>) -> Result<Range<u64>, String> {
    let total = size.as_u64();
    let bytes_of = |extent: Extent| {
        match extent {
        Extent::Bytes(bytes) => Ok(bytes.as_u64()),
        Extent::Fraction(fraction) => Ok((size.as_f64() * fraction) as u64),
        Extent::Slc => slc.map(|slc| slc.as_u64().min(total)).ok_or_else(|| {
            "its region is as large as the fast write cache, whose size is not known here; give it with --slc SIZE, \
             such as --slc 64GiB"
                .to_owned()
        }),
    }
    };
    let start = bytes_of(region.start)?;
    if start >= total {
        return Err(format!("its region starts at {start} B, and the target ends at {total} B ({size})"));
    }
    let len = match (region.start, region.len) {
        (_, None) => total - start,
        (_, Some(Extent::Slc)) => bytes_of(Extent::Slc)?.min(total - start),
        // 70% and then 30% end at the end, whatever becomes of each in binary.
        (Extent::Fraction(from), Some(Extent::Fraction(share))) if from + share <= 1.0 + 1e-9 => {
            (((from + share) * size.as_f64()) as u64).clamp(start, total) - start
        }
        (_, Some(len)) => bytes_of(len)?,
    };
    match start.checked_add(len) {
        _ if len == 0 => Err("its region is empty".to_owned()),
        Some(end) if end <= total => Ok(start..end),
        _ => Err(format!(
            "its region needs {} from {} on, but the target has only {size}; use a smaller region, or a share such as 25%",
            Bytes::new(len),
            Bytes::new(start)
        )),
    }
}

/// How long the plan takes, where that can be told beforehand: phases by time, and by bytes at a limited rate.
pub fn expected_duration(plan: &Plan) -> Option<Duration> {
    plan.phases.iter().map(Phase::expected_duration).sum()
}

/// At most how much the plan writes to the target; `None` where nothing limits it.
///
/// `ceiling` is what the target's link can carry: it limits phases that end by time alone. Deallocations do not
/// count. In a mix, writes have their share.
pub fn bytes_written(plan: &Plan, target: &TargetFacts, ceiling: Option<BytesPerSec>) -> Option<Bytes> {
    let mut total = 0.0;
    for phase in &plan.phases {
        let mut phase_bytes = 0.0;
        for load in phase.loads.iter().filter(|load| load.mix.write > 0) {
            phase_bytes += load.bytes_at_most(phase, target, ceiling)? * f64::from(load.mix.write) / 100.0;
        }
        // Loads that run at once share the link.
        if let (Some(ceiling), Some(duration)) = (ceiling, phase.duration) {
            phase_bytes = f64::min(phase_bytes, ceiling.as_f64() * duration.as_secs_f64());
        }
        total += phase_bytes;
    }
    Some(Bytes::new(total.ceil() as u64))
}

impl Phase {
    /// How long it takes, start delay included, where that can be told beforehand.
    pub fn expected_duration(&self) -> Option<Duration> {
        let loads: Option<Vec<Duration>> = self.loads.iter().map(Load::expected_duration).collect();
        let longest = loads.filter(|all| !all.is_empty()).and_then(|all| all.into_iter().max());
        let duration = match (self.duration, longest) {
            (Some(phase), Some(loads)) => phase.min(loads),
            (phase, loads) => phase.or(loads)?,
        };
        Some(self.start_delay + duration)
    }
}

impl Load {
    fn expected_duration(&self) -> Option<Duration> {
        let by_bytes = self.bytes.zip(self.rate_limit()).and_then(|(bytes, rate)| {
            Duration::try_from_secs_f64(bytes.as_f64() * f64::from(self.threads) / rate).ok()
        });
        match (self.duration, by_bytes) {
            (Some(own), Some(by_bytes)) => Some(own.min(by_bytes)),
            (own, by_bytes) => own.or(by_bytes),
        }
    }

    /// At most how much it moves in a phase.
    fn bytes_at_most(
        &self,
        phase: &Phase,
        target: &TargetFacts,
        ceiling: Option<BytesPerSec>,
    ) -> Option<f64> {
        let time = [self.duration, phase.duration].into_iter().flatten().min();
        let rates = [self.rate_limit(), ceiling.map(BytesPerSec::as_f64)];
        let rate = rates.into_iter().flatten().min_by(f64::total_cmp);
        let threads = f64::from(self.threads);
        let laps = self.laps.and_then(|laps| {
            let region = resolve(self.region, target.size, target.slc).ok()?;
            let split = self.order == Order::Sequential && self.sharing == Sharing::Split;
            let passes = if split { 1.0 } else { threads };
            Some((region.end - region.start) as f64 * f64::from(laps) * passes)
        });
        let bytes = self.bytes.map(|bytes| bytes.as_f64() * threads);
        let by_time = time.zip(rate).map(|(time, rate)| time.as_secs_f64() * rate);
        [laps, bytes, by_time].into_iter().flatten().min_by(f64::total_cmp)
    }
}

/// Intervals and readings come no closer than what can be kept.
fn check_steps(plan: &Plan) -> Result<(), String> {
    let telemetry = &plan.telemetry;
    let power = telemetry.power.iter().map(MeterAddress::period);
    let readings = [telemetry.smart_period, telemetry.hwmon_period, telemetry.blockstat_period];
    let steps = readings.into_iter().chain(power).map(|period| ("time between two readings", "1s", period));
    match [("interval", "100ms", plan.interval)]
        .into_iter()
        .chain(steps)
        .find(|(_, _, span)| *span < STEP_MIN)
    {
        Some((what, usual, span)) => Err(format!(
            "its {what} of {} us is too short; 1ms is the least, {usual} is usual",
            span.as_nanos() as f64 / 1e3
        )),
        None => Ok(()),
    }
}

/// A phase has to end some time.
fn check_end(phase: &Phase) -> Result<(), String> {
    if phase.duration.is_some_and(|span| span.is_zero()) {
        return Err("its duration is zero".to_owned());
    }
    if phase.duration.is_some() {
        return Ok(());
    }
    if phase.loads.is_empty() {
        return Err("it is idle without end; give it a `duration`".to_owned());
    }
    match phase.loads.iter().find(|load| (load.duration, load.bytes, load.laps) == (None, None, None)) {
        Some(load) => {
            Err(format!("its load {:?} never ends; give it a `duration`, `bytes` or `laps`", load.name))
        }
        None => Ok(()),
    }
}

fn check_load(load: &Load, target: &TargetFacts) -> Result<(), String> {
    let mix = load.mix;
    let shares = u32::from(mix.read) + u32::from(mix.write) + u32::from(mix.trim);
    if shares != 100 {
        return Err(format!("the shares of its mix add up to {shares}, not to 100 percent"));
    }
    if let Some(why) = &target.read_only
        && let Some(what) = [(Op::Write, "writes"), (Op::Trim, "deallocates")]
            .into_iter()
            .find_map(|(op, what)| mix.ops().any(|one| one == op).then_some(what))
    {
        return Err(format!("it {what}, and {} must not be written to: {why}", target.address));
    }
    if mix.trim > 0 && !target.trim {
        return Err(format!("it deallocates, which {} cannot; leave the trims out", target.address));
    }
    if load.direct && !target.direct {
        return Err(format!(
            "it bypasses the page cache, which {} cannot; set `direct = false`, or use a file system with O_DIRECT",
            target.address
        ));
    }
    if load.threads == 0 {
        return Err("it has no threads; one is the least".to_owned());
    }
    if [load.duration, load.bytes.map(|bytes| Duration::from_nanos(bytes.as_u64()))]
        .contains(&Some(Duration::ZERO))
        || load.laps == Some(0)
    {
        return Err("it ends before it begins: `duration`, `bytes` and `laps` start above zero".to_owned());
    }
    if load.rate_iops.is_some_and(|iops| !(iops > 0.0 && iops.is_finite()))
        || load.rate.is_some_and(|rate| !(rate.as_f64() > 0.0 && rate.as_f64().is_finite()))
    {
        return Err("its rate is not above zero, so it would never do an I/O".to_owned());
    }
    check_sizes(load, target)?;
    if !fits_memory(load) {
        return Err(format!(
            "it keeps {} I/Os of up to {} in flight in each thread; at most 32768, and 4 GiB of buffers, can be: \
             use a smaller depth or smaller I/Os",
            load.depth.as_usize(),
            Bytes::new(load.io_max().into())
        ));
    }
    check_room(load, target)
}

fn check_sizes(load: &Load, target: &TargetFacts) -> Result<(), String> {
    let sizes = match &load.sizes {
        Sizes::Fixed(size) => vec![*size],
        Sizes::Weighted(list) if list.iter().all(|(_, weight)| *weight == 0) => {
            return Err("its list of sizes is empty or without weight".to_owned());
        }
        Sizes::Weighted(list) => list.iter().map(|(size, _)| *size).collect(),
        Sizes::LogUniform { min, max, step } | Sizes::Uniform { min, max, step } => {
            if max < min {
                return Err(format!("its largest I/O ({max} B) is smaller than its smallest ({min} B)"));
            }
            vec![*min, *max, *step]
        }
    };
    if sizes.contains(&0) || load.split.is_some_and(|split| split.as_u64() == 0) {
        return Err("it has I/Os of no bytes".to_owned());
    }
    // Through the page cache any size will do; deallocation and direct I/O come in whole blocks.
    if !load.direct && load.mix.trim == 0 {
        return Ok(());
    }
    let block = target.block_bytes.max(1);
    let align = load.align.map(|align| ("alignment", align.as_u64()));
    let split = load.split.map(|split| ("split", split.as_u64()));
    let sizes = sizes.into_iter().map(|size| ("block size", u64::from(size)));
    match sizes.chain(align).chain(split).find(|(_, size)| !size.is_multiple_of(block.into())) {
        Some((what, size)) => Err(format!(
            "its {what} of {size} B is not a multiple of the {block} B blocks of {}; use multiples of {block} B",
            target.address
        )),
        None => Ok(()),
    }
}

fn check_room(load: &Load, target: &TargetFacts) -> Result<(), String> {
    if load.align.is_some_and(|align| align.as_u64() == 0) {
        return Err("its alignment is zero; leave it out to align by the block size".to_owned());
    }
    let region = resolve(load.region, target.size, target.slc)?;
    let align = load.align.map_or(u64::from(load.sizes.min()), Bytes::as_u64);
    let start = region.start.next_multiple_of(align);
    let room = region.end.saturating_sub(start);
    let split = load.order == Order::Sequential && load.sharing == Sharing::Split;
    let parts = if split { u64::from(load.threads) } else { 1 };
    let largest = u64::from(load.sizes.max());
    if room / parts < largest {
        let parts = if parts > 1 { format!(", split between {parts} threads,") } else { String::new() };
        return Err(format!(
            "its region of {}{parts} has no room for an I/O of {}",
            Bytes::new(room),
            Bytes::new(largest)
        ));
    }
    Ok(())
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    const GIB: u64 = 1 << 30;

    fn target() -> TargetFacts {
        TargetFacts {
            address: "file:t.bin".into(),
            size: Bytes::new(4 * GIB),
            block_bytes: 4096,
            read_only: None,
            direct: true,
            trim: false,
            slc: None,
        }
    }

    /// A plan of one phase with these lines beside a valid operation.
    fn plan(lines: &str) -> Plan {
        let op = if lines.contains("op = ") { "" } else { "op = \"read\"\n" };
        let size = if lines.contains("block_size") { "" } else { "block_size = \"1MiB\"\n" };
        let text = format!("[[phase]]\nname = \"p\"\n{op}{size}{lines}\n");
        Plan::from_toml(&text, "x.toml").unwrap_or_else(|error| panic!("{error}"))
    }

    /// Goal: each refusal with its numbers. Method: one mistake a case, on a file of 4 GiB.
    #[test]
    fn what_does_not_fit_is_refused_in_a_sentence_with_numbers() {
        let read_only =
            TargetFacts { read_only: Some("the device guard is not there yet".into()), ..target() };
        let buffered_only = TargetFacts { direct: false, ..target() };
        let timed = |lines: &str| plan(&format!("duration = \"1s\"\n{lines}"));
        let cases = [
            (timed("region = \"5GiB\""), target(), "needs 5 GiB from 0 B on, but the target has only 4 GiB"),
            (
                timed("region = { start = \"4GiB\" }"),
                target(),
                "starts at 4294967296 B, and the target ends at",
            ),
            (timed("region = { start = \"1GiB\", len = \"0B\" }"), target(), "its region is empty"),
            (timed("region = \"slc\""), target(), "whose size is not known here"),
            (timed("region = \"64KiB\""), target(), "its region of 64 KiB has no room for an I/O of 1 MiB"),
            (timed("region = \"3MiB\"\nthreads = 4"), target(), "split between 4 threads"),
            (
                timed("block_size = \"512B\""),
                target(),
                "block size of 512 B is not a multiple of the 4096 B blocks",
            ),
            (timed("align = \"512B\""), target(), "alignment of 512 B is not a multiple"),
            (timed("depth = 65535\nblock_size = \"4KiB\""), target(), "65535 I/Os of up to 4 KiB in flight"),
            (timed("depth = 8192"), target(), "8192 I/Os of up to 1 MiB in flight in each thread"),
            (timed("op = \"trim\""), target(), "it deallocates, which file:t.bin cannot"),
            (timed("op = \"write\""), read_only, "must not be written to: the device guard"),
            (timed(""), buffered_only, "set `direct = false`"),
            (plan(""), target(), "its load \"p\" never ends"),
            (plan("duration = \"0s\""), target(), "its duration is zero"),
            (plan("bytes = \"0B\""), target(), "ends before it begins"),
        ];
        for (plan, target, expected) in cases {
            let error = check(&plan, &target).expect_err(expected).to_string();
            assert!(error.contains(expected), "expected {expected:?} in {error:?}");
            assert!(error.starts_with("cannot run the plan \"x\", phase \"p\": "), "{error:?}");
        }
        assert!(check(&timed("block_size = \"512B\"\ndirect = false"), &target()).is_ok());
    }

    #[test]
    fn ranges_of_sizes_go_by_the_blocks_of_the_drive() {
        let range = |lines: &str| plan(&format!("duration = \"1s\"\nblock_sizes = {lines}"));
        let small = range("{ min = \"512B\", max = \"1MiB\" }");
        assert!(check(&small, &target()).is_err());
        let fitted = small.in_blocks(4096).expect("512 B is no block of it");
        assert_eq!(fitted, range("{ min = \"4KiB\", max = \"1MiB\" }"));
        assert!(check(&fitted, &target()).is_ok());
        assert_eq!(fitted.in_blocks(4096), None);
        assert_eq!(small.in_blocks(512), None);
    }

    #[test]
    fn what_an_access_is_split_into_fits_the_drive() {
        let split = |split: &str| plan(&format!("duration = \"1s\"\nblock_size = \"1MiB\"\nsplit = {split}"));
        assert!(check(&split("\"64KiB\""), &target()).is_ok());
        let error = check(&split("\"512B\""), &target()).expect_err("not a block").to_string();
        assert!(error.contains("its split of 512 B is not a multiple of the 4096 B blocks"), "{error}");
        // Only what is in flight needs memory: 32768 of 4 KiB are 128 MiB.
        assert!(check(&plan("duration = \"1s\"\ndepth = 32768\nsplit = \"4KiB\""), &target()).is_ok());
    }

    /// Goal: no plan fills the memory with rows. Method: the shortest steps that are taken, and what is below.
    #[test]
    fn intervals_and_readings_are_a_millisecond_apart_or_more() {
        let with = |top: &str| {
            Plan::from_toml(&format!("{top}\n[[phase]]\nop = \"idle\"\nduration = \"1s\"\n"), "x.toml")
                .unwrap_or_else(|error| panic!("{error}"))
        };
        let refused = |top: &str| check(&with(top), &target()).expect_err(top).to_string();
        assert!(
            refused("interval = \"1ns\"").contains("its interval of 0.001 us is too short; 1ms is the least")
        );
        assert!(
            refused("[telemetry]\nsmart_period = \"10us\"").contains("time between two readings of 10 us")
        );
        let power = "[telemetry]\npower = { hwmon = \"/x\", period = \"999us\" }";
        assert!(refused(power).contains("999 us"));
        assert!(check(&with("interval = \"1ms\"\n[telemetry]\nsmart_period = \"1ms\""), &target()).is_ok());
    }

    #[test]
    fn mistakes_that_only_code_can_make_are_refused_too() {
        let mut idle = plan("duration = \"1s\"");
        idle.phases[0].loads.clear();
        idle.phases[0].duration = None;
        assert!(check(&idle, &target()).expect_err("endless").to_string().contains("idle without end"));
        let mut tmt = plan("duration = \"1s\"");
        (tmt.settings.tmt1_k, tmt.settings.tmt2_k) = (Some(343), Some(338));
        assert!(check(&tmt, &target()).expect_err("crossed").to_string().contains("TMT1 (70 °C)"));
        tmt.settings.tmt2_k = Some(0);
        assert!(check(&tmt, &target()).is_ok(), "a zero disables one and is legal alone");
        let empty = Plan { phases: Vec::new(), ..tmt };
        assert!(check(&empty, &target()).is_err());
    }

    #[test]
    fn every_builtin_fits_a_terabyte_drive_with_a_known_cache() {
        let target = TargetFacts {
            size: Bytes::new(1_000_204_886_016),
            slc: Some(Bytes::new(100 * GIB)),
            block_bytes: 512,
            ..target()
        };
        for name in Plan::builtin_names() {
            let plan = Plan::builtin(name).expect("built in");
            check(&plan, &TargetFacts { trim: true, ..target.clone() })
                .unwrap_or_else(|error| panic!("{error}"));
            let plan = plan.without_purge().unwrap_or(plan);
            check(&plan, &target).unwrap_or_else(|error| panic!("{error}"));
            assert!(plan.phases.iter().all(|phase| !phase.what().is_empty()));
        }
    }

    /// Goal: a drive without a fast write cache runs what others run, and no region passes its end.
    #[test]
    fn every_builtin_fits_a_drive_that_has_no_cache() {
        for gib in [16, 1000] {
            let target =
                TargetFacts { size: Bytes::new(gib * GIB), block_bytes: 512, trim: true, ..target() };
            for name in Plan::builtin_names() {
                let plan = Plan::builtin(name).expect("built in");
                let slc = |plan: &Plan| {
                    let mut loads = plan.phases.iter().flat_map(|phase| &phase.loads);
                    loads.any(|load| load.region.start == Extent::Slc || load.region.len == Some(Extent::Slc))
                };
                let without = plan.without_cache(target.size);
                assert_eq!(without.is_some(), slc(&plan), "{name}");
                let plan = without.unwrap_or(plan);
                assert!(!slc(&plan), "{name}");
                check(&plan, &target).unwrap_or_else(|error| panic!("{error}"));
            }
        }
    }

    #[test]
    fn regions_are_bytes_shares_or_the_cache() {
        let size = Bytes::new(1000);
        let region = |start, len| resolve(Region { start, len }, size, Some(Bytes::new(300)));
        let (bytes, share) = (|n| Extent::Bytes(Bytes::new(n)), Extent::Fraction);
        assert_eq!(region(bytes(0), None), Ok(0..1000));
        assert_eq!(region(share(0.25), Some(share(0.25))), Ok(250..500));
        assert_eq!(region(share(0.7), Some(share(0.3))), Ok(700..1000));
        assert_eq!(region(bytes(0), Some(Extent::Slc)), Ok(0..300));
        assert_eq!(region(bytes(900), Some(Extent::Slc)), Ok(900..1000));
        assert_eq!(region(Extent::Slc, None), Ok(300..1000));
        assert!(region(share(0.7), Some(share(0.4))).is_err());
        assert!(region(bytes(u64::MAX), Some(bytes(u64::MAX))).is_err());
        assert!(region(bytes(1), Some(bytes(u64::MAX))).is_err());
    }

    #[test]
    fn durations_are_known_by_time_or_by_bytes_at_a_rate() {
        let seconds = |plan: &Plan| expected_duration(plan).map(|span| span.as_secs_f64());
        assert_eq!(seconds(&Plan::builtin("hctm-read").expect("built in")), Some(600.0));
        assert_eq!(seconds(&Plan::builtin("full-span").expect("built in")), None);
        assert_eq!(seconds(&plan("bytes = \"100MB\"\nrate = \"10MB/s\"\nthreads = 2")), Some(20.0));
        assert_eq!(seconds(&plan("bytes = \"100MB\"\nrate = \"10MB/s\"\nduration = \"5s\"")), Some(5.0));
        assert_eq!(seconds(&plan("duration = \"5s\"\nstart_delay = \"2s\"")), Some(7.0));
    }

    #[test]
    fn writes_are_limited_by_bytes_laps_rates_or_the_link() {
        let written = |lines: &str, ceiling: Option<f64>| {
            bytes_written(&plan(lines), &target(), ceiling.map(BytesPerSec::new)).map(Bytes::as_u64)
        };
        assert_eq!(written("duration = \"5s\"", None), Some(0));
        assert_eq!(written("op = \"write\"\nduration = \"5s\"", None), None);
        assert_eq!(written("op = \"write\"\nduration = \"5s\"", Some(1e9)), Some(5_000_000_000));
        assert_eq!(
            written("op = \"write\"\nduration = \"5s\"\nrate = \"10MB/s\"", Some(1e9)),
            Some(50_000_000)
        );
        assert_eq!(written("op = \"write\"\nlaps = 2\nregion = \"1GiB\"\nthreads = 4", None), Some(2 * GIB));
        assert_eq!(
            written("op = \"randwrite\"\nlaps = 2\nregion = \"1GiB\"\nthreads = 4", None),
            Some(8 * GIB)
        );
        let mixed = "op = \"mixed\"\norder = \"random\"\nmix = { read = 75, write = 25 }\nbytes = \"400MB\"";
        assert_eq!(written(mixed, None), Some(100_000_000));
    }

    proptest! {
        /// A region is never empty and never passes the end.
        #[test]
        fn regions_lie_on_the_target(
            size in 1_u64..1 << 50, start in 0.0..1.0_f64, len in 0.0..1.0_f64, bytes in any::<u64>(),
        ) {
            for len in [None, Some(Extent::Fraction(len)), Some(Extent::Bytes(Bytes::new(bytes))), Some(Extent::Slc)] {
                let region = Region { start: Extent::Fraction(start), len };
                if let Ok(range) = resolve(region, Bytes::new(size), Some(Bytes::new(bytes))) {
                    prop_assert!(range.start < range.end && range.end <= size, "{:?}", range);
                }
            }
        }
    }
}
