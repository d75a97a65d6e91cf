#!/usr/bin/env python3
"""Two builds of Diptych in turns: what a change has made of scans. New over old, by medians and by least times.

  virginian   the ten queries of the Virginian Database and their totals: one core, all cores, cached
  tpch        q1 and q6 of TPC-H, on the CPU and cached by generated kernels

A build is a folder with libdiptych.so and bench_virginian; what it is linked with is looked for there, and in LD_LIBRARY_PATH.

usage: bench_builds.py --old ../before/build/release --new build/release --device none ...
"""

import argparse
import collections
import os
import re
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), folder) for folder in ("systems", "tpch")]

import texts
from contestants import System, in_turn, positive, settings

WAYS = ("old", "new")


def libraries(folder):
    return os.pathsep.join([folder, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])


def virginian_figures(options, folder, contestants):
    """By part, contestant and query, the median of a process's runs in milliseconds."""
    command = [os.path.join(folder, "bench_virginian"), "--runs", str(options.runs), "--threads", str(options.threads),
               "--device", options.device, "--python", sys.executable, "--json", os.devnull, "--only", *contestants]
    output = subprocess.run(command, env={**os.environ, "LD_LIBRARY_PATH": libraries(folder)}, capture_output=True, text=True, check=True).stdout
    figures, part = {}, None
    for line in output.splitlines():
        if " rows, median of" in line:
            part = "totals" if line.startswith("Aggregates") else "queries"
        # The query, its rows, a figure for each contestant.
        row = re.match(r"q(\d)\s+\d+\s+([\d.\s]+)$", line)
        if row and part:
            figures.update({(part, name, int(row[1])): float(figure) for name, figure in zip(contestants, row[2].split())})
    return figures


def compare_virginian(options):
    contestants = ["diptych-1", "diptych-N"] + ([] if options.device == "none" else ["cached"])
    times = {way: collections.defaultdict(list) for way in WAYS}
    for turn in range(options.turns):
        for way in in_turn(WAYS, turn):
            for key, figure in virginian_figures(options, getattr(options, way), contestants).items():
                times[way][key].append(figure)
    for part in ("queries", "totals"):
        for name in contestants:
            for what, of in (("medians", statistics.median), ("least", min)):
                ratios = [of(times["new"][part, name, query]) / of(times["old"][part, name, query]) for query in range(10)]
                print(f"{part:8} {name:10} {what:8} geometric mean {statistics.geometric_mean(ratios):.3f}, worst {max(ratios):.2f}: "
                      + " ".join(f"{ratio:.2f}" for ratio in ratios), flush=True)


def open_system(options, way, name):
    folder = getattr(options, way)
    os.environ["LD_LIBRARY_PATH"] = libraries(folder)
    path = os.path.join(options.data, f"{way}.{name}.diptych")
    if os.path.exists(path):
        os.remove(path)
    system = System(name, os.path.join(folder, "libdiptych.so"), path, settings(name, options.threads, options.device))
    for sql in texts.statements({"lineitem": texts.file(options.data, "lineitem", "parquet")}):
        system.ask("execute", sql=sql)
    return system


def compare_tpch(options):
    texts.make_files(options.data, "parquet", options.scale)
    before = os.environ.get("LD_LIBRARY_PATH", "")
    for name in ("cpu",) if options.device == "none" else ("cpu", "cached"):
        systems = {}
        for way in WAYS:
            os.environ["LD_LIBRARY_PATH"] = before
            systems[way] = open_system(options, way, name)
        for number in (1, 6):
            sql = texts.query(number)
            times = {way: [] for way in WAYS}
            for turn in range(options.tpch_turns):
                for way in in_turn(WAYS, turn):
                    systems[way].ask("seconds", sql=sql)  # to warm up
                    times[way].append(systems[way].ask("seconds", sql=sql)["seconds"])
            ratios = [of(times["new"]) / of(times["old"]) for of in (statistics.median, min)]
            print(f"TPC-H SF {options.scale:g} {name} q{number}: {ratios[0]:.3f}, least {ratios[1]:.3f}; "
                  f"{statistics.median(times['new']) * 1e3:.2f} ms", flush=True)
        for system in systems.values():
            system.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True, type=os.path.abspath, help="folder of the build before")
    parser.add_argument("--new", default=os.path.join(ROOT, "build", "release"), type=os.path.abspath)
    parser.add_argument("--parts", default="virginian,tpch")
    parser.add_argument("--turns", type=positive, default=4, help="processes of each build, of the Virginian's queries")
    parser.add_argument("--runs", type=positive, default=11, help="measured runs of a query in a process")
    parser.add_argument("--tpch-turns", type=positive, default=25)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--threads", type=positive, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="none", help="cuda, opencl, ...; none")
    parser.add_argument("--data", default=os.path.join(ROOT, "data", "builds"))
    options = parser.parse_args()
    parts = {"virginian": compare_virginian, "tpch": compare_tpch}
    for part in options.parts.split(","):
        parts[part](options)


if __name__ == "__main__":
    main()
