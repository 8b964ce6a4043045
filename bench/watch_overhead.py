#!/usr/bin/env python3
"""What `heatsoak watch` costs a virtual SSD under load: one load, watched and unwatched in turns.

Usage: watch_overhead.py HEATSOAK [PAIRS] [LIMIT]
One `heatsoak run` reads 1 MiB at depth 64 over NVMe/TCP all the while; watches of 1 Hz and of 10 Hz come and go
beside it. Each turn is compared with the mean of the unwatched turns before and after it, so that what drifts
slowly falls out. A simulated drive of 0.75 GB/s is the limit, as a real one would be; with LIMIT `processor` it lives
fifty times faster and the processor is. Then eight watches of 1 Hz, each started at another moment, tell how late readings are.
"""

import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TURN_S = 5.0
SETTLE_S = 1.0  # of each turn, not counted: the watch connects, or is gone
PERIODS = {"1 Hz": "1s", "10 Hz": "100ms"}
PLAN = """[[phase]]
name = "seqread"
op = "read"
block_size = "1MiB"
depth = 64
region = {{ start = "0B", len = "512MiB" }}
duration = "{seconds}s"
"""


def start_watch(binary, url, period, record=()):
    arguments = [binary, "watch", url, "--plain", "--every", period, "--smart-every", period]
    return subprocess.Popen([*arguments, *(record or ["--no-record"])],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def processor_s(pid):
    """Of all its threads, by the scheduler's own clock: the ticks of `stat` miss what is shorter than one."""
    threads = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def turns(binary, url, pairs):
    """(kind, from, to, processor share) of each turn, in seconds since 1970."""
    kinds = [None, *(kind for _ in range(pairs) for period in PERIODS for kind in (period, None))]
    for kind in kinds:
        watch = start_watch(binary, url, PERIODS[kind]) if kind else None
        time.sleep(SETTLE_S)
        begin, used = time.time(), processor_s(watch.pid) if watch else 0.0
        time.sleep(TURN_S - SETTLE_S)
        end, share = time.time(), None
        if watch:
            share = (processor_s(watch.pid) - used) / (end - begin)
            watch.terminate()
            watch.wait()
        yield kind, begin, end, share


def speeds(folder, turns):
    import pyarrow.parquet

    began = json.loads((folder / "manifest.json").read_text())["clock_anchor"]["wall_unix_ns"] / 1e9
    rows = pyarrow.parquet.read_table(folder / "io.parquet", columns=["t_ns", "bytes", "duration_ns"]).to_pylist()
    for kind, begin, end, share in turns:
        mine = [row for row in rows if begin <= began + row["t_ns"] / 1e9 and
                began + (row["t_ns"] + row["duration_ns"]) / 1e9 <= end]
        yield kind, sum(row["bytes"] for row in mine) / sum(row["duration_ns"] for row in mine) * 1e9, share


def compare(measured):
    for kind in PERIODS:
        change, shares = [], []
        for before, mine, after in zip(measured, measured[1:], measured[2:]):
            if mine[0] == kind:
                change.append(100 * (2 * mine[1] / (before[1] + after[1]) - 1))
                shares.append(100 * mine[2])
        bare = [speed for known, speed, _ in measured if known is None]
        half = 1.96 * statistics.stdev(change) / math.sqrt(len(change))
        print(f"{kind}: speed {statistics.mean(change):+.4f} % (95 %: {half:.4f} either way, {len(change)} pairs; unwatched "
              f"{statistics.mean(bare) / 1e9:.4f} GB/s), processor {statistics.mean(shares):.2f} % of a core")


def lateness(binary, url, parent):
    import pyarrow.parquet

    watches = []
    for index in range(8):
        watches.append(start_watch(binary, url, "1s", ["--out", str(parent / f"watch{index}"), "--for", "150s"]))
        time.sleep(0.37)
    for watch in watches:
        watch.wait()
    late_ms = []
    for part in sorted(parent.glob("watch*/**/telemetry.parquet")):
        at = sorted({t for t in pyarrow.parquet.read_table(part, columns=["t_ns"])["t_ns"].to_pylist()})
        grid = [t / 1e6 % 1000 for t in at]
        first = statistics.median(grid)
        late_ms += [abs((ms - first + 500) % 1000 - 500) for ms in grid]
    late_ms.sort()
    worst = late_ms[min(len(late_ms) - 1, math.ceil(0.999 * len(late_ms)) - 1)]
    print(f"{len(late_ms)} readings at 1 Hz: median {statistics.median(late_ms):.3f} ms off their second, "
          f"99.9 % {worst:.3f} ms, worst {late_ms[-1]:.3f} ms")


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    by_processor = sys.argv[3:] == ["processor"]
    scale = ["--time-scale", "50"] if by_processor else ["--bandwidth-scale", "4"]
    server = subprocess.Popen(
        [binary, "vssd", "--profile", "slc", "--listen", "127.0.0.1:0", "--json", *scale],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        url = json.loads(server.stdout.readline())["drives"][0]["url"]
        with tempfile.TemporaryDirectory() as name:
            parent = pathlib.Path(name)
            plan, folder = parent / "plan.toml", parent / "run"
            plan.write_text(PLAN.format(seconds=math.ceil(TURN_S * (4 * pairs + 3) + 165)))
            load = subprocess.Popen([binary, "run", plan, "--drive", url, "--out", folder, "--quiet"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(2 * TURN_S)
            seen = list(turns(binary, url, pairs))
            lateness(binary, url, parent)
            load.terminate()
            load.wait()
            compare(list(speeds(folder, seen)))
    finally:
        server.terminate()
        server.wait()


main()
