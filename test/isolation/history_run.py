"""Runs random transactions over lists on several connections at once, and records a history of them.

Keys with an even number are a text each, to which UPDATE appends; those with an odd number are rows, with a place:

    lists    key  items        entries  key  place  value
             2    ,5,7                  3    1      6
                                        3    2      9
"""

import random
import threading
import time

from connections import Connection
from history import COMMITTED, FAILED, READ_COMMITTED, REPEATABLE_READ, ROLLED_BACK, Statement, Transaction, now

TABLES = ("CREATE TABLE IF NOT EXISTS lists (key integer PRIMARY KEY, items text NOT NULL)",
          "CREATE TABLE IF NOT EXISTS entries (key integer, place integer, value integer NOT NULL, PRIMARY KEY (key, place))")
MISTAKE = "SELECT 1 / 0"  # takes a snapshot before it fails, as any query
# 22012: the mistake. 40001: another one has committed since the snapshot. 55P03: lock_timeout. 57014: the interrupter.
REFUSALS = {"22012", "40001", "55P03", "57014"}
MOST_SECONDS_BETWEEN_INTERRUPTS = 0.004


def is_text(key):
    return key % 2 == 0


def set_up(connection, keys):
    for sql in TABLES:
        connection.must(sql)
    for key in filter(is_text, keys):
        connection.must(f"INSERT INTO lists VALUES ({key}, '')")


def read_sql(keys):
    """Of keys of one form."""
    names = ", ".join(map(str, keys))
    if is_text(keys[0]):
        return f"SELECT key, items FROM lists WHERE key IN ({names})"
    return f"SELECT key, value FROM entries WHERE key IN ({names}) ORDER BY key, place"


def lists_of(keys, rows):
    """Key -> list, of the rows that read_sql() gives."""
    lists = {key: [] for key in keys}
    for key, item in rows:
        lists.setdefault(int(key), []).extend(int(value) for value in item.split(",") if value)
    return lists


def append_sql(keys, value):
    """To several keys of the form text, or to one."""
    if is_text(keys[0]):
        return f"UPDATE lists SET items = items || ',{value}' WHERE key IN ({', '.join(map(str, keys))})"
    return f"INSERT INTO entries SELECT {keys[0]}, coalesce(max(place), 0) + 1, {value} FROM entries WHERE key = {keys[0]}"


def rewrite_sql(key):
    """Writes rows anew that stay as they are, so that tablets lose rows."""
    if is_text(key):
        return f"UPDATE lists SET items = items WHERE key <= {key}"
    return f"UPDATE entries SET value = value WHERE key <= {key}"


def read_all(connection):
    """Key -> list, of all keys that have one."""
    rows = connection.must("SELECT key, items FROM lists") + connection.must("SELECT key, value FROM entries ORDER BY key, place")
    return lists_of([], rows)


class Recorder:
    """Keeps what has happened. One that tells another process is in history_kill.py."""

    def __init__(self):
        self.transactions, self.problems = [], []

    def asks(self, transaction):
        """Its commit is the next thing to happen."""

    def ended(self, transaction):
        self.transactions.append(transaction)

    def has_failed(self, text):
        self.problems.append(("unexpected", text))


class Client:
    """One connection, with its transactions."""

    def __init__(self, number, database, keys, source, recorder, settings=()):
        self.number, self.keys, self.random, self.recorder = number, keys, source, recorder
        self.connection = Connection(database, settings)
        self.lock, self.is_closed = threading.Lock(), False
        self.count, self.values = 0, 0
        self.transaction, self.is_failed, self.has_turn = None, False, False
        self.savepoints = []  # of each: how many statements there were, and whether it had the turn to write

    def run(self, count):
        """Transactions; `count` None: for ever."""
        try:
            while count is None or self.count < count:
                self.run_one()
        except Exception as error:  # pylint: disable=broad-except
            self.recorder.has_failed(f"connection {self.number}: {error!r}")
        finally:
            with self.lock:
                self.is_closed = True
                self.connection.close()

    def run_one(self):
        pick = self.random.random()
        self.count += 1
        if pick < 0.03:
            self.plain("CHECKPOINT")
            return
        isolation = self.random.choice([READ_COMMITTED, REPEATABLE_READ]) if pick > 0.15 else READ_COMMITTED
        self.transaction = Transaction(self.number * 1_000_000 + self.count, self.number, isolation)
        self.is_failed, self.has_turn, self.savepoints = False, False, []
        self.plain(f"SET lock_timeout = {self.random.choice([0, 0, 0, 1])}")
        if pick <= 0.15:
            self.run_alone()
        else:
            self.run_block()

    def run_alone(self):
        """A statement that is a transaction."""
        one, keys, value = self.transaction, self.some_keys_to_append(), self.next_value()
        one.statements.append(Statement(0, 0, appended={key: value for key in keys}))
        one.commit_start = one.statements[0].start = now()
        self.recorder.asks(one)
        answer = self.connection.run(append_sql(keys, value))
        one.commit_end = one.statements[0].end = now()
        one.ended = FAILED if self.refused(answer, "alone") else COMMITTED
        self.recorder.ended(one)

    def run_block(self):
        self.plain(f"BEGIN ISOLATION LEVEL {self.transaction.isolation}")
        for _ in range(self.random.randint(1, 6)):
            self.step()
        while self.is_failed and self.savepoints and self.random.random() < 0.7:
            self.roll_back_to()
            self.step()
        if self.is_failed:
            self.end("ROLLBACK", FAILED)
        elif self.random.random() < 0.12:
            self.end("ROLLBACK", ROLLED_BACK)
        else:
            self.end("COMMIT", COMMITTED)

    def end(self, sql, ended):
        one = self.transaction
        one.commit_start = now()
        if sql == "COMMIT":
            self.recorder.asks(one)
        answer = self.connection.run(sql)
        one.commit_end = now()
        one.ended = FAILED if self.refused(answer, sql) else ended
        self.recorder.ended(one)

    def step(self):
        """Something that a transaction does."""
        pick, keys = self.random.random(), self.some_keys()
        if self.is_failed:
            return
        if pick < 0.42:
            self.statement(read_sql(keys), seen=keys)
        elif pick < 0.70:
            keys = self.some_keys_to_append()
            self.statement(append_sql(keys, self.next_value()), appended=keys)
        elif pick < 0.78 and is_text(keys[0]):
            self.statement(append_sql(keys, self.next_value()) + " RETURNING key, items", appended=keys, seen=keys)
        elif pick < 0.86:
            self.statement(rewrite_sql(keys[0]), changes=True)
        elif pick < 0.92:
            self.plain(f"SAVEPOINT s{len(self.savepoints)}")
            self.savepoints.append((len(self.transaction.statements), self.has_turn))
        elif pick < 0.96 and self.savepoints:
            self.roll_back_to()
        elif pick < 0.98 and self.savepoints:
            released = self.random.randrange(len(self.savepoints))
            self.plain(f"RELEASE s{released}")
            del self.savepoints[released:]
        elif pick > 0.99:
            self.statement(MISTAKE)

    def roll_back_to(self):
        """To one of the savepoints, which stays."""
        last = self.random.randrange(len(self.savepoints))
        self.plain(f"ROLLBACK TO s{last}")
        count, self.has_turn = self.savepoints[last]
        del self.savepoints[last + 1:]
        self.is_failed = False
        for statement in self.transaction.statements[count:]:
            statement.is_undone = True

    def statement(self, sql, seen=(), appended=(), changes=False):
        record = Statement(now(), 0)
        answer = self.connection.run(sql)
        record.end = now()
        self.transaction.statements.append(record)
        if self.refused(answer, sql):
            self.is_failed = True
            return
        record.has_turn = self.has_turn = self.has_turn or changes or bool(appended)
        record.appended = {key: self.values for key in appended}
        record.seen = lists_of(seen, answer.rows) if seen else {}
        record.own = {key: [value for _, value in self.transaction.appends(key)] for key in seen}

    def refused(self, answer, sql):
        """Whether it failed."""
        if answer.state and (answer.state not in REFUSALS or sql in ("COMMIT", "ROLLBACK")):
            self.recorder.has_failed(f"{self.transaction}: {answer.state} {answer.message} ({sql})")
        return bool(answer.state)

    def plain(self, sql):
        """A statement that can't be refused."""
        answer = self.connection.run(sql)
        if answer.state and not (sql == "CHECKPOINT" and answer.state in REFUSALS):
            self.recorder.has_failed(f"{answer.state} {answer.message} ({sql})")

    def some_keys(self):
        """One, or several of one form."""
        keys = self.random.sample(self.keys, self.random.choice([1, 1, 3]))
        return [key for key in keys if is_text(key) == is_text(keys[0])]

    def some_keys_to_append(self):
        keys = self.some_keys()
        return keys if is_text(keys[0]) else keys[:1]

    def next_value(self):
        """A value that nobody else has: numbers of a connection end in its number."""
        self.values = (self.values // 100 + 1) * 100 + self.number
        return self.values


def interrupt(clients, threads, source):
    """Interrupts statements of clients while they run."""
    while any(thread.is_alive() for thread in threads):
        time.sleep(source.random() * MOST_SECONDS_BETWEEN_INTERRUPTS)
        client = source.choice(clients)
        with client.lock:
            if not client.is_closed:
                client.connection.interrupt()


def start_clients(database, keys, options, seed, recorder, count):
    """The threads of all clients, each of which runs `count` transactions; None: for ever. In every third history one more
    thread interrupts statements.
    """
    clients = [Client(number, database, keys, random.Random(seed * 100 + number), recorder, options.set)
               for number in range(1, options.connections + 1)]
    threads = [threading.Thread(target=client.run, args=(count,)) for client in clients]
    if seed % 3 == 0:
        threads.append(threading.Thread(target=interrupt, args=(clients, threads[:], random.Random(seed))))
    for thread in threads:
        thread.start()
    return threads
