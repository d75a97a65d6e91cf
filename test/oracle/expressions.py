"""Random SQL expressions of a wanted kind, which can't fail: bounds on their values are carried along.

Kinds: int2 int4 int8 num f4 f8 text date ts iv bool.
"""

import math
from dataclasses import dataclass

from sample_tables import COLUMNS, WORDS

INT_LIMIT = {"int2": 2**15 - 1, "int4": 2**31 - 1, "int8": 2**63 - 1}
SQL_TYPE = {"int2": "smallint", "int4": "integer", "int8": "bigint", "f4": "real", "f8": "float8", "text": "text",
            "date": "date", "ts": "timestamp", "iv": "interval", "bool": "boolean"}
VALUE_KINDS = ["int2", "int4", "int8", "num", "f4", "f8", "text", "date", "ts", "bool"]
FIELDS = ["year", "month", "day", "dow", "doy", "quarter", "week", "isodow", "isoyear", "decade", "century"]
CLOCK_FIELDS = ["hour", "minute", "second"]


@dataclass(frozen=True)
class Expr:
    kind: str
    parts: tuple  # texts and Exprs, in the order of the SQL text
    bound: float = 0  # of the absolute value
    scale: int = 0  # num: digits after the point
    stable: bool = True  # num: both systems show the same number of digits after the point

    def sql(self):
        return "".join(part if isinstance(part, str) else part.sql() for part in self.parts)


def make(kind, *parts, bound=0.0, scale=0, stable=True):
    return Expr(kind, parts, bound, scale, stable)


class Generator:
    """random: a seeded random.Random. columns: which columns may be used; none gives constants only."""

    def __init__(self, random, columns=None):
        self.random = random
        self.columns = COLUMNS if columns is None else columns

    def pick(self, *choices):
        return self.random.choice(choices)

    # Leaves.

    def column(self, kind, most=math.inf):
        fitting = [c for c in self.columns if c.kind == kind and c.bound <= most]
        if not fitting:
            return None
        c = self.random.choice(fitting)
        if c.name == "ch":
            # PostgreSQL carries the padding of char(n) through some expressions (test/README.md).
            return make(kind, "(", c.name, "::text)")
        return make(c.kind, c.name, bound=c.bound, scale=c.scale)

    def constant(self, kind, null=True):
        r = self.random
        if null and r.random() < 0.03:
            name = "numeric(10,2)" if kind == "num" else SQL_TYPE[kind]
            return make(kind, f"NULL::{name}", scale=2 if kind == "num" else 0)
        if kind in INT_LIMIT:
            value = r.choice([0, 1, -1, 2, 3, 7, 10, 100, r.randrange(-1000, 1000)])
            text = f"({value})" if value < 0 else str(value)
            return make(kind, text if kind == "int4" else f"{text}::{SQL_TYPE[kind]}", bound=abs(value))
        if kind == "num":
            scale = r.choice([1, 1, 2, 3])
            value = r.randrange(-(10**scale) * 50, 10**scale * 50)
            text = f"{'-' if value < 0 else ''}{abs(value) // 10**scale}.{abs(value) % 10**scale:0{scale}d}"
            return make(kind, f"({text})", bound=50, scale=scale)
        if kind in ("f4", "f8"):
            value = r.randrange(-800, 800) / 8
            return make(kind, f"({value}::{SQL_TYPE[kind]})", bound=100)
        if kind == "text":
            return make(kind, "'" + r.choice(WORDS).replace("'", "''") + "'::text")
        if kind == "bool":
            return make(kind, self.pick("true", "false"))
        if kind == "iv":
            number = r.randrange(-40, 40)
            return make(kind, f"interval '{number} {self.pick('day', 'month', 'year', 'hour', 'minute', 'second')}'")
        day = f"{r.randrange(1990, 2025)}-{r.randrange(1, 13):02d}-{r.randrange(1, 29):02d}"
        if kind == "date":
            return make(kind, f"date '{day}'")
        return make(kind, f"timestamp '{day} {r.randrange(24):02d}:{r.randrange(60):02d}:{r.randrange(60):02d}'")

    def leaf(self, kind, most=math.inf):
        if self.random.random() < 0.8:
            found = self.column(kind, most)
            if found is not None:
                return found
        return self.constant(kind)

    def make(self, kind, depth):
        """An expression of the kind; depth bounds its nesting."""
        if depth <= 0 or self.random.random() < 0.15:
            return self.leaf(kind)
        if self.random.random() < 0.2:
            return self.conditional(kind, depth)
        made = getattr(self, "_" + {"int2": "int", "int4": "int", "int8": "int", "f4": "float", "f8": "float"}.get(kind, kind))(kind, depth)
        return made if made is not None else self.leaf(kind)

    # Any kind.

    def conditional(self, kind, depth):
        a, b = self.make(kind, depth - 1), self.make(kind, depth - 1)
        bound, scale = max(a.bound, b.bound), max(a.scale, b.scale)
        stable = a.stable and b.stable and a.scale == b.scale
        form = self.random.randrange(6)
        if form == 0:
            parts = ("CASE WHEN ", self._bool("bool", depth - 1), " THEN ", a, " ELSE ", b, " END")
        elif form == 1:
            key = self.make(self.pick("int4", "text"), 0)
            parts = ("CASE ", key, " WHEN ", self.constant(key.kind), " THEN ", a, " WHEN ", self.constant(key.kind), " THEN ", b, " END")
        elif form == 2:
            parts = ("coalesce(", a, ", ", b, ")")
        elif form == 3:
            if kind == "iv":
                return a
            parts, bound, scale, stable = ("nullif(", a, ", ", b, ")"), a.bound, a.scale, a.stable
        else:
            parts = (("greatest(" if form == 4 else "least("), a, ", ", b, ")")
        return make(kind, *parts, bound=bound, scale=scale, stable=stable)

    # Numbers.

    def _int(self, kind, depth):
        r, limit = self.random, INT_LIMIT[kind]
        form = r.randrange(12)
        if form < 5:
            narrower = {"int2": ["int2"], "int4": ["int4", "int2"], "int8": ["int8", "int4", "int2"]}[kind]
            a, b = self.make(kind, depth - 1), self.make(self.pick(*narrower), depth - 1)
            if r.random() < 0.5:
                a, b = b, a
            op = self.pick("+", "-", "*")
            bound = a.bound * b.bound if op == "*" else a.bound + b.bound
            return make(kind, "(", a, f" {op} ", b, ")", bound=bound) if bound <= limit else None
        if form == 5:
            a, b = self.make(kind, depth - 1), self.make(kind, depth - 1)
            if a.bound > limit:
                return None
            return make(kind, "(", a, self.pick(" / ", " % "), "nullif(", b, f", 0::{SQL_TYPE[kind]}))", bound=a.bound)
        if form == 6:
            a = self.make(kind, depth - 1)
            return make(kind, self.pick("abs(", "(-"), a, ")", bound=a.bound) if a.bound <= limit else None
        if form == 7 and kind == "int4":
            return self.text_number(depth)
        if form == 8 and kind == "int4":
            a, b = self.make("date", depth - 1), self.make("date", depth - 1)
            return make(kind, "(", a, " - ", b, ")", bound=4 * 10**6)
        if form == 9 and kind == "int4":
            return make(kind, "extract(", self.pick(*FIELDS), " FROM ", self.make(self.pick("date", "ts"), depth - 1), ")::integer",
                        bound=10**4)
        other = self.make(self.pick("int2", "int4", "int8", "num", "f8"), depth - 1)
        if other.bound < limit and other.kind != kind and not self._may_be_special(other):
            return make(kind, "(", other, f")::{SQL_TYPE[kind]}", bound=math.ceil(other.bound))
        return None

    @staticmethod
    def _may_be_special(expr):
        """Floats may be NaN or infinite, which no integer is."""
        return expr.kind in ("f4", "f8")

    def text_number(self, depth):
        a = self.make("text", depth - 1)
        if self.random.random() < 0.5:
            return make("int4", "length(", a, ")", bound=10**4)
        return make("int4", "position(", self.constant("text", null=False), " IN ", a, ")", bound=10**4)

    def _num(self, kind, depth):
        r = self.random
        form = r.randrange(12)
        a = self.make("num", depth - 1)
        if form < 5:
            b = self.make("num", depth - 1) if r.random() < 0.7 else self.make(self.pick("int4", "int8", "int2"), depth - 1)
            if r.random() < 0.3:
                a, b = b, a
            op = self.pick("+", "-", "*")
            bound = a.bound * b.bound if op == "*" else a.bound + b.bound
            scale = a.scale + b.scale if op == "*" else max(a.scale, b.scale)
            if scale > 12 or bound * 10**scale >= 1e32:
                return None
            if a.kind != "num" and b.kind != "num":
                return None
            return make(kind, "(", a, f" {op} ", b, ")", bound=bound, scale=scale, stable=a.stable and b.stable)
        if form == 5:
            b = self.make(self.pick("num", "int4"), depth - 1)
            if a.bound > 1e6 or b.scale > 4:
                return None
            zero = "0" if b.kind == "int4" else "0.0"
            return make(kind, "round(", a, " / nullif(", b, f", {zero}), 4)", bound=a.bound * 10**b.scale + 1, scale=4)
        if form == 6:
            b = self.make("num", depth - 1)
            if a.bound * 10**max(a.scale, b.scale) >= 1e32 or b.bound * 10**max(a.scale, b.scale) >= 1e32:
                return None
            return make(kind, "(", a, " % nullif(", b, ", 0.0))", bound=a.bound, scale=max(a.scale, b.scale), stable=False)
        if form == 7:
            digits = r.randrange(0, 5)
            return make(kind, "round(", a, f", {digits})", bound=a.bound + 1, scale=digits, stable=a.stable and digits <= a.scale)
        if form == 8:
            return make(kind, self.pick("round(", "ceil(", "floor("), a, ")", bound=a.bound + 1, scale=0)
        if form == 9:
            return make(kind, self.pick("abs(", "(-"), a, ")", bound=a.bound, scale=a.scale, stable=a.stable)
        if form == 10 and a.bound < 10**8:
            scale = r.randrange(0, 4)
            return make(kind, "(", a, f")::numeric(16,{scale})", bound=a.bound + 1, scale=scale)
        b = self.make(self.pick("int4", "int8"), depth - 1)
        return make(kind, "(", b, ")::numeric(22,2)", bound=b.bound, scale=2)

    def _float(self, kind, depth):
        r = self.random
        form = r.randrange(10)
        a = self.make(kind, depth - 1)
        if kind == "f4":
            if form < 3 and a.bound < 1e6:
                b = self.leaf("f4", 100)
                return make(kind, "(", a, self.pick(" + ", " - ", " * "), b, ")", bound=a.bound * 100 + 100)
            return make(kind, self.pick("abs(", "(-"), a, ")", bound=a.bound)
        if form < 4:
            b = self.make(self.pick("f8", "f8", "f4", "int4", "num"), depth - 1)
            op = self.pick("+", "-", "*")
            bound = a.bound * b.bound if op == "*" else a.bound + b.bound
            return make(kind, "(", a, f" {op} ", b, ")", bound=bound) if bound < 1e60 else None
        if a.bound > 1e60:
            return None
        if form == 4:
            return make(kind, "(", a, " / nullif(", self.leaf("f8", 1000), ", 0::float8))", bound=a.bound * 10)
        if form == 5:
            return make(kind, "sqrt(abs(", a, "))", bound=max(1.0, a.bound))
        if form == 6:
            return make(kind, "ln(abs(", a, ") + 1)", bound=200)
        if form == 7:
            return make(kind, "exp(", self.leaf("f8", 1000), " / 100)", bound=1e5)
        if form == 8:
            return make(kind, "power(abs(", self.leaf("f8", 1000), f") + 1, {r.randrange(-2, 4)})", bound=1e10)
        return make(kind, self.pick("round(", "ceil(", "floor(", "abs(", "(-"), a, ")", bound=a.bound + 1)

    # Texts, dates, intervals.

    def _text(self, kind, depth):
        r = self.random
        form = r.randrange(11)
        a = self.make("text", depth - 1)
        if form == 0:
            return make(kind, self.pick("upper(", "lower("), a, ")")
        if form == 1:
            return make(kind, self.pick("trim(", "ltrim(", "rtrim("), a, ")")
        if form == 2:
            return make(kind, "trim(", self.pick("both", "leading", "trailing"), " 'a' FROM ", a, ")")
        if form == 3:
            return make(kind, "substring(", a, f", {r.randrange(-2, 6)})")
        if form == 4:
            return make(kind, "substring(", a, f" FROM {r.randrange(-2, 6)} FOR {r.randrange(0, 5)})")
        if form in (5, 6):
            b = self.make("text", depth - 1)
            return make(kind, "(", a, " || ", b, ")")
        if form == 7:
            return make(kind, "replace(", a, ", ", self.constant("text"), ", ", self.constant("text"), ")")
        b = self.make(self.pick("int4", "int8", "date", "ts", "bool", "num", "f8"), depth - 1)
        if (b.kind == "num" and not b.stable) or (b.kind == "f8" and b.bound > 1e30):
            return None
        return make(kind, "(", b, ")::text") if form < 10 else make(kind, "(", a, " || (", b, ")::text)")

    def _date(self, kind, depth):
        if self.random.random() < 0.3:
            return make(kind, "(", self.make("ts", depth - 1), ")::date")
        a, b = self.make("date", depth - 1), self.leaf("int4", 1000)
        return make(kind, "(", a, self.pick(" + ", " - "), b, ")")

    def _ts(self, kind, depth):
        form = self.random.randrange(4)
        if form == 0:
            return make(kind, "(", self.make("date", depth - 1), ")::timestamp")
        a = self.make(self.pick("ts", "date"), depth - 1)
        return make(kind, "(", a, self.pick(" + ", " - "), self.constant("iv"), ")")

    def _iv(self, kind, depth):
        if self.random.random() < 0.5:
            a, b = self.make("ts", depth - 1), self.make("ts", depth - 1)
            return make(kind, "(", a, " - ", b, ")")
        return make(kind, "(", self.constant("iv", null=False), " * ", self.leaf("int4", 1000), ")")

    # Conditions.

    def comparable(self, depth):
        """Two expressions that can be compared."""
        kind = self.pick("int4", "int4", "int8", "num", "f8", "text", "text", "date", "ts", "bool", "int2", "f4", "iv")
        other = kind
        if kind in ("int2", "int4", "int8", "num", "f4", "f8") and self.random.random() < 0.4:
            other = self.pick("int2", "int4", "int8", "num", "f8")
        elif kind in ("date", "ts") and self.random.random() < 0.2:
            other = self.pick("date", "ts")
        return self.make(kind, depth - 1), self.make(other, depth - 1)

    def _bool(self, kind, depth):
        if depth <= 0:
            found = self.column("bool")
            if found is not None and self.random.random() < 0.3:
                return found
            a, b = self.comparable(0)
            return make("bool", "(", a, self.pick(" = ", " <> ", " < ", " <= ", " > ", " >= "), b, ")")
        form = self.random.randrange(16)
        if form < 3:
            return make("bool", "(", self._bool(kind, depth - 1), self.pick(" AND ", " OR "), self._bool(kind, depth - 1), ")")
        if form == 3:
            return make("bool", "(NOT ", self._bool(kind, depth - 1), ")")
        if form < 8:
            a, b = self.comparable(depth)
            return make("bool", "(", a, self.pick(" = ", " <> ", " < ", " <= ", " > ", " >= "), b, ")")
        if form == 8:
            a, b = self.comparable(depth)
            return make("bool", "(", a, self.pick(" IS DISTINCT FROM ", " IS NOT DISTINCT FROM "), b, ")")
        if form == 9:
            return make("bool", "(", self._bool(kind, depth - 1), " IS ", self.pick("", "NOT "), self.pick("TRUE", "FALSE", "UNKNOWN"), ")")
        if form == 10:
            a = self.make(self.pick(*VALUE_KINDS), depth - 1)
            return make("bool", "(", a, self.pick(" IS NULL", " IS NOT NULL"), ")")
        if form == 11:
            a, b = self.comparable(depth)
            return make("bool", "(", a, self.pick(" BETWEEN ", " NOT BETWEEN "), b, " AND ", self.make(b.kind, depth - 1), ")")
        if form in (12, 13):
            a = self.make(self.pick("int4", "int8", "num", "text", "date", "f8"), depth - 1)
            parts = []
            for _ in range(self.random.randrange(1, 6)):
                parts += [", ", self.constant(a.kind)]
            return make("bool", "(", a, self.pick(" IN (", " NOT IN ("), *parts[1:], "))")
        if form == 14:
            a = self.make("text", depth - 1)
            pattern = "".join(self.pick("a", "b", "%", "%", "_", "z", "A", "ä", r"\%") for _ in range(self.random.randrange(0, 5)))
            return make("bool", "(", a, self.pick(" LIKE ", " NOT LIKE ", " ILIKE "), f"'{pattern}')")
        return make("bool", "starts_with(", self.make("text", depth - 1), ", ", self.constant("text"), ")")
