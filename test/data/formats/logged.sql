SELECT count(*), sum(k), count(name), sum(price), min(at), max(at) FROM logged;
SELECT * FROM logged WHERE k % 37 = 0 ORDER BY k;
SELECT * FROM other ORDER BY i;
INSERT INTO logged VALUES (101, 'there already', 0, NULL);
INSERT INTO logged VALUES (150, 'gone before', 0, NULL);
DELETE FROM logged WHERE k > 400;
UPDATE logged SET price = 0 WHERE k < 110;
SELECT count(*), sum(k), count(name), sum(price), min(at), max(at) FROM logged;
