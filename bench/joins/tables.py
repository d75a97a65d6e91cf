"""Database files with the tables that the cases read. A table is loaded once; all are loaded anew
when the system's version or what the data were made from changes."""

import os
import sys
import time

import contestants
import side_by_side
from contestants import System


def statements(kind, table, files):
    if kind == "duckdb":
        return [f"create table {table} as select * from read_parquet({files})"]
    return [f"create table {table} as select * from '{files[0]}'"] + [f"copy {table} from '{file}'" for file in files[1:]]


def loaded_tables(marker, made_from):
    """The names in the marker, whose first line says what the file was made from; None where that was something else."""
    if not os.path.exists(marker):
        return None
    with open(marker) as file:
        first, *tables = file.read().splitlines()
    return tables if first == made_from else None


def write_marker(marker, made_from, tables):
    with open(marker, "w") as file:
        file.write("\n".join([made_from, *tables]) + "\n")


def remove(path):
    for leftover in (path, path + ".wal", path + ".loaded"):
        if os.path.exists(leftover):
            os.remove(leftover)


def version(name, library):
    worker = side_by_side.WorkerProcess(name, contestants.arguments(name, library))
    answer = worker.ask("version")["version"]
    worker.stop()
    return answer


def load(path, name, files, data, library, threads):
    """Loads the tables that are not there yet. files: from a table to its Parquet files; data: what they were made from. What was
    done, or None."""
    marker, made_from = path + ".loaded", f"version {version(name, library)}, {data}"
    tables = loaded_tables(marker, made_from)
    if tables is None:
        remove(path)
        tables = []
    missing = [table for table in files if table not in tables]
    if not missing:
        return None
    print(f"loading {', '.join(missing)} into {path}", file=sys.stderr)
    if os.path.exists(marker):
        os.remove(marker)  # a load that is cut off leaves no marker, and begins anew
    start = time.perf_counter()
    system = System(name, library, path, [f"set threads = {threads}"])
    for table in missing:
        for statement in statements(contestants.kind(name), table, files[table]):
            system.ask("execute", sql=statement)
    system.ask("close")
    seconds = time.perf_counter() - start
    system.stop()
    write_marker(marker, made_from, tables + missing)
    return {"tables": missing, "seconds": seconds, "file_bytes": os.path.getsize(path)}
