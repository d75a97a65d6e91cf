"""The shell through pipes: scripts, dot commands, output modes, errors, exit status.

usage: piped.py <diptych> [unittest arguments]
"""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

DIPTYCH = os.path.abspath(sys.argv.pop(1)) if __name__ == "__main__" else "diptych"


def run(*arguments, text="", directory=None, **environment):
    done = subprocess.run([DIPTYCH, *arguments], input=text.encode(), capture_output=True, cwd=directory, timeout=120,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class CommandLine(unittest.TestCase):
    def test_version_and_help(self):
        self.assertRegex(run("--version")[1], r"^diptych \d+\.\d+\.\d+\n$")
        status, out, _ = run("--help")
        self.assertEqual(status, 0)
        self.assertIn("--command", out)

    def test_mistaken_option(self):
        self.assertEqual(run("--no-such-option")[0], 2)
        self.assertEqual(run("-m", "sideways", "-c", "select 1")[0], 2)

    def test_commands_and_files_in_order(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "b.sql"), "w") as file:
                file.write("select 'b' as x;\n")
            status, out, _ = run("-m", "csv", "-c", "select 'a' as x", "-f", "b.sql", "-c", "select 'c' as x;",
                                 directory=directory)
        self.assertEqual((status, out), (0, "x\na\nx\nb\nx\nc\n"))

    def test_database_file_keeps_its_tables(self):
        with tempfile.TemporaryDirectory() as directory:
            run("x.diptych", "-c", "create table t (a integer); insert into t values (7)", directory=directory)
            status, out, err = run("x.diptych", "-m", "csv", "-c", "select a from t", directory=directory)
        self.assertEqual((status, out, err), (0, "a\n7\n", ""))

    def test_database_that_cannot_be_opened(self):
        status, _, err = run("/no/such/folder/x.diptych", "-c", "select 1")
        self.assertEqual(status, 1)
        self.assertRegex(err, r"^ERROR [0-9A-Z]{5}: ")

    def test_calibrate_asks_first_whether_it_can_write(self):
        with tempfile.TemporaryDirectory() as directory:
            for path in ("/dev/null/calibration.json", "/proc/none/calibration.json", directory):
                status, out, err = run("calibrate", "cpu", DIPTYCH_CALIBRATION=path)
                self.assertEqual((status, out), (1, ""), path)
                self.assertTrue(err.startswith("ERROR 58030: "), err)


class PipesAsFiles(unittest.TestCase):
    def test_standard_input_is_read_whole(self):
        status, out, err = run("-m", "csv", "-c", "select count(*) as n, sum(a) as s from '/dev/stdin'", text="a,b\n1,x\n2,y\n")
        self.assertEqual((status, out, err), (0, "n,s\n2,3\n", ""))

    def test_copy_from_a_pipe_of_several_blocks(self):
        rows = 300000
        text = "".join(f"{i},word {i}\n" for i in range(rows))
        status, out, err = run("-m", "csv", "-c", "create table t (a integer, b text); copy t from '/dev/fd/0' (format csv);"
                               "select count(*) as n, max(a) as m from t", text=text)
        self.assertEqual((status, out, err), (0, f"n,m\n{rows},{rows - 1}\n", ""))

    def test_interrupt_while_waiting_for_a_pipe(self):
        for statement in ("select * from read_csv('pipe')", "copy t from 'pipe' (format csv)"):
            with tempfile.TemporaryDirectory() as directory:
                os.mkfifo(os.path.join(directory, "pipe"))
                shell = subprocess.Popen([DIPTYCH, "-c", f"create table t (a integer); select 'there' as x; {statement}"], cwd=directory,
                                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                while "there" not in shell.stdout.readline():
                    pass
                time.sleep(0.2)
                shell.send_signal(signal.SIGINT)
                _, err = shell.communicate(timeout=120)
                self.assertIn("ERROR 57014: ", err)
                self.assertEqual(shell.returncode, 1)

    def test_what_is_no_file_is_refused(self):
        for path, state in ((".", "42809"), ("/dev/zero", "42809"), ("nosuch", "58P01")):
            _, _, err = run("-c", f"select * from read_csv('{path}')")
            self.assertIn(f"ERROR {state}: ", err)


class Failures(unittest.TestCase):
    def test_error_shows_line_and_caret(self):
        status, _, err = run("-c", "select 1;\n  select 1,\n    nosuch\nfrom (values (1)) as t(a)")
        self.assertEqual(status, 1)
        lines = err.splitlines()
        self.assertTrue(lines[0].startswith("ERROR 42703: "), err)
        self.assertEqual(lines[1], "LINE 3:     nosuch")
        self.assertEqual(lines[2], "            ^")

    def test_caret_counts_cells_not_bytes(self):
        _, _, err = run("-c", "select '日本é', nosuch")
        lines = err.splitlines()
        self.assertEqual(lines[1], "LINE 1: select '日本é', nosuch")
        self.assertEqual(lines[2], " " * (8 + len("select 'xxxxé', ")) + "^")

    def test_file_stops_at_its_first_error(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "s.sql"), "w") as file:
                file.write("select 1 as x;\nselect nosuch;\nselect 2 as x;\n")
            status, out, err = run("-m", "csv", "-f", "s.sql", "-c", "select 3 as x", directory=directory)
        self.assertEqual((status, out), (1, "x\n1\n"))
        self.assertIn("LINE 2:", err)

    def test_pipe_goes_on_but_tells(self):
        status, out, _ = run("-m", "csv", text="select nosuch;\nselect 2 as x;\n")
        self.assertEqual((status, out), (1, "x\n2\n"))

    def test_good_pipe(self):
        self.assertEqual(run("-m", "csv", text="select 2 as x"), (0, "x\n2\n", ""))

    def test_missing_file(self):
        status, _, err = run("-f", "no_such_file.sql")
        self.assertEqual(status, 1)
        self.assertIn("no_such_file.sql", err)


class Transactions(unittest.TestCase):
    def test_an_open_one_is_rolled_back_and_told(self):
        with tempfile.TemporaryDirectory() as directory:
            run("x.diptych", "-c", "create table t (a integer)", directory=directory)
            _, _, err = run("x.diptych", "-c", "begin; insert into t values (1)", directory=directory)
            self.assertEqual(err, "The transaction that was open is rolled back.\n")
            _, _, err = run("x.diptych", "-c", "begin; insert into t values (2); commit", directory=directory)
            self.assertEqual(err, "")
            out = run("x.diptych", "-m", "csv", "-c", "select a from t", directory=directory)[1]
        self.assertEqual(out, "a\n2\n")


class Splitting(unittest.TestCase):
    def test_semicolons_inside_texts_and_comments(self):
        script = ("select 'a;b' as x; -- one; two\n"
                  "/* ; /* ; */ ; */ select 'it''s;' as x;\n"
                  "select $$c;d$$ as x;;\n"
                  "select 1 as \"x;y\";")
        status, out, err = run("-m", "csv", text=script)
        self.assertEqual((status, out, err), (0, "x\na;b\nx\nit's;\nx\nc;d\nx;y\n1\n", ""))

    def test_statement_over_lines(self):
        self.assertEqual(run("-m", "csv", text="select\n1\nas\nx\n;")[1], "x\n1\n")

    def test_empty_inputs(self):
        for text in ("", "\n\n", ";;", "-- nothing\n", "/* nothing */"):
            self.assertEqual(run(text=text), (0, "", ""), text)


class Modes(unittest.TestCase):
    ROWS = "select * from (values (1, 'a,\"b', true), (-20, null, false)) as t(n, s, b)"

    def test_table(self):
        self.assertEqual(run("-c", "select * from (values (1, '日本'), (-20, null)) as t(n, s)")[1],
                         "┌─────────┬──────┐\n"
                         "│    n    │  s   │\n"
                         "│ integer │ text │\n"
                         "├─────────┼──────┤\n"
                         "│       1 │ 日本 │\n"
                         "│     -20 │ NULL │\n"
                         "└─────────┴──────┘\n")

    def test_csv(self):
        self.assertEqual(run("-m", "csv", "-c", self.ROWS)[1], 'n,s,b\n1,"a,""b",t\n-20,,f\n')

    def test_json(self):
        self.assertEqual(json.loads(run("-m", "json", "-c", self.ROWS)[1]),
                         [{"n": 1, "s": 'a,"b', "b": True}, {"n": -20, "s": None, "b": False}])
        self.assertEqual(json.loads(run("-m", "json", "-c", self.ROWS + " where n > 5")[1]), [])

    def test_markdown(self):
        self.assertEqual(run("-m", "markdown", "-c", "select 1 as n, 'a|b' as s")[1],
                         "| n | s |\n|---:|---|\n| 1 | a\\|b |\n")

    def test_line(self):
        self.assertEqual(run("-m", "line", "-c", "select * from (values (1, 2), (3, null)) as t(n, long)")[1],
                         "   n = 1\nlong = 2\n\n   n = 3\nlong = NULL\n")

    def test_control_characters_stay_on_the_line(self):
        self.assertIn("│ a\\nb │", run("-c", "select 'a\nb' as s")[1])

    def test_long_result_is_folded(self):
        values = ",".join(f"({i})" for i in range(1000))
        lines = run("-c", f"select * from (values {values}) as t(a)")[1].splitlines()
        self.assertEqual(len(lines), 4 + 20 + 3 + 20 + 2)
        self.assertIn("1000 rows (40 shown)", lines[-1])
        self.assertEqual(lines[23], "│      19 │")
        self.assertEqual(lines[27], "│     980 │")
        lines = run("-c", ".maxrows 0", "-c", f"select * from (values {values}) as t(a)")[1].splitlines()
        self.assertGreater(len(lines), 1000)

    def test_wide_result_is_folded_when_told(self):
        columns = ", ".join(f"{i} as column_{i}" for i in range(30))
        out = run("-c", ".maxwidth 60", "-c", f"select {columns}")[1]
        lines = out.splitlines()
        self.assertTrue(all(len(line) <= 60 for line in lines), out)
        self.assertIn("column_0", lines[1])
        self.assertIn("…", lines[1])
        self.assertIn("column_29", lines[1])
        self.assertIn("30 columns", out)
        full = run("-c", f"select {columns}")[1]
        self.assertIn("column_15", full)

    def test_explain_is_plain_lines(self):
        status, out, _ = run("-c", "explain select 1")
        self.assertEqual(status, 0)
        self.assertNotIn("│", out.splitlines()[0])


    def test_explain_as_json_is_json(self):
        for mode in ("table", "csv", "json", "line"):
            status, out, _ = run("--mode", mode, "-c", "explain (analyze, format json) select 1 as x")
            self.assertEqual(status, 0)
            if mode == "json":
                out = json.loads(out)[0]["QUERY PLAN"]
            elif mode == "csv":
                out = list(csv.reader(io.StringIO(out)))[1][0]
            elif mode == "line":
                out = out.split(" = ", 1)[1]
            self.assertEqual(json.loads(out)["run"]["rows"], 1)


class DotCommands(unittest.TestCase):
    def test_tables_and_schema(self):
        script = ("create table b (id integer not null, name varchar(10), \"Odd Name\" numeric(8,2));\n"
                  "create table a (x date);\n.tables\n.schema b\n")
        status, out, err = run(text=script)
        self.assertEqual((status, err), (0, ""))
        self.assertTrue(out.startswith("a\nb\nCREATE TABLE b (\n  id integer NOT NULL,\n"), out)
        self.assertIn('  "Odd Name" numeric(8,2)\n);', out)

    def test_schema_makes_the_table_anew(self):
        create = "create table t (id bigint primary key, s text not null default 'x', d date);"
        schema = run(text=create + "\n.schema t\n")[1]
        self.assertEqual(run(text=schema + "\n.schema t\n")[1], schema)

    def test_import(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "d.csv"), "w") as file:
                file.write("a,b\n1,x\n2,y\n")
            script = ".import d.csv t\n.import d.csv t\n.mode csv\nselect count(*) as n, sum(a) as s from t;\n"
            status, out, err = run(text=script, directory=directory)
        self.assertEqual((status, out, err), (0, "n,s\n4,6\n", ""))

    def test_read_and_output(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "r.sql"), "w") as file:
                file.write("select 5 as x;\n")
            script = ".mode csv\n.output o.csv\n.read r.sql\n.output\nselect 6 as x;\n"
            status, out, err = run(text=script, directory=directory)
            with open(os.path.join(directory, "o.csv")) as file:
                written = file.read()
        self.assertEqual((status, out, err, written), (0, "x\n6\n", "", "x\n5\n"))

    def test_read_of_itself_ends(self):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "r.sql"), "w") as file:
                file.write(".read r.sql\n")
            status, _, err = run("-f", "r.sql", directory=directory)
        self.assertEqual(status, 1)
        self.assertIn("54001", err)

    def test_timer(self):
        self.assertRegex(run(text=".timer on\n.mode csv\nselect 1 as x;\n")[1], r"^x\n1\nTime: \d+\.\d{3} s, 1 row\n$")

    def test_quit_and_mistakes(self):
        self.assertEqual(run(text=".quit\nselect nosuch;\n"), (0, "", ""))
        for line in (".nosuch", ".mode sideways", ".timer perhaps", ".import x", ".read nosuch.sql", ".maxrows many"):
            status, _, err = run(text=line + "\n")
            self.assertEqual(status, 1, line)
            self.assertTrue(err.startswith("ERROR"), line)

    def test_help_names_every_command(self):
        out = run(text=".help\n")[1]
        for name in ("tables", "schema", "import", "mode", "timer", "read", "output", "help", "quit"):
            self.assertIn("." + name, out)


if __name__ == "__main__":
    unittest.main()
