#!/usr/bin/env python3
"""Where a drive slowed down: heatsoak and its peers on the same traces of simulated drives, scored alike.

The peers are a threshold at half speed, `ruptures` with PELT and a squared cost, the same behind a gate of temperature, CUSUM,
and fio's own steady-state rule. All see the same runs of the labelled corpus and are held against the same truth with the
same matching (onset and release within 3 s or one interval; what is not asked for counts neither way). The peers see speeds and
phases, and those with a gate temperatures; heatsoak sees counters and settings too, as it is made to, so there is a second
score in which nobody has to tell heat from anything else: runs that heat slowed down.

Whatever a peer may set is set for it on runs that are not scored, by the higher sum of both F1.

  cargo build --release -p score
  target/release/score --export tuned.jsonl --half tuned --runs 200
  target/release/score --export scored.jsonl --half scored --runs 400
  python3 bench/beside_peers.py --tuned tuned.jsonl --scored scored.jsonl

Needs numpy and ruptures.
"""

import argparse
import itertools
import json
import statistics
import time
import warnings

import numpy as np
import ruptures

warnings.filterwarnings("ignore", category=UserWarning)

# As heatsoak: speeds are added up to slices of at least this, and a stop is a thousandth of the fastest.
SLICE_S = 1.0
STOPPED = 1e-3
SHORTEST_S = 3.0


# ---- traces ----


def stretches(run):
    """Speeds of one phase and operation, in slices of at least a second: start, end, bytes per second. Made once, so that
    no peer's time has it."""
    if "stretches" not in run:
        run["stretches"] = list(made(run))
    return run["stretches"]


def made(run):
    for series in run["speeds"]:
        start, span = np.array(series["start_s"]), np.array(series["span_s"])
        data, phase = np.array(series["bytes"]), np.array(series["phase"], dtype=int)
        for number in np.unique(phase):
            if run["phases"][number]["op"] == "idle":
                continue
            of = phase == number
            yield sliced(start[of], span[of], data[of])


def sliced(start, span, data):
    each = max(1, int(round(SLICE_S / float(np.median(span)))))
    first = np.arange(0, len(start), each)
    seconds = np.add.reduceat(span, first)
    return start[first], start[first] + seconds, np.add.reduceat(data, first) / seconds


# ---- peers: each gives onsets and releases ----


def threshold(run, share, least_s):
    """Slow is what lies below a share of the phase's best speed for at least so long."""
    onsets, releases = [], []
    for start, end, speed in stretches(run):
        slow = (speed < share * speed.max()).astype(np.int8)
        edges = np.flatnonzero(np.diff(np.concatenate(([0], slow, [0]))))
        for first, after in edges.reshape(-1, 2):
            last = after == len(speed)
            if (end[after - 1] - start[first]) >= least_s or last:
                onsets.append(start[first])
                if not last:
                    releases.append(start[after])
    return onsets, releases


def scaled(speed, logarithm):
    if not logarithm:
        return speed / speed.max()
    return np.log(np.maximum(speed, STOPPED * speed.max()))


def cuts(stretch, logarithm, c, engine):
    """Change points of PELT with a squared cost and the penalty c sigma^2 log n."""
    start, end, speed = stretch
    least = max(1, int(np.ceil(SHORTEST_S / float(np.median(end - start)))))
    if len(speed) < 2 * least + 1 or speed.max() <= 0.0:
        return [len(speed)]
    signal = scaled(speed, logarithm).reshape(-1, 1)
    # Noise from the median difference of neighbours, which steps hardly move.
    sigma = np.median(np.abs(np.diff(signal[:, 0]))) / (0.6745 * np.sqrt(2))
    penalty = max(c * sigma**2 * np.log(len(speed)), 1e-9)
    if engine == "pelt":
        return ruptures.Pelt(model="l2", min_size=least, jump=1).fit(signal).predict(pen=penalty)
    return ruptures.KernelCPD(kernel="linear", min_size=least).fit(signal).predict(pen=penalty)


def levels(stretch, at):
    """Mean speed, start and end of each piece."""
    start, end, speed = stretch
    first = [0] + at[:-1]
    return [(speed[a:b].mean(), start[a], end[b - 1]) for a, b in zip(first, at)]


def steps(pieces, loss, every_drop):
    """Each drop an onset and each rise a release; or only those from full speed on and back to it."""
    onsets, releases, before = [], [], None
    for (was, _, _), (now, since, _) in zip(pieces, pieces[1:]):
        if every_drop:
            if now < (1 - loss) * was:
                onsets.append(since)
            elif was < (1 - loss) * now:
                releases.append(since)
        elif before is None and now < (1 - loss) * was:
            onsets.append(since)
            before = was
        elif before is not None and now >= (1 - loss / 2) * before:
            releases.append(since)
            before = None
    return onsets, releases


def pelt(run, logarithm, c, loss, every_drop, engine="kernel"):
    onsets, releases = [], []
    for stretch in stretches(run):
        of = steps(levels(stretch, cuts(stretch, logarithm, c, engine)), loss, every_drop)
        onsets += of[0]
        releases += of[1]
    return onsets, releases


def gated(run, onsets, releases, least_k, below_k):
    """Of these only what a look at the temperature lets pass for heat: the reading at the onset is at least so hot, and at most
    so far below the hottest up to then. A release passes with the onset before it."""
    t_s, kelvin = run["temperatures"]["t_s"], run["temperatures"]["kelvin"]
    hottest = np.maximum.accumulate(kelvin) if kelvin else []

    def passes(onset_s):
        at = int(np.searchsorted(t_s, onset_s, side="right")) - 1
        return at >= 0 and kelvin[at] >= least_k and kelvin[at] >= hottest[at] - below_k

    passed = {onset_s: passes(onset_s) for onset_s in onsets}
    before = lambda release_s: max((o for o in onsets if o < release_s), default=None)
    return [o for o in onsets if passed[o]], [r for r in releases if passed.get(before(r), False)]


def cusum_cuts(stretch, logarithm, k, h):
    """Change points of a two-sided CUSUM (Page 1954): sums of how far each second is off the level, less the slack `k`, in
    standard deviations; beyond `h` the level has changed, where the sum last was nothing. The next level is taken from there."""
    start, end, speed = stretch
    least = max(1, int(np.ceil(SHORTEST_S / float(np.median(end - start)))))
    if len(speed) < 2 * least + 1 or speed.max() <= 0.0:
        return [len(speed)]
    signal = scaled(speed, logarithm)
    sigma = max(float(np.median(np.abs(np.diff(signal)))) / (0.6745 * np.sqrt(2)), 1e-3)
    at, found, level = least, [], float(signal[:least].mean())
    up = down = 0.0
    since = [least, least]
    while at < len(signal):
        off = (signal[at] - level) / sigma
        up, down = max(0.0, up + off - k), max(0.0, down - off - k)
        since = [at + 1 if up == 0.0 else since[0], at + 1 if down == 0.0 else since[1]]
        if max(up, down) > h:
            cut = since[0] if up > down else since[1]
            if cut - (found[-1] if found else 0) >= least and cut < len(signal):
                found.append(cut)
            level = float(signal[cut : cut + least].mean()) if cut < len(signal) else level
            at, up, down = max(at, cut + least - 1), 0.0, 0.0
            since = [at + 1, at + 1]
        at += 1
    return found + [len(signal)]


def cusum(run, logarithm, k, h, loss, every_drop):
    onsets, releases = [], []
    for stretch in stretches(run):
        of = steps(levels(stretch, cusum_cuts(stretch, logarithm, k, h)), loss, every_drop)
        onsets += of[0]
        releases += of[1]
    return onsets, releases


def fio_rule(speed, seconds, rule, limit, window_s):
    """When fio would have ended the job, in seconds; None if never. As its steadystate.c: over the last window of samples the
    largest deviation from the mean, or the slope of the best line for each sample, in percent of the mean, below a limit."""
    window = max(2, int(round(window_s / seconds)))
    if len(speed) < window:
        return None
    x = np.arange(window) - (window - 1) / 2
    for last in range(window, len(speed) + 1):
        y = speed[last - window : last]
        mean = y.mean()
        if mean <= 0.0:
            continue
        if rule == "bw":
            criterion = np.abs(y - mean).max() / mean
        else:
            criterion = abs((x * y).sum() / (x * x).sum()) / mean / seconds
        if 100 * criterion < limit:
            return last * seconds
    return None


# ---- scoring: the matching of the corpus' own scorer ----


def match(windows, times, run):
    right, free = 0, [True] * len(times)
    for low, high in windows:
        off = [max(low - t, t - high, 0.0) for t in times]
        fits = [i for i in range(len(times)) if free[i] and off[i] <= run["within_s"] + 1e-6]
        if fits:
            free[min(fits, key=lambda i: off[i])] = False
            right += 1
    grey = lambda t: any(low <= t <= high for low, high in run["grey_s"])
    false = sum(1 for t, left in zip(times, free) if left and not grey(t))
    return np.array([right, len(windows) - right, false])


def heat(run):
    return [episode for episode in run["episodes"] if episode["heat"]]


def counted(run, onsets, releases):
    asked = [e["release_s"] for e in heat(run) if e["release_s"]]
    return match([e["onset_s"] for e in heat(run)], sorted(onsets), run), match(asked, sorted(releases), run)


class Score:
    """Sums over runs, as the corpus' scorer makes them."""

    def __init__(self):
        self.onset, self.release = np.zeros(3, int), np.zeros(3, int)
        self.alarms, self.cold_h, self.verdicts = 0, 0.0, np.zeros((2, 2), int)

    def add(self, run, onsets, releases):
        onset, release = counted(run, onsets, releases)
        self.onset += onset
        self.release += release
        if not run["throttled"]:
            self.alarms += len(onsets)
            self.cold_h += run["hours"]
        # Runs in which heat acted but nothing of it is asked for are not asked this either.
        if heat(run) or not run["throttled"]:
            self.verdicts[int(bool(heat(run)))][int(bool(onsets))] += 1

    def f1(self):
        return tuple(2 * r / max(2 * r + m + f, 1) for r, m, f in (self.onset, self.release))

    def run_level(self):
        """Mean of the shares of throttled and of other runs told right."""
        return statistics.mean(row[i] / max(row.sum(), 1) for i, row in enumerate(self.verdicts))


def total(runs, peer):
    score = Score()
    for run in runs:
        score.add(run, *peer(run))
    return score


def tune(runs, grid, peer):
    """The setting with the highest sum of both F1."""
    return max(grid, key=lambda setting: sum(total(runs, lambda run: peer(run, *setting)).f1()))


def tune_cuts(runs, settings, cut):
    """Tries the settings of what cuts, losses and both ways to read steps, for all runs and for those that heat slowed down; cuts
    are made once for each setting."""
    best = [(-1.0, None), (-1.0, None)]
    for setting in settings:
        pieces = [[levels(s, cut(s, *setting)) for s in stretches(run)] for run in runs]
        for loss, every_drop in itertools.product((0.04, 0.08, 0.15, 0.3, 0.5), (True, False)):
            sums = Score(), Score()
            for run, of_run in zip(runs, pieces):
                told = [steps(of, loss, every_drop) for of in of_run]
                onsets, releases = sum((o for o, _ in told), []), sum((r for _, r in told), [])
                for score in sums if run["throttled"] else sums[:1]:
                    score.add(run, onsets, releases)
            for i, score in enumerate(sums):
                best[i] = max(best[i], (sum(score.f1()), (*setting, loss, every_drop)), key=lambda pair: pair[0])
    return best[0][1], best[1][1]


def tune_gate(runs, peer):
    """How hot, and how near to the hottest, an onset of `peer` has to be."""
    told = [peer(run) for run in runs]
    best = (-1.0, None)
    for gate in itertools.product((0.0, 313.0, 323.0, 328.0, 333.0, 338.0, 343.0, 348.0), (1.5, 3.0, 6.0, 12.0, 1000.0)):
        score = Score()
        for run, (onsets, releases) in zip(runs, told):
            score.add(run, *gated(run, onsets, releases, *gate))
        best = max(best, (sum(score.f1()), gate))
    return best[1]


# ---- tables ----


def seconds_each(runs, peer, times=3):
    """Processor time of each run, the best of some."""
    def once(run):
        began = time.process_time()
        peer(run)
        return time.process_time() - began

    return [min(once(run) for _ in range(times)) for run in runs]


def milliseconds(seconds):
    return f"{1e3 * statistics.median(seconds):.2f} / {1e3 * statistics.mean(seconds):.2f} / {1e3 * max(seconds):.0f}"


def row(name, score, warm, seconds):
    onset, release = score.f1()
    alarms = score.alarms / max(score.cold_h, 1e-9)
    warm_onset, warm_release = warm.f1()
    print(
        f"| {name} | {onset:.3f} | {release:.3f} | {alarms:.2f} | {100 * score.run_level():.1f} % |"
        f" {warm_onset:.3f} | {warm_release:.3f} | {milliseconds(seconds)} |",
        flush=True,
    )


def ours(run):
    return run["ours"]["onsets_s"], run["ours"]["releases_s"]


def told_alike(runs):
    """Our events matched here count as the corpus' own scorer counted them. It merges releases of one moment, as here."""
    for run in runs:
        releases = run["ours"]["releases_s"]
        run["ours"]["releases_s"] = [t for i, t in enumerate(releases) if i == 0 or abs(t - releases[i - 1]) >= 1e-6]
        onset, release = counted(run, *ours(run))
        theirs = run["ours"]["counted"]
        assert list(onset) == theirs["onset"] and list(release) == theirs["release"], run["number"]


def throttled(runs):
    return [run for run in runs if run["throttled"]]


def compare(tuned, scored):
    print("| | onset F1 | release F1 | false alarms/h without heat | run told right | onset F1, heat only | release F1, heat only | ms a run: median / mean / most |")
    print("|---|---|---|---|---|---|---|---|")
    warm = throttled(scored)
    row("heatsoak", total(scored, ours), total(warm, ours), [run["ours"]["seconds"] for run in scored])
    half = lambda run: threshold(run, 0.5, SHORTEST_S)
    row("threshold, 50 % for 3 s", total(scored, half), total(warm, half), seconds_each(scored, half))
    grid = list(itertools.product(np.arange(0.3, 0.96, 0.05), (0.0, 3.0, 6.0, 12.0)))
    best, best_warm = tune(tuned, grid, threshold), tune(throttled(tuned), grid, threshold)
    best_of, warm_of = lambda run: threshold(run, *best), lambda run: threshold(run, *best_warm)
    name = f"threshold, tuned: {best[0]:.0%} for {best[1]:.0f} s (heat only: {best_warm[0]:.0%}, {best_warm[1]:.0f} s)"
    row(name, total(scored, best_of), total(warm, warm_of), seconds_each(scored, best_of))
    for logarithm in (True, False):
        penalties = [(logarithm, c) for c in (4, 8, 16, 32, 64, 128, 256, 512, 1024)]
        all_of, heat_of = tune_cuts(tuned, penalties, lambda s, logarithm, c: cuts(s, logarithm, c, "kernel"))
        peer, peer_warm = lambda run: pelt(run, *all_of), lambda run: pelt(run, *heat_of)
        name = f"ruptures PELT-L2, {of_speed(logarithm)}: {pelt_set(all_of)} (heat only: {pelt_set(heat_of)})"
        row(name + "; `KernelCPD`, in C", total(scored, peer), total(warm, peer_warm), seconds_each(scored, peer))
        slow = lambda run: pelt(run, *all_of, engine="pelt")
        few = scored[0 :: max(1, len(scored) // 30)]
        same = sum(slow(run) == peer(run) for run in few)
        print(f"| the same by `Pelt`, in Python, {len(few)} of the runs; {same} with the very same events | | | | | | | {milliseconds(seconds_each(few, slow, 1))} |", flush=True)
        gate = tune_gate(tuned, peer)
        through = lambda run: gated(run, *peer(run), *gate)
        near = "" if gate[1] >= 1000 else f", at most {gate[1]:g} K below the hottest so far"
        name = f"the first of these two behind a gate: onsets from {gate[0] - 273.0:.0f} °C on{near}"
        row(name, total(scored, through), total(warm, through), seconds_each(scored, through))
    for logarithm in (True, False):
        slacks = [(logarithm, k, h) for k in (0.5, 1.0, 2.0, 4.0) for h in (5.0, 10.0, 20.0, 50.0, 100.0)]
        all_of, heat_of = tune_cuts(tuned, slacks, cusum_cuts)
        peer, peer_warm = lambda run: cusum(run, *all_of), lambda run: cusum(run, *heat_of)
        name = f"CUSUM, {of_speed(logarithm)}: {cusum_set(all_of)} (heat only: {cusum_set(heat_of)})"
        row(name, total(scored, peer), total(warm, peer_warm), seconds_each(scored, peer))


def of_speed(logarithm):
    return "log speed" if logarithm else "linear speed"


def read_as(loss, every_drop):
    return f"steps over {loss:.0%}, {'every step' if every_drop else 'from full speed on'}"


def pelt_set(setting):
    return f"c = {setting[1]}, {read_as(*setting[2:])}"


def cusum_set(setting):
    return f"k = {setting[1]:g}, h = {setting[2]:g}, {read_as(*setting[3:])}"


def outcome(run, stretch, stop_s):
    """What fio's rule did on a load that heat slowed down: ended it before that, in it, or never."""
    start, _, _ = stretch
    if stop_s is None:
        return "never ended"
    at = start[0] + stop_s
    first = min(e["onset_s"][0] for e in heat(run))
    if at < first:
        return "ended before the slow-down"
    return "ended while or after the drive was slow"


def steady(scored):
    print("\n| fio's rule | runs | ended before the slow-down | ended while or after the drive was slow | never ended | median s to decide | runs without heat ended | ms a run |")
    print("|---|---|---|---|---|---|---|---|")
    settings = [("bw", 10.0, 30.0), ("bw", 10.0, 300.0), ("bw_slope", 1.0, 10.0), ("bw_slope", 0.1, 60.0)]
    for rule, limit, window_s in settings:
        tally, waits, cold, took = {}, [], [0, 0], []
        for run in scored:
            # The load in which heat first acts; of other runs the longest.
            loads = stretches(run)
            first = min((e["onset_s"][0] for e in heat(run)), default=None)
            inside = [s for s in loads if first is not None and s[0][0] - 1 <= first <= s[1][-1] + 1]
            load = (inside or [max(loads, key=lambda s: s[1][-1] - s[0][0])])[0]
            began = time.process_time()
            stop_s = fio_rule(load[2], float(np.median(load[1] - load[0])), rule, limit, window_s)
            took.append(time.process_time() - began)
            if heat(run):
                what = outcome(run, load, stop_s)
                tally[what] = tally.get(what, 0) + 1
                waits += [] if stop_s is None else [stop_s]
            elif not run["throttled"]:
                cold[0] += stop_s is not None
                cold[1] += 1
        n = sum(tally.values())
        share = lambda what: f"{100 * tally.get(what, 0) / n:.0f} %"
        parts = " | ".join(map(share, ("ended before the slow-down", "ended while or after the drive was slow", "never ended")))
        wait = f"{statistics.median(waits):.0f}" if waits else "-"
        print(f"| `ss={rule}:{limit:g}%`, `ss_dur={window_s:g}` | {n} | {parts} | {wait} | {100 * cold[0] / cold[1]:.0f} % of {cold[1]} | {milliseconds(took)} |", flush=True)
    cyclic(scored)


def cyclic(scored):
    """Drives that go to and fro at a steady period: what a rule says follows from its window."""
    runs = [run for run in scored if run["ours"]["cyclostationary"]]
    flips = 0
    for run in runs:
        load = max(stretches(run), key=lambda s: s[1][-1] - s[0][0])
        seconds = float(np.median(load[1] - load[0]))
        said = {fio_rule(load[2], seconds, "bw", 10.0, window_s) is not None for window_s in (10, 30, 60, 120, 240)}
        flips += len(said) == 2
    print(f"\nheatsoak told {len(runs)} runs cyclostationary; on {flips} of them `ss=bw:10%` says steady or not by its `ss_dur` alone (10 to 240 s).")


def main():
    typed = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    typed.add_argument("--tuned", required=True, help="export of the tuned half")
    typed.add_argument("--scored", required=True, help="export of the scored half")
    typed = typed.parse_args()
    read = lambda path: [json.loads(line) for line in open(path)]
    tuned, scored = read(typed.tuned), read(typed.scored)
    told_alike(tuned)
    told_alike(scored)
    hours = sum(run["hours"] for run in scored)
    print(f"{len(scored)} runs of simulated drives, {hours:.0f} h, {len(throttled(scored))} of them slowed down by heat; ruptures {ruptures.__version__}, numpy {np.__version__}; peers set on {len(tuned)} others\n")
    compare(tuned, scored)
    steady(scored)


if __name__ == "__main__":
    main()
