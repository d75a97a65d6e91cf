"""Queries that fail, and on the same SQLSTATE, whatever the order in which rows are taken: of one table and joins."""

# Queries that fail on tables with rows, and then in the same way.
FAILING = [
    "SELECT 10 / k FROM {t}", "SELECT 10 % (k - k) FROM {t}", "SELECT 1.5 / (k - k) FROM {t}", "SELECT d / 0 FROM {t}",
    "SELECT i + 2147483647 + abs(j) FROM {t} WHERE i > 0 AND j <> 0", "SELECT l * 3 FROM {t} WHERE l > 9223372036854775800",
    "SELECT sum(s)::smallint + 32767::smallint FROM {t} WHERE s > 32000", "SELECT h::smallint FROM {t} WHERE abs(h) > 100000",
    "SELECT l::integer FROM {t} WHERE l > 3000000000", "SELECT m::numeric(6,2) FROM {t} WHERE abs(m) > 100000",
    "SELECT m::integer FROM {t} WHERE m > 99999999999", "SELECT sqrt(-abs(d) - 1) FROM {t}", "SELECT ln(k - 100) FROM {t}",
    "SELECT exp(abs(d) * 0 + 1000) FROM {t}", "SELECT power(0::float8, -k - 1) FROM {t}", "SELECT (tx || 'x')::integer FROM {t}",
    "SELECT (vc || 'z')::date FROM {t}", "SELECT tx::boolean FROM {t} WHERE tx = 'zebra'", "SELECT substring(tx, 1, -k - 1) FROM {t}",
    "SELECT -i FROM {t} WHERE i = -2147483648", "SELECT abs(l) FROM {t} WHERE l = -9223372036854775808",
    "SELECT i / -1 FROM {t} WHERE i = -2147483648", "SELECT max(j) / (min(k) - min(k)) FROM {t}",
    "SELECT count(*) FROM {t} GROUP BY 10 / (k - k)", "SELECT id FROM {t} ORDER BY 1 / (k - k)", "SELECT id FROM {t} WHERE 1 / (k - k) > 0",
    "SELECT tx + 1 FROM {t}", "SELECT b + 1 FROM {t}", "SELECT nosuch FROM {t}", "SELECT k, count(*) FROM {t}", "SELECT sum(tx) FROM {t}",
    "SELECT k FROM {t} WHERE sum(k) > 1", "SELECT k FROM {t} WHERE tx", "SELECT dt * 2 FROM {t}", "SELECT k LIKE 'x' FROM {t}",
    "SELECT length(k) FROM {t}", "SELECT sum(sum(k)) FROM {t}", "SELECT k FROM {t} ORDER BY 7", "SELECT DISTINCT k FROM {t} ORDER BY j",
    "SELECT k FROM {t} GROUP BY k HAVING j > 1", "SELECT * FROM nosuch", "SELECT nosuch(k) FROM {t}", "SELECT k::nosuch FROM {t}",
    "SELECT CASE WHEN k > 1 THEN 1 ELSE 'x' END FROM {t}", "SELECT coalesce(k, tx) FROM {t}", "SELECT dt = k FROM {t}",
    "SELECT k FROM {t} LIMIT -1", "SELECT k IN (1, 'x') FROM {t}",
]

# Columns, types to cast them to that do not hold all of their values, and the kinds of those types.
CAST_AND_FAIL = [
    ("l", "integer", "int4"), ("l", "smallint", "int2"), ("i", "smallint", "int2"), ("h", "smallint", "int2"), ("m", "integer", "int4"),
    ("m", "numeric(6,2)", "num"), ("n", "smallint", "int2"), ("w", "bigint", "int8"), ("w0", "bigint", "int8"), ("w0", "numeric(38,2)", "num"),
    ("p", "smallint", "int2"), ("f", "integer", "int4"), ("f", "bigint", "int8"), ("f", "real", "f4"), ("d", "smallint", "int2"),
    ("r", "integer", "int4"), ("tx", "integer", "int4"), ("vc", "date", "date"), ("tx", "numeric(5,2)", "num"), ("ch", "boolean", "bool"),
    ("c1", "smallint", "int2"), ("v3", "float8", "f8"), ("l", "numeric(9,2)", "num"), ("i", "numeric(6,0)", "num"), ("tg", "timestamp", "ts"),
    ("q", "smallint", "int2"), ("z", "smallint", "int2"), ("di", "timestamp", "ts"), ("ti", "date", "date"), ("w38", "numeric(3,3)", "num"),
    ("vc", "interval", "iv"), ("k", "boolean", "bool"), ("id", "smallint", "int2"),
]

# Joins that fail on the tables of join_tables.py, most of them whatever their rows are.
FAILING_JOINS = [
    "SELECT k FROM j_few AS a JOIN j_some AS b ON a.id = b.id", "SELECT a.k FROM j_few AS a, j_some AS b WHERE k = 3",
    "SELECT * FROM j_few AS a JOIN j_some AS b ON k = b.k", "SELECT count(*) FROM j_few AS a JOIN j_some AS b ON a.k = b.k GROUP BY s",
    "SELECT a.id FROM j_few AS a JOIN j_some AS b ON a.k = b.k ORDER BY h", "SELECT 1 FROM j_few JOIN j_few ON true",
    "SELECT 1 FROM j_few AS a, j_some AS a", "SELECT 1 FROM j_few AS a JOIN j_some AS b USING (id) JOIN j_keys AS a USING (id)",
    "SELECT 1 FROM j_few JOIN j_some USING (nosuch)", "SELECT 1 FROM j_few JOIN jv_names USING (ss)",
    "SELECT 1 FROM jv_names JOIN j_few USING (kk)", "SELECT 1 FROM j_few AS a JOIN j_some AS b ON true JOIN j_keys AS c USING (k)",
    "SELECT 1 FROM j_few AS a JOIN j_some AS b ON true NATURAL JOIN j_keys AS c", "SELECT 1 FROM j_few JOIN j_some USING (k, k)",
    "SELECT 1 FROM j_few AS a JOIN j_some AS b ON a.k", "SELECT 1 FROM j_few AS a JOIN j_some AS b ON a.s",
    "SELECT 1 FROM j_few AS a JOIN j_some AS b ON count(*) > 1", "SELECT 1 FROM j_few AS a JOIN j_some AS b ON sum(a.k) = b.k",
    "SELECT 1 FROM j_few AS a JOIN j_some AS b ON a.k = c.k", "SELECT 1 FROM j_few AS a JOIN j_some AS b ON a.k = b.nosuch",
    "SELECT 1 FROM j_few AS a, j_some AS b JOIN j_keys AS c ON a.k = c.k", "SELECT 1 FROM j_few AS a JOIN nosuch AS b ON true",
    "SELECT 1 FROM j_few AS a JOIN j_some AS b ON a.k = b.s", "SELECT 1 FROM j_few AS a JOIN j_some AS b ON a.dt = b.k",
    "SELECT 1 FROM j_few JOIN (VALUES ('x')) AS b(k) USING (k)", "SELECT 1 FROM j_few NATURAL JOIN (VALUES (date '2020-01-01')) AS b(k)",
    "SELECT j_few.k FROM j_few AS a JOIN j_some AS b ON a.k = b.k", "SELECT c.* FROM j_few AS a JOIN j_some AS b ON a.k = b.k",
    "SELECT a.k, count(*) FROM j_few AS a JOIN j_some AS b ON a.k = b.k", "SELECT a.k, b.h FROM j_few AS a JOIN j_some AS b USING (k) GROUP BY a.k",
    "SELECT * FROM j_few AS a JOIN j_some AS b USING (k) GROUP BY k", "SELECT 1 FROM j_few AS a JOIN j_some AS b",
    "SELECT 1 FROM j_few AS a CROSS JOIN j_some AS b ON true", "SELECT 1 FROM j_few AS a(x, y) JOIN j_some AS b ON a.k = b.k",
    "SELECT 1 FROM j_few AS a, (SELECT a.k) AS b", "SELECT 1 FROM (j_few AS a JOIN j_some AS b USING (k)) AS c WHERE a.id = 1",
    "SELECT 1 / (a.k - b.k) FROM j_keys AS a JOIN j_keys AS b ON a.k = b.k", "SELECT 1 FROM j_keys AS a JOIN j_keys AS b ON 1 / (a.k - a.k) = b.k",
    "SELECT (a.s || 'x')::integer FROM j_keys AS a JOIN j_keys AS b USING (k)", "SELECT sum(1 / (a.k - b.k)) FROM j_keys AS a JOIN j_keys AS b USING (k)",
    "SELECT (b.k + 100000)::smallint FROM j_keys AS a JOIN j_keys AS b ON a.k = b.k",
]
