"""Turning points: from which share of selected rows on is Diptych not slower than SQLite? Both in memory, as a database on a GPU was once
measured against SQLite (docs/turning-points.md).

The table has a unique random number, one of 100 groups, and a random number from 1 to 65535. Six operations select the rows with
`id <= n`: selection; selection and sort; selection and grouping; insert by selection; update; delete. SQLite has no index on id, or has
one. Diptych has none, and runs on one core, on all cores, on a device (--device), and by its own choice. Each of the two systems has a
process (turning_driver) that runs statements through its C API. Contestants take turns: a run to warm up and a measured one; medians
count. The time is from the text of the statement until every value of every row has been read and the statement is closed.

A change runs in a transaction that is rolled back, in both systems, so that every run finds the same table; the change is timed, BEGIN and
ROLLBACK are not. That leaves out what COMMIT costs, and keeps what the change has to do so that it can be rolled back. For some
selectivities of the largest table the change is also timed as a transaction of its own, its commit included, on a copy of the table which
is made before the clock starts; an index on the copy is made before, too. The target of the insert has no index and is empty.

Each run's number of rows and the sum of all values are compared; for three selectivities, all values of all rows, and after a change all
rows of the table. A difference ends the program with status 1.

usage: bench_turning.py --quick   (make bench-turning OPTIONS=--quick)
       bench_turning.py --from-json build/bench/turning.json    draws docs/turning-points.svg and .png, writes the document's tables
"""

import argparse
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import contestants
import plot_turning
import side_by_side
import tables
from operations import OPERATIONS
from systems import BASELINES, Systems
from turning_points import Curve, grid_of

SIZES = "100000,200000,300000,400000,500000"
SELECTIVITIES = "0,0.001,0.01,0.1,0.2,0.5,1,2,5,10,25,50,100"
JSON = os.path.join(ROOT, "build", "bench", "turning.json")
QUICK = {"sizes": "100000", "selectivities": "0,0.1,1,10,100", "commit_selectivities": "1", "runs": 3, "most_runs": 15, "seconds": 0.1,
         "json": JSON.replace(".json", "-quick.json")}


def measure_operation(systems, operation, table_rows, selectivities):
    """Its points, and its turning points by baseline and contestant."""
    grid = grid_of(selectivities, table_rows)
    for rows in sorted({grid[0], grid[len(grid) // 2], grid[-1]}):
        systems.compare(operation, rows)
    systems.settle(operation, grid[len(grid) // 2])
    curve = Curve(lambda rows: systems.measure(operation, rows), table_rows, grid)
    found = {baseline: {name: curve.turning_point(name, baseline) for name in systems.settings} for baseline in BASELINES}
    return {"points": curve.points(), "turning_points": found}


def measure_size(systems, table_rows, selectivities):
    systems.load(table_rows)
    systems.load_of_others.reset()
    print(f"\n{table_rows:,} rows; turning points, % of the rows: {', '.join(systems.settings)}", flush=True)
    found = {"rows": table_rows, "operations": {}}
    for operation in OPERATIONS:
        entry = found["operations"][operation.name] = measure_operation(systems, operation, table_rows, selectivities)
        shown = [f"{what}: {', '.join(tables.shown_percent(value) for value in entry['turning_points'][baseline].values())}"
                 for baseline, what in BASELINES.items()]
        print(f"  {operation.name:<24}{'; '.join(shown)}", flush=True)
    systems.compare_tables(table_rows)
    found["other_load"] = systems.load_of_others.cores()
    print(f"  other processes kept {found['other_load']:.2f} cores busy meanwhile", flush=True)
    return found


def measure_commits(systems, table_rows, selectivities):
    """On the table that was loaded last."""
    points = []
    for operation in OPERATIONS:
        if operation.is_change:
            for rows in grid_of(selectivities, table_rows):
                seconds = systems.measure_commit(operation, rows)
                points.append({"operation": operation.name, "rows": rows, "percent": 100 * rows / table_rows,
                               "seconds": {name: sorted(each)[len(each) // 2] for name, each in seconds.items()}})
    return {"rows": table_rows, "points": points}


def measure(options):
    systems = Systems(options)
    report = {"benchmark": "turning", "machine": side_by_side.describe_machine(), "versions": systems.versions, "device": options.device,
              "names": systems.names, "contestants": list(systems.settings), "sizes": []}
    for table_rows in sorted(options.sizes):
        report["sizes"].append(measure_size(systems, table_rows, options.selectivities))
    report["commits"] = measure_commits(systems, max(options.sizes), options.commit_selectivities)
    systems.stop()
    return report


def numbers(convert):
    return lambda text: [convert(part) for part in text.split(",") if part]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", "--rows", default=SIZES, help="rows of the tables", type=numbers(contestants.positive))
    parser.add_argument("--selectivities", default=SELECTIVITIES, type=numbers(float), help="%% of the rows; 0: one row")
    parser.add_argument("--commit-selectivities", default="0.1,1,10,100", type=numbers(float), help="where commits are timed, too")
    parser.add_argument("--runs", type=contestants.positive, default=5, help="of a point, at least")
    parser.add_argument("--most-runs", type=contestants.positive, default=51, help="of a point whose runs are short")
    parser.add_argument("--seconds", type=float, default=0.3, help="until which a point is measured, if --most-runs allow")
    parser.add_argument("--patience", type=float, default=0, metavar="SECONDS",
                        help="as long, all together, measurements are repeated while other processes keep cores busy")
    parser.add_argument("--quick", action="store_true", help="one size, five selectivities, few runs; into turning-quick.json")
    parser.add_argument("--device", default="", help="cuda or opencl: also on that device")
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "release", "libdiptych.so"))
    parser.add_argument("--driver", default=os.path.join(ROOT, "build", "release", "turning_driver"))
    parser.add_argument("--json", default=JSON)
    parser.add_argument("--from-json", metavar="FILE", help="measures nothing: draws and tables of that run go to docs/")
    if "--quick" in sys.argv:
        parser.set_defaults(**QUICK)
    return parser.parse_args()


def main():
    options = parse_options()
    if options.from_json:
        with open(options.from_json) as file:
            report = json.load(file)
        plot_turning.draw(report, os.path.join(ROOT, "docs", "turning-points"))
        tables.write_document(report, os.path.join(ROOT, "docs", "turning-points.md"))
        return
    report = measure(options)
    print(f"\n{tables.machine(report)}")
    tables.print_all(report)
    side_by_side.write_json(report, options.json)


main()
