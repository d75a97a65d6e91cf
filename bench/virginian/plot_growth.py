"""Draws the growth that bench_virginian measured (--parts growth): the seed's figure 6.

    .venv/bin/python bench/virginian/plot_growth.py build/bench/growth.json docs/virginian-growth ["a title"]

writes docs/virginian-growth.svg and docs/virginian-growth.png. The title is the machine's name unless another is given.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "systems"))
import chart


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        growth = json.load(file)["growth"]
    millions = [rows / 1e6 for rows in growth["rows"]]
    lines = {name: list(zip(millions, [value * 1e3 for value in seconds]))
             for name, seconds in growth["mean_seconds"].items()}
    title = sys.argv[3] if len(sys.argv) == 4 else growth["machine"]
    chart.draw(lines, sys.argv[2], title, "million rows", "mean time of the ten queries, ms", x_ticks=millions)


main()
