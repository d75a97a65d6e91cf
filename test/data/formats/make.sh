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
# Rows that were deleted and changed: tablets with masks.
"$diptych" changed.diptych -c "SET compaction = checkpoint; SET tablet_rows = 64; CREATE TABLE changed(k integer PRIMARY KEY, name text, price numeric(12, 2)); INSERT INTO changed SELECT i, 'name ' || i % 9, i * 0.25 FROM generate_series(1, 1000) g(i); DELETE FROM changed WHERE k % 7 = 3; UPDATE changed SET price = price + 1 WHERE k % 11 = 0; DELETE FROM changed WHERE k BETWEEN 300 AND 500; CREATE TABLE whole AS SELECT i FROM generate_series(1, 10) g(i)"
# What a process left that was killed: commits of all kinds are in the log alone.
{
  echo "SET compaction = checkpoint; SET tablet_rows = 64; CREATE TABLE logged(k integer PRIMARY KEY, name text, price numeric(12, 2), at timestamp);"
  echo "CREATE TABLE other(i bigint); INSERT INTO other SELECT i FROM generate_series(1, 300) g(i);"
  for round in 1 2 3 4 5; do
    echo "INSERT INTO logged SELECT $round * 100 + i, CASE WHEN i % 5 <> 0 THEN 'name ' || i END, i * 0.25, timestamp '2026-01-01' + i * interval '1 day' FROM generate_series(1, 40) g(i);"
    echo "UPDATE logged SET price = price + $round WHERE k % 3 = 0; DELETE FROM other WHERE i % 10 = $round;"
  done
  echo "BEGIN; TRUNCATE other; INSERT INTO other VALUES (NULL), (7); DELETE FROM logged WHERE k BETWEEN 120 AND 220; COMMIT;"
  sleep 4
} | "$diptych" logged.diptych > /dev/null &
sleep 2
kill -9 $!
