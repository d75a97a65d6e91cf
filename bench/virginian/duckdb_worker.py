"""DuckDB for bench_virginian, in a process of its own.

Loads <folder>/<column>.bin (plain arrays) into a database in memory and answers commands on its input:

    threads N            ->  ok
    run SQL              ->  seconds
    digest FILE SQL      ->  rows; the columns' values are in FILE, one after the other

Queries go through DuckDB's C API (../systems/duckdb_library.py). To walk over the chunks of a result is not timed.
"""

import ctypes
import os
import sys

import duckdb
import pyarrow
import pyarrow.parquet

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "systems"))
import duckdb_library

INTEGERS = ("id", "uniformi", "normali5", "normali20")
FLOATS = ("uniformf", "normalf5", "normalf20")


class Database(duckdb_library.Database):
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
