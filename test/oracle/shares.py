"""How many of the queries and statements say something: those that return or change rows, those that fail, those whose joins find
several rows for one."""

import collections

LEAST_WITH_ROWS = 0.6
MOST_ERRORS = 0.15
LEAST_WITH_SEVERAL_MATCHES = 0.2
LEAST_QUERIES = 100  # of fewer nothing is demanded
LEAST_WITH_CHANGES = 0.2
LEAST_STATEMENTS = 3000  # of fewer statements of scripts nothing is demanded


class Shares:
    """Counts PostgreSQL's answers."""

    def __init__(self, answers=(), joins=False):
        self.count = self.with_rows = self.errors = self.with_several = 0
        self.joins = joins  # is it known which queries have several matches for a row?
        for answer in answers:
            self.add(answer)

    def add(self, answer, several=False):
        """several: a row has several matches in the query's join."""
        self.count += 1
        self.errors += bool(answer[0])
        self.with_rows += bool(answer[2])
        self.with_several += several

    def report(self):
        """Prints the shares; are they as they should be?"""
        print(f"{self.with_rows} of {self.count} queries return rows, {self.errors} are errors")
        met = [(f"at least {LEAST_WITH_ROWS:.0%} should return rows", self.with_rows >= LEAST_WITH_ROWS * self.count),
               (f"at most {MOST_ERRORS:.0%} should be errors", self.errors <= MOST_ERRORS * self.count)]
        if self.joins:
            print(f"{self.with_several} of {self.count} queries ({self.with_several / max(1, self.count):.0%}) join a row with several "
                  f"others, at least {LEAST_WITH_SEVERAL_MATCHES:.0%} should")
            met.append((f"at least {LEAST_WITH_SEVERAL_MATCHES:.0%} should join a row with several others",
                        self.with_several >= LEAST_WITH_SEVERAL_MATCHES * self.count))
        missed = [demand for demand, good in met if not good]
        if not missed or self.count < LEAST_QUERIES:
            return True
        print(f"FAILED: {'; '.join(missed)}")
        return False


class ScriptShares:
    """Counts PostgreSQL's answers to the statements of scripts."""

    def __init__(self):
        self.states, self.with_changes = collections.Counter(), 0

    def add(self, sql, answer):
        self.states[answer[0] or "without an error"] += 1
        # PostgreSQL does not tell how many rows TRUNCATE finds.
        self.with_changes += not answer[0] and (sql.startswith("TRUNCATE") or any(answer[4:]))

    def report(self):
        """Prints the shares; are they as they should be?"""
        count = sum(self.states.values())
        print(f"{count} statements: " + ", ".join(f"{number} {state}" for state, number in self.states.most_common()))
        print(f"{self.with_changes} of {count} statements ({self.with_changes / max(1, count):.0%}) change rows")
        if self.with_changes >= LEAST_WITH_CHANGES * count or count < LEAST_STATEMENTS:
            return True
        print(f"FAILED: at least {LEAST_WITH_CHANGES:.0%} should change rows")
        return False


def print_notes(notes):
    """Known differences that were met."""
    for name, count in notes.most_common():
        print(f"docs/sql.md, {name}: {count} times")
