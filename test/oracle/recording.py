"""PostgreSQL's answers to random queries or scripts in a file, for machines that have no PostgreSQL.

One JSON value a line, compressed by xz: {"seed": 1, "setup": [statements]}, then for each query
[sql, whether its rows are in order, whether a numeric may have more than 38 digits, answer]; an answer is as comparison.py has it. For a
script a line has a list of these.
"""

import json
import lzma


def write(path, seed, setup, cases):
    """cases: an iterable of (sql, ordered, wide, answer), or of lists of these."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]  # as suits text
    with lzma.open(path, "wt", filters=filters, encoding="utf-8") as file:
        file.write(json.dumps({"seed": seed, "setup": setup}) + "\n")
        for case in cases:
            file.write(json.dumps(case, ensure_ascii=False, separators=(",", ":")) + "\n")


def read(path):
    """(seed, setup, cases)"""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        head = json.loads(file.readline())
        return head["seed"], head["setup"], [json.loads(line) for line in file]
