-- What make.sh puts into tables.diptych: everything that format 1 has.

SET tablet_rows = 64;

-- Every type; every form of integers: codes of 0, 1, 2, 4 and 8 bytes, with and without a factor, packed and not.
CREATE TABLE types(
  id integer PRIMARY KEY,
  flag boolean,
  small smallint,
  whole integer,
  big bigint,
  single real,
  double double precision,
  price numeric(10, 2),
  wide numeric(38, 6),
  day date,
  moment timestamp,
  span interval,
  word text,
  short varchar(20),
  fixed char(5),
  always integer NOT NULL DEFAULT 42,
  nothing bigint,
  hundreds bigint,
  far bigint
);
INSERT INTO types
SELECT i,
       CASE WHEN i % 7 = 0 THEN NULL ELSE i % 2 = 0 END,
       CASE WHEN i % 11 = 0 THEN NULL ELSE (i % 200 - 100)::smallint END,
       i * 7919 % 30011 - 15000,
       i::bigint * 2654435761 % 4294967291,
       i / 8::real,
       CASE WHEN i % 13 = 0 THEN NULL ELSE i / 3::float8 END,
       i / 4.0,
       CASE WHEN i % 5 = 0 THEN NULL ELSE i * 12345678901234567890.123456 END,
       date '2020-01-01' + i,
       CASE WHEN i % 9 = 0 THEN NULL ELSE timestamp '2020-01-01 00:00:00' + i * interval '1 hour 1 second' END,
       CASE WHEN i % 8 = 0 THEN NULL ELSE i * interval '1 month 2 days 3 seconds' END,
       CASE WHEN i % 6 = 0 THEN NULL ELSE 'word ' || i % 5 END,
       'n' || i,
       CASE WHEN i % 4 = 0 THEN NULL ELSE 'c' || i % 3 END,
       i % 3,
       NULL::bigint,
       i * 100000,
       CASE WHEN i % 2 = 0 THEN 9223372036854775807 - i ELSE i - 9223372036854775807 END
FROM generate_series(1, 300) g(i);
INSERT INTO types(id) VALUES (1000), (1001);
INSERT INTO types VALUES
  (2000, true, -32768, -2147483648, -9223372036854775808, '-infinity', '-infinity', -99999999.99,
   -99999999999999999999999999999999.999999, '-infinity', '-infinity', interval '-178000000 years', '', '', '', 0, NULL, 0, 0),
  (2001, false, 32767, 2147483647, 9223372036854775807, 'infinity', 'infinity', 99999999.99,
   99999999999999999999999999999999.999999, 'infinity', 'infinity', interval '178000000 years', 'Grüße', '日本', 'ab', 0, NULL, 0, 0),
  (2002, NULL, 0, 0, 0, 'nan', 'nan', 0, 0, '2000-01-01', '2000-01-01', interval '0', 'it''s', 'x', 'abcde', 0, NULL, 0, 0);

-- A tablet of equal rows, and tablets of NULLs alone.
CREATE TABLE constant(a integer, b text, c numeric(38, 0), d double precision, e boolean);
INSERT INTO constant SELECT 7, 'same', 12345678901234567890123, 0.5, true FROM generate_series(1, 128);
INSERT INTO constant SELECT NULL::integer, NULL::text, NULL::numeric, NULL::float8, NULL::boolean FROM generate_series(1, 128);

-- Codes of a dictionary of two bytes; strings that leave the dictionary; lengths of 1, 2 and 4 bytes; heaps that are
-- compressed and heaps that are not.
SET tablet_rows = 4096;
CREATE TABLE strings(id integer, often text, seldom text, long text, noise text);
INSERT INTO strings
SELECT i,
       CASE WHEN i % 50 = 0 THEN NULL ELSE 'name ' || i % 1000 END,
       'row number ' || i || ' of the table of strings',
       CASE WHEN i % 1000 = 1 THEN repeat('long ', 200 + i / 10) ELSE 'l' || i END,
       chr(33 + (i::bigint * 2654435761 / 977 % 93)::integer) || chr(33 + (i::bigint * 2246822519 / 1009 % 93)::integer) ||
         chr(33 + (i::bigint * 3266489917 / 991 % 93)::integer) || chr(33 + (i::bigint * 668265263 / 983 % 93)::integer)
FROM generate_series(1, 5000) g(i);
INSERT INTO strings VALUES (5001, 'name 1', repeat('y', 70000), repeat('x', 70000), '');

-- Numbers that only compression makes small, and a key of two columns.
CREATE TABLE numbers(a integer, b integer, steps bigint, ratio double precision, PRIMARY KEY (a, b));
INSERT INTO numbers SELECT i / 100, i % 100, i / 1000 * 1000000007::bigint, i / 500 * 0.1 FROM generate_series(0, 4999) g(i);

CREATE TABLE no_rows(a integer DEFAULT 1 + 1, b varchar(10) NOT NULL DEFAULT 'none', c numeric(10, 2) DEFAULT 0.5);
CREATE TABLE defaults(a integer DEFAULT 1 + 1, b varchar(10) NOT NULL DEFAULT 'none', c date DEFAULT '2020-02-29');
INSERT INTO defaults(c) VALUES (DEFAULT), (NULL);
INSERT INTO defaults VALUES (1, 'one', '2021-01-01');
