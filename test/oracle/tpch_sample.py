#!/usr/bin/env python3
"""The queries of TPC-H that need no subquery in an expression and no outer join, over its data at scale factor 0.01, on Diptych in every way
in which the CPU runs them, compared with the known answers.

    tpch_sample.py --diptych build/release/libdiptych.so [--suite ../shared/suites/tpch]

Where the suite is not there, it says so and ends well.
"""

import pathlib
import sys

import suite_sample
from comparison import equal_cells

QUERIES = (1, 3, 5, 6, 7, 8, 9, 10, 12, 14)
KEYS = {"region": "r_regionkey", "nation": "n_nationkey", "supplier": "s_suppkey", "part": "p_partkey",
        "partsupp": "ps_partkey, ps_suppkey", "customer": "c_custkey", "orders": "o_orderkey", "lineitem": "l_orderkey, l_linenumber"}


def are_equal_cells(ours, known):
    """char(n) keeps its spaces here and not in the answers. Averages and quotients, in which the answers have other digits, to nine digits."""
    ours, known = ours.rstrip(" "), known.rstrip(" ")
    decimals = [len(text.partition(".")[2]) for text in (ours, known)]
    return ours == known or (decimals[0] != decimals[1] and equal_cells(ours, known, "double precision"))


def are_equal(rows, answer):
    """In their order, which every query gives."""
    return len(rows) == len(answer) and all(
        len(row) == len(known) and all(map(are_equal_cells, row, known)) for row, known in zip(rows, answer))


def make_suite(folder):
    schema = pathlib.Path(__file__).resolve().parents[2] / "bench" / "tpch" / "schema.sql"
    queries = {f"q{number}": (folder / "queries" / f"q{number:02}.sql", folder / "answers-3way-verified" / "sf0.01" / f"q{number:02}.csv")
               for number in QUERIES}
    return suite_sample.Suite(schema.read_text(), KEYS, folder / "data-sf0.01", queries, are_equal)


if __name__ == "__main__":
    sys.exit(suite_sample.main(__doc__, "tpch", make_suite))
