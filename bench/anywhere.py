#!/usr/bin/env python3
"""Verdicts on five and more instances of each of a dozen traps, for one or more builds of heatsoak side by side.

Usage: anywhere.py FOLDER HEATSOAK...
Logs are made here, by drives that share no code with heatsoak's; warm rooms and copies are runs of its own simulated
drives, made by each build in FOLDER. Prints how many instances each build told rightly, and those that it did not.
All drives are simulated.
"""

import json
import math
import os
import random
import subprocess
import sys

AMBIENT_C = 27.0


class Drive:
    """Heat of a drive by two time constants, whole kelvins, and a speed with noise."""

    def __init__(self, seed, full_mb_per_s=2500.0, kelvin=50.0, fast_s=35.0, slow_s=260.0, ambient_c=AMBIENT_C):
        self.random = random.Random(seed)
        self.full = full_mb_per_s
        self.nodes = [[fast_s, 0.6 * kelvin, 0.0], [slow_s, 0.4 * kelvin, 0.0]]
        self.base_c = ambient_c + 12.0

    def temp_c(self):
        return self.base_c + sum(node[2] for node in self.nodes)

    def step(self, load, dt_s):
        for node in self.nodes:
            node[2] += (node[1] * load - node[2]) * dt_s / node[0]

    def noisy(self, speed):
        return max(0.0, speed * (1.0 + self.random.gauss(0.0, 0.012)))


def simulate(drive, seconds, limit, every_s=1, dt_s=0.1):
    """Rows of (t_s, MB/s, degrees): `limit(t_s, temp_c)` is the share of full speed; a row is the mean before it."""
    rows, step = [], 0
    for end_s in range(every_s, seconds + 1, every_s):
        shares = []
        while step < round(end_s / dt_s):
            share = limit(step * dt_s, drive.temp_c())
            drive.step(share, dt_s)
            shares.append(share)
            step += 1
        rows.append((end_s, drive.noisy(drive.full * sum(shares) / len(shares)), drive.temp_c()))
    return rows


def relay(on_c, off_c, low):
    """A throttle with a hysteresis: slow from `on_c` on, until the drive is cooler than `off_c`."""
    state = {"slow": False}

    def limit(_, temp_c):
        state["slow"] = temp_c >= (off_c if state["slow"] else on_c)
        return low if state["slow"] else 1.0

    return limit


def write_csv(path, rows, op="read", temp=lambda row, _: round(row[2]), speed=lambda row, _: row[1], facts=()):
    """A log; `temp` and `speed` may leave cells empty."""
    with open(path, "w") as file:
        file.writelines(f"# {fact}\n" for fact in facts)
        file.write(f"t_s,{op}_mb_per_s,temp_c\n")
        for at, row in enumerate(rows):
            cells = [temp(row, at), speed(row, at)]
            degrees, mb = ["" if cell is None else f"{cell:.3f}" for cell in cells]
            file.write(f"{row[0]},{mb},{degrees}\n")
    return path


class Told:
    """What one build says of inputs."""

    def __init__(self, heatsoak, inputs):
        done = subprocess.run([heatsoak, "analyze", "--json", *inputs], capture_output=True, text=True, check=False)
        self.all = json.loads(done.stdout) if done.stdout else {}
        self.one = self.all["results"][0]["findings"] if "results" in self.all else self.all
        self.events = self.one.get("events", [])
        self.policy = self.one.get("policy") or {"class": "refused", "confidence": 0.0}
        people = subprocess.run([heatsoak, "analyze", *inputs], capture_output=True, text=True, check=False)
        self.text = " ".join(people.stdout.split())

    def heat(self):
        return [event for event in self.events if event["kind"] == "throttle_onset"]

    def cleared(self, least=0.7):
        """Drops that are confidently something else than heat."""
        other = ("not_thermal", "slc_exhausted", "link", "host")
        return [event for event in self.events if event["cause"] in other and event["confidence"] >= least]

    def near(self, times_s, within_s):
        onsets = [event["t_s"] for event in self.heat()]
        return all(any(abs(onset - t_s) <= within_s for onset in onsets) for t_s in times_s)


def run(heatsoak, folder, name, profile, ambient_c, options=()):
    """A run of a built-in drive in other air, by this build."""
    out = f"{folder}/{name}"
    shown = subprocess.run([heatsoak, "profiles", profile], capture_output=True, text=True, check=True).stdout
    lines = [f"ambient_c = {ambient_c:.1f}" if line.startswith("ambient_c") else line for line in shown.splitlines()]
    with open(f"{out}.toml", "w") as file:
        file.write("\n".join(lines))
    command = [heatsoak, "run", "hctm-read", "--drive", f"twin:{out}.toml", "--stop-at", "95C", "-o", out, *options]
    if not os.path.exists(out):
        subprocess.run(command, capture_output=True, check=False)
    return out


def warm_rooms(heatsoak, folder):
    """Heat is found in any room, and a policy is never none beside it."""
    for ambient_c in (33.5, 36.5, 37.0, 39.0, 41.0, 43.5):
        told = Told(heatsoak, [run(heatsoak, folder, f"warm-{ambient_c}", "ssd1", ambient_c)])
        yield f"ssd1 at {ambient_c} °C", bool(told.heat()) and told.policy["class"] != "none"


def copies(heatsoak, folder):
    """The same run four times says what it says twice."""
    for profile in ("ssd1", "relay", "two-level", "vendor", "regulator"):
        path = run(heatsoak, folder, f"copy-{profile}", profile, 30.0)
        several = [Told(heatsoak, [path] * count).all.get("joint_policies") or [{}] for count in (2, 4)]
        sure = [joint[0].get("policy", joint[0]).get("confidence") for joint in several]
        yield f"{profile}: {sure}", sure[0] == sure[1]


def rare_speeds(heatsoak, folder):
    """A gain does not grow with how rarely speed is written down."""
    gain = 50.0 / 2.5
    for seed, every in enumerate((2, 4, 6, 8, 12, 15)):
        rows = simulate(Drive(seed), 1500, lambda t_s, _: 1.0 if t_s % 700 < 420 else 0.3)
        path = write_csv(f"{folder}/rare-{every}.csv", rows, speed=lambda row, at, n=every: row[1] if at % n == 0 else None)
        told = Told(heatsoak, [path])
        given = (told.one.get("thermal") or {}).get("kelvin_per_gb_per_s_read")
        yield f"every {every} rows: {given} K for {gain} K", given is None or abs(given / gain - 1.0) < 0.15


def stops(heatsoak, folder):
    """A thermostat that stops the drive is a stop, however rarely it is looked at."""
    for seed, every_s in enumerate((1, 2, 3, 4, 6)):
        rows = simulate(Drive(seed, kelvin=60.0), 2400, relay(76.0, 64.0, 0.0), every_s)
        told = Told(heatsoak, [write_csv(f"{folder}/stop-{every_s}.csv", rows)])
        yield f"every {every_s} s: {told.policy['class']}", told.policy["class"] == "stop"


def two_thresholds(heatsoak, folder):
    """Clean onsets at two temperatures are both heat."""
    for seed, (first_c, second_c) in enumerate(((66, 72), (68, 75), (70, 77), (72, 79), (74, 80))):
        first, second = relay(first_c, first_c - 5, 0.4), relay(second_c, second_c - 5, 0.4)

        def limit(t_s, temp_c, first=first, second=second):
            return first(t_s, temp_c) if t_s < 1000 else second(t_s, temp_c)

        told = Told(heatsoak, [write_csv(f"{folder}/two-{first_c}.csv", simulate(Drive(seed, kelvin=64.0), 3000, limit))])
        onsets = {round(event["temp_k"] - 273.0) for event in told.heat()}
        both = all(any(abs(onset - wanted) <= 2 for onset in onsets) for wanted in (first_c, second_c))
        yield f"{first_c} and {second_c} °C: {sorted(onsets)}", both and not told.cleared()


def slow_crossings(heatsoak, folder):
    """A threshold that is crept up to is a threshold."""
    for seed, slow_s in enumerate((900.0, 1200.0, 1800.0, 2400.0, 3600.0)):
        drive = Drive(seed, kelvin=52.0, fast_s=60.0, slow_s=slow_s)
        rows = simulate(drive, 9000, relay(80.0, 76.0, 0.5), 2)
        began_s = next((row[0] for row in rows if row[1] < 0.8 * drive.full), None)
        told = Told(heatsoak, [write_csv(f"{folder}/creep-{slow_s:.0f}.csv", rows)])
        yield f"{slow_s:.0f} s", began_s is not None and told.near([began_s], 8.0) and not told.cleared()


def caches(heatsoak, folder):
    """A write cache that ends when the drive is hot is not surely heat."""
    for seed, end_s in enumerate((45, 70, 110, 180, 260)):
        rows = simulate(Drive(seed, kelvin=58.0), 900, lambda t_s, _, end=end_s: 1.0 if t_s < end else 0.35)
        told = Told(heatsoak, [write_csv(f"{folder}/cache-{end_s}.csv", rows, "write")])
        sure = [event["confidence"] for event in told.heat() if event["confidence"] > 0.8]
        yield f"ends after {end_s} s: {sure}", not sure


def no_temperatures(heatsoak, folder):
    """Without temperatures heat is neither blamed nor cleared."""
    for seed, length_s in enumerate((5, 12, 25, 40, 90)):
        starts = sorted(random.Random(seed).sample(range(100, 1700, 120), 5))
        slow = lambda t_s, starts=starts, length_s=length_s: any(s <= t_s < s + length_s for s in starts)
        rows = simulate(Drive(seed), 1800, lambda t_s, _, slow=slow: 0.5 if slow(t_s) else 1.0)
        told = Told(heatsoak, [write_csv(f"{folder}/blind-{length_s}.csv", rows, temp=lambda *_: None)])
        sure = told.cleared(0.8) or [event for event in told.heat() if event["confidence"] > 0.8]
        yield f"dips of {length_s} s: {told.policy['class']}", not sure and told.policy["class"] != "none"


def no_reference(heatsoak, folder):
    """A phase that is slow from its first to its last second is not at full speed where a faster one is known."""
    for seed, share in enumerate((0.015, 0.05, 0.15, 0.3, 0.5)):
        fast = simulate(Drive(seed), 300, lambda *_: 1.0)
        slow = [(row[0] + 330, row[1], row[2]) for row in simulate(Drive(seed + 9), 300, lambda *_, s=share: s)]
        path = f"{folder}/slow-{share}.csv"
        with open(path, "w") as file:
            file.write("t_s,write_mb_per_s,temp_c,phase\n")
            for name, rows in (("fill", fast), ("again", slow)):
                file.writelines(f"{t},{mb:.3f},{round(c)},{name}\n" for t, mb, c in rows)
        text = Told(heatsoak, [path]).text
        cells = text.partition("again write")[2].split("STATE")[0].split()[:4] or text.partition("again:")[2].split()[:4]
        yield f"{share:.1%} of the speed before: {cells}", "–" in cells and "100" not in cells


def rare_sensors(heatsoak, folder):
    """Relays are found through sensors of 2 and 5 K, of half degrees, rare, late and dropping ones."""
    coarse = lambda k: lambda row, at: k * math.floor(row[2] / k)
    cases = {
        "2 K": coarse(2.0),
        "5 K": coarse(5.0),
        "half degrees": coarse(0.5),
        "every 20 s": lambda row, at: round(row[2]) if at % 20 == 0 else None,
        "half of them lost": lambda row, at: round(row[2]) if random.Random(at).random() < 0.5 else None,
        "every 30 s, 2 K": lambda row, at: 2.0 * math.floor(row[2] / 2.0) if at % 30 == 0 else None,
    }
    for seed, (name, temp) in enumerate(cases.items()):
        rows = simulate(Drive(seed, kelvin=62.0), 3600, relay(76.0, 68.0, 0.4))
        began_s = [b[0] for a, b in zip(rows, rows[1:]) if a[1] > 1800.0 > b[1]]
        told = Told(heatsoak, [write_csv(f"{folder}/sensor-{seed}.csv", rows, temp=temp)])
        right = told.near(began_s, 4.0) and told.policy["class"] in ("relay", "vendor")
        yield f"{name}: {told.policy['class']}, {len(told.heat())} of {len(began_s)}", right


def links(heatsoak, folder):
    """Rows above the link are told as such, and ones below it are not."""
    for seed, (mb, told_of) in enumerate(((380.0, False), (3500.0, False), (3900.0, False), (4120.0, True), (4300.0, True))):
        rows = simulate(Drive(seed, full_mb_per_s=mb, kelvin=30.0), 600, lambda *_: 1.0)
        steady = [(t, mb * (1 + (s / mb - 1) * 0.1), c) for t, s, c in rows]
        path = write_csv(f"{folder}/link-{mb:.0f}.csv", steady, facts=["link_bytes_per_s: 3938000000"])
        kinds = [caveat["kind"] for caveat in Told(heatsoak, [path]).one.get("caveats", [])]
        yield f"{mb:.0f} MB/s: {kinds}", ("above_link_rate" in kinds) == told_of


def host_rates(heatsoak, folder):
    """A day of a host that asks for other rates on a drive that never throttles is none."""
    for seed, kelvin, kept_s, every_s in [(1, 36, (20, 900), 10), (2, 50, (20, 900), 30), (3, 60, (20, 900), 30),
                                          (4, 44, (20, 900), 60), (5, 66, (20, 600), 30)]:
        drive, rate = Drive(seed, kelvin=kelvin), {"share": 0.5, "until_s": 0.0}
        drive.noisy = lambda speed: speed

        def asked(t_s, _, drive=drive, rate=rate, kept_s=kept_s):
            if t_s >= rate["until_s"]:
                rate.update(share=drive.random.uniform(0.15, 1.0), until_s=t_s + drive.random.uniform(*kept_s))
            return rate["share"]

        rows = simulate(drive, 86_400, asked, every_s, 1.0)
        aired = [(t_s, mb, temp_c + 4 * math.sin(2 * math.pi * (t_s / 86_400 - 0.25))) for t_s, mb, temp_c in rows]
        told = Told(heatsoak, [write_csv(f"{folder}/rates{seed}.csv", aired)])
        sure = [event for event in told.heat() if event["confidence"] >= 0.8]
        policy = told.policy
        right = not sure and policy["class"] == "none" and policy["confidence"] >= 0.8
        yield f"rates kept for {kept_s} s: {policy['class']} {policy['confidence']:.2f}, {len(sure)} onsets", right


def repeated_rows(heatsoak, folder):
    """Rows that repeat what was measured make a verdict no surer."""
    for seed, times in [(1, 2), (2, 4), (3, 5), (4, 3), (5, 10)]:
        rows = simulate(Drive(seed, kelvin=56), 3_600, relay(72.0, 67.0, 0.35), 10)
        often = [(row[0] - 10 + 10 * (n + 1) / times, *row[1:]) for row in rows for n in range(times)]
        once = Told(heatsoak, [write_csv(f"{folder}/once{seed}.csv", rows)])
        more = Told(heatsoak, [write_csv(f"{folder}/often{seed}.csv", often)])
        (one, sure), (other, surer) = [(told.policy["class"], told.policy["confidence"]) for told in (once, more)]
        yield f"{times} times: {one} {sure:.2f} and {other} {surer:.2f}", one == other and surer <= sure + 0.01


TRAPS = (warm_rooms, copies, rare_speeds, stops, two_thresholds, slow_crossings, caches, no_temperatures, no_reference,
         rare_sensors, links, host_rates, repeated_rows)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, builds = sys.argv[1], sys.argv[2:]
    print("| what holds | instances |" + "".join(f" right, {os.path.basename(build)} |" for build in builds))
    print("| --- | --- |" + " --- |" * len(builds))
    wrong = []
    for trap in TRAPS:
        counts, instances = [], 0
        for number, build in enumerate(builds):
            of_build = f"{folder}/{number}"
            os.makedirs(of_build, exist_ok=True)
            told = list(trap(build, of_build))
            instances = len(told)
            counts.append(sum(right for _, right in told))
            wrong += [f"{os.path.basename(build)}, {trap.__name__}: {name}" for name, right in told if not right]
        print(f"| {trap.__doc__} | {instances} |" + "".join(f" {count} |" for count in counts), flush=True)
    print("\nNot told rightly:", *wrong, sep="\n- ")


if __name__ == "__main__":
    main()
