#!/usr/bin/env python3
"""Runs the scripts of anomaly_scripts.py, the isolation anomalies that are published, and of waiting_scripts.py.

    anomalies.py --library build/release/libdiptych.so [--database FILE] [--set NAME=VALUE ...] [--only NAME] [--verbose]

A script is a list of steps; each has a connection, a statement and what is expected. The statements of a connection
run on a thread of its own. The driver takes the steps in order and waits for each result, except where a step says that
its statement waits. Then three things are checked, and none of them depends on how fast the machine is:
- a connection with a short lock_timeout gets 55P03, so there is somebody to wait for;
- the statement has not returned when the step begins that ends the wait;
- it returns after that step.
"""

import argparse
import os
import sys
import tempfile
import time

from anomaly_scripts import (ANOMALY_SCRIPTS, CANCEL, CLOSE, LEVELS, PREPARE, RESULT, RUN, SET_UP, ByLevel, Either, MayWait, Waits)
from connections import Answer, Database, Session, load_library
from waiting_scripts import WAITING_SCRIPTS

PROBE = "DELETE FROM test WHERE id = -1"  # changes nothing, but waits for its turn
SECONDS_TO_BEGIN_WAITING = 0.02  # lets a statement that does not wait return, so that it is noticed; never fails a good one


def shown(answer):
    return answer.state or "; ".join(answer.lines()) or "no rows"


def matches(answer, expected):
    if isinstance(expected, Either):
        return any(matches(answer, choice) for choice in expected.choices)
    if isinstance(expected, str):
        return answer.state == expected
    return not answer.state and sorted(answer.lines()) == sorted(expected)


class ScriptRun:
    """One run of a script at one isolation level."""

    def __init__(self, script, level, database, options):
        self.script, self.level, self.database, self.options = script, level, database, options
        self.sessions, self.started, self.waits = {}, {}, {}

    def run(self):
        """What is wrong, or None."""
        self.session("S")
        for sql in SET_UP + self.script.set_up:
            answer = self.session("S").run(sql)
            if answer.state:
                return f"set-up: {sql}: {answer.state} {answer.message}"
        problem = None
        for number, step in enumerate(self.script.steps, 1):
            problem = self.step(*step)
            if problem:
                problem = f"step {number}, {step[0]}: {step[1]}: {problem}"
                break
        self.clean_up()
        return problem

    def session(self, name):
        if name not in self.sessions:
            self.sessions[name] = Session(self.database, self.options.set)
        return self.sessions[name]

    def step(self, name, sql, expected):
        """What is wrong, or None."""
        sql = sql.replace("{level}", self.level)
        if isinstance(expected, ByLevel):
            expected = expected.of(self.level)
        for waiting, (future, wait) in self.waits.items():
            if future.done():
                return f"{waiting} was to wait, but gave {shown(future.result())}"
            if wait.connection == name and wait.ends(sql):
                self.waits = {key: value for key, value in self.waits.items() if value[1] is not wait}
        if isinstance(expected, (Waits, MayWait)):
            return self.start(name, sql, expected)
        answer = self.answer(name, sql)
        if self.options.verbose:
            print(f"    {name}: {sql}: {shown(answer)}")
        if matches(answer, expected):
            return None
        return f"expected {expected}, got {shown(answer)} {answer.message}"

    def start(self, name, sql, expected):
        future = self.started[name] = self.session(name).start(sql)
        time.sleep(SECONDS_TO_BEGIN_WAITING)
        if self.options.verbose:
            print(f"    {name}: {sql}: {'has returned' if future.done() else 'waits'}")
        if isinstance(expected, MayWait):
            return None
        if future.done():
            return f"was to wait, but gave {shown(future.result())}"
        self.waits[name] = future, expected
        probe = self.session("P")
        probe.run("SET lock_timeout = 1")
        answer = probe.run(PROBE)
        return None if answer.state == "55P03" else f"nobody holds the turn to write: {shown(answer)}"

    def answer(self, name, sql):
        session = self.session(name)
        if sql == RESULT:
            return session.result(self.started.pop(name))
        if sql == CANCEL:
            self.waits.pop(name, None)
            return session.cancel(self.started.pop(name))
        if sql == CLOSE:
            self.sessions.pop(name).close()
            return Answer("", [], "")
        if sql == RUN:
            return session.run_prepared()
        if sql.startswith(PREPARE):
            return session.prepare(sql.removeprefix(PREPARE))
        return session.run(sql)

    def clean_up(self):
        """Ends all transactions: first of those who do not wait."""
        for name, session in list(self.sessions.items()):
            if name not in self.started:
                self.sessions.pop(name).close()
        for name, session in self.sessions.items():
            session.result(self.started[name])
            session.close()


def run_all(options, path):
    library, passed, failures, skipped = load_library(options.library), 0, 0, 0
    database = Database(library, path)
    for script in ANOMALY_SCRIPTS + WAITING_SCRIPTS:
        if options.only and options.only not in script.name:
            continue
        if script.name in options.skip:
            skipped += 1
            continue
        for level in script.levels or LEVELS:
            if options.verbose:
                print(f"  {script.name}, {level}")
            problem = ScriptRun(script, level, database, options).run()
            passed += problem is None
            failures += problem is not None
            if problem:
                print(f"FAILED {script.name} ({script.meaning}), {level}: {problem}", flush=True)
    database.close()
    print(f"{passed} passed, {failures} failed, {skipped} skipped")
    return 1 if failures or not passed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="path of libdiptych.so")
    parser.add_argument("--database", help="a file to make; without it the scripts run in memory, then on a temporary file")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="SET on connecting; repeatable")
    parser.add_argument("--only", metavar="NAME", help="scripts with this in their name")
    parser.add_argument("--skip", action="append", default=[], metavar="NAME", help="leave out the script of this name; repeatable")
    parser.add_argument("--verbose", action="store_true", help="print every step")
    options = parser.parse_args()
    options.library = os.path.abspath(options.library)
    if options.database:
        return run_all(options, options.database)
    with tempfile.TemporaryDirectory() as directory:
        return run_all(options, ":memory:") | run_all(options, os.path.join(directory, "anomalies.diptych"))


if __name__ == "__main__":
    sys.exit(main())
