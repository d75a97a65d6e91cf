// What a parallel section reads and fills, by the opcodes between its Parallel and its Converge.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "program/program.h"

namespace diptych {

// The opcodes of the section behind the Parallel at `address`, up to its Converge.
std::span<const Instruction> opcodes_of(const Program& program, int32_t address);

// The columns of its cursor that it reads, ascending.
std::vector<size_t> columns_read(const Program& program, int32_t address);

// Whether the instruction is a sink into the hash table.
bool fills(const Instruction& instruction, int32_t hash_table);
// The hash tables that the section fills.
std::set<int32_t> tables_filled(const Program& program, int32_t address);
// Whether a section other than the one behind the Parallel at `address` fills the hash table, too.
bool shares_groups(const Program& program, int32_t address, int32_t hash_table);

// Whether a section other than the one behind the Parallel at `address` appends to the row set, too.
bool shares_row_set(const Program& program, int32_t address, int32_t row_set);

// Whether its rows meet those of a built index.
bool meets_index(const Program& program, int32_t address);
// The built indexes that they meet.
std::set<int32_t> indexes_met(const Program& program, int32_t address);
// The index over the rows of the row set; -1: there is none.
int32_t index_over(const Program& program, int32_t row_set);

// The sections, from the Parallel at `address` on, of which none waits for another: each reads a table and appends to a
// row set alone, over which an index is built. In the order of the program, up to the first that is none.
struct IndexFeeder {
  int32_t address;  // of its Parallel
  int32_t source;   // of the program
};
std::vector<IndexFeeder> index_feeders(const Program& program, int32_t address);

// A column of the section's cursor whose values, as they are, are key number `key` of rows of an index: a row whose
// value the index doesn't have is done.
struct ColumnAsKey {
  int32_t index;
  size_t key;
  size_t column;
};
std::vector<ColumnAsKey> columns_as_keys(const Program& program, int32_t address);

// Whether it writes rows of the result.
bool writes_result(const Program& program, int32_t address);

}  // namespace diptych
