"""Data for grouping: the table of the H2O.ai db-benchmark, G1 with K = 100, and columns that its questions lack.

    .venv/bin/python bench/groups/g1_data.py data/groups-10000000 --rows 10000000 --seed 1

writes g1-<part>.parquet, a million rows each, several at a time. Every part comes from the seed and its number alone. The files
are kept: a folder that is complete is left as it is.

    column    values
    id1, id2  'id001' .. 'id100'
    id3       'id0000000001' .. of rows / 100 strings
    id4, id5  1 .. 100
    id6       1 .. rows / 100
    v1, v2    1 .. 5, 1 .. 15
    v3        0 .. 100, six digits after the point
    u         unique, in no order, 40 bits
    c         0 .. rows / 10 - 1, all as often
    z         of the same range, the nth most frequent as often as n ** -1.1
    h         of the same range, 38 % of the rows have one value
    s         strings of 8 to 71 bytes, of rows / 10
    k10 .. k32m   numbers from 0 on: 10 to 32 million of them
"""

import argparse
import concurrent.futures
import os
import sys

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.parquet

PART_ROWS = 1_000_000
K = 100
COUNTS = {"k10": 10, "k100": 100, "k1000": 1_000, "k10k": 10_000, "k100k": 100_000, "k1m": 1_000_000, "k4m": 4_000_000,
          "k16m": 16_000_000, "k32m": 32_000_000}
# Odd, so that i -> i * FACTOR mod 2 ** 40 gives every number once.
FACTOR = 0x9E3779B97F
SCATTER = 2654435761


def zipf_keys(source, rows, keys):
    """The nth of the keys as often as n ** -1.1, by the inverse of the (continuous) distribution; neighbours are far apart."""
    exponent = 1.1
    high = (keys + 1.0) ** (1 - exponent)
    rank = numpy.floor((1 - source.random(rows) * (1 - high)) ** (1 / (1 - exponent))).astype(numpy.int64) - 1
    return (rank * SCATTER % keys).astype(numpy.int32)


def strings(numbers, width):
    """'id' and the number with so many digits, by arrow, which makes them without a Python object for each."""
    digits = pyarrow.compute.utf8_lpad(pyarrow.array(numbers).cast(pyarrow.string()), width, "0")
    return pyarrow.compute.binary_join_element_wise("id", digits, "")


def long_strings(keys):
    """A string of 8 to 71 bytes for each key."""
    head = pyarrow.compute.utf8_lpad(pyarrow.array(keys).cast(pyarrow.string()), 8, "0")
    text = pyarrow.compute.binary_repeat(head, pyarrow.array(keys % 9 + 1))
    return pyarrow.compute.utf8_slice_codeunits(text, 0, 71)


def write_part(folder, rows, seed, part):
    source = numpy.random.default_rng([seed, part])
    first = part * PART_ROWS
    count = min(PART_ROWS, rows - first)
    many, tenth = max(1, rows // K), max(1, rows // 10)

    def uniform(low, high):
        return source.integers(low, high, count, dtype=numpy.int32, endpoint=True)

    columns = {"id1": strings(uniform(1, K), 3), "id2": strings(uniform(1, K), 3), "id3": strings(uniform(1, many), 10),
               "id4": uniform(1, K), "id5": uniform(1, K), "id6": uniform(1, many), "v1": uniform(1, 5), "v2": uniform(1, 15),
               "v3": numpy.round(source.random(count) * 100, 6)}
    columns["u"] = numpy.arange(first, first + count, dtype=numpy.int64) * FACTOR % 2**40
    columns["c"] = uniform(0, tenth - 1)
    columns["z"] = zipf_keys(source, count, tenth)
    columns["h"] = numpy.where(source.random(count) < 0.38, numpy.int32(tenth // 2), uniform(0, tenth - 1))
    columns["s"] = long_strings(uniform(0, tenth - 1).astype(numpy.int64) * SCATTER % 100_000_007)
    for name, groups in COUNTS.items():
        columns[name] = uniform(0, groups - 1)
    path = os.path.join(folder, f"g1-{part:04}.parquet")
    pyarrow.parquet.write_table(pyarrow.table(columns), path + ".partial", compression="none", use_dictionary=["id1", "id2"],
                                write_statistics=True)
    os.rename(path + ".partial", path)


def parts_of(rows):
    return range((rows + PART_ROWS - 1) // PART_ROWS)


def make(folder, rows, seed, processes):
    """The files' paths, made unless they are there."""
    made = os.path.join(folder, "made")
    wanted = f"rows {rows}, seed {seed}\n"
    paths = [os.path.join(folder, f"g1-{part:04}.parquet") for part in parts_of(rows)]
    if not (os.path.exists(made) and open(made).read() == wanted):
        print(f"making {folder}", file=sys.stderr)
        os.makedirs(folder, exist_ok=True)
        with concurrent.futures.ProcessPoolExecutor(processes) as pool:
            for done in [pool.submit(write_part, folder, rows, seed, part) for part in parts_of(rows)]:
                done.result()
        with open(made, "w") as file:
            file.write(wanted)
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    make(options.folder, options.rows, options.seed, options.processes)


if __name__ == "__main__":
    main()
