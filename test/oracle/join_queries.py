"""Random SELECTs over inner joins."""

import re

from expressions import Generator
from failing import FAILING_JOINS
from joins import JoinGenerator
from literals import make
from queries import COUNT, Query, QueryGenerator
from relations import Relations


class JoinQueryGenerator(QueryGenerator):
    """tables: a JoinTables."""

    def __init__(self, random, tables):
        super().__init__(random)
        self.joins = JoinGenerator(random, Relations(random, tables, self._aggregate_of))

    def _aggregate_of(self, expressions):
        self.expressions = expressions
        return self._aggregate()

    def next(self):
        r = self.random
        if r.random() < 0.04:
            return Query("", text=r.choice(FAILING_JOINS))
        query = Query("", join=self.joins.make(), aliases=r.random() < 0.3)
        self.expressions = Generator(r, query.join.columns)
        if r.random() < 0.25:
            query.where = self.expressions.make("bool", r.randrange(1, 4))
        if r.random() < 0.3:
            self.expressions = Generator(r, self._columns_of_some(query.join))
        form = r.random()
        if form < 0.25:
            self._plain(query)
        elif form < 0.45:
            self._stars(query)
        elif form < 0.55:
            self._distinct(query)
        elif form < 0.62:
            query.select = [COUNT]
        elif form < 0.7:
            query.select = [self._aggregate() for _ in range(r.randrange(1, 5))]
            if r.random() < 0.2:
                query.having = self._having()
        else:
            self._grouped(query)
            self._order_by_groups(query)
        return query

    def _columns_of_some(self, join):
        """Of some of the relations: of the others it then only counts whether, or how often, they are met."""
        relations = self.random.sample(join.relations, self.random.randrange(1, len(join.relations) + 1))
        return [c for c in join.columns if any(c.name.startswith(f"{relation.alias}.") for relation in relations)] or join.columns

    def _limit(self, query):
        r = self.random
        if r.random() < 0.4:
            return ""
        return f" LIMIT {r.choice([1, 3, 10, 40, 500] if r.random() < 0.95 else [0])}" + (
            f" OFFSET {r.choice([0, 1, 2, 5, 30])}" if r.random() < 0.3 else "")

    def _stars(self, query):
        """Whole rows of all relations or of some."""
        r = self.random
        self._plain(query)
        query.aliases = False
        aliases = [relation.alias for relation in query.join.relations]
        if r.random() < 0.5:
            query.select = [make("row", "*")] + (query.select[:1] if r.random() < 0.2 else [])
        else:
            stars = [make("row", f"{alias}.*") for alias in r.sample(aliases, r.randrange(1, min(3, len(aliases)) + 1))]
            query.select = stars + (query.select[:1] if r.random() < 0.4 else [])
        # Else a name in ORDER BY might be that of two output columns.
        query.order = [(e, direction) for e, direction in query.order if not _is_bare(e)]

    @staticmethod
    def _order_by_groups(query):
        """A name without its table is that of an output column, if there is one: then the order may leave a choice."""
        if any(_is_bare(e) for e, _ in query.order):
            query.order, query.ordered, query.limit = [], False, ""


def _is_bare(expr):
    return re.fullmatch(r"\w+", expr.sql()) is not None
