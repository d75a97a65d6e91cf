"""Draws the times of the largest table against the selectivity, a panel an operation; the dotted line is the seed's turning point."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "systems"))
import chart
from operations import OPERATIONS


def draw(report, target):
    size = report["sizes"][-1]
    panels = {}
    for operation in OPERATIONS:
        points = [point for point in size["operations"][operation.name]["points"] if point["is_asked"]]
        panels[operation.name] = {name: [(point["percent"], point["seconds"][name] * 1e3) for point in points] for name in report["names"]}
    title = f"{size['rows']:,} rows in memory, {report['machine']['processor']}, {report['machine']['cores']} cores"
    chart.draw_panels(panels, target, title, "% of the rows selected", "milliseconds, from the text to the last row",
                      {operation.name: operation.seed for operation in OPERATIONS})
