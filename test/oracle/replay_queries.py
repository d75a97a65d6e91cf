#!/usr/bin/env python3
"""Random queries or scripts on Diptych, compared with the answers that random_queries.py or random_scripts.py has kept of PostgreSQL.

    replay_queries.py FILE --diptych build/release/libdiptych.so --set device=cuda [--jobs 16] [--database FILE]

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
    """The cases of a recording, queries or scripts, shared among workers. A query counts as a script of one statement."""

    def __init__(self, options):
        self.options = options
        self.seed, self.setup, cases = recording.read(options.file)
        self.has_scripts = bool(cases) and isinstance(cases[0][0], list)
        self.word = "script" if self.has_scripts else "query"
        scripts = cases if self.has_scripts else [[case] for case in cases]
        self.cases = list(enumerate(scripts))[options.first:][:options.count]
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

    def run_part(self, database):
        """As many cases as there is time for, on a database of its own."""
        worker = Worker(self.options.diptych, database, self.options.set, self.setup, self.options.limit_seconds, self.options.keep_statements)
        while case := self.take():
            self._compare(*case, worker)
        worker.run("ROLLBACK")
        state, _, rows, _ = worker.run("SHOW fallbacks")
        worker.close()
        with self.lock:
            self.ended += 1
            for reason, count in rows if not state else []:
                self.fallbacks[reason] += int(count)

    def _compare(self, number, script, worker):
        def run(sql):
            if self.options.verbose:
                print(f"{number}: {sql}", flush=True)
            return worker.run(sql)

        notes = collections.Counter()
        problem = comparison.script_difference(script, run, notes)
        with self.lock:
            self.compared += 1
            self.notes += notes
            if problem is None:
                return
            self.failed += 1
            print(f"FAILED seed {self.seed} {self.word} {number}{problem}", flush=True)

    def databases(self):
        """A new database for each job."""
        if not self.options.database:
            return [":memory:"] * self.options.jobs
        paths = [f"{self.options.database}.{job}" for job in range(self.options.jobs)]
        for path in paths:
            for suffix in ("", "-log"):
                if os.path.exists(path + suffix):
                    os.remove(path + suffix)
        return paths

    def shares(self):
        """Of the cases that were taken."""
        taken = [statement for _, script in self.cases[:self.taken] for statement in script]
        if not self.has_scripts:
            return shares.Shares(answer for *_, answer in taken)
        met = shares.ScriptShares()
        for sql, _, _, answer in taken:
            met.add(sql, answer)
        return met

    def run(self):
        threads = [threading.Thread(target=self.run_part, args=(database,)) for database in self.databases()]
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
        print(f"seed {self.seed}, settings {self.options.set or 'default'}")
        good = self.shares().report()
        missed = len(self.cases) - left - self.compared
        broken = self.options.jobs - self.ended
        if missed or broken:
            print(f"FAILED: {missed} cases were not compared, {broken} of {self.options.jobs} jobs broke off, as when the set-up fails")
        print(f"{self.compared - self.failed} passed, {self.failed + missed} failed")
        return 1 if self.failed or missed or broken or not good else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="made by random_queries.py or random_scripts.py with --record")
    parser.add_argument("--diptych", required=True, help="path of libdiptych.so")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="SET on connecting; repeatable")
    parser.add_argument("--database", metavar="FILE", help="run on files: FILE.0 for the first job, which is removed first, and so on")
    parser.add_argument("--keep-statements", action="store_true", help="prepare each text once, and run it again by what was prepared")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="databases that run at once")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="start with query or script N")
    parser.add_argument("--count", type=int, metavar="N", help="compare so many")
    parser.add_argument("--seconds", type=int, metavar="N", help="begin none after so many seconds")
    parser.add_argument("--limit-seconds", type=int, default=60, help="for which a statement may run")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every statement before it runs")
    return Replay(parser.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
