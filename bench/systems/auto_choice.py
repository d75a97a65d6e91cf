"""What `device = auto` takes over the better of the engines that it chooses from."""

import math

# A choice that costs more than both of these is told: the ratio of very short times is mostly noise.
RATIO = 1.1
SECONDS = 50e-6


def over_better(seconds):
    """auto's time over the least of Diptych's others; None where one of the two is not there. seconds: from a name to a time."""
    others = [time for name, time in seconds.items() if name not in ("duckdb", "auto")]
    return seconds["auto"] / min(others) if "auto" in seconds and others else None


def is_slow(seconds):
    ratio = over_better(seconds)
    return ratio > RATIO and seconds["auto"] * (1 - 1 / ratio) > SECONDS


def summary(entries):
    """entries: from a question to its seconds by name. None where no question has a ratio."""
    measured = {question: seconds for question, seconds in entries.items() if over_better(seconds) is not None}
    if not measured:
        return None
    ratios = {question: over_better(seconds) for question, seconds in measured.items()}
    worst = max(ratios, key=ratios.get)
    return {"questions": len(ratios), "geometric_mean": math.exp(sum(map(math.log, ratios.values())) / len(ratios)),
            "slow": [question for question, seconds in measured.items() if is_slow(seconds)], "worst": ratios[worst],
            "worst_question": worst, "ratios": ratios}


def line(found):
    slow = f": {', '.join(found['slow'])}" if found["slow"] else ""
    return (f"auto over the better engine: geometric mean {found['geometric_mean']:.2f} of {found['questions']} questions, worst "
            f"{found['worst']:.2f} ({found['worst_question']}), {len(found['slow'])} above {RATIO} and {SECONDS * 1e6:.0f} us{slow}")
