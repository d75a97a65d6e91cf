"""Tables and views whose columns match one another: keys that are unique, repeated, skewed, missing and NULL, in every type.

A value of a key column stands for a number of a small domain, whatever the type: so keys of different types meet. How often each number
occurs is kept, from which the generator of joins tells how many rows a join has.
"""

import collections
import datetime
from dataclasses import dataclass, replace

from sample_tables import COLUMNS as SAMPLE_COLUMNS
from sample_tables import SIZES, Column
from sample_tables import statements as sample_statements

COLUMNS = [
    Column("id", "int4", "integer", 2000),
    Column("k", "int4", "integer", 2000),
    Column("h", "int2", "smallint", 2000),
    Column("l", "int8", "bigint", 2000),
    Column("n", "num", "numeric(9,2)", 2000, 2),
    Column("x", "num", "numeric(14,4)", 2000, 4),
    Column("d", "f8", "double precision", 2000),
    Column("r", "f4", "real", 2000),
    Column("f", "f8", "double precision", 2000, finite=False),
    Column("s", "text", "text"),
    Column("v", "text", "varchar(9)"),
    Column("c", "text", "char(6)"),
    Column("c9", "text", "char(9)"),
    Column("dt", "date", "date"),
    Column("ts", "ts", "timestamp"),
    Column("b", "bool", "boolean"),
    Column("y", "int4", "integer", 10**6),  # no key
]
FAMILIES = {"int2": "number", "int4": "number", "int8": "number", "num": "number", "f4": "number", "f8": "number", "text": "text",
            "date": "time", "ts": "time", "bool": "bool", "iv": "interval"}


@dataclass(frozen=True)
class Shape:
    rows: int
    domain: int  # keys are below it
    skew: float = 0  # share of the rows that have the key 3
    nulls: float = 0
    unique: bool = False  # each key once
    primary_key: str = ""


SHAPES = {
    "j_empty": Shape(0, 1),
    "j_one": Shape(1, 4, skew=1),
    "j_few": Shape(9, 8, nulls=0.1),
    "j_keys": Shape(40, 40, unique=True, primary_key="k"),
    "j_some": Shape(120, 25, nulls=0.1, primary_key="id"),
    "j_many": Shape(400, 60, skew=0.25, nulls=0.05, primary_key="id"),
    "j_big": Shape(1500, 1000, nulls=0.02),
}


@dataclass(frozen=True)
class Relation:
    """Something to stand in FROM."""
    text: str  # without its alias
    columns: tuple  # Columns
    identity: tuple  # names of the columns that tell its rows apart
    rows: float
    spreads: dict  # of the columns to join on: name -> Counter of the values' numbers
    expressions: tuple = ()  # Exprs in the text
    common: str = ""  # the query, where the text is the name of a query in WITH
    alias: str = ""
    names: bool = False  # columns are named behind the alias

    def source(self):
        if self.alias == self.text and not self.names:
            return self.text
        return f"{self.text} AS {self.alias}" + (f"({', '.join(c.name for c in self.columns)})" if self.names else "")

    def column(self, name):
        return next(c for c in self.columns if c.name == name)

    def qualified(self):
        return [replace(c, name=f"{self.alias}.{c.name}") for c in self.columns]

    def renamed(self, naming):
        """With the columns' names behind the alias; naming: a name's new name."""
        return replace(self, names=True, columns=tuple(replace(c, name=naming(c.name)) for c in self.columns),
                       identity=tuple(map(naming, self.identity)), spreads={naming(name): s for name, s in self.spreads.items()})


def _cell(random, column, key):
    """(SQL of a value, what it is equal to)"""
    r = random
    if column.kind in ("int2", "int4", "int8"):
        return str(key), key
    if column.name == "f" and r.random() < 0.1:
        text = r.choice(["NaN", "NaN", "Infinity", "-Infinity"])
        return f"'{text}'", text
    if column.kind in ("num", "f4", "f8"):
        if key == 0 and column.kind != "num" and r.random() < 0.5:
            return "'-0'", 0
        value = key + (r.choice([0.5, 0.25]) if r.random() < 0.1 else 0)
        # Some are below zero: else the least of many is 0.0 or -0.0, and which is open.
        value = -value if key and column.kind != "num" and r.random() < 0.1 else value
        return str(value), value
    if column.kind == "text":
        text = f"{'é' if key % 5 == 2 else 'w'}{key}" if key else ""
        text = text.upper() if r.random() < 0.1 else text
        return f"'{text}{' ' if r.random() < 0.1 else ''}'", text
    if column.kind == "bool":
        return str(key % 2 == 0).lower(), key % 2
    day = datetime.date(2020, 1, 1) + datetime.timedelta(days=key)
    clock = " 12:30:00" if column.kind == "ts" and r.random() < 0.15 else ""
    return f"'{day}{clock}'", f"{day}{clock}"


def _keys(random, shape):
    """One column's keys; None is NULL."""
    if shape.unique:
        keys = list(range(shape.rows))
        random.shuffle(keys)
        return keys
    return [None if random.random() < shape.nulls else 3 if random.random() < shape.skew else random.randrange(shape.domain)
            for _ in range(shape.rows)]


def _table(random, name, shape):
    """(statements, Relation)"""
    cells, spreads = [], {}
    for column in COLUMNS:
        keys = [i * 7 % 1501 + 1 for i in range(shape.rows)] if column.name == "id" else _keys(random, shape)
        if column.name == "y":
            keys = [random.randrange(-10**6, 10**6) for _ in keys]
        made = [("NULL", None) if key is None else _cell(random, column, key) for key in keys]
        cells.append([text for text, _ in made])
        if column.name != "y":
            spreads[column.name] = collections.Counter(value for _, value in made if value is not None)
    key = f", PRIMARY KEY ({shape.primary_key})" if shape.primary_key else ""
    statements = [f"CREATE TABLE {name}({', '.join(f'{c.name} {c.sql_type}' for c in COLUMNS)}{key})"]
    if shape.rows:
        statements.append(f"INSERT INTO {name} VALUES " + ", ".join("(" + ", ".join(row) + ")" for row in zip(*cells)))
    return statements, Relation(name, tuple(COLUMNS), ("id",), shape.rows, spreads)


def _sample_table(name):
    """A table of sample_tables.py; what occurs how often is only about right."""
    rows = SIZES[name]
    spreads = {"id": {i: 1 for i in range(1, rows + 1)}, "k": {i: rows / 10 for i in range(10)},
               "j": {i: rows / 2000 for i in range(-1000, 1000)}, "z": {7: 0.9 * rows}}
    return Relation(name, tuple(SAMPLE_COLUMNS), ("id",), rows, spreads)


def _views(tables):
    """(statements, Relations)"""
    def view(name, select, columns, identity, rows, spreads, names=""):
        return f"CREATE VIEW {name}{names} AS {select}", Relation(name, tuple(columns), identity, rows, spreads)

    def taken(table, **names):
        found = [replace(tables[table].column(old), name=new) for new, old in names.items()]
        return found, {new: tables[table].spreads[old] for new, old in names.items()}

    plain, plain_spreads = taken("j_many", id="id", k="k", s="s", n="n", dt="dt")
    named, named_spreads = taken("j_some", id="id", kk="k", ss="s")
    joined, joined_spreads = taken("j_some", ida="id", idb="id", k="k", s="s", x="x")
    groups = [Column("id", "int4", "", 2000), Column("l", "int8", "", 10**6), Column("n", "num", "", 10**6, 2), Column("c", "text", "")]
    single = {key: 1 for key in tables["j_many"].spreads["k"]}
    found = [
        view("jv_plain", "SELECT id, k, s, n, dt FROM j_many WHERE k IS NOT NULL", plain, ("id",), 380, plain_spreads),
        view("jv_names", "SELECT id, k + 1, upper(s) FROM j_some", named, ("id",), 120, named_spreads, "(id, kk, ss)"),
        view("jv_groups", "SELECT k AS id, count(*) AS l, sum(n) AS n, max(c) AS c FROM j_many GROUP BY k", groups, ("id",), 61,
             {"id": single, "l": {3: 10, 5: 10, 6: 10}}),
        view("jv_joined", "SELECT a.id AS ida, b.id AS idb, b.k, a.s, b.x FROM j_few AS a JOIN j_some AS b ON a.k = b.k", joined,
             ("ida", "idb"), 40, joined_spreads),
    ]
    return [statement for statement, _ in found], [relation for _, relation in found]


class JoinTables:
    """random: a seeded random.Random, from which the rows come."""

    def __init__(self, random):
        self.statements = sample_statements(random)
        self.tables = {}
        for name, shape in SHAPES.items():
            statements, self.tables[name] = _table(random, name, shape)
            self.statements += statements
        for name in ("t_empty", "t_one", "t_small", "t_block"):
            self.tables[name] = _sample_table(name)
        views, self.views = _views(self.tables)
        self.statements += views
