"""Draws the growth that bench_virginian measured (--parts growth): the seed's figure 6.

    .venv/bin/python bench/virginian/plot_growth.py build/bench/growth.json docs/virginian-growth ["a title"]

writes docs/virginian-growth.svg and docs/virginian-growth.png. The title is the machine's name unless another is given.
"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
# The same figures give the same file.
matplotlib.rcParams["svg.hashsalt"] = "diptych"

from matplotlib import pyplot, ticker


def draw(growth, target, title):
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    millions = [rows / 1e6 for rows in growth["rows"]]
    for name, seconds in growth["mean_seconds"].items():
        axes.plot(millions, [value * 1e3 for value in seconds], marker="o", markersize=4, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(millions, [f"{value:g}" for value in millions])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_xlabel("million rows")
    axes.set_ylabel("mean time of the ten queries, ms")
    axes.set_title(title, fontsize="small")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    figure.savefig(f"{target}.svg", metadata={"Date": None})
    figure.savefig(f"{target}.png", dpi=150)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        growth = json.load(file)["growth"]
    draw(growth, sys.argv[2], sys.argv[3] if len(sys.argv) == 4 else growth["machine"])


main()
