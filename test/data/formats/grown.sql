SELECT count(*), sum(k), min(k), max(k), count(name), count(line), sum(price) FROM grown;
SELECT name, count(*), min(line), max(line) FROM grown GROUP BY name ORDER BY name;
SELECT * FROM grown WHERE k % 101 = 1 ORDER BY k;
SELECT * FROM grown WHERE k > 9050 ORDER BY k;
SELECT * FROM gone;
INSERT INTO grown VALUES (2003, 'again', 'again', 0);
INSERT INTO grown SELECT i, 'later ' || i % 4, 'line ' || i, NULL::numeric FROM generate_series(20001, 20100) g(i);
SELECT name, count(*), max(line) FROM grown WHERE k > 9050 GROUP BY name ORDER BY name;
SELECT count(*), sum(k) FROM grown;
