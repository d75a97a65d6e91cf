#!/usr/bin/env python3
"""Random queries of one table, or with --joins of several, on PostgreSQL 15 and on Diptych, compared: errors, names and types of the columns, rows.

    random_queries.py --diptych build/release/libdiptych.so --seed 1 --count 5000 [--set threads=1]
    random_queries.py --record FILE --seed 1 --count 5000

Every query comes from the seed alone, so that a failure is found again with the same seed and count. A failing query is made
smaller before it is shown. With --joins every query is an inner join of two to five relations. With --record PostgreSQL's answers
go to a file, which replay_queries.py compares with Diptych's on a machine without PostgreSQL.
"""

import argparse
import collections
import random
import sys

import comparison
import postgres
import queries
import recording
import sample_tables
import shares
import smaller
from diptych import Worker
from join_queries import JoinQueryGenerator
from join_tables import JoinTables
from oracle import Oracle

MOST_JOINED_ROWS = 5000


def minimise(query, disagree, steps=400):
    """The smallest query found that still disagrees."""
    progress = True
    while progress and steps > 0:
        progress = False
        for candidate in smaller.smaller(query):
            steps -= 1
            if steps <= 0:
                break
            if disagree(candidate):
                query, progress = candidate, True
                break
    return query


def random_queries(oracle, generator, count):
    """So many queries that PostgreSQL takes as they are meant: each with its answer, and whether its join finds several rows for one."""
    for _ in range(count):
        while True:
            query = generator.next()
            fits, several = sizes(oracle, query)
            if not fits:
                continue
            answer = oracle.run(query.sql())
            # Grouped by what PostgreSQL does not see to be the same, or ordered by a name that fits twice.
            if query.text or answer[0] not in ("42803", "42702"):
                break
        yield query, answer, several


def sizes(oracle, query):
    """(is a join small enough, is there a row of the first relation that is joined with several)"""
    if not query.join:
        return True, False
    state, _, rows, _ = oracle.run(query.join.count(query.where))
    if state:
        return True, False  # the query shows the error
    all_rows, met, of_first = map(int, rows[0])
    return all_rows <= MOST_JOINED_ROWS, query.join.keyed and met > of_first


def tables(options, source):
    """(statements that make them, a generator of queries on them)"""
    if not options.joins:
        return sample_tables.statements(source), queries.QueryGenerator(source)
    made = JoinTables(source)
    return made.statements, JoinQueryGenerator(source, made)


def record(options, server):
    source = random.Random(options.seed)
    setup, generator = tables(options, source)
    oracle = Oracle(server, setup)
    met = shares.Shares(joins=options.joins)

    def cases():
        for query, answer, several in random_queries(oracle, generator, options.count):
            met.add(answer, several)
            yield query.sql(), query.ordered, query.wide(), answer

    recording.write(options.record, options.seed, setup, cases())
    server.drop_database(oracle.connection)
    print(f"seed {options.seed}: {options.count} queries recorded in {options.record}")
    return 0 if met.report() else 1


class Comparison:
    """Runs queries on both systems and reports what differs."""

    def __init__(self, options, server):
        self.options = options
        setup, self.generator = tables(options, random.Random(options.seed))
        self.oracle = Oracle(server, setup)
        self.worker = Worker(options.diptych, options.database, options.set, setup, options.limit_seconds)
        self.met, self.notes = shares.Shares(joins=options.joins), collections.Counter()

    def disagreement(self, query, theirs=None, notes=None):
        text = query.sql()
        if theirs is None:
            theirs = self.oracle.run(text)
        return comparison.difference(theirs, self.worker.run(text), query.ordered, query.wide(), notes, text)

    def report(self, number, query, problem):
        print(f"FAILED seed {self.options.seed} query {number}: {problem}\n  {query.sql()}")
        if not query.text:
            query = minimise(query, self.disagreement)
            print(f"  smallest: {query.sql()}\n    {self.disagreement(query)}")
        print(f"    PostgreSQL {comparison.shown(self.oracle.run(query.sql()))}\n"
              f"    Diptych    {comparison.shown(self.worker.run(query.sql()))}", flush=True)

    def run(self):
        failures = 0
        for number, (query, theirs, several) in enumerate(random_queries(self.oracle, self.generator, self.options.count)):
            if self.options.verbose:
                print(query.sql(), flush=True)
            self.met.add(theirs, several)
            problem = self.disagreement(query, theirs, self.notes)
            if problem is None:
                continue
            failures += 1
            self.report(number, query, problem)
            if failures >= self.options.stop_after:
                break
        self.worker.close()
        shares.print_notes(self.notes)
        print(f"seed {self.options.seed}, settings {self.options.set or 'default'}")
        good = self.met.report()
        print(f"{self.met.count - failures} passed, {failures} failed")
        return 1 if failures or not good else 0


def run(options, server):
    compared = Comparison(options, server)
    status = compared.run()
    server.drop_database(compared.oracle.connection)
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diptych", help="path of libdiptych.so")
    parser.add_argument("--record", metavar="FILE", help="write PostgreSQL's answers there instead of comparing")
    parser.add_argument("--joins", action="store_true", help="inner joins of two to five relations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--database", default=":memory:")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="SET on connecting; repeatable")
    parser.add_argument("--stop-after", type=int, default=25, metavar="N", help="give up after N failures")
    parser.add_argument("--limit-seconds", type=int, default=60, help="for which a query may run")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every query before it runs")
    options = parser.parse_args()
    if (options.diptych is None) == (options.record is None):
        parser.error("either --diptych or --record is needed")
    try:
        with postgres.Server() as server:
            return record(options, server) if options.record else run(options, server)
    except FileNotFoundError as missing:
        print(f"skipped: {missing}\n0 passed, 0 failed, 1 skipped")
        return 0


if __name__ == "__main__":
    sys.exit(main())
