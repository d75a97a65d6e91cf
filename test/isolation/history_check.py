"""Checks a history: what each read saw, what is there at the end, and that its dependencies have no cycle.

check(history) gives a list of (kind, text). The kinds, after Adya ("Weak Consistency", 1999) and Elle:

    G1a           a transaction reads a value of one that was rolled back, or that nobody appended
    G1b           it reads a part of what another one appended
    prefix        two readers see a key's versions in different orders
    own           it does not see what it appended itself, or in another order
    repeatable    it reads a key twice under REPEATABLE READ, and differently
    lost          a committed value is not there at the end, is there twice, or a part of its transaction is missing
    lost update   under REPEATABLE READ another one appended between its read and its append to a key
    G0, G1c, G-single, G-nonadjacent, order, writer order
                  cycles: see history_graph.py
"""

import history_graph
from history import COMMITTED, sealed


class Writers:
    """Who appended which value."""

    def __init__(self, history):
        self.of, self.is_undone = {}, set()
        for transaction in history.transactions:
            for pair in transaction.appends():
                self.of[pair] = transaction
            for pair in transaction.undone():
                self.of[pair] = transaction
                self.is_undone.add(pair)

    def is_committed(self, key, value):
        writer = self.of.get((key, value))
        return writer is not None and writer.ended == COMMITTED and (key, value) not in self.is_undone

    def described(self, key, value):
        writer = self.of.get((key, value))
        if writer is None:
            return f"value {value}, which nobody appended,"
        return f"value {value} of {writer}{', undone by it,' if (key, value) in self.is_undone else ''}"


def check(history, skipped=()):
    """What is wrong, as (kind, text). Kinds in `skipped` are left out."""
    sealed(history)
    writers = Writers(history)
    problems = [*check_end(history, writers)]
    for transaction in history.transactions:
        problems += check_reads(transaction, history.final, writers)
        if transaction.ended == COMMITTED and transaction.is_repeatable():
            problems += check_updates(transaction, history.final)
    problems += history_graph.cycles(history, writers)
    return [problem for problem in problems if problem[0] not in skipped]


def check_end(history, writers):
    """The final lists have what was committed, each once and no more."""
    there = {}
    for key, values in history.final.items():
        for value in values:
            there[key, value] = there.get((key, value), 0) + 1
            if not writers.is_committed(key, value):
                yield "G1a", f"at the end key {key} has {writers.described(key, value)}"
    for pair, times in there.items():
        if times > 1:
            yield "lost", f"at the end key {pair[0]} has value {pair[1]} {times} times"
    for transaction in history.transactions:
        if transaction.ended == COMMITTED:
            for key, value in transaction.appends():
                if (key, value) not in there:
                    yield "lost", f"at the end key {key} lacks value {value} of {transaction}: {history.final.get(key)}"


def base_of(statement, key):
    """The list that a statement read of a key, without what its own transaction had appended; None: that is not there."""
    seen, own = statement.seen[key], statement.own.get(key, [])
    if seen[len(seen) - len(own):] != own:
        return None
    return seen[:len(seen) - len(own)]


def check_reads(transaction, final, writers):
    before = {}
    for statement in transaction.statements:
        for key, seen in statement.seen.items():
            base = base_of(statement, key)
            if base is None:
                yield "own", f"{transaction} read key {key} as {seen}, and had appended {statement.own[key]}"
                continue
            yield from check_base(transaction, key, base, final.get(key, []), writers)
            if transaction.is_repeatable() and before.setdefault(key, base) != base:
                yield "repeatable", f"{transaction} read key {key} as {before[key]}, later as {base}"


def check_base(transaction, key, base, final, writers):
    """One list that a transaction read of others."""
    bad = [value for value in base if not writers.is_committed(key, value) or writers.of[key, value] is transaction]
    if bad:
        yield "G1a", f"{transaction} read key {key} with {writers.described(key, bad[0])} in {base}"
    elif base != final[:len(base)]:
        yield "prefix", f"{transaction} read key {key} as {base}, at the end it is {final}"
    elif base and len(base) < len(final) and writers.of.get((key, final[len(base)])) is writers.of[key, base[-1]]:
        yield "G1b", f"{transaction} read key {key} as {base}, a part of what {writers.of[key, base[-1]]} appended: {final}"


def check_updates(transaction, final):
    """What it appended to a key under REPEATABLE READ comes behind what it read of it."""
    for key in {key for key, _ in transaction.appends()}:
        bases = [base_of(statement, key) for statement in transaction.statements if key in statement.seen]
        first = transaction.appends(key)[0][1]
        values = final.get(key, [])
        for base in bases:
            if base is not None and first in values and values.index(first) > len(base):
                yield "lost update", f"{transaction} read key {key} as {base} and appended {first}: {values}"
                break
