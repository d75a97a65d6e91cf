"""Histories of a process that is killed: the process runs transactions and tells of each commit, the parent checks the file.

The child writes lines to its standard output, each before it goes on, so that the parent has them after a kill:

    ready                       the file is open
    asks {transaction}          the next thing is its commit
    ended {transaction}         it has returned, or another end has
    problem {text}

A file lives through several kills. Each child has keys of its own; the lists of its predecessors must stay as they are.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time

import history_check
import history_run
from connections import Connection, Database, load_library
from history import UNKNOWN, History, Transaction

KEYS_OF_A_LIFE = 6
LIVES_OF_A_FILE = 10
SECONDS_TO_START = 120


class Teller(history_run.Recorder):
    """The recorder of the child."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def tell(self, line):
        data = (line + "\n").encode()
        with self.lock:
            while data:
                data = data[os.write(1, data):]

    def asks(self, transaction):
        self.tell(f"asks {transaction.to_line()}")

    def ended(self, transaction):
        self.tell(f"ended {transaction.to_line()}")

    def has_failed(self, text):
        self.tell(f"problem {json.dumps(text)}")


def be_child(options):
    """Runs transactions until it is killed."""
    database, teller = Database(load_library(options.library), options.database), Teller()
    teller.tell("ready")
    keys = range(options.child, options.child + KEYS_OF_A_LIFE)
    for thread in history_run.start_clients(database, keys, options, options.seed, teller, None):
        thread.join()
    return 1


class Life:
    """A child, from its start until it is killed."""

    def __init__(self, options, path, first_key, seed):
        command = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "histories.py"), "--library", options.library,
                   "--database", path, "--seed", str(seed), "--connections", str(options.connections), "--child", str(first_key)]
        for setting in options.set:
            command += ["--set", setting]
        self.transactions, self.problems, self.is_ready = {}, [], threading.Event()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            if line.endswith(b"\n"):  # else the kill came inside it, and so before what it tells of
                self._take(*line.decode().rstrip("\n").partition(" ")[::2])
        self.is_ready.set()

    def _take(self, word, rest):
        if word == "ready":
            self.is_ready.set()
        elif word == "problem":
            self.problems.append(("unexpected", json.loads(rest)))
        else:
            transaction = Transaction.from_line(rest)
            if word == "asks":
                transaction.ended = UNKNOWN
            self.transactions[transaction.number] = transaction

    def kill_after(self, seconds):
        """The transactions that it told of."""
        self.is_ready.wait(SECONDS_TO_START)
        time.sleep(seconds)
        if self.process.poll() is not None:
            self.problems.append(("unexpected", f"the process ended by itself with {self.process.returncode}"))
        self.process.kill()
        self.process.wait()
        self.reader.join()
        return list(self.transactions.values())


class KilledFile:
    """A database file, what must be in it, and the lives that change it."""

    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.path = options.database or os.path.join(directory, "killed.diptych")
        self.library = load_library(options.library)
        self.lists, self.lives = {}, 0

    def read_and_prepare(self, new_keys=()):
        """The lists in the file; makes keys for the next life."""
        database = Database(self.library, self.path)
        connection = Connection(database, self.options.set)
        for sql in history_run.TABLES:
            connection.must(sql)
        lists = history_run.read_all(connection)
        if new_keys:
            history_run.set_up(connection, new_keys)
        connection.close()
        database.close()
        return lists

    def begin_anew(self):
        for suffix in ("", "-log"):
            if os.path.exists(self.path + suffix):
                os.remove(self.path + suffix)
        self.lists, self.lives = {}, 0

    def live(self, seed):
        """(the history, what is wrong as (kind, text))."""
        if self.lives % LIVES_OF_A_FILE == 0:
            self.begin_anew()
        first_key = 2 + self.lives * 10
        self.lives += 1
        self.read_and_prepare(range(first_key, first_key + KEYS_OF_A_LIFE))
        life = Life(self.options, self.path, first_key, seed)
        transactions = life.kill_after(random.Random(seed).random() ** 2 * self.options.longest)
        for suffix in ("", "-log"):
            if self.options.keep and os.path.exists(self.path + suffix):
                shutil.copy(self.path + suffix, os.path.join(self.options.keep, "killed.diptych" + suffix))
        return self.after(transactions, first_key, life.problems)

    def after(self, transactions, first_key, problems):
        """What the killed process left. The file is opened twice, as the first time may repair it."""
        try:
            lists, again = self.read_and_prepare(), self.read_and_prepare()
        except RuntimeError as error:
            self.lives = 0
            return History(transactions, {}), [("unexpected", f"after the kill: {error}")]
        history = History(transactions, {key: list_ for key, list_ in lists.items() if key >= first_key})
        problems = problems + history_check.check(history, self.options.skip)
        if lists != again:
            problems.append(("lost", f"opened twice: {lists}, then {again}"))
        older = {key: list_ for key, list_ in lists.items() if key < first_key}
        if older != self.lists:
            problems.append(("lost", f"lists of earlier processes: {self.lists}, now {older}"))
        self.lists = lists
        return history, problems
