"""Grouping on Diptych and DuckDB, side by side: few and many groups, keys of every kind, skew.

  h2o      the questions of the H2O.ai db-benchmark that need no window and no aggregate that is not there
  more     distinct counts, strings, many keys, many aggregates, a filter before, skew
  growth   one question over 10 to 32 million groups

Contestants: DuckDB, Diptych on the CPU, on a device with the columns kept there (cached) or in another residency, and auto.
Each runs in a process of its own, on a database file loaded from the same Parquet files; they take turns, run by run, and
medians count. The time is from the text to the last row in the process's reach. Results are compared, floats to 1e-9.

usage: bench_groups.py --rows 10000000 --parts h2o,more,growth ...   (make bench-groups ROWS=10000000 PARTS=h2o)
"""

import argparse
import math
import os
import shutil
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import g1_data
import questions
import side_by_side

RESIDENCIES = ("serial", "streamed", "mapped", "cached")


class System(side_by_side.WorkerProcess):
    """A worker process with the table open, under the name that the report uses."""

    def __init__(self, name, arguments, path, settings=()):
        super().__init__(name, arguments)
        self.version = self.ask("version")["version"]
        self.ask("open", path=path, settings=settings)


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = options.data or os.path.join(ROOT, "data", f"groups-{options.rows}")
        self.report = {"benchmark": "groups", "rows": options.rows, "threads": options.threads, "seed": options.seed,
                       "machine": side_by_side.describe_machine(), "versions": {}, "parts": {}, "disagreements": [],
                       "failures": []}

    # Data and systems.

    def arguments(self, name):
        return ["duckdb"] if name == "duckdb" else ["diptych", self.options.library]

    def database(self, name):
        return os.path.join(self.folder, "g1.duckdb" if name == "duckdb" else "g1.diptych")

    def own_database(self, name):
        """A database file is one process's: the second Diptych has a copy."""
        path = self.database(name)
        if name == "duckdb" or not any(system.name != "duckdb" for system in self.systems):
            return path
        copy = path.replace(".diptych", f".{name}.diptych")
        if not os.path.exists(copy):
            shutil.copyfile(path, copy)
        return copy

    def load(self, name, files):
        path = self.database(name)
        if os.path.exists(path + ".loaded"):
            return
        print(f"loading {path}", file=sys.stderr)
        for leftover in (path, path + ".wal"):
            if os.path.exists(leftover):
                os.remove(leftover)
        start = time.perf_counter()
        system = System(name, self.arguments(name), path, [f"set threads = {self.options.threads}"])
        if name == "duckdb":
            system.ask("execute", sql=f"create table g1 as select * from read_parquet('{self.folder}/g1-*.parquet')")
        else:
            system.ask("execute", sql=f"create table g1 as select * from '{files[0]}'")
            for file in files[1:]:
                system.ask("execute", sql=f"copy g1 from '{file}'")
        system.stop()
        self.report.setdefault("load_seconds", {})[name] = time.perf_counter() - start
        open(path + ".loaded", "w").close()

    def settings(self, name):
        threads = [f"set threads = {self.options.threads}"]
        if name == "duckdb":
            return threads + ["set preserve_insertion_order = false"]
        if name in RESIDENCIES:
            return threads + [f"set device = '{self.options.device}'", f"set residency = '{name}'", "set gpu_engine = 'generated'"]
        return threads + [f"set device = '{name}'"]

    def start(self):
        names = self.options.only.split(",")
        files = g1_data.make(self.folder, self.options.rows, self.options.seed, self.options.threads)
        for name in ("duckdb", "cpu"):
            self.load(name, files)
        self.systems = []
        for name in names:
            system = System(name, self.arguments(name), self.own_database(name), self.settings(name))
            self.report["versions"]["duckdb" if name == "duckdb" else "diptych"] = system.version
            self.systems.append(system)

    # Measuring.

    def measure(self, part):
        """A question that a system can't answer is told and left out there; what has not begun when the time is up, too."""
        deadline = time.monotonic() + self.options.part_seconds
        entries = self.report["parts"][part] = {}
        for question, sql in questions.PARTS[part].items():
            if time.monotonic() > deadline:
                self.report["failures"].append({"question": question, "error": f"not begun within {self.options.part_seconds} s"})
                continue
            entries[question] = {"sql": sql, "seconds": self.measure_question(question, sql, deadline)}
            self.print_row(question, entries[question]["seconds"])

    def measure_question(self, question, sql, deadline):
        able = [system for system in self.systems if self.is_right(system, question, sql)]
        times = {system.name: [] for system in able}
        for run in range(self.options.runs):
            for system in able:
                system.ask("seconds", sql=sql)  # the turn before was another's, which cools caches
                times[system.name].append(system.ask("seconds", sql=sql)["seconds"])
            if time.monotonic() > deadline:
                break
        return {name: statistics.median(values) for name, values in times.items()}

    def is_right(self, system, question, sql):
        """Runs the question once, which also brings columns where they are wanted, and compares with the first system."""
        try:
            rows = sorted(system.ask("rows", sql=sql)["rows"])
        except RuntimeError as error:
            self.report["failures"].append({"question": question, "system": system.name, "error": str(error)})
            return False
        if system is self.systems[0]:
            self.expected = rows
        elif not side_by_side.same_rows(rows, self.expected):
            self.report["disagreements"].append({"question": question, "system": system.name, "rows": rows[:20],
                                                 "expected": self.expected[:20]})
        return True

    # The report.

    def print_head(self):
        machine = self.report["machine"]
        print(f"{self.options.rows} rows, {machine['host']} ({machine['processor']}), {self.options.threads} threads; "
              "milliseconds, and how many times as fast as the first\n")
        print(f"{'':<24}" + "".join(f"{system.name:>22}" for system in self.systems), flush=True)

    def print_row(self, question, seconds):
        first = seconds.get(self.systems[0].name)
        cells = [shown(seconds.get(system.name), first) for system in self.systems]
        print(f"{question:<24}" + "".join(f"{cell:>22}" for cell in cells), flush=True)

    def print_means(self):
        first = self.systems[0].name
        everything = [entry["seconds"] for part in self.report["parts"].values() for entry in part.values()]
        self.report["speedup"] = {}
        for system in self.systems[1:]:
            ratios = [times[first] / times[system.name] for times in everything if first in times and system.name in times]
            if ratios:
                mean = math.exp(statistics.fmean(map(math.log, ratios)))
                self.report["speedup"][system.name] = {"geometric_mean": mean, "least": min(ratios)}
                print(f"{system.name} / {first}: {mean:.2f} times as fast (geometric mean of {len(ratios)}), at least {min(ratios):.2f}")

    def finish(self):
        for system in self.systems:
            if system.name != "duckdb":
                self.report.setdefault("fallbacks", {})[system.name] = system.ask("fallbacks")["rows"]
            system.stop()
        for failure in self.report["failures"]:
            print(f"NOT MEASURED: {failure}")
        for name, rows in self.report.get("fallbacks", {}).items():
            for row in rows:
                print(f"fallback of {name}: {row}")
        for disagreement in self.report["disagreements"]:
            print(f"RESULTS DIFFER: {disagreement}")
        side_by_side.write_json(self.report, self.options.json)

    def run(self):
        self.start()
        self.print_head()
        for part in self.options.parts.split(","):
            self.measure(part)
        self.print_means()
        self.finish()
        return 1 if self.report["disagreements"] or not self.report["parts"] else 0


def shown(seconds, first):
    if seconds is None:
        return "-"
    return f"{seconds * 1e3:.2f} ({first / seconds:.2f})" if first else f"{seconds * 1e3:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--parts", default="h2o,more,growth")
    parser.add_argument("--only", default="duckdb,cpu", help="duckdb, cpu, serial, streamed, mapped, cached, auto; the first is compared with")
    parser.add_argument("--runs", type=int, default=3, help="measured runs of a question, each after one to warm up")
    parser.add_argument("--part-seconds", type=int, default=120, help="after which a part begins no further question")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="cuda", help="of cached and the other residencies")
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "release", "libdiptych.so"))
    parser.add_argument("--data", help="folder for data and databases; default: data/groups-<rows>")
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "groups.json"))
    sys.exit(Bench(parser.parse_args()).run())


main()
