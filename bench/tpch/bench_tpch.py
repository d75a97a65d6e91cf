"""TPC-H on Diptych and DuckDB, side by side: loading, file size, q1 and q6; nine queries that join.

  load        CSV and Parquet into a database file, lineitem alone and all eight tables; from opening the new file to
              having it closed; and the size of that file
  scans       q1 and q6 on the Parquet-loaded file, everything in memory, with 1 thread and with all
  joins       q3, q5, q7, q8, q9, q10, q12, q14, q19, everything in memory; --keys: with primary keys or without
  beyond      q1 and q6 on a table of 4 times Diptych's memory_limit, the file not in the page cache,
              against `cat` of as many bytes from the same file plus the in-memory time

Both systems run in processes of their own and take turns, run by run; medians count. Results are compared.

usage: bench_tpch.py [--scale 1] [--runs 5] [--parts load,scans,joins,beyond] ...   (make bench-tpch SF=1)
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import contest
import contestants
import joins
import side_by_side
import texts
from contestants import list_of
from texts import TABLES

PARTS = ("load", "scans", "joins", "beyond")
SYSTEMS = ("diptych", "duckdb")


class Bench:
    def __init__(self, options):
        self.options = options
        self.parts = options.parts.split(",")
        self.data = options.data or os.path.join(ROOT, "data", f"tpch-sf{options.scale:g}")
        self.report = {"benchmark": "tpch", "scale": options.scale, "threads": options.threads, "ratios": {},
                       "disagreements": []}

    # What both systems need.

    def start(self, system):
        return side_by_side.WorkerProcess(system, ["diptych", self.options.library] if system == "diptych" else ["duckdb"])

    def database(self, system, what):
        return os.path.join(self.data, f"{what}.{system}")

    def settings(self, threads):
        return [f"set threads = {threads}"]

    def file(self, table, kind):
        return texts.file(self.data, table, kind)

    def make_data(self):
        """Parquet files; loading needs CSV, too."""
        for kind in ("parquet", "csv")[: 2 if "load" in self.parts else 1]:
            texts.make_files(self.data, kind, self.options.scale)

    # Loading.

    def load_once(self, system, tables, kind, what):
        path = self.database(system, what)
        for leftover in (path, path + ".wal"):
            if os.path.exists(leftover):
                os.remove(leftover)
        worker = self.start(system)
        worker.ask("version")  # it has started
        seconds = worker.ask("load", path=path, settings=self.settings(self.options.threads),
                             statements=texts.statements({table: self.file(table, kind) for table in tables}))["seconds"]
        worker.stop()
        return seconds, os.path.getsize(path)

    def measure_loads(self):
        loads = []
        for tables, name, runs in ((("lineitem",), "lineitem", self.options.load_runs), (TABLES, "all", 1)):
            for kind in ("parquet", "csv"):
                for table in tables:
                    with open(self.file(table, kind), "rb") as file:
                        while file.read(1 << 24):  # into the page cache, for both alike
                            pass
                times = {system: [] for system in SYSTEMS}
                size = {}
                for _ in range(runs):
                    for system in SYSTEMS:
                        seconds, size[system] = self.load_once(system, tables, kind, f"{name}-{kind}")
                        times[system].append(seconds)
                seconds = {system: statistics.median(times[system]) for system in SYSTEMS}
                entry = {"tables": name, "from": kind, "seconds": seconds, "file_bytes": size}
                loads.append(entry)
                self.ratio(f"load {name} from {kind}", seconds, {"parquet": 1.5, "csv": 2.0}[kind] if name == "lineitem" else None)
                self.ratio(f"file size, {name} from {kind}", size, 1.2)
        self.report["loads"] = loads

    # Queries.

    def open_loaded(self):
        """A worker of each system with the table lineitem, which is loaded where no run before has."""
        for system in SYSTEMS:
            if not os.path.exists(self.database(system, "lineitem-parquet")):
                self.load_once(system, ("lineitem",), "parquet", "lineitem-parquet")
        workers = {system: self.start(system) for system in SYSTEMS}
        for system, worker in workers.items():
            worker.ask("open", path=self.database(system, "lineitem-parquet"))
        return workers

    def measure_queries(self):
        workers = self.open_loaded()
        self.report["queries"] = []
        for threads in sorted({1, self.options.threads}):
            for worker in workers.values():
                worker.ask("execute", sql=f"set threads = {threads}")
            for query in (1, 6):
                self.measure_query(workers, query, threads)
        for worker in workers.values():
            worker.stop()

    def measure_query(self, workers, query, threads):
        sql = texts.query(query)
        rows = {system: worker.ask("rows", sql=sql)["rows"] for system, worker in workers.items()}  # warms up
        self.compare(f"q{query}, {threads} threads", rows["diptych"], rows["duckdb"])
        times = {system: [] for system in SYSTEMS}
        for _ in range(self.options.runs):
            for system, worker in workers.items():
                worker.ask("seconds", sql=sql)  # the turn before was the other's, which cools caches
                times[system].append(worker.ask("seconds", sql=sql)["seconds"])
        seconds = {system: statistics.median(times[system]) for system in SYSTEMS}
        self.report["queries"].append({"query": query, "threads": threads, "seconds": seconds})
        self.ratio(f"q{query}, {threads} thread{'s' if threads > 1 else ''}", seconds,
                   1.0 if threads == self.options.threads else None)

    def compare(self, what, ours, theirs):
        if not side_by_side.same_rows(ours, theirs):
            self.report["disagreements"].append({"what": what, "diptych": ours, "duckdb": theirs})

    # Beyond memory.

    def measure_beyond_memory(self):
        path = self.database("diptych", "lineitem-parquet")
        if not os.path.exists(path):
            self.load_once("diptych", ("lineitem",), "parquet", "lineitem-parquet")
        file_bytes = os.path.getsize(path)
        limit = max(file_bytes // 4, 4 << 20)  # the least the setting takes
        entries = []
        for query in (1, 6):
            sql = texts.query(query)
            in_memory = self.query_hot(path, sql)
            cold = self.query_beyond(path, sql, limit)
            self.compare(f"q{query} beyond memory", cold["rows"], in_memory["rows"])
            cat = cold["cat_seconds"]
            budget = cat + in_memory["seconds"]
            entries.append({"query": query, "memory_limit": limit, "file_bytes": file_bytes,
                            "bytes_read": cold["bytes_read"], "seconds": cold["seconds"], "in_memory_seconds": in_memory["seconds"],
                            "cat_seconds": cat, "peak_memory": cold["peak"]})
            self.report["ratios"][f"q{query} beyond memory / (cat + in memory)"] = {
                "ratio": cold["seconds"] / budget, "wanted_at_most": 1.3}
            self.report["ratios"][f"q{query} beyond memory: peak memory / (memory_limit + 256 MB)"] = {
                "ratio": cold["peak"] / (limit + (256 << 20)), "wanted_at_most": 1.0}
        self.report["beyond_memory"] = entries

    def query_hot(self, path, sql):
        worker = self.start("diptych")
        worker.ask("open", path=path, settings=self.settings(self.options.threads))
        rows = worker.ask("rows", sql=sql)["rows"]  # warms up
        runs = [worker.ask("seconds", sql=sql) for _ in range(self.options.runs)]
        worker.stop()
        return {"seconds": statistics.median(run["seconds"] for run in runs), "rows": rows}

    def query_beyond(self, path, sql, limit):
        """Medians of 15 rounds, each a query and a `cat` of the bytes it read, both on an evicted file; the highest memory of
        all. In turns, because what else uses the disk changes from one moment to the next."""
        worker = self.start("diptych")
        settings = self.settings(self.options.threads) + [f"set memory_limit = '{limit >> 20}MB'"]
        worker.ask("open", path=path, settings=settings)
        runs, cats = [], []
        for _ in range(15):
            evict(path)
            runs.append(worker.ask("seconds", sql=sql))
            cats.append(self.time_cat(path, runs[-1]["bytes_read"]))
        peak = worker.ask("memory")["peak"]
        rows = worker.ask("rows", sql=sql)["rows"]
        worker.stop()
        return {"seconds": statistics.median(run["seconds"] for run in runs), "rows": rows, "peak": peak,
                "bytes_read": statistics.median(run["bytes_read"] for run in runs), "cat_seconds": statistics.median(cats)}

    def time_cat(self, path, count):
        evict(path)
        start = time.perf_counter()
        with open(path, "rb", buffering=0) as file:
            subprocess.run(["head", "-c", str(count)], stdin=file, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - start

    # The report.

    def ratio(self, name, values, wanted=None):
        entry = {"ratio": values["diptych"] / values["duckdb"], "diptych": values["diptych"], "duckdb": values["duckdb"]}
        if wanted is not None:
            entry["wanted_at_most"] = wanted
        self.report["ratios"][name] = entry
        print(f"{name}: {entry['ratio']:.2f}", file=sys.stderr)

    def describe_machine(self):
        self.report["machine"] = side_by_side.describe_machine()
        self.report["versions"] = {}
        for system in SYSTEMS:
            worker = self.start(system)
            self.report["versions"][system] = worker.ask("version")["version"]
            worker.stop()

    def print_table(self):
        machine = self.report["machine"]
        print(f"TPC-H, scale factor {self.options.scale:g}, {machine['host']} ({machine['processor']}), "
              f"{machine['cores']} cores; Diptych / DuckDB\n")
        print(f"{'':<60}{'diptych':>14}{'duckdb':>14}{'ratio':>8}  wanted")
        for name, entry in self.report["ratios"].items():
            values = [shown(entry[system]) if system in entry else "" for system in SYSTEMS]
            wanted = entry.get("wanted_at_most")
            verdict = "" if wanted is None else f"  {wanted:g} {'met' if entry['ratio'] <= wanted else 'MISSED'}"
            print(f"{name:<60}{values[0]:>14}{values[1]:>14}{entry['ratio']:>8.2f}{verdict}")
        for disagreement in self.report["disagreements"]:
            print(f"RESULTS DIFFER: {disagreement['what']}")
        if not self.report["disagreements"]:
            print("\nAll results are equal.\n")

    def run(self):
        self.describe_machine()
        self.make_data()
        if "load" in self.parts:
            self.measure_loads()
        if "scans" in self.parts:
            self.measure_queries()
        if "beyond" in self.parts:
            self.measure_beyond_memory()
        if self.report["ratios"]:
            self.print_table()
        disagreements = list(self.report["disagreements"])
        if "joins" in self.parts:
            files = {table: self.file(table, "parquet") for table in TABLES}
            self.report["joins"] = joins.Joins(self.options, self.data, files).run()
            disagreements += self.report["joins"]["disagreements"]
        side_by_side.write_json(self.report, self.options.json)
        return 1 if disagreements else 0


def shown(value):
    """Seconds, or bytes as MB."""
    return f"{value:.4f} s" if isinstance(value, float) else f"{value / 1e6:.1f} MB"


def evict(path):
    """Drops the file's pages from the page cache, so that the next reading is from the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--parts", type=list_of(PARTS), default="load,scans,joins", help=", ".join(PARTS))
    parser.add_argument("--keys", choices=contest.KEY_VARIANTS, default="both", help="of joins: the tables' primary keys, declared or not")
    contest.add_arguments(parser, runs=5, what="query")
    contestants.add_arguments(parser)
    parser.add_argument("--load-runs", type=int, default=3, help="loads of lineitem; all tables are loaded once")
    parser.add_argument("--data", help="folder for data and databases; default: data/tpch-sf<scale>")
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "tpch.json"))
    sys.exit(Bench(parser.parse_args()).run())


main()
