//! The check against units whose truth is known: each liar is caught, no honest one accused.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};

use super::super::liar::{BridgeLie, HonestUnmap, LyingUnit};
use super::*;
use crate::scsi::facts_of;

/// Small enough that fifty runs are quick; 2^17 blocks and more are between its ends, so that the windows are apart.
const BLOCKS: u64 = 1 << 18;
const WINDOW: u64 = 2048;

/// A whole check with its power cycle, as the command makes it.
fn check(unit: &mut LyingUnit, window: u64, seed: u64) -> ProofResult {
    let facts = facts_of(unit).expect("it answers");
    let capacity = facts.capacity.expect("a size");
    let layout = ProofLayout::new(unit.blocks, window, 0);
    let mut steps = |_: &str| {};
    let state = {
        let target = ProofUnit::new(unit, &capacity, facts.limits.as_ref()).expect("it can be checked");
        let mut proof = Proof::new(target, layout.clone(), Seed::new(seed), &mut steps);
        proof.before_power_cycle().expect("it works");
        proof.into_state()
    };
    if state.result.is_over() {
        return state.result;
    }
    unit.power_cycle();
    let mut steps = |_: &str| {};
    let target = ProofUnit::new(unit, &capacity, facts.limits.as_ref()).expect("it can be checked");
    let mut proof = Proof::resume(target, layout, state, &mut steps);
    proof.after_power_cycle().expect("it works");
    proof.by_kernel().expect("it works");
    proof.into_state().result
}

/// A unit that differs from the others in everything that is no lie.
fn honest(seed: u64) -> LyingUnit {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut pick = |list: &[u32]| list[random.next_u64() as usize % list.len()];
    let kinds = [
        HonestUnmap::Zeroes,
        HonestUnmap::Noise,
        HonestUnmap::WholeGroups,
        HonestUnmap::Ignored,
        HonestUnmap::Refused,
        HonestUnmap::AtFlush,
    ];
    let mut unit = LyingUnit::new(BLOCKS + u64::from(pick(&[0, 1, 7, 1000])));
    unit.block_bytes = pick(&[512, 512, 4096]);
    unit.unmap_blocks_max = pick(&[0, 8, 256, 2048, 65_535, u32::MAX]);
    unit.unmap_ranges_max = pick(&[0, 1, 2, 64, u32::MAX]);
    unit.granularity = pick(&[0, 1, 8, 64, 256]);
    unit.keeps_limits = pick(&[0, 1]) == 1;
    unit.says_provisioned = pick(&[0, 1]) == 1;
    unit.kernel_blocks_max = Some(u64::from(pick(&[8, 2048, 65_535])));
    if unit.keeps_limits && unit.unmap_blocks_max > 0 {
        // A kernel that was told the limit.
        unit.kernel_blocks_max = unit.kernel_blocks_max.map(|most| most.min(unit.unmap_blocks_max.into()));
    }
    unit.honest = kinds[seed as usize % kinds.len()];
    unit
}

/// Goal: no honest drive is accused. Method: fifty that differ in size, blocks, limits, groups and in what becomes of
/// unmapped blocks; each verdict must be the one that its truth asks for.
#[test]
fn honest_units_are_never_accused() {
    for seed in 0..50 {
        let mut unit = honest(seed);
        let result = check(&mut unit, WINDOW, seed);
        let expected = match unit.honest {
            HonestUnmap::Refused => TrimVerdict::Refused,
            HonestUnmap::Ignored => TrimVerdict::SafeNoEffect,
            _ => TrimVerdict::SafeActs,
        };
        assert_eq!(result.verdict(), expected, "seed {seed}: {unit:?} {result:#?}");
        assert!(result.lost.is_none() && result.hung.is_none(), "seed {seed}: {result:#?}");
        assert!(unit.honest == HonestUnmap::Refused || result.by_kernel, "seed {seed}: {result:#?}");
    }
}

/// Goal: each liar is caught, and the verdict says of what. Method: every lie on several honest units; where the lost
/// blocks lie tells which lie it was.
#[test]
fn every_liar_is_caught() {
    let lies = [
        (BridgeLie::TooMuch(1), TrimVerdict::EatsNeighbours, Some(1)),
        (BridgeLie::TooMuch(128), TrimVerdict::EatsNeighbours, Some(1)),
        (BridgeLie::RoundsOut, TrimVerdict::EatsNeighbours, None),
        (BridgeLie::Shifted(1), TrimVerdict::EatsNeighbours, Some(1)),
        (BridgeLie::Shifted(65_536), TrimVerdict::EatsNeighbours, None),
        (BridgeLie::Stale, TrimVerdict::Unstable, None),
        (BridgeLie::LateLoss(1), TrimVerdict::EatsNeighbours, None),
        (BridgeLie::LateLoss(128), TrimVerdict::EatsNeighbours, None),
        (BridgeLie::Hangs(Duration::from_secs(40)), TrimVerdict::Hangs, None),
        (BridgeLie::NeverAnswers, TrimVerdict::Hangs, None),
        (BridgeLie::FakeCapacity(BLOCKS - WINDOW), TrimVerdict::LosesData, None),
        (BridgeLie::OneLength, TrimVerdict::EatsNeighbours, None),
    ];
    for (lie, expected, distance) in lies {
        for seed in 0..5 {
            let mut unit = LyingUnit::new(BLOCKS).with(lie);
            unit.kernel_blocks_max = Some(2048);
            unit.unmap_blocks_max = [2048, 256, 0, u32::MAX, 8][seed as usize];
            let result = check(&mut unit, WINDOW, seed);
            assert_eq!(result.verdict(), expected, "{lie:?} {seed}: {result:#?}");
            let first = result.lost.as_ref().and_then(|lost| lost.first.first());
            if let Some(distance) = distance {
                assert_eq!(
                    first.and_then(|block| block.from_unmapped),
                    Some(distance),
                    "{lie:?}: {result:#?}"
                );
            }
            let late = matches!(lie, BridgeLie::LateLoss(_));
            assert!(!late || result.lost.is_some_and(|lost| lost.when == "after a power cycle"), "{lie:?}");
        }
    }
}

/// Goal: a counter of 16 bits shows where a window holds such a command: its neighbours, or nothing at all.
/// Method: windows of 64 MiB, as the command has them.
#[test]
fn whole_windows_show_what_small_ones_cannot() {
    let mut unit = LyingUnit::new(1 << 19);
    unit.unmap_blocks_max = 0;
    let result = check(&mut unit, 1 << 17, 3);
    assert_eq!(result.verdict(), TrimVerdict::SafeActs, "{result:#?}");
    let names: Vec<&str> = result.cases.iter().map(|case| case.name.as_str()).collect();
    for wanted in ["65,535 blocks", "65,536 blocks", "65,537 blocks"] {
        assert!(names.iter().any(|name| name.starts_with(wanted)), "{names:?}");
    }
    let mut shifted = LyingUnit::new(1 << 19).with(BridgeLie::Shifted(65_536));
    shifted.unmap_blocks_max = 0;
    let result = check(&mut shifted, 1 << 17, 4);
    assert_eq!(result.verdict(), TrimVerdict::EatsNeighbours, "{result:#?}");
}

#[test]
fn windows_are_where_mistakes_land() {
    let layout = ProofLayout::new(1 << 34, 1 << 17, 1 << 24);
    let windows = layout.windows();
    let covers = |block: u64| windows.iter().any(|window| (window.first..window.end()).contains(&block));
    for block in [0, 1 << 16, (1 << 32) - 1, 1 << 32, (1 << 33) + (1 << 23), (1 << 34) - 1] {
        assert!(covers(block), "{block}: {windows:?}");
    }
    assert!(windows.windows(2).all(|two| two[0].end() < two[1].first), "{windows:?}");
    // A drive that is smaller than a window is one window.
    assert_eq!(ProofLayout::new(5000, 1 << 17, 1 << 24).windows(), [BlockRange { first: 0, blocks: 5000 }]);
    let unlimited = ProofUnit::new(
        &mut LyingUnit::new(1 << 34),
        &crate::scsi::Capacity::decode(&[0, 0, 0, 3, 255, 255, 255, 255, 0, 0, 2, 0]).expect("a size"),
        None,
    )
    .expect("it can be checked")
    .unmap_limits();
    let long = layout.cases(unlimited).into_iter().find(|case| case.name.starts_with("0x7fffff"));
    assert_eq!(long.map(|case| case.ranges[0].blocks), Some(0x7f_ffff));
}
