"""How many of the queries say something: those that return rows, and those that fail."""

LEAST_WITH_ROWS = 0.6
MOST_ERRORS = 0.15
LEAST_QUERIES = 100  # of fewer nothing is demanded


class Shares:
    """Counts PostgreSQL's answers."""

    def __init__(self, answers=()):
        self.count = self.with_rows = self.errors = 0
        for answer in answers:
            self.add(answer)

    def add(self, answer):
        self.count += 1
        self.errors += bool(answer[0])
        self.with_rows += bool(answer[2])

    def report(self):
        """Prints the shares; are they as they should be?"""
        print(f"{self.with_rows} of {self.count} queries return rows, {self.errors} are errors")
        good = self.with_rows >= LEAST_WITH_ROWS * self.count and self.errors <= MOST_ERRORS * self.count
        if good or self.count < LEAST_QUERIES:
            return True
        print(f"FAILED: at least {LEAST_WITH_ROWS:.0%} should return rows, at most {MOST_ERRORS:.0%} be errors")
        return False


def print_notes(notes):
    """Known differences that were met."""
    for name, count in notes.most_common():
        print(f"docs/sql.md, {name}: {count} times")
