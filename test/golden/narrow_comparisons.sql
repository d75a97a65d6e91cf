CREATE TABLE t (s smallint, i integer, r real, n numeric(10,2), d date);
INSERT INTO t VALUES (1, 2, 3.5, 4.25, '2024-01-01');
PLAN SELECT 1 FROM t WHERE r > 60.0 AND r < 0.1;
PLAN SELECT 1 FROM t WHERE i < 10.5 AND i >= -3.5 AND i = 2.0;
PLAN SELECT 1 FROM t WHERE n > 1.005 AND n <> 2.5;
PLAN SELECT 1 FROM t WHERE d >= timestamp '2024-01-01 12:00:00';
PLAN SELECT 1 FROM t WHERE s < 100000;
