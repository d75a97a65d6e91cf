// A database in memory with two connections, through the C API.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "diptych/diptych.h"

namespace diptych::testing {

class ConnectionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(diptych_open(":memory:", &database), DIPTYCH_OK);
    ASSERT_EQ(diptych_connect(database, &first), DIPTYCH_OK);
    ASSERT_EQ(diptych_connect(database, &second), DIPTYCH_OK);
    run(first, "SET device = cpu");
    run(second, "SET device = cpu");
  }

  void TearDown() override {
    diptych_disconnect(second);
    diptych_disconnect(first);
    diptych_close(database);
  }

  static void run(diptych_connection* connection, const std::string& sql) {
    EXPECT_EQ(diptych_execute(connection, sql.c_str()), DIPTYCH_OK)
        << sql << ": " << diptych_connection_error(connection).message;
  }

  static diptych_statement* prepare(diptych_connection* connection, const std::string& sql) {
    diptych_statement* statement = nullptr;
    EXPECT_EQ(diptych_prepare(connection, sql.c_str(), &statement, nullptr), DIPTYCH_OK)
        << sql << ": " << diptych_connection_error(connection).message;
    return statement;
  }

  // The SQLSTATE of running the script; "00000" when it succeeds.
  static std::string state_of(diptych_connection* connection, const std::string& sql) {
    diptych_execute(connection, sql.c_str());
    return diptych_connection_error(connection).sqlstate;
  }

  static std::string state_of(diptych_statement* statement) { return diptych_statement_error(statement).sqlstate; }

  // Runs the statement from the start: its cells with a blank behind each, or the SQLSTATE.
  static std::string answer_of(diptych_statement* statement) {
    diptych_reset(statement);
    std::string text;
    diptych_status status = DIPTYCH_DONE;
    while ((status = diptych_step(statement)) == DIPTYCH_ROW) text += cells_of(statement);
    return status == DIPTYCH_DONE ? text : state_of(statement);
  }

  static std::string answer_of(diptych_connection* connection, const std::string& sql) {
    diptych_statement* statement = prepare(connection, sql);
    std::string answer = answer_of(statement);
    diptych_finalize(statement);
    return answer;
  }

  // Of the current row.
  static std::string cells_of(diptych_statement* statement) {
    std::string text;
    for (int32_t column = 0; column < diptych_column_count(statement); ++column) {
      const char* cell = diptych_column_text(statement, column, nullptr);
      text += std::string(cell ? cell : "NULL") + " ";
    }
    return text;
  }

  diptych_database* database = nullptr;
  diptych_connection* first = nullptr;
  diptych_connection* second = nullptr;
};

}  // namespace diptych::testing
