CREATE TABLE t (id integer, u integer, n integer, r real, price numeric(15,2), discount numeric(15,2), flag text, d date);
INSERT INTO t SELECT i, i % 100, i % 7, i / 2.0, i * 1.25, (i % 11) / 100.0, CASE WHEN i % 2 = 0 THEN 'A' ELSE 'B' END, date '1994-01-01' + i::integer FROM generate_series(1, 1000) s(i);
EXPLAIN SELECT id, u, n FROM t WHERE u > 60 AND n < 3;
EXPLAIN SELECT id FROM t WHERE u BETWEEN 1 AND 5 OR n BETWEEN 2 AND 3 OR r > 100.5;
EXPLAIN SELECT flag, count(*), sum(price), avg(discount), sum(price * (1 - discount)) FROM t WHERE d <= date '1995-01-01' GROUP BY flag ORDER BY flag;
EXPLAIN SELECT count(DISTINCT u), max(price) FILTER (WHERE flag = 'A') FROM t;
EXPLAIN SELECT CASE WHEN u = 0 THEN NULL ELSE n / u END, coalesce(n, 0), flag LIKE 'A%' FROM t LIMIT 5;
EXPLAIN SELECT DISTINCT flag FROM t WHERE flag IN ('A', 'C');
EXPLAIN SELECT stddev(u), var_pop(r) FROM t;
