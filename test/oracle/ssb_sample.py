#!/usr/bin/env python3
"""The 13 queries of the Star Schema Benchmark over a 2 % sample of its data, on Diptych in every way in which the CPU runs them, compared
with the known answers.

    ssb_sample.py --diptych build/release/libdiptych.so [--suite ../shared/suites/ssb] [--set device=cuda ...]

With --set they are run in one way, that of these settings, and what was left to the CPU is printed.

Where the suite is not there, it says so and ends well. Rows of equal sort keys may come in any order.
"""

import sys

import suite_sample

KEYS = {"customer": "c_custkey", "date": "d_datekey", "part": "p_partkey", "supplier": "s_suppkey"}


def make_suite(folder):
    queries = {path.stem: (path, folder / "answers-sf1-sample2pct" / f"q{path.stem}.csv")
               for path in sorted((folder / "queries").glob("*.sql"))}
    return suite_sample.Suite((folder / "ssb.ddl").read_text(), KEYS, folder / "data-sf1-sample2pct", queries,
                              lambda rows, answer: sorted(rows) == sorted(answer))


if __name__ == "__main__":
    sys.exit(suite_sample.main(__doc__, "ssb", make_suite))
