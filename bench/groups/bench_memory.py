#!/usr/bin/env python3
"""Grouping with little memory, on the CPU and on a device, and what sections on a device hand to one another.

  host     a unique key, and one group with count(DISTINCT) of it, without a limit and with --memory of memory_limit
  device   the same with --memory of device_memory_limit: nothing may fall back; how each section ran
  handing  groups, of which HAVING, ORDER BY and LIMIT leave 10: waits of the host, and bytes over the bus between sections

usage: bench_memory.py --rows 100000000 --device cuda ...
"""

import argparse
import json
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import diptych_library
from contestants import positive

# Multiplied by another number modulo a prime, rows' numbers are as many different values in no order.
SCATTERED = "((i::bigint * 48271) % 100000007)::int"
QUESTIONS = {
    "unique key": "select count(*), sum(n), sum(s), max(s) from (select u, count(*) n, sum(v) s from t group by u) x",
    "one group": "select g, count(*), count(distinct u) from t group by g",
}
HANDING = "select k, count(*) from k group by k having count(*) > 3 order by 2 desc limit 10"


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = tempfile.TemporaryDirectory(dir=options.scratch)
        library = diptych_library.load_library(options.library)
        self.connection = diptych_library.Connection(library, os.path.join(self.folder.name, "memory.diptych"))
        self.wrong = 0

    def execute(self, *statements):
        for sql in statements:
            self.connection.execute(sql)

    def run(self):
        rows = self.options.rows
        self.execute(f"set threads = {self.options.threads}", "set device = 'cpu'",
                     f"create table t as select {SCATTERED} as u, (i % 1000)::int as v, 1 as g from generate_series(1, {rows}) as s(i)",
                     f"create table k as select {SCATTERED} % {max(1, rows // 33)} as k from generate_series(1, {max(1, rows // 10)}) as s(i)")
        print(f"{rows} rows, {self.options.threads} threads, {self.options.memory}\n")
        usual = {question: self.measure(sql) for question, sql in QUESTIONS.items()}
        self.on_the_host(usual)
        if self.options.device != "none":
            self.on_the_device(usual)
            self.handing()
        self.connection.close()
        return 1 if self.wrong else 0

    def measure(self, sql):
        rows = self.connection.query(sql)
        return rows, statistics.median(self.connection.seconds(sql) for _ in range(self.options.runs))

    def compare(self, question, rows, usual):
        if rows != usual[question][0]:
            self.wrong += 1
            print(f"{question}: {rows} instead of {usual[question][0]}")

    def on_the_host(self, usual):
        self.execute(f"set memory_limit = '{self.options.memory}'")
        for question, sql in QUESTIONS.items():
            rows, seconds = self.measure(sql)
            self.compare(question, rows, usual)
            print(f"host, {question}: {seconds:.3f} s, {seconds / usual[question][1]:.2f} times the {usual[question][1]:.3f} s without the limit")
        self.execute("reset memory_limit")

    def explain(self, sql):
        return json.loads(self.connection.query(f"explain (analyze, format json) {sql}")[0][0])["run"]

    def on_the_device(self, usual):
        self.execute(f"set device = '{self.options.device}'", "set fallback = 'error'",
                     f"set device_memory_limit = '{self.options.memory}'")
        for question, sql in QUESTIONS.items():
            rows, seconds = self.measure(sql)
            self.compare(question, rows, usual)
            print(f"device, {question}: {seconds:.3f} s; sections: "
                  + "; ".join(f"{part['engine']} ({part['why']})" for part in self.explain(sql)["sections"]))
        self.execute("reset device_memory_limit")

    def handing(self):
        for _ in range(2):
            self.connection.query(HANDING)
        sections = [part for part in self.explain(HANDING)["sections"] if part["device"]]
        print(f"handing: {sum(part['device']['waits'] for part in sections)} waits; bytes over the bus: "
              + "; ".join(f"to the device {part['bus']['to_device_bytes']}, to the host {part['bus']['to_host_bytes']}" for part in sections))
        print(f"fallbacks: {self.connection.query('show fallbacks')}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=positive, default=10_000_000, help="at most 100,000,006")
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--runs", type=positive, default=3)
    parser.add_argument("--threads", type=positive, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="none", help="cuda, opencl, ...; none")
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "release", "libdiptych.so"))
    parser.add_argument("--scratch", help="folder for the database, which is deleted at the end")
    sys.exit(Bench(parser.parse_args()).run())


if __name__ == "__main__":
    main()
