"""The first run of a question in a process that has just opened the database: nothing is read, chosen or compiled yet, unless it
is in files. On the CPU and with `device = auto`, which has to pay for opening a device when it wants one.
"""

import statistics
import time

import auto_choice
import side_by_side

NAMES = ("cpu", "auto")


def measure(bench, entries, asked, processes, seconds):
    """Fills entries: from a question to {"sql", "seconds": {name: median}, "all_seconds": {name: [...]}}. bench makes processes
    (fresh(name)) and hears of failures and disagreements (fail(), differ()); after so many seconds no further question begins."""
    deadline = time.monotonic() + seconds
    print(f"\nfirst run of a question in a process, median of {processes}: milliseconds, and auto over cpu")
    print(f"{'':<24}" + "".join(f"{name:>22}" for name in NAMES) + f"{'auto / cpu':>22}", flush=True)
    for question, sql in asked.items():
        if time.monotonic() > deadline:
            bench.fail(question, None, f"not begun within {seconds} s")
            continue
        entry = measure_question(bench, question, sql, processes)
        if entry:
            entries[question] = entry
            print_row(question, entry["seconds"])


def measure_question(bench, question, sql, processes):
    times = {name: [] for name in NAMES}
    results = {}
    for turn in range(processes):
        for name in NAMES:
            system = bench.fresh(name)
            try:
                times[name].append(system.ask("seconds", sql=sql)["seconds"])
                if turn == 0:
                    results[name] = sorted(system.ask("rows", sql=sql)["rows"])
            except RuntimeError as error:
                bench.fail(question, name, str(error))
                return None
            finally:
                system.stop()
    if not side_by_side.same_rows(results["auto"], results["cpu"]):
        bench.differ(question, "auto", results["auto"], results["cpu"])
    return {"sql": sql, "seconds": {name: statistics.median(values) for name, values in times.items()}, "all_seconds": times}


def print_row(question, seconds):
    cells = [f"{seconds[name] * 1e3:.2f}" for name in NAMES] + [f"{auto_choice.over_better(seconds):.2f}"]
    print(f"{question:<24}" + "".join(f"{cell:>22}" for cell in cells), flush=True)


def summarise(entries):
    """Prints and gives what auto took over the CPU; None where nothing was measured."""
    found = auto_choice.summary({question: entry["seconds"] for question, entry in entries.items()})
    if found:
        print("first runs: " + auto_choice.line(found))
    return found
