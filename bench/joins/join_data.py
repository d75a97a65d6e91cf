"""Data for joins: two large tables that look up, and tables of many sizes and kinds of keys that are looked up in.

    .venv/bin/python bench/joins/join_data.py data/joins-10000000 --rows 10000000 --seed 1

writes <table>-<part>.parquet, a million rows each, several at a time. Every part comes from the seed, the table and its number
alone. The files are kept: a table that is complete is left as it is.

A table named after a share has that share of --rows, and one row for each key unless something else is said. Its keys come in
no order. The tables that are looked up in:

    table           key
    tenthousandth, thousandth, hundredth, tenth, whole
                    k, 0 .. rows of the table - 1 (dense)
    sparse_tenth, sparse_whole
                    k, 64-bit integers from all of their range
    ten             k, 0 .. rows / 100 - 1; rows / 10 rows, 10 for a key
    hundred         k, 0 .. rows / 1000 - 1; rows / 10 rows, 100 for a key
    skewed          k, 0 .. rows / 10 - 1; rows / 10 rows, the nth most frequent key as often as n ** -1.1
    pairs           a and b, each 0 .. the root of rows / 10; rows / 10 rows
    text_tenth      s, strings of 11 bytes; t, strings of 53 bytes that begin and end alike

All of them also have v1 (0 .. 999) and g (0 .. 99); tenth has v2 .. v5 of v1's kind, f (0 .. 9999) and next, a key of hundredth.
The tables that look up:

    probe           v (0 .. 999), f (0 .. 9999), and keys, equally frequent unless something else is said
                    tenthousandth, thousandth, hundredth, tenth, whole: of the table of this name
                    ten, hundred: of the table of this name; so many of them are not there that a billion pairs are not exceeded
                    zipf: of tenth, the nth most frequent as often as n ** -1.1
                    a, b: a row of pairs
                    one_in_1, one_in_10, one_in_100: so many of them are in sparse_tenth; all of the first two in sparse_whole
    probe_text      v, and s and t, of a row of text_tenth
"""

import argparse
import concurrent.futures
import math
import os
import sys
import zlib

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

PART_ROWS = 1_000_000
MOST_PAIRS = 1_000_000_000
# Odd primes, so that i -> i * SCATTER mod n gives every number below n once; neighbours are far apart.
SCATTER = 2654435761
# A table's rows are rows / this.
SHARES = {"tenthousandth": 10_000, "thousandth": 1_000, "hundredth": 100, "tenth": 10, "whole": 1}
BUILDS = {**SHARES, "sparse_tenth": 10, "sparse_whole": 1, "ten": 10, "hundred": 10, "skewed": 10, "pairs": 10, "text_tenth": 10}
PROBES = {"probe": 1, "probe_text": 1}
TABLES = {**BUILDS, **PROBES}


def count_of(table, rows):
    return max(1, rows // TABLES[table])


def scattered(numbers, count):
    return numbers * SCATTER % count


def sparse(numbers):
    """A 64-bit integer for each number, all different: the finalizer of splitmix64 (Steele, Lea, Flood, 2014), a bijection."""
    bits = numpy.asarray(numbers, dtype=numpy.uint64)
    bits = (bits ^ (bits >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return (bits ^ (bits >> numpy.uint64(31))).view(numpy.int64)


def zipf(source, count, keys):
    """The nth of the keys as often as n ** -1.1, by the inverse of the (continuous) distribution."""
    exponent = 1.1
    high = (keys + 1.0) ** (1 - exponent)
    rank = numpy.floor((1 - source.random(count) * (1 - high)) ** (1 / (1 - exponent))).astype(numpy.int64) - 1
    return scattered(rank, keys).astype(numpy.int32)


def pair_columns(numbers, rows):
    side = math.isqrt(count_of("pairs", rows) - 1) + 1
    return {"a": (numbers // side).astype(numpy.int32), "b": (numbers % side).astype(numpy.int32)}


def text_columns(numbers):
    """Strings by arrow, which makes them without a Python object for each."""
    digits = pyarrow.compute.utf8_lpad(pyarrow.array(scattered(numbers, 999_999_937)).cast(pyarrow.string()), 9, "0")
    join = pyarrow.compute.binary_join_element_wise
    return {"s": join("id", digits, ""), "t": join("https://www.example.org/catalogue/items/", digits, "view", "")}


def keys_with(matches, keys, rows):
    """How many keys to draw from, of which the first so many have matches, that all rows together have at most MOST_PAIRS pairs."""
    return max(keys, math.ceil(keys * 1.001 * rows * matches / MOST_PAIRS)) if rows * matches > MOST_PAIRS else keys


def build_keys(table, numbers, source, rows):
    """Of the rows with these numbers."""
    count = count_of(table, rows)
    if table == "skewed":
        return {"k": zipf(source, len(numbers), count)}
    one_each = scattered(numbers, count)
    if table == "pairs":
        return pair_columns(one_each, rows)
    if table == "text_tenth":
        return text_columns(one_each)
    if table.startswith("sparse"):
        return {"k": sparse(one_each)}
    matches = {"ten": 10, "hundred": 100}.get(table, 1)
    return {"k": (one_each % max(1, count // matches)).astype(numpy.int32)}


def build_columns(table, numbers, source, rows):
    def uniform(count):
        return source.integers(0, count, len(numbers), dtype=numpy.int32)

    columns = build_keys(table, numbers, source, rows)
    columns.update({"v1": uniform(1_000), "g": uniform(100)})
    if table == "tenth":
        columns.update({f"v{i}": uniform(1_000) for i in range(2, 6)})
        columns.update({"f": uniform(10_000), "next": uniform(count_of("hundredth", rows))})
    return columns


def probe_columns(table, numbers, source, rows):
    def uniform(count, kind=numpy.int32):
        return source.integers(0, count, len(numbers), dtype=kind)

    columns = {"v": uniform(1_000)}
    if table == "probe_text":
        return {**columns, **text_columns(uniform(count_of("text_tenth", rows), numpy.int64))}
    columns["f"] = uniform(10_000)
    for name in SHARES:
        columns[name] = uniform(count_of(name, rows))
    for name, matches in (("ten", 10), ("hundred", 100)):
        columns[name] = uniform(keys_with(matches, max(1, count_of(name, rows) // matches), rows))
    tenth = count_of("tenth", rows)
    columns["zipf"] = zipf(source, len(numbers), tenth)
    columns.update(pair_columns(uniform(tenth, numpy.int64), rows))
    for share in (1, 10, 100):
        columns[f"one_in_{share}"] = sparse(uniform(tenth * share, numpy.int64))
    return columns


def write_part(folder, table, rows, seed, part):
    source = numpy.random.default_rng([seed, zlib.crc32(table.encode()), part])
    first = part * PART_ROWS
    numbers = numpy.arange(first, min(first + PART_ROWS, count_of(table, rows)), dtype=numpy.int64)
    columns = (probe_columns if table in PROBES else build_columns)(table, numbers, source, rows)
    path = part_path(folder, table, part)
    # The long strings are most of the files: compressed, they take a twelfth of the room.
    pyarrow.parquet.write_table(pyarrow.table(columns), path + ".partial", compression={"t": "zstd"} if "t" in columns else "none",
                                use_dictionary=False, write_statistics=True)
    os.rename(path + ".partial", path)


def part_path(folder, table, part):
    return os.path.join(folder, f"{table}-{part:04}.parquet")


def parts_of(table, rows):
    return range((count_of(table, rows) + PART_ROWS - 1) // PART_ROWS)


def made_from(rows, seed):
    return f"rows {rows}, seed {seed}"


def marker_of(folder, table):
    return os.path.join(folder, f"{table}.made")


def is_made(folder, table, wanted):
    marker = marker_of(folder, table)
    return os.path.exists(marker) and open(marker).read() == wanted


def make(folder, tables, rows, seed, processes):
    """From each table to its files' paths, made unless they are there."""
    wanted = made_from(rows, seed)
    missing = [table for table in tables if not is_made(folder, table, wanted)]
    if missing:
        print(f"making {', '.join(missing)} in {folder}", file=sys.stderr)
        os.makedirs(folder, exist_ok=True)
        with concurrent.futures.ProcessPoolExecutor(processes) as pool:
            for done in [pool.submit(write_part, folder, table, rows, seed, part)
                         for table in missing for part in parts_of(table, rows)]:
                done.result()
        for table in missing:
            with open(marker_of(folder, table), "w") as file:
                file.write(wanted)
    return {table: [part_path(folder, table, part) for part in parts_of(table, rows)] for table in tables}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    make(options.folder, TABLES, options.rows, options.seed, options.processes)


if __name__ == "__main__":
    main()
