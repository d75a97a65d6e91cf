"""Reads this project's sqllogictest scripts (the grammar is told in test/runner/script.h)."""

import re
from dataclasses import dataclass, field


@dataclass
class Record:
    kind: str  # statement, query, halt, require, restart, hash-threshold
    line: int  # 0-based index of the directive in the file's lines
    words: list = field(default_factory=list)
    sql: str = ""
    expected: list = field(default_factory=list)
    result_line: int = -1  # index of ----, -1 when there is none
    end: int = 0  # index after the last line
    in_loop: bool = False
    skipif: set = field(default_factory=set)
    onlyif: set = field(default_factory=set)


def _unroll(lines, in_loop=False):
    """(index, text, in_loop) of every line, loops unrolled."""
    out, i = [], 0
    while i < len(lines):
        index, text = lines[i]
        words = text.split()
        if len(words) < 3 or words[0] not in ("loop", "foreach"):
            out.append((index, text, in_loop))
            i += 1
            continue
        depth, close = 1, i + 1
        while close < len(lines):
            inner = lines[close][1].split()
            if len(inner) >= 3 and inner[0] in ("loop", "foreach"):
                depth += 1
            elif inner[:1] == ["endloop"]:
                depth -= 1
                if depth == 0:
                    break
            close += 1
        values = words[2:] if words[0] == "foreach" else [str(n) for n in range(int(words[2]), int(words[3]))]
        for value in values:
            body = [(k, t.replace("${" + words[1] + "}", value)) for k, t in lines[i + 1:close]]
            out += _unroll(body, True)
            out.append((lines[close][0], "", True))
        i = close + 1
    return out


def parse(text, variables):
    lines = text.split("\n")
    for name, value in variables.items():
        lines = [line.replace(name, value) for line in lines]
    numbered = [(i, line) for i, line in enumerate(lines) if not line.startswith("#")]
    unrolled = _unroll(numbered)
    records, skipif, onlyif, i = [], set(), set(), 0
    while i < len(unrolled):
        index, text_line, in_loop = unrolled[i]
        words = text_line.split()
        i += 1
        if not words or words[0] == "mode":
            continue
        if words[0] in ("skipif", "onlyif"):
            (skipif if words[0] == "skipif" else onlyif).add(words[1])
            continue
        record = Record(words[0], index, words[1:], skipif=skipif, onlyif=onlyif, in_loop=in_loop)
        skipif, onlyif = set(), set()
        if words[0] in ("statement", "query"):
            sql, record.end = [], index + 1
            while i < len(unrolled) and unrolled[i][1].strip():
                line_index, line, _ = unrolled[i]
                if record.result_line < 0 and line.startswith("----"):
                    record.result_line = line_index
                elif record.result_line < 0:
                    sql.append(line)
                else:
                    record.expected.append(line)
                record.end = line_index + 1
                i += 1
            record.sql = "\n".join(sql)
        elif words[0] not in ("halt", "require", "restart", "hash-threshold"):
            raise ValueError(f"line {index + 1}: unknown directive {words[0]}")
        records.append(record)
    return records


def render(value):
    """A text as a script shows it."""
    if value is None:
        return "NULL"
    if value == "":
        return "(empty)"
    return value.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


_number = re.compile(r"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|Infinity|inf)")


def equal_cells(actual, expected, letter):
    if actual == expected:
        return True
    if letter != "R" or not _number.fullmatch(actual) or not _number.fullmatch(expected):
        return False
    x, y = float(actual), float(expected)
    return x == y or abs(x - y) <= 1e-9 * max(abs(x), abs(y))
