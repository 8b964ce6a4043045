#!/usr/bin/env python3
"""Simulated I/Os a second: heatsoak's twin and MQSim on one stream of requests, taking turns.

Both read the same trace file: random aligned requests that arrive at a fixed pace which both can serve. Counted is
processor time of the whole process, less that of a trace of one request, so that neither pays for what it sets up. The two
do different work for it: MQSim simulates channels, dies and a mapping table and no heat; the twin simulates
heat, power, throttling and the cache, and the flash as one pipe. The figure says what a
question about hours of heating costs in each, not which is the better simulator.

  make -C MQSim    # a clone of CMU-SAFARI/MQSim on GitHub
  cargo build --release -p heatsoak-physics --example io_rate
  python3 bench/beside_mqsim.py --mqsim MQSim --io-rate target/release/examples/io_rate --out bench/runs/DATE-beside-mqsim
"""

import argparse
import os
import pathlib
import platform
import random
import resource
import statistics
import subprocess
import tempfile

SECTOR = 512
REGION_BYTES = 16 << 30  # fits MQSim's default drive and the cache of ssd1
CASES = [
    # name, share of reads, bytes, nanoseconds between arrivals
    ("4 KiB random reads", 1.0, 4096, 20_000),
    ("4 KiB random writes", 0.0, 4096, 40_000),
]


def trace(path, reads, size, pace_ns, count):
    draw = random.Random(1)
    blocks = REGION_BYTES // size
    with open(path, "w") as out:
        for i in range(count):
            sector = draw.randrange(blocks) * (size // SECTOR)
            kind = 1 if draw.random() < reads else 0
            out.write(f"{i * pace_ns} 0 {sector} {size // SECTOR} {kind}\n")


def workload(path, trace_path):
    path.write_text(
        f"""<?xml version="1.0" encoding="us-ascii"?>
<MQSim_IO_Scenarios><IO_Scenario><IO_Flow_Parameter_Set_Trace_Based>
<Priority_Class>HIGH</Priority_Class>
<Device_Level_Data_Caching_Mode>WRITE_CACHE</Device_Level_Data_Caching_Mode>
<Channel_IDs>0,1,2,3,4,5,6,7</Channel_IDs><Chip_IDs>0,1,2,3</Chip_IDs>
<Die_IDs>0,1</Die_IDs><Plane_IDs>0,1</Plane_IDs>
<Initial_Occupancy_Percentage>70</Initial_Occupancy_Percentage>
<File_Path>{trace_path}</File_Path>
<Percentage_To_Be_Executed>100</Percentage_To_Be_Executed>
<Relay_Count>1</Relay_Count><Time_Unit>NANOSECOND</Time_Unit>
</IO_Flow_Parameter_Set_Trace_Based></IO_Scenario></MQSim_IO_Scenarios>
"""
    )


def seconds(command, cwd):
    """Processor time of the process, which a busy machine does not stretch as it does wall time."""
    def used():
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return children.ru_utime + children.ru_stime

    before = used()
    subprocess.run(command, cwd=cwd, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return used() - before


def cpu_model():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def commit(folder):
    return subprocess.run(
        ["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--mqsim", required=True, type=pathlib.Path, help="folder with MQSim built in it")
    arguments.add_argument("--io-rate", required=True, type=pathlib.Path, help="the example io_rate, built")
    arguments.add_argument("--ios", type=int, default=200_000, help="requests a run")
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--out", type=pathlib.Path, help="folder for README.md with the figures")
    typed = arguments.parse_args()
    mqsim, io_rate = typed.mqsim.resolve(), typed.io_rate.resolve()
    lines = ["| stream | MQSim, I/Os a second | twin, I/Os a second | ratio |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        for what, reads, size, pace_ns in CASES:
            rates = {"MQSim": [], "twin": []}
            for _ in range(typed.runs):
                for tool in rates:
                    cpu = []
                    for count in (1, typed.ios):
                        stream, scenario = scratch / "stream.trace", scratch / "workload.xml"
                        trace(stream, reads, size, pace_ns, count)
                        workload(scenario, stream)
                        command = (
                            [mqsim / "MQSim", "-i", mqsim / "ssdconfig.xml", "-w", scenario]
                            if tool == "MQSim"
                            else [io_rate, stream]
                        )
                        cpu.append(seconds(command, scratch))
                    rates[tool].append((typed.ios - 1) / max(cpu[1] - cpu[0], 1e-3))
            middle = {tool: statistics.median(values) for tool, values in rates.items()}
            spread = {tool: f"{min(v):,.0f} to {max(v):,.0f}" for tool, v in rates.items()}
            lines.append(
                f"| {what} | {middle['MQSim']:,.0f} ({spread['MQSim']}) | {middle['twin']:,.0f} ({spread['twin']}) "
                f"| {middle['twin'] / middle['MQSim']:,.0f} |"
            )
            print(lines[-1], flush=True)
    table = "\n".join(lines)
    if typed.out:
        typed.out.mkdir(parents=True, exist_ok=True)
        here = pathlib.Path(__file__).resolve().parent.parent
        (typed.out / "README.md").write_text(
            f"""# Simulated I/Os a second, beside MQSim

{typed.ios:,} requests a run, {typed.runs} runs each, taking turns; middle (slowest to fastest), by processor time of
the process less that of a trace of one request. What the two do for a request differs: see the head of the script.

{table}

- command: `python3 bench/beside_mqsim.py --mqsim MQSim --io-rate target/release/examples/io_rate --ios {typed.ios} --runs {typed.runs}`
- commit: {commit(here)}
- MQSim: {commit(mqsim)}, its own `make` (g++ -O3), its `ssdconfig.xml` as it comes
- machine: {cpu_model()}, {os.cpu_count()} processors, {platform.system()} {platform.release()}; other work was running on it
"""
        )


if __name__ == "__main__":
    main()
