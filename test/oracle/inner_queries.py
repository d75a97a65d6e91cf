"""Queries in FROM and in WITH, as a table whose columns are what they select."""

from dataclasses import dataclass

from expressions import Generator
from literals import VALUE_KINDS, make
from sample_tables import SIZES, Column


@dataclass(frozen=True)
class InnerQuery:
    text: str
    columns: tuple  # Columns, of which the first is id and differs in all rows
    expressions: tuple  # Exprs in it
    is_common: bool  # of a WITH clause

    def prefix(self):
        return f"WITH t AS ({self.text}) " if self.is_common else ""

    def source(self):
        return "t" if self.is_common else f"({self.text}) AS t"


def _row_count(random, key):
    """Only where the order leaves no choice."""
    if random.random() < 0.5:
        return ""
    limit = f" LIMIT {random.choice([1, 7, 100, 900, 900])}" if random.random() < 0.8 else ""
    offset = f" OFFSET {random.choice([0, 3, 40])}" if random.random() < 0.2 else ""
    return f" ORDER BY {key}{random.choice(['', ' DESC'])}{limit}{offset}"


def random_inner_query(random, aggregate, inner=None):
    """aggregate: makes an aggregate call from a Generator; inner: an InnerQuery to read instead of a table."""
    expressions = Generator(random, inner.columns) if inner else Generator(random)
    source = inner.source() if inner else f"{random.choices(list(SIZES), weights=[2, 6, 45, 32, 15])[0]} AS t"
    condition = expressions.make("bool", random.randrange(1, 3)) if random.random() < 0.25 else None
    where = f" WHERE {condition.sql()}" if condition else ""
    count = random.randrange(1, 5)
    if random.random() < 0.6:
        bound = next((c.bound for c in inner.columns if c.name == "id"), 0) if inner else 5000
        key = make("int4", "t.id", bound=bound, reads=True)
        parts = [expressions.make(random.choice(VALUE_KINDS + ["iv", "text"]), random.randrange(0, 3)) for _ in range(count)]
        text = f"{where}{_row_count(random, 't.id')}"
    else:
        key = make("int4", f"t.id % {random.choice([1, 2, 7, 300])}", bound=300, reads=True)
        parts = [aggregate(expressions) for _ in range(count)]
        having = " HAVING count(*) > 1" if random.random() < 0.2 else ""
        text = f"{where} GROUP BY {key.sql()}{having}{_row_count(random, '1')}"
    selected = ", ".join(f"{e.sql()} AS {name}" for name, e in [("id", key), *((f"v{i}", e) for i, e in enumerate(parts))])
    columns = [Column("id", "int4", "", bound=key.bound)]
    for i, e in enumerate(parts):
        columns.append(Column(f"v{i}", e.kind, "", bound=e.bound, scale=e.scale, stable=e.stable, finite=e.finite))
    prefix = inner.prefix() if inner else ""
    met = (*parts, *((condition,) if condition else ()), *(inner.expressions if inner else ()))
    return InnerQuery(f"{prefix}SELECT {selected} FROM {source}{text}", tuple(columns), met, random.random() < 0.3)
