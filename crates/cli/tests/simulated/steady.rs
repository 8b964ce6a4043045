//! Runs in rounds on simulated drives whose steady state is known in closed form, and on one that has none.

use analysis::findings::{Caveat, Findings, SteadyState};

use crate::support::Scratch;

/// Rounds of `seconds` of 1 MiB in order.
fn rounds(scratch: &Scratch, op: &str, seconds: u32, drive: &str) -> (Findings, SteadyState) {
    let plan = format!(
        "[rounds]\nuntil_steady = \"{op}\"\n[[rounds.phase]]\nop = \"{op}\"\nblock_size = \"1MiB\"\ndepth = 32\n\
         duration = \"{seconds}s\"\n"
    );
    std::fs::write(scratch.path("rounds.toml"), plan).expect("a scratch file");
    let out = format!("{op}-{seconds}");
    let done = scratch.run(&["run", "rounds.toml", "--drive", drive, "--out", &out, "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let findings: Findings = serde_json::from_str(&done.stdout).expect("findings");
    let steady = findings.steady_state.clone().expect("it ran in rounds");
    (findings, steady)
}

/// Goal: the round in which a full cache is steady. Method: 80 GB at 1.5 GB/s last 53 s, then comes 0.2 GB/s: of rounds
/// of 20 s two are fast, one is both, and the fourth to the eighth are the first five alike. Random order, as a load in
/// order writes the same data again in each round.
#[test]
fn a_full_cache_is_steady_in_the_round_that_arithmetic_says() {
    let scratch = Scratch::new();
    let (_, steady) = rounds(&scratch, "randwrite", 20, "twin:slc");
    assert!(steady.reached, "{steady:?}");
    assert_eq!((steady.window, steady.round_bytes_per_s.len()), (Some([4, 8]), 8), "{steady:?}");
    let [first, second, third, slow @ ..] = &steady.round_bytes_per_s[..] else { panic!("{steady:?}") };
    assert!([first, second].iter().all(|fast| (*fast / 1.5e9 - 1.0).abs() < 0.03), "{steady:?}");
    assert!((0.9e9..1.3e9).contains(third) && slow.iter().all(|slow| *slow < 0.3e9), "{steady:?}");
    let told = scratch.run(&["analyze", "randwrite-20"]).stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Steady state was reached in round 8"), "{told}");
    assert!(told.contains("(at most 20 %)") && told.contains("(at most 10 %)"), "{told}");
}

/// Goal: rounds of five within the cache are steady by the rule, which is why PTS preconditions.
#[test]
fn five_rounds_within_the_cache_are_steady_too() {
    let (_, steady) = rounds(&Scratch::new(), "write", 5, "twin:slc");
    assert_eq!((steady.reached, steady.window), (true, Some([1, 5])), "{steady:?}");
}

/// Goal: a drive that goes to and fro is not steady, or is named.
#[test]
fn a_relay_is_not_steady_or_is_called_cyclostationary() {
    let scratch = Scratch::new();
    for seconds in [10, 45] {
        let (findings, steady) = rounds(&scratch, "read", seconds, "twin:relay");
        let named = findings.caveats.iter().any(|caveat| matches!(caveat, Caveat::Cyclostationary(_)));
        assert!(!steady.reached || named, "{seconds} s: {steady:?} {:?}", findings.caveats);
        let (low, high) =
            steady.round_bytes_per_s.iter().fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(*v), h.max(*v)));
        assert!(low < 0.9 * high, "it does throttle: {steady:?}");
    }
}

/// Goal: a file takes a built-in plan as it is.
#[test]
fn a_file_takes_a_built_in_plan() {
    let scratch = Scratch::new();
    let plan = scratch.run(&["plans", "pts-throughput"]).stdout;
    let short =
        plan.replace("duration = \"1m\"", "duration = \"200ms\"").replace("at_most = 25", "at_most = 5");
    std::fs::write(scratch.path("short.toml"), short).expect("a scratch file");
    let drive = "file:t.bin?size=32MiB";
    let done = scratch.run(&["run", "short.toml", "--drive", drive, "--out", "f", "--no-report", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let findings: Findings = serde_json::from_str(&done.stdout).expect("findings");
    // How many rounds count as whole depends on the machine: a crowded one stretches some of 200 ms.
    let steady = findings.steady_state.expect("it ran in rounds");
    assert!((1..=5).contains(&steady.round_bytes_per_s.len()), "{steady:?}");
    let manifest = std::fs::read_to_string(scratch.path("f/manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    let phases = manifest["phases"].as_array().expect("phases");
    let tracked = phases.iter().filter(|phase| phase["tracked"] == true && phase["ended_by"] == "duration");
    assert_eq!(tracked.count(), 5, "{phases:?}");
}
