"""What is asked of the tables that join_data.py makes. A case is an inner join of at most a billion pairs; its result is one row, or
ten rows in a total order, so that no time goes into handing over pairs.

A part is a dictionary from a case's name to its query; the line before a case says what the case is for.
"""

import re

from join_data import TABLES


def dense(table):
    return f"select count(*), sum(p.v * b.v1) from probe p join {table} b on p.{table} = b.k"


# How the time grows with the build side, named by its rows.
SIZES = {
    # A table that a core's nearest cache holds: what a lookup costs by itself.
    "rows / 10000": dense("tenthousandth"),
    # A table that a core's own caches hold.
    "rows / 1000": dense("thousandth"),
    # A table that the caches all cores share hold.
    "rows / 100": dense("hundredth"),
    # A table beyond the caches: waiting for memory, or partitions, begin to count.
    "rows / 10": dense("tenth"),
    # As many rows as the probe side has: building counts as much as looking up.
    "as many rows": dense("whole"),
}

MATCHES = {
    # A billion pairs at most, a few matches each: the pairs cost more than looking up.
    "10 matches": "select count(*), sum(p.v * b.v1) from probe p join ten b on p.ten = b.k",
    # The most pairs: that no pair is stored, and that one row's pairs may fill more than a block.
    "100 matches": "select count(*), sum(p.v * b.v1) from probe p join hundred b on p.hundred = b.k",
    # Nearly no row finds a match: what a filter before the lookup is worth.
    "1 % hits": "select count(*), sum(p.v * b.v1) from probe p join sparse_tenth b on p.one_in_100 = b.k",
    # Most rows find no match, but most blocks have rows that do.
    "10 % hits": "select count(*), sum(p.v * b.v1) from probe p join sparse_tenth b on p.one_in_10 = b.k",
    # Every row finds a match: a filter before the lookup is in vain.
    "100 % hits": "select count(*), sum(p.v * b.v1) from probe p join sparse_tenth b on p.one_in_1 = b.k",
    # Few rows of the build side are looked up nearly always: caches help.
    "skewed probe keys": "select count(*), sum(p.v * b.v1) from probe p join tenth b on p.zipf = b.k",
    # Some keys have a tenth of the build side's rows: long lists of matches, unequal work for the workers.
    "skewed build keys": "select count(*), sum(p.v * b.v1) from probe p join skewed b on p.tenth = b.k",
}

KEYS = {
    # Keys without a range that an array could have, and a table beyond all caches; "as many rows" has dense keys.
    "sparse keys": "select count(*), sum(p.v * b.v1) from probe p join sparse_whole b on p.one_in_10 = b.k",
    # Strings of 11 bytes.
    "short strings": "select count(*), sum(p.v * b.v1) from probe_text p join text_tenth b on p.s = b.s",
    # Strings of 53 bytes that differ in the middle only.
    "long strings": "select count(*), sum(p.v * b.v1) from probe_text p join text_tenth b on p.t = b.t",
    # Two columns are one key; each alone would give hundreds of matches.
    "two keys": "select count(*), sum(p.v * b.v1) from probe p join pairs b on p.a = b.a and p.b = b.b",
}

COLUMNS = {
    # No column of either side but the keys.
    "count only": "select count(*) from probe p join tenth b on p.tenth = b.k",
    # One column of the build side for each pair ...
    "one column": "select sum(b.v1) from probe p join tenth b on p.tenth = b.k",
    # ... and five: from five places in memory, or from one.
    "five columns": "select sum(b.v1), sum(b.v2), sum(b.v3), sum(b.v4), sum(b.v5) from probe p join tenth b on p.tenth = b.k",
    # A hundred groups by a column of the build side, as reports on a dimension have them.
    "few groups": "select b.g, count(*), sum(p.v) from probe p join tenth b on p.tenth = b.k group by b.g order by 3 desc, 1 limit 10",
    # Many groups: a second hash table beside the join's.
    "many groups": "select b.next, count(*), sum(p.v) from probe p join tenth b on p.tenth = b.k group by b.next"
                   " order by 3 desc, 1 limit 10",
}

SHAPES = {
    # The second join's key comes from the first one's build side.
    "chain of three": "select count(*), sum(p.v * c.v1) from probe p join tenth b on p.tenth = b.k join hundredth c on b.next = c.k",
    # Three dimensions around the probe side, one of them filtered to a tenth, grouped by another.
    "star of four": "select c.g, count(*), sum(p.v + b.v1) from probe p join tenth b on p.tenth = b.k"
                    " join hundredth c on p.hundredth = c.k join thousandth d on p.thousandth = d.k where b.f < 1000"
                    " group by c.g order by 3 desc, 1 limit 10",
    # A hundredth of the build side's rows is left: the other probe rows are best dropped early.
    "1 % of the build side": "select count(*), sum(p.v * b.v1) from probe p join tenth b on p.tenth = b.k where b.f < 100",
    # A hundredth of the probe side's rows is left: building takes most of the time.
    "1 % of the probe side": "select count(*), sum(p.v * b.v1) from probe p join tenth b on p.tenth = b.k where p.f < 100",
}

PARTS = {"sizes": SIZES, "matches": MATCHES, "keys": KEYS, "columns": COLUMNS, "shapes": SHAPES}
CASES = {name: sql for part in PARTS.values() for name, sql in part.items()}


def tables_of(queries):
    """The tables that these queries read."""
    read = {table for sql in queries for table in re.findall(r"(?:from|join) (\w+)", sql)}
    return [table for table in TABLES if table in read]
