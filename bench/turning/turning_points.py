"""Times of one operation on one table at many selectivities, and the turning points in them."""

import math
import statistics

# The bisection ends when both of its ends are as near as this.
NEAR = 1.03
# A point that is slower by less than this is measured again so often, and the median of all runs counts: one of the times another process
# may have come between.
DOUBTFUL = 3
REPEATS = 2


class Curve:
    """measure: from a number of selected rows to the seconds of every run, by contestant."""

    def __init__(self, measure, table_rows, grid):
        self.measure, self.table_rows, self.grid = measure, table_rows, grid
        self.runs = {}
        self.repeated = set()
        for rows in grid:
            self.add(rows)

    def add(self, rows):
        known = self.runs.setdefault(rows, {})
        for name, seconds in self.measure(rows).items():
            known.setdefault(name, []).extend(seconds)

    def ratio(self, rows, ours, theirs):
        if rows not in self.runs:
            self.add(rows)
        runs = self.runs[rows]
        return statistics.median(runs[ours]) / statistics.median(runs[theirs])

    def is_slower(self, rows, ours, theirs):
        ratio = self.ratio(rows, ours, theirs)
        if 1 < ratio < DOUBTFUL and rows not in self.repeated:
            self.repeated.add(rows)
            for _ in range(REPEATS):
                self.add(rows)
            ratio = self.ratio(rows, ours, theirs)
        return ratio > 1

    def turning_point(self, ours, theirs):
        """The least share of the rows, in %, from which on `ours` is not slower than `theirs`: 0 where it never is, None where it is at
        the last selectivity."""
        slower = [place for place, rows in enumerate(self.grid) if self.is_slower(rows, ours, theirs)]
        if not slower:
            return 0
        if slower[-1] == len(self.grid) - 1:
            return None
        low, high = self.grid[slower[-1]], self.grid[slower[-1] + 1]
        while high > low + 1 and high > low * NEAR:
            middle = min(max(round(math.sqrt(low * high)), low + 1), high - 1)
            if self.is_slower(middle, ours, theirs):
                low = middle
            else:
                high = middle
        return 100 * high / self.table_rows

    def points(self):
        return [{"rows": rows, "percent": 100 * rows / self.table_rows, "is_asked": rows in self.grid,
                 "runs": len(next(iter(runs.values()))), "seconds": {name: statistics.median(each) for name, each in runs.items()}}
                for rows, runs in sorted(self.runs.items())]


def grid_of(selectivities, table_rows):
    """Numbers of rows, ascending. selectivities: percentages, and 0 for one row."""
    return sorted({max(1, round(percent * table_rows / 100)) for percent in selectivities})


def slow_points(report, baseline, least_percent):
    """(operation, table's rows, contestant, point, factor) of the asked points at which a contestant is slower, the worst first."""
    found = []
    for size in report["sizes"]:
        for operation, entry in size["operations"].items():
            for point in entry["points"]:
                if not point["is_asked"] or point["percent"] < least_percent:
                    continue
                for name in report["contestants"]:
                    factor = point["seconds"][name] / point["seconds"][baseline]
                    if factor > 1:
                        found.append((operation, size["rows"], name, point, factor))
    return sorted(found, key=lambda each: -each[-1])
