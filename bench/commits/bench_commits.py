"""Commits a second: INSERTs of one row each, every one a commit that is on the disk when it returns, from one connection and from many.

Diptych beside SQLite (journal_mode = WAL, synchronous = FULL), each with one process and a thread for each connection, on files in the
same folder; a C++ program makes the load (commits_driver.cc). Systems take turns, run by run; medians count. The rows are compared
afterwards, in a database that was opened anew. A third contestant is the disk itself: as many bytes as a short row in a log take,
appended and synced (fdatasync).

usage: bench_commits.py --connections 1,16 --seconds 2 --runs 3   (make bench-commits)
"""

import argparse
import os
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import contestants
import diptych_library
import driver
import side_by_side

LOG_BYTES = 64
SYSTEMS = ("sqlite", "diptych")
SUMS = "SELECT count(*), count(DISTINCT id), sum(id), sum(amount) FROM t"


def sums_in(system, options, path):
    """SUMS of a database that is opened anew."""
    if system == "sqlite":
        connection = sqlite3.connect(path)
        row = connection.execute(SUMS).fetchone()
    else:
        connection = diptych_library.Connection(diptych_library.load_library(options.library), path)
        row = connection.query(SUMS)[0]
    connection.close()
    return [int(value) for value in row]


def sums_of(commits):
    """What they are after so many commits of each connection: inserts.h has the rows."""
    rows = sum(commits)
    ids = sum(10**9 * number * count + count * (count - 1) // 2 for number, count in enumerate(commits))
    return [rows, rows, ids, 7 * ids]


def run(system, options, connections):
    """A document of the driver. RuntimeError when a commit fails, or when a row is not there afterwards, or is there twice."""
    folder = tempfile.mkdtemp(dir=options.folder)
    try:
        path = os.path.join(folder, f"commits.{system}")
        text = {"text": True} if options.text else {}
        document = driver.document(options, "inserts", system=system, path=path, connections=connections, seconds=options.seconds, **text)
        expected, found = sums_of(document["commits"]), sums_in(system, options, path)
        if found != expected:
            raise RuntimeError(f"{system}: {SUMS} is {found}, committed were {expected}")
        return document
    finally:
        shutil.rmtree(folder)


def run_disk(folder, seconds):
    """Appended and synced pieces of a log a second, one after the other."""
    path = os.path.join(folder, "commits.log")
    file = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_APPEND)
    start, done = time.perf_counter(), 0
    while time.perf_counter() < start + seconds:
        os.write(file, bytes(LOG_BYTES))
        os.fdatasync(file)
        done += 1
    elapsed = time.perf_counter() - start
    os.close(file)
    os.remove(path)
    return done / elapsed


def median_of(documents):
    """Of runs: commits a second and latencies, each the median of its own."""
    latencies = {name: statistics.median(document["latency_us"][name] for document in documents) for name in ("p50", "p99", "max")}
    return {"commits_per_second": statistics.median(document["commits_per_second"] for document in documents), "latency_us": latencies}


def measure(options, connections, versions):
    documents = {system: [] for system in SYSTEMS}
    disk = []
    for _ in range(options.runs):
        for system in SYSTEMS:
            documents[system].append(run(system, options, connections))
            versions[system] = documents[system][-1]["version"]
        disk.append(run_disk(options.folder, options.seconds / 4))
    return {"disk": statistics.median(disk), **{system: median_of(runs) for system, runs in documents.items()}}


def rate(case, system):
    return case[system]["commits_per_second"]


def shown_latency(case, system):
    return " / ".join(f"{case[system]['latency_us'][name]:.0f}" for name in ("p50", "p99", "max"))


def print_case(connections, case):
    print(f"{connections:>11}{case['disk']:>12.0f}" + "".join(f"{rate(case, system):>10.0f}" for system in SYSTEMS)
          + f"{rate(case, 'diptych') / rate(case, 'sqlite'):>18.2f}"
          + "".join(f"{shown_latency(case, system):>28}" for system in SYSTEMS), flush=True)


def print_gain(cases):
    """How many times as often many connections commit as few."""
    least, most = min(cases), max(cases)
    if most == least:
        return
    for system in SYSTEMS:
        print(f"{system}: {most} connections commit {rate(cases[most], system) / rate(cases[least], system):.2f} times as often as {least}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", default="1,16", help="how many, separated by commas",
                        type=lambda text: [contestants.positive(part) for part in text.split(",")])
    parser.add_argument("--seconds", type=float, default=2.0, help="of a run")
    parser.add_argument("--runs", type=contestants.positive, default=3)
    parser.add_argument("--text", action="store_true", help="a text for each row instead of a prepared statement")
    parser.add_argument("--folder", default=os.path.join(ROOT, "data"), help="on the disk that is measured")
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "commits.json"))
    driver.add_arguments(parser, ROOT)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    report = {"benchmark": "commits", "machine": side_by_side.describe_machine(), "versions": {}, "seconds": options.seconds,
              "statements": "texts" if options.text else "prepared", "cases": {}}
    print(f"commits of one row a second, by {report['statements']}; microseconds of a commit: p50 / p99 / longest\n")
    print(f"{'connections':>11}{'disk alone':>12}{'sqlite':>10}{'diptych':>10}{'diptych / sqlite':>18}{'sqlite us':>28}{'diptych us':>28}",
          flush=True)
    for connections in options.connections:
        report["cases"][connections] = measure(options, connections, report["versions"])
        print_case(connections, report["cases"][connections])
    print_gain(report["cases"])
    side_by_side.write_json(report, options.json)


main()
