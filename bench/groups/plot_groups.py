"""Draws the time over the number of groups that bench_groups.py measured (part growth).

    .venv/bin/python bench/groups/plot_groups.py build/bench/groups.json docs/groups ["a title"]

writes docs/groups.svg and docs/groups.png. The title is the machine's name and the number of rows unless another is given.
"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
# The same figures give the same file.
matplotlib.rcParams["svg.hashsalt"] = "diptych"

from matplotlib import pyplot, ticker

import g1_data


def draw(report, target, title):
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    growth = report["parts"]["growth"]
    for name in next(iter(growth.values()))["seconds"]:
        points = [(g1_data.COUNTS[question], entry["seconds"][name] * 1e3) for question, entry in growth.items()
                  if name in entry["seconds"]]
        axes.plot(*zip(*points), marker="o", markersize=4, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_xlabel("groups")
    axes.set_ylabel("milliseconds")
    axes.set_title(title, fontsize="small")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    figure.savefig(f"{target}.svg", metadata={"Date": None})
    figure.savefig(f"{target}.png", dpi=150)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        report = json.load(file)
    machine = report["machine"]
    draw(report, sys.argv[2], sys.argv[3] if len(sys.argv) == 4 else f"{report['rows']} rows, {machine['processor']}")


main()
