"""Joins that nobody can wait for: cancelled at many moments, how long each takes until it ends; a cross join of which ten rows are
wanted; a chain of many tables. Diptych alone.

Both sides have ROWS rows of one and the same key, a number or a string, so that every row meets all of the other side. Each query is
cancelled once late, which leaves its kernels compiled, then after each of --after seconds. The program's exit is a part of it: the last
statement is cancelled, and nothing is closed.

usage: bench_hostile.py --library build/release/libdiptych.so --device cuda --rows 10000000
"""

import argparse
import os
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import contestants
import diptych_library

CANCELLED = "57014"
QUERIES = {
    "count(*)": "select count(*) from a join b on a.k = b.k",
    "a condition": "select count(*) from a join b on a.k = b.k where a.v + b.w > 3",
    "groups": "select count(*), sum(v), max(w) from a join b on a.k = b.k group by a.v % 7",
    "order": "select a.v, b.w from a join b on a.k = b.k order by 1 desc, 2 limit 5",
    "strings": "select count(*), sum(b.w) from a join b on a.s = b.s where a.v + b.w > 3",
}
CROSS_JOIN = "select * from million m, million n limit 10"
CHAINED = 60


class Bench:
    def __init__(self, options):
        self.options = options
        self.library = diptych_library.load_library(options.library)
        self.connection = diptych_library.Connection(self.library, ":memory:")
        settings = [f"device = '{options.device}'", *(["gpu_engine = 'generated'"] if options.device not in ("cpu", "auto") else [])]
        for setting in settings + options.set:
            self.connection.execute(f"set {setting}")
        numbers = "from generate_series(1::bigint, {}) g(i)"
        self.connection.execute("create table a as select 1 k, 'one key' s, i v " + numbers.format(options.rows))
        self.connection.execute("create table b as select 1 k, 'one key' s, i w " + numbers.format(options.rows))
        self.connection.execute("create table million as select i " + numbers.format(1_000_000))
        self.connection.execute("create table hundred as select i " + numbers.format(100))

    def behind_cancel(self, sql, after):
        """Seconds from the cancel to the statement's end."""
        cancelled_at = []

        def cancel():
            time.sleep(after)
            cancelled_at.append(time.monotonic())
            self.library.diptych_interrupt(self.connection.connection)

        other = threading.Thread(target=cancel)
        other.start()
        try:
            self.connection.execute(sql)
            ended = "it ended by itself"
        except RuntimeError as error:
            ended = str(error)
        ended_at = time.monotonic()
        other.join()
        if CANCELLED not in ended:
            raise SystemExit(f"not cancelled: {ended}: {sql}")
        return ended_at - cancelled_at[0]

    def seconds(self, sql):
        return [f"{self.connection.seconds(sql) * 1e3:.1f}" for _ in range(3)]

    def run(self):
        moments = [float(after) for after in self.options.after.split(",")]
        print(f"{self.options.rows} rows a side, {self.options.device}; milliseconds from a cancel to the end\n")
        print(f"{'cancelled after s':<20}{'first, ' + str(self.options.first):>12}" + "".join(f"{after:>8}" for after in moments))
        for name, sql in QUERIES.items():
            times = [self.behind_cancel(sql, after) for after in [self.options.first, *moments]]
            print(f"{name:<20}{times[0] * 1e3:>12.1f}" + "".join(f"{time * 1e3:>8.1f}" for time in times[1:])
                  + f"   at most {max(times[1:]) * 1e3:.1f}", flush=True)
        chain = " join ".join(["hundred t0", *(f"hundred t{i} on t{i}.i = t{i - 1}.i" for i in range(1, CHAINED))])
        print(f"\nthree runs, ms: cross join of a million rows with a million, LIMIT 10: {', '.join(self.seconds(CROSS_JOIN))}")
        print(f"a chain of {CHAINED} tables: {', '.join(self.seconds('select count(*) from ' + chain))}", flush=True)
        self.behind_cancel(QUERIES["groups"], moments[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "release", "libdiptych.so"))
    parser.add_argument("--device", default="cpu", help="cpu, cuda, opencl, auto")
    parser.add_argument("--rows", type=contestants.positive, default=10_000_000)
    parser.add_argument("--first", type=float, default=5, help="seconds after which a query is cancelled first")
    parser.add_argument("--after", default="0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.8,1.0,1.5")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="SET on connecting; repeatable")
    Bench(parser.parse_args()).run()


if __name__ == "__main__":
    main()
