CREATE TABLE t (a integer, b integer, c integer, d integer);
INSERT INTO t VALUES (1, 2, 3, 4);
PLAN SELECT a + c FROM t WHERE d > 1 ORDER BY a;
PLAN SELECT count(*) FROM t;
PLAN SELECT b, count(*), sum(c) FROM t GROUP BY b, d HAVING count(*) > 1;
CREATE TABLE e (a integer, x integer, y integer);
INSERT INTO e VALUES (1, 2, 3), (4, 5, 6);
PLAN SELECT t.b, e.y FROM t JOIN e ON t.a = e.a WHERE e.x > 1;
PLAN SELECT count(*) FROM t, e;
