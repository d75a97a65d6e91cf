#!/usr/bin/env python3
"""Runs the scripts of test/sql against PostgreSQL 15, which is the oracle of what SQL means.

    verify_slt.py [PATH ...]            report every expectation that PostgreSQL does not meet
    verify_slt.py --accept [PATH ...]   write PostgreSQL's results and SQLSTATEs into the scripts

Records marked `onlyif diptych` are not run; what the two systems are known to differ in is marked so.
"""

import argparse
import os
import pathlib
import shutil
import sys

import psycopg

import postgres
import slt

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Texts:
    """Results as the texts that PostgreSQL prints (psycopg would make Python values of them)."""

    def __init__(self, connection):
        self.result = None
        self.connection = connection

    def run(self, sql):
        """(rows, sqlstate): rows is None for an error, and for a statement that returns none it is empty."""
        result = self.connection.pgconn.exec_(sql.encode())
        if result.status in (psycopg.pq.ExecStatus.TUPLES_OK,):
            rows = [[None if result.get_value(r, c) is None else result.get_value(r, c).decode()
                     for c in range(result.nfields)] for r in range(result.ntuples)]
            return rows, ""
        if result.status in (psycopg.pq.ExecStatus.COMMAND_OK, psycopg.pq.ExecStatus.EMPTY_QUERY):
            return [], ""
        state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
        return None, (state or b"08000").decode() + " " + result.error_message.decode().split("\n")[0]


def sorted_lines(rows, mode):
    rendered = [[slt.render(value) for value in row] for row in rows]
    if mode == "rowsort":
        rendered.sort()
    if mode == "valuesort":
        rendered = [[value] for value in sorted(value for row in rendered for value in row)]
    return rendered


def left_out(record):
    return "postgresql" in record.skipif or (record.onlyif and "postgresql" not in record.onlyif)


def check(record, rows, state):
    """(what is wrong or None, the record's directive and result lines as PostgreSQL would have them)."""
    if record.kind == "statement":
        if record.words[0] == "ok":
            return (None if rows is not None else f"failed: {state}"), None
        code = state.split(" ")[0]
        wanted = record.words[1] if len(record.words) > 1 else ""
        if rows is not None:
            return "succeeded where an error is expected", None
        return (None if code == wanted else f"expected {wanted or 'any SQLSTATE'}, got {state}"), ["statement error " + code]
    if rows is None:
        return f"failed: {state}", None
    mode = record.words[1] if len(record.words) > 1 else "nosort"
    actual = sorted_lines(rows, mode)
    expected = [line.split("\t") for line in record.expected]
    columns = len(rows[0]) if rows else len(record.words[0])
    if columns != len(record.words[0]):
        return f"{columns} columns, the script has {len(record.words[0])} letters", None
    letters = record.words[0]
    same = len(actual) == len(expected) and all(
        len(a) == len(e) and all(slt.equal_cells(x, y, letters[min(i, len(letters) - 1)]) for i, (x, y) in enumerate(zip(a, e)))
        for a, e in zip(actual, expected))
    lines = ["\t".join(row) for row in actual]
    return (None if same else "expected\n    " + "\n    ".join(record.expected) + "\n  got\n    " + "\n    ".join(lines)), lines


def run_script(server, path, accept):
    """(records, failures) of one script."""
    scratch = os.path.join(server.directory, "scratch")
    shutil.rmtree(scratch, ignore_errors=True)
    os.mkdir(scratch)
    os.chmod(scratch, 0o777)
    variables = {"__TEST_DIR__": scratch, "__DATA_DIR__": str(ROOT / "test" / "data")}
    text = path.read_text()
    connection = server.new_database()
    texts = Texts(connection)
    lines, failures, count, edits = text.split("\n"), 0, 0, []
    for record in slt.parse(text, variables):
        if record.kind == "halt":
            break
        if record.kind not in ("statement", "query") or left_out(record):
            continue
        count += 1
        rows, state = texts.run(record.sql)
        problem, new = check(record, rows, state)
        if problem is None:
            continue
        if accept and new is not None and not record.in_loop:
            edits.append((record, new))
            continue
        failures += 1
        print(f"{path}:{record.line + 1}\n{record.sql}\n  {problem}")
    server.drop_database(connection)
    for record, new in reversed(edits):
        if record.kind == "statement":
            lines[record.line] = new[0]
        else:
            sql_end = record.result_line if record.result_line >= 0 else record.end
            lines[sql_end:record.end] = ["----", *new]
    if edits:
        path.write_text("\n".join(lines))
        print(f"{path}: {len(edits)} results written")
    return count, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=pathlib.Path, default=[ROOT / "test" / "sql"])
    parser.add_argument("--accept", action="store_true", help="write PostgreSQL's answers into the scripts")
    options = parser.parse_args()
    scripts = sorted(script for path in options.paths for script in ([path] if path.is_file() else path.rglob("*.slt")))
    total = failed = 0
    with postgres.Server() as server:
        for script in scripts:
            count, failures = run_script(server, script, options.accept)
            total, failed = total + count, failed + failures
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
