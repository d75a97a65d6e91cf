"""(VALUES ...) as a table whose columns take their types from rows of several types, and VALUES as a statement."""

from dataclasses import dataclass

from expressions import Generator
from literals import VALUE_KINDS, make
from sample_tables import Column


@dataclass(frozen=True)
class ValuesList:
    rows: tuple  # of tuples of Exprs
    columns: tuple  # Columns, of which the first is id and numbers the rows

    def sql(self):
        return "VALUES " + ", ".join("(" + ", ".join(e.sql() for e in row) + ")" for row in self.rows)

    def source(self):
        return f"({self.sql()}) AS t({', '.join(c.name for c in self.columns)})"


def _column(constants, name, kind, count):
    """A Column and its cells, which together make it of the kind."""
    if kind == "untyped":
        kind, cells = "text", [constants.untyped("text") for _ in range(count)]
    else:
        cells = constants.mixed(kind, constants.random.randrange(0, 2), count)
    facts = constants.facts(cells)
    return Column(name, kind, "", finite=all(e.finite for e in cells), **facts), cells


def random_list(random):
    constants = Generator(random, columns=[])
    count = random.choice([1, 2, 3, 5, 12, 40])
    numbers = [make("int4", str(i + 1), bound=i + 1) for i in range(count)]
    columns, cells = [Column("id", "int4", "", bound=count)], [numbers]
    for i in range(random.randrange(1, 5)):
        column, values = _column(constants, f"v{i}", random.choice(VALUE_KINDS + ["iv", "text", "num", "untyped"]), count)
        columns.append(column)
        cells.append(values)
    return ValuesList(tuple(zip(*cells)), tuple(columns))
