"""As much of Diptych's C API as the benchmarks need, through ctypes."""

import ctypes
import time

OK, ROW, DONE = 0, 1, 2


class Error(ctypes.Structure):
    _fields_ = [("sqlstate", ctypes.c_char_p), ("message", ctypes.c_char_p), ("hint", ctypes.c_char_p),
                ("position", ctypes.c_int64)]


POINTER = ctypes.c_void_p
FUNCTIONS = (
    ("diptych_version", ctypes.c_char_p, []),
    ("diptych_open", ctypes.c_int, [ctypes.c_char_p, POINTER]),
    ("diptych_database_error", Error, [POINTER]),
    ("diptych_close", None, [POINTER]),
    ("diptych_connect", ctypes.c_int, [POINTER, POINTER]),
    ("diptych_disconnect", None, [POINTER]),
    ("diptych_connection_error", Error, [POINTER]),
    ("diptych_interrupt", None, [POINTER]),
    ("diptych_execute", ctypes.c_int, [POINTER, ctypes.c_char_p]),
    ("diptych_prepare", ctypes.c_int, [POINTER, ctypes.c_char_p, POINTER, POINTER]),
    ("diptych_finalize", None, [POINTER]),
    ("diptych_statement_error", Error, [POINTER]),
    ("diptych_step", ctypes.c_int, [POINTER]),
    ("diptych_step_chunk", ctypes.c_int, [POINTER, POINTER, POINTER]),
    ("diptych_column_count", ctypes.c_int32, [POINTER]),
    ("diptych_column_text", ctypes.c_char_p, [POINTER, ctypes.c_int32, POINTER]),
)


def load_library(path):
    library = ctypes.CDLL(path)
    for name, result, arguments in FUNCTIONS:
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


class ChunkColumn(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("width", ctypes.c_int32), ("scale", ctypes.c_int32), ("values", POINTER),
                ("validity", POINTER), ("offsets", POINTER), ("bytes", POINTER)]


class Connection:
    """One database with one connection. Failures raise RuntimeError."""

    def __init__(self, library, path):
        self.library = library
        self.database = ctypes.c_void_p()
        self.connection = ctypes.c_void_p()
        status = library.diptych_open(path.encode(), ctypes.byref(self.database))
        if status == OK:
            status = library.diptych_connect(self.database, ctypes.byref(self.connection))
        if status != OK:
            self.fail(library.diptych_database_error(self.database), path)

    def another(self):
        """Another connection to the same database, to be closed before this one."""
        other = Connection.__new__(Connection)
        other.library, other.database, other.connection = self.library, None, ctypes.c_void_p()
        if self.library.diptych_connect(self.database, ctypes.byref(other.connection)) != OK:
            self.fail(self.library.diptych_database_error(self.database), "connecting")
        return other

    def fail(self, error, what):
        raise RuntimeError(f"diptych: {error.sqlstate.decode()} {error.message.decode()} ({what})")

    def execute(self, sql):
        if self.library.diptych_execute(self.connection, sql.encode()) != OK:
            self.fail(self.library.diptych_connection_error(self.connection), sql)

    def prepare(self, sql):
        statement = ctypes.c_void_p()
        if self.library.diptych_prepare(self.connection, sql.encode(), ctypes.byref(statement), None) != OK:
            self.fail(self.library.diptych_connection_error(self.connection), sql)
        return statement

    def seconds(self, sql):
        """From the text to the last row of the result in this process, in bulk."""
        library = self.library
        start = time.perf_counter()
        statement = self.prepare(sql)
        columns = (ChunkColumn * max(1, library.diptych_column_count(statement)))()
        rows = ctypes.c_int64()
        while (status := library.diptych_step_chunk(statement, columns, ctypes.byref(rows))) == ROW:
            pass
        elapsed = time.perf_counter() - start
        if status != DONE:
            self.fail(library.diptych_statement_error(statement), sql)
        library.diptych_finalize(statement)
        return elapsed

    def query(self, sql):
        """All rows, values as texts (None for NULL)."""
        library = self.library
        statement = self.prepare(sql)
        columns = library.diptych_column_count(statement)
        rows = []
        while (status := library.diptych_step(statement)) == ROW:
            texts = [library.diptych_column_text(statement, i, None) for i in range(columns)]
            rows.append([None if text is None else text.decode() for text in texts])
        if status != DONE:
            self.fail(library.diptych_statement_error(statement), sql)
        library.diptych_finalize(statement)
        return rows

    def close(self):
        self.library.diptych_disconnect(self.connection)
        if self.database is not None:
            self.library.diptych_close(self.database)
