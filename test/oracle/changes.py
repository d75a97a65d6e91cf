"""Random UPDATEs, DELETEs and INSERTs of queries on the tables of sample_tables, with random expressions in all places.

A script has up to three of them, in a transaction that is rolled back.
"""

from expressions import Generator
from sample_tables import COLUMNS

TABLES = ["t_empty", "t_one", "t_small", "t_block", "t_tablets"]
COUNTS = [1, 4, 16, 6, 6]
# The kinds of expressions that a column of a kind is given. No numeric becomes a text: its scale is the type's here, the value's there.
GIVEN = {"int2": ["int2", "int4"], "int4": ["int4", "int2", "int8"], "int8": ["int8", "int4", "num"], "num": ["num", "num", "int4", "f8"],
         "f4": ["f4", "f8", "int4"], "f8": ["f8", "f4", "num", "int8"], "text": ["text", "text", "date", "bool"], "date": ["date", "ts"],
         "ts": ["ts", "date"], "bool": ["bool"]}
# Hardly any number fits w38.
TARGETS = [column for column in COLUMNS if column.name not in ("id", "w38")]


class ChangeGenerator:
    def __init__(self, source):
        self.random = source

    def script(self):
        """Each change is of another table, as the bounds of what its columns hold are those of the set-up."""
        statements = ["ROLLBACK", "BEGIN"]
        for table in dict.fromkeys(self.random.sample(TABLES, 3, counts=COUNTS)):
            statements += self.change(table)
        return statements

    def change(self, table):
        """With a query that shows what has changed, if it does not."""
        targets = self.random.sample(TARGETS, self.random.randint(1, 3))
        returned = self.returning(targets)
        change = self.random.choices([self.update, self.delete, self.insert], [6, 1, 3])[0](table, targets) + returned
        return [change] if returned else [change, f"SELECT id, {', '.join(column.name for column in targets)} FROM {table}"]

    def update(self, table, targets):
        assigned = ", ".join(f"{column.name} = {self.given(column)}" for column in targets)
        return f"UPDATE {table} AS t SET {assigned}{self.where()}"

    def delete(self, table, _):
        return f"DELETE FROM {table} AS t{self.where()}"

    def insert(self, table, targets):
        return (f"INSERT INTO {table} AS t ({', '.join(column.name for column in targets)}, id) SELECT {', '.join(map(self.given, targets))}, "
                f"t.id + 100000 FROM {table} AS t{self.where()}")

    def given(self, column):
        return self.expression(self.random.choice(GIVEN[column.kind]))

    def expression(self, kind):
        """One that no numeric of more than 38 digits meets."""
        while True:
            found = Generator(self.random).make(kind, self.random.randrange(3))
            if not found.wide():
                return found.sql()

    def where(self):
        return f" WHERE {self.expression('bool')}" if self.random.random() < 0.6 else ""

    def returning(self, targets):
        if self.random.random() < 0.5:
            return ""
        return f" RETURNING t.id, {', '.join('t.' + column.name for column in targets)}, {self.expression(self.random.choice(list(GIVEN)))}"
