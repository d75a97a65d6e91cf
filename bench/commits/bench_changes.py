"""UPDATE and DELETE of 1, 10 and 100 % of a table's rows, on Diptych and DuckDB in memory, and what a scan takes afterwards.

Every run has a copy of the table of its own, made before the clock starts. The rows that change are spread evenly over the table
(`id % 100 < percent`), or stand together at its start. Systems take turns, run by run; medians count. Afterwards count, sums and the least
string are compared. The scans behind a change are given against one of a fresh table with the same rows: at once, and behind CHECKPOINT,
which writes the tablets anew that have lost many rows, as a thread does by and by.

usage: bench_changes.py --rows 10000000 --threads 2 --runs 3   (make bench-changes)
"""

import argparse
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import contestants
import diptych_library
import duckdb

import side_by_side

COLUMNS = "{n} AS id, {n} * 7919 % 1000 AS part, CAST({n} % 100000 AS numeric(12, 2)) AS amount, 'name ' || {n} % 5000 AS name"
SCAN = "SELECT count(*), sum(id), sum(amount), min(name) FROM t"
CHANGES = {"delete": "DELETE FROM t WHERE {}", "update": "UPDATE t SET amount = amount + 1 WHERE {}"}
PERCENT = (1, 10, 100)
PLACES = {"spread": "id % 100 < {percent}", "together": "id < {rows} / 100 * {percent}"}


class Diptych:
    name = "diptych"

    def __init__(self, options):
        self.connection = diptych_library.Connection(diptych_library.load_library(options.library), ":memory:")
        self.run(f"SET threads = {options.threads}")
        self.run("SET device = cpu")
        self.run("SET compaction = checkpoint")
        self.run(f"CREATE TABLE base AS SELECT {COLUMNS.format(n='i::bigint')} FROM generate_series(0, {options.rows - 1}) g(i)")

    def run(self, sql):
        self.connection.execute(sql)

    def rows(self, sql):
        return self.connection.query(sql)


class DuckDb:
    name = "duckdb"

    def __init__(self, options):
        self.connection = duckdb.connect(":memory:", config={"threads": options.threads})
        self.run(f"CREATE TABLE base AS SELECT {COLUMNS.format(n='range')} FROM range({options.rows})")

    def run(self, sql):
        self.connection.execute(sql).fetchall()

    def rows(self, sql):
        return [[None if value is None else str(value) for value in row] for row in self.connection.execute(sql).fetchall()]


def plain(value):
    """A cell of either system: None, a number, or a text."""
    if value is None:
        return None
    return float(value) if value.replace(".", "").isdigit() else value


def timed(system, sql):
    start = time.perf_counter()
    system.run(sql)
    return time.perf_counter() - start


def scan_seconds(system, table):
    """The best of some: the table does not change, and other processes only take time away."""
    return min(timed(system, SCAN.replace("FROM t", f"FROM {table}")) for _ in range(4))


def measure_once(system, change):
    """(seconds of the change; a scan after it, and behind CHECKPOINT, over one of a fresh table; the scan's answer)"""
    system.run("CREATE TABLE t AS SELECT * FROM base")
    timed(system, SCAN)
    seconds = timed(system, change)
    at_once = scan_seconds(system, "t")
    answer = system.rows(SCAN)
    system.run("CHECKPOINT")
    behind = scan_seconds(system, "t")
    system.run("CREATE TABLE fresh AS SELECT * FROM t")
    fresh = scan_seconds(system, "fresh")
    for table in ("t", "fresh"):
        system.run(f"DROP TABLE {table}")
    return seconds, at_once / fresh, behind / fresh, [plain(value) for value in answer[0]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=contestants.positive, default=10_000_000)
    parser.add_argument("--threads", type=contestants.positive, default=os.cpu_count())
    parser.add_argument("--runs", type=contestants.positive, default=3)
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "release", "libdiptych.so"))
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "changes.json"))
    options = parser.parse_args()
    systems = [DuckDb(options), Diptych(options)]
    report = {"benchmark": "changes", "machine": side_by_side.describe_machine(), "rows": options.rows, "threads": options.threads, "cases": []}
    print(f"{options.rows} rows, {options.threads} threads; seconds\n")
    print(f"{'change':<24}{'duckdb':>10}{'diptych':>10}{'diptych / duckdb':>18}{'scan / fresh':>14}{'CHECKPOINT':>12}", flush=True)
    for kind, text in CHANGES.items():
        for place, condition in PLACES.items():
            for percent in PERCENT:
                change = text.format(condition.format(percent=percent, rows=options.rows))
                found = {system.name: [] for system in systems}
                for _ in range(options.runs):
                    answers = []
                    for system in systems:
                        *times, answer = measure_once(system, change)
                        found[system.name].append(times)
                        answers.append(answer)
                    if answers[0] != answers[1]:
                        raise RuntimeError(f"{change}: {answers}")
                medians = {name: [statistics.median(column) for column in zip(*runs)] for name, runs in found.items()}
                case = {"kind": kind, "place": place, "percent": percent, "seconds": {name: each[0] for name, each in medians.items()},
                        "scan": medians["diptych"][1], "scan_behind_checkpoint": medians["diptych"][2]}
                report["cases"].append(case)
                theirs, ours = case["seconds"]["duckdb"], case["seconds"]["diptych"]
                print(f"{f'{kind} {percent} % {place}':<24}{theirs:>10.3f}{ours:>10.3f}{ours / theirs:>18.2f}{case['scan']:>14.2f}"
                      f"{case['scan_behind_checkpoint']:>12.2f}", flush=True)
    side_by_side.write_json(report, options.json)


main()
