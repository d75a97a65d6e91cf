"""How well Diptych expects the rows of joins: the 13 queries of the Star Schema Benchmark, and nine of TPC-H.

Each query runs once under EXPLAIN ANALYZE, which tells of each join how many pairs of rows were expected to have equal keys and
how many had. The tables are those of bench-ssb and bench-tpch, in the same files, with and without primary keys; and the same rows as
Parquet files, which views name. Nothing is timed.

usage: bench_estimates.py [--scale 1] [--factor 10] ...   (make bench-estimates SF=1)
"""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
for folder in ("systems", "ssb", "tpch"):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), folder))

import contest
import contestants
import kept_database
import joins
import schema
import side_by_side
import suite
import tables
import texts


def factor_of(expected, found):
    """How many times too many or too few; no rows count as one."""
    more, less = max(expected, found, 1), max(min(expected, found), 1)
    return more / less


def joins_of(system, sql):
    """Of the joins of a query, in the order of its program, (expected, found)."""
    document = system.ask("explain", sql=sql)["document"]
    return [(join["estimated_rows"], join["rows"]) for section in document["run"]["sections"] for join in section["joins"]]


def views(files):
    return [f"create view {table} as select * from '{file}'" for table, file in files.items()]


class Bench:
    def __init__(self, options):
        self.options = options
        self.report = {"benchmark": "estimates", "scale": options.scale, "factor": options.factor,
                       "machine": side_by_side.describe_machine(), "joins": []}

    def ssb(self, keys):
        """(database, statements that make it, queries by name)."""
        folder = os.path.join(self.options.data, f"ssb-{self.options.scale:g}")
        files = os.path.join(folder, "tbl")
        tables.make_files(files, self.options.scale, self.options.generator, self.options.threads)
        queries = {query: suite.read_query(suite.query_folder(), query) for query in suite.NAMES}
        return os.path.join(folder, f"ssb{'-keys' if keys else ''}.diptych"), schema.statements(files, keys), queries

    def tpch(self, keys):
        folder = os.path.join(self.options.data, f"tpch-sf{self.options.scale:g}")
        texts.make_files(folder, "parquet", self.options.scale)
        files = {table: texts.file(folder, table, "parquet") for table in texts.TABLES}
        queries = {f"q{number}": texts.query(number) for number in joins.QUERIES}
        return os.path.join(folder, f"joins{'-keys' if keys else ''}.diptych"), texts.statements(files, keys), queries

    def ssb_files(self):
        folder = os.path.join(self.options.data, f"ssb-{self.options.scale:g}")
        _, filled, queries = self.ssb(keys=False)
        files = {kept_database.quoted(table): os.path.join(folder, f"{table}.parquet") for table in schema.TABLES}
        written = [statement for table, file in files.items()
                   for statement in (f"copy {table} to '{file}' (format parquet)", f"drop table {table}")]
        return os.path.join(folder, "ssb-files.diptych"), filled + written + views(files), queries

    def tpch_files(self):
        database, _, queries = self.tpch(keys=False)
        files = {table: texts.file(os.path.dirname(database), table, "parquet") for table in texts.TABLES}
        return os.path.join(os.path.dirname(database), "joins-files.diptych"), views(files), queries

    def take(self, what, database, statements, queries):
        kept_database.load(database, "cpu", statements, self.options.library, self.options.threads)
        system = contestants.System("cpu", self.options.library, database, contestants.settings("cpu", self.options.threads, ""))
        for query, sql in queries.items():
            for number, (expected, found) in enumerate(joins_of(system, sql), 1):
                entry = {"tables": what, "query": query, "join": number, "expected": expected, "found": found,
                         "factor": factor_of(expected, found)}
                self.report["joins"].append(entry)
                print(f"{what:<20}{query:<6}{number:>5}{expected:>16}{found:>16}{entry['factor']:>10.1f}")
        system.stop()

    def run(self):
        print(f"{'tables':<20}{'query':<6}{'join':>5}{'expected':>16}{'found':>16}{'factor':>10}")
        for keys in contest.KEY_VARIANTS[self.options.keys]:
            suffix = "with keys" if keys else "without keys"
            self.take(f"SSB, {suffix}", *self.ssb(keys))
            self.take(f"TPC-H, {suffix}", *self.tpch(keys))
        self.take("SSB, files", *self.ssb_files())
        self.take("TPC-H, files", *self.tpch_files())
        factors = [entry["factor"] for entry in self.report["joins"]]
        within = sum(factor <= self.options.factor for factor in factors)
        self.report["within"] = within
        print(f"\n{within} of {len(factors)} joins within a factor {self.options.factor:g}: {100 * within / len(factors):.0f} %; "
              f"at worst {max(factors):.1f}")
        side_by_side.write_json(self.report, self.options.json)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--factor", type=float, default=10.0, help="what is counted: estimates that far from what was found, at most")
    parser.add_argument("--keys", choices=contest.KEY_VARIANTS, default="both", help="primary keys, declared or not")
    parser.add_argument("--threads", type=contestants.positive, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "release", "libdiptych.so"))
    parser.add_argument("--generator", help="the program that makes SSB's tables; default: ssb_data beside the library")
    parser.add_argument("--data", default=os.path.join(ROOT, "data"), help="folder of the benchmarks' folders")
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "estimates.json"))
    options = parser.parse_args()
    options.generator = options.generator or os.path.join(os.path.dirname(options.library), "ssb_data")
    Bench(options).run()


main()
