#!/usr/bin/env python3
"""Random scripts of one connection on PostgreSQL 15 and on Diptych, compared statement by statement: SQLSTATEs, names and types of columns, rows.

    random_scripts.py --diptych build/release/libdiptych.so --seed 1 --count 3000 [--set threads=1] [--database FILE] [--keep-statements]
    random_scripts.py --record FILE --seed 1 --count 500 [--changes]

A script has 30 to 60 statements: tables and views made and dropped, tables filled and changed, queries over them, transactions that are
committed, rolled back or fail by one of their statements; scripts.py makes them. Every script comes from the seed alone. Of a script that
disagrees all statements up to that one are shown. With --changes a script is a few changes with random expressions; changes.py makes them.
With --record PostgreSQL's answers go to a file, which replay_queries.py compares with Diptych's on a machine without PostgreSQL.
"""

import argparse
import collections
import random
import sys

import comparison
import postgres
import recording
import sample_tables
import shares
from changes import ChangeGenerator
from diptych import Worker
from oracle import Oracle
from scripts import ScriptGenerator


def answered(script, oracle, met):
    """The statements with PostgreSQL's answers, as a recording has them, each when it is asked for. Counted in met."""
    for sql in script:
        answer = oracle.run(sql)
        met.add(sql, answer)
        yield sql, "ORDER BY" in sql, False, answer


def make_generator(options):
    """(statements that make what its scripts need, a generator)"""
    source = random.Random(options.seed)
    return (sample_tables.statements(source), ChangeGenerator(source)) if options.changes else ([], ScriptGenerator(source))


def random_scripts(generator, count, oracle, met):
    for _ in range(count):
        yield answered(generator.script(), oracle, met)


def record(options, server):
    setup, generator = make_generator(options)
    oracle, met = Oracle(server, setup), shares.ScriptShares()
    recording.write(options.record, options.seed, setup, map(list, random_scripts(generator, options.count, oracle, met)))
    server.drop_database(oracle.connection)
    print(f"seed {options.seed}: {options.count} scripts recorded in {options.record}")
    return 0 if met.report() else 1


def run(options, server):
    setup, generator = make_generator(options)
    oracle, met, failures, notes = Oracle(server, setup), shares.ScriptShares(), 0, collections.Counter()
    worker = Worker(options.diptych, options.database, options.set, setup, options.limit_seconds, options.keep_statements)
    for number, script in enumerate(random_scripts(generator, options.count, oracle, met)):
        problem = comparison.script_difference(script, worker.run, notes)
        if problem is None:
            continue
        failures += 1
        print(f"FAILED seed {options.seed} script {number}{problem}", flush=True)
        if failures >= options.stop_after:
            break
    worker.close()
    server.drop_database(oracle.connection)
    shares.print_notes(notes)
    print(f"seed {options.seed}, settings {options.set or 'default'}")
    good = met.report()
    print(f"{number + 1 - failures} passed, {failures} failed")
    return 1 if failures or not good else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diptych", help="path of libdiptych.so")
    parser.add_argument("--record", metavar="FILE", help="write PostgreSQL's answers there instead of comparing")
    parser.add_argument("--changes", action="store_true", help="a few changes a script, with random expressions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--database", default=":memory:")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="SET on connecting; repeatable")
    parser.add_argument("--keep-statements", action="store_true", help="prepare each text once, and run it again by what was prepared")
    parser.add_argument("--stop-after", type=int, default=5, metavar="N", help="give up after N failures")
    parser.add_argument("--limit-seconds", type=int, default=60, help="for which a statement may run")
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
