#!/usr/bin/env python3
"""How often a policy that was named was right, by the confidence that it was given.

Usage: policies.py PICTURE.svg OWN.txt FOREIGN.txt
The texts are what `score` and `score --corpus foreign` print. All drives are simulated.
"""

import re
import sys

from rules import picture


def tenths(path):
    """Mean confidence, share that was right, and how many, of each tenth."""
    with open(path) as file:
        text = file.read()
    table = text.split("confidence of policies")[1].split("\n\n")[0]
    rows = re.findall(r"^0\.\d to \d\.\d +([\d.]+) +([\d.]+) +(\d+)$", table, re.MULTILINE)
    return [(float(mean), float(right), int(count)) for mean, right, count in rows]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    series = [
        (name, colour, tenths(path))
        for name, colour, path in zip(["own", "foreign"], ["#1f5fbf", "#c0501f"], sys.argv[2:])
    ]
    picture(sys.argv[1], series, ("confidence that was given", "share that was right (simulated)"), "policies")


if __name__ == "__main__":
    main()
