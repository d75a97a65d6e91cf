"""What a run took of a device, from Diptych's document of it (docs/explain.md)."""

import statistics

import device_rates
from contestants import RESIDENCIES


def summary(document):
    """Device time (kernels and builds, by the device's clock), encoded bytes read, the share of the device's rate that this is, waits
    of the host, forms of indexes and groups, and why sections were left to the CPU."""
    run = document["run"]
    sections = [section for section in run["sections"] if section["engine"] != "cpu"]
    parts = [part["device"] for part in sections + run["operations"] if part["device"]]
    device_ns = sum(part["kernel_ns"] for part in parts)
    limits = [section["limit_bytes_per_second"] for section in sections if section["limit_bytes_per_second"]]
    read = sum(section["read_bytes"] for section in sections)
    share = read / (device_ns / 1e9) / max(limits) if device_ns and limits else None
    return {"device_seconds": device_ns / 1e9, "seconds": run["time"]["total_ns"] / 1e9, "read_bytes": read, "share_of_limit": share,
            "waits": sum(part["waits"] for part in parts), "launches": sum(part["launches"] for part in parts),
            "rate_seconds": device_rates.seconds_of(document),
            "forms": [f"{done['kind']} {done['form']}" for done in run["operations"]],
            "on_cpu": [section["fallback"] or section["why"] for section in run["sections"] if section["engine"] == "cpu"]}


def measure_all(systems, query, sql, able, runs, failures):
    """By name, of those systems on a device that are able: measure(). What fails is added to the failures."""
    measured = {}
    for system in systems:
        if system.name not in able or system.name not in RESIDENCIES:
            continue
        try:
            measured[system.name] = measure(system, sql, runs)
        except RuntimeError as error:
            failures.append({"query": query, "part": "on the device", "system": system.name, "error": str(error)})
    return measured


def measure(system, sql, runs):
    """The run of median device time, of so many."""
    summaries = [summary(system.ask("explain", sql=sql)["document"]) for _ in range(runs)]
    middle = statistics.median_low(one["device_seconds"] for one in summaries)
    return next(one for one in summaries if one["device_seconds"] == middle)


def print_tables(entries, names):
    """entries: by query, with `seconds` by contestant and `device_runs` as measure_all() gives them."""
    seconds = {query: entry["seconds"] for query, entry in entries.items()}
    for name in names:
        runs = {query: entry["device_runs"][name] for query, entry in entries.items() if name in entry["device_runs"]}
        if runs:
            print_table(runs, seconds, name, max(8, max(map(len, runs)) + 2))


def print_table(runs, seconds, name, width):
    """runs: summaries by query. seconds: medians by query, then contestant."""
    print(f"\n{name}: time on the device, and over what measured rates give (device_rates.py); the rest until the last row; encoded bytes "
          "read, share of the device's rate; waits; forms\n")
    print(f"{'':<{width}}{'device ms':>11}{'/ rates':>9}{'rest ms':>10}{'MB':>10}{'share':>8}{'waits':>7}  forms")
    for query, run in runs.items():
        rest = seconds[query].get(name)
        rest = f"{(rest - run['device_seconds']) * 1e3:.3f}" if rest is not None else "-"
        share = f"{run['share_of_limit']:.0%}" if run["share_of_limit"] is not None else "-"
        over = f"{run['device_seconds'] / run['rate_seconds']:.2f}" if run["rate_seconds"] else "-"
        print(f"{query:<{width}}{run['device_seconds'] * 1e3:>11.3f}{over:>9}{rest:>10}{run['read_bytes'] / 1e6:>10.1f}{share:>8}{run['waits']:>7}  "
              + ", ".join(run["forms"]))
    over_rates = [run["device_seconds"] / run["rate_seconds"] for run in runs.values() if run["rate_seconds"]]
    if over_rates:
        print(f"over the rates: geometric mean {statistics.geometric_mean(over_rates):.2f} of {len(over_rates)}, at most {max(over_rates):.2f}")
    times = [run["device_seconds"] for run in runs.values() if run["device_seconds"] > 0]
    if times:
        print(f"device time: geometric mean {statistics.geometric_mean(times) * 1e3:.3f} ms of {len(times)}")
