"""What benchmarks of several systems share: worker processes, results compared, the machine's name."""

import json
import math
import os
import platform
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class LineProcess:
    """A program that reads a JSON object a line and answers with one. ask() raises RuntimeError with the program's own message."""

    def __init__(self, name, command, environment=None):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, do, **arguments):
        try:
            self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:  # it had ended before
            line = ""
        if not line:
            raise RuntimeError(f"{self.name} ended while doing {do}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"{self.name}: {answer['error']}")
        return answer

    def is_running(self):
        return self.process.poll() is None

    def stop(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:  # a question that it did not live to read
            pass
        self.process.wait()


class WorkerProcess(LineProcess):
    """worker.py with the system that the arguments name."""

    def __init__(self, name, arguments):
        super().__init__(name, [sys.executable, os.path.join(HERE, "worker.py"), *arguments])


def same_rows(ours, theirs):
    return len(ours) == len(theirs) and all(
        len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b)) for a, b in zip(ours, theirs))


def same_value(ours, theirs):
    """Texts alike, or numbers to 9 digits: an average is numeric on one side and double precision on the other."""
    if ours == theirs or {ours, theirs} in ({"t", "true"}, {"f", "false"}):
        return True
    try:
        return math.isclose(float(ours), float(theirs), rel_tol=1e-9)
    except ValueError:
        return False


def describe_machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    return {"host": platform.node(), "processor": model, "cores": os.cpu_count()}


def write_json(report, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump(report, file, indent=2)
    print(f"JSON: {path}")
