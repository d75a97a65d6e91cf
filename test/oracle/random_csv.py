#!/usr/bin/env python3
"""Random CSV texts read by COPY FROM of PostgreSQL 15 and of Diptych, compared.

    random_csv.py --diptych build/release/libdiptych.so --seed 1 --count 2000 [--set threads=1]

Both must read the same rows, or refuse with the same SQLSTATE. Every text comes from the seed alone, so that a failure is found
again with the same seed and count. A text that is read differently is made smaller before it is shown.
"""

import argparse
import os
import random
import sys

import comparison
import postgres
from diptych import Worker
from oracle import Oracle

# Types with fields that they read, fields that they refuse among them.
FIELDS = {
    "text": [b"a", b"bc", b"", b" ", b"x y", "é".encode(), "\u2603".encode(), b"\\.", b"\\", b"NULL", b"\\N", b"0"],
    "varchar(4)": [b"a", b"abcd", b"abc  ", b"abcde", b"", "éé".encode()],
    "char(3)": [b"a", b"ab ", b"abc   ", b"abcd", b""],
    "integer": [b"0", b"7", b"-12", b" 5 ", b"+3", b"007", b"2147483648", b"1.5", b"x"],
    "numeric(6,2)": [b"1", b"-0.005", b"12.345", b"1e2", b".5", b"99999", b"-"],
    "double precision": [b"1.5", b"-1e3", b"NaN", b"1e999", b"abc"],
    "boolean": [b"t", b"FALSE", b"yes", b"1", b"maybe"],
    "date": [b"2024-02-29", b"20240101", b"infinity", b"2024-02-30", b"x"],
    "timestamp": [b"2024-02-29 12:00:00", b"2024-01-01", b"2024-01-01T10:00:00.123456Z", b"2024-13-01 00:00:00"],
}

SOUP = [b"a", b"1", b" ", b"\\", b"\\.", b"\0", b"\xff", b"\xc3", "é".encode(), b"\xef\xbb\xbf", b"\n", b"\r", b"\r\n", b"'",
        b'"', b",", b"|"]


class Case:
    """A text, the table it is copied into and the options."""

    def __init__(self, source):
        self.types = [source.choice(list(FIELDS)) if source.random() < 0.6 else "text" for _ in range(source.choice((1, 1, 2, 2, 3, 4)))]
        self.not_null = source.random() < 0.05
        self.delimiter = source.choice((b",", b",", b",", b"|", b"\t", b";", b"\x01"))
        self.quote = source.choice((b'"', b'"', b'"', b"'", b"\\"))
        self.escape = source.choice((self.quote, self.quote, b"\\", b"e", b"'"))
        self.null = source.choice((b"", b"", b"NULL", b"-", b"a"))
        self.header = source.choice(("false", "false", "true", "true", "match"))
        self.text = self.make_text(source)

    def make_text(self, source):
        self.line_end = source.choice((b"\n", b"\n", b"\r\n", b"\r"))
        kind = source.random()
        damages = source.choice((0, 0, 0, 0, 1, 2))
        if kind < 0.2 or damages:  # how damaged dates are read is no matter of CSV
            self.types = ["text" if name in ("date", "timestamp") else name for name in self.types]
        if kind < 0.2:
            return b"".join(self.soup(source) for _ in range(source.randrange(1, 25)))
        rows = [self.row(source) for _ in range(source.randrange(0, 8))]
        if self.header == "match" or source.random() < 0.1:
            names = [b"c%d" % i for i in range(len(self.types))]
            rows.insert(0, self.delimiter.join(names) + self.line_end)
        if kind > 0.98 and rows:
            rows = rows[:-1] * (1500000 // (sum(map(len, rows)) + 1)) + rows[-1:]  # several blocks
        text = b"".join(rows)
        if source.random() < 0.3 and text.endswith(self.line_end):
            text = text[:-len(self.line_end)]
        for _ in range(damages):
            place = source.randrange(len(text) + 1)
            text = text[:place] + self.soup(source) + text[place + source.randrange(3):]
        return text

    def soup(self, source):
        own = (self.delimiter, self.quote, self.escape, self.line_end, self.quote + self.quote)
        return source.choice(own if source.random() < 0.6 else SOUP)

    def row(self, source):
        if source.random() < 0.03:
            return source.choice((b"", b"\\.", b"\\.x", b"\\.\n", b"\\.\r")) + self.line_end
        count = len(self.types) + source.choice((0,) * 60 + (1, -1, 2))
        fields = [self.field(source, self.types[i % len(self.types)]) for i in range(count)]
        return self.delimiter.join(fields) + self.line_end

    def field(self, source, type_name):
        choices = FIELDS[type_name]
        value = choices[min(source.randrange(len(choices)) for _ in range(6))]  # mostly one of the first, which are read
        kind = source.random()
        if kind < 0.1:
            return self.null
        if kind < 0.15 and type_name == "text":
            value = source.choice((self.delimiter, self.quote, self.line_end, self.escape, b"\n", b"\r")) + value
            kind = 0.3
        if kind < 0.4 or self.delimiter in value or self.quote in value:
            return self.quoted(value)
        if kind < 0.5:  # quotes somewhere in the field
            place = source.randrange(len(value) + 1)
            return value[:place] + self.quoted(value[place:]) + (source.choice((b"", b"", b"a")) if type_name == "text" else b"")
        return value

    def quoted(self, value):
        escaped = value.replace(self.escape, self.escape + self.escape) if self.escape != self.quote else value
        return self.quote + escaped.replace(self.quote, self.escape + self.quote) + self.quote

    def columns(self):
        return ", ".join(f"c{i}" for i in range(len(self.types)))

    def create(self, numbers=""):
        columns = ", ".join(f"c{i} {name}{' not null' if self.not_null else ''}" for i, name in enumerate(self.types))
        return f"create table t ({columns}{numbers})"

    def copy(self, path, columns=""):
        def literal(characters):
            text = characters.decode()
            return "E'" + "".join(f"\\x{ord(c):02x}" for c in text) + "'"

        return (f"copy t{columns} from '{path}' (format csv, header {self.header}, delimiter {literal(self.delimiter)}, quote {literal(self.quote)}, "
                f"escape {literal(self.escape)}, null {literal(self.null)})")


def read(system, statements):
    """What a system makes of a case: the rows, or the error."""
    for statement in ("drop table if exists t", *statements):
        answer = system.run(statement)
        if answer[0]:
            break
    return answer


def expected(oracle, case, path):
    """PostgreSQL's rows in the order of the text: it stores a short row where a longer one before it had no room."""
    columns = case.columns()
    return read(oracle, (case.create(", number bigserial"), case.copy(path, f" ({columns})"), f"select {columns} from t order by number"))


def found(worker, case, path):
    return read(worker, (case.create(), case.copy(path), "select * from t"))


def smaller(case, disagrees):
    """Leaves out what the disagreement does not need, as far as so many tries go."""
    tries = 1000
    step = max(1, len(case.text) // 2)
    while step:
        place = 0
        while place < len(case.text) and tries:
            tries -= 1
            kept, case.text = case.text, case.text[:place] + case.text[place + step:]
            if not disagrees(case):
                case.text = kept
                place += step
        step //= 2


def run(options, server):
    source = random.Random(options.seed)
    oracle = Oracle(server)
    worker = Worker(options.diptych, ":memory:", options.set, [])
    path = os.path.join(server.directory, "case.csv")

    def difference(case):
        with open(path, "wb") as file:
            file.write(case.text)
        return comparison.difference(expected(oracle, case, path), found(worker, case, path), True)

    failures = read_in_full = 0
    for number in range(options.count):
        case = Case(source)
        problem = difference(case)
        read_in_full += not expected(oracle, case, path)[0] if options.verbose else 0
        if problem is None:
            continue
        failures += 1
        smaller(case, difference)
        print(f"FAILED seed {options.seed} text {number}: {difference(case)}\n  {case.create()}; {case.copy('case.csv')}\n  {case.text!r}", flush=True)
        if failures >= options.stop_after:
            break
    worker.close()
    server.drop_database(oracle.connection)
    if options.verbose:
        print(f"PostgreSQL reads {read_in_full} of {number + 1} texts")
    print(f"seed {options.seed}, settings {options.set or 'default'}")
    print(f"{number + 1 - failures} passed, {failures} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diptych", required=True, help="path of libdiptych.so")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="SET on connecting; repeatable")
    parser.add_argument("--stop-after", type=int, default=25, metavar="N", help="give up after N failures")
    parser.add_argument("-v", "--verbose", action="store_true", help="say how many texts PostgreSQL reads")
    options = parser.parse_args()
    try:
        with postgres.Server() as server:
            return run(options, server)
    except FileNotFoundError as missing:
        print(f"skipped: {missing}\n0 passed, 0 failed, 1 skipped")
        return 0


if __name__ == "__main__":
    sys.exit(main())
