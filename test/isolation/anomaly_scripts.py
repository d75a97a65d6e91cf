"""The isolation anomalies that are published, as scripts of interleaved statements.

Sources: Berenson et al., "A Critique of ANSI SQL Isolation Levels" (1995); Adya, "Weak Consistency" (1999); the list
of such scripts called Hermitage. The names are theirs: G0, G1a, ... of Adya, P4 of Berenson.

A step is (connection, statement, what is expected). Expected is one of
- a list of rows, such as ["1|10", "2|20"], in any order; [] also for statements without a result;
- an SQLSTATE, such as "40001";
- Waits("A"): the statement waits until the transaction of connection A has ended;
- MayWait(): it returns at once, or waits;
- Either(...) of these, and ByLevel(read committed, repeatable read).
The statement RESULT stands for the result of the one that waits, CANCEL cancels that one, CLOSE closes the connection.
PREPARE + statement prepares one, RUN runs it.

Diptych has one writer at a time: the second waits until the first one's transaction has ended, also where PostgreSQL
lets them change different rows beside each other (MayWait). Then it goes on as there.
"""

from typing import NamedTuple

READ_COMMITTED, REPEATABLE_READ = "READ COMMITTED", "REPEATABLE READ"
LEVELS = (READ_COMMITTED, REPEATABLE_READ)
RESULT, CANCEL, CLOSE, PREPARE, RUN = "the result", "cancel", "close", "prepare ", "run what was prepared"

BEGIN = "BEGIN ISOLATION LEVEL {level}"
ALL = "SELECT id, value FROM test"
SET_UP = ("CREATE OR REPLACE TABLE test (id integer PRIMARY KEY, value integer)", "INSERT INTO test VALUES (1, 10), (2, 20)")
DONE = []


class Waits(NamedTuple):
    """Until a statement of a connection: one that ends its transaction, or the one given."""

    connection: str
    until: str = ""

    def ends(self, sql):
        return sql == self.until if self.until else sql in ("COMMIT", "ROLLBACK", CLOSE)


class MayWait(NamedTuple):
    """The statement returns at once, or waits."""


class Either:
    """One of several answers."""

    def __init__(self, *choices):
        self.choices = choices

    def __repr__(self):
        return " or ".join(str(choice) for choice in self.choices)


class ByLevel(NamedTuple):
    """What is expected under each isolation level."""

    read_committed: object
    repeatable_read: object

    def of(self, level):
        return self.read_committed if level == READ_COMMITTED else self.repeatable_read


class Script(NamedTuple):
    """Steps over a table test of two rows: 1|10 and 2|20."""

    name: str
    meaning: str
    steps: list
    levels: tuple = ()  # none: both
    set_up: tuple = ()


def value(row):
    return f"SELECT value FROM test WHERE id = {row}"


def update(row, new):
    return f"UPDATE test SET value = {new} WHERE id = {row}"


BOTH_BEGIN = [("A", BEGIN, DONE), ("B", BEGIN, DONE)]
REFUSED_OR_DONE = Either("40001", DONE)
FAILED_OR_DONE = Either("25P02", DONE)

DIRTY_WRITES = [
    Script("G0", "dirty write", BOTH_BEGIN + [
        ("A", update(1, 11), DONE),
        ("B", update(1, 12), Waits("A")),
        ("A", update(2, 21), DONE),
        ("A", "COMMIT", DONE),
        ("S", ALL, ["1|11", "2|21"]),
        ("B", RESULT, ByLevel(DONE, REFUSED_OR_DONE)),
        ("B", update(2, 22), ByLevel(DONE, FAILED_OR_DONE)),
        ("B", "COMMIT", DONE),
        ("S", ALL, ByLevel(["1|12", "2|22"], Either(["1|12", "2|22"], ["1|11", "2|21"]))),
    ]),
    Script("G0 rolled back", "dirty write over one that is rolled back", BOTH_BEGIN + [
        ("A", update(1, 11), DONE),
        ("B", update(1, "value + 2"), Waits("A")),
        ("A", "ROLLBACK", DONE),
        ("B", RESULT, DONE),
        ("B", "COMMIT", DONE),
        ("S", ALL, ["1|12", "2|20"]),
    ]),
    Script("G0 savepoint", "dirty write over one that is rolled back to a savepoint", BOTH_BEGIN + [
        ("A", "SAVEPOINT s", DONE),
        ("A", update(1, 11), DONE),
        ("B", update(1, "value + 2"), MayWait()),
        ("A", "ROLLBACK TO s", DONE),
        ("A", value(1), ["10"]),
        ("B", RESULT, DONE),
        ("A", value(1), ["10"]),
        ("B", "COMMIT", DONE),
        ("A", value(1), ByLevel(["12"], ["10"])),
        ("A", update(1, 13), ByLevel(DONE, "40001")),
        ("A", "COMMIT", DONE),
        ("S", ALL, ByLevel(["1|13", "2|20"], ["1|12", "2|20"])),
    ]),
]

DIRTY_READS = [
    Script("G1a", "aborted read", BOTH_BEGIN + [
        ("A", update(1, 101), DONE),
        ("B", ALL, ["1|10", "2|20"]),
        ("A", "ROLLBACK", DONE),
        ("B", ALL, ["1|10", "2|20"]),
        ("B", "COMMIT", DONE),
    ]),
    Script("G1a error", "aborted read of what an error rolled back", BOTH_BEGIN + [
        ("A", "DELETE FROM test WHERE id = 1", DONE),
        ("B", ALL, ["1|10", "2|20"]),
        ("A", "SELECT 1 / 0", "22012"),
        ("B", ALL, ["1|10", "2|20"]),
        ("A", "COMMIT", DONE),
        ("B", ALL, ["1|10", "2|20"]),
        ("B", "COMMIT", DONE),
    ]),
    Script("G1a insert", "aborted read of a new row", BOTH_BEGIN + [
        ("A", "INSERT INTO test VALUES (3, 30)", DONE),
        ("B", "SELECT count(*), sum(value) FROM test", ["2|30"]),
        ("A", CLOSE, DONE),
        ("B", "SELECT count(*), sum(value) FROM test", ["2|30"]),
        ("B", "INSERT INTO test VALUES (3, 31)", DONE),
        ("B", "COMMIT", DONE),
        ("S", ALL, ["1|10", "2|20", "3|31"]),
    ]),
    Script("G1b", "intermediate read", BOTH_BEGIN + [
        ("A", update(1, 101), DONE),
        ("B", ALL, ["1|10", "2|20"]),
        ("A", update(1, 11), DONE),
        ("B", ALL, ["1|10", "2|20"]),
        ("A", "COMMIT", DONE),
        ("B", ALL, ByLevel(["1|11", "2|20"], ["1|10", "2|20"])),
        ("B", "COMMIT", DONE),
    ]),
    Script("G1c", "circular information flow", BOTH_BEGIN + [
        ("A", update(1, 11), DONE),
        ("B", value(1), ["10"]),
        ("B", update(2, 22), MayWait()),
        ("A", value(2), ["20"]),
        ("A", "COMMIT", DONE),
        ("B", RESULT, DONE),
        ("B", value(1), ByLevel(["11"], ["10"])),
        ("B", "COMMIT", DONE),
        ("S", ALL, ["1|11", "2|22"]),
    ]),
    Script("OTV", "observed transaction vanishes", BOTH_BEGIN + [
        ("C", BEGIN, DONE),
        ("A", update(1, 11), DONE),
        ("A", update(2, 19), DONE),
        ("B", update(1, 12), Waits("A")),
        ("A", "COMMIT", DONE),
        ("B", RESULT, ByLevel(DONE, REFUSED_OR_DONE)),
        ("C", value(1), ["11"]),
        ("B", update(2, 18), ByLevel(DONE, FAILED_OR_DONE)),
        ("C", value(2), ["19"]),
        ("B", "COMMIT", DONE),
        ("C", value(2), ByLevel(["18"], ["19"])),
        ("C", value(1), ByLevel(["12"], ["11"])),
        ("C", "COMMIT", DONE),
        ("S", ALL, ByLevel(["1|12", "2|18"], Either(["1|12", "2|18"], ["1|11", "2|19"]))),
    ]),
]

PREDICATES = [
    Script("PMP", "predicate-many-preceders, or phantom", BOTH_BEGIN + [
        ("A", "SELECT id, value FROM test WHERE value = 30", []),
        ("B", "INSERT INTO test VALUES (3, 30)", DONE),
        ("B", "COMMIT", DONE),
        ("A", "SELECT id, value FROM test WHERE value % 3 = 0", ByLevel(["3|30"], [])),
        ("A", "COMMIT", DONE),
    ]),
    Script("PMP delete", "phantom: rows that vanish", BOTH_BEGIN + [
        ("A", "SELECT count(*), sum(value) FROM test WHERE value > 5", ["2|30"]),
        ("B", "TRUNCATE test", DONE),
        ("B", "COMMIT", DONE),
        ("A", "SELECT count(*), sum(value) FROM test WHERE value > 5", ByLevel(["0|NULL"], ["2|30"])),
        ("A", "COMMIT", DONE),
        ("S", ALL, []),
    ]),
    # PostgreSQL tests a row again that has changed, but finds no rows that meet the condition only now: it deletes
    # nothing. Diptych's statement begins once A has committed: it deletes the row that is 20 then.
    Script("PMP write", "phantom with a write predicate", BOTH_BEGIN + [
        ("A", "UPDATE test SET value = value + 10", DONE),
        ("B", "SELECT id, value FROM test WHERE value = 20", ["2|20"]),
        ("B", "DELETE FROM test WHERE value = 20", Waits("A")),
        ("A", "COMMIT", DONE),
        ("B", RESULT, ByLevel(DONE, "40001")),
        ("B", "COMMIT", DONE),
        ("S", ALL, ByLevel(Either(["2|30"], ["1|20", "2|30"]), ["1|20", "2|30"])),
    ]),
]

LOST_UPDATES = [
    Script("P4", "lost update", BOTH_BEGIN + [
        ("A", value(1), ["10"]),
        ("B", value(1), ["10"]),
        ("A", update(1, 11), DONE),
        ("B", update(1, 11), Waits("A")),
        ("A", "COMMIT", DONE),
        ("B", RESULT, ByLevel(DONE, "40001")),
        ("B", "COMMIT", DONE),
        ("S", ALL, ["1|11", "2|20"]),
    ]),
    Script("P4 sum", "lost update: what statements add to a value must all be there", BOTH_BEGIN + [
        ("A", value(1), ["10"]),
        ("B", value(1), ["10"]),
        ("A", update(1, "value + 1"), DONE),
        ("B", update(1, "value + 2"), Waits("A")),
        ("C", update(1, "value + 4"), Waits("A")),
        ("A", "COMMIT", DONE),
        ("B", RESULT, ByLevel(DONE, "40001")),
        ("B", "COMMIT", DONE),
        ("C", RESULT, DONE),
        ("S", ALL, ByLevel(["1|17", "2|20"], ["1|15", "2|20"])),
    ]),
    Script("P4 committed", "lost update where nobody waits", BOTH_BEGIN + [
        ("A", value(1), ["10"]),
        ("B", update(1, "value + 1"), DONE),
        ("B", "COMMIT", DONE),
        ("A", update(1, "value + 1"), ByLevel(DONE, "40001")),
        ("A", "COMMIT", DONE),
        ("S", ALL, ByLevel(["1|12", "2|20"], ["1|11", "2|20"])),
    ]),
    Script("P4 delete", "lost update of a row that is deleted", BOTH_BEGIN + [
        ("A", value(1), ["10"]),
        ("B", value(1), ["10"]),
        ("A", "DELETE FROM test WHERE id = 1", DONE),
        ("B", update(1, 11), Waits("A")),
        ("A", "COMMIT", DONE),
        ("B", RESULT, ByLevel(DONE, "40001")),
        ("B", "COMMIT", DONE),
        ("S", ALL, ["2|20"]),
    ]),
    Script("key", "two transactions insert one key", BOTH_BEGIN + [
        ("A", "INSERT INTO test VALUES (3, 30)", DONE),
        ("B", "INSERT INTO test VALUES (3, 31)", Waits("A")),
        ("A", "COMMIT", DONE),
        ("B", RESULT, Either("23505", "40001")),
        ("B", "COMMIT", DONE),
        ("S", ALL, ["1|10", "2|20", "3|30"]),
    ]),
]

READ_SKEWS = [
    Script("G-single", "read skew", BOTH_BEGIN + [
        ("A", value(1), ["10"]),
        ("B", ALL, ["1|10", "2|20"]),
        ("B", update(1, 12), DONE),
        ("B", update(2, 18), DONE),
        ("B", "COMMIT", DONE),
        ("A", value(2), ByLevel(["18"], ["20"])),
        ("A", "COMMIT", DONE),
    ]),
    Script("G-single predicate", "read skew with predicates", BOTH_BEGIN + [
        ("A", "SELECT id, value FROM test WHERE value % 5 = 0", ["1|10", "2|20"]),
        ("B", "UPDATE test SET value = 12 WHERE value = 10", DONE),
        ("B", "COMMIT", DONE),
        ("A", "SELECT id, value FROM test WHERE value % 3 = 0", ByLevel(["1|12"], [])),
        ("A", "COMMIT", DONE),
    ]),
    Script("G-single write", "read skew with a write predicate", BOTH_BEGIN + [
        ("A", value(1), ["10"]),
        ("B", ALL, ["1|10", "2|20"]),
        ("B", update(1, 12), DONE),
        ("B", update(2, 18), DONE),
        ("B", "COMMIT", DONE),
        ("A", "DELETE FROM test WHERE value = 20", ByLevel(DONE, "40001")),
        ("A", "COMMIT", DONE),
        ("S", ALL, ["1|12", "2|18"]),
    ]),
    Script("G-single beside", "read skew with a write predicate, begun before the other one commits", BOTH_BEGIN + [
        ("A", value(1), ["10"]),
        ("B", ALL, ["1|10", "2|20"]),
        ("B", update(1, 12), DONE),
        ("A", "DELETE FROM test WHERE value = 20", MayWait()),
        ("B", update(2, 18), MayWait()),
        ("B", RESULT, DONE),
        ("B", "COMMIT", DONE),
        ("A", RESULT, ByLevel(DONE, "40001")),
        ("A", "COMMIT", DONE),
        ("S", ALL, ["1|12", "2|18"]),
    ]),
    # A statement that was prepared before takes no snapshot when it is bound: it must do so when it runs.
    Script("prepared", "a snapshot begins with the first statement, also where that one is undone", [
        ("A", PREPARE + "INSERT INTO test VALUES (3, 30)", DONE),
        ("A", BEGIN, DONE),
        ("A", "SAVEPOINT s", DONE),
        ("A", RUN, DONE),
        ("A", ALL, ["1|10", "2|20", "3|30"]),
        ("A", "ROLLBACK TO s", DONE),
        ("B", update(1, 11), DONE),
        ("A", ALL, ByLevel(["1|11", "2|20"], ["1|10", "2|20"])),
        ("A", "COMMIT", DONE),
    ]),
    Script("G-single statement", "one statement reads a table twice, and both are the same state", BOTH_BEGIN + [
        ("A", "INSERT INTO test SELECT g, g FROM generate_series(10, 2000) AS s(g)", DONE),
        ("B", "SELECT count(*) FROM test x JOIN test y ON x.id = y.id", ["2"]),
        ("A", "COMMIT", DONE),
        ("B", "SELECT count(*) FROM test x JOIN test y ON x.id = y.id", ByLevel(["1993"], ["2"])),
        ("B", "COMMIT", DONE),
    ]),
    Script("definitions", "tables that another one makes and drops", BOTH_BEGIN + [
        ("A", ALL, ["1|10", "2|20"]),
        ("B", "CREATE TABLE other AS SELECT 1 AS a", DONE),
        ("A", "SELECT a FROM other", "42P01"),
        ("A", "ROLLBACK", DONE),
        ("A", BEGIN, DONE),
        ("A", ALL, ["1|10", "2|20"]),
        ("B", "DROP TABLE test", DONE),
        ("A", ALL, ["1|10", "2|20"]),
        ("B", "COMMIT", DONE),
        ("A", ALL, ByLevel("42P01", ["1|10", "2|20"])),
        ("A", "ROLLBACK", DONE),
        ("S", "DROP TABLE other", DONE),
    ]),
]

# Snapshot isolation allows these two.
WRITE_SKEWS = [
    Script("G2-item", "write skew", BOTH_BEGIN + [
        ("A", ALL, ["1|10", "2|20"]),
        ("B", ALL, ["1|10", "2|20"]),
        ("A", update(1, 11), DONE),
        ("B", update(2, 21), MayWait()),
        ("A", "COMMIT", DONE),
        ("B", RESULT, DONE),
        ("B", "COMMIT", DONE),
        ("S", ALL, ["1|11", "2|21"]),
    ]),
    Script("G2", "write skew with predicates", BOTH_BEGIN + [
        ("A", "SELECT id, value FROM test WHERE value % 3 = 0", []),
        ("B", "SELECT id, value FROM test WHERE value % 3 = 0", []),
        ("A", "INSERT INTO test VALUES (3, 30)", DONE),
        ("B", "INSERT INTO test VALUES (4, 42)", MayWait()),
        ("A", "COMMIT", DONE),
        ("B", RESULT, DONE),
        ("B", "COMMIT", DONE),
        ("S", "SELECT id, value FROM test WHERE value % 3 = 0", ["3|30", "4|42"]),
    ]),
    Script("G2 read-only", "a reader sees one of two that changed beside each other", BOTH_BEGIN + [
        ("A", ALL, ["1|10", "2|20"]),
        ("B", update(2, "value + 5"), DONE),
        ("B", "COMMIT", DONE),
        ("C", BEGIN, DONE),
        ("C", ALL, ["1|10", "2|25"]),
        ("C", "COMMIT", DONE),
        ("A", update(1, 0), DONE),
        ("A", "COMMIT", DONE),
        ("S", ALL, ["1|0", "2|25"]),
    ]),
]

# Under REPEATABLE READ a transaction changes rows that nobody else has changed since its snapshot, and goes on seeing that.
OTHER_ROWS = [
    Script("other tables", "changes beside those of another one in another table, also after tablets are written anew", [
        ("S", "CREATE OR REPLACE TABLE other AS SELECT i FROM generate_series(1, 1000) AS g(i)", DONE),
        ("A", BEGIN, DONE),
        ("A", "SELECT count(*) FROM other", ["1000"]),
        ("B", "DELETE FROM other WHERE i % 2 = 0", DONE),
        ("B", "CHECKPOINT", DONE),
        ("A", update(1, 11), DONE),
        ("A", "SELECT count(*) FROM other", ByLevel(["500"], ["1000"])),
        ("A", "DELETE FROM other WHERE i = 1", DONE),
        ("A", "SELECT count(*), min(i) FROM other", ByLevel(["499|3"], ["999|2"])),
        ("A", "DELETE FROM other WHERE i = 2", ByLevel(DONE, "40001")),
        ("A", "ROLLBACK", DONE),
        ("S", ALL, ["1|10", "2|20"]),
        ("S", "DROP TABLE other", DONE),
    ]),
    Script("other rows", "changes to rows beside those that another one has changed, with savepoints", [
        ("S", "INSERT INTO test SELECT i, 10 * i FROM generate_series(3, 300) AS g(i)", DONE),
        ("A", BEGIN, DONE),
        ("A", "SELECT count(*), sum(value) FROM test", ["300|451500"]),
        ("B", "UPDATE test SET value = 0 WHERE id % 3 = 0", DONE),
        ("B", "DELETE FROM test WHERE id BETWEEN 100 AND 150 AND id % 3 = 1", DONE),
        ("B", "INSERT INTO test VALUES (1000, 1)", DONE),
        ("A", "UPDATE test SET value = -1 WHERE id % 3 = 2", DONE),
        ("A", "SELECT count(*), sum(value) FROM test", ByLevel(["284|128321"], ["300|300900"])),
        ("A", "INSERT INTO test VALUES (2000, 5)", DONE),
        ("A", "SAVEPOINT s", DONE),
        ("A", "DELETE FROM test WHERE id = 2000 OR id = 2 OR id = 1", DONE),
        ("A", "INSERT INTO test VALUES (2, 7), (2001, 8)", DONE),
        ("A", "SELECT count(*) FROM test", ByLevel(["284"], ["300"])),
        ("A", "DELETE FROM test WHERE id = 100", ByLevel(DONE, "40001")),
        ("A", "ROLLBACK TO s", DONE),
        ("A", "SELECT count(*) FROM test WHERE id <= 2 OR id >= 1000", ByLevel(["4"], ["3"])),
        ("A", update(1, 11), DONE),
        ("A", "COMMIT", DONE),
        ("S", "SELECT count(*), sum(value), max(id) FROM test", ["285|128327|2000"]),
        ("S", "SELECT id, value FROM test WHERE id IN (1, 2, 3, 2000)", ["1|11", "2|-1", "3|0", "2000|5"]),
    ]),
    Script("all rows", "DELETE without a condition takes what its snapshot has", [
        ("A", BEGIN, DONE),
        ("A", ALL, ["1|10", "2|20"]),
        ("B", "INSERT INTO test VALUES (3, 30)", DONE),
        ("A", "DELETE FROM test", DONE),
        ("A", ALL, []),
        ("A", "INSERT INTO test VALUES (1, 1)", DONE),
        ("A", "COMMIT", DONE),
        ("S", ALL, ByLevel(["1|1"], ["1|1", "3|30"])),
    ]),
    Script("the key of a deleted row", "another one has deleted a row whose key is given again", [
        ("A", BEGIN, DONE),
        ("A", ALL, ["1|10", "2|20"]),
        ("B", "DELETE FROM test WHERE id = 1", DONE),
        ("A", "INSERT INTO test VALUES (1, 1)", ByLevel(DONE, "40001")),
        ("A", "ROLLBACK", DONE),
        ("S", ALL, ["2|20"]),
    ]),
    Script("the key of a new row", "another one has given the key to a row that the snapshot has not", [
        ("A", BEGIN, DONE),
        ("A", ALL, ["1|10", "2|20"]),
        ("B", "INSERT INTO test VALUES (3, 30)", DONE),
        ("A", "INSERT INTO test VALUES (4, 40)", DONE),
        ("A", "SAVEPOINT s", DONE),
        ("A", "INSERT INTO test VALUES (3, 31)", ByLevel("23505", "40001")),
        ("A", "ROLLBACK TO s", DONE),
        ("A", "INSERT INTO test VALUES (1, 11)", "23505"),
        ("A", "ROLLBACK TO s", DONE),
        ("A", "COMMIT", DONE),
        ("S", ALL, ["1|10", "2|20", "3|30", "4|40"]),
    ]),
]

ANOMALY_SCRIPTS = OTHER_ROWS + DIRTY_WRITES + DIRTY_READS + PREDICATES + LOST_UPDATES + READ_SKEWS + WRITE_SKEWS
