"""Random SELECTs over one table.

A query is told to be ordered when its ORDER BY leaves no choice; LIMIT is only put on such ones.
"""

from dataclasses import dataclass, field

from expressions import Generator
from failing import CAST_AND_FAIL, FAILING
from inner_queries import InnerQuery, random_inner_query
from joins import Join
from literals import NUMBERS, VALUE_KINDS, Expr, make
from sample_tables import SIZES
from values_lists import ValuesList, random_list

ID = make("int4", "id", bound=5000, reads=True)
COUNT = make("int8", "count(*)", bound=10**6)


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
    values: ValuesList = None  # instead of the table
    inner: InnerQuery = None  # likewise
    join: Join = None  # likewise

    def _nested(self):
        return self.inner or self.join

    def source(self):
        if self._nested():
            return self._nested().source()
        return self.values.source() if self.values else f"{self.table} AS t"

    def wide(self):
        """A numeric in it may have more digits than Diptych's have."""
        found = [*self.select, *self.group, *(e for e, _ in self.order), *(e for e in (self.where, self.having) if e is not None)]
        return any(e.wide() for e in found + list(self._nested().expressions if self._nested() else ()))

    def sql(self):
        if self.text:
            return self.text
        items = [e.sql() + (f" AS a{i}" if self.aliases else "") for i, e in enumerate(self.select)]
        text = self._nested().prefix() if self._nested() else ""
        text += "SELECT " + ("DISTINCT " if self.distinct else "") + ", ".join(items) + f" FROM {self.source()}"
        conditions = [*(self.join.conditions() if self.join else ()), *((self.where,) if self.where is not None else ())]
        if conditions:
            text += " WHERE " + " AND ".join(e.sql() for e in conditions)
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
        self.expressions = Generator(r)
        table, form = r.choices(list(SIZES), weights=[2, 6, 45, 32, 15])[0], r.random()
        if form < 0.04:
            return Query(table, text=r.choice(FAILING).format(t=table))
        if form < 0.08:
            return self._cast_that_may_fail(table)
        if form < 0.1:
            return Query(table, text=random_list(r).sql(), ordered=True)
        query = Query(table, aliases=r.random() < 0.3)
        if form < 0.22:
            query.values = random_list(r)
            self.expressions = Generator(r, query.values.columns)
        elif form < 0.38:
            query.inner = self._inner()
            self.expressions = Generator(r, query.inner.columns)
        if r.random() < (0.4 if query.inner else 0.6):
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

    def _inner(self):
        """One query in FROM or WITH, or two inside each other."""
        def aggregate(expressions):
            self.expressions = expressions
            return self._aggregate()
        inner = random_inner_query(self.random, aggregate)
        return random_inner_query(self.random, aggregate, inner) if self.random.random() < 0.3 else inner

    def _cast_that_may_fail(self, table):
        """Nothing else in the query can fail, and nothing keeps the cast from a row: so the two agree on whether it does."""
        r = self.random
        name, target, kind = r.choice(CAST_AND_FAIL)
        cast = make(kind, name, f"::{target}", reads=True) if r.random() < 0.7 else make(kind, f"CAST({name} AS {target})", reads=True)
        constants = Generator(r, columns=[])
        # Not NULL: PostgreSQL does not evaluate an operand where the other is NULL.
        a, b = constants.constant(kind, null=False), constants.constant(kind, null=False)
        op = r.choice([" = ", " <> ", " < ", " <= ", " > ", " >= ", " IS DISTINCT FROM "])
        condition = r.choice([
            make("bool", "(", cast, op, a, ")"), make("bool", "(", a, op, cast, ")"),
            make("bool", "(", cast, " IN (", a, ", ", b, "))"), make("bool", "(", cast, " BETWEEN ", a, " AND ", b, ")"),
            make("bool", "(", a, " BETWEEN ", cast, " AND ", cast, ")")])
        query = Query(table, select=[ID])
        if r.random() < 0.3:
            query.select.append(condition)
        elif r.random() < 0.2:
            query.select.append(cast)
        else:
            query.where = condition
        return query

    def _direction(self):
        return self.random.choice(["", " ASC", " DESC"]) + self.random.choice(["", "", " NULLS FIRST", " NULLS LAST"])

    def _limit(self, query):
        r = self.random
        if r.random() < {"t_tablets": 0.1, "t_block": 0.2}.get(query.table, 0.4):
            return ""
        return f" LIMIT {r.choice([0, 1, 3, 10, 40])}" + (f" OFFSET {r.choice([0, 1, 5, 30, 1000])}" if r.random() < 0.3 else "")

    @staticmethod
    def _identity(query):
        """Expressions that together differ in all rows.

        Qualified, for id may be the name of an output column: that of CASE ... ELSE id END.
        """
        return query.join.identity() if query.join else [make("int4", "t.id", reads=True)]

    def _plain(self, query):
        r, depth = self.random, self.random.randrange(0, 5)
        query.select = [self.expressions.make(r.choice(VALUE_KINDS + ["iv", "text"]), depth) for _ in range(r.randrange(1, 6))]
        if r.random() < 0.6 or query.table == "t_tablets":
            keys = [self.expressions.make(r.choice(VALUE_KINDS), r.randrange(0, 2)) for _ in range(r.randrange(0, 3))]
            # A bare constant in ORDER BY would be a position or an error.
            query.order = [(k, self._direction()) for k in keys if k.reads]
            query.order += [(e, self._direction()) for e in self._identity(query)]
            query.ordered, query.limit = True, self._limit(query)

    def _distinct(self, query):
        r = self.random
        query.distinct = True
        query.select = [self.expressions.make(r.choice(VALUE_KINDS), r.randrange(0, 2)) for _ in range(r.randrange(1, 3))]
        if r.random() < 0.5:
            query.order = [(make("int4", str(i + 1)), self._direction()) for i in range(len(query.select))]
            query.ordered, query.limit = True, self._limit(query)

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
        if a.kind in ("f4", "f8"):
            kind = "f4" if a.kind == "f4" and name == "sum" else "f8"
        else:
            kind = "int8" if name == "sum" and a.kind in ("int2", "int4") else "num"
        factors = {"sum": 10**4, "variance": 2 * a.bound, "var_pop": a.bound, "stddev": 2}  # bounds of the result
        bound = a.bound * factors.get(name, 1)
        return make(kind, f"{name}({distinct}", a, ")", *tail, bound=bound, scale=a.scale if name == "sum" else max(16, a.scale),
                    stable=False)

    def _summand(self, name):
        """Something whose sum or average keeps within 38 digits, and whose float sums are exact or nearly so."""
        r, e = self.random, self.expressions
        for _ in range(20):
            a = e.make(r.choice(["int2", "int4", "int8", "num", "num", "f8", "f4"]), r.randrange(0, 3))
            if a.kind in ("f4", "f8"):
                return e.column(a.kind, 1000) or e.leaf("int4", 1000)
            if r.random() < 0.1:
                return a
            if name == "sum" and a.bound * 10**a.scale < 1e32:
                return a
            if a.bound < 1e9 and a.scale <= 6:
                return a
        return e.leaf("int4", 1000)

    def _having(self):
        a = COUNT if self.random.random() < 0.5 else self._aggregate()
        if a.kind in ("f4", "f8") or (a.kind == "num" and a.parts[0].split("(")[0] not in ("sum", "min", "max")):
            a = COUNT
        b = self.expressions.constant(a.kind)
        return make("bool", "(", a, self.random.choice([" > ", " < ", " <> ", " IS DISTINCT FROM "]), b, ")")

    def _grouped(self, query):
        r, e = self.random, self.expressions
        for _ in range(r.choice([1, 1, 1, 2, 2, 3])):
            kind = r.choice(["int4", "int4", "text", "text", "bool", "date", "num", "int8", "f8", "ts", "int2", "iv"])
            key = (r.random() < 0.3 and e.column("int4", 9)) or e.make(kind, r.randrange(0, 3))
            if key.reads:
                query.group.append(key)
        if not query.group:
            query.group = self._identity(query) if query.join else [ID]
        aggregates = [self._aggregate() for _ in range(r.randrange(0, 4))]
        keys = [k for k in query.group if r.random() < 0.9]
        query.select = keys + aggregates
        if not query.select:
            query.select = [COUNT]
        if r.random() < 0.2 and query.select[0].kind in ("int4", "int8") and query.select[0].bound < 10**6:
            query.select[0] = make(query.select[0].kind, "(", query.select[0], " + 1)", bound=query.select[0].bound + 1)
        if r.random() < 0.3:
            query.having = self._having()
        if r.random() < 0.6:
            query.order = [(key, self._direction()) for key in query.group]
            r.shuffle(query.order)
            query.ordered, query.limit = True, self._limit(query)
