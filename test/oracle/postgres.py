"""A private PostgreSQL 15 server in a scratch directory: no TCP, text ordered bytewise (C) with the case of C.UTF-8, UTC, no fsync."""

import glob
import os
import pwd
import shutil
import subprocess
import tempfile

import psycopg


def binary_directory():
    """The newest installed PostgreSQL's bin directory; raises FileNotFoundError when there is none."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    if not found:
        raise FileNotFoundError("PostgreSQL is not installed (no /usr/lib/postgresql/*/bin/initdb)")
    return os.path.dirname(found[-1])


class Server:
    """with Server() as server: connection = server.connect()"""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="diptych_pg.", dir="/tmp")
        self.bin = binary_directory()
        self.as_root = os.getuid() == 0  # the server refuses to run as root
        self.databases = 0

    def __enter__(self):
        if self.as_root:
            user = pwd.getpwnam("postgres")
            os.chown(self.directory, user.pw_uid, user.pw_gid)
        os.chmod(self.directory, 0o711)
        data = os.path.join(self.directory, "data")
        self._run("initdb", "-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale", "--lc-ctype=C.UTF-8",
                  "-N")
        options = " ".join(
            "-c " + option
            for option in ("listen_addresses=", "unix_socket_directories=" + self.directory, "fsync=off", "timezone=UTC",
                           "full_page_writes=off", "synchronous_commit=off", "datestyle=ISO", "autovacuum=off", "jit=off"))
        self._run("pg_ctl", "-D", data, "-w", "-l", os.path.join(self.directory, "log"), "-o", options, "start")
        return self

    def __exit__(self, *_):
        self._run("pg_ctl", "-D", os.path.join(self.directory, "data"), "-w", "-m", "immediate", "stop")
        shutil.rmtree(self.directory, ignore_errors=True)

    def _run(self, program, *arguments):
        command = [os.path.join(self.bin, program), *arguments]
        if self.as_root:
            command = ["runuser", "-u", "postgres", "--", *command]
        result = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd="/", check=False)
        if result.returncode != 0:
            raise RuntimeError(f"{program} failed:\n{result.stdout.decode()}")

    def connect(self, database="postgres"):
        return psycopg.connect(host=self.directory, user="postgres", dbname=database, autocommit=True)

    def new_database(self):
        """A connection to an empty database of its own; drop it with drop_database(connection)."""
        self.databases += 1
        name = f"scratch{self.databases}"
        with self.connect() as admin:
            admin.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
        return self.connect(name)

    def drop_database(self, connection):
        name = connection.info.dbname
        connection.close()
        with self.connect() as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
