"""The queries that join and need no subquery in an expression and no outer join, with and without primary keys."""

import os

import contest
import contestants
import kept_database
import side_by_side
import texts

QUERIES = (3, 5, 7, 8, 9, 10, 12, 14, 19)


def same_rows(ours, theirs):
    """The spaces at the end of char(n) are kept by one system and left out by the other."""
    def stripped(rows):
        return [[value.rstrip(" ") for value in row] for row in rows]

    return side_by_side.same_rows(stripped(ours), stripped(theirs))


class Joins:
    """folder: for databases; files: from a table to its Parquet file."""

    def __init__(self, options, folder, files):
        self.options = options
        self.folder = folder
        self.files = {table: files[table] for table in texts.TABLES}
        self.report = {"threads": options.threads, "machine": side_by_side.describe_machine(), "versions": {}, "parts": {},
                       "disagreements": [], "failures": []}
        self.contest = contest.Contest(options, self.report)

    def database(self, name, keys):
        return os.path.join(self.folder, f"joins{'-keys' if keys else ''}.{contestants.kind(name)}")

    def load(self, keys):
        statements = texts.statements(self.files, keys)
        for name in {contestants.kind(name): name for name in self.contest.names}.values():
            kept_database.load(self.database(name, keys), name, statements, self.options.library, self.options.threads)

    def run(self):
        """The report, with a part for each variant of the keys."""
        self.contest.run_variants(self, self.options.keys)
        contest.print_problems(self.report)
        return self.report

    def measure(self, part, what):
        contest.print_head(self.report, f"TPC-H, scale factor {self.options.scale:g}, {what}", self.contest.names)
        for number in QUERIES:
            name, sql = f"q{number}", texts.query(number)
            seconds = self.contest.measure(name, sql, what, texts.answer(number, self.options.scale), same_rows)
            part["queries"][name] = {"sql": sql, "seconds": seconds}
            contest.print_row(name, seconds, self.contest.names)
        part.update(contest.summarise(part["queries"], self.contest.names))
