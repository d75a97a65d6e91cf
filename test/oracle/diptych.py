"""Diptych through its C API (include/diptych/diptych.h), in a process of its own so that a crash is an answer, too."""

import copy
import ctypes
import multiprocessing

OK, ROW, DONE, ERROR = range(4)


class _Error(ctypes.Structure):
    _fields_ = [("sqlstate", ctypes.c_char_p), ("message", ctypes.c_char_p), ("hint", ctypes.c_char_p),
                ("position", ctypes.c_int64)]


def load(path):
    """The library with the signatures that this module needs."""
    library = ctypes.CDLL(path)
    pointer, text, i32 = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32
    signatures = {
        "open": (i32, [text, ctypes.POINTER(pointer)]),
        "connect": (i32, [pointer, ctypes.POINTER(pointer)]),
        "database_error": (_Error, [pointer]),
        "connection_error": (_Error, [pointer]),
        "statement_error": (_Error, [pointer]),
        "prepare": (i32, [pointer, text, ctypes.POINTER(pointer), ctypes.POINTER(text)]),
        "finalize": (None, [pointer]),
        "step": (i32, [pointer]),
        "reset": (i32, [pointer]),
        "rows_changed": (ctypes.c_int64, [pointer]),
        "column_count": (i32, [pointer]),
        "column_type_name": (text, [pointer, i32]),
        "column_name": (text, [pointer, i32]),
        "column_is_null": (ctypes.c_bool, [pointer, i32]),
        "column_text": (pointer, [pointer, i32, ctypes.POINTER(ctypes.c_int64)]),
        "disconnect": (None, [pointer]),
        "close": (None, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, "diptych_" + name)
        function.restype, function.argtypes = result, arguments
    return library


class Connection:
    """One database and one connection in this process; with keep a text is prepared once, and its statement is used again."""

    def __init__(self, library_path, database=":memory:", settings=(), keep=False):
        self.library, self.kept, self.keep = load(library_path), {}, False
        self.database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        if self.library.diptych_open(database.encode(), ctypes.byref(self.database)) != OK:
            raise RuntimeError(self.library.diptych_database_error(self.database).message.decode())
        if self.library.diptych_connect(self.database, ctypes.byref(self.connection)) != OK:
            raise RuntimeError(self.library.diptych_database_error(self.database).message.decode())
        for setting in settings:
            name, value = setting.split("=", 1)
            answer = self.run(f"SET {name} = {value}")
            if answer[0]:
                raise RuntimeError(f"SET {name}: {answer[1]}")
        self.keep = keep

    def beside(self):
        """Another connection of the database, which ends before this one."""
        other = copy.copy(self)
        other.connection, other.kept = ctypes.c_void_p(), {}
        if self.library.diptych_connect(self.database, ctypes.byref(other.connection)) != OK:
            raise RuntimeError(self.library.diptych_database_error(self.database).message.decode())
        return other

    def run(self, sql):
        """An answer as comparison.py has it."""
        lib, statement = self.library, self.kept.get(sql)
        if statement is None:
            statement = ctypes.c_void_p()
            if lib.diptych_prepare(self.connection, sql.encode(), ctypes.byref(statement), None) != OK:
                return self._failure(lib.diptych_connection_error(self.connection))
        try:
            columns = range(lib.diptych_column_count(statement))
            types = [lib.diptych_column_type_name(statement, c).decode() for c in columns]
            names = [lib.diptych_column_name(statement, c).decode() for c in columns]
            rows = []
            while (status := lib.diptych_step(statement)) == ROW:
                rows.append([self._text(statement, c) for c in columns])
            if status == ERROR:
                return self._failure(lib.diptych_statement_error(statement))
            changed = lib.diptych_rows_changed(statement)
            return ("", types, rows, names) if changed < 0 else ("", types, rows, names, changed)
        finally:
            if self.keep:
                self.kept[sql] = statement
                lib.diptych_reset(statement)
            else:
                lib.diptych_finalize(statement)

    def _text(self, statement, column):
        if self.library.diptych_column_is_null(statement, column):
            return None
        size = ctypes.c_int64()
        address = self.library.diptych_column_text(statement, column, ctypes.byref(size))
        return ctypes.string_at(address, size.value).decode("utf-8", "replace")

    @staticmethod
    def _failure(error):
        return error.sqlstate.decode(), error.message.decode("utf-8", "replace"), None, None

    def close(self):
        for statement in self.kept.values():
            self.library.diptych_finalize(statement)
        self.library.diptych_disconnect(self.connection)
        self.library.diptych_close(self.database)


def _serve(pipe, arguments):
    connection = Connection(*arguments)
    pipe.send("ready")
    while (sql := pipe.recv()) is not None:
        pipe.send(connection.run(sql))
    connection.close()


class Worker:
    """A Connection in a child process. After a crash or a hang the next run starts a new one with the same set-up."""

    def __init__(self, library_path, database, settings, setup, limit_seconds=60, keep=False):
        self.arguments = (library_path, database, settings, keep)
        self.setup, self.limit_seconds, self.process = setup, limit_seconds, None

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other, self.arguments), daemon=True)
        self.process.start()
        other.close()
        self.pipe.recv()
        for sql in self.setup:
            self.pipe.send(sql)
            answer = self.pipe.recv()
            if answer[0]:
                raise RuntimeError(f"set-up failed: {answer[0]} {answer[1]}\n{sql[:500]}")

    def run(self, sql):
        """As Connection.run; SQLSTATE "crash" or "hang" when the process did not live or did not answer."""
        if self.process is None:
            self._start()
        try:
            self.pipe.send(sql)
            if self.pipe.poll(self.limit_seconds):
                return self.pipe.recv()
            state = "hang"
        except (EOFError, BrokenPipeError, ConnectionResetError):
            state = "crash"
        self.process.kill()
        self.process.join()
        code, self.process = self.process.exitcode, None
        return state, f"the process ended with {code}", None, None

    def close(self):
        if self.process is not None:
            self.pipe.send(None)
            self.process.join(20)
