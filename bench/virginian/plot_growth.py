"""Draws the growth that bench_virginian measured (--parts growth): the seed's figure 6.

    .venv/bin/python bench/virginian/plot_growth.py build/bench/virginian.json docs/virginian-growth

writes docs/virginian-growth.svg and docs/virginian-growth.png.
"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
# The same figures give the same file.
matplotlib.rcParams["svg.hashsalt"] = "diptych"

from matplotlib import pyplot, ticker


def draw(growth, target):
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
    axes.set_title(growth["machine"], fontsize="small")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    figure.savefig(f"{target}.svg", metadata={"Date": None})
    figure.savefig(f"{target}.png", dpi=150)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        draw(json.load(file)["growth"], sys.argv[2])


main()
