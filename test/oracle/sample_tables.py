"""The tables that random queries run on: all types, NULLs, duplicates, skew and edge values; sizes around the block sizes.

Every column has a bound on its absolute value, from which the generator of expressions tells that no operation can
overflow: errors are tested apart, because where one row of many fails the order of evaluation decides what is seen.
"""

import datetime
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    name: str
    kind: str  # int2, int4, int8, num, f4, f8, text, date, ts, iv, bool
    sql_type: str
    bound: float = 0
    scale: int = 0
    finite: bool = True  # has neither infinity nor NaN
    stable: bool = True  # of num: all values have the same number of digits after the point
    distinct: int = 0  # about so many values, where it is for grouping


COLUMNS = [
    Column("id", "int4", "integer", 5000),
    Column("k", "int4", "integer", 9),
    Column("j", "int4", "integer", 1000),
    Column("q", "int4", "integer", 10**7, distinct=1500),
    Column("z", "int8", "bigint", 10**6, distinct=300),  # nine rows of ten have one value
    Column("s", "int2", "smallint", 2**15),
    Column("i", "int4", "integer", 2**31),
    Column("l", "int8", "bigint", 2**63),
    Column("h", "int8", "bigint", 10**9),
    Column("n", "num", "numeric(9,2)", 10**7, 2),
    Column("m", "num", "numeric(18,4)", 10**14, 4),
    Column("w", "num", "numeric(38,6)", 10**26, 6),
    Column("w0", "num", "numeric(38,0)", 10**38 - 1, 0),
    Column("w38", "num", "numeric(38,38)", 0.9999, 38),
    Column("p", "num", "numeric(20,10)", 10**10, 10),
    Column("d", "f8", "double precision", 1000),
    Column("r", "f4", "real", 100, finite=False),
    Column("f", "f8", "double precision", float("inf"), finite=False),
    Column("dt", "date", "date"),
    Column("ts", "ts", "timestamp"),
    Column("di", "date", "date", finite=False),
    Column("ti", "ts", "timestamp", finite=False),
    Column("tx", "text", "text"),
    Column("tg", "text", "text", distinct=1200),
    Column("vc", "text", "varchar(12)"),
    Column("v3", "text", "varchar(3)"),
    Column("ch", "text", "char(6)"),
    Column("c1", "text", "char(1)"),
    Column("b", "bool", "boolean"),
]
SIZES = {"t_empty": 0, "t_one": 1, "t_small": 33, "t_block": 1025, "t_tablets": 2300}
WORDS = ["", "a", "A", "b", "ab", "abc", "ABC", "aab", "ba%", "x_y", " lead", "trail ", "ä", "äöü", "日本", "zebra", "Zebra", "it's",
         "0", "10", "9", "%", "_", "aaaa", "banana", "special requests", "a ", "ab  ", "  ", "ÄÖÜ", "Élan", "straße", "ΑΒΓ", "жук",
         "-5", "1.5", "true", "2024-02-29"]
LENGTHS = {"vc": 12, "v3": 3, "ch": 6, "c1": 1}


def _numeric(random, bound, scale):
    most = math.ceil(bound) * 10**scale
    digits = random.randrange(-most + 1, most)
    if random.random() < 0.05:
        digits = random.choice([most - 1, 1 - most])
    sign, digits = ("-" if digits < 0 else ""), str(abs(digits)).rjust(scale + 1, "0")
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else sign + digits


def _grouping_key(random, column):
    if column.name == "z":
        return 7 if random.random() < 0.9 else random.randrange(-column.distinct, column.distinct)
    return random.randrange(column.distinct) * 4001 - 10**6


def _integer(random, column):
    edge = int(column.bound)
    if column.distinct:
        return str(_grouping_key(random, column))
    if column.bound >= 2**15:
        if random.random() < 0.2:
            return str(random.choice([-edge, edge - 1, 0, 1, -1, -edge + 1]))
        if column.name != "h" and random.random() < 0.5:
            return str(random.randrange(-100, 100))
        return str(random.randrange(-edge, edge))
    return str(random.randrange(0 if column.name == "k" else -edge, edge + 1))


def _float(random, column, special):
    if random.random() < 0.05:
        return "'-0'"
    if special and not column.finite and random.random() < 0.1:
        return random.choice(["'NaN'", "'Infinity'", "'-Infinity'"])
    if column.name == "f":
        return random.choice(["0", "1.5", "-1.5", "1e100", "-1e100", "1e-100", repr(random.uniform(-10, 10))])
    # Eighths: sums of them are exact, whatever their order.
    return repr(random.randrange(-int(column.bound) * 8, int(column.bound) * 8 + 1) / 8)


def _text(random, column):
    if column.distinct:
        return f"{random.choice('xyé')}{random.randrange(column.distinct)}{random.choice(['', '', ' '])}"
    if column.name == "tx" and random.random() < 0.4:
        return "".join(random.choice("abcxyzAB _%1éÄ") for _ in range(random.randrange(0, 30)))
    return random.choice(WORDS)[:LENGTHS.get(column.name, 100)]


def _value(random, column, special):
    if column.kind in ("int2", "int4", "int8"):
        return _integer(random, column)
    if column.kind == "num":
        if random.random() < 0.3:
            return random.choice(["0", "0.5", "-0.5", "0.25"] + ([] if column.bound < 1 else ["1", "-1", "1.25", "2.5"]))
        return _numeric(random, min(100, column.bound) if random.random() < 0.4 else column.bound, column.scale)
    if column.kind in ("f4", "f8"):
        return _float(random, column, special)
    if column.kind == "text":
        return "'" + _text(random, column).replace("'", "''") + "'"
    if column.kind == "bool":
        return random.choice(["true", "false"])
    if not column.finite and random.random() < 0.2:
        return random.choice(["'infinity'", "'-infinity'"])
    day = datetime.date(1990, 1, 1) + datetime.timedelta(days=random.randrange(0, 14000 if random.random() < 0.5 else 90))
    if random.random() < 0.03:
        day = random.choice([datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.date(2000, 2, 29)])
    if column.kind == "date":
        return f"'{day:%m-%d}'".replace("'", f"'{day.year:04d}-", 1)
    micros = random.choice([0, 0, 500000, random.randrange(0, 1000000)])
    clock = f"{random.randrange(24):02d}:{random.randrange(60):02d}:{random.randrange(60):02d}.{micros:06d}"
    return f"'{day.year:04d}-{day:%m-%d} {clock}'"


def statements(random):
    """CREATE TABLE and INSERT statements, for both systems."""
    result = []
    for table, size in SIZES.items():
        columns = ", ".join(f"{c.name} {c.sql_type}" for c in COLUMNS)
        result.append(f"CREATE TABLE {table}({columns})")
        special = table != "t_tablets"
        null_share = {c.name: random.choice([0, 0.05, 0.3, 0.05]) for c in COLUMNS}
        if table == "t_small":
            null_share["n"] = null_share["v3"] = 1  # columns without any value
        ids = list(range(1, size + 1))
        random.shuffle(ids)
        rows = []
        for row_id in ids:
            cells = [str(row_id) if c.name == "id" else "NULL" if random.random() < null_share[c.name] else
                     _value(random, c, special) for c in COLUMNS]
            rows.append("(" + ", ".join(cells) + ")")
        for at in range(0, len(rows), 500):
            result.append(f"INSERT INTO {table} VALUES " + ", ".join(rows[at:at + 500]))
    return result
