"""SQLite and Diptych in processes of turning_driver, which are measured in turns."""

import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "systems"))
import side_by_side
from other_load import OtherLoad
from operations import COLUMNS

SQLITE, SQLITE_INDEX = "sqlite", "sqlite-index"
BASELINES = {SQLITE: "without an index", SQLITE_INDEX: "with an index on id"}
# After a run of this length there is none to warm up: caches are cold for a small part of it.
LONG_SECONDS = 0.1
NOTHING_AROUND = {"before": [], "after": []}
COPY_INDEX = "CREATE INDEX changed_copy_id ON changed_copy (id)"


def diptych_settings(device):
    """From a contestant's name to its settings."""
    settings = {"diptych-1": ["SET threads = 1", "SET device = cpu"], "diptych-N": ["SET device = cpu"]}
    if device:
        settings[device] = [f"SET device = '{device}'"]
    return {**settings, "auto": ["SET device = auto"]}


class Systems:
    """A process of turning_driver for SQLite and one for Diptych: neither finds what the other has left to its allocator. Contestants of a
    system are connections of one process. Errors: RuntimeError when a system fails or results differ."""

    def __init__(self, options):
        self.options = options
        self.settings = diptych_settings(options.device)
        self.names = [*BASELINES, *self.settings]
        processes = [start("sqlite", options), start("diptych", options)]
        self.process = {name: processes[name in self.settings] for name in self.names}
        self.load_of_others = OtherLoad([os.getpid(), *(process.process.pid for process in processes)], options.patience)
        sqlite = [{"name": name, "index": name == SQLITE_INDEX} for name in BASELINES]
        diptych = [{"name": name, "settings": settings} for name, settings in self.settings.items()]
        answers = [process.ask("open", contestants=systems) for process, systems in zip(processes, (sqlite, diptych))]
        self.versions = {**answers[0]["versions"], **answers[1]["versions"]}
        self.last_seconds = {}

    def processes(self):
        return [self.process[SQLITE], self.process["auto"]]

    def load(self, rows):
        for process in self.processes():
            process.ask("load", rows=rows)

    def settle(self, operation, rows):
        """Lets those that may use a device bring columns there and compile."""
        for name in self.settings:
            if self.options.device and name not in ("diptych-1", "diptych-N"):
                self.ask("settle", name, operation.statement(rows), around(operation), seconds=0.5)

    def measure(self, operation, rows):
        """Seconds of every run by name."""
        return self.turns(operation.statement(rows), {name: around(operation) for name in self.names}, operation.rows_of(rows))

    def measure_commit(self, operation, rows):
        """The same with the commit, on a copy."""
        places = {name: {"before": [operation.copy], "after": ["DROP TABLE changed_copy"]} for name in self.names}
        if operation.changed == "t":
            places[SQLITE_INDEX]["before"].append(COPY_INDEX)
        return self.turns(operation.statement(rows, "changed_copy"), places, rows)

    def turns(self, sql, places, rows):
        """Repeated in quiet moments. places: by name, the statements before and after. rows: that all have, None where that is not known."""
        return self.load_of_others.measure(lambda: self.turns_once(sql, places, rows))

    def turns_once(self, sql, places, rows):
        seconds = {name: [] for name in self.names}
        measured, options = 0, self.options
        self.last_seconds = {}
        while (turn := len(seconds[self.names[-1]])) < options.runs or (turn < options.most_runs and measured < options.seconds):
            # Each turn another one begins.
            first = turn % len(self.names)
            runs = {name: self.run(name, sql, places[name]) for name in self.names[first:] + self.names[:first]}
            self.check_agreement(sql, runs, rows)
            for name, run in runs.items():
                seconds[name].append(run["seconds"])
                measured += run["seconds"]
        return seconds

    def run(self, name, sql, place):
        """A measured run after one to warm up, which is left out after long runs."""
        run = self.ask("run", name, sql, place, warms_up=self.last_seconds.get(name, 0) < LONG_SECONDS)
        self.last_seconds[name] = run["seconds"]
        return run

    def check_agreement(self, sql, runs, rows):
        expected = runs[SQLITE]
        for name, run in runs.items():
            if run["rows"] != (expected["rows"] if rows is None else rows) or not is_near(run["total"], expected["total"]):
                raise RuntimeError(f"{sql}: {name} has {run['rows']} rows, sum {run['total']}; "
                                   f"{SQLITE} {expected['rows']} rows, sum {expected['total']}")

    def compare(self, operation, rows):
        """All values of all rows of the result, or of the table after the change."""
        more = {} if operation.ordered_by is None else {"ordered_by": operation.ordered_by}
        if operation.is_change:
            more["check"] = f"SELECT {COLUMNS} FROM {operation.changed}"
        self.same(operation.statement(rows), around(operation), **more)

    def compare_tables(self, rows):
        """That changes were rolled back."""
        if self.same(f"SELECT {COLUMNS} FROM t", NOTHING_AROUND) != rows:
            raise RuntimeError(f"t has not {rows} rows any more")
        if self.same(f"SELECT {COLUMNS} FROM target", NOTHING_AROUND) != 0:
            raise RuntimeError("target has rows")

    def same(self, sql, place, **more):
        """The number of rows."""
        results = {name: self.ask("result", name, sql, place, **more) for name in self.names}
        for name, result in results.items():
            if not is_same_result(result, results[SQLITE]):
                raise RuntimeError(f"{sql}: {name} differs from {SQLITE}")
        return results[SQLITE]["rows"]

    def ask(self, do, name, sql, place, **more):
        return self.process[name].ask(do, name=name, sql=sql, **place, **more)

    def stop(self):
        for process in self.processes():
            process.stop()


def start(name, options):
    environment = dict(os.environ)
    folders = [os.path.dirname(os.path.abspath(options.library)), environment.get("LD_LIBRARY_PATH", "")]
    environment["LD_LIBRARY_PATH"] = ":".join(filter(None, folders))
    return side_by_side.LineProcess(name, [options.driver], environment)


def around(operation):
    """The statements before and after the measured one: a change is rolled back, so that all runs find the same table."""
    return {"before": ["BEGIN"], "after": ["ROLLBACK"]} if operation.is_change else NOTHING_AROUND


def is_near(ours, theirs):
    return math.isclose(ours, theirs, rel_tol=1e-9)


def is_same_result(ours, theirs):
    if "columns" not in theirs or ours["rows"] != theirs["rows"]:
        return ours == theirs
    return all(is_near(a, b) for column, other in zip(ours["columns"], theirs["columns"]) for a, b in zip(column, other))
