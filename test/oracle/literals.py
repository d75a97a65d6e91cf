"""Expressions as pieces of SQL text, and constants of every kind: typed in the ways that SQL has, or left untyped.

Kinds: int2 int4 int8 num f4 f8 text date ts iv bool.
"""

import math
from dataclasses import dataclass

from sample_tables import WORDS

INT_LIMIT = {"int2": 2**15 - 1, "int4": 2**31 - 1, "int8": 2**63 - 1}
SQL_TYPE = {"int2": "smallint", "int4": "integer", "int8": "bigint", "num": "numeric(12,3)", "f4": "real", "f8": "float8", "text": "text",
            "date": "date", "ts": "timestamp", "iv": "interval", "bool": "boolean"}
VALUE_KINDS = ["int2", "int4", "int8", "num", "f4", "f8", "text", "date", "ts", "bool"]
NUMBERS = ("int2", "int4", "int8", "num", "f4", "f8")
SPECIAL = ("f4", "f8", "date", "ts", "iv")  # kinds with infinities
INTERVALS = ["1 year 2 mons", "-3 days", "1 day 02:03:04.5678", "P1Y2M3DT4H5M6S", "1-2", "-1 mon +30 days", "30 days", "1 mon", "720:00:00",
             "36 hours", "0", "1.5 days", "00:00:00.000001"]
MOST_DIGITS = 10**38


@dataclass(frozen=True)
class Expr:
    kind: str
    parts: tuple  # texts and Exprs, in the order of the SQL text
    bound: float = 0  # of the absolute value
    scale: int = 0  # num: digits after the point
    stable: bool = True  # num: both systems show the same number of digits after the point
    finite: bool = True  # neither infinity nor NaN
    reads: bool = False  # a column occurs in it

    def sql(self):
        return "".join(part if isinstance(part, str) else part.sql() for part in self.parts)

    def wide(self):
        """A numeric in it may have more digits than Diptych's have."""
        return (self.kind == "num" and self.bound * 10**self.scale >= MOST_DIGITS) or any(e.wide() for e in self.inner())

    def inner(self):
        return [part for part in self.parts if isinstance(part, Expr)]


def make(kind, *parts, bound=0.0, scale=0, stable=True, finite=None, reads=False):
    """An Expr, which reads columns and has infinities when its parts do."""
    inner = [part for part in parts if isinstance(part, Expr)]
    if finite is None:
        finite = kind not in SPECIAL or all(e.finite for e in inner if e.kind in SPECIAL)
    return Expr(kind, parts, bound, scale, stable, finite, reads or any(e.reads for e in inner))


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Literals:
    """Constants; the generator of expressions inherits them. random: a seeded random.Random."""

    def __init__(self, random):
        self.random = random

    def pick(self, *choices):
        return self.random.choice(choices)

    def value(self, kind):
        """(text of a value, bound, scale, finite), such as stands between quotes."""
        r = self.random
        if kind in INT_LIMIT:
            if r.random() < 0.06:
                value = r.choice([INT_LIMIT[kind], -INT_LIMIT[kind] - 1])
            else:
                value = r.choice([0, 1, -1, 2, 3, 7, 10, 100, r.randrange(-1000, 1000)])
            return str(value), abs(value), 0, True
        if kind == "num":
            scale = r.choice([1, 1, 2, 3])
            value = r.randrange(-(10**scale) * 50, 10**scale * 50)
            return f"{'-' if value < 0 else ''}{abs(value) // 10**scale}.{abs(value) % 10**scale:0{scale}d}", 50, scale, True
        if kind in ("f4", "f8"):
            if r.random() < 0.06:
                return r.choice(["NaN", "Infinity", "-Infinity"]), math.inf, 0, False
            return str(r.choice([r.randrange(-800, 800) / 8, 0, "-0", r.randrange(-20, 20)])), 100, 0, True
        if kind == "text":
            return r.choice(WORDS), 0, 0, True
        if kind == "bool":
            return self.pick("true", "false"), 0, 0, True
        if kind == "iv":
            number = r.randrange(-40, 40)
            text = f"{number} {self.pick('day', 'month', 'year', 'hour', 'minute', 'second')}"
            return text if r.random() < 0.6 else r.choice(INTERVALS), 0, 0, True
        if r.random() < 0.06:
            return r.choice(["infinity", "-infinity"]), 0, 0, False
        day = f"{r.randrange(1990, 2025)}-{r.randrange(1, 13):02d}-{r.randrange(1, 29):02d}"
        return day if kind == "date" else f"{day} {r.randrange(24):02d}:{r.randrange(60):02d}:{r.randrange(60):02d}", 0, 0, True

    def constant(self, kind, null=True, most=math.inf):
        """A constant of just that kind."""
        r = self.random
        if null and r.random() < 0.03:
            return make(kind, f"NULL::{SQL_TYPE[kind]}", scale=3 if kind == "num" else 0)
        text, bound, scale, finite = self.value(kind)
        while most < bound:
            text, bound, scale, finite = self.value(kind)
        name = SQL_TYPE[kind] if kind != "num" else f"numeric(12,{scale})"
        if kind == "text":
            name = self.pick("text", "text", "varchar", "varchar(9)", "varchar(2)", "char(4)", "char(8)")
        form = r.randrange(6)
        if form == 0:
            sql = f"CAST({quoted(text)} AS {name})"
        elif form == 1:
            sql = f"{quoted(text)}::{name}"
        elif kind in ("date", "ts", "iv"):
            sql = f"{name} {quoted(text)}"
        elif kind == "text":
            sql = f"{quoted(text)}::text"
        elif kind == "bool":
            sql = text
        elif kind in ("f4", "f8") or (kind == "int4" and bound > 2**31 - 1) or (kind == "int8" and bound > 2**63 - 1):
            sql = f"{quoted(text)}::{name}"
        else:
            exact = kind == "num" or (kind == "int4") or (kind == "int8" and bound > 2**31)
            text = f"({text})" if text.startswith("-") else text
            sql = text if exact else f"{text}::{name}"
        return make(kind, sql, bound=bound, scale=scale, finite=finite)

    def untyped(self, kind):
        """A constant that takes its type from where it stands: a text in quotes or NULL."""
        if self.random.random() < 0.2:
            return make(kind, "NULL")
        text, bound, scale, finite = self.value(kind)
        return make(kind, quoted(text), bound=bound, scale=scale, finite=finite)
