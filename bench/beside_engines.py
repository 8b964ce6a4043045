#!/usr/bin/env python3
"""A fleet's rows through heatsoak-fleet, and through DuckDB and Polars computing in SQL and expressions what they can of it.

Each engine is a process of its own, all on the same rows and threads, taking turns; counted are processor time, wall time and
the highest resident memory of each. DuckDB and Polars compute with window functions, by drive: seconds throttled, how often
throttling began, and since when, from differences of four counters between rows without a gap. heatsoak-fleet does that, and
resets, duplicates, late rows, swaps, moves, temperatures, speeds, verdicts, cells, intervals and the report.
"Plain scan" is the engine under heatsoak-fleet, which reads all mapped columns and drops them: once as heatsoak-fleet needs
them (times in milliseconds, temperatures in millidegrees, slots as text), once as they lie in the files.

The seconds of drives in whose rows no counter fell, no drive moved and nothing outran the clock must agree to the second.

  heatsoak-fleet gen --out fleet --drives 10000 --every 60s --files 8
  python3 bench/beside_engines.py --rows fleet/rows --fleet target/fleet/release/heatsoak-fleet

Needs duckdb, polars and pyarrow in the Python that runs it.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

GAP_S = 150  # two and a half intervals of rows a minute apart, as heatsoak-fleet has it

DUCKDB = """
import duckdb, json, sys
rows, answer, threads, memory = sys.argv[1:]
duckdb.sql(f"SET threads = {threads}")
duckdb.sql(f"SET memory_limit = '{memory}MiB'")
duckdb.sql(f'''
  COPY (SELECT serial, sum(s) AS throttled_s, sum(n) AS began, min(ts) FILTER (s > 0 OR n > 0) AS first FROM (
    SELECT serial, ts,
      CASE WHEN ts - lag(ts) OVER w <= INTERVAL GAP_S SECOND
        THEN greatest(tmt1_s - lag(tmt1_s) OVER w, 0) + greatest(tmt2_s - lag(tmt2_s) OVER w, 0) END AS s,
      CASE WHEN ts - lag(ts) OVER w <= INTERVAL GAP_S SECOND
        THEN greatest(tmt1_n - lag(tmt1_n) OVER w, 0) + greatest(tmt2_n - lag(tmt2_n) OVER w, 0) END AS n
    FROM '{rows}/*.parquet' WINDOW w AS (PARTITION BY serial ORDER BY ts))
  GROUP BY serial) TO '{answer}' (FORMAT parquet)''')
""".replace("GAP_S", str(GAP_S))

POLARS = """
import os, sys
rows, answer, threads, memory = sys.argv[1:]
os.environ["POLARS_MAX_THREADS"] = threads
import polars as pl
rows = pl.scan_parquet(f"{rows}/*.parquet").select("serial", "ts", "tmt1_s", "tmt1_n", "tmt2_s", "tmt2_n").sort("serial", "ts")
near = pl.col("ts").diff() <= pl.duration(seconds=GAP_S)
step = lambda name: pl.col(name).diff().clip(lower_bound=0)
s = (step("tmt1_s") + step("tmt2_s")).filter(near)
n = (step("tmt1_n") + step("tmt2_n")).filter(near)
moved = near & ((step("tmt1_s") + step("tmt2_s") > 0) | (step("tmt1_n") + step("tmt2_n") > 0))
rows.group_by("serial", maintain_order=True).agg(
    throttled_s=s.sum(), began=n.sum(), first=pl.col("ts").filter(moved).min()
).sink_parquet(answer)
""".replace("GAP_S", str(GAP_S))


class Failed(Exception):
    """An engine did not come to its end."""


def measured(command, memory_mib):
    """Seconds of processor and wall, and MiB, of a command that must end well within the memory."""
    limit = lambda: memory_mib and resource.setrlimit(resource.RLIMIT_DATA, (memory_mib << 20, memory_mib << 20))
    begin = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, preexec_fn=limit)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines()
            raise Failed(lines[-1] if lines else f"ended by {process.returncode}")
    return used.ru_utime + used.ru_stime, time.monotonic() - begin, used.ru_maxrss / 1024


def contenders(args, folder):
    program = [args.fleet]
    of_fleet = [args.rows, "--threads", str(args.threads)]
    python = lambda script, answer: [
        sys.executable, "-c", script, args.rows, f"{folder}/{answer}", str(args.threads), str(args.memory)
    ]
    plain = lambda table: [*program, "sql", f"EXPLAIN ANALYZE SELECT * FROM {table}", *of_fleet]
    yield "plain scan", plain("rows"), 0
    yield "plain scan, as in the files", plain("fleet_files_0"), 0
    yield "heatsoak-fleet scan", [*program, "scan", *of_fleet, "--cadence", "60s", "--out", f"{folder}/scan"], 0
    if "duckdb" in args.beside:
        yield "DuckDB", python(DUCKDB, "duckdb.parquet"), 0
    if "polars" in args.beside:
        # It has no limit of its own.
        yield "Polars", python(POLARS, "polars.parquet"), args.memory


def by_serial(path, columns):
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(path, columns=["serial", *columns]).to_pylist()
    drives = {}
    for row in rows:
        drives.setdefault(row["serial"], []).append(row)
    return drives


def agreement(folder, name):
    """(drives compared, throttled ones among them, drives that differ)"""
    columns = ["throttled_h", "resets", "implausible", "moves", "tmt1_s", "tmt2_s", "tmt1_n", "tmt2_n", "conflicts"]
    ours = by_serial(f"{folder}/scan/drives.parquet", columns)
    theirs = by_serial(f"{folder}/{name}.parquet", ["throttled_s", "began"])
    compared, throttled, differ = 0, 0, []
    for serial, parts in ours.items():
        # Under one serial number there are two models, or the drive moved: windows over rows do not see that.
        if len(parts) > 1 or any(parts[0][name] for name in ("resets", "implausible", "moves", "conflicts")):
            continue
        seconds, began = (parts[0][f"tmt1_{unit}"] + parts[0][f"tmt2_{unit}"] for unit in "sn")
        other = theirs[serial][0]
        compared += 1
        throttled += seconds > 0
        if (int(other["throttled_s"] or 0), int(other["began"] or 0)) != (seconds, began):
            differ.append(serial)
    return compared, throttled, differ


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--rows", required=True, help="folder of Parquet files of `heatsoak-fleet gen`")
    parse.add_argument("--fleet", default="target/fleet/release/heatsoak-fleet")
    parse.add_argument("--threads", type=int, default=2)
    parse.add_argument("--rounds", type=int, default=3)
    parse.add_argument("--memory", type=int, default=8192, help="MiB that DuckDB and Polars may take")
    parse.add_argument("--beside", default="duckdb,polars", help="which of the two")
    args = parse.parse_args()
    taken, failed = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(args.rounds):
            for name, command, limit in contenders(args, folder):
                if name in failed:
                    continue
                try:
                    taken.setdefault(name, []).append(measured(command, limit))
                except Failed as error:
                    failed[name] = str(error)
        base = statistics.median(cpu for cpu, *_ in taken["plain scan"])
        print("| | processor s | of the plain scan | wall s | peak MiB |\n| --- | --- | --- | --- | --- |")
        for name, runs in taken.items():
            if not runs:
                continue
            cpu, wall, memory = (statistics.median(run[at] for run in runs) for at in range(3))
            print(f"| {name} | {cpu:.2f} | {cpu / base:.2f} | {wall:.1f} | {memory:.0f} |")
        for name, why in failed.items():
            print(f"{name}: did not end within {args.memory} MiB: {why}")
        print(json.dumps({name: [[round(x, 2) for x in run] for run in runs] for name, runs in taken.items()}))
        for name in ("duckdb", "polars"):
            if pathlib.Path(f"{folder}/{name}.parquet").exists():
                compared, throttled, differ = agreement(folder, name)
                print(f"{name}: {compared} drives compared, {throttled} of them throttled, {len(differ)} differ {differ[:5]}")


if __name__ == "__main__":
    main()
