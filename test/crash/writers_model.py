"""What the connections of writers_kill_loop.py change, and a model of what their tables then hold.

Transaction n of a connection makes the same changes each time: they come from the seed, the connection and n alone, and
not from what is in the tables. So the parent knows what a file must hold once it knows how many transactions of each
connection are in it.

    log_0     number           the transactions that were committed, 1, 2, 3, ...
    small_0   id  v  s         a few rows, changed one by one
    bulk_0    id  v  s         many rows in small tablets
    made_0    id  v  s         made and dropped; perhaps not there
    shared    owner  id  v  s  all connections; each changes its own rows
    totals    id  n            one row: how many transactions were committed by all

A model has the tables of one connection: name -> id -> (v, s), and those of the shared table that it owns.
"""

import random

CONNECTIONS = 4
SMALL_TABLETS = "SET tablet_rows = 64"
TABLETS = "SET tablet_rows TO DEFAULT"
COLUMNS = "(id integer, v bigint, s text)"


def set_up():
    """Statements that make what is not there yet."""
    statements = ["CREATE TABLE IF NOT EXISTS totals AS SELECT 0 AS id, 0::bigint AS n"]
    for one in range(CONNECTIONS):
        statements += [f"CREATE TABLE IF NOT EXISTS log_{one} (number bigint)",
                       f"CREATE TABLE IF NOT EXISTS small_{one} (id integer PRIMARY KEY, v bigint, s text)"]
    statements.append(SMALL_TABLETS)
    statements += [f"CREATE TABLE IF NOT EXISTS bulk_{one} {COLUMNS}" for one in range(CONNECTIONS)]
    statements.append("CREATE TABLE IF NOT EXISTS shared (owner integer, id integer, v bigint, s text)")
    return statements + [TABLETS]


class Model:
    """The tables of a connection."""

    def __init__(self, seed, connection):
        self.seed, self.connection, self.number = seed, connection, 0
        self.tables = {"small": {}, "bulk": {}, "shared": {}}

    def advance(self, number):
        """Until it has had transaction `number`."""
        while self.number < number:
            self.number += 1
            for change in Changes(self.seed, self.connection, self.number).kept:
                change.apply(self.tables)


class Change:
    """A statement, and what it does to the tables of a model."""

    def __init__(self, sql, apply):
        self.sql, self.apply = sql, apply


class Changes:
    """Those of one transaction. `undone` ones are made behind a savepoint and rolled back."""

    def __init__(self, seed, connection, number):
        self.random = random.Random(f"{seed} {connection} {number}")
        self.connection, self.number, self.next_id = connection, number, number * 100_000
        self.kept = [self.one() for _ in range(self.random.choice([1, 1, 2, 3]))]
        self.undone = [self.one() for _ in range(self.random.choice([0, 0, 0, 1, 2]))]
        self.isolation = self.random.choice(["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ"])
        self.is_tried_before = self.random.random() < 0.1  # and rolled back
        self.checkpoint = self.random.random() < 0.04  # behind it

    def one(self):
        pick = self.random.random()
        name = self.random.choice(["small", "bulk", "shared"])
        if pick < 0.30:
            return self.insert(name)
        if pick < 0.45:
            return self.insert_many(self.random.choice(["bulk", "bulk", "shared"]))
        if pick < 0.60:
            return self.update(name)
        if pick < 0.75:
            return self.delete(name)
        if pick < 0.80:
            return self.delete_below(name)
        if pick < 0.90:
            return self.truncate(self.random.choice(["small", "bulk", "bulk"]))
        return self.make() if pick < 0.96 else self.drop()

    def sql_name(self, name):
        return "shared" if name == "shared" else f"{name}_{self.connection}"

    def owner(self, name):
        """The condition and the column that rows of the shared table need."""
        return (f"owner = {self.connection} AND ", f"{self.connection}, ") if name == "shared" else ("", "")

    def new_ids(self, count):
        first = self.next_id
        self.next_id += count
        return range(first, first + count)

    def insert(self, name):
        rows = {id_: (id_ * 3 - self.number, f"s{id_ % 17}") for id_ in self.new_ids(self.random.randint(1, 5))}
        values = ", ".join(f"({self.owner(name)[1]}{id_}, {v}, '{s}')" for id_, (v, s) in rows.items())
        return Change(f"INSERT INTO {self.sql_name(name)} VALUES {values}", lambda tables: tables[name].update(rows))

    def insert_many(self, name):
        """Those of 30,000 are too large for the log: such a commit writes pages."""
        ids = self.new_ids(self.random.choice([63, 64, 65, 100, 500, 500, 2000, 2000, 30000 if name == "bulk" else 1000]))
        sql = (f"INSERT INTO {self.sql_name(name)} SELECT {self.owner(name)[1]}g, g * 3 - {self.number}, "
               f"'a longer text ' || g % 17 FROM generate_series({ids[0]}, {ids[-1]}) AS t(g)")
        return Change(sql, lambda tables: tables[name].update(
            {id_: (id_ * 3 - self.number, f"a longer text {id_ % 17}") for id_ in ids}))

    def update(self, name):
        divisor = self.random.choice([2, 2, 3, 50])
        rest, number = self.random.randrange(divisor), self.number

        def apply(tables):
            tables[name].update({id_: (v + number, s) for id_, (v, s) in tables[name].items() if id_ % divisor == rest})
        return Change(f"UPDATE {self.sql_name(name)} SET v = v + {number} WHERE {self.owner(name)[0]}id % {divisor} = {rest}", apply)

    def delete(self, name):
        divisor = self.random.choice([3, 3, 3, 10])
        rest = self.random.randrange(divisor)

        def apply(tables):
            tables[name] = {id_: row for id_, row in tables[name].items() if id_ % divisor != rest}
        return Change(f"DELETE FROM {self.sql_name(name)} WHERE {self.owner(name)[0]}id % {divisor} = {rest}", apply)

    def delete_below(self, name):
        """All rows but those of the last transactions."""
        limit = max(0, self.number - 5) * 100_000

        def apply(tables):
            tables[name] = {id_: row for id_, row in tables[name].items() if id_ >= limit}
        return Change(f"DELETE FROM {self.sql_name(name)} WHERE {self.owner(name)[0]}id < {limit}", apply)

    def truncate(self, name):
        return Change(f"TRUNCATE {self.sql_name(name)}", lambda tables: tables[name].clear())

    def make(self):
        ids = self.new_ids(self.random.choice([1, 64, 300]))

        def apply(tables):
            tables["made"] = {id_: (id_ - 1, "made") for id_ in ids}
        return Change(f"CREATE OR REPLACE TABLE {self.sql_name('made')} AS SELECT g AS id, g - 1::bigint AS v, 'made' AS s "
                      f"FROM generate_series({ids[0]}, {ids[-1]}) AS t(g)", apply)

    def drop(self):
        return Change(f"DROP TABLE IF EXISTS {self.sql_name('made')}", lambda tables: tables.pop("made", None))

    def bookkeeping(self):
        """The number of the transaction, and the total."""
        return [f"INSERT INTO log_{self.connection} VALUES ({self.number})", "UPDATE totals SET n = n + 1"]


def expected_tables(models):
    """Name in the database -> sorted rows, of all models."""
    tables = {"shared": [], "totals": [[0, sum(model.number for model in models)]]}
    for model in models:
        tables[f"log_{model.connection}"] = [[number] for number in range(1, model.number + 1)]
        for name, rows in model.tables.items():
            if name == "shared":
                tables["shared"] += [[model.connection, id_, *row] for id_, row in rows.items()]
            else:
                tables[f"{name}_{model.connection}"] = sorted([id_, *row] for id_, row in rows.items())
    tables["shared"].sort()
    return tables
