CREATE TABLE t AS SELECT i AS a, i % 4 AS few, i::bigint * 1000003 % 10007 AS many,
  CASE WHEN i % 5 <> 0 THEN (i % 100)::numeric(9, 2) END AS n, 'name ' || i % 10 AS s,
  i::bigint * i * 1000000007 + i AS wide FROM generate_series(1, 1000) g(i);

EXPLAIN KERNEL SELECT a, a + 1, n FROM t WHERE a > 100 AND n < 50;
EXPLAIN KERNEL SELECT count(*), sum(a), max(n) FROM t WHERE a > 100;
EXPLAIN KERNEL SELECT min(wide) FROM t WHERE few > 1;
EXPLAIN KERNEL SELECT few, count(*), sum(a) FROM t GROUP BY few;
EXPLAIN KERNEL SELECT many, min(n) FROM t GROUP BY many;
EXPLAIN KERNEL SELECT a, n FROM t ORDER BY n DESC, a;
EXPLAIN KERNEL SELECT a, s FROM t WHERE s LIKE '%3';
EXPLAIN KERNEL SELECT a FROM t WHERE few > 1 AND 2 <> few;
EXPLAIN KERNEL SELECT CASE WHEN a > 100 THEN n ELSE many END, few FROM t;
EXPLAIN KERNEL SELECT few, stddev(a), variance(many) FROM t GROUP BY few;
