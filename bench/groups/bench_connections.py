"""Connections beside each other: statements that group, all at once and one after the other, on the CPU and on a device.

  large    as many groups as rows / 2, each connection in its own way: together they need more memory than the device may use
  small    a few hundred groups of a small table: what counts is what a statement costs beside its kernel

Every connection runs its statements in a thread of its own, on one database. Printed are the ratio of throughputs (all at once
over one after the other), wrong answers (compared with the CPU's), fallbacks by name, and, of large statements, the longest time from a cancel to the end while all others run. --memory sets
device_memory_limit, so that the large ones need so many times of it (the sum of what each takes alone, as the device's peak tells).

usage: bench_connections.py --library build/release/libdiptych.so --devices cpu,cuda --rows 20000000
"""

import argparse
import ctypes
import json
import os
import statistics
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "test", "oracle"))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "systems"))

import diptych
import side_by_side

KEYS = ("a", "b", "c", "d")
AGGREGATES = ("count(*), sum(v)", "min(v), max(w)", "sum(w), count(v)", "avg(w), max(v)")


class Peer(diptych.Connection):
    """A connection to a database that another has opened."""

    def __init__(self, first, settings=()):
        self.library, self.database, self.connection = first.library, first.database, ctypes.c_void_p()
        if self.library.diptych_connect(self.database, ctypes.byref(self.connection)) != diptych.OK:
            raise RuntimeError(self.library.diptych_database_error(self.database).message.decode())
        for setting in settings:
            rows_of(self, f"set {setting}")

    def close(self):
        self.library.diptych_disconnect(self.connection)


def rows_of(connection, sql):
    state, message, rows, _ = connection.run(sql)
    if state:
        raise RuntimeError(f"{state}: {message}: {sql}")
    return rows


def large(number):
    key, aggregates = KEYS[number % len(KEYS)], AGGREGATES[number // len(KEYS) % len(AGGREGATES)]
    return f"select {key}, {aggregates} from large group by {key} order by 3 desc, 2 desc, 1 limit 10"


def small(number):
    return f"select k, count(*), sum(v) from small where v > {number % 7} group by k order by 3 desc, 1 limit 10"


def make_tables(connection, rows, small_rows):
    half = rows // 2
    rows_of(connection, f"create table large as select (i * 7919 % {half})::integer a, (i * 104729 % {half})::bigint * 1000003 b,"
                        f" (i % {half})::integer c, (i * 15485863 % {half})::integer d, (i % 1000)::integer v, i * 3 w"
                        f" from generate_series(1::bigint, {rows}) g(i)")
    rows_of(connection, f"create table small as select (i % 300)::integer k, (i % 50)::integer v"
                        f" from generate_series(1::bigint, {small_rows}) g(i)")


def text_of(answer):
    return [["" if value is None else value for value in row] for row in answer]


class Bench:
    def __init__(self, options):
        self.options = options
        self.first = diptych.Connection(options.library)
        self.first.library.diptych_interrupt.argtypes = [ctypes.c_void_p]
        make_tables(self.first, options.rows, options.small_rows)
        self.report = {"benchmark": "connections", "rows": options.rows, "connections": options.connections,
                       "machine": side_by_side.describe_machine(), "parts": {}, "wrong": [], "failures": []}
        self.expected = {}
        rows_of(self.first, "set device = cpu")
        for make in (large, small):
            for number in range(options.connections):
                self.expected[make(number)] = text_of(rows_of(self.first, make(number)))

    def settings(self, device):
        settings = [f"threads = {self.options.threads}"]
        if device == "cpu":
            return settings + ["device = 'cpu'"]
        return settings + [f"device = '{device}'", f"residency = '{self.options.residency}'", "gpu_engine = 'generated'"]

    def check(self, sql, connection):
        try:
            answer = text_of(rows_of(connection, sql))
        except RuntimeError as error:
            self.report["failures"].append(str(error))
            return
        if not side_by_side.same_rows([tuple(row) for row in answer], [tuple(row) for row in self.expected[sql]]):
            self.report["wrong"].append({"sql": sql, "rows": answer, "expected": self.expected[sql]})

    # Throughput.

    def one_after_the_other(self, peers, make, runs):
        start = time.perf_counter()
        for number, peer in enumerate(peers):
            for _ in range(runs):
                self.check(make(number), peer)
        return time.perf_counter() - start

    def all_at_once(self, peers, make, runs):
        gate = threading.Barrier(len(peers) + 1)

        def work(number, peer):
            gate.wait()
            for _ in range(runs):
                self.check(make(number), peer)

        threads = [threading.Thread(target=work, args=pair) for pair in enumerate(peers)]
        for thread in threads:
            thread.start()
        gate.wait()
        start = time.perf_counter()
        for thread in threads:
            thread.join()
        return time.perf_counter() - start

    def measure(self, device, name, make, runs):
        peers = [Peer(self.first, self.settings(device)) for _ in range(self.options.connections)]
        for number, peer in enumerate(peers):  # columns and kernels in place
            self.check(make(number), peer)
        before = self.fallbacks()
        ratios, seconds = [], []
        for _ in range(self.options.repeats):
            alone, together = self.one_after_the_other(peers, make, runs), self.all_at_once(peers, make, runs)
            ratios.append(alone / together)
            seconds.append((alone, together))
        fallbacks = {reason: count - before.get(reason, 0) for reason, count in self.fallbacks().items()
                     if count > before.get(reason, 0)}
        cancel = self.measure_cancel(peers, make) if make is large else None  # small ones end before they are met
        entry = {"ratio": statistics.median(ratios), "seconds": seconds, "fallbacks": fallbacks, "cancel_seconds": cancel}
        self.report["parts"][f"{device} {name}"] = entry
        alone, together = statistics.median(pair[0] for pair in seconds), statistics.median(pair[1] for pair in seconds)
        print(f"{device + ' ' + name:<16}{alone * 1e3:>12.1f} ms{together * 1e3:>12.1f} ms{entry['ratio']:>8.2f}"
              f"{sum(fallbacks.values()):>11}" + (f"{cancel * 1e3:>12.1f} ms" if cancel is not None else f"{'-':>15}"), flush=True)
        for reason, count in fallbacks.items():
            print(f"    fallback, {count} times: {reason}")
        for peer in peers:
            peer.close()

    def fallbacks(self):
        return {row[0]: int(row[1]) for row in rows_of(self.first, "show fallbacks")}

    # Cancelling.

    def measure_cancel(self, peers, make):
        """The longest time from a cancel to the statement's end, each connection cancelled once while the others run."""
        ended, stop, longest = [0.0] * len(peers), threading.Event(), 0.0
        cancelled = [threading.Event() for _ in peers]

        def work(number, peer):
            while not stop.is_set():
                state, message, _, _ = peer.run(make(number))
                ended[number] = time.perf_counter()
                if state == "57014":
                    cancelled[number].set()
                elif state:
                    self.report["failures"].append(f"{state}: {message}")

        threads = [threading.Thread(target=work, args=pair) for pair in enumerate(peers)]
        for thread in threads:
            thread.start()
        for number, peer in enumerate(peers):
            time.sleep(0.01)
            cancelled[number].clear()
            for _ in range(5):  # between two statements there is nothing to cancel
                start = time.perf_counter()
                self.first.library.diptych_interrupt(peer.connection)
                if cancelled[number].wait(1):
                    longest = max(longest, ended[number] - start)
                    break
        stop.set()
        for thread in threads:
            thread.join()
        return longest

    def limit_memory(self, device):
        """device_memory_limit of which the large statements need --memory times: by the peak of one that runs alone."""
        peer = Peer(self.first, self.settings(device))
        needed = 0
        rows_of(self.first, "set device_memory_limit = 0")
        for number in range(self.options.connections):
            run = json.loads(rows_of(peer, "explain (analyze, format json) " + large(number))[0][0])["run"]
            needed = max([needed] + [one["peak_bytes"] for one in run["memory"]["devices"]])
        peer.close()
        if needed == 0:
            raise RuntimeError(f"{device} has run nothing: {self.fallbacks()}")
        limit = int(needed * self.options.connections / self.options.memory)
        rows_of(self.first, f"set device_memory_limit = {limit}")
        self.report["device_memory_limit"] = limit
        print(f"{device}: one takes up to {needed / 1e9:.2f} GB; device_memory_limit {limit / 1e9:.2f} GB")

    def run(self):
        print(f"{self.options.rows} rows, {self.options.connections} connections\n")
        print(f"{'':<16}{'one by one':>15}{'all at once':>15}{'ratio':>8}{'fallbacks':>11}{'cancelled':>15}", flush=True)
        for device in self.options.devices.split(","):
            if device != "cpu":
                self.limit_memory(device)
            self.measure(device, "large", large, self.options.runs)
            self.measure(device, "small", small, self.options.small_runs)
        for wrong in self.report["wrong"][:10]:
            print(f"WRONG: {wrong}")
        for failure in self.report["failures"][:10]:
            print(f"FAILED: {failure}")
        print(f"wrong answers: {len(self.report['wrong'])}, failures: {len(self.report['failures'])}")
        side_by_side.write_json(self.report, self.options.json)
        return 1 if self.report["wrong"] or self.report["failures"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--small-rows", type=int, default=1_000_000)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--runs", type=int, default=2, help="of each large statement")
    parser.add_argument("--small-runs", type=int, default=50, help="of each small statement")
    parser.add_argument("--repeats", type=int, default=3, help="medians count")
    parser.add_argument("--memory", type=float, default=2, help="times device_memory_limit that the large ones need together")
    parser.add_argument("--devices", default="cpu,cuda")
    parser.add_argument("--residency", default="auto")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--library", default=os.path.join(ROOT, "build", "release", "libdiptych.so"))
    parser.add_argument("--json", default=os.path.join(ROOT, "build", "bench", "connections.json"))
    sys.exit(Bench(parser.parse_args()).run())


main()
