"""As much of DuckDB's C API as the benchmarks need, through ctypes; the Python package exports it.

duckdb_query() returns with the whole result materialised as columnar chunks in this process. Of the ways to fetch a result
that is the fastest; fetching as Arrow takes two to three times as long, since it copies.
"""

import ctypes
import time

import _duckdb


class Result(ctypes.Structure):
    _fields_ = [("counts", ctypes.c_uint64 * 3), ("columns", ctypes.c_void_p), ("error", ctypes.c_void_p),
                ("internal", ctypes.c_void_p)]


def load_library():
    library = ctypes.CDLL(_duckdb.__file__)
    pointer = ctypes.c_void_p
    for name, result, arguments in (
            ("duckdb_open", ctypes.c_int, [ctypes.c_char_p, pointer]),
            ("duckdb_connect", ctypes.c_int, [pointer, pointer]),
            ("duckdb_disconnect", None, [pointer]),
            ("duckdb_close", None, [pointer]),
            ("duckdb_query", ctypes.c_int, [pointer, ctypes.c_char_p, pointer]),
            ("duckdb_result_error", ctypes.c_char_p, [pointer]),
            ("duckdb_destroy_result", None, [pointer]),
            ("duckdb_column_count", ctypes.c_uint64, [pointer]),
            ("duckdb_fetch_chunk", pointer, [Result]),
            ("duckdb_destroy_data_chunk", None, [pointer]),
            ("duckdb_data_chunk_get_size", ctypes.c_uint64, [pointer]),
            ("duckdb_data_chunk_get_vector", pointer, [pointer, ctypes.c_uint64]),
            ("duckdb_vector_get_data", pointer, [pointer])):
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


class Database:
    """One database with one connection. Failures raise RuntimeError."""

    def __init__(self, path=None):
        self.library = load_library()
        self.database = ctypes.c_void_p()
        self.connection = ctypes.c_void_p()
        if self.library.duckdb_open(path.encode() if path else None, ctypes.byref(self.database)) != 0:
            raise RuntimeError(f"duckdb_open failed for {path}")
        if self.library.duckdb_connect(self.database, ctypes.byref(self.connection)) != 0:
            raise RuntimeError("duckdb_connect failed")

    def query(self, sql):
        result = Result()
        if self.library.duckdb_query(self.connection, sql.encode(), ctypes.byref(result)) != 0:
            raise RuntimeError(self.library.duckdb_result_error(ctypes.byref(result)).decode())
        return result

    def free(self, result):
        self.library.duckdb_destroy_result(ctypes.byref(result))

    def execute(self, sql):
        self.free(self.query(sql))

    def seconds(self, sql):
        """From the text to the last row of the result in this process; to walk over its chunks is not timed."""
        start = time.perf_counter()
        result = self.query(sql)
        elapsed = time.perf_counter() - start
        self.free(result)
        return elapsed

    def close(self):
        self.library.duckdb_disconnect(ctypes.byref(self.connection))
        self.library.duckdb_close(ctypes.byref(self.database))
