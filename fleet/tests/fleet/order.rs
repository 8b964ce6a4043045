//! The order of files, how they are cut, threads, duplicates and late rows change nothing: the same bytes.

use std::fs;

use crate::support::{Folder, number};

const TABLES: [&str; 3] = ["drives.parquet", "cells.parquet", "thresholds.parquet"];

fn tables(folder: &Folder, scan: &str) -> Vec<Vec<u8>> {
    TABLES.iter().map(|table| folder.bytes(&format!("{scan}/{table}"))).collect()
}

#[test]
fn files_by_drive_and_by_time_threads_and_memory_give_the_same_bytes() {
    let folder = Folder::new();
    let fleet = "--drives 240 --every 60s --span 6h --hot 0.1 --seed 11";
    folder.run(&format!("gen --out drive {fleet} --files 3")).good();
    folder.run(&format!("gen --out time {fleet} --order time --files 7")).good();
    folder.run(&format!("gen --out csv {fleet} --order time --files 2 --format csv")).good();
    folder.run("scan drive/rows --out one --threads 1").good();
    let expected = tables(&folder, "one");
    for (number, line) in [
        "scan drive/rows --threads 3",
        "scan time/rows --threads 1",
        "scan time/rows --threads 2",
        "scan time/rows --threads 7",
        // Half of the files of either cut, each drive and time in both: sorted, in little memory.
        "scan time/rows --threads 5 --memory 64MiB",
    ]
    .iter()
    .enumerate()
    {
        folder.run(&format!("{line} --out scan{number}")).good();
        assert!(tables(&folder, &format!("scan{number}")) == expected, "{line}");
    }
    // CSV does not say that it is simulated, which stands in the tables; the drives are the same.
    folder.run("scan csv/rows --out csv-scan").good();
    assert!(folder.table("csv-scan/drives.parquet") == folder.table("one/drives.parquet"), "CSV");
}

#[test]
fn files_in_another_order_are_sorted_where_they_must_be() {
    let folder = Folder::new();
    folder
        .run("gen --out time --drives 120 --every 60s --span 3h --hot 0.2 --seed 12 --order time --files 30")
        .good();
    folder.run("scan time/rows --out good --cadence 60s").good();
    fs::create_dir(folder.path("mixed")).expect("a folder");
    for number in 0..30 {
        // 11 is prime to 30: each file is somewhere else, and a state has not stretches enough.
        let to = format!("mixed/rows-{:05}.parquet", number * 11 % 30);
        fs::copy(folder.path(&format!("time/rows/rows-{number:05}.parquet")), folder.path(&to))
            .expect("a copy");
    }
    for threads in [4, 1] {
        folder.run(&format!("scan mixed --out mixed-scan --cadence 60s --threads {threads}")).good();
        assert!(tables(&folder, "mixed-scan") == tables(&folder, "good"), "{threads} threads");
    }
    let sorted = folder.json("mixed-scan/findings.json")["drives_sorted"].as_u64();
    assert!(sorted > Some(100), "one thread had to sort: {sorted:?}");
}

#[test]
fn rows_that_come_twice_count_once() {
    let folder = Folder::new();
    folder.run("gen --out fleet --drives 96 --every 60s --span 2h --hot 0.3 --seed 13 --files 2").good();
    folder.run("scan fleet/rows --out once").good();
    fs::create_dir(folder.path("fleet/more")).expect("a folder");
    fs::copy(folder.path("fleet/rows/rows-00001.parquet"), folder.path("fleet/more/a.parquet"))
        .expect("a copy");
    folder.run("scan fleet/rows fleet/more --out twice --threads 1").good();
    folder.run("scan fleet/more fleet/rows --out other --threads 4").good();
    assert!(tables(&folder, "twice") == tables(&folder, "other"), "whatever the order");
    let (once, twice) = (folder.table("once/drives.parquet"), folder.table("twice/drives.parquet"));
    assert_eq!(once.len(), twice.len());
    for (once, mut twice) in once.into_iter().zip(twice) {
        let doubled = number(&twice, "duplicates") - number(&once, "duplicates");
        assert!(
            doubled == 0.0 || doubled == number(&once, "rows") + number(&once, "duplicates"),
            "{doubled}"
        );
        twice.insert("duplicates".into(), once["duplicates"].clone());
        assert_eq!(once, twice);
    }
}

#[test]
fn one_drive_with_most_of_the_rows_is_one_drive() {
    let folder = Folder::new();
    folder.run("gen --out one --drives 1 --every 1s --span 5d --hot 1 --seed 2 --files 1").good();
    folder.run("scan one/rows --out scan").good();
    let drives = folder.table("scan/drives.parquet");
    assert_eq!(drives.iter().map(|row| number(row, "rows")).sum::<f64>(), 432_000.0);
    folder.run("scan one/rows --out scan1 --threads 1").good();
    assert!(tables(&folder, "scan") == tables(&folder, "scan1"));
}
