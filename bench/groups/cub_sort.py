"""The device time of Diptych's grouping over that of CUB's radix sort of as many pairs of key and row number.

bench_cub_sort (cub_sort.cu) sorts 32-bit keys and 32-bit row numbers, on the bits that the keys need. Diptych's time is the
kernel_ns that EXPLAIN (ANALYZE, FORMAT JSON) tells of the sections that group (docs/explain.md).
"""

import json
import statistics
import subprocess


def sort_ns(program, rows, groups, runs):
    """The median of several sorts; RuntimeError with the program's message."""
    try:
        done = subprocess.run([program, str(rows), str(groups), str(runs)], capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeError(f"CUB's sort: {error}") from error
    if done.returncode != 0:
        raise RuntimeError(f"CUB's sort: {done.stderr.strip() or f'status {done.returncode}'}")
    try:
        return json.loads(done.stdout)["median_ms"] * 1e6
    except (ValueError, KeyError, TypeError) as error:
        raise RuntimeError(f"CUB's sort wrote {done.stdout!r}") from error


def grouping_sections(program):
    """The addresses of the sections with an opcode Group, in the program's listing."""
    sections, parallel = set(), None
    for line in program[1:]:  # the first names the columns
        address, opcode = line.split()[:2]
        if opcode == "Parallel":
            parallel = int(address)
        elif opcode == "Group":
            sections.add(parallel)
    return sections


def grouping_ns(document):
    """The kernels' time of the sections that group. RuntimeError: the device did not run all of it, or its driver tells no times."""
    grouping = grouping_sections(document["program"])
    sections = [section for section in document["run"]["sections"] if section["address"] in grouping]
    if not sections:
        raise RuntimeError("no section groups")
    for section in sections:
        if section["device"] is None or section["rows_on_cpu"]:
            raise RuntimeError(f"{section['engine']} grouped: {section['fallback'] or section['why']}")
    time = sum(section["device"]["kernel_ns"] for section in sections)
    if time == 0:
        raise RuntimeError("the driver tells no kernel times")
    return time


def compare(systems, sql, program, rows, groups, runs, fail):
    """{"cub_sort_ns", "grouping_ns": {system: ...}, "ratio": {system: ...}}; None without CUB's time. fail(system, text) hears
    what could not be measured."""
    try:
        sort = sort_ns(program, rows, groups, max(runs, 5))
    except RuntimeError as error:
        fail("cub", str(error))
        return None
    result = {"cub_sort_ns": sort, "grouping_ns": {}, "ratio": {}}
    for system in systems:
        try:
            system.ask("explain", sql=sql)  # brings kernels and columns where they are wanted
            times = [grouping_ns(system.ask("explain", sql=sql)["document"]) for _ in range(runs)]
        except RuntimeError as error:
            fail(system.name, f"device time: {error}")
            continue
        result["grouping_ns"][system.name] = statistics.median(times)
        result["ratio"][system.name] = result["grouping_ns"][system.name] / sort
    return result


def print_table(entries):
    """entries: from a question to what compare() gave."""
    names = list(dict.fromkeys(name for entry in entries.values() for name in entry["ratio"]))
    print("\ndevice time of grouping: milliseconds, and how many times CUB's sort of as many pairs")
    print(f"{'':<24}{'CUB sort':>22}" + "".join(f"{name:>22}" for name in names))
    for question, entry in entries.items():
        cells = [f"{entry['grouping_ns'][name] / 1e6:.3f} ({entry['ratio'][name]:.2f})" if name in entry["ratio"] else "-"
                 for name in names]
        print(f"{question:<24}{entry['cub_sort_ns'] / 1e6:>22.3f}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
    ratios = [(ratio, question) for question, entry in entries.items() for ratio in entry["ratio"].values()]
    if ratios:
        print("grouping / CUB's sort: at most {:.2f} ({})".format(*max(ratios)))
    print()
