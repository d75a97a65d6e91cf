"""Commits a second: INSERTs of one row each, every one a commit that is on the disk when it returns, from one connection and from many.

Diptych beside SQLite (journal_mode = WAL, synchronous = FULL), each with one process and a thread for each connection, on files in the
same folder. Systems take turns, run by run; medians count. The rows are counted afterwards, in a database that was opened anew. A third
contestant is the disk itself: as many bytes as a short row in a log take, appended and synced (fdatasync).

usage: bench_commits.py --connections 1,16 --seconds 2 --runs 3   (make bench-commits)
"""

import argparse
import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import contestants
import diptych_library
import side_by_side

TABLE = "CREATE TABLE t (id bigint, amount bigint, name text)"
LOG_BYTES = 64


class Diptych:
    name = "diptych"

    def __init__(self, options, folder):
        self.library = diptych_library.load_library(options.library)
        self.version = self.library.diptych_version().decode()
        self.path = os.path.join(folder, "commits.diptych")

    def open(self, connections):
        first = diptych_library.Connection(self.library, self.path)
        first.execute(TABLE)
        return [first] + [first.another() for _ in range(connections - 1)]

    def insert(self, connection, row):
        connection.execute(f"INSERT INTO t VALUES ({row}, {row * 7}, 'row {row}')")

    def count(self):
        connection = diptych_library.Connection(self.library, self.path)
        rows = int(connection.query("SELECT count(*) FROM t")[0][0])
        connection.close()
        return rows


class Sqlite:
    name = "sqlite"

    def __init__(self, options, folder):
        self.version = sqlite3.sqlite_version
        self.path = os.path.join(folder, "commits.sqlite")

    def open(self, connections):
        opened = []
        for _ in range(connections):
            # Autocommit; whoever finds another one writing waits.
            connection = sqlite3.connect(self.path, timeout=60, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            if not opened:
                connection.execute(TABLE)
            opened.append(connection)
        return opened

    def insert(self, connection, row):
        connection.execute(f"INSERT INTO t VALUES ({row}, {row * 7}, 'row {row}')")

    def count(self):
        connection = sqlite3.connect(self.path)
        rows = connection.execute("SELECT count(*) FROM t").fetchone()[0]
        connection.close()
        return rows


def run(system, connections, seconds):
    """Commits a second. The connections' threads begin together and end with the commit that they are at. Errors: RuntimeError when a
    commit fails, or when a row is not there afterwards, or is there twice."""
    opened = system.open(connections)
    done = [0] * connections
    failures = []
    begin = threading.Barrier(connections + 1)
    end = 0.0

    def work(number):
        begin.wait()
        try:
            while time.perf_counter() < end:
                system.insert(opened[number], number * 10**9 + done[number])
                done[number] += 1
        except Exception as error:  # whatever a system raises
            failures.append(str(error))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(connections)]
    for thread in threads:
        thread.start()
    start = time.perf_counter()
    end = start + seconds
    begin.wait()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - start
    for connection in reversed(opened):
        connection.close()
    if failures:
        raise RuntimeError(f"{system.name}: {failures[0]}")
    if system.count() != sum(done):
        raise RuntimeError(f"{system.name}: {sum(done)} rows were committed, {system.count()} are there")
    return sum(done) / elapsed


def run_disk(folder, seconds):
    """Appended and synced pieces of a log a second, one after the other."""
    file = os.open(os.path.join(folder, "log"), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    start, done = time.perf_counter(), 0
    while time.perf_counter() < start + seconds:
        os.write(file, bytes(LOG_BYTES))
        os.fdatasync(file)
        done += 1
    os.close(file)
    return done / (time.perf_counter() - start)


def measure(options, report):
    table = {}
    for connections in options.connections:
        times = {"disk": [], "sqlite": [], "diptych": []}
        for _ in range(options.runs):
            for kind in (Sqlite, Diptych):
                folder = tempfile.mkdtemp(dir=options.folder)
                try:
                    system = kind(options, folder)
                    report["versions"][system.name] = system.version
                    times[system.name].append(run(system, connections, options.seconds))
                finally:
                    shutil.rmtree(folder)
            folder = tempfile.mkdtemp(dir=options.folder)
            times["disk"].append(run_disk(folder, options.seconds / 4))
            shutil.rmtree(folder)
        table[connections] = {name: statistics.median(values) for name, values in times.items()}
        rates = table[connections]
        print(f"{connections:>11}{rates['disk']:>14.0f}{rates['sqlite']:>12.0f}{rates['diptych']:>12.0f}"
              f"{rates['diptych'] / rates['sqlite']:>18.2f}", flush=True)
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", default="1,16", help="how many, separated by commas",
                        type=lambda text: [contestants.positive(part) for part in text.split(",")])
    parser.add_argument("--seconds", type=float, default=2.0, help="of a run")
    parser.add_argument("--runs", type=contestants.positive, default=3)
    parser.add_argument("--folder", default=os.path.join(ROOT, "data"), help="on the disk that is measured")
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "release", "libdiptych.so"))
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "commits.json"))
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    report = {"benchmark": "commits", "machine": side_by_side.describe_machine(), "versions": {}, "seconds": options.seconds}
    print("commits of one row a second\n")
    print(f"{'connections':>11}{'disk alone':>14}{'sqlite':>12}{'diptych':>12}{'diptych / sqlite':>18}", flush=True)
    report["rates"] = measure(options, report)
    least, most = min(report["rates"]), max(report["rates"])
    if most > least:
        for name in ("sqlite", "diptych"):
            print(f"{name}: {most} connections commit {report['rates'][most][name] / report['rates'][least][name]:.2f} times as often as {least}")
    side_by_side.write_json(report, options.json)


main()
