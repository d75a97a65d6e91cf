"""PostgreSQL's answers in the form in which Diptych's Worker gives its own."""

import copy

import psycopg

import result_types

ExecStatus = psycopg.pq.ExecStatus


class Oracle:
    """A database of its own on a server, with a set-up of statements."""

    def __init__(self, server, setup=()):
        self.connection = server.new_database()
        for sql in setup:
            self.connection.execute(sql)

    def beside(self, server):
        """Another connection to the database."""
        other = copy.copy(self)
        other.connection = server.connect(self.connection.info.dbname)
        return other

    def run(self, sql):
        """An answer as comparison.py has it."""
        text, pgconn = sql.encode(), self.connection.pgconn
        result = pgconn.exec_(text)
        if result.status == ExecStatus.COMMAND_OK:
            return ("", [], [], []) if result.command_tuples is None else ("", [], [], [], result.command_tuples)
        if result.status != ExecStatus.TUPLES_OK:
            state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
            return (state or b"?????").decode(), result.error_message.decode(), None, None
        # A result's own types are those of the plan, where constants have been folded; the statement's are what SQL says.
        pgconn.prepare(b"", text)
        told = pgconn.describe_prepared(b"")
        types = [result_types.type_name(told.ftype(c), told.fmod(c)) for c in range(told.nfields)]
        rows = [[None if result.get_value(r, c) is None else result.get_value(r, c).decode() for c in range(result.nfields)]
                for r in range(result.ntuples)]
        answer = "", types, rows, [result.fname(c).decode() for c in range(result.nfields)]
        return answer if result.command_status.startswith(b"SELECT") else (*answer, result.command_tuples)
