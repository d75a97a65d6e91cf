"""The differences to PostgreSQL that docs/sql.md names, each with its sentence there. Nothing else may differ.

Each function tells whether a difference is one of them, and counts it in notes (a collections.Counter, or None).
"""
from decimal import Decimal


ROW_MISTAKES = {"22001", "22003", "23502", "23505"}  # what may be wrong with a row that is stored


def _noted(notes, name):
    if notes is not None:
        notes[name] += 1
    return True


def of_type(postgres, diptych, notes=None):
    """Types as SQL writes them: "numeric(9,2)"."""
    # "Where PostgreSQL's type is numeric without them, the type here is numeric(p,s)".
    if postgres == "numeric" and diptych.startswith("numeric("):
        return _noted(notes, "numeric without precision")
    # "A varchar or char keeps its length n in min, max and beside NULL, where PostgreSQL's type has none."
    if postgres in ("character varying", "character") and diptych.startswith(postgres + "("):
        return _noted(notes, "string without length")
    return False


def interval_length(text):
    """Microseconds of an interval as PostgreSQL compares it, a month having 30 days."""
    days = {"year": 360, "mon": 30, "day": 1}
    total, words = 0, text.split()
    while len(words) > 1:
        total += int(words[0]) * days[words[1].removesuffix("s")] * 86400 * 10**6
        words = words[2:]
    if words:
        sign = -1 if words[0].startswith("-") else 1
        hours, minutes, seconds = words[0].lstrip("+-").split(":")
        total += sign * (int(hours) * 3600 * 10**6 + int(minutes) * 60 * 10**6 + int(Decimal(seconds) * 10**6))
    return total


def compared_as(postgres, sql):
    """How values of a type are compared where they may differ: as "open char" or "deviation", else None."""
    # "Which of several equal char values that differ in trailing blanks min, max, GROUP BY and DISTINCT show is open."
    if postgres == "character" and any(word in sql for word in ("min(", "max(", " GROUP BY ", "DISTINCT ")):
        return "open char"
    # "Which of several equal intervals, 30 days and a month, GROUP BY and DISTINCT show is open."
    if postgres == "interval" and any(word in sql for word in (" GROUP BY ", "DISTINCT ")):
        return "open interval"
    # "Standard deviations of exact numbers are right to the last digit", which may be one off in PostgreSQL.
    if postgres == "numeric" and "stddev" in sql:
        return "deviation"
    return None


def of_error(postgres, diptych, wide, notes=None):
    # "A number of more than 38 digits is error 22003, and so is a value that does not fit the numeric type in which it meets
    # others".
    if wide and not postgres[0] and diptych[0] == "22003" and "numeric" in diptych[1]:
        return _noted(notes, "more than 38 digits")
    # "Of several mistakes in the rows of one statement PostgreSQL tells the first row's".
    if {postgres[0], diptych[0]} <= ROW_MISTAKES:
        return _noted(notes, "several mistakes in one statement")
    # "A constant expression that fails, such as `1 / 0`, is an error where a row needs it."
    if postgres[0].startswith("22") and not diptych[0] and diptych[4:] == (0,):
        return _noted(notes, "a constant fails without a row")
    # "A prepared change that runs in a READ ONLY transaction is error 25006 before its tables are looked for."
    if (postgres[0], diptych[0]) == ("42P01", "25006"):
        return _noted(notes, "prepared change in a READ ONLY transaction")
    # "numeric has no NaN and no infinity: error 0A000".
    if diptych[0] == "0A000" and "NaN and infinity are not supported for numeric" in diptych[1]:
        return _noted(notes, "NaN and infinity as numeric")
    return False
