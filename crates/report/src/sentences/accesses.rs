//! Stalls, cache fills and wear in sentences.

use analysis::accesses::{StallClustering, StallFindings, StallOwner};
use analysis::fills::CacheFill;
use analysis::findings::Wear;
use analysis::wobble::WobbleKind;

use crate::format;
use crate::view::op_word;

/// "random write: 12 of 4,000 accesses stalled (0.3 %), in 9 pauses, …"; none where nothing stalled.
pub(crate) fn stalls(found: &StallFindings) -> Option<String> {
    if found.stalled == 0 {
        return None;
    }
    let seconds = |seconds: Option<f64>| {
        seconds.map_or_else(|| "?".to_owned(), |seconds| format::latency(seconds * 1e9))
    };
    let mut parts = vec![
        format!(
            "{} ({}): {} of {} accesses stalled ({}), in {} pauses",
            found.phase,
            op_word(found.op),
            format::count(found.stalled as f64),
            format::count(found.accesses as f64),
            format::percent(found.stalled as f64 / found.accesses as f64),
            format::count(found.pauses as f64)
        ),
        format!("median {}, longest {}", seconds(found.median_s), seconds(found.longest_s)),
        format!("{} of the time", format::percent(found.share_of_time)),
    ];
    if let (Some(clustering), Some(every_s)) = (found.clustering, found.every_s) {
        let how = match clustering {
            StallClustering::Clocked => "like clockwork",
            StallClustering::Random => "at random",
            StallClustering::Bursts => "in bursts",
        };
        parts.push(format!("one every {} on average, {how}", seconds(Some(every_s))));
    }
    if found.decades[5] > 0 {
        parts.push(format!("{} of them longer than 100 s", found.decades[5]));
    }
    // An access that waits 5 to 20 ms comes 50 to 200 times a second, whatever its size.
    if found.median_s.is_some_and(|median_s| (5e-3..=20e-3).contains(&median_s)) {
        parts.push("one by one that is about 100 IOPS".to_owned());
    }
    let owner = match found.owner {
        StallOwner::Drive => "They are the drive's: the accesses went past the page cache.",
        StallOwner::PageCache => {
            "They went through the page cache: a writer waits for its dirty pages, a reader behind them. `direct = true` in the \
             plan shows the drive alone."
        }
    };
    Some(format!("Stalls in {}. {owner}", parts.join("; ")))
}

/// What each fill found; none where no cache ended.
pub(crate) fn fills(fills: &[CacheFill]) -> Vec<String> {
    if fills.iter().all(|fill| !fill.ended) {
        return Vec::new();
    }
    let gib = |bytes: f64| format!("{:.1} GiB", bytes / 1_073_741_824.0);
    let one = |fill: &CacheFill| {
        let rested = if fill.rested_s >= 1.0 {
            format!(" after {} of rest", format::seconds(fill.rested_s))
        } else {
            String::new()
        };
        match (fill.ended, fill.fast_bytes_per_s, fill.slow_bytes_per_s) {
            (true, None, slow) => {
                format!("{}{rested}: no fast cache left, {} throughout", fill.phase, format::speed(slow))
            }
            (true, fast, slow) => format!(
                "{}{rested}: {} at {}, then {}",
                fill.phase,
                gib(fill.fast_bytes),
                format::speed(fast),
                format::speed(slow)
            ),
            (false, fast, _) => {
                format!("{}{rested}: all {} at {}", fill.phase, gib(fill.fast_bytes), format::speed(fast))
            }
        }
    };
    fills.iter().map(|fill| format!("Fast cache, {}.", one(fill))).collect()
}

/// "Wear: the run wrote 512 GB, 0.32 % of the rated 160 TB; percentage used 0 % before and after."
pub(crate) fn wear(wear: &Wear) -> String {
    let mut text = format!("Wear: the run wrote {}", format::amount(wear.written_by_run_bytes));
    if let (Some(rated), Some(share)) = (wear.rated_bytes, wear.share_of_rated) {
        text.push_str(&format!(", {:.2} % of the rated {}", share * 100.0, format::amount(rated)));
    }
    text.push_str(&format!("; the drive counted {}", format::amount(wear.counted_bytes)));
    text.push_str(&match (wear.used_percent_before, wear.used_percent_after) {
        (before, after) if before == after => format!("; percentage used {before} % before and after."),
        (before, after) => format!("; percentage used {before} % before, {after} % after."),
    });
    text
}

/// Why a load runs unsteadily, in a word or two.
pub(crate) const fn wobble_kind(kind: WobbleKind) -> &'static str {
    match kind {
        WobbleKind::Steady => "steady",
        WobbleKind::RegulatorBursts => "while throttled",
        WobbleKind::Housekeeping => "dips",
        WobbleKind::Noise => "noise",
    }
}
