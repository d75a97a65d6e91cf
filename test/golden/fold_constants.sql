CREATE TABLE t (a integer, d date);
INSERT INTO t VALUES (1, '2024-01-01');
PLAN SELECT a + (2 * 3) FROM t WHERE a > 60 - 20 AND true;
PLAN SELECT a FROM t WHERE d >= date '1995-01-01' + interval '1 year';
PLAN SELECT a FROM t WHERE a = 1 / 0;
PLAN SELECT a FROM t WHERE true OR a > 1;
PLAN SELECT a + NULL * 2 FROM t WHERE a / 0 > NULL OR a = 1;
