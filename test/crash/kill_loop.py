#!/usr/bin/env python3
"""Kills the shell with SIGKILL at random instants while it loads a database file, and checks what the file then holds.

    kill_loop.py --diptych build/release/diptych --rounds 200 --seed 1

Statement n (an INSERT, an INSERT ... SELECT or a COPY) adds the rows of batch n and is followed by a query that prints n, so
that what was committed is known up to the one statement in flight. After each kill the file must open and hold exactly the
batches 1..n, where n is the last one printed or the one after it. The next round goes on with the same file.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

CREATE = "CREATE TABLE IF NOT EXISTS t(batch integer NOT NULL, v bigint, s text, n numeric(12,2));\n"
CHECK = "SELECT batch, count(*), sum(v), min(s), max(s), sum(n) FROM t GROUP BY batch ORDER BY batch"


def batch_rows(seed, batch):
    """How many rows a batch has; row i of it is (batch, i * 3 - batch, 's' || i % 17, i / 4)."""
    kind = random.Random(seed * 1000003 + batch)
    return kind.choice([1, 1, 2, 63, 64, 65, 100, 1000, 5000, 70000])


def expected_line(seed, batch):
    rows = batch_rows(seed, batch)
    texts = sorted({f"s{i % 17}" for i in range(1, min(rows, 17) + 1)})
    total, sums = sum(i * 3 - batch for i in range(1, rows + 1)), rows * (rows + 1) / 8
    return [str(batch), str(rows), str(total), texts[0], texts[-1], f"{sums:.2f}"]


def statement(seed, batch, directory):
    """One statement that adds the batch."""
    rows = batch_rows(seed, batch)
    if rows <= 2:
        values = ", ".join(f"({batch}, {i * 3 - batch}, 's{i % 17}', {i / 4})" for i in range(1, rows + 1))
        return f"INSERT INTO t VALUES {values};\n"
    if batch % 3 == 0:
        path = os.path.join(directory, f"{rows}.{batch}.csv")
        with open(path, "w", encoding="utf-8") as csv:
            csv.writelines(f"{batch},{i * 3 - batch},s{i % 17},{i / 4}\n" for i in range(1, rows + 1))
        return f"COPY t FROM '{path}' (FORMAT csv);\n"
    return f"INSERT INTO t SELECT {batch}, x * 3 - {batch}, 's' || x % 17, x / 4.0 FROM generate_series(1, {rows}) g(x);\n"


class Round:
    """One life of the shell: feeds statements from `first` on until the process is killed."""

    def __init__(self, options, database, directory, first):
        self.options, self.directory, self.next, self.committed = options, directory, first, first - 1
        self.process = subprocess.Popen([options.diptych, database, "--mode", "csv"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, bufsize=0)
        self.reader = threading.Thread(target=self._read)
        self.writer = threading.Thread(target=self._write)
        self.errors = threading.Thread(target=self._read_errors)
        self.messages = []
        for thread in (self.reader, self.writer, self.errors):
            thread.start()

    def _read(self):
        for line in self.process.stdout:
            word = line.decode(errors="replace").strip()
            if word.startswith("committed "):
                self.committed = int(word.split(" ")[1])

    def _read_errors(self):
        for line in self.process.stderr:
            self.messages.append(line.decode(errors="replace").rstrip())

    def _write(self):
        try:
            self.process.stdin.write(CREATE.encode())
            while True:
                text = statement(self.options.seed, self.next, self.directory)
                self.process.stdin.write(f"{text}SELECT 'committed {self.next}' AS c;\n".encode())
                self.next += 1
                while self.next > self.committed + 20 and self.process.poll() is None:
                    time.sleep(0.0005)
                if self.process.poll() is not None:
                    return
        except (BrokenPipeError, OSError, ValueError):
            return

    def kill_after(self, seconds):
        """Kills; returns the last batch known to be committed and how the process ended when it did before."""
        try:
            early = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            early = None
            self.process.kill()
        self.process.wait()
        for thread in (self.reader, self.writer, self.errors):
            thread.join()
        return self.committed, early


def stored_batches(options, database):
    """The rows of CHECK, or an error text."""
    result = subprocess.run([options.diptych, database, "--mode", "csv", "-c", CREATE, "-c", CHECK], capture_output=True, text=True,
                            timeout=300, check=False)
    if result.returncode != 0:
        return f"the file can't be read: status {result.returncode} {result.stderr}"
    return [line.split(",") for line in result.stdout.splitlines() if line and line[0].isdigit()]


def check(options, database, committed):
    """(the number of batches stored, what is wrong or None)."""
    stored = stored_batches(options, database)
    if isinstance(stored, str):
        return committed, stored
    if len(stored) not in (committed, committed + 1):
        return len(stored), f"{committed} batches were committed, {len(stored)} are stored"
    for batch, line in enumerate(stored, 1):
        if line != expected_line(options.seed, batch):
            return len(stored), f"batch {batch}: expected {expected_line(options.seed, batch)}, stored {line}"
    return len(stored), None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--diptych", required=True, help="path of the shell")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=float, default=0.6, help="seconds that a round lives at most")
    parser.add_argument("--restart-every", type=int, default=25, help="rounds after which a new file is begun")
    options = parser.parse_args()
    options.diptych = os.path.abspath(options.diptych)
    source, failures, stored, largest = random.Random(options.seed), 0, 0, 0
    print(f"seed {options.seed}")
    with tempfile.TemporaryDirectory() as directory:
        database = os.path.join(directory, "killed.diptych")
        for number in range(options.rounds):
            if number % options.restart_every == 0:
                stored = 0
                for name in os.listdir(directory):
                    os.remove(os.path.join(directory, name))
            life = Round(options, database, directory, stored + 1)
            committed, early = life.kill_after(source.random() ** 2 * options.longest)
            stored, problem = check(options, database, committed)
            largest = max(largest, stored)
            if early is not None:
                problem = problem or f"the shell ended by itself with {early}: {life.messages[:3]}"
            elif life.messages:
                problem = problem or f"the shell complained: {life.messages[:3]}"
            if problem:
                failures += 1
                print(f"FAILED round {number}: {problem}")
                stored = 0
                if os.path.exists(database):
                    os.remove(database)
    print(f"at most {largest} statements in one file")
    print(f"{options.rounds - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
