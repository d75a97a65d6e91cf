"""What other processes do to the cores meanwhile. With few cores, contestants that use all of them wait for each other then."""

import os
import time

TICKS = os.sysconf("SC_CLK_TCK")
# Cores that others may keep busy while the machine counts as quiet.
QUIET = 0.1


def busy_seconds():
    """Of all cores since the machine began, without idling and waiting for a disk."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _wait, interrupts, soft_interrupts, *_ = map(int, file.readline().split()[1:])
    return (user + nice + system + interrupts + soft_interrupts) / TICKS


def process_seconds(process):
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class OtherLoad:
    """patience: seconds, all together, that measurements may be repeated for and quiet be waited for."""

    def __init__(self, own_processes, patience):
        self.processes, self.patience = own_processes, patience
        self.reset()

    def reset(self):
        self.others_seconds = self.seconds = 0.0

    def cores(self):
        """That others kept busy on average, during the measurements that count, since reset()."""
        return self.others_seconds / self.seconds if self.seconds else 0.0

    def others(self):
        return busy_seconds() - sum(map(process_seconds, self.processes))

    def during(self, action):
        """The action's result, its seconds, and the seconds of others meanwhile."""
        start, busy = time.monotonic(), self.others()
        result = action()
        return result, time.monotonic() - start, max(0.0, self.others() - busy)

    def measure(self, action):
        """The action's result, in a quiet moment if patience is left."""
        while True:
            result, seconds, others = self.during(action)
            if others <= QUIET * seconds or self.patience <= 0:
                self.seconds += seconds
                self.others_seconds += others
                return result
            self.patience -= seconds + self.wait()

    def wait(self):
        start = time.monotonic()
        while time.monotonic() - start < self.patience:
            _, seconds, others = self.during(lambda: time.sleep(1))
            if others <= QUIET * seconds:
                break
        return time.monotonic() - start
