//! `heatsoak plans`, `heatsoak profiles` and `heatsoak list`.

use crate::support::Scratch;

/// Goal: what is printed is a plan, and a profile, in the format that is read.
#[test]
fn every_built_in_is_listed_and_prints_as_toml() {
    let scratch = Scratch::new();
    for (command, one) in [("plans", "hctm-read"), ("profiles", "ssd1")] {
        let all = scratch.run(&[command]);
        assert_eq!((all.code, all.stderr.as_str()), (Some(0), ""));
        let names: Vec<_> = all
            .stdout
            .lines()
            .skip(1)
            // A description goes on in indented lines.
            .filter(|line| !line.starts_with(' '))
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert!(names.contains(&one), "{one} is not in {names:?}");
        for name in names {
            let done = scratch.run(&[command, name]);
            assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""), "{command} {name}");
            let table: toml::Table = done.stdout.parse().expect("TOML");
            assert!(!table.is_empty(), "{command} {name}");
        }
    }
}

#[test]
fn an_unknown_name_is_told_with_the_nearest() {
    let scratch = Scratch::new();
    for (command, wrong, right) in [("plans", "hctm-raed", "hctm-read"), ("profiles", "sdd1", "ssd1")] {
        let done = scratch.run(&[command, wrong]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
        assert!(
            done.stderr.starts_with("error: ") && done.stderr.contains("did you mean"),
            "{}",
            done.stderr
        );
        assert!(done.stderr.contains(wrong) && done.stderr.contains(right), "{}", done.stderr);
    }
}

/// Goal: the list names the forms of an address that need no hardware, on any machine.
#[test]
fn the_list_is_one_json_document() {
    let done = Scratch::new().run(&["list", "--json"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let listing: serde_json::Value = serde_json::from_str(&done.stdout).expect("one JSON document");
    let forms: Vec<_> =
        listing["addresses"].as_array().expect("a list").iter().map(|a| a["form"].clone()).collect();
    assert!(forms.contains(&"twin:NAME".into()) && forms.contains(&"null:".into()), "{forms:?}");
    for drive in listing["drives"].as_array().expect("a list") {
        assert!(drive["address"].as_str().is_some_and(|address| address.starts_with("/dev/")), "{drive}");
        assert!(drive["size_bytes"].as_u64().is_some_and(|size| size > 0), "{drive}");
    }
}
