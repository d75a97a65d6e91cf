"""Do two results agree? Values come as texts; what they are is told by the kind of their column."""

from decimal import Decimal

FLOAT_TOLERANCE = 1e-9  # sums of floats depend on the order of the rows; sines and powers do not
FLOAT4_TOLERANCE = 1e-5
TYPE_OF_OID = {16: "boolean", 21: "smallint", 23: "integer", 20: "bigint", 700: "real", 701: "double precision", 1700: "numeric",
               1082: "date", 1114: "timestamp", 1186: "interval", 25: "text", 1043: "text", 1042: "text", 705: "text"}


def equal_numerics(a, b):
    """By value; quotients and averages, whose scales differ, at the lesser scale with a last digit more or less."""
    x, y = Decimal(a), Decimal(b)
    if x == y:
        return True
    scale = min(max(0, -x.as_tuple().exponent), max(0, -y.as_tuple().exponent))
    difference = abs(x - y)
    if difference > Decimal(1).scaleb(-scale):
        return False
    return scale >= 10 or difference <= Decimal("1e-9") * max(abs(x), abs(y))


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
    try:
        if type_name == "numeric":
            return equal_numerics(a, b)
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
        if name in ("numeric", "real", "double precision"):
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


def difference(postgres, diptych, ordered):
    """What differs between two answers of the form (sqlstate, types, rows), or None."""
    if postgres[0] or diptych[0]:
        if postgres[0] == diptych[0]:
            return None
        return f"PostgreSQL: {postgres[0] or 'succeeds'}; Diptych: {diptych[0] or 'succeeds'} {diptych[1] if diptych[0] else ''}"
    types = postgres[1]
    ours = ["text" if name in ("varchar", "char", "null") else name for name in diptych[1]]
    if types != ours:
        return f"types differ: PostgreSQL {types}, Diptych {diptych[1]}"
    if len(postgres[2]) != len(diptych[2]):
        return f"PostgreSQL has {len(postgres[2])} rows, Diptych {len(diptych[2])}"
    if ordered:
        for i, (a, b) in enumerate(zip(postgres[2], diptych[2])):
            if not equal_rows(a, b, types):
                return f"row {i} differs: PostgreSQL {a}, Diptych {b}"
        return None
    rows = multiset_difference(postgres[2], diptych[2], types)
    return None if rows is None else f"only PostgreSQL has {rows[0]}, only Diptych {rows[1]}"


def shown(answer):
    """An answer's first rows, for people."""
    state, head, rows = answer
    if state:
        return f"{state} {head.strip()}"
    lines = ["\t".join("NULL" if v is None else v for v in row) for row in rows[:8]]
    return f"{head} {len(rows)} rows\n      " + "\n      ".join(lines)
