#!/usr/bin/env python3
"""Random scripts of one connection on PostgreSQL 15 and on Diptych, compared statement by statement: SQLSTATEs, names and types of columns, rows.

    random_scripts.py --diptych build/release/libdiptych.so --seed 1 --count 3000 [--set threads=1] [--database FILE]

A script has 30 to 60 statements: tables made, filled and dropped, queries over them, transactions that are committed, rolled back or fail by
one of their statements. Every script comes from the seed alone. Of a script that disagrees all statements up to that one are shown.
"""

import argparse
import collections
import random
import sys

import comparison
import postgres
from diptych import Worker
from oracle import Oracle

TABLES = ["t0", "t1", "t2"]
# a: a key, or not; b: never NULL, or it may be.
DEFINITIONS = ["(a integer PRIMARY KEY, b text NOT NULL, c numeric(10, 2))", "(a integer, b text, c numeric(10, 2))",
               "(a integer NOT NULL, b text, c numeric(10, 2), PRIMARY KEY (b, a))"]
BEGINS = ["BEGIN", "BEGIN", "START TRANSACTION", "BEGIN ISOLATION LEVEL REPEATABLE READ", "BEGIN READ ONLY", "BEGIN READ WRITE",
          "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE"]
ENDS = ["COMMIT", "COMMIT", "END", "COMMIT WORK", "ROLLBACK", "ABORT"]
MODES = ["SET TRANSACTION READ ONLY", "SET TRANSACTION READ WRITE", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
         "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"]
MISTAKES = ["SELEC 1", "SELECT a FROM nothing", "SELECT 1 / 0", "SELECT nothing FROM t0", "INSERT INTO t0 VALUES (1)", "SELECT 'x'::integer", "SELECT 3000000000::integer",
            "DROP TABLE nothing", "INSERT INTO t1 (a, a) VALUES (1, 2)"]


class ScriptGenerator:
    def __init__(self, source):
        self.random = source

    def script(self):
        statements = [f"CREATE TABLE {name} {self.random.choice(DEFINITIONS)}" for name in TABLES]
        while len(statements) < self.random.randint(30, 60):
            statements += self.some()
        return statements

    def some(self):
        pick = self.random.random()
        if pick < 0.10:
            return [self.random.choice(BEGINS)]
        if pick < 0.17:
            return [self.random.choice(ENDS)]
        if pick < 0.19:
            return [self.random.choice(MODES)]
        if pick < 0.23:
            return [self.random.choice(MISTAKES)]
        if pick < 0.29:
            return [self.random.choice(["SAVEPOINT {}", "SAVEPOINT {}", "ROLLBACK TO {}", "ROLLBACK TO SAVEPOINT {}", "RELEASE {}"])
                    .format(self.random.choice(["s", "u"]))]
        if pick < 0.60:
            return [self.change()]
        return [self.query()]

    def table(self):
        return self.random.choice(TABLES)

    def change(self):
        pick, table, other = self.random.random(), self.table(), self.table()
        if pick < 0.10:
            return f"DELETE FROM {table}{self.condition()}{self.returning(table)}"
        if pick < 0.13:
            return f"DELETE FROM {table} USING {other} AS o WHERE {table}.a = o.a{self.random.choice(['', ' AND o.c > 1'])}{self.returning(table)}"
        if pick < 0.23:
            return f"UPDATE {table} SET {self.assignments()}{self.condition()}{self.returning(table)}"
        if pick < 0.26:
            return (f"UPDATE {table} SET {self.random.choice(['c = v', 'c = k, b = n', '(b, c) = (n, k)'])} FROM (SELECT a AS k, max(b) AS n, "
                    f"min(c) AS v FROM {other} GROUP BY a) AS o WHERE a = k{self.random.choice(['', ' RETURNING *', ' RETURNING a, v, n, c'])}")
        if pick < 0.28:
            return f"TRUNCATE {self.random.choice(['', 'TABLE '])}{table}"
        if pick < 0.50:
            rows = self.random.randint(1, 4)
            return f"INSERT INTO {table} VALUES " + ", ".join(self.row(rows == 1) for _ in range(rows))
        if pick < 0.55:
            return f"INSERT INTO {table} (b, a) VALUES ('n{self.random.randint(0, 9)}', {self.number()}){self.returning(table)}"
        if pick < 0.75:
            first = self.random.randint(0, 2000)
            return (f"INSERT INTO {table} SELECT i, 'g' || i % 7, i % 50 * 0.25 FROM "
                    f"generate_series({first}, {first + self.random.choice([3, 60, 200])}) AS g(i)")
        if pick < 0.87:
            return f"INSERT INTO {table} SELECT a + {self.random.choice([0, 1, 5000])}, b, c FROM {other} WHERE a < {self.number()}{self.returning(table)}"
        if pick < 0.93:
            return f"DROP TABLE {self.random.choice(['', 'IF EXISTS '])}{table}"
        if pick < 0.97:
            return f"CREATE TABLE {self.random.choice(['', 'IF NOT EXISTS '])}{table} {self.random.choice(DEFINITIONS)}"
        # Without IF NOT EXISTS PostgreSQL would tell READ ONLY first, Diptych that there is one.
        return f"CREATE TABLE IF NOT EXISTS {table} AS SELECT a, b, c FROM {other} WHERE a % 3 = 1"

    def returning(self, table):
        if self.random.random() < 0.6:
            return ""
        return " RETURNING " + self.random.choice(["a", "*", f"{table}.b, c + a", "a AS n, 'x', b || 'y', NULL", f"{table}.*, 1", "count(*)", "nothing"])

    def condition(self):
        return self.random.choice([f" WHERE a = {self.number()}", f" WHERE a > {self.number()}", f" WHERE a % 7 = {self.random.randint(0, 6)}",
                                   f" WHERE b = 'g{self.random.randint(0, 6)}'", " WHERE c IS NULL", f" WHERE a < {self.number()} AND c > 2", ""])

    def assignments(self):
        """Keys move by more than there are, so that none meets another one on its way, which PostgreSQL would not have."""
        return self.random.choice(["c = c + 1", "b = b || 'x'", "a = a + 10000", f"c = {self.number()}, b = 'n{self.random.randint(0, 9)}'",
                                   "c = NULL", "c = DEFAULT", "b = NULL", f"a = {self.number()}", "c = a / 2, b = 'u' || a", "nothing = 1",
                                   "a = 'x'", "(b, c) = ('r' || a, 7)", "(c, b) = ROW(DEFAULT, b)"])

    def query(self):
        table, other = self.table(), self.table()
        return self.random.choice([
            f"SELECT count(*), sum(a), min(b), max(c), count(DISTINCT b) FROM {table}",
            f"SELECT a, b, c FROM {table} WHERE a < {self.number()} ORDER BY a, b, c",
            f"SELECT b, count(*), sum(c) FROM {table} GROUP BY b ORDER BY b",
            f"SELECT count(*), sum(x.c) FROM {table} x JOIN {other} y ON x.a = y.a",
            f"SELECT count(*) FROM {table} WHERE b = 'n{self.random.randint(0, 9)}'",
        ])

    def number(self):
        return self.random.choice([self.random.randint(0, 9), self.random.randint(0, 2000)])

    def row(self, may_fail):
        """may_fail: of several rows with different mistakes PostgreSQL tells the first row's, Diptych NULLs before keys."""
        text = self.random.choice([f"'n{self.random.randint(0, 9)}'"] * 9 + ["NULL"] * may_fail)
        number = self.random.choice([str(self.number())] * 12 + ["NULL"] * may_fail)
        return f"({number}, {text}, {self.random.choice(['NULL', '1.5', '0.25', '99999999.99'])})"


def run_script(number, script, oracle, worker, counts):
    """What disagrees, or None."""
    for at, sql in enumerate(script):
        theirs, ours = oracle.run(sql), worker.run(sql)
        counts[theirs[0] or "without an error"] += 1
        problem = comparison.difference(theirs, ours, "ORDER BY" in sql, False, None, sql)
        if problem is None:
            continue
        before = "".join(f"  {one};\n" for one in script[:at])
        return (f"FAILED script {number}, statement {at}: {problem}\n{before}  {sql};\n    PostgreSQL {comparison.shown(theirs)}\n"
                f"    Diptych    {comparison.shown(ours)}")
    return None


def run(options, server):
    generator, oracle = ScriptGenerator(random.Random(options.seed)), Oracle(server)
    worker = Worker(options.diptych, options.database, options.set, (), options.limit_seconds)
    counts, failures = collections.Counter(), 0
    clean = ["ROLLBACK"] + [f"DROP TABLE IF EXISTS {name}" for name in TABLES]
    for number in range(options.count):
        problem = run_script(number, generator.script(), oracle, worker, counts)
        for sql in clean:
            oracle.run(sql)
            worker.run(sql)
        if problem is None:
            continue
        failures += 1
        print(problem, flush=True)
        if failures >= options.stop_after:
            break
    worker.close()
    server.drop_database(oracle.connection)
    print(f"seed {options.seed}, settings {options.set or 'default'}")
    print(f"{sum(counts.values())} statements: " + ", ".join(f"{count} {state}" for state, count in counts.most_common()))
    print(f"{options.count - failures} passed, {failures} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diptych", required=True, help="path of libdiptych.so")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--database", default=":memory:")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="SET on connecting; repeatable")
    parser.add_argument("--stop-after", type=int, default=5, metavar="N", help="give up after N failures")
    parser.add_argument("--limit-seconds", type=int, default=60, help="for which a statement may run")
    options = parser.parse_args()
    try:
        with postgres.Server() as server:
            return run(options, server)
    except FileNotFoundError as missing:
        print(f"skipped: {missing}\n0 passed, 0 failed, 1 skipped")
        return 0


if __name__ == "__main__":
    sys.exit(main())
