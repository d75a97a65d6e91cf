"""The seed's six operations, each over the rows with `id <= n`: exactly n, since ids are the numbers from 1 in random order."""

COLUMNS = "id, group_number, value"
TYPES = "id integer, group_number integer, value integer"
AGGREGATES = "sum(value), max(value), min(value), count(*), avg(value)"


class Query:
    """A statement that gives rows. seed: the seed's turning point, % of the rows (its table 4-4). ordered_by: a column's number.
    groups: the result has fewer rows than are selected."""

    is_change = False

    def __init__(self, name, seed, sql, ordered_by=None, groups=False):
        self.name, self.seed, self.sql = name, seed, sql
        self.ordered_by, self.groups = ordered_by, groups

    def rows_of(self, selected):
        """Of the result, or changed; None where that is not known."""
        return None if self.groups else selected

    def statement(self, rows):
        return self.sql.format(rows=rows)


class Change(Query):
    """A statement that changes the table `changed`. On a copy it is a transaction of its own; copy: the statement that makes the copy."""

    is_change = True

    def __init__(self, name, seed, sql, changed, copy):
        super().__init__(name, seed, sql)
        self.changed, self.copy = changed, copy

    def statement(self, rows, changed=None):
        return self.sql.format(rows=rows, changed=changed or self.changed)


COPY_T = f"CREATE TABLE changed_copy AS SELECT {COLUMNS} FROM t"

OPERATIONS = [
    Query("selection", 1.926, f"SELECT {COLUMNS} FROM t WHERE id <= {{rows}}"),
    Query("selection and sort", 2.061, f"SELECT {COLUMNS} FROM t WHERE id <= {{rows}} ORDER BY value", ordered_by=2),
    Query("selection and grouping", 0.491,
          f"SELECT group_number, {AGGREGATES} FROM t WHERE id <= {{rows}} GROUP BY group_number", groups=True),
    Change("insert by selection", 0.784, f"INSERT INTO {{changed}} SELECT {COLUMNS} FROM t WHERE id <= {{rows}}", "target",
           f"CREATE TABLE changed_copy ({TYPES})"),
    Change("update", 0.161, "UPDATE {changed} SET value = 500 WHERE id <= {rows}", "t", COPY_T),
    Change("delete", 0.784, "DELETE FROM {changed} WHERE id <= {rows}", "t", COPY_T),
]
