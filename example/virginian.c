/* A table with an integer column, 100 rows of 0, 5, 10, ..., a query and its rows: the example the Virginian Database
 * came with, on Diptych's C API. Its ids are row numbers; here they are a column.
 *
 * usage: example_virginian [database file]     (default: a database in memory)
 */
#include <diptych/diptych.h>
#include <inttypes.h>
#include <stdio.h>

enum { row_count = 100 };

static int report(const char* what, diptych_error error) {
  fprintf(stderr, "%s: %s: %s\n", what, error.sqlstate, error.message);
  return 1;
}

/* The fast way in: values row by row, committed together at the end. */
static int fill_table(diptych_connection* connection) {
  diptych_appender* appender = NULL;
  if (diptych_append_begin(connection, "test", &appender) != DIPTYCH_OK) {
    return report("append", diptych_connection_error(connection));
  }
  diptych_status status = DIPTYCH_OK;
  for (int64_t i = 0; i < row_count && status == DIPTYCH_OK; i++) {
    status = diptych_append_int64(appender, i);
    if (status == DIPTYCH_OK) status = diptych_append_int64(appender, i * 5);
    if (status == DIPTYCH_OK) status = diptych_append_end_row(appender);
  }
  if (status == DIPTYCH_OK) status = diptych_append_finish(appender);
  const int failed = status == DIPTYCH_OK ? 0 : report("append", diptych_append_error(appender));
  diptych_append_abandon(appender); /* frees it; what was finished stays */
  return failed;
}

static int print_rows(diptych_statement* statement) {
  const int32_t columns = diptych_column_count(statement);
  for (int32_t i = 0; i < columns; i++) printf("%s%s", i > 0 ? "\t" : "", diptych_column_name(statement, i));
  printf("\n");

  diptych_status status;
  while ((status = diptych_step(statement)) == DIPTYCH_ROW) {
    for (int32_t i = 0; i < columns; i++) {
      printf("%s%" PRId64, i > 0 ? "\t" : "", diptych_column_int64(statement, i));
    }
    printf("\n");
  }
  return status == DIPTYCH_DONE ? 0 : report("query", diptych_statement_error(statement));
}

static int run(diptych_connection* connection) {
  if (diptych_execute(connection, "create table test (id integer primary key, col0 integer)") != DIPTYCH_OK) {
    return report("create table", diptych_connection_error(connection));
  }
  if (fill_table(connection) != 0) return 1;

  diptych_statement* statement = NULL;
  const char* sql = "select id, col0 from test where col0 <= 25";
  if (diptych_prepare(connection, sql, &statement, NULL) != DIPTYCH_OK) {
    return report("prepare", diptych_connection_error(connection));
  }
  const int failed = print_rows(statement);
  diptych_finalize(statement);
  return failed;
}

int main(int argc, char** argv) {
  diptych_database* database = NULL;
  if (diptych_open(argc > 1 ? argv[1] : NULL, &database) != DIPTYCH_OK) {
    const int failed = report("open", diptych_database_error(database));
    diptych_close(database);
    return failed;
  }
  diptych_connection* connection = NULL;
  int failed = 1;
  if (diptych_connect(database, &connection) == DIPTYCH_OK) {
    failed = run(connection);
    diptych_disconnect(connection);
  } else {
    report("connect", diptych_database_error(database));
  }
  diptych_close(database);
  return failed;
}
