"""Where types meet: the places that give their operands a common type, casts, and conditions over all of them.

Kinds of numbers are ordered as PostgreSQL converts them without being asked; a place whose operands are of several kinds has
the last of them. Texts, varchar and char are one kind here: which of them comes out is for the two systems to agree on.
"""

import math

from literals import INT_LIMIT, NUMBERS, SQL_TYPE, VALUE_KINDS, Literals, make

COMPARISONS = (" = ", " <> ", " < ", " <= ", " > ", " >= ")


def lower_kinds(kind):
    """What converts to the kind by itself, the kind included."""
    if kind in NUMBERS:
        return NUMBERS[:NUMBERS.index(kind) + 1]
    return ("date", "ts") if kind == "ts" else (kind,)


class Conditions(Literals):
    """What the generator of expressions inherits; make, leaf and column are its own."""

    # Operands of one place.

    def mixed(self, kind, depth, count):
        """So many operands whose common type is of the kind: of lesser kinds, untyped and NULL among them."""
        r = self.random
        operands = [self.make(kind, depth)]
        while len(operands) < count:
            form = r.random()
            if form < 0.4:
                operands.append(self.make(kind, depth))
            elif form < 0.75:
                operands.append(self.make(self.pick(*lower_kinds(kind)), depth))
            else:
                operands.append(self.untyped(kind))
        r.shuffle(operands)
        return operands

    @staticmethod
    def facts(operands):
        """What is known of a value that is one of the operands."""
        scales = {e.scale for e in operands if e.parts != ("NULL",)}
        return {"bound": max(e.bound for e in operands), "scale": max(scales, default=0),
                "stable": len(scales) < 2 and all(e.stable for e in operands)}

    def conditional(self, kind, depth):
        form = self.random.randrange(8)
        if form == 7 and kind != "iv":
            return self._nullif(kind, depth)
        operands = self.mixed(kind, depth - 1, self.pick(2, 2, 3, 4))
        if form > 2:
            name = ("coalesce(", "coalesce(", "greatest(", "least(", "least(")[form - 3]
            return make(kind, name, *self.commas(operands), ")", **self.facts(operands))
        key = self.pick("int4", "int8", "text", "num", "date")
        parts = ["CASE "] if form < 2 else ["CASE ", self.make(key, 0)]
        last = len(operands) - (self.random.random() < 0.7)
        for e in operands[:last]:
            if form < 2:
                when = self._bool("bool", depth - 1)
            else:
                when = self.untyped(key) if self.random.random() < 0.3 else self.constant(self.pick(*lower_kinds(key)))
            parts += [" WHEN ", when, " THEN ", e]
        for e in operands[last:]:
            parts += [" ELSE ", e]
        return make(kind, *parts, " END", **self.facts(operands))

    @staticmethod
    def commas(operands):
        parts = []
        for e in operands:
            parts += [", ", e]
        return parts[1:]

    def _nullif(self, kind, depth):
        """Of its left operand's kind, where the comparison does not convert that."""
        a = self.make(kind, depth - 1)
        if kind in INT_LIMIT:
            b = self.make(self.pick(*INT_LIMIT), depth - 1)
        elif kind in ("date", "ts"):
            b = self.make(self.pick("date", "ts"), depth - 1)
        else:
            b = self.make(self.pick(*lower_kinds(kind)), depth - 1)
        if self.random.random() < 0.25:
            b = self.untyped(kind)
        return make(kind, "nullif(", a, ", ", b, ")", bound=a.bound, scale=a.scale, stable=a.stable, finite=a.finite)

    # Casts.

    def cast(self, a, kind):
        """The expression cast to the kind, or None where that might fail."""
        r = self.random
        name, bound, scale, stable = SQL_TYPE[kind], a.bound, 0, True
        if kind in INT_LIMIT:
            if a.kind == "bool" and kind == "int4":
                bound = 1
            elif a.kind not in NUMBERS or not a.finite or a.bound + 1 > INT_LIMIT[kind]:
                return None
            bound = math.ceil(bound)
        elif kind == "num":
            scale = r.randrange(0, 5)
            if a.kind not in NUMBERS or not a.finite or a.bound + 1 >= 10**12:
                return None
            name, bound = f"numeric({12 + scale},{scale})", a.bound + 1
        elif kind in ("f4", "f8"):
            if a.kind not in NUMBERS or (kind == "f4" and a.bound > 1e37) or (a.kind == "f8" and kind == "f4"):
                return None
        elif kind in ("date", "ts"):
            if a.kind not in ("date", "ts"):
                return None
        elif kind == "text":
            if (a.kind == "num" and not a.stable) or (a.kind in ("f4", "f8") and a.bound > 1e30):
                return None
            name = self.pick("text", "text", "varchar", "varchar(5)", "char(4)", "char(9)")
        elif kind == "bool":
            if a.kind != "int4":
                return None
        else:
            return None
        parts = ("CAST(", a, f" AS {name})") if r.random() < 0.3 else ("(", a, f")::{name}")
        return make(kind, *parts, bound=bound, scale=scale, stable=stable)

    def guarded(self, kind, depth):
        """A cast that some row's value does not fit, behind a condition that keeps it from those."""
        a, limit = self.column(self.pick("int4", "int8", "num", "f8")), INT_LIMIT[kind]
        if a is None:
            return None
        b = self.constant(kind)
        guard = self.pick(f" BETWEEN -{limit} AND {limit}", f" < {limit} AND abs({a.sql()}::float8) < {limit // 2}.0")
        last = (" ELSE ", b) if self.random.random() < 0.5 else ()
        return make(kind, "CASE WHEN ", a, guard, " THEN ", a, f"::{SQL_TYPE[kind]}", *last, " END", bound=max(b.bound, limit))

    # Conditions.

    def comparable(self, depth):
        """Two expressions that can be compared."""
        kind = self.pick("int4", "int4", "int8", "num", "f8", "text", "text", "date", "ts", "bool", "int2", "f4", "iv")
        form = self.random.random()
        a = self.make(kind, depth - 1)
        if form < 0.15:
            b = self.untyped(kind)
        elif form < 0.4:
            b = self._cast_to_compare(kind, depth)
        elif kind in NUMBERS and form < 0.7:
            b = self.make(self.pick(*NUMBERS), depth - 1)
        elif kind in ("date", "ts") and form < 0.7:
            b = self.make(self.pick("date", "ts"), depth - 1)
        else:
            b = self.make(kind, depth - 1)
        return (a, b) if self.random.random() < 0.7 else (b, a)

    def _cast_to_compare(self, kind, depth):
        """Something cast to what compares with the kind."""
        targets = NUMBERS if kind in NUMBERS else ("date", "ts") if kind in ("date", "ts") else (kind,)
        for _ in range(5):
            target = self.pick(*targets)
            found = self.cast(self.make(self.pick(*VALUE_KINDS), depth - 1), target)
            if found is not None:
                return found
        return self.make(kind, depth - 1)

    def _compared(self, a, b):
        return make("bool", "(", a, self.pick(*COMPARISONS), b, ")")

    def _bool(self, kind, depth):
        if depth <= 0:
            found = self.column("bool")
            if found is not None and self.random.random() < 0.3:
                return found
            return self._compared(*self.comparable(0))
        form = self.random.randrange(20)
        if form < 3:
            return make("bool", "(", self._bool(kind, depth - 1), self.pick(" AND ", " OR "), self._bool(kind, depth - 1), ")")
        if form == 3:
            return make("bool", "(NOT ", self._bool(kind, depth - 1), ")")
        if form < 8:
            return self._compared(*self.comparable(depth))
        if form == 8:
            a, b = self.comparable(depth)
            return make("bool", "(", a, self.pick(" IS DISTINCT FROM ", " IS NOT DISTINCT FROM "), b, ")")
        if form == 9:
            return make("bool", "(", self._bool(kind, depth - 1), " IS ", self.pick("", "NOT "), self.pick("TRUE", "FALSE", "UNKNOWN"), ")")
        if form == 10:
            a = self.make(self.pick(*VALUE_KINDS), depth - 1)
            return make("bool", "(", a, self.pick(" IS NULL", " IS NOT NULL"), ")")
        if form in (11, 12):
            return self._between(depth)
        if form in (13, 14, 15):
            return self._in(depth)
        if form in (16, 17):
            return self._pattern(depth)
        if form == 18:
            return make("bool", "starts_with(", self.make("text", depth - 1), ", ", self.constant("text"), ")")
        found = self.cast(self.make(self.pick("int4", "text"), depth - 1), "bool")
        return found if found is not None else self.conditional("bool", depth)

    def _between(self, depth):
        a, b = self.comparable(depth)
        c = self.untyped(a.kind) if self.random.random() < 0.25 else self.make(b.kind, depth - 1)
        if self.random.random() < 0.3:
            b, c = c, b
        between = self.pick(" BETWEEN ", " NOT BETWEEN ", " BETWEEN SYMMETRIC ", " NOT BETWEEN SYMMETRIC ")
        return make("bool", "(", a, between, b, " AND ", c, ")")

    def _in(self, depth):
        a = self.make(self.pick("int2", "int4", "int8", "num", "text", "text", "date", "ts", "f8", "bool"), depth - 1)
        parts = []
        for _ in range(self.random.randrange(1, 6)):
            form = self.random.random()
            kinds = NUMBERS if a.kind in NUMBERS else ("date", "ts") if a.kind in ("date", "ts") else (a.kind,)
            if form < 0.3:
                parts.append(self.untyped(a.kind))
            elif form < 0.9:
                parts.append(self.constant(a.kind if form < 0.6 else self.pick(*kinds)))
            else:
                parts.append(self.leaf(self.pick(*kinds)))
        return make("bool", "(", a, self.pick(" IN (", " IN (", " NOT IN ("), *self.commas(parts), "))")

    def _pattern(self, depth):
        a = self.make("text", depth - 1)
        pattern = "".join(self.pick("a", "b", "%", "%", "_", "z", "A", "ä", "É", " ", r"\%") for _ in range(self.random.randrange(0, 5)))
        return make("bool", "(", a, self.pick(" LIKE ", " NOT LIKE ", " ILIKE ", " NOT ILIKE "), f"'{pattern}')")
