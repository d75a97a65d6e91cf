"""Random SQL expressions of a wanted kind, which can't fail: bounds on their values are carried along."""

import math

from conditions import Conditions
from literals import INT_LIMIT, NUMBERS, SQL_TYPE, make
from sample_tables import COLUMNS

FIELDS = ["year", "month", "day", "dow", "doy", "quarter", "week", "isodow", "isoyear", "decade", "century"]
CLOCK_FIELDS = ["hour", "minute", "second", "epoch", "milliseconds"]
UNITS = ["day", "month", "year", "hour", "week", "quarter"]


class Generator(Conditions):
    """random: a seeded random.Random. columns: which columns may be used; none gives constants only."""

    def __init__(self, random, columns=None):
        super().__init__(random)
        self.columns = COLUMNS if columns is None else columns

    # Leaves.

    def column(self, kind, most=math.inf):
        fitting = [c for c in self.columns if c.kind == kind and c.bound <= most]
        if not fitting:
            return None
        c = self.random.choice(fitting)
        return make(c.kind, c.name, bound=c.bound, scale=c.scale, stable=c.stable, finite=c.finite, reads=True)

    def leaf(self, kind, most=math.inf):
        if self.random.random() < 0.8:
            found = self.column(kind, most)
            if found is not None:
                return found
        return self.constant(kind, most=most)

    def make(self, kind, depth):
        """An expression of the kind; depth bounds its nesting."""
        if depth <= 0 or self.random.random() < 0.15:
            return self.leaf(kind)
        if self.random.random() < 0.3:
            return self.conditional(kind, depth)
        made = getattr(self, "_" + {"int2": "int", "int4": "int", "int8": "int", "f4": "float", "f8": "float"}.get(kind, kind))(kind, depth)
        return made if made is not None else self.leaf(kind)

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
            if not (a.finite and b.finite):
                return None
            return make(kind, "(", a, " - ", b, ")", bound=4 * 10**6)
        if form == 9 and kind == "int4":
            a = self.make(self.pick("date", "ts"), depth - 1)
            return make(kind, "extract(", self.pick(*FIELDS), " FROM ", a, ")::integer", bound=10**4) if a.finite else None
        if form == 10:
            return self.guarded(kind, depth)
        return self.cast(self.make(self.pick(*NUMBERS, "bool"), depth - 1), kind)

    def text_number(self, depth):
        a = self.make("text", depth - 1)
        if self.random.random() < 0.6:
            return make("int4", self.pick("length(", "octet_length(", "bit_length(", "ascii("), a, ")", bound=2 * 10**6)
        return make("int4", "position(", self.constant("text", null=False), " IN ", a, ")", bound=10**4)

    def _num(self, kind, depth):
        r = self.random
        form = r.randrange(14)
        a = self.make("num", depth - 1)
        if form < 5:
            b = self.make("num", depth - 1) if r.random() < 0.7 else self.make(self.pick("int4", "int8", "int2"), depth - 1)
            if r.random() < 0.3:
                a, b = b, a
            op = self.pick("+", "-", "*")
            bound = a.bound * b.bound if op == "*" else a.bound + b.bound
            scale = a.scale + b.scale if op == "*" else max(a.scale, b.scale)
            if (scale > 12 or bound * 10**scale >= 1e32) and (op != "*" or r.random() < 0.7):
                return None
            if a.kind != "num" and b.kind != "num":
                return None
            return make(kind, "(", a, f" {op} ", b, ")", bound=bound, scale=scale, stable=a.stable and b.stable and scale <= 38)
        if form == 5:
            b = self.make(self.pick("num", "int4"), depth - 1)
            if a.bound > 1e6 or b.scale > 4:
                return None
            zero = "0" if b.kind == "int4" else "0.0"
            bound = a.bound * 10**b.scale + 1
            quotient = make(kind, a, " / nullif(", b, f", {zero})", bound=bound, scale=max(16, a.scale), stable=False)
            return make(kind, "round(", quotient, ", 4)", bound=bound, scale=4)
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
        if form == 11:
            b = self.make(self.pick("date", "ts"), depth - 1)
            field = self.pick(*FIELDS, *(CLOCK_FIELDS if b.kind == "ts" else []))
            scale = {"second": 6, "epoch": 6, "milliseconds": 3}.get(field, 0)
            return make(kind, f"extract({field} FROM ", b, ")", bound=10**12, scale=scale) if b.finite else None
        if form == 12 and a.bound < 10**6 and a.scale < 20:
            name = self.pick("sqrt(abs(", "ln(1 + abs(")
            return make(kind, f"round({name}", a, ")), 8)", bound=10**6, scale=8)
        b = self.make(self.pick("int4", "int8"), depth - 1)
        return make(kind, "(", b, ")::numeric(22,2)", bound=b.bound, scale=2)

    def _float(self, kind, depth):
        r = self.random
        form = r.randrange(11)
        if form == 9:
            return self.cast(self.make(self.pick(*NUMBERS), depth - 1), kind)
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
        form = r.randrange(16)
        a = self.make("text", depth - 1)
        if form == 0:
            return make(kind, self.pick("upper(", "lower(", "initcap(", "reverse("), a, ")")
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
        if form in (8, 9):
            name = self.pick("varchar(3)", "varchar(8)", "char(3)", "char(8)", "char(1)", "text", "varchar")
            return make(kind, "(", a, f")::{name}")
        if form == 10:
            return make(kind, self.pick("left(", "right(", "repeat("), a, f", {r.randrange(-3, 5)})")
        if form == 11:
            return make(kind, self.pick("lpad(", "rpad("), a, f", {r.randrange(0, 9)}, ", self.pick("'*'", "'ab'", "'é'"), ")")
        if form == 12:
            operands = [a, self.make(self.pick("int4", "text", "date", "bool"), depth - 1), self.make("text", depth - 1)]
            return make(kind, "concat(", *self.commas(operands), ")")
        b = self.make(self.pick("int4", "int8", "date", "ts", "bool", "num", "f8", "iv"), depth - 1)
        if (b.kind == "num" and not b.stable) or (b.kind == "f8" and b.bound > 1e30):
            return None
        return make(kind, "(", b, ")::text") if form < 15 else make(kind, "(", a, " || (", b, ")::text)")

    def _date(self, kind, depth):
        if self.random.random() < 0.3:
            return make(kind, "(", self.make("ts", depth - 1), ")::date")
        a, b = self.make("date", depth - 1), self.leaf("int4", 1000)
        return make(kind, "(", a, self.pick(" + ", " - "), b, ")")

    def _ts(self, kind, depth):
        form = self.random.randrange(5)
        if form == 0:
            return make(kind, "(", self.make("date", depth - 1), ")::timestamp")
        if form == 1:
            return make(kind, f"date_trunc('{self.pick(*UNITS)}', ", self.make("ts", depth - 1), ")")
        a = self.make(self.pick("ts", "date"), depth - 1)
        return make(kind, "(", a, self.pick(" + ", " - "), self.constant("iv"), ")")

    def _iv(self, kind, depth):
        form = self.random.randrange(8)
        if form < 3:
            a, b = self.make("ts", depth - 1), self.make("ts", depth - 1)
            if not (a.finite and b.finite):
                return None
            return make(kind, "age(", a, ", ", b, ")") if form == 0 else make(kind, "(", a, " - ", b, ")")
        if form == 3:
            return make(kind, "(", self.leaf("iv"), self.pick(" + ", " - "), self.constant("iv"), ")")
        if form == 4:
            return make(kind, self.pick("justify_days(", "justify_hours(", "(-"), self.leaf("iv"), ")")
        if form == 5:
            fields = self.pick("day to minute", "second(2)", "day", "hour to second(0)", "year to month", "month")
            text = self.pick("1 day 02:03:04.5678", "-5 mons 25:10:59.99", "1 year 7 days 00:00:00.005")
            return make(kind, f"interval '{text}' {fields}")
        if form == 6:
            return make(kind, "(", self.constant("iv", null=False), " / ", self.pick("2", "3.5", "(-7)", "0.1"), ")")
        return make(kind, "(", self.constant("iv", null=False), " * ", self.leaf("int4", 1000), ")")
