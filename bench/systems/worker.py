"""One system in a process of its own, so that its memory and its reading can be measured.

usage: worker.py diptych <libdiptych.so>
       worker.py duckdb

Reads one JSON object a line and answers with one; see Worker's methods. {"error": text} tells of a failure. worker_process.py
is the other end.
"""

import csv
import json
import os
import sys
import tempfile
import time


def make_opener(arguments):
    """A function from a path to a connection with execute(), seconds() and close(), and the system's version."""
    if arguments[0] == "duckdb":
        import duckdb
        import duckdb_library
        return duckdb_library.Database, duckdb.__version__
    import diptych_library
    library = diptych_library.load_library(arguments[1])
    return lambda path: diptych_library.Connection(library, path), library.diptych_version().decode()


def status_bytes(field):
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return 0


def bytes_read():
    """By read() and the like, from the page cache or the disk."""
    with open("/proc/self/io") as file:
        return int(file.readline().split()[1])


class Worker:
    def __init__(self, arguments):
        self.opener, self.system_version = make_opener(arguments)
        self.connections = []
        self.connection = None  # that of the command at hand

    def take(self, connection):
        self.connection = self.connections[connection] if self.connections else None

    def version(self):
        return {"version": self.system_version}

    def open(self, path, settings=()):
        self.connections = [self.opener(path)]
        return self.set(settings)

    def join(self, settings=()):
        """Another connection to the database that is open, which commands may name then. Diptych only."""
        self.connections.append(self.connections[0].another())
        return self.set(settings)

    def set(self, settings):
        self.connection = self.connections[-1]
        for setting in settings:
            self.connection.execute(setting)
        return {"connection": len(self.connections) - 1}

    def execute(self, sql):
        self.connection.execute(sql)
        return {}

    def close(self):
        self.connection.close()
        self.connections = []
        return {}

    def seconds(self, sql):
        """From the text to the last row of the result in this process, in bulk."""
        read_before = bytes_read()
        seconds = self.connection.seconds(sql)
        return {"seconds": seconds, "bytes_read": bytes_read() - read_before}

    def rows(self, sql):
        """The result as texts, which both systems write as CSV."""
        with tempfile.NamedTemporaryFile(suffix=".csv") as file:
            self.connection.execute(f"copy ({sql}) to '{file.name}' (format csv, header false)")
            with open(file.name, newline="") as written:
                return {"rows": list(csv.reader(written))}

    def explain(self, sql):
        """Runs it; Diptych's document of the run (docs/explain.md)."""
        return {"document": json.loads(self.connection.query(f"explain (analyze, format json) {sql}")[0][0])}

    def load(self, path, settings, statements):
        """Seconds from opening a new database file to having it closed with everything in it."""
        start = time.perf_counter()
        self.open(path, settings)
        for statement in statements:
            self.connection.execute(statement)
        self.close()
        return {"seconds": time.perf_counter() - start}

    def memory(self):
        """Resident bytes now and at most, since the process began."""
        return {"resident": status_bytes("VmRSS"), "peak": status_bytes("VmHWM")}

    def query(self, sql):
        return {"rows": self.connection.query(sql)}


def main():
    worker = Worker(sys.argv[1:])
    for line in sys.stdin:
        command = json.loads(line)
        worker.take(command.pop("connection", 0))
        try:
            answer = getattr(worker, command.pop("do"))(**command)
        except Exception as error:  # whatever it is, the parent must hear of it
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


main()
