"""Contestants that take turns, query by query: what the benchmarks that compare medians share."""

import math
import os
import statistics

import auto_choice
import contestants
from contestants import shown

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# --keys: whether primary keys are declared.
KEY_VARIANTS = {"without": (False,), "with": (True,), "both": (False, True)}


def add_arguments(parser, runs, what):
    """The options that Contest reads, but those of contestants.add_arguments()."""
    parser.add_argument("--only", type=contestants.list_of(contestants.NAMES), default="duckdb,cpu",
                        help="duckdb, cpu, serial, streamed, mapped, cached, auto; the first is compared with")
    parser.add_argument("--runs", type=contestants.positive, default=runs,
                        help=f"measured runs of a {what}, each after one to warm up")
    parser.add_argument("--threads", type=contestants.positive, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--device", default="cuda", help="of cached and the other residencies")
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "release", "libdiptych.so"))


class Contest:
    """Contestants with their databases open. The report gets their versions, and what they can't answer or answer wrongly."""

    def __init__(self, options, report):
        self.options = options
        self.names = options.only.split(",")
        self.report = report
        self.systems = []

    def start(self, database):
        """database: from a contestant's name to its file."""
        self.systems = contestants.open_systems(self.options, database)
        for system in self.systems:
            self.report["versions"][contestants.kind(system.name)] = system.version

    def run_variants(self, bench, keys):
        """Loads and measures with or without primary keys, or both; bench has load(keys), database(name, keys) and measure(part, what)."""
        for with_keys in KEY_VARIANTS[keys]:
            what = f"{'with' if with_keys else 'without'} keys"
            bench.load(with_keys)
            self.start(lambda name: bench.database(name, with_keys))
            part = self.report["parts"][what] = {"queries": {}}
            bench.measure(part, what)
            self.stop(part)

    def stop(self, part):
        for system in self.systems:
            if system.name != "duckdb" and system.is_running():
                part.setdefault("fallbacks", {})[system.name] = system.ask("query", sql="show fallbacks")["rows"]
        for system in self.systems:
            system.stop()
        self.systems = []

    def measure(self, query, sql, what, expected, same):
        """Medians by name, of those that are right: same(rows, expected). Without known rows the first contestant's are expected."""
        able = []
        for system in self.systems:
            rows = self.answer(system, query, sql, what)
            if rows is None:
                continue
            expected = rows if expected is None else expected
            if same(rows, expected):
                able.append(system)
            else:
                self.report["disagreements"].append({"query": query, "part": what, "system": system.name, "rows": rows[:20],
                                                     "expected": expected[:20]})
        for system in able:
            system.settle(sql)
        times = {system.name: [] for system in able}
        for turn in range(self.options.runs):
            for system in contestants.in_turn(able, turn):
                system.ask("seconds", sql=sql)  # the turn before was another's, which cools caches
                times[system.name].append(system.ask("seconds", sql=sql)["seconds"])
        return {name: statistics.median(values) for name, values in times.items()}

    def answer(self, system, query, sql, what):
        """Runs the query once, which also brings columns where they are wanted. None for a failure."""
        try:
            return system.ask("rows", sql=sql)["rows"]
        except RuntimeError as error:
            self.report["failures"].append({"query": query, "part": what, "system": system.name, "error": str(error)})
            return None


# The report.


def print_head(report, what, names, width=8):
    machine = report["machine"]
    print(f"\n{what}; {machine['host']} ({machine['processor']}), {report['threads']} threads; milliseconds, and how many times as "
          "fast as the first\n")
    choice = f"{'auto / better':>16}" if "auto" in names else ""
    print(" " * width + "".join(f"{name:>22}" for name in names) + choice, flush=True)


def print_row(query, seconds, names, width=8):
    first = seconds.get(names[0])
    ratio = auto_choice.over_better(seconds)
    choice = f"{ratio:>16.2f}" if ratio else ""
    print(f"{query:<{width}}" + "".join(f"{shown(seconds.get(name), first):>22}" for name in names) + choice, flush=True)


def summarise(entries, names):
    """Prints and gives, by contestant, how many times as fast as the first it is; and auto over the better engine. entries: by query."""
    first = names[0]
    by_query = {query: entry["seconds"] for query, entry in entries.items()}
    speedup = {}
    for name in names[1:]:
        ratios = {query: times[first] / times[name] for query, times in by_query.items() if first in times and name in times}
        if not ratios:
            continue
        worst = min(ratios, key=ratios.get)
        mean = math.exp(statistics.fmean(map(math.log, ratios.values())))
        speedup[name] = {"ratios": ratios, "geometric_mean": mean, "worst": ratios[worst], "worst_query": worst}
        print(f"{name} / {first}: {mean:.2f} times as fast (geometric mean of {len(ratios)}), at worst {ratios[worst]:.2f} ({worst})")
    auto = auto_choice.summary(by_query)
    if auto:
        print(auto_choice.line(auto))
    return {"speedup": speedup, "auto": auto}


def print_problems(report):
    for failure in report["failures"]:
        reason = failure["error"].splitlines()[0]
        print(f"NOT MEASURED: {failure['query']} {failure['part']}, {failure['system']}: {reason[:160]}")
    for part in report["parts"].values():
        for name, rows in part.get("fallbacks", {}).items():
            for row in rows:
                print(f"fallback of {name}: {row}")
    for disagreement in report["disagreements"]:
        print(f"RESULTS DIFFER: {disagreement}")
