"""Scripts about waiting for the turn to write: what ends a wait, and what is refused.

anomaly_scripts.py says how to read them.
"""

from anomaly_scripts import (ALL, BEGIN, BOTH_BEGIN, CANCEL, CLOSE, DONE, READ_COMMITTED, REPEATABLE_READ, RESULT, ByLevel,
                             Either, MayWait, Script, Waits, update)

# Statements that wait for their turn.
CHANGES = [update(1, 11), "INSERT INTO test VALUES (3, 30)", "DELETE FROM test", "TRUNCATE test", "CREATE TABLE other (a integer)",
           "CREATE TABLE other AS SELECT 1 AS a", "DROP TABLE test", "CREATE VIEW seen AS SELECT id FROM test"]


def refused_wait(change):
    return Script("lock_timeout", change.split(" SET")[0], BOTH_BEGIN + [
        ("A", update(2, 21), DONE),
        ("B", "SET lock_timeout = 20", DONE),
        ("B", change, "55P03"),
        ("B", ALL, "25P02"),
        ("B", "COMMIT", DONE),
        ("A", "COMMIT", DONE),
        ("S", ALL, ["1|10", "2|21"]),
    ])


def cancelled_wait(change):
    return Script("cancel", change.split(" SET")[0], BOTH_BEGIN + [
        ("A", update(2, 21), DONE),
        ("B", change, Waits("A")),
        ("B", CANCEL, "57014"),
        ("B", ALL, "25P02"),
        ("B", "ROLLBACK", DONE),
        ("A", "COMMIT", DONE),
        ("S", ALL, ["1|10", "2|21"]),
    ])


REFUSED = [
    Script("serializable", "is refused", [
        ("A", "BEGIN ISOLATION LEVEL SERIALIZABLE", "0A000"),
        ("A", "START TRANSACTION ISOLATION LEVEL SERIALIZABLE", "0A000"),
        ("A", BEGIN, DONE),
        ("A", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "0A000"),
        ("A", ALL, "25P02"),
        ("A", "ROLLBACK", DONE),
    ]),
    Script("lock_timeout ends", "a wait that was refused can be tried again", BOTH_BEGIN + [
        ("A", update(1, 11), DONE),
        ("B", "SET lock_timeout = 20", DONE),
        ("B", "SAVEPOINT s", DONE),
        ("B", update(1, "value + 1"), "55P03"),
        ("B", "ROLLBACK TO s", DONE),
        ("A", "COMMIT", DONE),
        ("B", update(1, "value + 1"), ByLevel(DONE, Either("40001", DONE))),
        ("B", "COMMIT", DONE),
        ("S", "SELECT count(*) FROM test", ["2"]),
    ]),
    Script("read only", "does not wait, and is refused", [
        ("A", BEGIN, DONE),
        ("A", update(1, 11), DONE),
        ("B", "BEGIN ISOLATION LEVEL {level} READ ONLY", DONE),
        ("B", update(1, 12), "25006"),
        ("B", "ROLLBACK", DONE),
        ("A", "ROLLBACK", DONE),
    ]),
    Script("checkpoint in a transaction", "is refused", [
        ("A", BEGIN, DONE),
        ("A", "CHECKPOINT", "25001"),
        ("A", "ROLLBACK", DONE),
        ("A", "CHECKPOINT", DONE),
    ], (READ_COMMITTED,)),
]

ENDS_OF_WAITS = [
    Script("close", "a connection that is closed is rolled back", BOTH_BEGIN + [
        ("A", update(1, 11), DONE),
        ("B", update(1, "value + 2"), Waits("A")),
        ("A", CLOSE, DONE),
        ("B", RESULT, DONE),
        ("B", "COMMIT", DONE),
        ("S", ALL, ["1|12", "2|20"]),
    ]),
    Script("failed", "a transaction that fails is rolled back at once", BOTH_BEGIN + [
        ("A", update(1, 11), DONE),
        ("B", update(1, "value + 2"), Waits("A", "SELECT 1 / 0")),
        ("A", "SELECT 1 / 0", "22012"),
        ("B", RESULT, DONE),
        ("B", "COMMIT", DONE),
        ("A", "COMMIT", DONE),
        ("S", ALL, ["1|12", "2|20"]),
    ]),
    Script("failed savepoint", "a transaction with a savepoint keeps its turn when it fails", BOTH_BEGIN + [
        ("A", update(1, 11), DONE),
        ("A", "SAVEPOINT s", DONE),
        ("A", "SELECT 1 / 0", "22012"),
        ("B", update(1, "value + 2"), Waits("A")),
        ("A", "ROLLBACK TO s", DONE),
        ("A", "COMMIT", DONE),
        ("B", RESULT, ByLevel(DONE, Either("40001", DONE))),
        ("B", "COMMIT", DONE),
        ("S", ALL, ByLevel(["1|13", "2|20"], Either(["1|13", "2|20"], ["1|11", "2|20"]))),
    ]),
    Script("no rows", "a statement that changes no row takes the turn, too", BOTH_BEGIN + [
        ("A", "DELETE FROM test WHERE id = 99", DONE),
        ("B", update(1, 12), MayWait()),
        ("A", "COMMIT", DONE),
        ("B", RESULT, DONE),
        ("B", "COMMIT", DONE),
        ("S", ALL, ["1|12", "2|20"]),
    ]),
    Script("readers", "wait for nobody", BOTH_BEGIN + [
        ("A", "DROP TABLE test", DONE),
        ("B", ALL, ["1|10", "2|20"]),
        ("C", ALL, ["1|10", "2|20"]),
        ("B", "COMMIT", DONE),
        ("A", "ROLLBACK", DONE),
        ("S", ALL, ["1|10", "2|20"]),
    ]),
    Script("own statements", "of no transaction wait and are done", [
        ("A", BEGIN, DONE),
        ("A", "INSERT INTO test VALUES (3, 30)", DONE),
        ("B", "DELETE FROM test WHERE value >= 20", Waits("A")),
        ("C", "INSERT INTO test VALUES (4, 5)", Waits("A")),
        ("A", "COMMIT", DONE),
        ("B", RESULT, DONE),
        ("C", RESULT, DONE),
        ("S", ALL, ["1|10", "4|5"]),
    ], (READ_COMMITTED,)),
    Script("first statement waits", "a snapshot begins with the first statement", BOTH_BEGIN + [
        ("A", update(1, 11), DONE),
        ("B", update(2, 21), MayWait()),
        ("A", "COMMIT", DONE),
        ("B", RESULT, Either("40001", DONE)),
        ("B", "COMMIT", DONE),
        ("S", ALL, Either(["1|11", "2|21"], ["1|11", "2|20"])),
    ], (REPEATABLE_READ,)),
]

# A table of many tablets.
BIG = ("SET tablet_rows = 64", "CREATE OR REPLACE TABLE big AS SELECT g AS value FROM generate_series(1, 2000) AS s(g)",
       "SET tablet_rows TO DEFAULT")

CHECKPOINTS = [
    Script("checkpoint waits", "for the turn to write", [
        ("A", BEGIN, DONE),
        ("A", update(1, 11), DONE),
        ("B", "CHECKPOINT", Waits("A")),
        ("A", "COMMIT", DONE),
        ("B", RESULT, DONE),
        ("S", ALL, ["1|11", "2|20"]),
    ], (READ_COMMITTED,)),
    Script("checkpoint lock_timeout", "ends its wait", [
        ("A", BEGIN, DONE),
        ("A", update(1, 11), DONE),
        ("B", "SET lock_timeout = 20", DONE),
        ("B", "CHECKPOINT", "55P03"),
        ("C", "CHECKPOINT", Waits("A")),
        ("C", CANCEL, "57014"),
        ("A", "ROLLBACK", DONE),
    ], (READ_COMMITTED,)),
    Script("two checkpoints", "lock_timeout ends the wait of one that another one goes before", [
        ("A", BEGIN, DONE),
        ("A", update(1, 11), DONE),
        ("C", "CHECKPOINT", Waits("A")),
        ("B", "SET lock_timeout = 20", DONE),
        ("B", "CHECKPOINT", MayWait()),
        ("B", RESULT, "55P03"),
        ("A", "COMMIT", DONE),
        ("C", RESULT, DONE),
    ], (READ_COMMITTED,)),
    Script("old snapshot", "keeps what it sees over deletes and checkpoints", [
        ("A", "BEGIN ISOLATION LEVEL REPEATABLE READ", DONE),
        ("A", "SELECT count(*), sum(value) FROM big", ["2000|2001000"]),
        ("B", "DELETE FROM big WHERE value % 3 <> 0", DONE),
        ("B", "CHECKPOINT", DONE),
        ("A", "SELECT count(*), sum(value) FROM big", ["2000|2001000"]),
        ("B", "UPDATE big SET value = -value WHERE value % 2 = 0", DONE),
        ("B", "CHECKPOINT", DONE),
        ("A", "SELECT count(*), sum(value) FROM big", ["2000|2001000"]),
        ("S", "SELECT count(*), sum(value), sum(abs(value)) FROM big", ["666|-999|666333"]),
        ("A", "DELETE FROM big", "40001"),
        ("A", "ROLLBACK", DONE),
    ], (REPEATABLE_READ,), BIG),
    # Rows keep their places for a transaction that reads them before and changes them after others wrote tablets anew.
    Script("checkpoint beside", "a snapshot from before a checkpoint may still write: no rows have changed", [
        ("B", "DELETE FROM big WHERE value % 3 <> 0", DONE),
        ("A", "BEGIN ISOLATION LEVEL REPEATABLE READ", DONE),
        ("A", "SELECT count(*), sum(value) FROM big", ["666|666333"]),
        ("B", "CHECKPOINT", DONE),
        ("A", "UPDATE big SET value = 0 WHERE value = 300", DONE),
        ("A", "SELECT count(*), sum(value) FROM big", ["666|666033"]),
        ("A", "COMMIT", DONE),
        ("S", "SELECT count(*), sum(value) FROM big", ["666|666033"]),
    ], (REPEATABLE_READ,), BIG),
]

WAITING_SCRIPTS = [*REFUSED, *map(refused_wait, CHANGES), *map(cancelled_wait, CHANGES), *ENDS_OF_WAITS, *CHECKPOINTS]
