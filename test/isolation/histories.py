#!/usr/bin/env python3
"""Random histories of transactions on several connections at once, checked for isolation anomalies in the manner of Elle.

    histories.py --library build/release/libdiptych.so --histories 100 --seed 1 [--connections 8] [--database FILE]
                 [--kill] [--set NAME=VALUE ...]
    histories.py --self-test

Each history is a new database: in memory, or the file. With --kill it is a process that is killed while it works on a
file, and the next one goes on with that file. The seed says what the transactions do; how they meet is up to the machine.
history_check.py has what is looked for. A violation is a line with its kind, the transactions and the seed.
"""

import argparse
import collections
import os
import sys
import tempfile

import history_check
import history_kill
import history_run
import history_samples
from connections import Connection, Database, load_library
from history import History

KEYS = range(2, 8)
MOST_SHOWN = 5  # violations of a history


def remove_file(path):
    for suffix in ("", "-log"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)


def run_one(options, library, path, seed):
    """(the history, what is wrong as (kind, text))."""
    remove_file(path)
    database, recorder = Database(library, path), history_run.Recorder()
    connection = Connection(database, options.set)
    history_run.set_up(connection, KEYS)
    for thread in history_run.start_clients(database, KEYS, options, seed, recorder, options.transactions):
        thread.join()
    history = History(recorder.transactions, history_run.read_all(connection))
    connection.close()
    database.close()
    return history, recorder.problems + history_check.check(history, options.skip)


def run_all(options, directory):
    library, failures, counts = load_library(options.library), 0, collections.Counter()
    killed = history_kill.KilledFile(options, directory) if options.kill else None
    for number in range(options.histories):
        seed = options.seed + number
        if killed:
            history, problems = killed.live(seed)
        else:
            history, problems = run_one(options, library, options.database or ":memory:", seed)
        for one in history.transactions:
            counts[f"{one.isolation}, {one.ended}"] += 1
        for kind, text in problems[:MOST_SHOWN]:
            print(f"VIOLATION {kind} seed {seed}: {text}", flush=True)
        failures += bool(problems)
        if failures >= options.stop_after:
            break
    print(f"{sum(counts.values())} transactions: " + ", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    print(f"{number + 1 - failures} passed, {failures} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="path of libdiptych.so")
    parser.add_argument("--histories", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the first history; the next one has the next seed")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--transactions", type=int, default=15, help="of each connection in a history")
    parser.add_argument("--database", help="a file to make, which is removed first; without it :memory:, with --kill a temporary file")
    parser.add_argument("--kill", action="store_true", help="each history is a process that is killed")
    parser.add_argument("--longest", type=float, default=0.6, help="seconds that such a process lives at most")
    parser.add_argument("--keep", metavar="DIRECTORY", help="where to put the file as the last kill left it")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="SET on connecting; repeatable")
    parser.add_argument("--skip", action="append", default=[], metavar="KIND", help="do not look for violations of a kind")
    parser.add_argument("--stop-after", type=int, default=5, metavar="N", help="give up after N failures")
    parser.add_argument("--self-test", action="store_true", help="check histories made by hand, each with one anomaly")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.self_test:
        return history_samples.self_test()
    if not options.library:
        parser.error("--library is needed")
    options.library = os.path.abspath(options.library)
    if options.child is not None:
        return history_kill.be_child(options)
    print(f"seed {options.seed}, {options.connections} connections, {'killed, ' * options.kill}settings {options.set or 'default'}")
    with tempfile.TemporaryDirectory() as directory:
        return run_all(options, directory)


if __name__ == "__main__":
    sys.exit(main())
