"""The Star Schema Benchmark on Diptych and DuckDB, side by side: 13 queries that join a large table with up to four small ones.

ssb_data makes the tables. Contestants: DuckDB, Diptych on the CPU, on a device with the columns kept there (cached) or in another
residency, and auto. Each has a process of its own, on a database file loaded from the same files, with as many threads; they take
turns, run by run, and medians count. The time is from the text to the last row in the process's reach. Results are compared
first: at scale factor 1 with the known answers, else with the first contestant's.

usage: bench_ssb.py --scale 1 --keys both ...   (make bench-ssb SF=1)
"""

import argparse
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import auto_choice
import contestants
import side_by_side
import suite
import tables
from contestants import System, list_of, positive, shown

# --keys: whether the dimensions' primary keys are declared.
VARIANTS = {"without": (False,), "with": (True,), "both": (False, True)}


class Bench:
    def __init__(self, options):
        self.options = options
        self.names = options.only.split(",")
        self.folder = options.data or os.path.join(ROOT, "data", f"ssb-{options.scale:g}")
        self.systems = []
        self.report = {"benchmark": "ssb", "scale": options.scale, "threads": options.threads,
                       "machine": side_by_side.describe_machine(), "versions": {}, "loads": [], "parts": {},
                       "disagreements": [], "failures": []}

    # Data and systems.

    def database(self, name, keys):
        return os.path.join(self.folder, f"ssb{'-keys' if keys else ''}.{contestants.kind(name)}")

    def load(self, keys):
        files = os.path.join(self.folder, "tbl")
        for kind, name in {contestants.kind(name): name for name in self.names}.items():
            path = self.database(name, keys)
            loaded = tables.load(path, name, files, keys, self.options.library, self.options.threads)
            if loaded:
                self.report["loads"].append({"system": kind, "keys": keys, **loaded})

    def start(self, keys):
        for name in self.names:
            path = contestants.own_database(self.database(name, keys), name, [system.name for system in self.systems])
            system = System(name, self.options.library, path,
                            contestants.settings(name, self.options.threads, self.options.device))
            self.report["versions"][contestants.kind(name)] = system.version
            self.systems.append(system)

    def stop(self, part):
        for system in self.systems:
            if system.name != "duckdb" and system.is_running():
                part.setdefault("fallbacks", {})[system.name] = system.ask("fallbacks")["rows"]
            system.stop()
        self.systems = []

    # Measuring. A query that a system can't answer is told and left out there.

    def measure(self, part, what):
        self.print_head(what)
        for query in self.options.queries.split(","):
            sql = suite.read_query(self.options.query_folder, query)
            entry = part["queries"][query] = {"sql": sql, "seconds": self.measure_query(query, sql, what)}
            self.print_row(query, entry["seconds"])

    def measure_query(self, query, sql, what):
        self.expected = suite.answer(query, self.options.scale)
        able = [system for system in self.systems if self.is_right(system, query, sql, what)]
        times = {system.name: [] for system in able}
        for _ in range(self.options.runs):
            for system in able:
                system.ask("seconds", sql=sql)  # the turn before was another's, which cools caches
                times[system.name].append(system.ask("seconds", sql=sql)["seconds"])
        return {name: statistics.median(values) for name, values in times.items()}

    def is_right(self, system, query, sql, what):
        """Runs the query once, which also brings columns where they are wanted, and compares its rows."""
        try:
            rows = system.ask("rows", sql=sql)["rows"]
        except RuntimeError as error:
            self.report["failures"].append({"query": query, "part": what, "system": system.name, "error": str(error)})
            return False
        if self.expected is None:
            self.expected = rows
        if suite.same_result(query, rows, self.expected):
            return True
        self.report["disagreements"].append({"query": query, "part": what, "system": system.name, "rows": rows[:20],
                                             "expected": self.expected[:20]})
        return False

    # The report.

    def print_head(self, what):
        machine = self.report["machine"]
        print(f"\nSSB, scale factor {self.options.scale:g}, {what}; {machine['host']} ({machine['processor']}), "
              f"{self.options.threads} threads; milliseconds, and how many times as fast as the first\n")
        print(f"{'':<8}" + "".join(f"{name:>22}" for name in self.names), flush=True)

    def print_row(self, query, seconds):
        first = seconds.get(self.names[0])
        print(f"{query:<8}" + "".join(f"{shown(seconds.get(name), first):>22}" for name in self.names), flush=True)

    def summarise(self, part):
        first = self.names[0]
        by_query = {query: entry["seconds"] for query, entry in part["queries"].items()}
        part["speedup"] = {}
        for name in self.names[1:]:
            ratios = {query: times[first] / times[name] for query, times in by_query.items() if first in times and name in times}
            if not ratios:
                continue
            worst = min(ratios, key=ratios.get)
            mean = math.exp(statistics.fmean(map(math.log, ratios.values())))
            part["speedup"][name] = {"ratios": ratios, "geometric_mean": mean, "worst": ratios[worst], "worst_query": worst}
            print(f"{name} / {first}: {mean:.2f} times as fast (geometric mean of {len(ratios)}), at worst "
                  f"{ratios[worst]:.2f} ({worst})")
        part["auto"] = auto_choice.summary(by_query)
        if part["auto"]:
            print(auto_choice.line(part["auto"]))

    def finish(self):
        for load in self.report["loads"]:
            print(f"loaded {load['system']}{' with keys' if load['keys'] else ''}: {load['seconds']:.2f} s, "
                  f"{load['file_bytes'] / 1e6:.0f} MB")
        for failure in self.report["failures"]:
            reason = failure["error"].splitlines()[0]
            print(f"NOT MEASURED: {failure['query']} {failure['part']}: {reason[:160]}")
        for part in self.report["parts"].values():
            for name, rows in part.get("fallbacks", {}).items():
                for row in rows:
                    print(f"fallback of {name}: {row}")
        for disagreement in self.report["disagreements"]:
            print(f"RESULTS DIFFER: {disagreement}")
        side_by_side.write_json(self.report, self.options.json)

    def run(self):
        tables.make_files(os.path.join(self.folder, "tbl"), self.options.scale, self.options.generator, self.options.threads)
        for keys in VARIANTS[self.options.keys]:
            what = f"{'with' if keys else 'without'} keys"
            self.load(keys)
            self.start(keys)
            part = self.report["parts"][what] = {"queries": {}}
            self.measure(part, what)
            self.summarise(part)
            self.stop(part)
        self.finish()
        measured = any(entry["seconds"] for part in self.report["parts"].values() for entry in part["queries"].values())
        return 1 if self.report["disagreements"] or not measured else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor; lineorder has 6 million rows at 1")
    parser.add_argument("--keys", choices=VARIANTS, default="without", help="the dimensions' primary keys: declared or not")
    parser.add_argument("--only", type=list_of(contestants.NAMES), default="duckdb,cpu",
                        help="duckdb, cpu, serial, streamed, mapped, cached, auto; the first is compared with")
    parser.add_argument("--queries", type=list_of(suite.NAMES), default=",".join(suite.NAMES), help="1.1,4.3 and the like")
    parser.add_argument("--query-folder", default=suite.query_folder(), help="with a file for each query: 1.1.sql ...")
    parser.add_argument("--runs", type=positive, default=5, help="measured runs of a query, each after one to warm up")
    parser.add_argument("--threads", type=positive, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="cuda", help="of cached and the other residencies")
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "release", "libdiptych.so"))
    parser.add_argument("--generator", help="the program that makes the tables; default: ssb_data beside the library")
    parser.add_argument("--data", help="folder for data and databases; default: data/ssb-<scale>")
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "ssb.json"))
    options = parser.parse_args()
    options.generator = options.generator or os.path.join(os.path.dirname(options.library), "ssb_data")
    sys.exit(Bench(options).run())


main()
