"""Random SELECTs over one table, and how to make a failing one smaller.

A query is told to be ordered when its ORDER BY leaves no choice; LIMIT is only put on such ones.
"""

import copy
from dataclasses import dataclass, field

from expressions import VALUE_KINDS, Expr, Generator, make
from sample_tables import COLUMNS, SIZES

COLUMN_NAMES = {column.name for column in COLUMNS}

# Queries that fail on tables with rows, and then in the same way.
FAILING = [
    "SELECT 10 / k FROM {t}", "SELECT 10 % (k - k) FROM {t}", "SELECT 1.5 / (k - k) FROM {t}", "SELECT d / 0 FROM {t}",
    "SELECT i + 2147483647 + abs(j) FROM {t} WHERE i > 0 AND j <> 0", "SELECT l * 3 FROM {t} WHERE l > 9223372036854775800",
    "SELECT sum(s)::smallint + 32767::smallint FROM {t} WHERE s > 32000", "SELECT h::smallint FROM {t} WHERE abs(h) > 100000",
    "SELECT l::integer FROM {t} WHERE l > 3000000000", "SELECT m::numeric(6,2) FROM {t} WHERE abs(m) > 100000",
    "SELECT m::integer FROM {t} WHERE m > 99999999999", "SELECT sqrt(-abs(d) - 1) FROM {t}", "SELECT ln(k - 100) FROM {t}",
    "SELECT exp(abs(d) * 0 + 1000) FROM {t}", "SELECT power(0::float8, -k - 1) FROM {t}", "SELECT (tx || 'x')::integer FROM {t}",
    "SELECT (vc || 'z')::date FROM {t}", "SELECT tx::boolean FROM {t} WHERE tx = 'zebra'", "SELECT substring(tx, 1, -k - 1) FROM {t}",
    "SELECT -i FROM {t} WHERE i = -2147483648", "SELECT abs(l) FROM {t} WHERE l = -9223372036854775808",
    "SELECT i / -1 FROM {t} WHERE i = -2147483648", "SELECT max(j) / (min(k) - min(k)) FROM {t}",
    "SELECT count(*) FROM {t} GROUP BY 10 / (k - k)", "SELECT id FROM {t} ORDER BY 1 / (k - k)", "SELECT id FROM {t} WHERE 1 / (k - k) > 0",
    "SELECT tx + 1 FROM {t}", "SELECT b + 1 FROM {t}", "SELECT nosuch FROM {t}", "SELECT k, count(*) FROM {t}", "SELECT sum(tx) FROM {t}",
    "SELECT k FROM {t} WHERE sum(k) > 1", "SELECT k FROM {t} WHERE tx", "SELECT dt * 2 FROM {t}", "SELECT k LIKE 'x' FROM {t}",
    "SELECT length(k) FROM {t}", "SELECT sum(sum(k)) FROM {t}", "SELECT k FROM {t} ORDER BY 7", "SELECT DISTINCT k FROM {t} ORDER BY j",
    "SELECT k FROM {t} GROUP BY k HAVING j > 1", "SELECT * FROM nosuch", "SELECT nosuch(k) FROM {t}", "SELECT k::nosuch FROM {t}",
    "SELECT CASE WHEN k > 1 THEN 1 ELSE 'x' END FROM {t}", "SELECT coalesce(k, tx) FROM {t}", "SELECT dt = k FROM {t}",
    "SELECT k FROM {t} LIMIT -1", "SELECT k IN (1, 'x') FROM {t}",
]


@dataclass
class Query:
    table: str
    select: list = field(default_factory=list)  # Exprs
    distinct: bool = False
    where: Expr = None
    group: list = field(default_factory=list)
    having: Expr = None
    order: list = field(default_factory=list)  # (Expr, " DESC NULLS LAST")
    limit: str = ""
    ordered: bool = False
    text: str = ""  # instead of all of the above
    aliases: bool = False

    def sql(self):
        if self.text:
            return self.text
        items = [e.sql() + (f" AS c{i}" if self.aliases else "") for i, e in enumerate(self.select)]
        text = "SELECT " + ("DISTINCT " if self.distinct else "") + ", ".join(items) + f" FROM {self.table} AS t"
        if self.where is not None:
            text += " WHERE " + self.where.sql()
        if self.group:
            text += " GROUP BY " + ", ".join(e.sql() for e in self.group)
        if self.having is not None:
            text += " HAVING " + self.having.sql()
        if self.order:
            text += " ORDER BY " + ", ".join(e.sql() + direction for e, direction in self.order)
        return text + self.limit


class QueryGenerator:
    def __init__(self, random):
        self.random = random
        self.expressions = Generator(random)

    def next(self):
        r = self.random
        table = r.choices(list(SIZES), weights=[4, 6, 45, 30, 15])[0]
        if r.random() < 0.04:
            return Query(table, text=r.choice(FAILING).format(t=table))
        query = Query(table, aliases=r.random() < 0.3)
        if r.random() < 0.65:
            query.where = self.expressions.make("bool", r.randrange(1, 4))
        form = r.random()
        if form < 0.5:
            self._plain(query)
        elif form < 0.6:
            self._distinct(query)
        elif form < 0.7:
            query.select = [self._aggregate() for _ in range(r.randrange(1, 5))]
            if r.random() < 0.2:
                query.having = self._having()
        else:
            self._grouped(query)
        return query

    def _direction(self):
        return self.random.choice(["", " ASC", " DESC"]) + self.random.choice(["", "", " NULLS FIRST", " NULLS LAST"])

    def _limit(self):
        r = self.random
        if r.random() < 0.5:
            return ""
        return f" LIMIT {r.choice([0, 1, 3, 10, 40])}" + (f" OFFSET {r.choice([0, 1, 5, 30, 1000])}" if r.random() < 0.3 else "")

    def _plain(self, query):
        r, depth = self.random, self.random.randrange(0, 5)
        query.select = [self.expressions.make(r.choice(VALUE_KINDS + ["iv"]), depth) for _ in range(r.randrange(1, 6))]
        if r.random() < 0.05:
            query.select.append(make("text", "ch"))
        if r.random() < 0.6 or query.table == "t_tablets":
            keys = [self.expressions.make(r.choice(VALUE_KINDS), r.randrange(0, 2)) for _ in range(r.randrange(0, 3))]
            # A bare constant in ORDER BY would be a position or an error.
            query.order = [(k, self._direction()) for k in keys if not _is_constant(k)]
            # Qualified, for id may be the name of an output column: that of CASE ... ELSE id END.
            query.order.append((make("int4", "t.id"), self._direction()))
            query.ordered, query.limit = True, self._limit()

    def _distinct(self, query):
        r = self.random
        query.distinct = True
        query.select = [self.expressions.make(r.choice(VALUE_KINDS), r.randrange(0, 2)) for _ in range(r.randrange(1, 3))]
        if r.random() < 0.5:
            query.order = [(make("int4", str(i + 1)), self._direction()) for i in range(len(query.select))]
            query.ordered, query.limit = True, self._limit()

    def _aggregate(self):
        r, e = self.random, self.expressions
        name = r.choice(["count(*)", "count", "sum", "min", "max", "avg", "sum", "min", "max", "bool_and", "bool_or", "stddev", "variance",
                         "var_pop", "stddev_pop"])
        only = r.random() < 0.2
        tail = (" FILTER (WHERE ", e.make("bool", 1), ")") if only else ()
        if name == "count(*)":
            return make("int8", name, *tail, bound=10**6)
        distinct = "DISTINCT " if r.random() < 0.2 and name in ("count", "sum", "min", "max", "avg") else ""
        if name.startswith("bool"):
            return make("bool", f"{name}(", e.make("bool", 1), ")", *tail)
        if name == "count":
            return make("int8", f"count({distinct}", e.make(r.choice(VALUE_KINDS), 1), ")", *tail, bound=10**6)
        if name in ("min", "max"):
            a = e.make(r.choice([k for k in VALUE_KINDS if k != "bool"]), r.randrange(0, 2))
            return make(a.kind, f"{name}({distinct}", a, ")", *tail, bound=a.bound, scale=a.scale, stable=a.stable)
        a = self._summand(name)
        kind = "f8" if a.kind in ("f4", "f8") else "int8" if name == "sum" and a.kind in ("int2", "int4") else "num"
        if name == "sum" and a.kind == "f4":
            kind = "f4"
        return make(kind, f"{name}({distinct}", a, ")", *tail, bound=a.bound * 10**4, scale=a.scale, stable=False)

    def _summand(self, name):
        """Something whose sum or average keeps within 38 digits, and whose float sums are exact or nearly so."""
        r, e = self.random, self.expressions
        for _ in range(20):
            a = e.make(r.choice(["int2", "int4", "int8", "num", "num", "f8", "f4"]), r.randrange(0, 3))
            if a.kind in ("f4", "f8"):
                a = e.column(a.kind, 1000)
                return a
            if name == "sum" and a.bound * 10**a.scale < 1e32:
                return a
            if a.bound < 1e9 and a.scale <= 6:
                return a
        return make("int4", "j", bound=1000)

    def _having(self):
        a = make("int8", "count(*)") if self.random.random() < 0.5 else self._aggregate()
        if a.kind in ("f4", "f8") or (a.kind == "num" and a.parts[0].split("(")[0] not in ("sum", "min", "max")):
            a = make("int8", "count(*)")
        b = self.expressions.constant(a.kind)
        return make("bool", "(", a, self.random.choice([" > ", " < ", " <> ", " IS DISTINCT FROM "]), b, ")")

    def _grouped(self, query):
        r, e = self.random, self.expressions
        for _ in range(r.choice([1, 1, 1, 2, 2, 3])):
            kind = r.choice(["int4", "int4", "text", "bool", "date", "num", "int8", "f8", "ts", "int2"])
            key = make("int4", "k", bound=9) if r.random() < 0.3 else e.make(kind, r.randrange(0, 3))
            if not _is_constant(key):
                query.group.append(key)
        if not query.group:
            query.group = [make("int4", "k", bound=9)]
        aggregates = [self._aggregate() for _ in range(r.randrange(0, 4))]
        keys = [k for k in query.group if r.random() < 0.9]
        query.select = keys + aggregates
        if not query.select:
            query.select = [make("int8", "count(*)", bound=10**6)]
        if r.random() < 0.2 and query.select[0].kind in ("int4", "int8") and query.select[0].bound < 10**6:
            query.select[0] = make(query.select[0].kind, "(", query.select[0], " + 1)", bound=query.select[0].bound + 1)
        if r.random() < 0.3:
            query.having = self._having()
        if r.random() < 0.6:
            query.order = [(key, self._direction()) for key in query.group]
            r.shuffle(query.order)
            query.ordered, query.limit = True, self._limit()


def _is_constant(expr):
    """No column occurs in it (GROUP BY a constant would be a position or an error)."""
    return all(_is_constant(part) if isinstance(part, Expr) else part not in COLUMN_NAMES for part in expr.parts)


def _smaller_expressions(expr):
    """The expression with one part replaced by a part of that part of the same kind."""
    for inner in _descendants(expr):
        if inner.kind == expr.kind:
            yield inner
    for i, part in enumerate(expr.parts):
        if isinstance(part, Expr):
            for smaller in _smaller_expressions(part):
                yield Expr(expr.kind, expr.parts[:i] + (smaller,) + expr.parts[i + 1:], expr.bound, expr.scale, expr.stable)


def _descendants(expr):
    for part in expr.parts:
        if isinstance(part, Expr):
            yield part
            yield from _descendants(part)


def smaller(query):
    """Queries with something left out, the largest cuts first."""
    def changed(**fields):
        result = copy.copy(query)
        for name, value in fields.items():
            setattr(result, name, value)
        return result

    if query.text:
        return
    if query.table != "t_one":
        yield changed(table="t_one")
    if query.table in ("t_block", "t_tablets"):
        yield changed(table="t_small")
    if query.where is not None:
        yield changed(where=None)
    if query.having is not None:
        yield changed(having=None)
    if query.limit:
        yield changed(limit="")
    if query.order and not query.limit:
        yield changed(order=[], ordered=False)
    if query.distinct:
        yield changed(distinct=False, order=[], ordered=False, limit="")
    if query.aliases:
        yield changed(aliases=False)
    if len(query.select) > 1 and not query.distinct:
        for i in range(len(query.select)):
            yield changed(select=query.select[:i] + query.select[i + 1:])
    for i in range(len(query.order) - 1):
        yield changed(order=query.order[:i] + query.order[i + 1:])
    if query.where is not None:
        for e in _smaller_expressions(query.where):
            yield changed(where=e)
    if query.having is not None:
        for e in _smaller_expressions(query.having):
            yield changed(having=e)
    for i, item in enumerate(query.select):
        if not query.group:
            for e in _smaller_expressions(item):
                yield changed(select=query.select[:i] + [e] + query.select[i + 1:])
