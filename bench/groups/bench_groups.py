"""Grouping on Diptych and DuckDB, side by side: few and many groups, keys of every kind, skew.

  h2o      the questions of the H2O.ai db-benchmark that need no window and no aggregate that is not there
  more     distinct counts, strings, many keys, many aggregates, a filter before, skew
  growth   one question over 10 to 32 million groups; on a CUDA device also the grouping's device time over that of CUB's radix
           sort of as many keys and row numbers (cub_sort.py)
  first    the first run of a question in a fresh process, on the CPU and with auto (first_runs.py)

Contestants: DuckDB, Diptych on the CPU, on a device with the columns kept there (cached) or in another residency, and auto.
Each runs in a process of its own, on a database file loaded from the same Parquet files; they take turns, run by run, and
medians count. The time is from the text to the last row in the process's reach. Results are compared, floats to 1e-9. With auto
among them, its time over that of the better engine is told (auto_choice.py).

usage: bench_groups.py --rows 10000000 --parts h2o,more,growth ...   (make bench-groups ROWS=10000000 PARTS=h2o)
"""

import argparse
import math
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import auto_choice
import contestants
import cub_sort
import first_runs
import g1_data
import questions
import side_by_side
from contestants import RESIDENCIES, System, list_of, positive, shown


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = options.data or os.path.join(ROOT, "data", f"groups-{options.rows}")
        self.systems = []
        self.report = {"benchmark": "groups", "rows": options.rows, "threads": options.threads, "seed": options.seed,
                       "machine": side_by_side.describe_machine(), "versions": {}, "parts": {}, "disagreements": [],
                       "failures": []}

    # Data and systems.

    def database(self, name):
        return os.path.join(self.folder, f"g1.{contestants.kind(name)}")

    def load(self, name, files):
        path = self.database(name)
        if os.path.exists(path + ".loaded"):
            return
        print(f"loading {path}", file=sys.stderr)
        for leftover in (path, path + ".wal"):
            if os.path.exists(leftover):
                os.remove(leftover)
        start = time.perf_counter()
        system = System(name, self.options.library, path, [f"set threads = {self.options.threads}"])
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
        return contestants.settings(name, self.options.threads, self.options.device, self.options.set)

    def make_data(self):
        files = g1_data.make(self.folder, self.options.rows, self.options.seed, self.options.threads)
        for name in ("duckdb", "cpu"):
            self.load(name, files)

    def start(self):
        self.systems = contestants.open_systems(self.options, self.database)
        for system in self.systems:
            self.report["versions"][contestants.kind(system.name)] = system.version

    def fresh(self, name):
        """A process of Diptych with nothing done yet; only after stop(), since it opens the file that a contestant had."""
        system = System(name, self.options.library, self.database(name), self.settings(name))
        self.report["versions"]["diptych"] = system.version
        return system

    # Measuring.

    def fail(self, question, system, error):
        self.report["failures"].append({"question": question, **({"system": system} if system else {}), "error": error})

    def differ(self, question, system, rows, expected):
        self.report["disagreements"].append({"question": question, "system": system, "rows": rows[:20], "expected": expected[:20]})

    def measure(self, part):
        """A question that a system can't answer is told and left out there; what has not begun when the time is up, too."""
        deadline = time.monotonic() + self.options.part_seconds
        entries = self.report["parts"][part] = {}
        for question, sql in questions.PARTS[part].items():
            if time.monotonic() > deadline:
                self.fail(question, None, f"not begun within {self.options.part_seconds} s")
                continue
            entries[question] = {"sql": sql, "seconds": self.measure_question(question, sql, deadline)}
            self.print_row(question, entries[question]["seconds"])
            if part == "growth" and self.sorts_with_cub():
                self.compare_with_cub(question, entries[question])
        against_cub = {question: entry["cub"] for question, entry in entries.items() if entry.get("cub")}
        if against_cub:
            cub_sort.print_table(against_cub)

    def cached_systems(self):
        return [system for system in self.systems if system.name in RESIDENCIES]

    def sorts_with_cub(self):
        """Whether CUB's sort is to be compared with; says why not, where a CUDA device is measured."""
        if not self.cached_systems() or not self.options.device.startswith("cuda"):
            return False
        if os.access(self.options.cub_sort, os.X_OK):
            return True
        self.report["cub"] = f"not compared with CUB's sort: no program {self.options.cub_sort} (target cub_sort, needs nvcc)"
        return False

    def compare_with_cub(self, question, entry):
        able = [system for system in self.cached_systems() if system.name in entry["seconds"]]
        entry["cub"] = cub_sort.compare(able, entry["sql"], self.options.cub_sort, self.options.rows, g1_data.COUNTS[question],
                                        self.options.runs, lambda system, error: self.fail(question, system, error))

    def measure_question(self, question, sql, deadline):
        able = [system for system in self.systems if self.is_right(system, question, sql)]
        for system in able:
            system.settle(sql)
        times = {system.name: [] for system in able}
        for turn in range(self.options.runs):
            for system in contestants.in_turn(able, turn):
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
            self.fail(question, system.name, str(error))
            return False
        if system is self.systems[0]:
            self.expected = rows
        elif not side_by_side.same_rows(rows, self.expected):
            self.differ(question, system.name, rows, self.expected)
        return True

    # The report.

    def print_head(self):
        machine = self.report["machine"]
        print(f"{self.options.rows} rows, {machine['host']} ({machine['processor']}), {self.options.threads} threads; "
              "milliseconds, and how many times as fast as the first\n")
        choice = f"{'auto / better':>16}" if any(system.name == "auto" for system in self.systems) else ""
        print(f"{'':<24}" + "".join(f"{system.name:>22}" for system in self.systems) + choice, flush=True)

    def print_row(self, question, seconds):
        first = seconds.get(self.systems[0].name)
        cells = [shown(seconds.get(system.name), first) for system in self.systems]
        ratio = auto_choice.over_better(seconds)
        choice = f"{ratio:>16.2f}" if ratio else ""
        print(f"{question:<24}" + "".join(f"{cell:>22}" for cell in cells) + choice, flush=True)

    def print_means(self):
        first = self.systems[0].name
        by_question = {question: entry["seconds"] for part in self.report["parts"].values() for question, entry in part.items()}
        everything = by_question.values()
        self.report["speedup"] = {}
        for system in self.systems[1:]:
            ratios = [times[first] / times[system.name] for times in everything if first in times and system.name in times]
            if ratios:
                mean = math.exp(statistics.fmean(map(math.log, ratios)))
                self.report["speedup"][system.name] = {"geometric_mean": mean, "least": min(ratios)}
                print(f"{system.name} / {first}: {mean:.2f} times as fast (geometric mean of {len(ratios)}), at least {min(ratios):.2f}")
        self.report["auto"] = auto_choice.summary(by_question)
        if self.report["auto"]:
            print(auto_choice.line(self.report["auto"]))

    def stop(self):
        for system in self.systems:
            if system.name != "duckdb":
                self.report.setdefault("fallbacks", {})[system.name] = system.ask("query", sql="show fallbacks")["rows"]
        for system in self.systems:
            system.stop()

    def finish(self):
        if "cub" in self.report:
            print(self.report["cub"])
        for failure in self.report["failures"]:
            print(f"NOT MEASURED: {failure}")
        for name, rows in self.report.get("fallbacks", {}).items():
            for row in rows:
                print(f"fallback of {name}: {row}")
        for disagreement in self.report["disagreements"]:
            print(f"RESULTS DIFFER: {disagreement}")
        side_by_side.write_json(self.report, self.options.json)

    def run(self):
        self.make_data()
        in_turns = [part for part in self.options.parts.split(",") if part != "first"]
        if in_turns:
            self.start()
            self.print_head()
            for part in in_turns:
                self.measure(part)
            self.print_means()
            self.stop()
        if "first" in self.options.parts.split(","):
            self.measure_first()
        self.finish()
        return 1 if self.report["disagreements"] or not self.report["parts"] else 0

    def measure_first(self):
        entries = self.report["parts"]["first"] = {}
        first_runs.measure(self, entries, questions.PARTS["first"], self.options.first_processes, self.options.part_seconds)
        self.report["auto_first"] = first_runs.summarise(entries)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=positive, default=10_000_000)
    parser.add_argument("--parts", type=list_of(questions.PARTS), default="h2o,more,growth", help=", ".join(questions.PARTS))
    parser.add_argument("--only", type=list_of(contestants.NAMES), default="duckdb,cpu",
                        help="duckdb, cpu, serial, streamed, mapped, cached, auto; the first is compared with")
    parser.add_argument("--runs", type=positive, default=3, help="measured runs of a question, each after one to warm up")
    parser.add_argument("--part-seconds", type=int, default=120, help="after which a part begins no further question")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="cuda", help="of cached and the other residencies")
    contestants.add_arguments(parser)
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "release", "libdiptych.so"))
    parser.add_argument("--data", help="folder for data and databases; default: data/groups-<rows>")
    parser.add_argument("--cub-sort", help="the program that times CUB's sort; default: bench_cub_sort beside the library")
    parser.add_argument("--first-processes", type=positive, default=5, help="processes of each of a question's first runs")
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "groups.json"))
    options = parser.parse_args()
    options.cub_sort = options.cub_sort or os.path.join(os.path.dirname(options.library), "bench_cub_sort")
    sys.exit(Bench(options).run())


main()
