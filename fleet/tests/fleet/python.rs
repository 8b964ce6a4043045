//! The kernel in other engines: the examples of docs/FLEET.md as they stand there give the drives of `scan`.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{Folder, text};

/// Blocks of Python that begin with this line.
fn documented(first_line: &str) -> String {
    let document = include_str!("../../../docs/FLEET.md");
    let begin = format!("```python\n{first_line}\n");
    let (_, rest) = document.split_once(&begin).expect("the example is in the document");
    rest.split_once("```").expect("a fence").0.to_owned()
}

/// `heatsoak` of the main workspace, where it was built.
fn heatsoak() -> Option<PathBuf> {
    let own = PathBuf::from(env!("CARGO_BIN_EXE_heatsoak-fleet"));
    let profile = own.parent()?.file_name()?;
    let beside = own.ancestors().nth(3)?.join(profile).join("heatsoak");
    beside.is_file().then_some(beside)
}

#[test]
fn polars_and_duckdb_give_the_drives_of_a_scan() {
    // Without them the test says so and passes: neither is part of this build.
    let (Some(python), Some(heatsoak)) = (std::env::var_os("HEATSOAK_PYTHON"), heatsoak()) else {
        println!(
            "left out: no HEATSOAK_PYTHON with duckdb and polars, or the main workspace has built no heatsoak"
        );
        return;
    };
    let folder = Folder::new();
    folder.run("gen --out fleet --drives 240 --every 60s --span 12h --hot 0.2 --seed 32 --files 3").good();
    folder.run("scan fleet/rows --out scan --cadence 60s").good();
    for engine in ["# Polars, states", "# DuckDB, states"] {
        let script = documented(engine)
            + "\nimport pyarrow.parquet\nexpected = pyarrow.parquet.read_table('scan/drives.parquet').cast(drives.schema)\n\
               assert len(drives) > 240 and drives == expected, (drives.num_rows, expected.num_rows)\n\
               pyarrow.parquet.write_table(pyarrow.table(merged), 'states.parquet')\n";
        let output = Command::new(&python)
            .args(["-W", "ignore", "-c", &script])
            .current_dir(folder.path(""))
            .env("HEATSOAK", &heatsoak)
            .env("PYTHONPATH", concat!(env!("CARGO_MANIFEST_DIR"), "/../python"))
            .output()
            .expect("Python starts");
        assert!(output.status.success(), "{engine}: {}", String::from_utf8_lossy(&output.stderr));
        // And the states of any engine to the tables of a scan.
        folder.run("merge states.parquet --out merged").good();
        assert!(folder.table("merged/drives.parquet") == folder.table("scan/drives.parquet"), "{engine}");
    }
}

#[test]
fn parts_scanned_apart_merge_into_the_bytes_of_one_scan() {
    let folder = Folder::new();
    let fleet = "--drives 240 --every 60s --span 6h --hot 0.1 --seed 33";
    folder.run(&format!("gen --out fleet {fleet} --order time --files 6")).good();
    folder.run("scan fleet/rows --out whole --cadence 60s").good();
    let mut parts = Vec::new();
    for file in [3, 0, 5, 1, 4, 2] {
        let part = format!("part{file}.parquet");
        folder.run(&format!("scan fleet/rows/rows-{file:05}.parquet --states {part} --cadence 60s")).good();
        parts.push(part);
    }
    folder.run(&format!("merge {} --out merged", parts.join(" "))).good();
    for table in ["drives.parquet", "cells.parquet", "thresholds.parquet"] {
        assert!(
            folder.bytes(&format!("merged/{table}")) == folder.bytes(&format!("whole/{table}")),
            "{table}"
        );
    }
    assert_eq!(folder.json("merged/findings.json")["simulated"], true);

    // Rows of a part come again in another one: there is nothing to sort them from.
    let two = "fleet/rows/rows-00001.parquet fleet/rows/rows-00002.parquet";
    folder.run(&format!("scan {two} --states both.parquet --cadence 60s")).good();
    let said = folder.run("merge part2.parquet both.parquet --out overlap").good();
    assert!(said.contains("drives are not known: their rows overlap in time"), "{said}");
    let drives = folder.table("overlap/drives.parquet");
    assert!(drives.iter().all(|drive| text(drive, "verdict_reason").contains("overlap in time")));

    folder.run("scan fleet/rows/rows-00001.parquet --states other.parquet --cadence 30s").good();
    let done = folder.run("merge part0.parquet other.parquet --out nothing");
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("one --cadence"), "{}", done.stderr);
    let done = folder.run("merge whole/drives.parquet --out nothing");
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("no states of heatsoak fleet"), "{}", done.stderr);
    assert!(!folder.path("nothing").exists(), "nothing half-written");
}
