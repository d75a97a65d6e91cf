"""The Star Schema Benchmark on Diptych and DuckDB, side by side: 13 queries that join a large table with up to four small ones.

ssb_data makes the tables. Contestants: DuckDB, Diptych on the CPU, on a device with the columns kept there (cached) or in another
residency, and auto. Each has a process of its own, on a database file loaded from the same files, with as many threads; they take
turns, run by run, and medians count. The time is from the text to the last row in the process's reach. Results are compared
first: at scale factor 1 with the known answers, else with the first contestant's.

usage: bench_ssb.py --scale 1 --keys both ...   (make bench-ssb SF=1)
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import contest
import contestants
import device_run
import first_runs
import kept_database
import schema
import side_by_side
import suite
import tables
from contestants import list_of

# After which no query's first runs begin.
FIRST_SECONDS = 300


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = options.data or os.path.join(ROOT, "data", f"ssb-{options.scale:g}")
        self.report = {"benchmark": "ssb", "scale": options.scale, "threads": options.threads,
                       "machine": side_by_side.describe_machine(), "versions": {}, "loads": [], "parts": {},
                       "disagreements": [], "failures": []}
        self.contest = contest.Contest(options, self.report)
        self.names = self.contest.names

    def database(self, name, keys):
        return os.path.join(self.folder, f"ssb{'-keys' if keys else ''}.{contestants.kind(name)}")

    def load(self, keys):
        statements = schema.statements(os.path.join(self.folder, "tbl"), keys)
        for kind, name in {contestants.kind(name): name for name in self.names}.items():
            loaded = kept_database.load(self.database(name, keys), name, statements, self.options.library, self.options.threads)
            if loaded:
                self.report["loads"].append({"system": kind, "keys": keys, **loaded})

    def measure(self, part, what):
        """A query that a system can't answer is told and left out there."""
        contest.print_head(self.report, f"SSB, scale factor {self.options.scale:g}, {what}", self.names)
        for query in self.options.queries.split(","):
            sql = suite.read_query(self.options.query_folder, query)
            seconds = self.contest.measure(query, sql, what, suite.answer(query, self.options.scale),
                                           lambda ours, theirs: suite.same_result(query, ours, theirs))
            part["queries"][query] = {"sql": sql, "seconds": seconds,
                                      "device_runs": device_run.measure_all(self.contest.systems, query, sql, seconds, self.options.runs,
                                                                            self.report["failures"])}
            contest.print_row(query, seconds, self.names)
        part.update(contest.summarise(part["queries"], self.names))
        device_run.print_tables(part["queries"], self.names)

    # First runs, where --first asks for them: each in a fresh process, on the database that the other contestants had.

    def fresh(self, name):
        settings = contestants.settings(name, self.options.threads, self.options.device, self.options.set)
        return contestants.System(name, self.options.library, self.database(name, self.first_keys), settings)

    def fail(self, query, system, error):
        self.report["failures"].append({"query": query, "part": "first run", "system": system, "error": error})

    def differ(self, query, system, rows, expected):
        self.report["disagreements"].append({"query": query, "part": "first run", "system": system, "rows": rows[:20],
                                             "expected": expected[:20]})

    def measure_first(self, keys):
        self.first_keys = keys
        self.load(keys)
        entries = {}
        asked = {query: suite.read_query(self.options.query_folder, query) for query in self.options.queries.split(",")}
        first_runs.measure(self, entries, asked, self.options.first, FIRST_SECONDS)
        self.report["first"] = {"keys": keys, "queries": entries, "auto": first_runs.summarise(entries)}

    def finish(self):
        for load in self.report["loads"]:
            print(f"loaded {load['system']}{' with keys' if load['keys'] else ''}: {load['seconds']:.2f} s, "
                  f"{load['file_bytes'] / 1e6:.0f} MB")
        contest.print_problems(self.report)
        side_by_side.write_json(self.report, self.options.json)

    def run(self):
        tables.make_files(os.path.join(self.folder, "tbl"), self.options.scale, self.options.generator, self.options.threads)
        self.contest.run_variants(self, self.options.keys)
        if self.options.first:
            self.measure_first(contest.KEY_VARIANTS[self.options.keys][-1])
        self.finish()
        measured = any(entry["seconds"] for part in self.report["parts"].values() for entry in part["queries"].values())
        return 1 if self.report["disagreements"] or not measured else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor; lineorder has 6 million rows at 1")
    parser.add_argument("--keys", choices=contest.KEY_VARIANTS, default="without", help="the dimensions' primary keys: declared or not")
    parser.add_argument("--queries", type=list_of(suite.NAMES), default=",".join(suite.NAMES), help="1.1,4.3 and the like")
    parser.add_argument("--query-folder", default=suite.query_folder(), help="with a file for each query: 1.1.sql ...")
    contest.add_arguments(parser, runs=5, what="query")
    contestants.add_arguments(parser)
    parser.add_argument("--first", type=contestants.positive, metavar="PROCESSES",
                        help="also measure the first run of each query, in so many fresh processes, on the CPU and with auto")
    parser.add_argument("--generator", help="the program that makes the tables; default: ssb_data beside the library")
    parser.add_argument("--data", help="folder for data and databases; default: data/ssb-<scale>")
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "ssb.json"))
    options = parser.parse_args()
    options.generator = options.generator or os.path.join(os.path.dirname(options.library), "ssb_data")
    sys.exit(Bench(options).run())


main()
