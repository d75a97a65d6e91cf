// A table's file, made by several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace ssb {

// Appends the text of rows first to first + count - 1. Called by several threads at once.
using AppendRows = std::function<void(int64_t first, int64_t count, std::string& text)>;

// Writes all rows in order, with as many threads as the TBB arena of the caller has. Throws std::ios_base::failure, and
// leaves what it has written.
void write_table(const std::string& path, int64_t rows, const AppendRows& append_rows);

}  // namespace ssb
