#!/usr/bin/env python3
"""What each rule of the verdict is worth, and how often its probabilities are right.

Usage: rules.py PICTURE.svg DROPS.jsonl...
The files are what `score --drops FILE` writes: every drop with what each observation weighed and what it was in truth.
Prints a table: for each rule how many drops it weighed on, and by how much the mean log loss of the truth rises
without it; then draws the probability of heat against how often it was heat. All drives are simulated.
"""

import json
import math
import sys

SUSPECTS = ["Tmt1", "Tmt2", "Vendor", "Slc", "Other"]
BEFOREHAND = [0.2, 0.1, 0.1, 0.1, 0.5]
UNTHOUGHT_OF = 0.02


def drops(path):
    """Those whose cause the log decides."""
    with open(path) as file:
        for line in file:
            drop = json.loads(line)
            if not drop["truth"].startswith("Undecided"):
                yield drop


def probabilities(rows, without=None):
    total = [sum(row[s] for name, row in rows if name != without) for s in range(5)]
    most = max(total)
    odds = [math.exp(t - most) for t in total]
    return [(1 - UNTHOUGHT_OF) * o / sum(odds) + UNTHOUGHT_OF * b for o, b in zip(odds, BEFOREHAND)]


def right(truth):
    if truth == "Thermal":
        return [0, 1, 2]
    return [4 if truth == "Nothing" else SUSPECTS.index(truth)]


def table(all_drops):
    names = sorted({name for rows, _ in all_drops for name, _ in rows})
    loss = lambda rows, truth, without=None: -math.log(sum(probabilities(rows, without)[s] for s in right(truth)))
    whole = [loss(rows, truth) for rows, truth in all_drops]
    print(f"{len(all_drops)} drops, mean log loss {sum(whole) / len(whole):.4f}\n")
    print("| observation | drops | log loss rises without it by |\n| --- | --- | --- |")
    worth = []
    for name in names:
        seen = [i for i, (rows, _) in enumerate(all_drops) if any(n == name and any(row) for n, row in rows)]
        rise = sum(loss(*all_drops[i], without=name) - whole[i] for i in seen)
        worth.append((rise / len(all_drops), name, len(seen)))
    for rise, name, seen in sorted(worth, reverse=True):
        print(f"| `{name}` | {seen} | {rise:+.4f} |")


def reliability(all_drops):
    tenths = [[0.0, 0, 0] for _ in range(10)]
    for rows, truth in all_drops:
        heat = sum(probabilities(rows)[:3])
        tenth = tenths[min(int(10 * heat), 9)]
        tenth[0] += heat
        tenth[1] += truth in ("Tmt1", "Tmt2", "Vendor", "Thermal")
        tenth[2] += 1
    return [(said / n, true / n, n) for said, true, n in tenths if n]


def picture(path, series, axes=("probability of heat that was given", "share that was heat (simulated)"), what="drops"):
    size, edge = 320, 48
    x = lambda p: edge + p * size
    y = lambda p: edge + (1 - p) * size
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size + 2 * edge + 150} {size + 2 * edge}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="100%" height="100%" fill="white"/>',
        f'<path d="M{x(0)} {y(0)}L{x(1)} {y(1)}" stroke="#999" stroke-dasharray="4 4"/>',
        f'<path d="M{x(0)} {y(1)}V{y(0)}H{x(1)}" fill="none" stroke="black"/>',
    ]
    for tick in range(0, 11, 2):
        p = tick / 10
        parts.append(f'<text x="{x(p)}" y="{y(0) + 16}" text-anchor="middle">{p:.1f}</text>')
        parts.append(f'<text x="{x(0) - 6}" y="{y(p) + 4}" text-anchor="end">{p:.1f}</text>')
    parts.append(f'<text x="{x(0.5)}" y="{y(0) + 36}" text-anchor="middle">{axes[0]}</text>')
    parts.append(f'<text transform="translate(14 {y(0.5)}) rotate(-90)" text-anchor="middle">{axes[1]}</text>')
    for at, (name, colour, points) in enumerate(series):
        line = " ".join(f"{x(said):.1f},{y(true):.1f}" for said, true, _ in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for said, true, n in points:
            # Two standard errors of a share of n.
            error = 2 * math.sqrt(max(true * (1 - true), 0.25 / n) / n)
            low, high = max(true - error, 0), min(true + error, 1)
            parts.append(f'<path d="M{x(said):.1f} {y(low):.1f}V{y(high):.1f}" stroke="{colour}"/>')
            parts.append(f'<circle cx="{x(said):.1f}" cy="{y(true):.1f}" r="3" fill="{colour}"><title>{n} {what}</title></circle>')
        drops_of = sum(n for _, _, n in points)
        parts.append(f'<text x="{x(1) + 12}" y="{y(1) + 16 + 18 * at}" fill="{colour}">{name}: {drops_of} {what}</text>')
    parts.append("</svg>\n")
    with open(path, "w") as file:
        file.write("\n".join(parts))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    files = sys.argv[2:]
    each = [[([(o["kind"], w) for o, w in d["rows"]], d["truth"]) for d in drops(path)] for path in files]
    table([drop for of in each for drop in of])
    colours = ["#1f5fbf", "#c0501f", "#2f8f4f", "#7f4fbf"]
    names = ["own", "foreign"] if len(files) == 2 else files
    picture(sys.argv[1], [(name, colour, reliability(of)) for name, colour, of in zip(names, colours, each)])


if __name__ == "__main__":
    main()
