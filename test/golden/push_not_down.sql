CREATE TABLE t (a integer, b integer, c text);
INSERT INTO t VALUES (1, 2, 'x');
PLAN SELECT a FROM t WHERE NOT (a < 3 OR b IS NULL);
PLAN SELECT a FROM t WHERE NOT (NOT (a = b) AND c LIKE 'x%');
