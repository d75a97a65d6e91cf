"""DuckDB for bench_virginian, in a process of its own.

Loads <folder>/<column>.bin (plain arrays) into a database in memory and answers commands on its input:

    threads N            ->  ok
    run SQL              ->  seconds
    digest FILE SQL      ->  rows; the columns' values are in FILE, one after the other

Queries go through DuckDB's C API, which the Python package exports: duckdb_query() returns with the whole result
materialised as columnar chunks in this process. Of the ways to fetch a result that is the fastest; fetching as Arrow
takes two to three times as long, since it copies. To walk over the chunks is not timed.
"""

import ctypes
import os
import sys
import time

import _duckdb
import duckdb
import pyarrow
import pyarrow.parquet

INTEGERS = ("id", "uniformi", "normali5", "normali20")
FLOATS = ("uniformf", "normalf5", "normalf20")


class Result(ctypes.Structure):
    _fields_ = [("counts", ctypes.c_uint64 * 3), ("columns", ctypes.c_void_p), ("error", ctypes.c_void_p),
                ("internal", ctypes.c_void_p)]


def load_library():
    library = ctypes.CDLL(_duckdb.__file__)
    pointer = ctypes.c_void_p
    for name, result, arguments in (
            ("duckdb_open", ctypes.c_int, [ctypes.c_char_p, pointer]),
            ("duckdb_connect", ctypes.c_int, [pointer, pointer]),
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
    def __init__(self):
        self.library = load_library()
        database = ctypes.c_void_p()
        self.connection = ctypes.c_void_p()
        if self.library.duckdb_open(None, ctypes.byref(database)) != 0:
            raise RuntimeError("duckdb_open failed")
        if self.library.duckdb_connect(database, ctypes.byref(self.connection)) != 0:
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
        start = time.perf_counter()
        result = self.query(sql)
        elapsed = time.perf_counter() - start
        self.free(result)
        return elapsed

    def write_values(self, sql, path):
        """The values of every column (all 32 bits wide) to a file; returns the number of rows."""
        library = self.library
        result = self.query(sql)
        columns = [[] for _ in range(library.duckdb_column_count(ctypes.byref(result)))]
        rows = 0
        while chunk := library.duckdb_fetch_chunk(result):
            size = library.duckdb_data_chunk_get_size(chunk)
            rows += size
            for i, parts in enumerate(columns):
                data = library.duckdb_vector_get_data(library.duckdb_data_chunk_get_vector(chunk, i))
                parts.append(ctypes.string_at(data, size * 4))
            library.duckdb_destroy_data_chunk(ctypes.byref(ctypes.c_void_p(chunk)))
        self.free(result)
        with open(path, "wb") as file:
            for parts in columns:
                file.writelines(parts)
        return rows


def load(database, folder):
    arrays = []
    for name in INTEGERS + FLOATS:
        with open(os.path.join(folder, name + ".bin"), "rb") as file:
            data = pyarrow.py_buffer(file.read())
        kind = pyarrow.int32() if name in INTEGERS else pyarrow.float32()
        arrays.append(pyarrow.Array.from_buffers(kind, data.size // 4, [None, data]))
    parquet = os.path.join(folder, "test.parquet")
    table = pyarrow.Table.from_arrays(arrays, names=INTEGERS + FLOATS)
    pyarrow.parquet.write_table(table, parquet, compression="none", use_dictionary=False)
    del table, arrays
    database.execute(f"create table test as select * from read_parquet('{parquet}')")
    os.remove(parquet)


def main():
    database = Database()
    # Every contestant may give rows in any order.
    database.execute("set preserve_insertion_order = false")
    load(database, sys.argv[1])
    print(duckdb.__version__, flush=True)
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        if command == "threads":
            database.execute(f"set threads = {int(rest)}")
            print("ok", flush=True)
        elif command == "run":
            print(database.seconds(rest), flush=True)
        elif command == "digest":
            path, _, sql = rest.partition(" ")
            print(database.write_values(sql, path), flush=True)


main()
