#!/usr/bin/env python3
"""Two connections on PostgreSQL 15 and on Diptych, compared statement by statement: which rows does a transaction of REPEATABLE READ see and
change beside another connection, and when is it refused?

    random_pairs.py --diptych build/release/libdiptych.so --seed 1 --count 1000 [--set tablet_rows=64] [--database FILE]

Connection A begins its transaction and reads. Then B changes rows of the same tables and commits. Then A changes rows, with savepoints, reads
what it sees, and ends. At last both tables are read. B changes nothing behind A's first change: it would wait for A.
"""

import argparse
import random
import sys

import comparison
import postgres
from diptych import Connection
from oracle import Oracle

TABLES = ["t0", "t1"]


class PairGenerator:
    def __init__(self, source):
        self.random, self.fresh = source, 1000

    def script(self):
        """(A or B, statement)"""
        rows, key = self.random.choice([0, 5, 60, 200, 1000]), self.random.choice([" PRIMARY KEY", " PRIMARY KEY", ""])
        for table in TABLES:
            yield "A", f"DROP TABLE IF EXISTS {table}"
            yield "A", f"CREATE TABLE {table} (a integer{key}, b text, c numeric(10, 2))"
            yield "A", f"INSERT INTO {table} SELECT i, 'g' || i % 7, i % 50 * 0.25 FROM generate_series(1, {rows}) AS g(i)"
        yield "A", "BEGIN ISOLATION LEVEL REPEATABLE READ"
        yield "A", self.query()
        yield from (("B", sql) for sql in self.of_b())
        yield from (("A", sql) for sql in self.of_a())
        yield from (("A", f"SELECT a, b, c FROM {table} ORDER BY a, b, c") for table in TABLES)

    def of_b(self):
        for _ in range(self.random.randint(0, 6)):
            yield self.change()
        if self.random.random() < 0.3:
            yield "CHECKPOINT"
        if self.random.random() < 0.4:
            yield "BEGIN"
            for _ in range(self.random.randint(1, 4)):
                yield self.random.choice([self.change, self.query])()
            yield self.random.choice(["COMMIT", "ROLLBACK"])

    def of_a(self):
        yield self.query()
        yield "SAVEPOINT s"
        for _ in range(self.random.randint(1, 10)):
            yield self.random.choices([self.change, self.query, lambda: "SAVEPOINT s", lambda: "ROLLBACK TO s"], [5, 3, 1, 1])[0]()
        yield self.random.choice(["COMMIT", "COMMIT", "ROLLBACK"])

    def change(self):
        """Keys that both give would be refused by whoever looks first."""
        table = self.random.choice(TABLES)
        self.fresh += 10
        return self.random.choices([
            f"DELETE FROM {table} WHERE {self.condition()}",
            f"DELETE FROM {table}",
            f"UPDATE {table} SET {self.random.choice(['c = c + 1', 'b = b || chr(120)', 'c = a'])} WHERE {self.condition()}",
            f"INSERT INTO {table} SELECT {self.fresh} + i, 'n', i FROM generate_series(1, {self.random.choice([1, 3, 9])}) AS g(i)",
            f"INSERT INTO {table} SELECT a + {self.fresh * 100}, b, c FROM {table} WHERE {self.condition()}"], [9, 1, 14, 8, 8])[0]

    def query(self):
        table = self.random.choice(TABLES)
        return self.random.choice([
            f"SELECT count(*), sum(a), sum(c), min(b), max(b) FROM {table}",
            f"SELECT a, b, c FROM {table} WHERE {self.condition()} ORDER BY a, b, c",
            f"SELECT b, count(*), sum(c) FROM {table} GROUP BY b ORDER BY b",
            "SELECT count(*), sum(x.c) FROM t0 x JOIN t1 y ON x.a = y.a"])

    def condition(self):
        number = self.random.choice([self.random.randint(0, 9), self.random.randint(0, 300)])
        return self.random.choice([f"a = {number}", f"a > {number}", f"a % 7 = {number % 7}", f"b = 'g{number % 7}'", f"a < {number} AND c > 2",
                                   f"a BETWEEN {number} AND {number + 20}", "true"])


def run_script(script, theirs, ours):
    """What differs first, with the statements up to there; None: nothing. theirs, ours: connections A and B of both systems."""
    before = ""
    for connection, sql in script:
        before += f"  {connection}: {sql};\n"
        expected, found = theirs[connection].run(sql), ours[connection].run(sql)
        problem = comparison.difference(expected, found, "ORDER BY" in sql, sql=sql)
        if problem is not None:
            return f": {problem}\n{before}    PostgreSQL {comparison.shown(expected)}\n    Diptych    {comparison.shown(found)}"
    return None


def run(options, server):
    oracle, diptych = Oracle(server), Connection(options.diptych, options.database, options.set)
    theirs, ours = {"A": oracle, "B": oracle.beside(server)}, {"A": diptych, "B": diptych.beside()}
    generator, failures = PairGenerator(random.Random(options.seed)), 0
    for number in range(options.count):
        problem = run_script(generator.script(), theirs, ours)
        if problem is None:
            continue
        failures += 1
        print(f"FAILED seed {options.seed} script {number}{problem}", flush=True)
        for connection in (*theirs.values(), *ours.values()):
            connection.run("ROLLBACK")
    print(f"seed {options.seed}, settings {options.set or 'default'}\n{options.count - failures} passed, {failures} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diptych", required=True, help="path of libdiptych.so")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--database", default=":memory:")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="SET on connecting; repeatable")
    options = parser.parse_args()
    try:
        with postgres.Server() as server:
            return run(options, server)
    except FileNotFoundError as missing:
        print(f"skipped: {missing}\n0 passed, 0 failed, 1 skipped")
        return 0


if __name__ == "__main__":
    sys.exit(main())
