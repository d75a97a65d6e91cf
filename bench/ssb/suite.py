"""The 13 queries, and their answers where these are known: from the project's shared test data, which may be absent."""

import csv
import os

import side_by_side

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SUITE = os.path.join(os.path.dirname(ROOT), "shared", "suites", "ssb")

NAMES = ("1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "3.1", "3.2", "3.3", "3.4", "4.1", "4.2", "4.3")


def query_folder():
    """The suite's, or our own texts of the same queries."""
    theirs = os.path.join(SUITE, "queries")
    return theirs if os.path.isdir(theirs) else os.path.join(HERE, "queries")


def read_query(folder, name):
    with open(os.path.join(folder, f"{name}.sql")) as file:
        return file.read().strip().rstrip(";")


def answer(name, scale):
    """Rows of texts, or None where nobody knows."""
    path = os.path.join(SUITE, "answers-sf1", f"q{name}.csv")
    if scale != 1 or not os.path.exists(path):
        return None
    with open(path, newline="") as file:
        return list(csv.reader(file, delimiter="|"))[1:]


def known_md5s(scale):
    """From a file's name to the MD5 of what the reference generator writes; empty where nobody knows."""
    path = os.path.join(SUITE, "sf1-md5-and-rows.txt")
    if scale != 1 or not os.path.exists(path):
        return {}
    with open(path) as file:
        words = [line.split() for line in file]
    return {name: md5 for md5, name in (pair for pair in words if len(pair) == 2) if len(md5) == 32}


def ordered_columns(name, row):
    """Those that the query's ORDER BY names: rows that are alike in them may come in any order."""
    return {"1": [], "2": row[1:3], "3": row[2:4], "4": row[:-1]}[name[0]]


def same_result(name, ours, theirs):
    def order(rows):
        return [ordered_columns(name, row) for row in rows]

    return side_by_side.same_rows(sorted(ours), sorted(theirs)) and side_by_side.same_rows(order(ours), order(theirs))
