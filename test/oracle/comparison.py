"""Do two answers agree: SQLSTATE, names and types of the columns, rows? Values come as texts.

An answer is ("", types, rows, names), or (sqlstate, message, None, None) of a statement that failed. One that changes rows
may have their number as a fifth part. What the two systems are known to differ in is in differences.py.
"""

from decimal import ROUND_HALF_UP, Decimal, localcontext

import differences

# docs/sql.md: "The last digits of sums of floating-point numbers depend on the order in which rows are added".
FLOAT_TOLERANCE = 1e-9
FLOAT4_TOLERANCE = 1e-5


def base_type(name):
    return name.split("(")[0]


def equal_numerics(a, b, last_digit_open=False):
    """By value where both have equally many digits after the point; else the longer is rounded, and the last digit may differ by one.

    docs/sql.md: "Quotients, averages, and products of more than 38 digits after the point are rounded to the scale of their type".
    """
    x, y = Decimal(a), Decimal(b)
    if x == y:
        return True
    scales = [max(0, -v.as_tuple().exponent) for v in (x, y)]
    if scales[0] == scales[1] and not last_digit_open:
        return False
    with localcontext() as context:
        context.prec = 200
        unit = Decimal(1).scaleb(-min(scales))
        return abs(x.quantize(unit, ROUND_HALF_UP) - y.quantize(unit, ROUND_HALF_UP)) <= unit


def equal_floats(a, b, tolerance):
    x, y = float(a), float(b)
    if x != x or y != y:
        return x != x and y != y
    return x == y or abs(x - y) <= tolerance * max(abs(x), abs(y))


def equal_cells(a, b, type_name):
    if a == b:
        return True
    if a is None or b is None:
        return False
    if type_name == "open interval":
        return differences.interval_length(a) == differences.interval_length(b)
    if type_name == "open char":
        return a.rstrip(" ") == b.rstrip(" ")
    try:
        if type_name in ("numeric", "deviation"):
            return equal_numerics(a, b, type_name == "deviation")
        if type_name == "real":
            return equal_floats(a, b, FLOAT4_TOLERANCE)
        if type_name == "double precision":
            return equal_floats(a, b, FLOAT_TOLERANCE)
    except (ValueError, ArithmeticError):
        return False
    return False


def equal_rows(a, b, types):
    return all(equal_cells(x, y, t) for x, y, t in zip(a, b, types))


def _sort_key(row, types):
    exact, inexact = [], []
    for value, name in zip(row, types):
        if name in ("numeric", "deviation", "real", "double precision"):
            number = float(value) if value is not None else float("inf")
            inexact.append((value is None, number != number, 0.0 if number != number else number))
        else:
            exact.append((value is None, value or ""))
    return exact, inexact


def multiset_difference(left, right, types):
    """A row of each side that the other side lacks, or None."""
    left, right = (sorted(rows, key=lambda row: _sort_key(row, types)) for rows in (left, right))
    rest, unmatched = [], []
    for a, b in zip(left, right):
        if not equal_rows(a, b, types):
            unmatched.append(a)
            rest.append(b)
    for a in unmatched:  # near values may have been sorted apart
        match = next((i for i, b in enumerate(rest) if equal_rows(a, b, types)), None)
        if match is None:
            return a, rest[0]
        del rest[match]
    return None


def _type_difference(postgres, diptych, notes):
    for theirs, ours in zip(postgres, diptych):
        if theirs != ours and not differences.of_type(theirs, ours, notes):
            return f"types differ: PostgreSQL {postgres}, Diptych {diptych}"
    return None if len(postgres) == len(diptych) else f"PostgreSQL has {len(postgres)} columns, Diptych {len(diptych)}"


def difference(postgres, diptych, ordered, wide=False, notes=None, sql=""):
    """What differs between two answers to a query, or None; wide: a numeric may have more than 38 digits.

    The names of the known differences that were met are counted in notes.
    """
    if postgres[0] or diptych[0]:
        if postgres[0] == diptych[0] or differences.of_error(postgres, diptych, wide, notes):
            return None
        return f"PostgreSQL: {postgres[0] or 'succeeds'}; Diptych: {diptych[0] or 'succeeds'} {diptych[1] if diptych[0] else ''}"
    problem = _type_difference(postgres[1], diptych[1], notes)
    if problem:
        return problem
    if postgres[3] != diptych[3]:
        return f"names differ: PostgreSQL {postgres[3]}, Diptych {diptych[3]}"
    if len(postgres[2]) != len(diptych[2]):
        return f"PostgreSQL has {len(postgres[2])} rows, Diptych {len(diptych[2])}"
    changed = [answer[4] if len(answer) > 4 else None for answer in (postgres, diptych)]
    if changed[0] is not None and changed[0] != changed[1]:
        return f"PostgreSQL changes {changed[0]} rows, Diptych {changed[1]}"
    types = [differences.compared_as(name, sql) or base_type(name) for name in postgres[1]]
    if ordered:
        for i, (a, b) in enumerate(zip(postgres[2], diptych[2])):
            if not equal_rows(a, b, types):
                return f"row {i} differs: PostgreSQL {a}, Diptych {b}"
        return None
    rows = multiset_difference(postgres[2], diptych[2], types)
    return None if rows is None else f"only PostgreSQL has {rows[0]}, only Diptych {rows[1]}"


def shown(answer):
    """An answer's first rows, for people."""
    state, head, rows = answer[:3]
    if state:
        return f"{state} {head.strip()}"
    lines = ["\t".join("NULL" if v is None else v for v in row) for row in rows[:8]]
    return f"{head} {len(rows)} rows\n      " + "\n      ".join(lines)


def script_difference(script, run, notes=None):
    """What differs first, with the statements up to there; None: nothing.

    script: statements with PostgreSQL's answers, as recording.py has them; run gives Diptych's.
    """
    before = ""
    for number, (sql, ordered, wide, expected) in enumerate(script):
        found = run(sql)
        problem = difference(expected, found, ordered, wide, notes, sql)
        if problem is not None:
            return (f", statement {number}: {problem}\n{before}  {sql};\n    PostgreSQL {shown(expected)}\n"
                    f"    Diptych    {shown(found)}")
        if bool(expected[0]) != bool(found[0]):
            break  # a known difference, after which the two have different rows
        before += f"  {sql};\n"
    return None
