"""The shell on a pseudo-terminal: editing, history, completion, Ctrl-C, the progress bar, folding to the width.

usage: terminal.py <diptych> [unittest arguments]
"""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

DIPTYCH = os.path.abspath(sys.argv.pop(1)) if __name__ == "__main__" else "diptych"
PROMPT = "diptych> "
PATIENCE = 60  # seconds until something that should appear is missed


class Terminal:
    """The shell, started on a terminal of 100 columns, with a home of its own."""

    def __init__(self, *arguments, columns=100, home=None):
        self.own_home = home is None
        self.home = home or tempfile.mkdtemp()
        self.seen = ""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        environment = dict(os.environ, HOME=self.home, TERM="xterm")
        self.process = subprocess.Popen([DIPTYCH, *arguments], stdin=slave, stdout=slave, stderr=slave, cwd=self.home,
                                        env=environment, preexec_fn=lambda: self.take_terminal(slave), close_fds=True)
        os.close(slave)
        self.master = master

    @staticmethod
    def take_terminal(slave):
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    def type(self, text):
        os.write(self.master, text.encode())

    def read_more(self, timeout):
        if not select.select([self.master], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:  # the other end is closed
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)

    def expect(self, pattern):
        """Waits for `pattern` in what was not yet expected; returns the match and drops all up to its end."""
        deadline = time.monotonic() + PATIENCE
        while True:
            match = re.search(pattern, self.seen)
            if match:
                self.seen = self.seen[match.end():]
                return match
            left = deadline - time.monotonic()
            if left <= 0 or (not self.read_more(left) and self.process.poll() is not None):
                raise AssertionError(f"{pattern!r} did not appear; there is {self.seen!r}")

    def finish(self):
        """Closes the shell with Ctrl-D; its exit status."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            # Typed again until it is taken: what is typed while the line editor changes the terminal's mode is lost, or left in
            # the line, which Ctrl-U empties.
            try:
                self.type("\x15\x04")
            except OSError:  # the other end is closed
                pass
            for _ in range(20):
                if self.process.poll() is None:
                    self.read_more(0.05)
        return self.process.poll()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self.master)
        if self.own_home:
            shutil.rmtree(self.home, ignore_errors=True)


def slow_statement():
    """One that runs for many seconds on any machine, and whose end nobody waits for."""
    return "select sum(sqrt(a) * ln(a + 1)) from generate_series(1, 100000000000) as t(a);"


class Editing(unittest.TestCase):
    def test_statement_over_lines(self):
        with Terminal() as terminal:
            terminal.expect(PROMPT)
            terminal.type("select 40 +\r")
            terminal.expect(r"\.\.\.> ")
            terminal.type("2 as answer;\r")
            terminal.expect(r"answer")
            terminal.expect(r"│\s+42 │")
            terminal.expect(PROMPT)
            self.assertEqual(terminal.finish(), 0)

    def test_the_prompt_shows_an_open_transaction(self):
        with Terminal() as terminal:
            terminal.expect(PROMPT)
            terminal.type("begin;\r")
            terminal.expect(r"diptych\*> ")
            terminal.type("select 1/0;\r")
            terminal.expect(r"diptych!> ")
            terminal.type("rollback;\r")
            terminal.expect(PROMPT)

    def test_error_leaves_the_shell_running_and_its_status_good(self):
        with Terminal() as terminal:
            terminal.expect(PROMPT)
            terminal.type("select nosuch;\r")
            terminal.expect("ERROR 42703: ")
            terminal.expect(PROMPT)
            self.assertEqual(terminal.finish(), 0)

    def test_interrupt_drops_the_typed_line(self):
        with Terminal() as terminal:
            terminal.expect(PROMPT)
            terminal.type("select nonsense\r")
            terminal.expect(r"\.\.\.> ")
            terminal.type("more non\x03")
            terminal.expect(PROMPT)
            terminal.type("select 7 as seven;\r")
            terminal.expect(r"│\s+7 │")

    def test_history_is_kept_between_runs(self):
        home = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        with Terminal(home=home) as terminal:
            terminal.expect(PROMPT)
            terminal.type("select 11 +\r22 as sum;\r")
            terminal.expect(r"│\s+33 │")
            terminal.expect(PROMPT)
            terminal.finish()
        self.assertTrue(os.path.exists(os.path.join(home, ".diptych_history")))
        with Terminal(home=home) as terminal:
            terminal.expect(PROMPT)
            terminal.type("\x10\r")  # Ctrl-P: the line before
            terminal.expect(r"│\s+33 │")


    def test_history_keeps_lines_of_a_literal(self):
        home = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, home, ignore_errors=True)
        with Terminal(home=home) as terminal:
            terminal.expect(PROMPT)
            terminal.type("select ascii(substr('a\rb', 2, 1)) as code;\r")
            terminal.expect(r"│\s+10 │")
            terminal.expect(PROMPT)
            terminal.type("\x10\r")  # Ctrl-P: the line before
            terminal.expect(r"│\s+10 │")
            terminal.expect(PROMPT)
            terminal.finish()
        with Terminal(home=home) as terminal:  # and in the file
            terminal.expect(PROMPT)
            terminal.type("\x10\r")
            terminal.expect(r"│\s+10 │")

    def test_pasted_tab_is_kept(self):
        with Terminal() as terminal:
            terminal.expect(re.escape("\x1b[?2004h"))
            terminal.expect(PROMPT)
            terminal.type("\x1b[200~select ascii('\t'),\tlength('a\tb\rc') as n;\x1b[201~\r")
            terminal.expect(r"│\s+9 │\s+5 │")
            terminal.expect(PROMPT)
            terminal.type("\x10\r")
            terminal.expect(r"│\s+9 │\s+5 │")
            terminal.expect(PROMPT)
            terminal.type("SEL\t1 as one;\r")  # typed ones complete
            terminal.expect(r"│\s+1 │")


class Completing(unittest.TestCase):
    def test_key_words_tables_and_columns(self):
        with Terminal() as terminal:
            terminal.expect(PROMPT)
            terminal.type("create table voyages (harbour integer);\r")
            terminal.expect(PROMPT)
            terminal.type("insert into voy\t values (5);\r")
            terminal.expect("1 row written")
            terminal.expect(PROMPT)
            terminal.type("SEL\tharb\tfrom voy\t;\r")
            terminal.expect(r"│\s+5 │")
            terminal.expect(PROMPT)
            terminal.type("select voyages.ha\t+ 1 from voy\t;\r")
            terminal.expect(r"│\s+6 │")

    def test_dot_commands(self):
        with Terminal() as terminal:
            terminal.expect(PROMPT)
            terminal.type("create table voyages (harbour integer);\r")
            terminal.expect(PROMPT)
            terminal.type(".ta\t\r")
            terminal.expect(r"\n(\x1b\[\?2004l)?voyages\r\n")
            terminal.expect(PROMPT)

    def test_choices_are_listed(self):
        with Terminal() as terminal:
            terminal.expect(PROMPT)
            terminal.type("select de\t")
            terminal.expect("default  delimiter  desc  describe")
            terminal.type("\x03")
            terminal.expect(PROMPT)


class Running(unittest.TestCase):
    def test_interrupt_cancels_the_statement_not_the_shell(self):
        with Terminal() as terminal:
            terminal.expect(PROMPT)
            terminal.type(slow_statement() + "\r")
            time.sleep(0.5)
            terminal.type("\x03")
            terminal.expect("ERROR 57014: ")
            terminal.expect(PROMPT)
            terminal.type("select 8 as eight;\r")
            terminal.expect(r"│\s+8 │")
            terminal.expect(PROMPT)
            self.assertEqual(terminal.finish(), 0)

    def test_progress_bar_appears_and_goes(self):
        with Terminal() as terminal:
            terminal.expect(PROMPT)
            terminal.type(slow_statement() + "\r")
            terminal.expect(r"\r[█▉▊▋▌▍▎▏ ]* *\d+% \S+ of 100\.0G rows")
            terminal.type("\x03")
            terminal.expect(r"\r\x1b\[K")
            terminal.expect("ERROR 57014: ")
            terminal.expect(PROMPT)

    def test_interrupted_script_fails(self):
        with Terminal("-c", slow_statement(), "-c", "select 'not reached' as x") as terminal:
            time.sleep(0.5)
            terminal.type("\x03")
            terminal.expect("ERROR 57014: ")
            self.assertEqual(terminal.process.wait(PATIENCE), 1)
            terminal.read_more(0.2)
            self.assertNotIn("not reached", terminal.seen)

    def test_wide_result_folds_to_the_terminal(self):
        columns = ", ".join(f"{i} as column_{i}" for i in range(30))
        with Terminal("-c", f"select {columns}", columns=80) as terminal:
            header = terminal.expect(r"│[^\n]*column_0[^\n]*").group().strip()
        self.assertLessEqual(len(header), 80)
        self.assertIn("…", header)
        self.assertIn("column_29", header)


if __name__ == "__main__":
    unittest.main()
