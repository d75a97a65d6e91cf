"""The statements that make and fill the tables, the same text for Diptych and DuckDB."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))

# Of the dimensions: a query joins by them. No query looks for a row of lineorder by its key, and DuckDB's index of it would
# take more memory than the table.
PRIMARY_KEYS = {"customer": "c_custkey", "date": "d_datekey", "part": "p_partkey", "supplier": "s_suppkey"}
TABLES = (*PRIMARY_KEYS, "lineorder")


def quoted(table):
    """date is the name of a type, too."""
    return f'"{table}"'


def create_table(table, keys):
    with open(os.path.join(HERE, "schema.sql")) as file:
        text = "".join(line for line in file if not line.startswith("--"))
    statement = next(part.strip() for part in text.split(";") if part.split()[2:3] in ([table], [quoted(table)]))
    if keys and table in PRIMARY_KEYS:
        statement = statement.removesuffix("\n)") + f",\n    primary key ({PRIMARY_KEYS[table]})\n)"
    return statement


def copy_from(table, folder):
    return f"copy {quoted(table)} from '{os.path.join(folder, table)}.tbl' (format csv, delimiter '|', header false)"


def statements(folder, keys):
    return [create_table(table, keys) for table in TABLES] + [copy_from(table, folder) for table in TABLES]
