#!/usr/bin/env python3
"""heatsoak beside fio: the same load on the same file, alternating A-B-A-B, as ratios in one run.

Usage: beside_fio.py HEATSOAK FILE [ROUNDS]
FILE is made (2 GiB) and removed again. Needs fio and pyarrow.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import pyarrow.parquet

HERE = pathlib.Path(__file__).parent
PHASES = ["write", "randread"]


def fio(file):
    out = subprocess.run(
        ["fio", "--output-format=json", f"--filename={file}", HERE / "beside-fio.fio"],
        check=True, capture_output=True, text=True,
    ).stdout
    jobs = {job["jobname"]: job for job in json.loads(out[out.index("{"):])["jobs"]}
    return {"write": jobs["write"]["write"]["bw_bytes"], "randread": jobs["randread"]["read"]["bw_bytes"]}


def heatsoak(binary, file, plan):
    with tempfile.TemporaryDirectory() as parent:
        run = pathlib.Path(parent) / "run"
        subprocess.run(
            [binary, "run", plan, "--drive", f"file:{file}?size=2GiB", "--out", run, "--json"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        table = pyarrow.parquet.read_table(run / "io.parquet", columns=["phase", "bytes", "duration_ns"])
        rows = table.to_pylist()
    speed = {}
    for index, name in enumerate(PHASES):
        mine = [row for row in rows if row["phase"] == index]
        speed[name] = sum(r["bytes"] for r in mine) / sum(r["duration_ns"] for r in mine) * 1e9
    return speed


def main():
    binary, file = sys.argv[1], sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 2
    runners = {
        "fio": lambda: fio(file),
        "heatsoak (TOML plan)": lambda: heatsoak(binary, file, HERE / "beside-fio.toml"),
        "heatsoak (fio job file)": lambda: heatsoak(binary, file, HERE / "beside-fio.fio"),
    }
    seen = {name: {phase: [] for phase in PHASES} for name in runners}
    # One pass that does not count lays the file out, so that nobody pays for it.
    heatsoak(binary, file, HERE / "beside-fio.toml")
    for turn in range(rounds):
        for name, run in runners.items():
            for phase, speed in run().items():
                seen[name][phase].append(speed)
                print(f"round {turn + 1}  {name:24} {phase:9} {speed / 1e6:9.1f} MB/s", flush=True)
    for phase in PHASES:
        base = statistics.mean(seen["fio"][phase])
        for name in list(runners)[1:]:
            ratio = statistics.mean(seen[name][phase]) / base
            print(f"{phase:9} {name} / fio = {ratio:.3f}")
    pathlib.Path(file).unlink()


if __name__ == "__main__":
    main()
