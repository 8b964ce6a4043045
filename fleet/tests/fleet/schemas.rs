//! Schemas that are known by themselves, and those that a map makes known.

use crate::support::{Folder, number, text};

fn scan(folder: &Folder, line: &str) -> serde_json::Value {
    folder.run(&format!("scan {line} --out scan")).good();
    folder.json("scan/findings.json")
}

#[test]
fn backblaze_is_read_over_quarters_with_other_columns_and_throttling_is_not_known() {
    let folder = Folder::new();
    let old = "date,serial_number,model,capacity_bytes,failure,smart_9_raw,smart_194_raw";
    let new = "date,serial_number,model,capacity_bytes,failure,datacenter,cluster_id,vault_id,pod_id,pod_slot_num,is_legacy_format,smart_9_normalized,smart_9_raw,smart_194_raw";
    for day in 1..4 {
        folder.write(
            &format!("rows/2022-12-{day:02}.csv"),
            &format!("{old}\n2022-12-{day:02},ZA1,Seagate BarraCuda SSD,250059350016,0,{},31\n", day * 24),
        );
        folder.write(
            &format!("rows/2023-01-{day:02}.csv"),
            &format!("{new}\n2023-01-{day:02},ZA1,Seagate BarraCuda SSD,250059350016,0,phx1,0,1,7,3,False,100,{},\n", 744 + day * 24),
        );
    }
    let findings = scan(&folder, "rows");
    assert_eq!(findings["schemas"], serde_json::json!(["Backblaze Drive Stats"]));
    assert_eq!(
        (findings["cadence_ms"].as_i64(), findings["cadence"].as_str()),
        (Some(86_400_000), Some("day"))
    );
    assert_eq!((findings["drives"].as_u64(), findings["not_known"].as_u64()), (Some(1), Some(1)));
    assert!(
        findings["caveats"][0].as_str().is_some_and(|text| text.contains("no throttle counter")),
        "{findings}"
    );
    let drives = folder.table("scan/drives.parquet");
    assert_eq!(drives.len(), 2, "it got a place in the second quarter");
    assert_eq!(text(&drives[1], "slot"), "3");
}

#[test]
fn alibaba_and_telegraf_are_known() {
    let folder = Folder::new();
    folder.write(
        "ali/a.csv",
        "disk_id,ds,model,n_194,r_194,r_9\n1,20180103,MA1,60,33,100\n1,2018-01-04,MA1,60,34,124\n",
    );
    let findings = scan(&folder, "ali");
    assert_eq!(findings["schemas"][0], "Alibaba ssd_open_data");
    assert_eq!(number(&folder.table("scan/drives.parquet")[0], "temp_mean_c"), 33.5);
    folder.write(
        "tg/a.csv",
        "time,host,device,serial_no,model,temp_c,warning_temperature_time,critical_temperature_time\n\
         2026-01-01T00:00:00Z,h1,nvme0,S1,M,50,3,0\n2026-01-01T00:01:00Z,h1,nvme0,S1,M,80,4,0\n",
    );
    let findings = scan(&folder, "tg");
    assert_eq!(findings["schemas"][0], "telegraf smart_device");
    assert_eq!(number(&folder.table("scan/drives.parquet")[0], "warn_min"), 1.0);
}

/// Goal: values of one scrape come together, and a drive that was swapped under its device name is two drives.
#[test]
fn long_rows_join_by_scrape_and_follow_a_swap() {
    let folder = Folder::new();
    let mut rows = String::from("timestamp,metric,value,instance,device,serial,model,firmware\n");
    for scrape in 0..6i64 {
        let t = 1_767_225_600_000 + scrape * 60_000;
        let serial = if scrape < 3 { "OLD" } else { "NEW" };
        rows += &format!("{t},nvme_device_info,1,h1:9100,nvme0n1,{serial},M,F\n");
        rows += &format!("{},nvme_temperature,{},h1:9100,nvme0n1,,,\n", t + 12, 60 + scrape);
        rows += &format!(
            "{},nvme_thm_temp1_trans_time,{},h1:9100,nvme0n1,,,\n",
            t + 15,
            1000 * i64::from(scrape < 3) + scrape * 5
        );
    }
    folder.write("rows/a.csv", &rows);
    let findings = scan(&folder, "rows");
    assert_eq!(findings["schemas"][0], "nvme exporter, long rows");
    let drives = folder.table("scan/drives.parquet");
    let seen: Vec<(String, f64, f64)> =
        drives.iter().map(|row| (text(row, "serial"), number(row, "tmt1_s"), number(row, "rows"))).collect();
    assert_eq!(seen, [("NEW".into(), 10.0, 3.0), ("OLD".into(), 10.0, 3.0)]);
}

/// Goal: of several temperatures under one name only the current one is taken.
#[test]
fn long_rows_of_smartctl_exporter_have_the_current_temperature() {
    let folder = Folder::new();
    let mut rows = String::from(
        "timestamp,metric,value,instance,device,serial_number,model_name,firmware_version,temperature_type\n",
    );
    for scrape in 0..4i64 {
        let t = 1_767_225_600_000 + scrape * 60_000;
        rows += &format!("{t},smartctl_device,1,h1:9633,nvme0,S1,M,F,\n");
        for (kind, value) in [("current", 40 + scrape), ("drive_trip", 70), ("lifetime_max", 91)] {
            rows += &format!("{},smartctl_device_temperature,{value},h1:9633,nvme0,,,,{kind}\n", t + 3);
        }
    }
    folder.write("rows/a.csv", &rows);
    let findings = scan(&folder, "rows");
    assert_eq!(findings["schemas"][0], "smartctl_exporter, long rows");
    let drives = folder.table("scan/drives.parquet");
    assert_eq!((drives.len(), text(&drives[0], "serial")), (1, "S1".into()));
    assert_eq!(number(&drives[0], "temp_highest_reading_c"), 43.0);
    assert_eq!(text(&drives[0], "verdict"), "not_known");
}

#[test]
fn a_map_makes_any_table_known_and_slips_in_it_are_told() {
    let folder = Folder::new();
    folder.write(
        "rows/a.csv",
        "when,sn,kelvin,heavy\n1767225600,D1,333,0\n1767225660,D1,343,30\n1767225720,D1,340,55\n",
    );
    folder.write(
        "map.toml",
        "drive = [\"sn\"]\ntime = { column = \"when\", unit = \"s\" }\ntemp = { column = \"kelvin\", unit = \"K\" }\n\
         counters = { tmt2_s = \"heavy\", tmt1_s = \"ligth\" }\n",
    );
    let check = folder.run("check rows --map map.toml").good();
    assert!(check.contains("ligth (not in these files)"), "{check}");
    assert!(check.contains("every 60 s"), "{check}");
    let findings = scan(&folder, "rows --map map.toml");
    assert!(findings["caveats"].to_string().contains("ligth"), "{findings}");
    let drives = folder.table("scan/drives.parquet");
    assert_eq!(number(&drives[0], "tmt2_s"), 55.0);
    assert_eq!(number(&drives[0], "temp_highest_reading_c"), 70.0);
    let sql = folder
        .run_words(&[
            "sql",
            "SELECT serial, max(temp_mc) AS hottest FROM rows GROUP BY serial",
            "rows",
            "--map",
            "map.toml",
        ])
        .good();
    assert!(sql.contains("D1") && sql.contains("70000"), "{sql}");
    let refused = folder.run_words(&["sql", "CREATE TABLE x AS SELECT 1", "rows", "--map", "map.toml"]);
    assert_eq!(refused.code, Some(2));
    folder.write("map.toml", "drive = [\"device\"]\ntime = { column = \"when\", unit = \"s\" }\n");
    let done = folder.run("scan rows --map map.toml --out x");
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("device name"), "{}", done.stderr);
}

#[test]
fn partitions_of_a_path_are_columns() {
    let folder = Folder::new();
    for (host, temp) in [("h1", 40), ("h2", 50)] {
        folder.write(
            &format!("rows/rack={host}/a.csv"),
            &format!("t,sn,c\n1767225600,S-{host},{temp}\n1767225660,S-{host},{temp}\n"),
        );
    }
    folder.write(
        "map.toml",
        "drive = [\"sn\"]\ntime = { column = \"t\", unit = \"s\" }\ntemp = { column = \"c\", unit = \"C\" }\ncell = { host = \"rack\" }\n",
    );
    scan(&folder, "rows --map map.toml");
    let hosts: Vec<String> =
        folder.table("scan/drives.parquet").iter().map(|row| text(row, "host")).collect();
    assert_eq!(hosts, ["h1", "h2"]);
}
