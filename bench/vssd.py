#!/usr/bin/env python3
"""The virtual SSD with our initiator beside `nbdkit memory` with fio's nbd engine, alternating, in one run.

Usage: vssd.py HEATSOAK [ROUNDS]
Both move data from one process to another over loopback sockets on the same machine. The profile never
throttles and lives fifty times faster than its data sheet, so that the processor is the limit and not the
simulated drive. Needs fio with the nbd engine and nbdkit with its memory plugin.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
REGION = 512 << 20
LOADS = {"seqread": ("read", 1 << 20), "randread": ("randread", 4096)}


def vssd(binary):
    server = subprocess.Popen(
        [binary, "vssd", "--profile", "slc", "--listen", "127.0.0.1:0", "--time-scale", "50", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        url = json.loads(server.stdout.readline())["drives"][0]["url"]
        with tempfile.TemporaryDirectory() as parent:
            folder = pathlib.Path(parent) / "run"
            subprocess.run(
                [binary, "run", HERE / "vssd.toml", "--drive", url, "--out", folder, "--quiet"],
                check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            return from_record(folder)
    finally:
        server.terminate()
        server.wait()


def from_record(folder):
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(folder / "io.parquet", columns=["phase", "bytes", "duration_ns"]).to_pylist()
    speed = {}
    for index, name in enumerate(["fill", *LOADS]):
        mine = [row for row in rows if row["phase"] == index]
        speed[name] = sum(row["bytes"] for row in mine) / (sum(row["duration_ns"] for row in mine) / 1e9)
    return speed


def nbd():
    with tempfile.TemporaryDirectory() as folder:
        socket = f"{folder}/nbd.sock"
        server = subprocess.Popen(["nbdkit", "--foreground", "--exit-with-parent", "-U", socket, "memory", f"{REGION}"])
        try:
            while not pathlib.Path(socket).exists():
                pass
            base = ["fio", "--output-format=json", "--ioengine=nbd", f"--uri=nbd+unix:///?socket={socket}", "--iodepth=64"]
            subprocess.run([*base, "--name=fill", "--rw=write", "--bs=1m", f"--size={REGION}"], check=True,
                           stdout=subprocess.DEVNULL)
            speed = {}
            for name, (rw, size) in LOADS.items():
                out = subprocess.run(
                    [*base, f"--name={name}", f"--rw={rw}", f"--bs={size}", f"--size={REGION}", "--time_based", "--runtime=5"],
                    check=True, capture_output=True, text=True,
                ).stdout
                speed[name] = json.loads(out[out.index("{"):])["jobs"][0]["read"]["bw_bytes"]
            return speed
        finally:
            server.terminate()
            server.wait()


def main():
    binary = str(pathlib.Path(sys.argv[1]).resolve())
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(vssd(binary))
        theirs.append(nbd())
    for name, (_, size) in LOADS.items():
        pairs = [(a[name], b[name]) for a, b in zip(ours, theirs)]
        ratio = statistics.median(a / b for a, b in pairs)
        best = [max(side) for side in zip(*pairs)]
        print(f"{name}: vssd {best[0] / 1e9:.2f} GB/s ({best[0] / size / 1e3:.0f} thousand/s), "
              f"nbdkit {best[1] / 1e9:.2f} GB/s ({best[1] / size / 1e3:.0f} thousand/s), median ratio {ratio:.2f}")


main()
