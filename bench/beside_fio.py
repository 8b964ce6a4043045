#!/usr/bin/env python3
"""heatsoak beside fio: the same load on the same file, taking turns, as ratios in one run.

Usage: beside_fio.py HEATSOAK FILE [ROUNDS [SECONDS]]
FILE is made (2 GiB) and removed again. Needs fio and pyarrow.
Who begins changes from round to round: many disks serve whoever comes first after a pause faster.
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


def plans(folder, seconds):
    """Copies of both plans whose phases take `seconds`: many short turns average a disk that comes and goes."""
    copies = []
    for name, was, is_now in [
        ("beside-fio.toml", '"20s"', f'"{seconds}s"'),
        ("beside-fio.fio", "runtime=20", f"runtime={seconds}"),
    ]:
        copies.append(pathlib.Path(folder) / name)
        copies[-1].write_text((HERE / name).read_text().replace(was, is_now))
    return copies


def fio(file, job):
    out = subprocess.run(
        ["fio", "--output-format=json", f"--filename={file}", job],
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
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 20
    with tempfile.TemporaryDirectory() as folder:
        compare(binary, file, rounds, *plans(folder, seconds))
    pathlib.Path(file).unlink()


def compare(binary, file, rounds, plan, job):
    runners = {
        "fio": lambda: fio(file, job),
        "heatsoak (TOML plan)": lambda: heatsoak(binary, file, plan),
        "heatsoak (fio job file)": lambda: heatsoak(binary, file, job),
    }
    seen = {name: {phase: [] for phase in PHASES} for name in runners}
    # One pass that does not count lays the file out, so that nobody pays for it.
    heatsoak(binary, file, plan)
    names = list(runners)
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            for phase, speed in runners[name]().items():
                seen[name][phase].append(speed)
                print(f"round {turn + 1}  {name:24} {phase:9} {speed / 1e6:9.1f} MB/s", flush=True)
    for phase in PHASES:
        base = statistics.mean(seen["fio"][phase])
        swing = max(seen["fio"][phase]) / min(seen["fio"][phase])
        print(f"{phase:9} fio {base / 1e6:.0f} MB/s, its best round {swing:.2f} times its worst")
        for name in names[1:]:
            ratio = statistics.mean(seen[name][phase]) / base
            print(f"{phase:9} {name} / fio = {ratio:.3f}")


if __name__ == "__main__":
    main()
