"""Contestants by name: DuckDB, Diptych on the CPU, on a device with its columns in a residency, and Diptych's own choice (auto)."""

import argparse
import os
import shutil
import time

import side_by_side

RESIDENCIES = ("serial", "streamed", "mapped", "cached")
NAMES = ("duckdb", "cpu", *RESIDENCIES, "auto")

# Of long questions, whose columns are worth a few runs.
LEAST_SETTLING_RUNS = 8


def kind(name):
    """Contestants of a kind read the same files: the ending of their databases."""
    return "duckdb" if name == "duckdb" else "diptych"


def arguments(name, library):
    """Of worker.py."""
    return ["duckdb"] if name == "duckdb" else ["diptych", library]


def settings(name, threads, device, others=()):
    """others: of --set, for all of Diptych's."""
    first = [f"set threads = {threads}"]
    if name == "duckdb":
        return first + ["set preserve_insertion_order = false"]
    own = [f"set {setting}" for setting in others]
    if name in RESIDENCIES:
        return first + [f"set device = '{device}'", f"set residency = '{name}'", "set gpu_engine = 'generated'"] + own
    return first + [f"set device = '{name}'"] + own


def own_database(path, name, others):
    """A database file is one process's: where one of the others has this file open, a copy."""
    if not any(kind(other) == kind(name) for other in others):
        return path
    stem, ending = os.path.splitext(path)
    copy = f"{stem}.{name}{ending}"
    if not os.path.exists(copy) or os.path.getmtime(copy) < os.path.getmtime(path):
        shutil.copyfile(path, copy)
    return copy


def share_device(systems, device):
    """Several processes that may use the device get equal parts of what one may use by default, nine tenths of its memory: none
    knows of the others, and each keeps what it has once taken."""
    users = [system for system in systems if system.name in (*RESIDENCIES, "auto") and not system.is_joined]
    if len(users) < 2:
        return
    units = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
    for name, _, memory, *_ in users[0].ask("query", sql="show devices")["rows"]:
        if name.startswith(device) and memory:
            number, unit = memory.split()
            share = int(float(number) * units[unit] * 0.9 / len(users))
            for system in users:
                system.ask("execute", sql=f"set device_memory_limit = {share}")
            return


class System(side_by_side.WorkerProcess):
    """A worker process with a database open, under the contestant's name; or another connection to that of `beside`, which has to
    stop last."""

    def __init__(self, name, library, path, settings=(), beside=None):
        self.is_joined = beside is not None
        self.connection = 0
        self.settling_seconds = 2
        if beside is None:
            super().__init__(name, arguments(name, library))
            self.version = self.ask("version")["version"]
            self.ask("open", path=path, settings=settings)
        else:
            self.name, self.process, self.version = name, beside.process, beside.version
            self.connection = self.ask("join", settings=settings)["connection"]

    def ask(self, do, **arguments):
        return super().ask(do, connection=self.connection, **arguments)

    def stop(self):
        if not self.is_joined:
            super().stop()

    def settle(self, sql):
        """Runs a question with auto until it has found the devices, moved columns there and compiled kernels, as far as it thinks
        that it pays; others have nothing to settle."""
        if self.name != "auto":
            return
        started, runs = time.monotonic(), 0
        while runs < LEAST_SETTLING_RUNS or time.monotonic() - started < self.settling_seconds:
            self.ask("seconds", sql=sql)
            runs += 1
        self.settling_seconds = 0.5


def open_systems(options, database):
    """The contestants that `--only` names, each in a process; with `--together` those of Diptych in one. database: from a
    contestant's name to its file."""
    systems = []
    for name in options.only.split(","):
        own = settings(name, options.threads, options.device, options.set)
        relatives = [system for system in systems if kind(system.name) == kind(name)]
        if options.together and relatives:
            systems.append(System(name, options.library, None, own, relatives[0]))
        else:
            path = own_database(database(name), name, [system.name for system in relatives])
            systems.append(System(name, options.library, path, own))
    if not any(setting.startswith("device_memory_limit") for setting in options.set):
        share_device(systems, options.device)
    return systems


def in_turn(systems, turn):
    """Each time another one begins: nobody always comes behind the same one, which leaves caches as it does."""
    first = turn % max(1, len(systems))
    return systems[first:] + systems[:first]


def add_arguments(parser):
    """Those that open_systems() reads and that not every benchmark has."""
    parser.add_argument("--set", action="append", default=[], metavar="SETTING=VALUE",
                        help="of all of Diptych's contestants: --set \"device_memory_limit = '512MB'\"")
    parser.add_argument("--together", action="store_true",
                        help="Diptych's contestants are connections of one process: what a process is like makes no difference then")


def shown(seconds, first):
    """Milliseconds, and how many times as fast as the first contestant."""
    if seconds is None:
        return "-"
    return f"{seconds * 1e3:.2f} ({first / seconds:.2f})" if first else f"{seconds * 1e3:.2f}"


def list_of(allowed):
    """For argparse: names separated by commas, all of them known."""
    def check(text):
        for name in text.split(","):
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(allowed)}")
        return text
    return check


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is less than 1")
    return value
