"""The queries of a suite over its sample of data, on Diptych in every way in which the CPU runs them, compared with the known answers.

What ssb_sample.py and tpch_sample.py share.
"""

import argparse
import gzip
import pathlib
import re
import tempfile

from diptych import Connection

# Settings, database, and whether primary keys are declared.
WAYS = {
    "one thread": (["threads=1"], ":memory:", False),
    "four threads": (["threads=4"], ":memory:", False),
    "keys": (["threads=2"], ":memory:", True),
    "64-row tablets": (["tablet_rows=64", "threads=2"], ":memory:", True),
    "a file": (["threads=2"], "sample.diptych", True),
    "little memory": (["memory_limit='512MB'", "threads=2"], "little.diptych", False),
    "row sets in files": (["row_place=file", "threads=2"], ":memory:", False),
    "row sets on the host": (["row_place=host", "threads=2"], ":memory:", False),
}


class Suite:
    """schema: texts of CREATE TABLE; keys: primary keys by table; data: a folder of table.tbl.gz.

    queries: from a name to the query and the file with its answer. are_equal(rows, answer) compares rows of texts, in any order of its own.
    """

    def __init__(self, schema, keys, data, queries, are_equal):
        self.schema, self.keys, self.data, self.queries, self.are_equal = schema, keys, data, queries, are_equal
        self.tables = re.findall(r"create table (\w+)", schema, re.IGNORECASE)

    def statements(self, with_keys):
        for text in re.sub(r"--[^\n]*", "", self.schema).split(";"):
            table = re.search(r"create table (\w+)", text, re.IGNORECASE)
            if table is None:
                continue
            key = self.keys.get(table[1])
            yield text.rstrip().removesuffix(")") + (f", PRIMARY KEY ({key}))" if with_keys and key else ")")

    def load(self, connection, folder, with_keys):
        for statement in self.statements(with_keys):
            run(connection, statement)
        for table in self.tables:
            path = folder / f"{table}.tbl"
            if not path.exists():
                path.write_bytes(gzip.decompress((self.data / f"{table}.tbl.gz").read_bytes()))
            run(connection, f"COPY \"{table}\" FROM '{path}' (FORMAT csv, DELIMITER '|')")

    def wrong(self, connection):
        """The names of the queries with another answer."""
        for name, (query, answer) in self.queries.items():
            known = [line.split("|") for line in answer.read_text().splitlines()[1:]]
            if not self.are_equal(run(connection, query.read_text()), known):
                yield name

    def check(self, library, settings):
        """How many answers are wrong, all ways together; with settings in one way, whose fallbacks are printed."""
        wrong = 0
        ways = {" ".join(settings): (settings, ":memory:", False)} if settings else WAYS
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, (asked, database, with_keys) in ways.items():
                path = database if database == ":memory:" else str(folder / database)
                connection = Connection(library, path, asked)
                self.load(connection, folder, with_keys)
                bad = list(self.wrong(connection))
                count = len(self.queries)
                print(f"{name}: {f'{count} of {count}' if not bad else 'wrong: ' + ', '.join(bad)}", flush=True)
                wrong += len(bad)
                for reason, times in run(connection, "SHOW fallbacks") if settings else []:
                    print(f"  left to the CPU {times} times: {reason}")
        return wrong


def run(connection, sql):
    """Rows of texts, NULL an empty one."""
    state, message, rows = connection.run(sql)[:3]
    if state:
        raise SystemExit(f"{state} {message}\n  {sql}")
    return [["" if value is None else value for value in row] for row in rows or []]


def main(description, suite_folder, make_suite):
    """make_suite(folder) gives the Suite; where the folder is not there, this says so and ends well."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diptych", required=True, help="path of libdiptych.so")
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--suite", type=pathlib.Path, default=root.parent / "shared" / "suites" / suite_folder)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting; repeatable")
    options = parser.parse_args()
    if not options.suite.is_dir():
        print(f"skipped: there is no {options.suite}")
        return 0
    return 1 if make_suite(options.suite).check(options.diptych, options.set) else 0
