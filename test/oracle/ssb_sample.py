#!/usr/bin/env python3
"""The 13 queries of the Star Schema Benchmark over a 2 % sample of its data, on Diptych in every way in which the CPU runs them, compared
with the known answers.

    ssb_sample.py --diptych build/release/libdiptych.so [--suite ../shared/suites/ssb] [--set device=cuda ...]

With --set they are run in one way, that of these settings, and what was left to the CPU is printed. Where the suite is not there, it
says so and ends well. Rows of equal sort keys may come in any order.
"""

import argparse
import gzip
import pathlib
import re
import sys
import tempfile

from diptych import Connection

TABLES = ("customer", "date", "lineorder", "part", "supplier")
KEYS = {"customer": "c_custkey", "date": "d_datekey", "part": "p_partkey", "supplier": "s_suppkey"}
WAYS = {
    "one thread": (["threads=1"], ":memory:", False),
    "four threads": (["threads=4"], ":memory:", False),
    "keys": (["threads=2"], ":memory:", True),
    "64-row tablets": (["tablet_rows=64", "threads=2"], ":memory:", True),
    "a file": (["threads=2"], "ssb.diptych", True),
    "little memory": (["memory_limit='512MB'", "threads=2"], "little.diptych", False),
    "row sets in files": (["row_place=file", "threads=2"], ":memory:", False),
    "row sets on the host": (["row_place=host", "threads=2"], ":memory:", False),
}


def statements_of(schema, with_keys):
    """The suite's schema; `date` is a keyword that needs quotes as a table's name nowhere, but keys are ours."""
    for text in re.sub(r"--[^\n]*", "", schema).split(";"):
        table = re.search(r"CREATE TABLE (\w+)", text)
        if table is None:
            continue
        key = KEYS.get(table[1])
        yield text.rstrip().rstrip(")") + (f", PRIMARY KEY ({key}))" if with_keys and key else ")")


def run(connection, sql):
    state, message, rows, _ = connection.run(sql)
    if state:
        raise SystemExit(f"{state} {message}\n  {sql}")
    return rows


def load(connection, suite, folder, with_keys):
    for statement in statements_of((suite / "ssb.ddl").read_text(), with_keys):
        run(connection, statement)
    for table in TABLES:
        path = folder / f"{table}.tbl"
        if not path.exists():
            path.write_bytes(gzip.decompress((suite / "data-sf1-sample2pct" / f"{table}.tbl.gz").read_bytes()))
        run(connection, f"COPY \"{table}\" FROM '{path}' (FORMAT csv, DELIMITER '|')")


def differences(connection, suite):
    for path in sorted((suite / "queries").glob("*.sql")):
        answer = (suite / "answers-sf1-sample2pct" / f"q{path.stem}.csv").read_text().splitlines()[1:]
        found = ["|".join("" if value is None else value for value in row) for row in run(connection, path.read_text())]
        if sorted(found) != sorted(answer):
            yield path.stem


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diptych", required=True, help="path of libdiptych.so")
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--suite", type=pathlib.Path, default=root.parent / "shared" / "suites" / "ssb")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting; repeatable")
    options = parser.parse_args()
    ways = {" ".join(options.set): (options.set, ":memory:", False)} if options.set else WAYS
    if not options.suite.is_dir():
        print(f"skipped: there is no {options.suite}")
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, (settings, database, with_keys) in ways.items():
            path = database if database == ":memory:" else str(folder / database)
            connection = Connection(options.diptych, path, settings)
            load(connection, options.suite, folder, with_keys)
            bad = list(differences(connection, options.suite))
            print(f"{name}: {'13 of 13' if not bad else 'wrong: ' + ', '.join(bad)}", flush=True)
            wrong += len(bad)
            for reason, count in run(connection, "SHOW fallbacks") if options.set else []:
                print(f"  left to the CPU {count} times: {reason}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
