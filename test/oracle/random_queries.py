#!/usr/bin/env python3
"""Random single-table queries on PostgreSQL 15 and on Diptych, compared.

    random_queries.py --diptych build/release/libdiptych.so --seed 1 --count 5000 [--set threads=1]
    random_queries.py --record FILE --seed 1 --count 5000

Every query comes from the seed alone, so that a failure is found again with the same seed and count. A failing query is made
smaller before it is shown. With --record PostgreSQL's answers go to a file, which replay_queries.py compares with Diptych's on
a machine without PostgreSQL.
"""

import argparse
import random
import sys

import psycopg

import comparison
import postgres
import queries
import recording
import sample_tables
from diptych import Worker


class Oracle:
    """PostgreSQL with the sample tables; answers as Diptych's Worker does."""

    def __init__(self, server, setup):
        self.connection = server.new_database()
        for sql in setup:
            self.connection.execute(sql)

    def run(self, sql):
        result = self.connection.pgconn.exec_(sql.encode())
        if result.status != psycopg.pq.ExecStatus.TUPLES_OK:
            state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
            return (state or b"?????").decode(), result.error_message.decode(), None
        types = [comparison.TYPE_OF_OID.get(result.ftype(c), str(result.ftype(c))) for c in range(result.nfields)]
        rows = [[None if result.get_value(r, c) is None else result.get_value(r, c).decode() for c in range(result.nfields)]
                for r in range(result.ntuples)]
        return "", types, rows


def minimise(query, disagree, steps=400):
    """The smallest query found that still disagrees."""
    progress = True
    while progress and steps > 0:
        progress = False
        for candidate in queries.smaller(query):
            steps -= 1
            if steps <= 0:
                break
            if disagree(candidate):
                query, progress = candidate, True
                break
    return query


def random_queries(oracle, source, count):
    """So many queries that PostgreSQL takes as they are meant."""
    generator = queries.QueryGenerator(source)
    for _ in range(count):
        query = generator.next()
        while oracle.run(query.sql())[0] in ("42803", "42702") and not query.text:
            # Grouped by what PostgreSQL does not see to be the same, or ordered by a name that fits twice.
            query = generator.next()
        yield query


def record(options, server):
    source = random.Random(options.seed)
    setup = sample_tables.statements(source)
    oracle = Oracle(server, setup)
    cases = ((query.sql(), query.ordered, oracle.run(query.sql())) for query in random_queries(oracle, source, options.count))
    recording.write(options.record, options.seed, setup, cases)
    server.drop_database(oracle.connection)
    print(f"seed {options.seed}: {options.count} queries recorded in {options.record}")
    return 0


def run(options, server):
    source = random.Random(options.seed)
    setup = sample_tables.statements(source)
    oracle = Oracle(server, setup)
    worker = Worker(options.diptych, options.database, options.set, setup, options.limit_seconds)

    def disagreement(query):
        text = query.sql()
        theirs = oracle.run(text)
        return comparison.difference(theirs, worker.run(text), query.ordered)

    failures = 0
    for number, query in enumerate(random_queries(oracle, source, options.count)):
        if options.verbose:
            print(query.sql(), flush=True)
        problem = disagreement(query)
        if problem is None:
            continue
        failures += 1
        print(f"FAILED seed {options.seed} query {number}: {problem}\n  {query.sql()}")
        if not query.text:
            query = minimise(query, disagreement)
            print(f"  smallest: {query.sql()}\n    {disagreement(query)}")
        print(f"    PostgreSQL {comparison.shown(oracle.run(query.sql()))}\n    Diptych    {comparison.shown(worker.run(query.sql()))}", flush=True)
        if failures >= options.stop_after:
            break
    worker.close()
    server.drop_database(oracle.connection)
    passed = number + 1 - failures if options.count else 0
    print(f"seed {options.seed}, settings {options.set or 'default'}")
    print(f"{passed} passed, {failures} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diptych", help="path of libdiptych.so")
    parser.add_argument("--record", metavar="FILE", help="write PostgreSQL's answers there instead of comparing")
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
