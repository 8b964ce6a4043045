//! Every sentence about observations and caveats in one place each, so that the voice can be read in one sitting.
//!
//! The instances are examples with plausible numbers; that each kind has one is checked against the source.

use analysis::observation::Observation;
use analysis::wording;
use trace::Caveat;

/// One of each kind of observation, as `findings.json` has them, without braces.
const OBSERVATIONS: &[&str] = &[
    r#""kind":"speed_fell","before_bytes_per_s":3e9,"during_bytes_per_s":2.4e9,"span_s":226.1,"recovered":false"#,
    r#""kind":"speed_fell","before_bytes_per_s":3e9,"during_bytes_per_s":2e8,"span_s":14.4,"recovered":true"#,
    r#""kind":"speed_fell","before_bytes_per_s":6e8,"during_bytes_per_s":1.2e8,"span_s":133,"paused_s":177,"recovered":true"#,
    r#""kind":"began_slow","elsewhere_bytes_per_s":3e9,"during_bytes_per_s":2.4e9,"span_s":226.1,"recovered":false"#,
    r#""kind":"began_slow","elsewhere_bytes_per_s":3e9,"other_run":true,"during_bytes_per_s":2.4e9,"span_s":86,"recovered":false"#,
    r#""kind":"slowed_in_other_run","bytes_per_s":2.4e9,"from_k":353"#,
    r#""kind":"fell_elsewhere","from_k":346,"fast_s":2880,"elsewhere_s":510"#,
    r#""kind":"written_elsewhere","written_bytes":40500000000,"elsewhere_bytes":1030000000000"#,
    r#""kind":"began_throttled","during_bytes_per_s":2.4e9,"span_s":226.1,"recovered":true"#,
    r#""kind":"speed_returned","span_s":14.4,"temp_k":334"#,
    r#""kind":"most_are_not_heat""#,
    r#""kind":"most_are_no_full_cache","written_share":1"#,
    r#""kind":"most_are_no_full_cache","written_share":0.3"#,
    r#""kind":"reading_fills_no_cache""#,
    r#""kind":"at_critical","temp_k":358,"critical_k":358"#,
    r#""kind":"hot","temp_k":353"#,
    r#""kind":"cool","temp_k":318"#,
    r#""kind":"still_temperature""#,
    r#""kind":"no_temperature""#,
    r#""kind":"threshold_disabled","threshold":"tmt1""#,
    r#""kind":"threshold_not_recorded","threshold":"tmt2""#,
    r#""kind":"at_threshold","threshold":"tmt1","temp_k":338,"set_k":338"#,
    r#""kind":"held_below_threshold","threshold":"tmt1","temp_k":337,"set_k":338"#,
    r#""kind":"threshold_below_run","threshold":"tmt1","set_k":273"#,
    r#""kind":"away_from_threshold","threshold":"tmt2","temp_k":353,"set_k":358"#,
    r#""kind":"ran_hotter","full_speed_s":62"#,
    r#""kind":"ran_hotter_elsewhere","to_k":358"#,
    r#""kind":"threshold_moved","moves":1,"first_s":600"#,
    r#""kind":"threshold_moved","moves":2,"first_s":600"#,
    r#""kind":"thresholds_in_turn","low_k":343,"high_k":349"#,
    r#""kind":"stayed_as_hot","temp_k":353,"late_k":353"#,
    r#""kind":"stayed_as_hot","temp_k":353,"late_k":351"#,
    r#""kind":"heated_on","temp_k":339,"late_k":357"#,
    r#""kind":"slow_though_cooled","temp_k":353,"late_k":333"#,
    r#""kind":"held_below_releases","late_k":326,"release_k":349"#,
    r#""kind":"held","temp_k":338,"share":0.31"#,
    r#""kind":"stood","temp_k":341,"span_s":25500"#,
    r#""kind":"fell_slowly","over_s":140"#,
    r#""kind":"sank_already","share":0.024,"from_k":324"#,
    r#""kind":"sank_though_cooled","cooled_k":8"#,
    r#""kind":"came_back","cooled_k":4,"release_k":334"#,
    r#""kind":"fell_from_held","held_k":348,"late_k":326"#,
    r#""kind":"came_back","cooled_k":0.3,"release_k":338"#,
    r#""kind":"counter_moved","threshold":"tmt1""#,
    r#""kind":"counter_still","threshold":"tmt1","has_counted":true"#,
    r#""kind":"counter_still","threshold":"tmt2","has_counted":false"#,
    r#""kind":"not_counted_meanwhile","threshold":"tmt1","span_s":60"#,
    r#""kind":"written_of_stated","written_bytes":107374182400,"stated_bytes":107374182400,"within_cache":false"#,
    r#""kind":"written_of_stated","written_bytes":107374182400,"stated_bytes":107374182400,"within_cache":true"#,
    r#""kind":"little_written","written_bytes":524288000"#,
    r#""kind":"same_amount","written_bytes":189137592320,"apart_k":9"#,
    r#""kind":"other_amount","written_bytes":95073064227,"drops":3"#,
    r#""kind":"written_at_once","written_bytes":294633570000,"at_once_bytes":2140000000000"#,
    r#""kind":"beyond_any_cache","written_bytes":751619276800,"capacity_bytes":1000204886016"#,
    r#""kind":"beyond_any_cache","written_bytes":2420000000000,"capacity_bytes":null"#,
    r#""kind":"cache_filled_before""#,
    r#""kind":"back_while_writing""#,
    r#""kind":"stopped","span_s":18.4"#,
    r#""kind":"paused","span_s":58.0"#,
    r#""kind":"one_rose","op":"read","from_bytes_per_s":4.2e8,"to_bytes_per_s":8.3e8"#,
    r#""kind":"writing_stayed_slow","share":0.03,"written_bytes":107374182400"#,
    r#""kind":"heat_or_cache""#,
    r#""kind":"fell_once""#,
    r#""kind":"through_page_cache""#,
    r#""kind":"lasted","span_s":226"#,
    r#""kind":"little_lost""#,
    r#""kind":"within_noise","varies":0.14"#,
    r#""kind":"power_state_changed","before":0,"after":3"#,
    r#""kind":"fell_from_anything","drops":40,"low_bytes_per_s":2.5e6,"high_bytes_per_s":6.4e7"#,
    r#""kind":"left_anything","drops":13,"low_bytes_per_s":2.9e9,"high_bytes_per_s":3.9e9"#,
    r#""kind":"barely_warm","above_k":1"#,
    r#""kind":"otherwise_explained","probability":0.2,"than":"heat""#,
    r#""kind":"otherwise_explained","probability":0,"than":"neither""#,
    r#""kind":"as_soon_from_cool","first_s":47,"usual_s":47,"cooler_k":3"#,
    r#""kind":"bursts_after_rest","length_s":47,"rest_s":169"#,
    r#""kind":"by_chance","stay_s_per_k":4.5,"every_s":870"#,
    r#""kind":"crept","stay_s_per_k":62"#,
    r#""kind":"began_alike","drops":0,"temp_k":338"#,
    r#""kind":"began_alike","drops":12,"temp_k":338"#,
    r#""kind":"began_alike","drops":12,"within":5,"temp_k":338"#,
    r#""kind":"began_alike","drops":0,"within":1,"temp_k":338"#,
    r#""kind":"fell_otherwise","drops":12,"thermal":3,"temp_k":338"#,
    r#""kind":"fell_otherwise","drops":1,"thermal":0,"temp_k":338"#,
    r#""kind":"hotter_while_throttled","by_k":8"#,
    r#""kind":"further_within","by_k":5"#,
    r#""kind":"same_speed_left","drops":0,"thermal":0"#,
    r#""kind":"same_speed_left","drops":1,"thermal":0"#,
    r#""kind":"same_speed_left","drops":9,"thermal":9"#,
    r#""kind":"same_speed_left","drops":0,"within":3,"thermal":3"#,
    r#""kind":"as_slow_as_before","paused_s":330"#,
    r#""kind":"looks_alike","drops":13,"thermal":12"#,
    r#""kind":"looks_alike","drops":13,"thermal":0"#,
    r#""kind":"looks_alike","drops":13,"within":4,"thermal":16"#,
    r#""kind":"looks_alike","drops":1,"thermal":0"#,
    r#""kind":"scheduled","speeds":5,"period_s":60"#,
    r#""kind":"clockwork","times":9,"period_s":60,"between_k":[318,333]"#,
    r#""kind":"kept_time","times":40,"period_s":30.0"#,
    r#""kind":"irregular","gap_s":117,"usual_s":302"#,
    r#""kind":"recurs","times":9,"period_s":60,"between_k":[318,333]"#,
    r#""kind":"recurs","times":9,"period_s":null,"between_k":null"#,
];

/// One of each kind of caveat.
const CAVEATS: &[&str] = &[
    r#""kind":"above_link_rate","span_s":3,"of_s":300,"lasting":false,"fastest_bytes_per_s":4.2e9,"link_bytes_per_s":3.938e9"#,
    r#""kind":"above_link_rate","span_s":280,"of_s":300,"lasting":true,"fastest_bytes_per_s":4.2e9,"link_bytes_per_s":3.938e9"#,
    r#""kind":"ambient_above_drive","ambient_k":333,"coolest_k":308"#,
    r#""kind":"ambient_unknown""#,
    r#""kind":"at_link_rate","span_s":300,"bytes_per_s":3.5e9,"link_bytes_per_s":3.938e9,"all_of_it":false"#,
    r#""kind":"at_link_rate","span_s":300,"bytes_per_s":3.9e9,"link_bytes_per_s":3.938e9,"all_of_it":true"#,
    r#""kind":"at_link_rate","span_s":300,"bytes_per_s":4.3e8,"link_bytes_per_s":5e8,"all_of_it":false,"possible_bytes_per_s":1.212e9"#,
    r#""kind":"averaged","interval_s":60"#,
    r#""kind":"averaged","interval_s":60,"longest_interval_s":885"#,
    r#""kind":"clock","case":"overlap","intervals":3"#,
    r#""kind":"clock","case":"jobs_in_one_file","file":"x_bw.log","times":1,"first_line":300"#,
    r#""kind":"clock","case":"job_starts","logs":"a_bw.1.log, b_bw.1.log""#,
    r#""kind":"clock","case":"same_time","readings":4"#,
    r#""kind":"clock","case":"file_times""#,
    r#""kind":"clock","case":"dates_in_names""#,
    r#""kind":"clock","case":"rows_left_out","rows":2"#,
    r#""kind":"clock","case":"rows_left_out","rows":1"#,
    r#""kind":"clock","case":"daylight_saving","file":"hwinfo.csv","after":"2026-10-25 02:59:59","is_back":true"#,
    r#""kind":"clock","case":"daylight_saving","file":"hwinfo.csv","after":"2026-03-29 01:59:59","is_back":false"#,
    r#""kind":"clock","case":"set_back","file":"iostat.txt","after":"2026-11-05 10:00:49","by_s":38,"more":0,"step_s":1"#,
    r#""kind":"clock","case":"set_back","file":"iostat.txt","after":"2026-11-05 10:00:49","by_s":38,"more":2,"step_s":1"#,
    r#""kind":"clock","case":"older_rows","file":"iostat.txt","first_row":101"#,
    r#""kind":"clock_drift","over_s":3600,"by_s":12,"scatter_s":2"#,
    r#""kind":"clock_offset_estimated","lead":"x_bw.log","part":"smart.json","offset_s":-4.5,"uncertainty_s":1.5,"explained":0.92"#,
    r#""kind":"clock_step","after_s":600,"before_s":660,"by_s":-12,"scatter_s":2,"cyclic":true,"set":"temperature""#,
    r#""kind":"clock_step","after_s":600,"before_s":660,"by_s":9,"scatter_s":2,"cyclic":false,"set":null"#,
    r#""kind":"copied_sensor","sensors":["sensor1","sensor2"]"#,
    r#""kind":"counters_without_heat","case":"still_composite","threshold":"tmt1","moved":4,"composite_k":310"#,
    r#""kind":"counters_without_heat","case":"far_below","threshold":"tmt2","moved":4,"below_k":15"#,
    r#""kind":"counters_without_slowdown","threshold":"tmt1","transitions":4,"seconds":90"#,
    r#""kind":"counters_without_slowdown","threshold":"tmt2","transitions":1,"seconds":null"#,
    r#""kind":"cyclostationary","case":"heat","period_s":37"#,
    r#""kind":"cyclostationary","case":"dips","period_s":60,"round_s":[30,120],"steady_share":[0.1,0.9]"#,
    r#""kind":"damaged","case":"table","file":"telemetry.parquet""#,
    r#""kind":"damaged","case":"rest","file":"io.arrow","bytes":4096,"after_s":59.2,"why":"checksum""#,
    r#""kind":"damaged","case":"manifest""#,
    r#""kind":"damaged","case":"phases","intervals":12"#,
    r#""kind":"duplicated","file":"log.csv","rows":10,"first_line":88"#,
    r#""kind":"faster_in_other_run","op":"read","bytes_per_s":2.54e9"#,
    r#""kind":"faster_in_other_run","op":"write","bytes_per_s":2.54e9"#,
    r#""kind":"frozen_sensor","case":"beside_others","sensor":"sensor1""#,
    r#""kind":"frozen_sensor","case":"whole_run","temp_k":310"#,
    r#""kind":"frozen_sensor","case":"stopped","sensor":"composite","temp_k":330,"from_s":100,"to_s":400,"other":"sensor2","other_moved_k":9"#,
    r#""kind":"gap","case":"speed","holes":1,"missing_s":4.2"#,
    r#""kind":"transport_reset","start_s":300.0,"stopped_s":31.0"#,
    r#""kind":"transport_reset","start_s":300.0,"stopped_s":4.0,"log":"sd 0:0:0:0: [sda] tag#12 uas_eh_abort_handler 0 uas-tag 1 inflight: CMD IN""#,
    r#""kind":"transport_reset","start_s":300.0,"stopped_s":0.0,"log":"usb 2-2: reset SuperSpeed Plus Gen 2x1 USB device number 2 using xhci_hcd""#,
    r#""kind":"transport_lost","at_s":312.0,"log":"usb 2-2: USB disconnect, device number 2""#,
    r#""kind":"gap","case":"temperature","holes":3,"missing_s":11,"reason":"ioctl: timed out""#,
    r#""kind":"gap","case":"counter_reset","resets":1"#,
    r#""kind":"io_errors","case":"some","failed":7"#,
    r#""kind":"io_errors","case":"job","job":"randread","error":5"#,
    r#""kind":"mechanism_undetermined","seen":"one_step""#,
    r#""kind":"mechanism_undetermined","seen":"several_runs""#,
    r#""kind":"no_temperature","outside_load":false"#,
    r#""kind":"no_temperature","outside_load":true"#,
    r#""kind":"no_temperature","outside_load":false,"counted":true"#,
    r#""kind":"no_temperature","outside_load":true,"counted":true"#,
    r#""kind":"runs_disagree","run":"contra.csv","free_k":359,"threshold_k":348"#,
    r#""kind":"same_record","runs":3,"records":1"#,
    r#""kind":"same_record","runs":3,"records":2"#,
    r#""kind":"same_record","runs":3,"records":1,"exact":false"#,
    r#""kind":"same_record","runs":3,"records":2,"exact":false"#,
    r#""kind":"slower_power_state","op":"write","power_state":6,"bytes_per_s":2.26e9,"faster_power_state":3,"faster_bytes_per_s":5.45e9"#,
    r#""kind":"not_hot_enough","runs":1,"hottest_k":336"#,
    r#""kind":"not_hot_enough","runs":1,"hottest_k":336,"governed":true"#,
    r#""kind":"not_hot_enough","runs":3,"hottest_k":336"#,
    r#""kind":"not_seen","values":[{"value":"onset"},{"value":"release"},{"value":"lightest_onset"},{"value":"lightest_release"},{"value":"slc_bytes","written_bytes":4.8e11,"over_stated":false},{"value":"heating","op":"read","moved":false}]"#,
    r#""kind":"other_jobs","first":"x_bw.2.log","last":"x_bw.4.log""#,
    r#""kind":"page_cache","phases":["buffered write"]"#,
    r#""kind":"policy_undetermined","seen":"no_load""#,
    r#""kind":"policy_undetermined","seen":"counted_without_load""#,
    r#""kind":"policy_undetermined","seen":"still_temperature""#,
    r#""kind":"policy_undetermined","seen":"between_rows""#,
    r#""kind":"policy_undetermined","seen":"only_hot""#,
    r#""kind":"policy_undetermined","seen":"ended_alike""#,
    r#""kind":"policy_undetermined","seen":"clipped""#,
    r#""kind":"policy_undetermined","seen":"no_temperature""#,
    r#""kind":"policy_undetermined","seen":"load_unread""#,
    r#""kind":"policy_undetermined","seen":"short_load""#,
    r#""kind":"policy_undetermined","seen":"unexplained""#,
    r#""kind":"policy_undetermined","seen":"heat_or_cache""#,
    r#""kind":"policy_undetermined","seen":"irregular""#,
    r#""kind":"policy_undetermined","seen":"following""#,
    r#""kind":"release_not_seen""#,
    r#""kind":"simulated""#,
    r#""kind":"slowdown_without_counters","why":"own_threshold""#,
    r#""kind":"slowdown_without_counters","why":"counted_before""#,
    r#""kind":"slowdown_without_counters","why":"never_counted""#,
    r#""kind":"sensor_spikes","readings":1,"by_k":20"#,
    r#""kind":"sensor_spikes","readings":12,"by_k":20"#,
    r#""kind":"slow_temperature","period_s":604800"#,
    r#""kind":"slow_temperature","period_s":60"#,
    r#""kind":"sum_differs","case":"fio","op":"read","logged_bytes":9e9,"reported_bytes":1e10"#,
    r#""kind":"sum_differs","case":"iometer","file":"r.csv","line":14,"workers_mb":900,"total_mb":1000"#,
    r#""kind":"thermal_not_identified","case":"few_temperatures""#,
    r#""kind":"thermal_not_identified","case":"rare_temperatures","every_s":300,"longest_s":7200"#,
    r#""kind":"thermal_not_identified","case":"load_unread","share":0.4"#,
    r#""kind":"thermal_not_identified","case":"short_run""#,
    r#""kind":"thermal_not_identified","case":"even_temperature""#,
    r#""kind":"thermal_not_identified","case":"model_off","rms_k":3.2"#,
    r#""kind":"thermal_not_identified","case":"warmer_at_rest","floor_k":342.15,"coolest_k":312.15"#,
    r#""kind":"thermal_not_identified","case":"several_models""#,
    r#""kind":"thermal_not_identified","case":"time_constants""#,
    r#""kind":"threshold_undetermined","settings":"unknown""#,
    r#""kind":"threshold_undetermined","settings":"changed_together""#,
    r#""kind":"threshold_undetermined","settings":"too_few""#,
    r#""kind":"threshold_undetermined","settings":"all_alike""#,
    r#""kind":"too_short","longest_s":30"#,
    r#""kind":"truncated","file":null,"line":300,"left_out":"last_line""#,
    r#""kind":"truncated","file":"x.log","line":300,"left_out":"last_status""#,
    r#""kind":"unfinished","why":"its end is missing""#,
    r#""kind":"unit_unstated","file":"r.csv","tests":2"#,
    r#""kind":"whole_kelvin""#,
    r#""kind":"whole_kelvin","step_k":5.0"#,
];

/// Each example with its kind; one that does not read is a mistake here.
fn voice<T: serde::de::DeserializeOwned>(examples: &[&str], say: impl Fn(&T) -> String) -> String {
    let line = |example: &&str| {
        let json = format!("{{{example}}}");
        let one: T = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{json}: {error}"));
        say(&one)
    };
    examples.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The variants of an enum in snake case, read off its source.
fn variants(source: &str, name: &str) -> Vec<String> {
    let body =
        source.split(&format!("pub enum {name} {{\n")).nth(1).and_then(|rest| rest.split("\n}").next());
    let names = body.expect("the enum").lines().filter_map(|line| line.strip_prefix("    "));
    let names = names.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    let snake = |line: &str| {
        let word: String = line.chars().take_while(char::is_ascii_alphanumeric).collect();
        let mut out = String::new();
        for c in word.chars() {
            if c.is_ascii_uppercase() && !out.is_empty() {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        }
        out
    };
    names.map(snake).collect()
}

#[test]
fn every_kind_has_its_sentence_here() {
    for (source, name, examples) in [
        (include_str!("../src/observation.rs"), "Observation", OBSERVATIONS),
        (include_str!("../../trace/src/caveat.rs"), "Caveat", CAVEATS),
    ] {
        for kind in variants(source, name) {
            let mark = format!("\"kind\":\"{kind}\"");
            assert!(examples.iter().any(|example| example.contains(&mark)), "{name} {kind} has no example");
        }
    }
}

#[test]
fn the_voice_of_observations() {
    insta::assert_snapshot!(voice::<Observation>(OBSERVATIONS, wording::observation));
}

#[test]
fn the_voice_of_caveats() {
    insta::assert_snapshot!(voice::<Caveat>(CAVEATS, wording::caveat));
}

/// Goal: no riddles. Method: words that the guide takes back, looked for in all sentences.
#[test]
fn no_sentence_uses_a_word_that_the_field_does_not() {
    let all =
        voice::<Observation>(OBSERVATIONS, wording::observation) + &voice::<Caveat>(CAVEATS, wording::caveat);
    for word in [
        "gave way",
        "lets go",
        "stood still",
        "blamed",
        "cleared",
        "upkeep",
        "bit by bit",
        "housekeeping",
        "nobody",
        "to and fro",
    ] {
        assert!(!all.contains(word), "{word:?} is in\n{all}");
    }
}
