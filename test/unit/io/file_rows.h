// Rows of data files as text, for the tests: columns joined by '|', NULL as <null>.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fault_file_system.h"
#include "io/cell_text.h"
#include "io/data_file.h"
#include "tablet/builder.h"
#include "tablet/validity_bits.h"

namespace diptych::testing {

inline std::vector<std::string> rows_of(const PinnedTablet& tablet, const std::vector<ColumnDefinition>& columns) {
  std::vector<std::string> rows;
  for (int64_t row = 0; row < tablet.rows; ++row) {
    std::string text;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) text += '|';
      if (is_valid(tablet.views[i].validity, row)) {
        append_cell(text, tablet.views[i], columns[i].type, row);
      } else {
        text += "<null>";
      }
    }
    rows.push_back(text);
  }
  return rows;
}

inline std::vector<std::string> rows_of(const TabletSource& source) {
  std::vector<size_t> all;
  for (size_t i = 0; i < source.columns().size(); ++i) all.push_back(i);
  std::vector<std::string> rows;
  for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet) {
    for (std::string& row : rows_of(*source.pin(tablet, all), source.columns())) rows.push_back(std::move(row));
  }
  return rows;
}

// Through a builder, as COPY takes them.
inline std::vector<std::string> rows_of(DataFile& file) {
  std::vector<std::string> rows;
  file.for_each_batch([&](const RowBatch& batch) {
    TabletBuilder builder(file.columns(), batch.rows, std::vector<Dictionary*>(file.columns().size(), nullptr));
    EXPECT_EQ(builder.append(batch, 0, batch.rows), batch.rows);
    EncodedTablet tablet = builder.finish();
    PinnedTablet pinned;
    pinned.rows = tablet.rows;
    for (const EncodedColumn& column : tablet.columns) pinned.views.push_back(column.view());
    for (std::string& row : rows_of(pinned, file.columns())) rows.push_back(std::move(row));
  });
  return rows;
}

inline void put_file(MemoryFileSystem& files, const std::string& path, std::string_view text) {
  std::vector<std::byte> bytes(text.size());
  for (size_t i = 0; i < text.size(); ++i) bytes[i] = static_cast<std::byte>(text[i]);
  files.set_contents(path, std::move(bytes));
}

inline std::string text_of(const MemoryFileSystem& files, const std::string& path) {
  std::string text;
  for (std::byte byte : files.contents(path)) text += static_cast<char>(byte);
  return text;
}

inline Type type(TypeId id, uint32_t length = 0) { return {id, 0, 0, length}; }

// The error that an action ends in; nothing when it does not.
template <typename Action>
std::optional<Error> error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

inline std::optional<SqlState> state_of(const std::optional<Error>& error) {
  return error ? std::optional(error->state()) : std::nullopt;
}
inline std::string message_of(const std::optional<Error>& error) { return error ? error->message() : "no error"; }

}  // namespace diptych::testing
