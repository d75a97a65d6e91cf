"""The statements that make the tables, the queries, and their answers where these are known."""

import csv
import os
import subprocess
import sys

from kept_database import create_table

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "schema.sql")
# From the project's shared test data, which may be absent.
ANSWERS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(HERE))), "shared", "suites", "tpch", "answers-3way-verified")

TABLES = ("region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem")
# Of the tables that others refer to.
PRIMARY_KEYS = {"region": "r_regionkey", "nation": "n_nationkey", "supplier": "s_suppkey", "part": "p_partkey",
                "partsupp": "ps_partkey, ps_suppkey", "customer": "c_custkey", "orders": "o_orderkey"}


def file(folder, table, kind):
    return os.path.join(folder, kind, f"{table}.{kind}")


def make_files(folder, kind, scale):
    """The tables' files of a kind, parquet or csv, which stay in the benchmark's folder."""
    made = os.path.join(folder, kind, "made")
    if os.path.exists(made):
        return
    print(f"making {os.path.dirname(made)}", file=sys.stderr)
    os.makedirs(os.path.dirname(made), exist_ok=True)
    generator = os.path.join(os.path.dirname(sys.executable), "tpchgen-cli")
    subprocess.run([generator, kind, "--scale-factor", f"{scale:g}", "--output-dir", os.path.dirname(made)], check=True)
    open(made, "w").close()


def copy_from(table, file):
    option = "format csv, header true" if file.endswith(".csv") else "format parquet"
    return f"copy {table} from '{file}' ({option})"


def statements(files, keys=False):
    """files: from a table to the file that it is filled from."""
    primary_keys = PRIMARY_KEYS if keys else {}
    return [create_table(SCHEMA, table, primary_keys.get(table)) for table in files] + [
        copy_from(table, file) for table, file in files.items()]


def query(number):
    with open(os.path.join(HERE, f"q{number:02}.sql")) as file:
        return "".join(line for line in file if not line.startswith("--")).strip().rstrip(";")


def answer(number, scale):
    """Rows of texts, or None where nobody knows."""
    path = os.path.join(ANSWERS, f"sf{scale:g}", f"q{number:02}.csv")
    if not os.path.exists(path):
        return None
    with open(path, newline="") as file:
        return list(csv.reader(file, delimiter="|"))[1:]
