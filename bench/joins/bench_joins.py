"""Inner joins on Diptych and DuckDB, side by side: build sides of all sizes, few and many matches, keys of every kind, skew.

  sizes    build sides of a ten-thousandth of the probe side's rows up to all of them
  matches  1, 10 and 100 pairs a row, 1 to 100 % of the rows with a match, skew on either side
  keys     sparse integers, short and long strings, two columns
  columns  none, one and five of the build side; grouping by one
  shapes   a chain, a star, filters on either side

Contestants: DuckDB, Diptych on the CPU, on a device with the columns kept there (cached) or in another residency, and auto.
Each runs in a process of its own, on a database file loaded from the same Parquet files; they take turns, run by run, and
medians count. The time is from the text to the last row in the process's reach. Results are compared first, to the last digit.

usage: bench_joins.py --rows 10000000 --parts sizes,matches ...   (make bench-joins ROWS=10000000 PARTS=sizes)
"""

import argparse
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import cases
import contest
import contestants
import device_run
import join_data
import side_by_side
import tables
from contestants import System, list_of, positive


class Bench:
    def __init__(self, options):
        self.options = options
        self.names = options.only.split(",")
        self.folder = options.data or os.path.join(ROOT, "data", f"joins-{options.rows}")
        self.parts = {part: self.chosen(part) for part in options.parts.split(",")}
        self.systems = {}
        self.report = {"benchmark": "joins", "rows": options.rows, "threads": options.threads, "seed": options.seed,
                       "machine": side_by_side.describe_machine(), "versions": {}, "loads": [], "parts": {},
                       "disagreements": [], "failures": [], "fallbacks": {}}

    def chosen(self, part):
        """The part's cases, or those that --cases names."""
        wanted = self.options.cases.split(",")
        return {case: sql for case, sql in cases.PARTS[part].items() if case in wanted}

    # Data and systems.

    def database(self, name):
        return os.path.join(self.folder, f"joins.{contestants.kind(name)}")

    def make_data(self):
        read = cases.tables_of(sql for part in self.parts.values() for sql in part.values())
        files = join_data.make(self.folder, read, self.options.rows, self.options.seed, self.options.threads)
        data = join_data.made_from(self.options.rows, self.options.seed)
        for kind, name in {contestants.kind(name): name for name in self.names}.items():
            loaded = tables.load(self.database(name), name, files, data, self.options.library, self.options.threads)
            if loaded:
                self.report["loads"].append({"system": kind, **loaded})

    def start(self):
        for name in self.names:
            path = contestants.own_database(self.database(name), name, self.systems)
            self.systems[name] = self.open(name, path)
            self.report["versions"][contestants.kind(name)] = self.systems[name].version
        contestants.share_device(list(self.systems.values()), self.options.device)

    def open(self, name, path):
        system = System(name, self.options.library, path, contestants.settings(name, self.options.threads, self.options.device))
        system.path = path
        return system

    def stop(self):
        for name, system in self.systems.items():
            if name != "duckdb":
                self.report["fallbacks"][name] = system.ask("query", sql="show fallbacks")["rows"]
            system.stop()

    # Measuring. A case that a system can't answer, or answers wrongly, is told and left out there.

    def fail(self, case, sql, system, error):
        self.report["failures"].append({"case": case, "sql": sql, **({"system": system} if system else {}), "error": error})

    def measure(self, part):
        deadline = time.monotonic() + self.options.part_seconds
        entries = self.report["parts"][part] = {}
        for case, sql in self.parts[part].items():
            if time.monotonic() > deadline:
                self.fail(case, sql, None, f"not begun within {self.options.part_seconds} s")
                continue
            seconds = self.measure_case(case, sql, deadline)
            entries[case] = {"sql": sql, "seconds": seconds,
                             "device_runs": device_run.measure_all(self.systems.values(), case, sql, seconds, self.options.runs,
                                                                   self.report["failures"])}
            contest.print_row(case, seconds, self.names, width=24)

    def measure_case(self, case, sql, deadline):
        self.expected = None
        able = [name for name in self.names if self.is_right(name, case, sql)]
        for name in able:
            self.systems[name].settle(sql)
        times = {name: [] for name in able}
        for turn in range(self.options.runs):
            for name in contestants.in_turn(list(times), turn):
                # Twice, since the turn before was another's, which cools caches.
                answers = [self.ask(name, case, sql, "seconds") for _ in range(2)]
                if None in answers:
                    del times[name]
                else:
                    times[name].append(answers[1]["seconds"])
            if time.monotonic() > deadline:
                break
        return {name: statistics.median(values) for name, values in times.items()}

    def is_right(self, name, case, sql):
        """Runs the case once, which also brings columns where they are wanted, and compares with the first that answered."""
        answer = self.ask(name, case, sql, "rows")
        if answer is None:
            return False
        rows = answer["rows"]
        if self.expected is None:
            self.expected = rows
        if rows == self.expected:
            return True
        self.report["disagreements"].append({"case": case, "sql": sql, "system": name, "rows": rows, "expected": self.expected})
        return False

    def ask(self, name, case, sql, do):
        """None for a failure. A process that the case has ended is replaced, for the cases after it."""
        try:
            return self.systems[name].ask(do, sql=sql)
        except RuntimeError as error:
            self.fail(case, sql, name, str(error))
        try:
            self.systems[name].ask("version")
        except RuntimeError:
            self.systems[name].stop()
            self.systems[name] = self.open(name, self.systems[name].path)
        return None

    # The report.

    def finish(self):
        for load in self.report["loads"]:
            print(f"loaded {len(load['tables'])} tables into {load['system']}: {load['seconds']:.2f} s, {load['file_bytes'] / 1e6:.0f} MB")
        for failure in self.report["failures"]:
            print(f"NOT MEASURED: {failure}")
        for name, rows in self.report["fallbacks"].items():
            for row in rows:
                print(f"fallback of {name}: {row}")
        for disagreement in self.report["disagreements"]:
            print(f"RESULTS DIFFER: {disagreement}")
        side_by_side.write_json(self.report, self.options.json)

    def run(self):
        self.make_data()
        self.start()
        contest.print_head(self.report, f"probe side of {self.options.rows} rows", self.names, width=24)
        for part in self.parts:
            self.measure(part)
        entries = {case: entry for part in self.report["parts"].values() for case, entry in part.items()}
        self.report.update(contest.summarise(entries, self.names))
        device_run.print_tables(entries, self.names)
        self.stop()
        self.finish()
        measured = any(entry["seconds"] for part in self.report["parts"].values() for entry in part.values())
        return 1 if self.report["disagreements"] or not measured else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=positive, default=10_000_000, help="of the probe side; the build sides are shares of it")
    parser.add_argument("--parts", type=list_of(cases.PARTS), default=",".join(cases.PARTS), help=", ".join(cases.PARTS))
    parser.add_argument("--cases", type=list_of(cases.CASES), default=",".join(cases.CASES), help="some of the parts' cases, by name")
    contest.add_arguments(parser, runs=3, what="case")
    parser.add_argument("--part-seconds", type=int, default=240, help="after which a part begins no further case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", help="folder for data and databases; default: data/joins-<rows>")
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "joins.json"))
    options = parser.parse_args()
    sys.exit(Bench(options).run())


main()
