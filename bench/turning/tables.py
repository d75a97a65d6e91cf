"""The tables of a report, as Markdown that is aligned to be read as it is."""

from systems import BASELINES, SQLITE, SQLITE_INDEX
from operations import OPERATIONS
from systems import BASELINES, Systems
from turning_points import slow_points

# Where an index serves few rows, it is faster than any scan. From this share of the rows on Diptych is to be as fast.
LEAST_PERCENT = {SQLITE: 0, SQLITE_INDEX: 0.1}
SHOWN_PERCENT = (0, 0.01, 0.1, 1, 10, 100)


def markdown(head, rows):
    """The first column to the left, the others to the right."""
    cells = [head, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]

    def line(row):
        return "| " + " | ".join(cell.ljust(widths[i]) if i == 0 else cell.rjust(widths[i]) for i, cell in enumerate(row)) + " |"
    rule = "|" + "|".join("-" * (width + 2) if i == 0 else "-" * (width + 1) + ":" for i, width in enumerate(widths)) + "|"
    return "\n".join([line(head), rule, *map(line, cells[1:])])


def shown_percent(percent):
    return "none" if percent is None else f"{percent:.2g}"


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:.0f}"


def thousands(rows):
    return f"{rows:,}"


def turning_points(report, baseline):
    """The seed's table 4-4, a column for each size. Where all contestants have the same, they share a line."""
    head = ["operation", "seed", "Diptych", *[thousands(size["rows"]) for size in report["sizes"]]]
    rows = []
    for operation in OPERATIONS:
        found = [size["operations"][operation.name]["turning_points"][baseline] for size in report["sizes"]]
        cells = {name: [shown_percent(each[name]) for each in found] for name in report["contestants"]}
        if all(each == cells["auto"] for each in cells.values()):
            cells = {"all": cells["auto"]}
        rows += [[operation.name, f"{operation.seed:.3f}", name, *each] for name, each in cells.items()]
    return markdown(head, rows)


def slow(report, baseline):
    """A line for each operation and contestant that is slower somewhere, with the worst place."""
    worst, counts = {}, {}
    for operation, table_rows, name, point, factor in slow_points(report, baseline, LEAST_PERCENT[baseline]):
        counts[operation, name] = counts.get((operation, name), 0) + 1
        worst.setdefault((operation, name), [operation, name, 0, f"{factor:.2f}", thousands(table_rows), f"{point['percent']:g}",
                                             milliseconds(point["seconds"][name]), milliseconds(point["seconds"][baseline])])
    if not worst:
        return "None."
    for key, row in worst.items():
        row[2] = counts[key]
    head = ["operation", "Diptych", "slower points", "worst factor", "of rows", "at %", "Diptych, ms", "SQLite, ms"]
    return markdown(head, worst.values())


def times(size, names):
    """Milliseconds at some selectivities of one table."""
    rows = []
    for operation, entry in size["operations"].items():
        asked = [point for point in entry["points"] if point["is_asked"]]
        for percent in SHOWN_PERCENT:
            point = next((each for each in asked if each["rows"] == max(1, round(percent * size["rows"] / 100))), None)
            if point:
                share = "1 row" if point["rows"] == 1 else f"{percent:g}"
                rows.append([operation, share, *[milliseconds(point["seconds"][name]) for name in names]])
    return markdown(["operation", "%", *names], rows)


def commits(report):
    rows = [[entry["operation"], f"{entry['percent']:g}", *[milliseconds(entry["seconds"][name]) for name in report["names"]]]
            for entry in report["commits"]["points"]]
    return markdown(["change and commit", "%", *report["names"]], rows)


def machine(report):
    described = report["machine"]
    device = f", device {report['device']}" if report["device"] else ""
    others = max(size["other_load"] for size in report["sizes"])
    return (f"{described['processor']}, {described['cores']} cores{device}; SQLite {report['versions'][SQLITE]}, "
            f"Diptych {report['versions']['auto']}; other processes kept {others:.1f} cores busy at most")


def sections(report):
    """From the name of a part of the document to its text."""
    largest = report["sizes"][-1]
    found = {"machine": machine(report) + ".", "times": f"{thousands(largest['rows'])} rows, milliseconds:\n\n" + times(largest, report["names"])}
    for baseline in BASELINES:
        found[f"turning points, {baseline}"] = turning_points(report, baseline)
        found[f"slower, {baseline}"] = slow(report, baseline)
    if report["commits"]["points"]:
        found["commits"] = f"{thousands(report['commits']['rows'])} rows, milliseconds:\n\n" + commits(report)
    return found


def print_all(report):
    found = sections(report)
    for baseline, what in BASELINES.items():
        print(f"\nturning points against SQLite {what}: % of the rows from which on Diptych is not slower\n")
        print(found[f"turning points, {baseline}"])
        print(f"\nslower than SQLite {what}, from {LEAST_PERCENT[baseline]:g} % on\n")
        print(found[f"slower, {baseline}"])
    print("\n" + found["times"])
    if "commits" in found:
        print("\nwith the commit, on a copy, " + found["commits"])


def write_document(report, path):
    """Replaces what stands between the document's marks, <!-- begin name --> and <!-- end -->."""
    with open(path) as file:
        text = file.read()
    for name, content in sections(report).items():
        mark, end = f"<!-- begin {name} -->\n", "<!-- end -->"
        before, found, rest = text.partition(mark)
        if found:
            text = before + mark + content + "\n" + end + rest.partition(end)[2]
    with open(path, "w") as file:
        file.write(text)
