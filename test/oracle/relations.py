"""What a join joins: tables, views, queries in FROM and in WITH, VALUES, generate_series."""

import collections
from dataclasses import replace

from expressions import Generator
from join_tables import Relation
from literals import VALUE_KINDS, quoted
from sample_tables import Column

TABLE_WEIGHTS = {"j_empty": 2, "j_one": 6, "j_few": 18, "j_keys": 20, "j_some": 24, "j_many": 20, "j_big": 10, "t_empty": 1, "t_one": 1,
                 "t_small": 6, "t_block": 4}
SMALL = ("j_one", "j_few", "j_few")


class Relations:
    """aggregate: makes an aggregate call from a Generator."""

    def __init__(self, random, tables, aggregate):
        self.random, self.tables, self.aggregate = random, tables, aggregate
        self.commons = 0

    def make(self, alias):
        r, form = self.random, self.random.random()
        if form < 0.48:
            relation = self._table()
        elif form < 0.58:
            relation = r.choice(self.tables.views)
        elif form < 0.67:
            relation = self._values()
        elif form < 0.72:
            relation = self._series(alias)
        elif form < 0.76:
            relation = self._join()
        else:
            relation = self._query(self._table() if r.random() < 0.85 else r.choice(self.tables.views))
            if r.random() < 0.3:
                self.commons += 1
                relation = replace(relation, text=f"w{self.commons}", common=relation.text[1:-1])
        return replace(relation, alias=alias)

    def small(self, alias):
        """For a product."""
        return replace(self.tables.tables[self.random.choice(SMALL)] if self.random.random() < 0.7 else self._values(), alias=alias)

    def _table(self):
        return self.tables.tables[self.random.choices(list(TABLE_WEIGHTS), weights=list(TABLE_WEIGHTS.values()))[0]]

    def _series(self, alias):
        r = self.random
        first, last, step = r.choice([(1, 10, 1), (0, 30, 1), (3, 3, 1), (-5, 60, 5), (40, 1, -1), (5, 1, 1)])
        kind, cast = r.choice([("int4", ""), ("int4", ""), ("int8", "::bigint")])
        text = f"generate_series({first}{cast}, {last}{cast}" + (f", {step}{cast})" if step != 1 else ")")
        values = range(first, last + (1 if step > 0 else -1), step)
        # Its only column has the alias for a name, if that is all there is.
        name = r.choice(["k", "id", alias.strip('"')])
        name = name if name.isidentifier() else "k"
        return Relation(text, (Column(name, kind, "", bound=60),), (name,), len(values), {name: collections.Counter(values)},
                        names=name != alias)

    def _values(self):
        r = self.random
        constants, count = Generator(r, columns=[]), r.choice([1, 2, 3, 5, 8])
        keys = [r.choice([0, 1, 2, 3, 3, 4, 5, 7, None]) for _ in range(count)]
        texts = [r.choice([0, 1, 3, 3, 4, 5, None]) for _ in range(count)]
        kind, form = r.choice([("int4", "{}"), ("int8", "{}::bigint"), ("num", "{}.0"), ("num", "{}.00"), ("f8", "{}::float8"),
                               ("int2", "{}::smallint")])
        keys[0] = 3 if keys[0] is None else keys[0]  # which gives the column its type
        columns = [Column("id", "int4", "", bound=count), Column("k", kind, "", bound=9, scale=2 if form.endswith("00") else 1),
                   Column("s", "text", "")]
        cells = [[str(i + 1) for i in range(count)], ["NULL" if key is None else form.format(key) for key in keys],
                 ["NULL" if key is None else quoted(f"w{key}" if key else "") for key in texts]]
        expressions = ()
        if r.random() < 0.4:
            kind = r.choice(VALUE_KINDS)
            other = constants.mixed(kind, 0, count)
            columns.append(Column("v0", kind, "", finite=all(e.finite for e in other), **constants.facts(other)))
            cells.append([e.sql() for e in other])
            expressions = tuple(other)
        text = "(VALUES " + ", ".join("(" + ", ".join(row) + ")" for row in zip(*cells)) + ")"
        spreads = {"id": collections.Counter(range(1, count + 1)), "k": collections.Counter(k for k in keys if k is not None),
                   "s": collections.Counter(f"w{k}" if k else "" for k in texts if k is not None)}
        return Relation(text, tuple(columns), ("id",), count, spreads, expressions, names=True)

    def _join(self):
        """A join in brackets, as a query or with an alias."""
        r = self.random
        left, right = (self.tables.tables[name] for name in (r.choice(["j_few", "j_one", "j_keys"]), r.choice(["j_few", "j_some", "j_keys"])))
        key = r.choice(["k", "h", "n", "d", "v", "c", "dt"])
        mine = [replace(c, name=f"{c.name}_p") for c in left.columns if c.name in ("id", "s", "y", "l", "ts")]
        others = [c for c in right.columns if c.name in ("id", "f", "c9", key)]
        columns, names = tuple(mine + others), [f"p.{c.name[:-2]} AS {c.name}" for c in mine] + [f"q.{c.name}" for c in others]
        joined = f"{left.text} AS p JOIN {right.text} AS q " + r.choice([f"ON p.{key} = q.{key}", f"USING ({key})"])
        rows = sum(count * right.spreads[key].get(value, 0) for value, count in left.spreads[key].items())
        spreads = {f"{name}_p": left.spreads[name] for name in ("id", "s", "l", "ts")}
        spreads.update((c.name, right.spreads[c.name]) for c in others)
        spreads = {name: {value: n * rows / max(1, sum(spread.values())) for value, n in spread.items()} for name, spread in spreads.items()}
        if r.random() < 0.5:
            return Relation(f"(SELECT {', '.join(names)} FROM {joined})", columns, ("id_p", "id"), rows, spreads)
        columns = tuple([*(replace(c, name=f"{c.name}_p") for c in left.columns), *right.columns])
        return Relation(f"({left.text} AS p JOIN {right.text} AS q ON p.{key} = q.{key})", columns, ("id_p", "id"), rows, spreads, names=True)

    # Queries.

    def _query(self, base):
        r = self.random
        generator = Generator(r, base.columns)
        condition = generator.make("bool", r.randrange(1, 3)) if r.random() < 0.15 else None
        where = f" WHERE {condition.sql()}" if condition else ""
        form = r.random()
        if form < 0.5:
            return self._plain(base, generator, where, condition)
        if form < 0.8:
            return self._grouped(base, generator, where, condition)
        return self._distinct(base, where, condition)

    def _plain(self, base, generator, where, condition):
        r = self.random
        kept = [c for c in base.columns if c.name in base.identity or (c.name in base.spreads and r.random() < 0.4)]
        if len(kept) == len(base.identity) and base.spreads.get("k"):
            kept.append(base.column("k"))
        made = [generator.make(r.choice(VALUE_KINDS), r.randrange(0, 3)) for _ in range(r.randrange(0, 3))]
        columns = kept + [Column(f"v{i}", e.kind, "", bound=e.bound, scale=e.scale, stable=e.stable, finite=e.finite)
                          for i, e in enumerate(made)]
        selected = ", ".join([c.name for c in kept] + [f"{e.sql()} AS v{i}" for i, e in enumerate(made)])
        limit, rows = "", base.rows
        if r.random() < 0.2:
            rows = r.choice([5, 30, 100])
            limit = f" ORDER BY {', '.join(base.identity)} LIMIT {rows}"
        columns = tuple(columns)
        spreads = {c.name: base.spreads[c.name] for c in kept if c.name in base.spreads}
        return self._made(f"SELECT {selected} FROM {base.text}{where}{limit}", columns, base.identity, min(rows, base.rows), spreads,
                          (*made, *((condition,) if condition else ())), base.rows)

    def _grouped(self, base, generator, where, condition):
        r = self.random
        key = base.column(r.choice(self._to_group(base)))
        calls = [self.aggregate(generator) for _ in range(r.randrange(1, 4))]
        columns = [replace(key, name="id"), *(Column(f"v{i}", e.kind, "", bound=e.bound, scale=e.scale, stable=e.stable, finite=e.finite)
                                             for i, e in enumerate(calls))]
        selected = ", ".join([f"{key.name} AS id"] + [f"{e.sql()} AS v{i}" for i, e in enumerate(calls)])
        having = " HAVING count(*) > 1" if r.random() < 0.15 else ""
        single = {value: 1 for value in base.spreads[key.name]}
        return self._made(f"SELECT {selected} FROM {base.text}{where} GROUP BY {key.name}{having}", tuple(columns), ("id",),
                          min(base.rows, len(single) + 1), {"id": single}, (*calls, *((condition,) if condition else ())), len(single) + 1)

    @staticmethod
    def _to_group(base):
        """Not floats: which of 0.0 and -0.0 a group shows is open."""
        return [name for name in base.spreads if base.column(name).kind not in ("f4", "f8")]

    def _distinct(self, base, where, condition):
        r = self.random
        names = self._to_group(base)
        names = r.sample(names, min(len(names), r.choice([1, 1, 2])))
        columns = tuple(base.column(name) for name in names)
        rows, spreads = 1, {}
        for name in names:
            rows *= len(base.spreads[name]) + 1
        rows = min(rows, base.rows)
        for name in names:
            spreads[name] = base.spreads[name] if len(names) > 1 else {value: 1 for value in base.spreads[name]}
        return self._made(f"SELECT DISTINCT {', '.join(names)} FROM {base.text}{where}", columns, tuple(names), rows, spreads,
                          (condition,) if condition else (), base.rows)

    @staticmethod
    def _made(text, columns, identity, rows, spreads, expressions, whole):
        """whole: how many rows the spreads are of."""
        share = min(1, rows / whole) if whole else 1
        if share < 1:
            spreads = {name: {value: count * share for value, count in spread.items()} for name, spread in spreads.items()}
        return Relation(f"({text})", columns, identity, rows, spreads, expressions)
