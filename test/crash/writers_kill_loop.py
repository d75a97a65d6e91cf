#!/usr/bin/env python3
"""Kills a process with SIGKILL at random instants while four of its connections write, and checks what the file then holds.

    writers_kill_loop.py --library build/release/libdiptych.so --rounds 150 --seed 1

A child process opens the file and runs transactions on four threads: small inserts, updates and deletes, deletes and
updates of a large part of a table, TRUNCATE, tables made and dropped, and CHECKPOINT. Deleted rows give the thread work
that writes tablets anew; a fifth connection has old snapshots meanwhile, and reads them twice. writers_model.py has
the tables. The child tells its parent of each transaction before its
COMMIT and after it has returned, so that after a kill the parent knows of each connection all transactions but the last.
The file must hold exactly the changes of the transactions that were acknowledged, with or without the last one of each
connection. Processes of their own read it, twice, as the first one repairs the file; in some rounds that one is killed,
too. The next child goes on with the file.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "isolation"))
from connections import Connection, Database, load_library  # noqa: E402 pylint: disable=wrong-import-position
from writers_model import CONNECTIONS, Changes, Model, expected_tables, set_up  # noqa: E402

SECONDS_TO_START = 120
SERIALIZATION_FAILURE = "40001"


def tell(line):
    """A line to the parent. Threads may call it at once: so short a write to a pipe is never divided."""
    os.write(1, (line + "\n").encode())


class Writer:
    """A connection of the child."""

    def __init__(self, options, database, number, first):
        self.options, self.number, self.first = options, number, first
        self.connection = Connection(database, options.set)

    def run(self):
        try:
            for number in itertools.count(self.first):
                self.transaction(Changes(self.options.seed, self.number, number))
        except Exception as error:  # pylint: disable=broad-except
            tell(f"problem connection {self.number}: {str(error)[:300]}".replace("\n", " "))

    def transaction(self, changes):
        if changes.is_tried_before:
            self.make(changes, "READ COMMITTED")
            self.connection.must("ROLLBACK")
        # Under REPEATABLE READ it fails where another one has committed since its snapshot.
        while not self.make(changes, changes.isolation):
            self.connection.must("ROLLBACK")
            changes.isolation = random.choice(["READ COMMITTED", "REPEATABLE READ"])
        tell(f"asked {self.number} {changes.number}")
        self.connection.must("COMMIT")
        tell(f"committed {self.number} {changes.number}")
        if changes.checkpoint:
            self.connection.must("CHECKPOINT")

    def make(self, changes, isolation):
        """Begins a transaction and changes everything. False: it was refused."""
        self.connection.must(f"BEGIN ISOLATION LEVEL {isolation}")
        self.connection.must("SELECT count(*) FROM shared")
        for sql in changes.bookkeeping() + [change.sql for change in changes.kept]:
            answer = self.connection.run(sql)
            if answer.state == SERIALIZATION_FAILURE and isolation == "REPEATABLE READ":
                return False
            if answer.state:
                raise RuntimeError(f"{answer.state} {answer.message} ({sql[:100]})")
        if changes.undone:
            self.connection.must("SAVEPOINT s")
            for change in changes.undone:
                self.connection.must(change.sql)
            self.connection.must("ROLLBACK TO s")
        return True


class OldSnapshots:
    """A connection of the child that reads everything twice under REPEATABLE READ, while the others go on."""

    def __init__(self, options, database):
        self.connection = Connection(database, options.set)

    def run(self):
        try:
            for number in itertools.count():
                self.connection.must("BEGIN ISOLATION LEVEL REPEATABLE READ")
                before = self.sums()
                time.sleep(0.05 * (number % 5))
                after = self.sums()
                if before != after:
                    raise RuntimeError(f"a snapshot read {before}, later {after}")
                if int(before["totals"][0][1]) != sum(int(before[f"log_{one}"][0][0]) for one in range(CONNECTIONS)):
                    raise RuntimeError(f"a snapshot has a part of a transaction: {before}")
                self.connection.must("COMMIT")
        except Exception as error:  # pylint: disable=broad-except
            tell(f"problem reader: {str(error)[:3000]}".replace("\n", " "))

    def sums(self):
        """Name -> the count and the sum of each table."""
        return {name: self.connection.must(f"SELECT count(*), sum({number_column(name)}) FROM {name}")
                for (name,) in self.connection.must("SHOW TABLES")}


def number_column(table):
    return {"totals": "n"}.get(table, "number" if table.startswith("log") else "v")


def be_child(options):
    database = Database(load_library(options.library), options.child)
    connection = Connection(database, options.set)
    for sql in set_up():
        connection.must(sql)
    tell("ready")
    first = [int(number) for number in options.first.split(",")]
    connections = [Writer(options, database, number, first[number]) for number in range(CONNECTIONS)]
    threads = [threading.Thread(target=one.run) for one in [*connections, OldSnapshots(options, database)]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 1


def be_reader(options):
    """Prints the file's tables as JSON: name -> rows, count and sum."""
    library = load_library(options.library)
    tell("opening")
    database = Database(library, options.read)
    connection, tables = Connection(database, options.set), {}
    for (name,) in connection.must("SHOW TABLES"):
        number = number_column(name)
        columns = [column[0] for column in connection.must(f"DESCRIBE {name}")]
        rows = connection.must(f"SELECT {', '.join(columns)} FROM {name} ORDER BY {', '.join(columns)}")
        rows = [[value if column == "s" else int(value) for column, value in zip(columns, row)] for row in rows]
        answered = [int(value) for value in connection.must(f"SELECT count(*), coalesce(sum({number}), 0) FROM {name}")[0]]
        of_rows = [len(rows), sum(row[columns.index(number)] for row in rows)]
        if answered != of_rows:
            raise RuntimeError(f"{name}: count and sum are {answered}, of its rows {of_rows}")
        tables[name] = rows
    connection.close()
    database.close()
    tell(json.dumps(tables))
    return 0


class Round:
    """One life of a child, and what is read after it."""

    def __init__(self, options, path, models, source):
        self.options, self.path, self.models, self.random = options, path, models, source
        self.committed = [model.number for model in models]
        self.asked, self.problem, self.is_ready = list(self.committed), None, threading.Event()

    def run(self):
        """What is wrong, or None."""
        first = ",".join(str(number + 1) for number in self.committed)
        process = self.start("--child", self.path, "--first", first)
        reader = threading.Thread(target=self._listen, args=(process,))
        reader.start()
        if self.random.random() < 0.1:
            time.sleep(self.random.random() * 0.3)  # perhaps while it opens the file
        else:
            self.is_ready.wait(SECONDS_TO_START)
            time.sleep(self.random.random() ** 2 * self.options.longest)
        early = process.poll()
        process.kill()
        process.wait()
        reader.join()
        self.keep()
        if early is not None:
            return self.problem or f"the process ended by itself with {early}"
        return self.problem or self.check()

    def start(self, *arguments):
        command = [sys.executable, os.path.abspath(__file__), "--library", self.options.library, "--seed", str(self.options.seed)]
        for setting in self.options.set:
            command += ["--set", setting]
        return subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE)

    def _listen(self, process):
        for line in process.stdout:
            words = line.decode().split()
            if words[0] == "ready":
                self.is_ready.set()
            elif words[0] == "problem":
                self.problem = " ".join(words)
            else:
                numbers = self.asked if words[0] == "asked" else self.committed
                numbers[int(words[1])] = int(words[2])
        self.is_ready.set()

    def keep(self):
        """The file as the kill left it, for a look at what went wrong."""
        for suffix in ("", "-log"):
            if self.options.keep and os.path.exists(self.path + suffix):
                shutil.copy(self.path + suffix, os.path.join(self.options.keep, "killed.diptych" + suffix))

    def check(self):
        """What is wrong with the file, or None. The models go on to what is in it."""
        if self.random.random() < 0.3:
            self.kill_reader()
        tables = self.read()
        if isinstance(tables, str):
            return tables
        for model, committed, asked in zip(self.models, self.committed, self.asked):
            stored = max((row[0] for row in tables.get(f"log_{model.connection}", [])), default=0)
            if not committed <= stored <= asked:
                return f"connection {model.connection}: {committed} was committed, {asked} asked for, {stored} is stored"
            model.advance(stored)
        problem = difference(expected_tables(self.models), tables)
        again = self.read()
        if isinstance(again, str):
            return problem or again
        return problem or (difference(tables, again) and f"opened twice: {difference(tables, again)}")

    def kill_reader(self):
        """Kills a process while it opens the file."""
        process = self.start("--read", self.path)
        process.stdout.readline()
        time.sleep(self.random.random() ** 2 * 0.05)
        process.kill()
        process.communicate()

    def read(self):
        """The tables, or what is wrong."""
        process = self.start("--read", self.path)
        output = process.communicate()[0].splitlines()
        return json.loads(output[1]) if process.returncode == 0 else f"the file can't be read: status {process.returncode}"


def difference(expected, tables):
    """Between tables; None where there is none. Tables without rows may lack: the kill was before they were made."""
    for name in sorted({*expected, *tables}):
        wanted, found = expected.get(name), tables.get(name)
        if wanted == found or (found is None and not name.startswith("made") and wanted in ([], [[0, 0]])):
            continue
        if wanted is None or found is None:
            return f"table {name} {'is not to be there' if wanted is None else 'lacks'}"
        stored, hoped_for = set(map(tuple, found)), set(map(tuple, wanted))
        lacking = [row for row in wanted if tuple(row) not in stored]
        more = [row for row in found if tuple(row) not in hoped_for]
        return (f"table {name}: expected {len(wanted)} rows, found {len(found)}; {len(lacking)} lack: {lacking[:3]}; "
                f"{len(more)} more: {more[:3]}")
    return None


def run_all(options, directory):
    source, failures, most = random.Random(options.seed), 0, 0
    path, models = os.path.join(directory, "killed.diptych"), None
    print(f"seed {options.seed}, settings {options.set or 'default'}")
    for number in range(options.rounds):
        if models is None or number % options.restart_every == 0:
            models = [Model(options.seed, connection) for connection in range(CONNECTIONS)]
            for suffix in ("", "-log"):
                if os.path.exists(path + suffix):
                    os.remove(path + suffix)
        problem = Round(options, path, models, source).run()
        most = max(most, sum(model.number for model in models))
        if problem:
            failures += 1
            print(f"FAILED seed {options.seed} round {number}: {problem}", flush=True)
            models = None
            if failures >= options.stop_after:
                break
    print(f"at most {most} transactions in one file")
    print(f"{number + 1 - failures} passed, {failures} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="path of libdiptych.so")
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=1.0, help="seconds that a round lives at most")
    parser.add_argument("--restart-every", type=int, default=25, help="rounds after which a new file is begun")
    parser.add_argument("--keep", metavar="DIRECTORY", help="where to put the file as the last kill left it")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="SET on connecting; repeatable")
    parser.add_argument("--stop-after", type=int, default=5, metavar="N", help="give up after N failures")
    for hidden in ("--child", "--first", "--read"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.library = os.path.abspath(options.library)
    if options.child:
        return be_child(options)
    if options.read:
        return be_reader(options)
    with tempfile.TemporaryDirectory() as directory:
        return run_all(options, directory)


if __name__ == "__main__":
    sys.exit(main())
