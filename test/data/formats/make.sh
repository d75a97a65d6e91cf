#!/bin/sh
# Makes the database files of a new format: make.sh path/to/diptych folder
set -e
here=$(cd "$(dirname "$0")" && pwd)
diptych=$(realpath "$1")
mkdir "$2"
cd "$2"
"$diptych" tables.diptych -f "$here/make_tables.sql"
# A file that was opened, added to and closed many times: fragments, directories and dictionaries that were merged and
# some that were not, pages that were freed and used again.
"$diptych" grown.diptych -c "SET tablet_rows = 64; CREATE TABLE grown(k integer PRIMARY KEY, name text, line text, price numeric(12, 2)); CREATE TABLE gone AS SELECT i, 'gone ' || i s FROM generate_series(1, 1000) g(i)"
for round in 1 2 3 4 5 6 7 8 9; do
  "$diptych" grown.diptych -c "INSERT INTO grown SELECT $round * 1000 + i, 'name ' || $round * (i % 10), 'line ' || i * $round, i * 0.25 FROM generate_series(1, 7 * $round) g(i)"
done
"$diptych" grown.diptych -c "DROP TABLE gone; INSERT INTO grown VALUES (1, NULL, 'last', NULL)"
"$diptych" views.diptych -c "CREATE TABLE t AS SELECT i, 'word ' || i % 3 AS s FROM generate_series(1, 10) g(i); CREATE VIEW v(word, n) AS SELECT s, count(*) FROM t GROUP BY s; CREATE VIEW \"W\" AS SELECT * FROM v WHERE n > 3; CREATE VIEW gone AS SELECT 1 AS one; DROP VIEW gone"
# No table at all.
"$diptych" empty.diptych -c "SELECT 1" > /dev/null
