"""What a history of transactions over lists is made of: transactions, their statements, what each read.

A key has a list of values. A transaction appends a value that nobody else appends, and reads whole lists, so that a
list tells who changed it, and in which order (Kingsbury and Alvaro, "Elle", VLDB 2020):

    T1 appends 7 to key 2                     list of key 2: 5 7
    T2 reads key 2 as 5 7, appends 8          list of key 2: 5 7 8

Times are numbers of a counter that goes up with every event: a statement that ended before another one began has the
smaller number. They are not seconds.
"""

import dataclasses
import itertools
import json

READ_COMMITTED, REPEATABLE_READ = "READ COMMITTED", "REPEATABLE READ"
COMMITTED, ROLLED_BACK, FAILED, UNKNOWN = "committed", "rolled back", "failed", "unknown"
NEVER = 10 ** 15  # a time behind all others

clock = itertools.count(1)


def now():
    """The next time. Threads may call it at once."""
    return next(clock)


@dataclasses.dataclass
class Statement:
    """A statement that read or appended. One that failed saw and appended nothing."""

    start: int
    end: int
    seen: dict = dataclasses.field(default_factory=dict)  # key -> the list that it read
    own: dict = dataclasses.field(default_factory=dict)  # key read -> values of its own transaction that it is to see
    appended: dict = dataclasses.field(default_factory=dict)  # key -> value
    is_undone: bool = False  # by ROLLBACK TO
    has_turn: bool = False  # its transaction is the one writer


@dataclasses.dataclass
class Transaction:
    """Statements up to an end. UNKNOWN: the process was killed between asking for the commit and its return."""

    number: int
    connection: int
    isolation: str
    statements: list = dataclasses.field(default_factory=list)
    ended: str = ""
    commit_start: int = NEVER
    commit_end: int = NEVER

    def __str__(self):
        return f"T{self.number} ({self.isolation}, {self.ended})"

    def appends(self, key=None):
        """(key, value) of what it appended and did not undo, in order."""
        return [pair for statement in self.statements if not statement.is_undone for pair in statement.appended.items()
                if key in (None, pair[0])]

    def undone(self):
        """(key, value) of what it appended and undid."""
        return [pair for statement in self.statements if statement.is_undone for pair in statement.appended.items()]

    def is_repeatable(self):
        return self.isolation == REPEATABLE_READ

    def to_line(self):
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def from_line(line):
        fields = json.loads(line)
        statements = [Statement(**{name: _with_numbers(value) for name, value in statement.items()})
                      for statement in fields.pop("statements")]
        return Transaction(statements=statements, **fields)


def _with_numbers(value):
    """JSON has texts as keys."""
    return {int(key): item for key, item in value.items()} if isinstance(value, dict) else value


@dataclasses.dataclass
class History:
    """Transactions, and the lists that are there once all have ended."""

    transactions: list
    final: dict  # key -> list


def sealed(history):
    """The history, where every unknown end is known: a transaction is committed if the final lists have a value of it."""
    there = {(key, value) for key, values in history.final.items() for value in values}
    for transaction in history.transactions:
        if transaction.ended == UNKNOWN:
            is_there = any(pair in there for pair in transaction.appends())
            transaction.ended = COMMITTED if is_there else ROLLED_BACK
    return history
