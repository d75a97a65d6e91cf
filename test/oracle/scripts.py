"""Makes random scripts of one connection from a source of random numbers alone, without a look at what its statements answer.

All tables have the same columns. A statement that meets several rows changes them in a way that no order of them decides.
"""

TABLES = ["t0", "t1", "t2"]  # dropped and made anew, also as temporary tables, which hide the others
KEPT = "t3"  # the table that the views read: PostgreSQL drops none that a view names
VIEWS = ["v0", "v1"]
# Runs before a script, as another one may have left something.
CLEAN = ["ROLLBACK", "DROP VIEW IF EXISTS " + ", ".join(VIEWS), *["DROP TABLE IF EXISTS " + ", ".join([*TABLES, KEPT])] * 2]

# a: a key, or not; b: never NULL, or it may be.
DEFINITIONS = [
    "(a integer PRIMARY KEY, b text NOT NULL, c numeric(10, 2), d date, e boolean, f double precision)",
    "(a integer, b text DEFAULT 'new', c numeric(10, 2), d date DEFAULT '2024-02-28', e boolean, f double precision DEFAULT 0.5)",
    "(a integer DEFAULT 1, b text DEFAULT 'old', c numeric(10, 2), d date, e boolean DEFAULT true, f double precision)",
    "(a integer NOT NULL, b text, c numeric(10, 2) DEFAULT 7, d date, e boolean NOT NULL DEFAULT false, f double precision, PRIMARY KEY (b, a))",
    "(a integer DEFAULT 5, b text, c numeric(10, 2), d date, e boolean DEFAULT true, f double precision NOT NULL DEFAULT 1.5, PRIMARY KEY (a))"]
ALL = "a, b, c, d, e, f"
VIEW_QUERIES = [f"SELECT a, b, c FROM {KEPT} WHERE c > 1", f"SELECT a, max(b) AS b, min(c)::numeric(10, 2) AS c FROM {KEPT} GROUP BY a",
                f"SELECT x.a, y.b, x.c FROM {KEPT} x JOIN (SELECT a, max(b) AS b FROM {KEPT} GROUP BY a) y ON x.a = y.a"]

BEGINS = ["BEGIN", "BEGIN", "BEGIN", "START TRANSACTION", "BEGIN ISOLATION LEVEL REPEATABLE READ", "BEGIN READ ONLY", "BEGIN READ WRITE",
          "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE", "START TRANSACTION READ ONLY, ISOLATION LEVEL REPEATABLE READ"]
ENDS = ["COMMIT", "COMMIT", "COMMIT", "END", "COMMIT WORK", "ROLLBACK", "ABORT"]
MODES = ["SET TRANSACTION READ ONLY", "SET TRANSACTION READ WRITE", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
         "SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
         "SET TRANSACTION READ WRITE, ISOLATION LEVEL REPEATABLE READ"]
SAVEPOINTS = ["SAVEPOINT s", "SAVEPOINT s", "SAVEPOINT u", "ROLLBACK TO s", "ROLLBACK TO SAVEPOINT s", "ROLLBACK TO u", "RELEASE s",
              "RELEASE SAVEPOINT u"]
MISTAKES = ["SELEC 1", "SELECT a FROM nothing", "SELECT 1 / 0", "SELECT nothing FROM t0", "INSERT INTO t0 VALUES (1)", "SELECT 'x'::integer",
            "SELECT 3000000000::integer", "DROP TABLE nothing", "INSERT INTO t1 (a, a) VALUES (1, 2)", "DROP VIEW t0", "DROP TABLE v0",
            "INSERT INTO t2 (a, nothing) VALUES (1, 2)", "UPDATE t1 SET a = b", "DELETE FROM t0 USING t0 WHERE a = 1", "DROP VIEW nothing"]


class ScriptGenerator:
    def __init__(self, source):
        self.random = source
        self.favourites = []

    def script(self):
        statements = [f"CREATE TABLE {name} {self.random.choice(DEFINITIONS)}" for name in [*TABLES, KEPT]]
        statements += [self.insert_series(name) for name in [*TABLES, KEPT] if self.random.random() < 0.7]
        # Texts that come again and again, with changes between.
        self.favourites = [self.change(), self.change(), self.change(), self.query(), self.query()]
        length = self.random.randint(30, 60)
        while len(statements) < length:
            statements += self.some()
        return CLEAN + statements

    def any_of(self, weighted):
        """What one of the functions makes: weighted has (weight, function) pairs."""
        weights, functions = zip(*weighted)
        return self.random.choices(functions, weights)[0]()

    def some(self):
        return self.any_of([
            (5, self.transaction), (3, lambda: [self.random.choice(BEGINS)]), (4, lambda: [self.random.choice(ENDS)]),
            (2, lambda: [self.random.choice(MODES)]), (3, lambda: [self.random.choice(MISTAKES)]), (3, lambda: [self.random.choice(SAVEPOINTS)]),
            (12, lambda: [self.random.choice(self.favourites)]), (54, lambda: [self.change()]), (17, lambda: [self.query()])])

    def transaction(self):
        parts = [(45, lambda: [self.change()]), (15, lambda: [self.query()]), (12, lambda: [self.random.choice(self.favourites)]),
                 (15, self.savepoints), (2, lambda: [self.random.choice(MISTAKES)]), (1, lambda: [self.random.choice(MODES)])]
        statements = [self.random.choice(BEGINS)]
        if self.random.random() < 0.15:
            statements.append(self.random.choice(MODES))
        for _ in range(self.random.randint(2, 5)):
            statements += self.any_of(parts)
        return [*statements, self.random.choice(ENDS)]

    def savepoints(self):
        """Savepoints of few names, one inside the other."""
        statements = ["SAVEPOINT s", self.change()]
        for _ in range(self.random.randint(2, 5)):
            statements.append(self.any_of([(4, self.change), (2, self.query), (5, lambda: self.random.choice(SAVEPOINTS))]))
        return [*statements, self.random.choice(["ROLLBACK TO s", "RELEASE s"])]

    def change(self):
        return self.any_of([
            (9, self.delete), (4, self.delete_using), (10, self.update), (7, self.update_from), (2, self.truncate), (16, self.insert_values),
            (6, self.insert_some), (15, self.insert_series), (10, self.insert_select), (8, self.insert_computed), (3, self.fail_in_a_row),
            (2, self.drop), (6, self.create), (2, self.create_as), (4, self.view)])

    def delete(self):
        table = self.table()
        return f"DELETE FROM {table}{self.condition()}{self.returning(table)}"

    def delete_using(self):
        table, other = self.table(), self.relation()
        if self.random.random() < 0.3:
            first = self.random.randint(0, 300)
            return (f"DELETE FROM {table} USING generate_series({first}, {first + 90}, {self.random.randint(1, 9)}) AS o(k) WHERE a = k"
                    f"{self.random.choice(['', ' AND c < k', ' RETURNING a, k, c', ' RETURNING *'])}")
        condition = self.random.choice(["", " AND o.c > 1", f" AND o.b = {table}.b", f" AND {table}.c < o.c", f" AND {table}.e AND o.a % 2 = 0"])
        # Of several rows of o that meet a row one is shown, no matter which.
        returned = self.random.choice(["", "", f" RETURNING {table}.*", f" RETURNING {table}.b, {table}.c + 1",
                                       f" RETURNING o.a, {table}.d", " RETURNING a"])
        return f"DELETE FROM {table} USING {other} AS o WHERE {table}.a = o.a{condition}{returned}"

    def update(self):
        table = self.table()
        return f"UPDATE {table} SET {self.assignments()}{self.condition()}{self.returning(table)}"

    def assignments(self):
        """Keys move by more than there are, so that none meets another one on its way, which PostgreSQL would not have."""
        return self.random.choice([
            "c = c + 1", "b = b || 'x'", f"a = a + {self.random.randint(10, 900) * 1000}", f"c = {self.number()}, b = 'n{self.random.randint(0, 9)}'",
            "c = NULL", "c = DEFAULT", "b = NULL", f"a = {self.number()}", "c = a / 2, b = 'u' || a", "nothing = 1", "a = 'x'",
            "(b, c) = ('r' || a, 7)", "(c, b) = ROW(DEFAULT, b)", "d = d + 1", "d = DATE '2024-01-31' + a % 60", "d = DEFAULT, f = DEFAULT",
            "e = NOT e", "e = c > 1", "e = NULL", "f = f / 2 + 1", "f = c", "f = 'NaN'", "f = a, e = DEFAULT", "d = 'infinity'", "a = abs(a) % 5",
            "a = DEFAULT", "c = CASE WHEN e THEN 1 ELSE c END", "b = coalesce(b, 'none'), c = coalesce(c, 0) + 0.25"])

    def update_from(self):
        table = self.table()
        if self.random.random() < 0.25:
            condition = self.random.choice(["", " AND o.c > 1", f" AND o.b <> {table}.b", f" AND {table}.a < {self.number()}"])
            return (f"UPDATE {table} SET {self.random.choice(['c = 3', 'd = d + 7', 'e = NOT e'])} FROM {self.relation()} AS o WHERE {table}.a = o.a"
                    f"{condition}{self.random.choice(['', f' RETURNING {table}.*', f' RETURNING {table}.a, o.a'])}")
        numbers = self.random.sample(range(10), 3)
        values = ", ".join(f"({number}, 'v{number}', {number}.5)" for number in numbers)
        source = self.random.choice([f"(SELECT a AS k, max(b) AS n, min(c) AS v FROM {self.relation()} GROUP BY a) AS o"] * 3 + [
            f"(VALUES {values}) AS o(k, n, v)",
            f"(SELECT i AS k, 'i' || i AS n, i * 0.25 AS v FROM generate_series(0, {self.number()}) AS g(i)) AS o"])
        assigned = self.random.choice(["c = v", "c = k, b = n", "(b, c) = (n, k)", "c = c + v", "f = v, e = v > c", "d = d + k", "b = n || k"])
        condition = self.random.choice(["", "", " AND v > 1", " AND c IS NULL", " AND n <> b", " AND v < c", f" AND a < {self.number()}"])
        returned = self.random.choice(["", " RETURNING *", " RETURNING a, v, n, c"])
        return f"UPDATE {table} SET {assigned} FROM {source} WHERE a = k{condition}{returned}"

    def truncate(self):
        return f"TRUNCATE {self.random.choice(['', 'TABLE '])}{self.table()}"

    def insert_values(self):
        table, rows = self.table(), self.random.randint(1, 4)
        returned = self.returning(table) if self.random.random() < 0.3 else ""
        return f"INSERT INTO {table} VALUES " + ", ".join(self.row(rows == 1) for _ in range(rows)) + returned

    def row(self, may_fail):
        """may_fail: several rows might have different mistakes, of which the systems need not tell the same."""
        text = self.random.choice([f"'n{self.random.randint(0, 9)}'"] * 9 + ["NULL"] * may_fail)
        number = self.random.choice([str(self.number())] * 12 + ["NULL"] * may_fail)
        date = self.random.choice(["'2024-02-29'", "'1999-12-31'", "NULL", "'-infinity'", "DATE '2024-01-01' + 7"])
        double = self.random.choice(["0.5", "1e3", "'NaN'", "'Infinity'", "-2.25", "12.75"])
        numeric = self.random.choice(["NULL", "1.5", "0.25", "99999999.99"])
        return f"({number}, {text}, {numeric}, {date}, {self.random.choice(['true', 'false'])}, {double})"

    def insert_some(self):
        table, text = self.table(), f"'n{self.random.randint(0, 9)}'"
        part = self.random.choice([
            f"(b, a) VALUES ({text}, {self.number()})", f"(b, a) VALUES ({text}, {self.number()})", "DEFAULT VALUES",
            f"(f, a, e, b) VALUES (0.25, {self.number()}, true, {text})",
            f"(a, b, c) VALUES ({self.number()}, DEFAULT, DEFAULT), ({self.number()}, DEFAULT, 1)",
            f"(d, b, a) VALUES ('2024-03-01', {text}, {self.number()}), (NULL, {text}, {self.number()})",
            f"(a, b, c, d) SELECT i, {text}, NULL, DATE '2024-01-01' + i FROM generate_series({self.number()}, 2000, 400) AS g(i)"])
        return f"INSERT INTO {table} {part}{self.returning(table)}"

    def insert_series(self, table=None):
        first = self.random.choice([0, 1, self.number(), self.number()])
        return (f"INSERT INTO {table or self.table()} SELECT i, 'g' || i % 7, i % 50 * 0.25, DATE '2024-01-01' + i % 40, i % 3 = 0, i % 40 * 0.25 "
                f"FROM generate_series({first}, {first + self.random.choice([3, 60, 200])}) AS g(i)")

    def insert_select(self):
        table, shift = self.table(), self.random.choice([0, 1, 5000])
        returned = self.returning(table)
        if self.random.random() < 0.4:
            return f"INSERT INTO {table} (a, b, c) SELECT a + {shift}, b, c FROM {self.relation()} WHERE a < {self.number()}{returned}"
        return f"INSERT INTO {table} SELECT a + {shift}, b, c, d, e, f FROM {self.table()} WHERE a < {self.number()}{returned}"

    def insert_computed(self):
        """From groups, totals, joins, and queries of WITH."""
        table, other, number = self.table(), self.relation(), self.number()
        full = self.table()
        return self.random.choice([
            f"INSERT INTO {table} (a, b, c) SELECT a, min(b), max(c) FROM {other} GROUP BY a",
            f"INSERT INTO {table} (b, a, c) SELECT b, count(*), {number} FROM {other} WHERE a < 1000 GROUP BY b{self.returning(table)}",
            f"INSERT INTO {table} SELECT 3000 + count(*), 'sum', sum(c), max(d), coalesce(bool_or(e), false), coalesce(sum(f), 0) FROM {full}",
            f"INSERT INTO {table} SELECT x.a + 7000, y.n, x.c, x.d, x.e, x.f FROM {full} x "
            f"JOIN (SELECT a AS k, max(b) AS n FROM {other} GROUP BY a) y ON x.a = y.k WHERE x.a < {number}",
            f"INSERT INTO {table} (a, b) SELECT DISTINCT a % 10 + {number}, 'd' || a % 3 FROM {other} WHERE a > 0",
            f"WITH q AS (SELECT a, b, c FROM {other} WHERE a < {number}) INSERT INTO {table} (a, b, c) SELECT a + 20000, b, c FROM q",
            f"INSERT INTO {table} (a, b, c) WITH q AS (SELECT a, count(*) AS n FROM {other} GROUP BY a) "
            "SELECT n * 30000 + a, 'w', n FROM q WHERE n > 1",
            f"INSERT INTO {table} SELECT {ALL} FROM {full} WHERE a > {number} ORDER BY {ALL} LIMIT {self.random.randint(1, 8)}"])

    def fail_in_a_row(self):
        """Fails, if at all, in one of many rows."""
        table = self.table()
        return self.random.choice([
            f"INSERT INTO {table} (a, b, c) SELECT -100000 - i, 'z', 10 / (i - 70) FROM generate_series(1, 90) AS g(i)",
            f"INSERT INTO {table} (a, b) SELECT -1 - i / 2, 'z' FROM generate_series({self.random.choice([0, 0, 129])}, 130) AS g(i)",
            f"INSERT INTO {table} (a, b, c) SELECT -200000 - i, 'z', 10::numeric ^ i FROM generate_series(1, 12) AS g(i)",
            f"UPDATE {table} SET c = 100 / (a - {self.number()})", f"UPDATE {table} SET c = c * 10000000", f"UPDATE {table} SET d = d + 2000000000",
            f"DELETE FROM {table} WHERE 1 / (a - {self.number()}) = 0", f"DELETE FROM {table} RETURNING 100 / (a - {self.number()})"])

    def drop(self):
        return f"DROP TABLE {self.random.choice(['', 'IF EXISTS '])}{self.random.choice(TABLES)}"

    def create(self):
        return f"CREATE {self.kind()} {self.random.choice(['', 'IF NOT EXISTS '])}{self.random.choice(TABLES)} {self.random.choice(DEFINITIONS)}"

    def kind(self):
        return self.random.choice(["TABLE", "TABLE", "TEMP TABLE", "TEMPORARY TABLE"])

    def create_as(self):
        # Without IF NOT EXISTS PostgreSQL would tell READ ONLY first, Diptych that there is one.
        return (f"CREATE {self.kind()} IF NOT EXISTS {self.random.choice(TABLES)} AS SELECT {ALL} FROM {self.table()} "
                f"WHERE a % 3 = {self.random.randint(0, 2)}")

    def view(self):
        view, query = self.random.choice(VIEWS), self.random.choice(VIEW_QUERIES)
        return self.random.choice([f"CREATE VIEW {view} AS {query}", f"CREATE VIEW {view} (a, b, c) AS {query}",
                                   f"CREATE OR REPLACE VIEW {view} AS {query}", f"DROP VIEW {self.random.choice(['', 'IF EXISTS '])}{view}"])

    def returning(self, table):
        if self.random.random() < 0.6:
            return ""
        return " RETURNING " + self.random.choice(["a", "*", f"{table}.b, c + a", "a AS n, 'x', b || 'y', NULL", f"{table}.*, 1", "count(*)",
                                                   "nothing", "d + 1, NOT e, f", "a, CASE WHEN c > 1 THEN b END"])

    def condition(self):
        return self.random.choice([
            f" WHERE a = {self.number()}", f" WHERE a > {self.number()}", f" WHERE a % 7 = {self.random.randint(0, 6)}",
            f" WHERE b = 'g{self.random.randint(0, 6)}'", " WHERE c IS NULL", f" WHERE a < {self.number()} AND c > 2", "", " WHERE e",
            f" WHERE d > DATE '2024-01-{self.random.randint(10, 30)}'", " WHERE f < 2.5 OR a < 5", f" WHERE a IN ({self.number()}, {self.number()})"])

    def query(self):
        table, other, full = self.relation(), self.relation(), self.table()
        return self.random.choice([
            f"SELECT count(*), sum(a), min(b), max(c), count(DISTINCT b) FROM {table}",
            f"SELECT a, b, c FROM {table} WHERE a < {self.number()} ORDER BY a, b, c",
            f"SELECT b, count(*), sum(c) FROM {table} GROUP BY b ORDER BY b",
            f"SELECT count(*), sum(x.c) FROM {table} x JOIN {other} y ON x.a = y.a",
            f"SELECT count(*) FROM {table} WHERE b = 'n{self.random.randint(0, 9)}'",
            f"SELECT * FROM {full} WHERE a < {self.number()} ORDER BY {ALL} LIMIT 20",
            f"SELECT d, count(*), bool_and(e), sum(f) FROM {full} GROUP BY d ORDER BY d",
            f"SELECT e, min(d), max(d), max(f), count(c), avg(c) FROM {full} GROUP BY e ORDER BY e",
            f"SELECT x.a, x.d, y.b FROM {full} x JOIN {other} y ON x.a = y.a AND x.c < y.c WHERE x.a < {self.number()} "
            "ORDER BY x.a, x.d, y.b LIMIT 30",
            f"WITH q AS (SELECT a, sum(c) AS s FROM {table} GROUP BY a) SELECT count(*), max(s) FROM q WHERE s > 3",
            f"SELECT DISTINCT e, a % 3 FROM {full} WHERE f IS NOT NULL ORDER BY 1, 2",
            f"SELECT count(*), sum(a), max(b) FROM {self.random.choice(['public', 'pg_temp'])}.{full}"])

    def table(self):
        return self.random.choice([*TABLES, KEPT])

    def relation(self):
        """A table, or a view of its first three columns."""
        return self.random.choice([*TABLES, KEPT] * 2 + VIEWS)

    def number(self):
        return self.random.randint(0, self.random.choice([9, 9, 60, 300, 2000]))
