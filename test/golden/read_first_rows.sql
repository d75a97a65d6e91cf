COPY (SELECT i a, 'name' || i AS b FROM generate_series(1, 5) g(i)) TO 'x.csv' (HEADER);
COPY (SELECT i a, 'name' || i AS b FROM generate_series(1, 5) g(i)) TO 'x.parquet';
PLAN SELECT b FROM 'x.csv' WHERE a > 1 LIMIT 10 OFFSET 5;
PLAN SELECT a + 1 FROM 'x.csv' LIMIT 3;
PLAN SELECT b FROM 'x.csv' WHERE a > 1 OFFSET 5;
PLAN SELECT b FROM 'x.csv' ORDER BY a LIMIT 3;
PLAN SELECT DISTINCT b FROM 'x.csv' LIMIT 3;
PLAN SELECT b FROM 'x.parquet' WHERE a > 1 LIMIT 3;
EXPLAIN SELECT a + a FROM 'x.csv' WHERE b = 'name2' LIMIT 3;
