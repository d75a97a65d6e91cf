"""One system in a process of its own: worker.py diptych <libdiptych.so> | worker.py duckdb

Reads one JSON object a line and answers with one; see Worker's methods. {"error": text} tells of a failure.
"""

import csv
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "systems"))


def make_opener(arguments):
    """A function from a path to a connection with execute(), seconds() and version."""
    if arguments[0] == "duckdb":
        import duckdb
        import duckdb_library
        return duckdb_library.Database, duckdb.__version__
    import diptych_library
    library = diptych_library.load_library(arguments[1])
    return lambda path: diptych_library.Connection(library, path), library.diptych_version().decode()


class Worker:
    def __init__(self, arguments):
        self.opener, self.system_version = make_opener(arguments)
        self.connection = None

    def version(self):
        return {"version": self.system_version}

    def open(self, path):
        self.connection = self.opener(path)
        return {}

    def execute(self, sql):
        self.connection.execute(sql)
        return {}

    def seconds(self, sql):
        return {"seconds": self.connection.seconds(sql)}

    def rows(self, sql, path):
        """The result as texts, which both systems write to the file as CSV."""
        self.connection.execute(f"copy ({sql}) to '{path}' (format csv, header false)")
        with open(path, newline="") as file:
            rows = list(csv.reader(file))
        os.remove(path)
        return {"rows": rows}

    def fallbacks(self):
        return {"rows": self.connection.query("show fallbacks")}


def main():
    worker = Worker(sys.argv[1:])
    for line in sys.stdin:
        command = json.loads(line)
        try:
            answer = getattr(worker, command.pop("do"))(**command)
        except Exception as error:  # whatever it is, the parent must hear of it
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


main()
