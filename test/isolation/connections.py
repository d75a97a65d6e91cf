"""Several connections to one Diptych database, each with a thread of its own that runs its statements.

    database = Database(load_library("build/release/libdiptych.so"), "file.diptych")
    first, second = Session(database), Session(database)
    first.run("BEGIN")                       # an Answer
    waiting = second.start("TRUNCATE t")     # a Future of one

A statement that fails gives an Answer with its SQLSTATE, not an exception.
"""

import concurrent.futures
import ctypes
import os
import sys
import time
from typing import NamedTuple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "systems"))
from diptych_library import DONE, OK, ROW, load_library  # noqa: E402 pylint: disable=wrong-import-position

__all__ = ["Answer", "Connection", "Database", "Session", "load_library"]

LONGEST_WAIT_SECONDS = 60  # no statement of these tests needs as long: one that takes longer hangs


class Answer(NamedTuple):
    """What a statement gave."""

    state: str  # the SQLSTATE, empty for success
    rows: list  # lists of texts, None for NULL
    message: str

    def lines(self):
        """The rows as texts, such as "1|10"."""
        return ["|".join("NULL" if value is None else value for value in row) for row in self.rows]


class Database:
    """A database of this process. Connections may be closed before or after it."""

    def __init__(self, library, path=":memory:"):
        self.library, self.handle = library, ctypes.c_void_p()
        if library.diptych_open(path.encode(), ctypes.byref(self.handle)) != OK:
            error = library.diptych_database_error(self.handle)
            text = f"{path} does not open: {error.sqlstate.decode()} {error.message.decode()}"
            library.diptych_close(self.handle)
            raise RuntimeError(text)

    def close(self):
        self.library.diptych_close(self.handle)


class Connection:
    """One connection; one thread at a time, but for interrupt()."""

    def __init__(self, database, settings=()):
        self.library, self.handle, self.prepared = database.library, ctypes.c_void_p(), None
        if self.library.diptych_connect(database.handle, ctypes.byref(self.handle)) != OK:
            raise RuntimeError(self.library.diptych_database_error(database.handle).message.decode())
        for setting in settings:
            name, value = setting.split("=", 1)
            self.must(f"SET {name} = {value}")

    def run(self, sql):
        """The Answer."""
        statement, answer = self._prepared(sql)
        try:
            return answer or self._stepped(statement)
        finally:
            self.library.diptych_finalize(statement)

    def prepare(self, sql):
        """Prepares a statement for run_prepared(). The Answer."""
        self.library.diptych_finalize(self.prepared)
        self.prepared, answer = self._prepared(sql)
        return answer or Answer("", [], "")

    def run_prepared(self):
        """Runs what prepare() prepared, for the first time. The Answer."""
        return self._stepped(self.prepared)

    def _prepared(self, sql):
        """(the statement, an Answer if that failed)."""
        statement = ctypes.c_void_p()
        if self.library.diptych_prepare(self.handle, sql.encode(), ctypes.byref(statement), None) != OK:
            return statement, self._failure(self.library.diptych_connection_error(self.handle))
        return statement, None

    def _stepped(self, statement):
        library = self.library
        columns, rows = range(library.diptych_column_count(statement)), []
        while (status := library.diptych_step(statement)) == ROW:
            texts = [library.diptych_column_text(statement, column, None) for column in columns]
            rows.append([None if text is None else text.decode() for text in texts])
        if status != DONE:
            return self._failure(library.diptych_statement_error(statement))
        return Answer("", rows, "")

    def must(self, sql):
        """The rows. Raises RuntimeError where the statement fails."""
        answer = self.run(sql)
        if answer.state:
            raise RuntimeError(f"{answer.state} {answer.message} ({sql[:200]})")
        return answer.rows

    def interrupt(self):
        """Any thread may call it."""
        self.library.diptych_interrupt(self.handle)

    def close(self):
        self.library.diptych_finalize(self.prepared)
        self.library.diptych_disconnect(self.handle)

    @staticmethod
    def _failure(error):
        return Answer(error.sqlstate.decode(), [], error.message.decode("utf-8", "replace"))


class Session:
    """A connection with a thread that runs its statements one after the other."""

    def __init__(self, database, settings=()):
        self.connection = Connection(database, settings)
        self.thread = concurrent.futures.ThreadPoolExecutor(max_workers=1)

    def start(self, sql):
        """A Future of the Answer."""
        return self.thread.submit(self.connection.run, sql)

    def run(self, sql):
        """The Answer; its state is "hang" if there was none for a very long time."""
        return self.result(self.start(sql))

    def prepare(self, sql):
        return self.result(self.thread.submit(self.connection.prepare, sql))

    def run_prepared(self):
        return self.result(self.thread.submit(self.connection.run_prepared))

    def result(self, future):
        """The Answer of what start() gave."""
        try:
            return future.result(LONGEST_WAIT_SECONDS)
        except concurrent.futures.TimeoutError:
            self.cancel(future)
            return Answer("hang", [], f"no answer for {LONGEST_WAIT_SECONDS} seconds")

    def cancel(self, future):
        """Interrupts until the statement has ended: an interrupt before it begins has no effect. The Answer."""
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while not future.done() and time.monotonic() < deadline:
            self.connection.interrupt()
            concurrent.futures.wait([future], 0.01)
        if not future.done():
            print("a statement can't be interrupted", flush=True)
            os._exit(3)  # its thread would keep the process alive
        return future.result()

    def close(self):
        self.thread.submit(self.connection.close).result()
        self.thread.shutdown()
