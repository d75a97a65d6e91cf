"""What a device's time for a run of joins should be, from rates that were measured apart: kernels written by hand on an NVIDIA H200
that do one thing each, over 120 million rows. On another device the ratio to them says less.
"""

import bisect
import math

ROWS = 120e6
BYTES_PER_SECOND = 4.26e12  # of columns that are read through
# Milliseconds that ROWS look-ups take, each of a key that is there, by the rows of the index: in a table of 8-byte slots, half full,
# and in an array of 4 bytes a key.
TABLE = {16e3: 0.57, 262e3: 1.1, 1e6: 1.15, 4e6: 1.8, 17e6: 3.3, 67e6: 3.9}
ARRAY = {16e3: 0.17, 262e3: 0.75, 1e6: 0.79, 4e6: 0.81, 17e6: 1.7, 67e6: 2.8}
# The same of making such a table, from milliseconds for so many rows; an array's is a scatter, as long as a look-up a row.
BUILD = {rows: milliseconds * ROWS / rows for rows, milliseconds in {1e6: 0.04, 4e6: 0.2, 17e6: 1.2, 67e6: 5.8}.items()}
# Milliseconds to group ROWS rows: few groups in copies in shared memory, many by partitions.
FEW_GROUPS, MANY_GROUPS, MOST_FEW = 0.8, 2.7, 4096


def between(points, rows):
    """On the line through the two points beside, both axes logarithmic; before the first and behind the last as there."""
    known = sorted(points)
    if rows <= known[0] or rows >= known[-1]:
        return points[known[0] if rows <= known[0] else known[-1]]
    right = known[bisect.bisect_left(known, rows)]
    left = known[bisect.bisect_left(known, rows) - 1]
    part = math.log(rows / left) / math.log(right / left)
    return math.exp((1 - part) * math.log(points[left]) + part * math.log(points[right]))


def operands(program, opcode, column):
    """From an address to one operand (p1 is column 2) of the opcodes of this name in the listing."""
    found = {}
    for line in program[1:]:
        words = line.split()
        if words[1] == opcode:
            found[int(words[0])] = int(words[column].lstrip("r"))
    return found


def is_array(form):
    return form in ("dense", "places", "ranks", "bitmap")


def seconds_of(document):
    """Of Diptych's document of a run (docs/explain.md); None: nothing is joined. Never too much: where a device counted no pairs of a
    join, those that the section let out count."""
    run, program = document["run"], document["program"]
    of_build, of_join = operands(program, "Build", 2), operands(program, "Matches", 4)
    end_of = operands(program, "Parallel", 4)
    indexes = {of_build[done["address"]]: done for done in run["operations"] if done["kind"] == "build"}
    if not indexes:
        return None
    milliseconds = sum(section["read_bytes"] for section in run["sections"]) / BYTES_PER_SECOND * 1e3
    for built in indexes.values():
        rows = max(1, built["rows"])
        milliseconds += rows / ROWS * between(ARRAY if is_array(built["form"]) else BUILD, rows)
    for section in run["sections"]:
        joins = [address for address in of_join if section["address"] < address < end_of[section["address"]]]
        if not joins:
            continue
        pairs = {join["address"]: join["rows"] for join in section["joins"]}
        rows = section["rows_in"]
        if any(" go to " in line for line in program[1:] if section["address"] < int(line.split()[0]) < joins[0]):
            rows = min(rows, section["rows_out"])
        for address in joins:
            built = indexes[of_join[address]]
            held, found = max(1, built["rows"]), pairs.get(address, section["rows_out"])
            milliseconds += rows / ROWS * between(ARRAY if is_array(built["form"]) else TABLE, held)
            if found > rows:  # rows of the other side, each somewhere else
                milliseconds += found / ROWS * between(ARRAY, held)
            rows = found
        milliseconds += section["rows_out"] / ROWS * grouping(run)
    return milliseconds / 1e3


def grouping(run):
    """Milliseconds for ROWS rows that are joined, where they go into groups."""
    groups = [done["rows"] for done in run["operations"] if done["kind"] == "groups" and done["form"] != "total"]
    if not groups:
        return 0
    return FEW_GROUPS if max(groups) <= MOST_FEW else MANY_GROUPS
