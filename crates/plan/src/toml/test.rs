//! The TOML format: what is read, how mistakes are named, and that nothing is lost on the way round.

use std::path::PathBuf;
use std::time::Duration;

use measure::record::ThermalSettings;
use measure::{Bytes, BytesPerSec, Celsius, Kelvin, QueueDepth, Seed};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use crate::{
    Extent, Load, MeterAddress, MeterSource, MeterStated, Mix, Order, Phase, Plan, Region, Sharing, Sizes,
    Sweep, SweepSetting, TelemetryPlan, WriteData,
};

/// The full example of the document for people is read by this very code.
const DOCUMENT: &str = include_str!("../../../../docs/PLANS.md");

fn error(text: &str) -> String {
    Plan::from_toml(text, "my.toml").expect_err("the plan is wrong").to_string()
}

#[test]
fn a_short_plan_gets_every_default() {
    let plan =
        Plan::from_toml("[[phase]]\nop = \"read\"\nblock_size = \"1MiB\"\nduration = \"5m\"", "a/soak.toml")
            .expect("it is right");
    let mut expected = Plan::new("soak");
    let load = Load::new("read", Order::Sequential, Mix::READ, Sizes::Fixed(1 << 20));
    expected.phases = vec![Phase {
        name: "read".into(),
        loads: vec![load],
        duration: Some(Duration::from_secs(300)),
        start_delay: Duration::ZERO,
        until_below: None,
    }];
    assert_eq!(plan, expected);
}

#[test]
fn every_example_of_the_document_is_a_plan() {
    let examples: Vec<&str> = DOCUMENT
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("split yields at least one"))
        .collect();
    assert!(examples.len() >= 3, "{} examples found", examples.len());
    for example in examples {
        if let Err(error) = Plan::from_toml(example, "docs/PLANS.md") {
            panic!("{error}\n{example}");
        }
    }
}

/// Goal: an error names file, line and key, and what would be right. Method: one mistake a case.
#[test]
#[expect(clippy::too_many_lines, reason = "a table: one row a mistake")]
fn mistakes_are_named_with_their_line_and_the_nearest_valid_names() {
    let phase = |extra: &str| format!("[[phase]]\nop = \"read\"\nblock_size = \"4KiB\"\n{extra}\n");
    let cases = [
        (
            "interval = 5".to_owned(),
            "my.toml, line 1, column 12: `interval`: invalid type: integer `5`, expected a time such as \"5m\" in quotes",
        ),
        (
            "descripton = \"\"".into(),
            "line 1, column 1: the plan has no key `descripton`; did you mean `description`?",
        ),
        ("name = \"x\"\n".into(), "the plan has no [[phase]]"),
        ("phase = 1".into(), "write it in double brackets: [[phase]]"),
        ("[phase]\nop = \"read\"".into(), "write it in double brackets: [[phase]]"),
        (
            phase("bloc_size = \"1MiB\""),
            "line 4, column 1: a phase has no key `bloc_size`; did you mean `block_size`",
        ),
        (
            phase("stop_at = \"80C\""),
            "line 4, column 1: the key `stop_at` does not belong in a phase; it belongs at the top",
        ),
        (
            "depth = 1".into(),
            "line 1, column 1: the key `depth` does not belong in the plan; it belongs in a [[phase]]",
        ),
        (phase("depth = 0"), "line 4, column 9: `depth`: 0 is too small: at least 1"),
        (phase("depth = 70000"), "line 4, column 9: `depth`: 70000 is too large: at most 65535"),
        (phase("laps = -1"), "line 4, column 8: `laps`: -1 is too small: at least 1"),
        (
            phase("rate = \"5MB\""),
            "line 4, column 8: `rate`: \"5MB\" is not a rate: it does not end in \"/s\"",
        ),
        (
            phase("duration = \"5 fortnights\""),
            "line 4, column 12: `duration`: \"5 fortnights\" is not a time",
        ),
        (
            phase("region = { len = \"120%\" }"),
            "line 4, column 18: `len`: \"120%\" is not a percentage: it is more than 100%",
        ),
        (
            phase("region = { length = \"20%\" }"),
            "line 4, column 12: `region` has no key `length`; did you mean `len`? valid are start, len",
        ),
        (
            phase("region = 1"),
            "line 4, column 10: `region`: invalid type: integer `1`, expected a size such as \"4GiB\", a share",
        ),
        (
            phase("data = \"zeros\""),
            "`data`: \"zeros\" is none of the valid words; did you mean `zeroes`? valid are incompressible, zeroes",
        ),
        (
            phase("mix = { read = 70, write = 30 }"),
            "line 4, column 1: `mix`: op = \"read\" says that already",
        ),
        (
            phase("[[phase.load]]\nop = \"write\"\nblock_size = \"4KiB\""),
            "line 1, column 1: the phase has the key `op` and [[phase.load]]",
        ),
        (
            "[[phase]]\n[[phase.load]]\nop = \"write\"\nuntil_below = \"40C\"\nblock_size = \"4KiB\"".into(),
            "line 4, column 1: `until_below`: it does not belong in a load; it belongs in the [[phase]] itself",
        ),
        (
            "[[phase]]\n[[phase.load]]\nlop = \"write\"".into(),
            "line 3, column 1: a load has no key `lop`; did you mean `laps`? valid are name, op, mix,",
        ),
        (
            "[[phase]]\nop = \"reed\"".into(),
            "line 2, column 1: `op`: \"reed\" is no operation; did you mean `read`",
        ),
        ("[[phase]]\nop = \"read\"".into(), "line 1, column 1: no block size is given"),
        (
            "[[phase]]\nop = \"idle\"\ndepth = 2".into(),
            "line 3, column 1: `depth`: an idle phase does no I/O, so it has no `depth`",
        ),
        (
            "[[phase]]\nop = \"mixed\"\nmix = { read = 70, write = 20 }\norder = \"random\"\nblock_size = \"4KiB\"".into(),
            "line 3, column 1: `mix`: the shares add up to 90, not to 100 percent",
        ),
        (
            "[[phase]]\nop = \"read\"\nblock_sizes = { min = \"4KiB\", max = \"5000B\" }".into(),
            "line 3, column 15: `block_sizes`: `min` (4096 B) and `max` (5000 B) are not both multiples of `step` (4096 B)",
        ),
        (
            "[[phase]]\nop = \"read\"\nblock_sizes = { min = \"4KiB\" }".into(),
            "`block_sizes` needs the key `max`; write for example",
        ),
        (
            "[settings]\npower_state = 32\n[[phase]]\n".into(),
            "line 2, column 15: `power_state`: 32 is no power state",
        ),
        ("[telemetry]\npower = { hwmon = \"a\", csv = \"b\" }\n".into(), "one of `hwmon`, `command` and `csv`"),
        ("[sweep]\ntmt1 = \"65C\"\n".into(), "line 2, column 1: the key `tmt1` does not belong in the table [sweep]; it belongs in a [[sweep.setting]]"),
        ("[sweep]\n".into(), "the table [sweep] needs the key `setting`; write for example [[sweep.setting]]"),
        ("name = \"x\"\n[[phase]\n".into(), "my.toml, line 2, column "),
    ];
    for (text, expected) in cases {
        let error = error(&text);
        assert!(error.contains(expected), "expected {expected:?} in {error:?}");
        assert!(error.starts_with("cannot read the plan my.toml, line "), "{error:?}");
    }
}

fn duration() -> impl Strategy<Value = Duration> {
    prop_oneof![
        (0_u64..1_000_000).prop_map(Duration::from_secs),
        (0_u64..1_000_000).prop_map(Duration::from_micros),
        // A month to the nanosecond is far more than a plan needs.
        (0_u64..2_600_000_000_000_000).prop_map(Duration::from_nanos),
    ]
}

fn period() -> impl Strategy<Value = Duration> {
    duration().prop_filter("a period is above zero", |span| !span.is_zero())
}

fn size() -> impl Strategy<Value = Bytes> {
    prop_oneof![(0_u64..1 << 43), (0_u64..1 << 20).prop_map(|kib| kib << 10)].prop_map(Bytes::new)
}

fn sizes() -> impl Strategy<Value = Sizes> {
    let range = (1_u32..1 << 12, 1_u32..16, 0_u32..1 << 10)
        .prop_map(|(step, min, more)| (min * step, (min + more) * step, step));
    prop_oneof![
        (1_u32..).prop_map(Sizes::Fixed),
        vec((1_u32.., 1_u32..), 1..4).prop_map(Sizes::Weighted),
        range.clone().prop_map(|(min, max, step)| Sizes::LogUniform { min, max, step }),
        range.prop_map(|(min, max, step)| Sizes::Uniform { min, max, step }),
    ]
}

fn extent() -> impl Strategy<Value = Extent> {
    prop_oneof![
        size().prop_map(Extent::Bytes),
        (0.0..=1.0).prop_map(Extent::Fraction),
        (0_u32..=100).prop_map(|percent| Extent::Fraction(f64::from(percent) * 0.01)),
        Just(Extent::Slc),
    ]
}

fn mix() -> impl Strategy<Value = Mix> {
    (0_u8..=100, 0_u8..=100).prop_map(|(a, b)| {
        let (low, high) = (a.min(b), a.max(b));
        Mix { read: low, write: high - low, trim: 100 - high }
    })
}

fn load() -> impl Strategy<Value = Load> {
    let what = (".*", any::<bool>(), mix(), sizes(), 1_u16.., 1_u16.., any::<bool>());
    let place = (extent(), of(extent()), of((1_u32..).prop_map(|align| Bytes::new(align.into()))));
    let rate = prop_oneof![1.0..1e12, (1_u64..1 << 40).prop_map(|rate| rate as f64)];
    let limits =
        (of(rate.prop_map(BytesPerSec::new)), of(0.001..1e9), of(size()), of(1_u32..), of(duration()));
    let rest =
        (duration(), any::<bool>(), any::<bool>(), any::<bool>(), of(any::<u64>().prop_map(Seed::new)));
    (what, place, limits, rest).prop_map(|(what, place, limits, rest)| Load {
        name: what.0,
        order: if what.1 { Order::Random } else { Order::Sequential },
        mix: what.2,
        sizes: what.3,
        split: (what.4 % 2 == 0).then(|| Bytes::new(u64::from(what.4) * 512)),
        depth: QueueDepth::new(what.4).expect("drawn from one on"),
        threads: what.5,
        sharing: if what.6 { Sharing::Split } else { Sharing::Overlap },
        region: Region { start: place.0, len: place.1 },
        align: place.2,
        rate: limits.0,
        rate_iops: limits.1,
        bytes: limits.2,
        laps: limits.3,
        duration: limits.4,
        think_time: rest.0,
        visit_once: rest.1,
        data: if rest.2 { WriteData::Incompressible } else { WriteData::Zeroes },
        direct: rest.3,
        seed: rest.4,
    })
}

fn phase() -> impl Strategy<Value = Phase> {
    let until_below = of((213_u16..=473).prop_map(Kelvin::from_kelvin));
    (".*", vec(load(), 0..3), of(duration()), duration(), until_below, any::<bool>()).prop_map(
        |(name, mut loads, duration, start_delay, until_below, plain)| {
            if let (true, [only]) = (plain, loads.as_mut_slice()) {
                only.name.clone_from(&name);
                only.duration = None;
            }
            Phase { name, loads, duration, start_delay, until_below }
        },
    )
}

fn power() -> impl Strategy<Value = MeterAddress> {
    let source = prop_oneof![
        "/.*".prop_map(|path| MeterSource::HwmonPath(PathBuf::from(path))),
        vec(".+", 1..3).prop_map(|argv| MeterSource::Exec { argv }),
        vec(".+", 1..3).prop_map(|argv| MeterSource::Pipe { argv }),
        Just(MeterSource::Drive),
    ];
    (source, of(period())).prop_map(|(source, period)| MeterAddress {
        source,
        stated: MeterStated { period, ..MeterStated::default() },
    })
}

fn settings() -> impl Strategy<Value = ThermalSettings> {
    // Off, or what a drive may be at.
    let kelvin = || of(prop_oneof![Just(0_u16), 213_u16..=473]);
    (kelvin(), kelvin(), of(0_u8..32)).prop_map(|(tmt1_k, tmt2_k, power_state)| ThermalSettings {
        tmt1_k,
        tmt2_k,
        power_state,
    })
}

fn sweep() -> impl Strategy<Value = Sweep> {
    let rate = || of((1_u64..1 << 50).prop_map(|rate| BytesPerSec::new(rate as f64)));
    let kelvin = || of((213_u16..=473).prop_map(Kelvin::from_kelvin));
    let ambient = of((-600_i16..=1200).prop_map(|tenths| Celsius::from_degrees(f64::from(tenths) / 10.0)));
    let setting = (".+", settings(), rate(), rate(), ambient)
        .prop_map(|(name, thermal, rate, link, ambient)| SweepSetting { name, thermal, rate, link, ambient });
    (vec(setting, 1..4), any::<bool>(), kelvin(), period()).prop_map(
        |(settings, deallocate, cool_to, cool_at_most)| Sweep { settings, deallocate, cool_to, cool_at_most },
    )
}

prop_compose! {
    fn plan()(
        texts in (".*", ".*", of(".*"), vec(".*", 0..3)),
        numbers in (period(), any::<u64>(), of(213_u16..=473), 0..u64::MAX >> 1, any::<bool>()),
        periods in (period(), period(), period(), vec(power(), 0..3)),
        settings in settings(),
        sweep in of(sweep()),
        phases in vec(phase(), 1..3),
    ) -> Plan {
        Plan {
            name: texts.0,
            description: texts.1,
            interval: numbers.0,
            seed: Seed::new(numbers.1),
            telemetry: TelemetryPlan {
                smart_period: periods.0,
                hwmon_period: periods.1,
                blockstat_period: periods.2,
                power: periods.3,
            },
            settings,
            stop_at: numbers.2.map(Kelvin::from_kelvin),
            stop_unwatched: periods.0,
            max_errors: numbers.3,
            record_ops: numbers.4,
            phases,
            rounds: None,
            sweep,
            drive: texts.2,
            notes: texts.3,
        }
    }
}

/// Goal: a record keeps its rounds once, and they run again from it.
#[test]
fn rounds_survive_the_way_through_toml() {
    let text = r#"
        [[phase]]
        op = "idle"
        duration = "1s"
        [rounds]
        at_most = 7
        until_steady = "two"
        [[rounds.phase]]
        name = "one"
        op = "read"
        block_size = "4KiB"
        duration = "1s"
        [[rounds.phase]]
        name = "two"
        [[rounds.phase.load]]
        op = "write"
        block_size = "4KiB"
        duration = "1s"
    "#;
    let plan = Plan::from_toml(text, "x.toml").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(plan.phases.len(), 15);
    let written = plan.to_toml();
    assert_eq!(written.matches("[[rounds.phase]]").count(), 2, "{written}");
    assert_eq!(
        Plan::from_toml(&written, "x.toml").unwrap_or_else(|error| panic!("{error}\n{written}")),
        plan
    );
    for (wrong, part) in [
        (text.replace("at_most = 7", "at_most = 4"), "5 or more"),
        (
            text.replace("= \"two\"\n        [[rounds.phase]]", "= \"three\"\n        [[rounds.phase]]"),
            "no phase of the rounds",
        ),
        (text.replace("at_most = 7", "laps = 7"), "laps"),
    ] {
        let error = Plan::from_toml(&wrong, "x.toml").expect_err("wrong").to_string();
        assert!(error.contains(part), "{part:?} is missing in {error}");
    }
}

proptest! {
    /// What is written is read back the same, to the last bit.
    #[test]
    fn a_plan_survives_the_way_through_toml(plan in plan()) {
        let text = plan.to_toml();
        match Plan::from_toml(&text, "any.toml") {
            Ok(back) => prop_assert_eq!(back, plan, "{}", text),
            Err(error) => prop_assert!(false, "{}\n{}", error, text),
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC*") {
        let _ = Plan::from_toml(&text, "any.toml");
    }

    /// Words of the format in any order get deeper than letters in any order.
    #[test]
    fn arbitrary_lines_of_the_format_never_panic(lines in vec(line(), 0..12)) {
        let _ = Plan::from_toml(&lines.join("\n"), "any.toml");
    }
}

fn line() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        Just("op"),
        Just("mix"),
        Just("block_size"),
        Just("block_sizes"),
        Just("split"),
        Just("depth"),
        Just("region"),
        Just("rate"),
        Just("duration"),
        Just("seed"),
        Just("interval"),
        Just("stop_at"),
        Just("power"),
        Just("tmt1"),
        Just("laps"),
        Just("align"),
        Just("order"),
        Just("rate_iops"),
        Just("load"),
    ];
    let value = prop_oneof![
        Just("\"read\"".to_owned()),
        Just("\"mixed\"".into()),
        Just("\"idle\"".into()),
        Just("\"\"".into()),
        Just("-1".into()),
        Just("18446744073709551616".into()),
        Just("0x7f".into()),
        Just("nan".into()),
        Just("[{}]".into()),
        Just("{ min = \"1B\", max = \"4GiB\" }".into()),
        Just("1979-05-27".into()),
        Just("\"1e999s\"".into()),
        Just("\"99999999999999999999h\"".into()),
        Just("\"µ\"".into()),
        "\"[0-9.]{1,30}[a-zA-Z/%µ]{0,4}\"",
    ];
    prop_oneof![
        Just("[[phase]]".to_owned()),
        Just("[[phase.load]]".into()),
        Just("[telemetry]".into()),
        Just("[settings]".into()),
        Just("[phase]".into()),
        (key, value).prop_map(|(key, value)| format!("{key} = {value}")),
    ]
}
