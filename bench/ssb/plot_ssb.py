"""Draws what bench_ssb.py measured: the time of each query, a bar a system.

    .venv/bin/python bench/ssb/plot_ssb.py build/bench/ssb.json docs/ssb ["a part" ["a title"]]

writes docs/ssb.svg and docs/ssb.png. A part is "without keys" (the default) or "with keys".
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "systems"))
import chart


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        report = json.load(file)
    queries = report["parts"][sys.argv[3] if len(sys.argv) > 3 else "without keys"]["queries"]
    names = next(iter(queries.values()))["seconds"]
    bars = {name: [(query, entry["seconds"][name] * 1e3) for query, entry in queries.items()] for name in names}
    title = f"SSB, scale factor {report['scale']:g}, {report['machine']['processor']}, {report['threads']} threads"
    chart.draw_bars(bars, sys.argv[2], sys.argv[4] if len(sys.argv) == 5 else title, "milliseconds")


main()
