/*
 * Diptych: an embeddable analytical SQL database. The C API.
 *
 *   diptych_database ---< diptych_connection ---< diptych_statement
 *
 * A database is one file (or memory); it may have many connections. A connection, with its statements and appenders,
 * must be used by one thread at a time; different connections may be used at the same time. diptych_connect(),
 * diptych_interrupt() and diptych_get_progress() may be called from any thread, and so may the functions that close a
 * handle which no other call uses at that time.
 *
 * Every function that returns diptych_status returns DIPTYCH_OK or the kind of failure; the details (SQLSTATE, message,
 * position, hint) stay readable on the handle named in the call until the next call on it that returns a status. A
 * function that returns a value gives the value named with it when it fails, and leaves the error on the handle, too;
 * when it succeeds, an older error stays. No function throws or exits. Every pointer that a function hands out belongs
 * to the handle it was got from and lives until the next call on that handle, unless said otherwise.
 *
 * An argument that is NULL where nothing is said about NULL is the error 22023; NULL for a handle is DIPTYCH_ERROR or
 * the value of a failure, and the error of a NULL handle says so.
 *
 * Handles may be closed in any order. What a handle stands on lives as long as it does: a statement whose connection
 * was closed still runs, and a database file is closed with the last handle on it. Closing NULL does nothing.
 */
#ifndef DIPTYCH_H
#define DIPTYCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(DIPTYCH_BUILDING)
#define DIPTYCH_API __attribute__((visibility("default")))
#else
#define DIPTYCH_API
#endif

typedef struct diptych_database diptych_database;
typedef struct diptych_connection diptych_connection;
typedef struct diptych_statement diptych_statement;
typedef struct diptych_appender diptych_appender;

typedef enum diptych_status {
  DIPTYCH_OK = 0,   /* done */
  DIPTYCH_ROW = 1,  /* diptych_step: a row is there to read */
  DIPTYCH_DONE = 2, /* diptych_step: no more rows */
  DIPTYCH_ERROR = 3 /* see diptych_*_error */
} diptych_status;

/* The type of a column or parameter; precision, scale and length are told by diptych_column_type_name. */
typedef enum diptych_type {
  DIPTYCH_TYPE_NULL = 0, /* the type of a bare NULL */
  DIPTYCH_TYPE_BOOLEAN,
  DIPTYCH_TYPE_SMALLINT,
  DIPTYCH_TYPE_INTEGER,
  DIPTYCH_TYPE_BIGINT,
  DIPTYCH_TYPE_REAL,
  DIPTYCH_TYPE_DOUBLE,
  DIPTYCH_TYPE_NUMERIC,
  DIPTYCH_TYPE_DATE,
  DIPTYCH_TYPE_TIMESTAMP,
  DIPTYCH_TYPE_INTERVAL,
  DIPTYCH_TYPE_TEXT,
  DIPTYCH_TYPE_VARCHAR,
  DIPTYCH_TYPE_CHAR
} diptych_type;

/* What went wrong. Fields are never NULL; hint is empty when there is none. */
typedef struct diptych_error {
  const char* sqlstate; /* five characters, "00000" when nothing went wrong */
  const char* message;
  const char* hint;
  int64_t position; /* 1-based character position in the statement's text, 0 when unknown */
} diptych_error;

/* The library's version, "major.minor.patch". */
DIPTYCH_API const char* diptych_version(void);

/* Opens the database file at `path` (created when absent), or a private database in memory when path is NULL or
 * ":memory:". On failure *database is still set, holds only the error, and must be closed.
 * Errors: 58030 input/output, XX001 damaged file, 55006 in use by another process. */
DIPTYCH_API diptych_status diptych_open(const char* path, diptych_database** database);
/* The same for a file that is there and only read, beside other processes that do so; one that writes excludes them.
 * What changes tables fails with 25006. Errors: also 58P01 when there is no such file. */
DIPTYCH_API diptych_status diptych_open_read_only(const char* path, diptych_database** database);
DIPTYCH_API diptych_error diptych_database_error(const diptych_database* database);
/* Connections that are still there keep the database open. */
DIPTYCH_API void diptych_close(diptych_database* database);

DIPTYCH_API diptych_status diptych_connect(diptych_database* database, diptych_connection** connection);
DIPTYCH_API void diptych_disconnect(diptych_connection* connection);
DIPTYCH_API diptych_error diptych_connection_error(const diptych_connection* connection);

/* Makes the statement running on this connection end with SQLSTATE 57014 soon, and a statement or
 * diptych_append_begin() that waits for another connection to finish writing. Any thread; no effect when idle. */
DIPTYCH_API void diptych_interrupt(diptych_connection* connection);

/* Whether BEGIN has begun a transaction that has not ended, and whether a statement of it has failed, so that only
 * ROLLBACK (or COMMIT, which then rolls back) can follow. diptych_disconnect() rolls back. NONE when connection is
 * NULL. */
typedef enum diptych_transaction_state {
  DIPTYCH_TRANSACTION_NONE = 0,
  DIPTYCH_TRANSACTION_OPEN = 1,
  DIPTYCH_TRANSACTION_FAILED = 2
} diptych_transaction_state;
DIPTYCH_API diptych_transaction_state diptych_get_transaction_state(const diptych_connection* connection);

/* How far the running statement is. Any thread. rows_total is 0 while unknown. */
typedef struct diptych_progress {
  int64_t rows_done;
  int64_t rows_total;
  double seconds_elapsed;
  double seconds_left; /* estimate, negative while unknown */
} diptych_progress;
DIPTYCH_API diptych_progress diptych_get_progress(const diptych_connection* connection);

/* Runs every statement of `sql` (separated by ';'), dropping result rows. Stops at the first error. A parameter is the
 * error 42P02, as it has no value. */
DIPTYCH_API diptych_status diptych_execute(diptych_connection* connection, const char* sql);

/* Prepares the first statement of `sql`. *tail (may be NULL) is set to the byte after it, so that a script is run by a
 * loop. Blank text gives DIPTYCH_OK with *statement NULL. Parameters are written $1, $2, ...
 *
 * A statement sees the tables and rows of the moment it runs, not of the moment it was prepared. Its columns and the
 * types of its parameters stay what they were when it was prepared: when tables have changed so that its result would
 * have other columns, running it is the error 0A000 "cached plan must not change result type". Between its runs it
 * holds no rows. */
DIPTYCH_API diptych_status diptych_prepare(diptych_connection* connection, const char* sql,
                                           diptych_statement** statement, const char** tail);
DIPTYCH_API void diptych_finalize(diptych_statement* statement);
DIPTYCH_API diptych_error diptych_statement_error(const diptych_statement* statement);

/* Parameters are numbered from 1; another number is the error 42P02, and so is running the statement while one has no
 * value. Values stay for further runs. Binding after a step needs diptych_reset first, else it is the error 25000. A
 * value is converted to the parameter's type when the statement runs, and checked as if it stood there as a literal:
 * what does not fit its column is 22001 or 22003. 0 parameters of a NULL handle. */
DIPTYCH_API int32_t diptych_parameter_count(const diptych_statement* statement);
DIPTYCH_API diptych_status diptych_bind_null(diptych_statement* statement, int32_t parameter);
DIPTYCH_API diptych_status diptych_bind_boolean(diptych_statement* statement, int32_t parameter, bool value);
DIPTYCH_API diptych_status diptych_bind_int64(diptych_statement* statement, int32_t parameter, int64_t value);
DIPTYCH_API diptych_status diptych_bind_double(diptych_statement* statement, int32_t parameter, double value);
/* `bytes` < 0: `text` ends at its first NUL. The text is copied. Serves every type that has a text form. Errors: 22021
 * it is not UTF-8, or has a NUL inside. */
DIPTYCH_API diptych_status diptych_bind_text(diptych_statement* statement, int32_t parameter, const char* text,
                                             int64_t bytes);

/* Runs on the first call; then each call makes the next row current: DIPTYCH_ROW, DIPTYCH_DONE or DIPTYCH_ERROR. After
 * DIPTYCH_DONE it stays so until diptych_reset; after an error the next call would run the statement anew. Errors:
 * 55006 it would write while an appender of its connection is open. */
DIPTYCH_API diptych_status diptych_step(diptych_statement* statement);
/* Makes the statement ready to run again; bound parameters stay. */
DIPTYCH_API diptych_status diptych_reset(diptych_statement* statement);

/* Columns are numbered from 0. Count, names and types are known once prepared, live as long as the statement, and never
 * change. Failure, with 22023 for a column that is not there: NULL and DIPTYCH_TYPE_NULL. */
DIPTYCH_API int32_t diptych_column_count(const diptych_statement* statement);
DIPTYCH_API const char* diptych_column_name(const diptych_statement* statement, int32_t column);
DIPTYCH_API diptych_type diptych_column_type(const diptych_statement* statement, int32_t column);
/* As SQL writes it: "numeric(15,2)". */
DIPTYCH_API const char* diptych_column_type_name(const diptych_statement* statement, int32_t column);

/* The current row's value. Numbers are converted as SQL's cast would, without an error: what does not fit reads as 0.
 * Failure, with 22023 for a column that is not there, 25000 without a current row (before the first step, after the
 * last, after diptych_step_chunk): null is true, numbers are 0, text is NULL. */
DIPTYCH_API bool diptych_column_is_null(diptych_statement* statement, int32_t column);
DIPTYCH_API int64_t diptych_column_int64(diptych_statement* statement, int32_t column);
DIPTYCH_API double diptych_column_double(diptych_statement* statement, int32_t column);
/* The text form PostgreSQL prints (booleans are t and f), NULL for null. Not NUL-safe: *bytes (may be NULL) gets the
 * length. */
DIPTYCH_API const char* diptych_column_text(diptych_statement* statement, int32_t column, int64_t* bytes);

/* A column of consecutive result rows in the machine's own form, for reading in bulk. */
typedef struct diptych_chunk_column {
  diptych_type type;
  int32_t width; /* bytes of a value in `values`: 1 boolean, 4 smallint/integer/date/real, 8 bigint/timestamp/double/
                    numeric up to 18 digits, 16 wider numeric and interval, 0 for strings */
  int32_t scale; /* of a numeric: the value is the integer / 10^scale */
  const void* values;      /* rows * width bytes; for strings NULL */
  const uint8_t* validity; /* bit i of byte i/8 is 1 when row i is not null; NULL when no row is null */
  const uint32_t* offsets; /* strings: rows + 1 offsets into `bytes`; else NULL */
  const char* bytes;       /* strings: UTF-8; else NULL */
} diptych_chunk_column;

/* Instead of stepping row by row: runs on the first call, then gives the next *rows rows at once (*rows > 0 with
 * DIPTYCH_ROW). `columns` must have room for diptych_column_count entries, which stay valid until the next call; it may
 * be NULL when there are none. Changing between the two ways of stepping needs diptych_reset, else it is 25000. */
DIPTYCH_API diptych_status diptych_step_chunk(diptych_statement* statement, diptych_chunk_column* columns,
                                              int64_t* rows);

/* Rows changed by the last run of an INSERT, UPDATE, DELETE, TRUNCATE, COPY or CREATE TABLE AS; -1 for other statements
 * and without a run. */
DIPTYCH_API int64_t diptych_rows_changed(const diptych_statement* statement);

/* Bulk append to a table: rows are given value by value in column order, and are committed together by
 * diptych_append_finish. diptych_append_abandon frees the appender, always, and drops what was not committed. On an
 * error the appender stays as it was before the failed value; after diptych_append_finish it takes no more: 25000. In a
 * transaction (BEGIN) its rows are committed with it, and abandoning the appender makes the transaction fail.
 * diptych_append_begin waits until no other connection writes; an open appender of the same connection is the error
 * 55006. Values are converted and checked as those of an INSERT: 22001, 22003, 22021, 22P02, 23502, 42846; a value or
 * row too many or too few is 54000. */
DIPTYCH_API diptych_status diptych_append_begin(diptych_connection* connection, const char* table,
                                                diptych_appender** appender);
DIPTYCH_API diptych_status diptych_append_null(diptych_appender* appender);
DIPTYCH_API diptych_status diptych_append_int64(diptych_appender* appender, int64_t value);
DIPTYCH_API diptych_status diptych_append_double(diptych_appender* appender, double value);
DIPTYCH_API diptych_status diptych_append_text(diptych_appender* appender, const char* text, int64_t bytes);
DIPTYCH_API diptych_status diptych_append_end_row(diptych_appender* appender);
DIPTYCH_API diptych_status diptych_append_finish(diptych_appender* appender);
DIPTYCH_API void diptych_append_abandon(diptych_appender* appender);
DIPTYCH_API diptych_error diptych_append_error(const diptych_appender* appender);

#ifdef __cplusplus
}
#endif

#endif
