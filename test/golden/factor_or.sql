CREATE TABLE t (a integer, b integer, c text);
INSERT INTO t VALUES (1, 2, 'x');
CREATE TABLE u (a integer, b integer, c text);
INSERT INTO u VALUES (1, 2, 'x');
PLAN SELECT a FROM t WHERE (a = 1 AND b > 2) OR (c = 'x' AND a = 1);
PLAN SELECT a FROM t WHERE a = 1 OR (a = 1 AND b > 2);
PLAN SELECT a FROM t WHERE (b <> 0 AND 1 / b > 2) OR (c = 'x' AND 1 / b > 2);
PLAN SELECT 1 FROM t, u WHERE (t.a = u.a AND t.b = 1 AND u.c = 'x') OR (t.a = u.a AND t.b = 2 AND u.c = 'y');
PLAN SELECT 1 FROM t, u WHERE t.a = u.a AND (t.b = 1 OR u.b = 2);
