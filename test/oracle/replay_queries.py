#!/usr/bin/env python3
"""Random queries on Diptych, compared with the answers that random_queries.py --record has kept of PostgreSQL.

    replay_queries.py FILE --diptych build/release/libdiptych.so --set device=cuda [--jobs 16]

Needs neither PostgreSQL nor any package. What ran on the CPU for want of a kernel is counted at the end.
"""

import argparse
import collections
import os
import sys
import threading
import time

import comparison
import recording
import shares
from diptych import Worker


class Replay:
    """The cases of a recording, shared among workers."""

    def __init__(self, options):
        self.options = options
        self.seed, self.setup, cases = recording.read(options.file)
        self.cases = list(enumerate(cases))[options.first:][:options.count]
        self.deadline = time.monotonic() + options.seconds if options.seconds else None
        self.lock = threading.Lock()  # guards what follows, and printing
        self.taken = self.compared = self.failed = self.ended = 0  # ended: threads that did what they could
        self.fallbacks = collections.Counter()
        self.notes = collections.Counter()

    def take(self):
        """The next case; None: there is none, or no time for it."""
        with self.lock:
            if self.taken == len(self.cases) or (self.deadline and time.monotonic() > self.deadline):
                return None
            self.taken += 1
            return self.cases[self.taken - 1]

    def run_part(self):
        """As many cases as there is time for, on a database of its own."""
        worker = Worker(self.options.diptych, ":memory:", self.options.set, self.setup, self.options.limit_seconds)
        while case := self.take():
            number, (sql, ordered, wide, expected) = case
            if self.options.verbose:
                print(f"{number}: {sql}", flush=True)
            self._compare(number, sql, expected, worker.run(sql), ordered, wide)
        state, _, rows, _ = worker.run("SHOW fallbacks")
        worker.close()
        with self.lock:
            self.ended += 1
            for reason, count in rows if not state else []:
                self.fallbacks[reason] += int(count)

    def _compare(self, number, sql, expected, found, ordered, wide):
        notes = collections.Counter()
        problem = comparison.difference(expected, found, ordered, wide, notes, sql)
        with self.lock:
            self.compared += 1
            self.notes += notes
            if problem is None:
                return
            self.failed += 1
            print(f"FAILED seed {self.seed} query {number}: {problem}\n  {sql}\n    PostgreSQL {comparison.shown(expected)}\n"
                  f"    Diptych    {comparison.shown(found)}", flush=True)

    def run(self):
        threads = [threading.Thread(target=self.run_part) for _ in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for reason, count in self.fallbacks.most_common():
            print(f"on the CPU {count} times: {reason}")
        shares.print_notes(self.notes)
        left = len(self.cases) - self.taken if self.ended == self.options.jobs else 0
        if left:
            print(f"no time for {left}: go on with --first {self.options.first + self.taken}")
        met = shares.Shares(answer for _, (_, _, _, answer) in self.cases[:self.taken])
        print(f"seed {self.seed}, settings {self.options.set or 'default'}")
        good = met.report()
        missed = len(self.cases) - left - self.compared
        broken = self.options.jobs - self.ended
        if missed or broken:
            print(f"FAILED: {missed} queries were not compared, {broken} of {self.options.jobs} jobs broke off, as when the set-up fails")
        print(f"{self.compared - self.failed} passed, {self.failed + missed} failed")
        return 1 if self.failed or missed or broken or not good else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="made by random_queries.py --record")
    parser.add_argument("--diptych", required=True, help="path of libdiptych.so")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="SET on connecting; repeatable")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="databases that run at once")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="start with query N")
    parser.add_argument("--count", type=int, metavar="N", help="compare so many")
    parser.add_argument("--seconds", type=int, metavar="N", help="begin no query after so many seconds")
    parser.add_argument("--limit-seconds", type=int, default=60, help="for which a query may run")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every query before it runs")
    return Replay(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
