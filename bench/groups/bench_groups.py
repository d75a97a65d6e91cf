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
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time

import g1_data
import questions

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RESIDENCIES = ("serial", "streamed", "mapped", "cached")


class System:
    """A worker process with the table open, under the name that the report uses."""

    def __init__(self, name, arguments, path, settings=()):
        self.name = name
        command = [sys.executable, os.path.join(HERE, "worker.py"), *arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = self.ask("version")["version"]
        self.ask("open", path=path)
        for setting in settings:
            self.ask("execute", sql=setting)

    def ask(self, do, **arguments):
        self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended while doing {do}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{self.name}: {answer['error']}")
        return answer

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = options.data or os.path.join(ROOT, "data", f"groups-{options.rows}")
        self.report = {"benchmark": "groups", "rows": options.rows, "threads": options.threads, "seed": options.seed,
                       "versions": {}, "parts": {}, "disagreements": [], "failures": []}
        with open("/proc/cpuinfo") as file:
            model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
        self.report["machine"] = {"host": platform.node(), "processor": model, "cores": os.cpu_count()}

    # Data and systems.

    def arguments(self, name):
        return ["duckdb"] if name == "duckdb" else ["diptych", self.options.library]

    def database(self, name):
        return os.path.join(self.folder, "g1.duckdb" if name == "duckdb" else "g1.diptych")

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
            system = System(name, self.arguments(name), self.database(name), self.settings(name))
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
        path = os.path.join(self.folder, f"rows-{os.getpid()}.csv")
        try:
            rows = sorted(system.ask("rows", sql=sql, path=path)["rows"])
        except RuntimeError as error:
            self.report["failures"].append({"question": question, "system": system.name, "error": str(error)})
            return False
        if system is self.systems[0]:
            self.expected = rows
        elif not same_rows(rows, self.expected):
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
        os.makedirs(os.path.dirname(self.options.json), exist_ok=True)
        with open(self.options.json, "w") as file:
            json.dump(self.report, file, indent=2)
        print(f"JSON: {self.options.json}")

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


def same_rows(ours, theirs):
    return len(ours) == len(theirs) and all(
        len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b)) for a, b in zip(ours, theirs))


def same_value(ours, theirs):
    if ours == theirs or {ours, theirs} in ({"t", "true"}, {"f", "false"}):
        return True
    try:
        return math.isclose(float(ours), float(theirs), rel_tol=1e-9)
    except ValueError:
        return False


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
