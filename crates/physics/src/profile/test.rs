//! Profiles: all built-in ones read, say where each value comes from, and bad ones are refused.

use super::Profile;

#[test]
fn all_built_in_profiles_read_and_go_round() {
    for name in Profile::builtin_names() {
        let profile = Profile::builtin(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(profile.name, name);
        let text = profile.to_toml().expect("writes");
        assert_eq!(Profile::from_toml(&text).expect("reads back"), profile, "{name}");
    }
}

/// Every line with a value says stated, derived or chosen, on it or on the line above.
#[test]
fn every_parameter_says_where_it_comes_from() {
    const FREE: [&str; 3] = ["name", "description", "ops"];
    for name in Profile::builtin_names() {
        let text = Profile::builtin_toml(name).expect("built in");
        let mut above = "";
        for line in text.lines() {
            let told = |line: &str| {
                ["stated", "derived", "chosen"].iter().any(|word| line.to_lowercase().contains(word))
            };
            let free = FREE.iter().any(|key| line.starts_with(key));
            if line.contains(" = ") && !line.starts_with('#') && !free {
                assert!(told(line) || (above.starts_with('#') && above.len() > 1), "{name}: {line}");
            }
            above = line;
        }
    }
}

#[test]
fn an_unknown_drive_is_answered_with_the_nearest() {
    let text = Profile::builtin("sdd1").expect_err("no such drive").to_string();
    assert!(text.contains("did you mean `ssd1`") && text.contains("`heatsoak profiles` lists all"), "{text}");
    let text = Profile::builtin("zzz").expect_err("no such drive").to_string();
    assert!(!text.contains("did you mean"), "{text}");
}

/// Goal: errors name the key, the value and the allowed range.
#[test]
fn bad_values_are_named_with_their_range() {
    let good = Profile::builtin_toml("ssd1").expect("built in");
    let cases = [
        ("ambient_c = 30.0", "ambient_c = 900.0", "thermal.ambient_c is 900; allowed is -60 to 120"),
        ("airflow = 1.0", "airflow = 0.0", "thermal.airflow is 0"),
        ("heat_share = 1.0", "heat_share = 0.5", "add up to 1"),
        ("tmt2_k = 358", "tmt2_k = 400", "lies outside 273 K to 358 K"),
        ("block_bytes = 512", "block_bytes = 500", "512 or 4096"),
        ("poll_s = 0.1", "poll_s = 0.001", "poll_s is 0.001; allowed is 0.01 to 86400"),
        ("composite_share = [1.0, 0.0]", "composite_share = [1.0]", "2 shares"),
        ("airflow = 1.0", "air_flow = 1.0", "air_flow"),
        ("reopen_share = 0.05", "reopen_share = nan", "slc.reopen_share is NaN"),
        ("wctemp_k = 358", "wctemp_k = 364", "limits.cctemp_k is 363; allowed is 364 to 500"),
    ];
    for (from, to, wanted) in cases {
        assert!(good.contains(from), "{from}");
        let error = Profile::from_toml(&good.replace(from, to)).expect_err(to).to_string();
        assert!(error.contains(wanted), "{to}: {error}");
    }
}

/// Every text an editor could leave behind is answered, none panics.
#[test]
fn cut_files_are_errors() {
    let good = Profile::builtin_toml("ssd2").expect("built in");
    let mut whole = 0;
    for end in (0..good.len()).filter(|end| good.is_char_boundary(*end)).step_by(7) {
        whole += usize::from(Profile::from_toml(&good[..end]).is_ok());
    }
    // Cut within or after a policy of which nothing is missing, what is left may be a whole profile.
    assert!(whole < good.len() / 7 / 2, "{whole}");
}

/// A drive stated by its modes is the drive stated by the ladder that was made from them.
#[test]
fn modes_stand_in_place_of_nodes() {
    let ladder = Profile::builtin("ssd1").expect("built in");
    let mut modes = ladder.clone();
    modes.thermal.node.clear();
    modes.sensor.composite_share.clear();
    modes.thermal.mode = [40.0, 140.0].map(|tau_s| super::Mode { tau_s, k_per_w: 6.25 }).to_vec();
    let text = modes.to_toml().expect("it can be written");
    assert!(text.contains("[[thermal.mode]]") && !text.contains("node"), "{text}");
    assert_eq!(Profile::from_toml(&text).as_ref(), Ok(&modes));
    let hot_k = |profile: &Profile| {
        let mut drive = crate::Drive::new(profile, measure::Seed::new(1));
        let read = crate::Transfer::sequential(measure::record::Op::Read, 1 << 30);
        drive.advance_demand(measure::Instant::from_ns(60_000_000_000), &crate::Demand::Transfer(read));
        drive.exact_composite().as_kelvin_f64()
    };
    let (of_ladder, of_modes) = (hot_k(&ladder), hot_k(&modes));
    assert!((of_ladder - of_modes).abs() < 0.01, "{of_ladder} {of_modes}");
    modes.thermal.node.clone_from(&ladder.thermal.node);
    assert!(modes.check().is_err_and(|error| error.to_string().contains("one of the two")));
    modes.thermal.node.clear();
    modes.thermal.mode[1].tau_s = 41.0;
    assert!(modes.check().is_err_and(|error| error.to_string().contains("mode[1].tau_s is 41")));
}
