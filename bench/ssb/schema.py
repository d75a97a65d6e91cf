"""The statements that make and fill the tables, the same text for Diptych and DuckDB."""

import os

from kept_database import create_table, quoted

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema.sql")

# Of the dimensions: a query joins by them. No query looks for a row of lineorder by its key, and DuckDB's index of it would
# take more memory than the table.
PRIMARY_KEYS = {"customer": "c_custkey", "date": "d_datekey", "part": "p_partkey", "supplier": "s_suppkey"}
TABLES = (*PRIMARY_KEYS, "lineorder")


def copy_from(table, folder):
    return f"copy {quoted(table)} from '{os.path.join(folder, table)}.tbl' (format csv, delimiter '|', header false)"


def statements(folder, keys):
    primary_keys = PRIMARY_KEYS if keys else {}
    return [create_table(SCHEMA, table, primary_keys.get(table)) for table in TABLES] + [copy_from(table, folder) for table in TABLES]
