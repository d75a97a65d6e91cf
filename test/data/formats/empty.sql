SELECT count(*) FROM nothing;
CREATE TABLE first(i integer);
INSERT INTO first VALUES (1);
SELECT * FROM first;
