"""Histories made by hand, each with one anomaly, to test the checker itself.

A history is a text of events, in the order in which they happen, on lines of their own or divided by a slash:

    1 rr           transaction 1 begins under REPEATABLE READ (rc: READ COMMITTED)
    1 r 2: 5 7     it reads key 2 as 5 7; several keys as "1 r 2: 5 7, 3:"
    1 a 2: 8       it appends 8 to key 2
    1 undo 2       ROLLBACK TO before its last two statements
    1 commit       or rollback, or unknown
    end 2: 5 7 8   what is there at the end
"""

import history_check
from history import (COMMITTED, READ_COMMITTED, REPEATABLE_READ, ROLLED_BACK, UNKNOWN, History, Statement, Transaction)

ENDS = {"commit": COMMITTED, "rollback": ROLLED_BACK, "unknown": UNKNOWN}

# name: (the kinds to be found, the history)
SAMPLES = {
    "no anomaly": ((), """
        1 rr/1 a 2: 5/1 r 2: 5/1 a 2: 6/2 rr/2 r 2:/1 commit/2 r 2:/2 r 3:/2 commit/3 rc/3 r 2: 5 6/3 a 3: 7/3 undo 1/3 a 3: 8/3 commit
        4 rc/4 r 2: 5 6, 3: 8/4 a 2: 9/4 rollback/5 rc/5 a 2: 10/5 unknown/6 rc/6 a 2: 11/6 unknown/end 2: 5 6 11, 3: 8"""),
    "dirty write": (("G0", "order"), """
        1 rc/2 rc/1 a 2: 5/2 a 2: 6/2 a 3: 7/1 a 3: 8/1 commit/2 commit/end 2: 5 6, 3: 7 8"""),
    "aborted read": (("G1a",), """
        1 rc/1 a 2: 5/2 rc/2 r 2: 5/2 commit/1 rollback/end 2:"""),
    "aborted read of a savepoint": (("G1a", "order"), """
        1 rc/1 a 2: 5/2 rc/2 r 2: 5/2 commit/1 undo 1/1 commit/end 2:"""),
    "read of nobody's value": (("G1a",), "1 rc/1 r 2: 5/1 commit/end 2:"),
    "aborted write stays": (("G1a",), "1 rc/1 a 2: 5/1 rollback/end 2: 5"),
    "intermediate read": (("G1b", "order"), """
        1 rc/1 a 2: 5/2 rc/2 r 2: 5/1 a 2: 6/1 commit/2 commit/end 2: 5 6"""),
    "circular information flow": (("G1c", "writer order"), """
        1 rc/2 rc/1 a 2: 5/2 a 3: 6/1 r 3: 6/2 r 2: 5/1 commit/2 commit/end 2: 5, 3: 6"""),
    "observed transaction vanishes": (("order",), """
        1 rc/1 a 2: 5/1 a 3: 6/2 rc/1 commit/2 r 2: 5/2 r 3:/2 commit/end 2: 5, 3: 6"""),
    "observed by a writer, then vanishes": (("writer order",), """
        1 rc/1 a 2: 5/2 rc/2 a 3: 6/2 r 2: 5/2 undo 2/2 r 2:/2 commit/1 commit/end 2: 5, 3:"""),
    "versions in two orders": (("prefix",), """
        1 rc/1 a 2: 5/1 commit/2 rc/2 a 2: 6/2 commit/3 rc/3 r 2: 6 5/3 commit/end 2: 5 6"""),
    "own append not seen": (("own",), "1 rc/1 a 2: 5/1 r 2:/1 commit/end 2: 5"),
    "not repeatable": (("repeatable", "order"), """
        1 rr/1 r 2:/2 rc/2 a 2: 5/2 commit/1 r 2: 5/1 rollback/end 2: 5"""),
    "lost commit": (("lost",), "1 rc/1 a 2: 5/1 commit/end 2:"),
    "half a commit": (("lost",), "1 rc/1 a 2: 5/1 a 3: 6/1 unknown/end 2: 5"),
    "a commit twice": (("lost",), "1 rc/1 a 2: 5/1 commit/end 2: 5 5"),
    "lost update": (("lost update", "G-single"), """
        1 rr/2 rr/1 r 2:/2 r 2:/1 a 2: 5/1 commit/2 a 2: 6/2 commit/end 2: 5 6"""),
    "lost update, allowed": ((), """
        1 rc/2 rc/1 r 2:/2 r 2:/1 a 2: 5/1 commit/2 a 2: 6/2 commit/end 2: 5 6"""),
    "read skew": (("G-single", "order"), """
        1 rr/1 r 2:/2 rc/2 a 2: 5/2 a 3: 6/2 commit/1 r 3: 6/1 commit/end 2: 5, 3: 6"""),
    "read skew, allowed": ((), """
        1 rc/1 r 2:/2 rc/2 a 2: 5/2 a 3: 6/2 commit/1 r 3: 6/1 commit/end 2: 5, 3: 6"""),
    "read skew in a statement": (("order",), """
        1 rc/2 rc/2 a 2: 5/2 a 3: 6/1 r 2:, 3: 6/2 commit/1 commit/end 2: 5, 3: 6"""),
    "long fork": (("G-nonadjacent", "order"), """
        1 rr/2 rr/3 rr/4 rr/1 a 2: 5/2 a 3: 6/3 r 2: 5, 3:/4 r 2:, 3: 6/1 commit/2 commit/3 commit/4 commit/end 2: 5, 3: 6"""),
    "write skew, allowed": ((), """
        1 rr/2 rr/1 r 2:, 3:/2 r 2:, 3:/1 a 2: 5/2 a 3: 6/1 commit/2 commit/end 2: 5, 3: 6"""),
    "old state": (("order",), """
        1 rc/1 a 2: 5/1 commit/2 rc/2 r 2:/2 commit/end 2: 5"""),
}


def lists_in(text):
    """{2: [5, 7], 3: []} of "2: 5 7, 3:"."""
    return {int(key): [int(value) for value in values.split()] for key, values in
            (part.split(":") for part in text.split(","))}


def history_of(text):
    """The history that a text tells of."""
    transactions, final = {}, {}
    for time, line in enumerate(text.replace("\n", "/").split("/")):
        who, _, what = line.strip().partition(" ")
        word, _, rest = what.partition(" ")
        if who == "end":
            final = lists_in(what)
        elif word in ("rr", "rc"):
            transactions[who] = Transaction(int(who), int(who), REPEATABLE_READ if word == "rr" else READ_COMMITTED)
        elif who:
            add_event(transactions[who], 10 * time, word, rest)
    return History(list(transactions.values()), final)


def add_event(one, time, word, rest):
    if word == "undo":
        for statement in one.statements[-int(rest):]:
            statement.is_undone = True
    elif word in ENDS:
        one.ended = ENDS[word]
        one.commit_start = time
        if word != "unknown":
            one.commit_end = time + 1
    else:
        statement = Statement(time, time + 1)
        if word == "a":
            statement.appended = {key: values[0] for key, values in lists_in(rest).items()}
        else:
            statement.has_turn = bool(one.appends())
            statement.seen = lists_in(rest)
            statement.own = {key: [value for _, value in one.appends(key)] for key in statement.seen}
        one.statements.append(statement)


def self_test():
    """Prints what goes wrong. The exit status."""
    failures = 0
    for name, (expected, text) in SAMPLES.items():
        problems = history_check.check(history_of(text))
        found, wanted = {kind for kind, _ in problems}, set(expected)
        if wanted != found:
            failures += 1
            print(f"FAILED {name}: found {sorted(found)}, expected {sorted(wanted)}")
            for kind, problem in problems:
                print(f"    {kind}: {problem}")
    print(f"{len(SAMPLES) - failures} passed, {failures} failed")
    return 1 if failures else 0
