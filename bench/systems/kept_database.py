"""Database files, made once by SQL statements and kept until what they were made from changes; and those statements' texts."""

import os
import sys

import contestants
import side_by_side


def quoted(table):
    """As a name also where a table is called as a type is: date."""
    return f'"{table}"'


def create_table(schema, table, primary_key=None):
    """The statement of the file `schema` that makes the table, with the primary key declared."""
    with open(schema) as file:
        text = "".join(line for line in file if not line.startswith("--"))
    statement = next(part.strip() for part in text.split(";") if part.split()[2:3] in ([table], [quoted(table)]))
    if primary_key:
        statement = statement.removesuffix("\n)") + f",\n    primary key ({primary_key})\n)"
    return statement


def is_kept(marker, made_from):
    return os.path.exists(marker) and open(marker).read() == made_from


def keep(marker, made_from):
    with open(marker, "w") as file:
        file.write(made_from)


def load(path, name, statements, library, threads):
    """A database file that the statements make, and what is known of loading it, or None where the file is kept."""
    worker = side_by_side.WorkerProcess(name, contestants.arguments(name, library))
    made_from = "\n".join([worker.ask("version")["version"], *statements])
    loaded = None
    if not is_kept(path + ".loaded", made_from):
        print(f"loading {path}", file=sys.stderr)
        for leftover in (path, path + ".wal", path + ".loaded"):
            if os.path.exists(leftover):
                os.remove(leftover)
        settings = [f"set threads = {threads}"]
        seconds = worker.ask("load", path=path, settings=settings, statements=statements)["seconds"]
        keep(path + ".loaded", made_from)
        loaded = {"seconds": seconds, "file_bytes": os.path.getsize(path)}
    worker.stop()
    return loaded
