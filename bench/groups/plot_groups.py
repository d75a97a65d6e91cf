"""Draws the time over the number of groups that bench_groups.py measured (part growth).

    .venv/bin/python bench/groups/plot_groups.py build/bench/groups.json docs/groups ["a title"]

writes docs/groups.svg and docs/groups.png. The title is the number of rows and the processor unless another is given.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "systems"))
import chart
import g1_data


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        report = json.load(file)
    growth = report["parts"]["growth"]
    lines = {name: [(g1_data.COUNTS[question], entry["seconds"][name] * 1e3) for question, entry in growth.items()
                    if name in entry["seconds"]]
             for name in next(iter(growth.values()))["seconds"]}
    title = sys.argv[3] if len(sys.argv) == 4 else f"{report['rows']} rows, {report['machine']['processor']}"
    chart.draw(lines, sys.argv[2], title, "groups", "milliseconds")


main()
