//! Rows in a bucket: a small server of ours speaks as much of S3 as listing and reading take.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::support::Folder;

type Objects = BTreeMap<String, Vec<u8>>;

/// Serves a bucket called `fleet` at a port of its own, as long as the test runs.
fn serve(objects: Objects) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its number");
    let objects = Arc::new(objects);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let objects = Arc::clone(&objects);
            thread::spawn(move || answer(stream, &objects));
        }
    });
    format!("http://{address}")
}

fn answer(stream: TcpStream, objects: &Objects) {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let Some(request) = lines.first() else { return };
    let (method, target) = request.split_once(' ').expect("a request");
    let target = target.split(' ').next().unwrap_or_default().replace("%3D", "=").replace("%2F", "/");
    let range =
        lines.iter().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
    let (status, facts, body) = match target.strip_prefix("/fleet").unwrap_or(&target) {
        list if list.starts_with('?') => ("200 OK", String::new(), listed(list, objects)),
        key => match objects.get(key.trim_start_matches('/')) {
            None => ("404 Not Found", String::new(), b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
            Some(bytes) => part(bytes, range.as_deref()),
        },
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: \"1\"\r\n{facts}Connection: close\r\n\r\n"
    );
    let mut stream = stream;
    let _ = stream.write_all(head.as_bytes());
    if method != "HEAD" {
        let _ = stream.write_all(&body);
    }
}

fn part(bytes: &[u8], range: Option<&str>) -> (&'static str, String, Vec<u8>) {
    let Some((from, to)) = range.and_then(|range| range.split_once('-')) else {
        return ("200 OK", String::new(), bytes.to_vec());
    };
    let last = bytes.len() - 1;
    let (from, to) = match (from.parse::<usize>(), to.parse::<usize>()) {
        (Ok(from), Ok(to)) => (from, to.min(last)),
        (Ok(from), Err(_)) => (from, last),
        (Err(_), to) => (bytes.len() - to.expect("a suffix"), last),
    };
    let facts = format!("Content-Range: bytes {from}-{to}/{}\r\n", bytes.len());
    ("206 Partial Content", facts, bytes[from..=to].to_vec())
}

fn listed(query: &str, objects: &Objects) -> Vec<u8> {
    let prefix = query.split(['?', '&']).find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default();
    let mut text = String::from("<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>");
    for (key, bytes) in objects.iter().filter(|(key, _)| key.starts_with(prefix)) {
        text += &format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>\"1\"</ETag><Size>{}</Size></Contents>",
            bytes.len()
        );
    }
    (text + "</ListBucketResult>").into_bytes()
}

#[test]
fn rows_in_a_bucket_give_the_bytes_of_rows_on_a_disk() {
    let folder = Folder::new();
    folder.run("gen --out fleet --drives 96 --every 60s --span 2h --hot 0.3 --seed 41 --files 2").good();
    folder.run("scan fleet/rows --out disk").good();
    let mut objects = Objects::new();
    for entry in fs::read_dir(folder.path("fleet/rows")).expect("rows") {
        let entry = entry.expect("a file");
        let name = format!("rows/{}", entry.file_name().to_string_lossy());
        objects.insert(name, fs::read(entry.path()).expect("its bytes"));
    }
    objects.insert("rows/README.txt".into(), b"about these rows".to_vec());
    objects.insert("rows/_temporary/0.parquet".into(), b"half".to_vec());
    objects.insert("bad/cut.parquet".into(), objects["rows/rows-00000.parquet"][..900].to_vec());
    objects.insert("csv/rack=h1/a.csv".into(), b"ts,serial,temp_c\n2026-01-01T00:00:00Z,S1,40\n".to_vec());
    let endpoint = serve(objects);
    let cloud = [
        ("AWS_ENDPOINT", endpoint.as_str()),
        ("AWS_ALLOW_HTTP", "true"),
        ("AWS_ACCESS_KEY_ID", "id"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_REGION", "nowhere"),
    ];
    for (number, source) in [
        "s3://fleet/rows",
        "s3://fleet/rows/*.parquet",
        "s3://fleet/rows/rows-00000.parquet s3://fleet/rows/rows-00001.parquet",
    ]
    .iter()
    .enumerate()
    {
        folder.run_with(&format!("scan {source} --out scan{number}"), &cloud).good();
        for table in ["drives.parquet", "cells.parquet", "thresholds.parquet"] {
            let (cloud, disk) =
                (folder.bytes(&format!("scan{number}/{table}")), folder.bytes(&format!("disk/{table}")));
            assert!(cloud == disk, "{source}: {table}");
        }
    }
    let check = folder.run_with("check s3://fleet/csv", &cloud).good();
    assert!(check.contains("heatsoak fleet rows"), "{check}");
    let done = folder.run_with("scan s3://fleet/rows s3://fleet/bad --out bad", &cloud);
    assert_eq!(done.code, Some(1), "{}", done.stderr);
    assert!(done.stderr.contains("s3://fleet/bad/cut.parquet"), "{}", done.stderr);
    assert!(folder.bytes("bad/drives.parquet") == folder.bytes("disk/drives.parquet"));
    let done = folder.run_with("scan s3://fleet/nothing --out nothing", &cloud);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("no object at s3://fleet/nothing"), "{}", done.stderr);
}
