// Appends rows to a table value by value, in bulk, for the C API.
//
//   append(1) append("a") end_row()   append(2) append_null() end_row()   ...   finish(): one commit
//
// Values are gathered in columns and handed to the store some ten thousand rows at a time. A value that can't be
// appended changes nothing. Thread safety: one thread at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "session/connection.h"
#include "storage/store.h"

namespace diptych {

class Appender {
 public:
  // Starts a transaction that waits for the writers of other connections. Errors: 42P01; 55006 the connection has an
  // open appender already; 57014.
  // batch_bytes: of strings that are gathered before they are handed on.
  Appender(Connection& connection, const std::string& table, size_t batch_bytes = size_t{64} << 20);
  ~Appender();

  // The next column of the current row. Errors: 23502, 22003, 22001, 42804 the column takes no such value, 22P02,
  // 22021; 54000 past the last column, and a string of 1 GiB or more.
  void append_null();
  void append(int64_t value);
  void append(double value);
  void append(std::string_view text);
  // Errors: 54000 when columns are missing.
  void end_row();
  // Commits all ended rows. Errors: of WriteTransaction::append and commit.
  void finish();
  // Of the strings that are gathered and not handed on: less than batch_bytes when a row has ended.
  size_t string_bytes() const { return string_bytes_; }

 private:
  class Column;

  Column& next_column();
  void append_converted(Value value);
  void flush();

  Connection& connection_;
  std::string table_;
  Writing writing_;
  WriteTransaction* writer_ = nullptr;  // of the table
  bool is_finished_ = false;
  std::vector<std::unique_ptr<Column>> columns_;
  size_t column_ = 0;        // of the current row
  int64_t rows_ = 0;         // gathered and not handed on
  size_t string_bytes_ = 0;  // of these rows
  const size_t batch_bytes_;
};

}  // namespace diptych
