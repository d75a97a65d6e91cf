"""A table under a steady load of updates, deletes and inserts: does the file stay small, does memory, and does anybody wait long?

The table is a gigabyte in a file. Writers commit at a fixed rate, and a reader scans in a loop (steady.h says what they do, and how it is
checked). Once a second this is measured: the file and the log beside it, resident memory, the longest statement, and what commits took.
First comes a run on a copy of the file in which nothing is written anew in the background (SET compaction = 'checkpoint'); commits of the
main run are compared with it. At the end the table is copied into a fresh file, whose size is compared.

usage: bench_steady.py --bytes 1e9 --minutes 30 --connections 4 --rate 200   (make bench-steady)
       bench_steady.py --quick
"""

import argparse
import math
import os
import shutil
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import contestants
import diptych_library
import driver
import side_by_side

QUICK = {"bytes": 1e8, "minutes": 1.0, "baseline_minutes": 0.5}
SERIES = ("commits_us", "waits_us", "scans_us")
SETTINGS = {"baseline": "compaction = 'checkpoint'", "main": "compaction = 'background'"}


def percentile(values, share):
    """The least value that a share of all does not exceed; 0 without values."""
    ordered = sorted(values)
    return ordered[max(1, math.ceil(share * len(ordered))) - 1] if ordered else 0


def series(seconds, name):
    return [value for second in seconds for value in second[name]]


def percentiles(values):
    return {"p50": percentile(values, 0.5), "p99": percentile(values, 0.99), "max": max(values, default=0)}


def summed_up(seconds):
    """Of some seconds of a run, as one."""
    longest = max(seconds, key=lambda second: second["longest_us"])
    return {"commits": len(series(seconds, "commits_us")), "skipped": sum(second["skipped"] for second in seconds),
            "largest_file_bytes": max(second["file_bytes"] + second["log_bytes"] for second in seconds),
            "file_bytes": seconds[-1]["file_bytes"], "log_bytes": seconds[-1]["log_bytes"],
            "resident_bytes": statistics.fmean(second["resident_bytes"] for second in seconds),
            "longest_us": longest["longest_us"], "longest_statement": longest["longest_statement"],
            "longest_scan_us": max(second["longest_scan_us"] for second in seconds), "scans": len(series(seconds, "scans_us")),
            **{name: percentiles(series(seconds, name)) for name in SERIES}}


def print_head(name):
    print(f"\n{name}: SET {SETTINGS[name]}")
    print(f"{'second':>7}{'file MB':>9}{'log MB':>8}{'memory MB':>11}{'commits/s':>11}{'p50 ms':>8}{'p99 ms':>8}{'max ms':>8}"
          f"{'longest ms':>12}  {'which':<8}{'scan p50 ms':>12}{'longest':>9}", flush=True)


def print_part(seconds):
    part = summed_up(seconds)
    commits, scans = part["commits_us"], part["scans_us"]
    print(f"{seconds[-1]['second']:>7}{part['file_bytes'] / 1e6:>9.0f}{part['log_bytes'] / 1e6:>8.1f}{part['resident_bytes'] / 1e6:>11.0f}"
          f"{part['commits'] / len(seconds):>11.1f}{commits['p50'] / 1e3:>8.1f}{commits['p99'] / 1e3:>8.1f}{commits['max'] / 1e3:>8.1f}"
          f"{part['longest_us'] / 1e3:>12.1f}  {part['longest_statement']:<8}{scans['p50'] / 1e3:>12.1f}{part['longest_scan_us'] / 1e3:>9.1f}",
          flush=True)


def run_load(options, name, path, minutes):
    """The seconds of a run, and what closing the database took. RuntimeError where a statement fails or answers wrongly."""
    print_head(name)
    lines = max(1, round(minutes * 60 / options.lines))
    seconds, end = [], None
    for document in driver.documents(options, "steady", path=path, connections=options.connections, rate=options.rate, seconds=minutes * 60,
                                     region=options.region, pass_seconds=options.minutes * 60, reader_threads=options.reader_threads,
                                     set=[SETTINGS[name], *options.set]):
        if "second" not in document:
            end = document
            continue
        seconds.append(document)
        if len(seconds) % lines == 0:
            print_part(seconds[-lines:])
    print(f"closed in {end['close_us'] / 1e6:.2f} s; the file has {end['file_bytes'] / 1e6:.0f} MB", flush=True)
    return seconds, end


def check_table(options, path, rows):
    """Opened anew, it has all keys once, and no row that was changed by halves."""
    connection = diptych_library.Connection(diptych_library.load_library(options.library), path)
    found = connection.query("SELECT count(*), count(DISTINCT id), min(id), max(id), "
                             "count(*) FILTER (WHERE amount <> 100 * price) FROM t")[0]
    connection.close()
    if [int(value) for value in found] != [rows, rows, 0, rows - 1, 0]:
        raise RuntimeError(f"the table has {found} (rows, keys, least and greatest, wrong ones); there should be {rows} rows")


def fresh_copy_bytes(options, path, folder):
    """Of a database file with the same tables."""
    library = diptych_library.load_library(options.library)
    fresh = os.path.join(folder, "fresh.diptych")
    files = {table: os.path.join(folder, f"{table}.parquet") for table in ("spare", "t")}
    old = diptych_library.Connection(library, path)
    for table, file in files.items():
        old.execute(f"COPY {table} TO '{file}'")
    old.close()
    new = diptych_library.Connection(library, fresh)
    for table, file in files.items():
        new.execute(f"CREATE TABLE {table} AS SELECT * FROM '{file}'")
    new.close()
    for file in files.values():
        os.remove(file)
    return os.path.getsize(fresh)


def verdicts(report):
    """(what, found, bound or None, unit)"""
    main, same_time, baseline = report["runs"]["main"], report["same_time"], report["runs"]["baseline"]
    fresh, thirds = report["fresh_copy_bytes"], report["resident_bytes_of_thirds"]
    return [("file at the end / a fresh copy", main["end"]["file_bytes"] / fresh, 2.5, ""),
            ("largest file and log / a fresh copy", main["largest_file_bytes"] / fresh, 2.5, ""),
            ("resident memory, last third / first third", thirds[2] / thirds[0], 1.2, ""),
            ("longest statement that writes", main["longest_us"] / 1e6, 1, "s"),
            ("longest scan", main["longest_scan_us"] / 1e6, 1, "s"),
            ("commits, of those that were due", main["commits"] / max(1, main["commits"] + main["skipped"]), None, ""),
            ("p99 of commits", main["commits_us"]["p99"] / 1e3, None, "ms"),
            ("p99 of commits in the time of the baseline", same_time["commits_us"]["p99"] / 1e3, None, "ms"),
            ("p99 of commits in the baseline", baseline["commits_us"]["p99"] / 1e3, None, "ms"),
            ("p99 of commits / baseline, the same time", same_time["commits_us"]["p99"] / max(1, baseline["commits_us"]["p99"]), 3, "")]


def print_verdicts(report):
    print(f"\n{'':<46}{'found':>10}{'bound':>8}")
    for what, found, bound, unit in report["verdicts"]:
        verdict = "" if bound is None else f"{bound:>8}" + ("" if found <= bound else "  exceeded")
        print(f"{what + (f', {unit}' if unit else ''):<46}{found:>10.2f}{verdict}")


def measure(options, folder, report):
    path = os.path.join(folder, "steady.diptych")
    report["table"] = driver.document(options, "load", path=path, bytes=int(options.bytes))
    rows = report["table"]["rows"]
    print(f"{rows} rows, {report['table']['file_bytes'] / 1e6:.0f} MB; {options.connections} writers, {options.rate:g} commits a second",
          flush=True)
    copy = os.path.join(folder, "baseline.diptych")
    shutil.copyfile(path, copy)
    runs = {}
    for name, file, minutes in (("baseline", copy, options.baseline_minutes), ("main", path, options.minutes)):
        runs[name], end = run_load(options, name, file, minutes)
        check_table(options, file, rows)
        report["runs"][name] = {**summed_up(runs[name]), "end": end, "seconds": [
            {**second, **{one: percentiles(second[one]) for one in SERIES}, "commits": len(second["commits_us"])} for second in runs[name]]}
        if file != path:
            os.remove(file)
    main, third = runs["main"], max(1, len(runs["main"]) // 3)
    report["same_time"] = summed_up(main[:len(runs["baseline"])])
    report["resident_bytes_of_thirds"] = [statistics.fmean(second["resident_bytes"] for second in part)
                                          for part in (main[:third], main[third:-third] or main, main[-third:])]
    report["fresh_copy_bytes"] = fresh_copy_bytes(options, path, folder)
    report["verdicts"] = verdicts(report)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="100 MB for a minute")
    parser.add_argument("--bytes", type=float, help="of the table's file (1e9)")
    parser.add_argument("--minutes", type=float, help="of the main run (30)")
    parser.add_argument("--baseline-minutes", type=float, help="of the run before it (5)")
    parser.add_argument("--connections", type=contestants.positive, default=4, help="that write")
    parser.add_argument("--rate", type=float, default=200, help="commits a second, of all together")
    parser.add_argument("--region", type=float, default=0.05,
                        help="share of the keys that change at a time; it goes through the table once")
    parser.add_argument("--reader-threads", type=contestants.positive, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="SETTING=VALUE", help="of all connections")
    parser.add_argument("--lines", type=contestants.positive, default=15, help="of figures for each run")
    parser.add_argument("--folder", default=os.path.join(ROOT, "data"), help="on the disk that is measured; four times the bytes go there")
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "steady.json"))
    driver.add_arguments(parser, ROOT)
    options = parser.parse_args()
    for name, usual in {"bytes": 1e9, "minutes": 30.0, "baseline_minutes": 5.0}.items():
        if getattr(options, name) is None:
            setattr(options, name, QUICK[name] if options.quick else usual)
    return options


def main():
    options = parse_arguments()
    os.makedirs(options.folder, exist_ok=True)
    report = {"benchmark": "steady", "machine": side_by_side.describe_machine(), "options": vars(options), "runs": {}}
    folder = tempfile.mkdtemp(dir=options.folder)
    try:
        measure(options, folder, report)
    finally:
        shutil.rmtree(folder)
    print_verdicts(report)
    side_by_side.write_json(report, options.json)


main()
