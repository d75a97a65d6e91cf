// A program: what a query does, as opcodes over typed registers. It names no address and no device, so every engine
// runs the same one.
//
//   0 Table         0 0 -  lineitem           open cursor 0
//   1 ResultColumn  0 - -  l_orderkey
//   2 Parallel      0 - 8                     for every row of cursor 0, addresses 3..7
//   3   Column      r0 4 -                    r0 = l_quantity
//   4   Integer     r1 2400
//   5   Ge          r0 r1 7  invalid|if null  if not (r0 < 24.00) leave
//   6   Column      r2 0 -
//   7   Result      r2 1                      output r2 of valid rows
//   8 Converge
//   9 Finish
//
// Rules the verifier holds every program to: a section's opcodes stand between Parallel and the Converge at its p3;
// jumps go forward and stay in the section; a register is written before it is read on every path, once (but for Move)
// and by its type; sinks come last on every row's path in the order they stand. Rows start a section valid. A row that
// was made invalid takes no further part in sinks, unless a jump makes it valid again.
// A row set is made once and dropped once, and no opcode uses it before or after (row_set_lifetimes.h).
//
// Registers hold integers (smallint, integer, date, bigint, timestamp, numeric) in the fewest of 32, 64 or 128 bits
// that the values can need, as the compiler proves from the sources' zone maps: `physical` may be narrower than the
// type's own form.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/type.h"
#include "base/value.h"
#include "kernel/function_table.h"
#include "program/opcode.h"
#include "program/parameters.h"
#include "tablet/tablet_source.h"

namespace diptych {

struct Instruction {
  Opcode opcode;
  int32_t p1 = 0, p2 = 0, p3 = 0;
  std::variant<std::monostate, int64_t, Value, std::string, FunctionId, Check> p4;
  int32_t position = -1;  // byte offset in the statement's text, for errors raised by this opcode
};

struct RegisterInfo {
  PhysicalType physical = PhysicalType::Int32;
  Type type;             // scale, precision, date or integer: for EXPLAIN, results and Check::Digits
  bool nullable = true;  // false: proven never NULL
  bool has_range = false;
  int128_t low = 0, high = 0;  // proven bounds of non-null values of integers and numerics (unscaled) when has_range
};

// The states an aggregate may keep. The row set that Groups makes has each as one column of the given register form.
enum class AggregateState : uint8_t {
  CountStar,   // Int64: rows
  Count,       // Int64: rows whose argument is not NULL
  SumInt64,    // Int64: the compiler has proven that it can't overflow; NULL without arguments
  SumInt128,   // Int128: of Int32, Int64 or Int128 arguments; 22003 on overflow of 128 bits
  SumFloat64,  // Float64: of Float32 or Float64 arguments
  Min,
  Max,  // form of the argument; text compares bytewise, floats with NaN greatest
  BoolAnd,
  BoolOr,           // Bool
  VarianceFloat64,  // Float64: sum of squared differences from the mean (Youngs and Cramer); arguments Float64
  SumSquares,       // Int128: sum of the squares of Int32, Int64 or Int128 arguments; 22003 on overflow of 128 bits
  // The finished value as Int128 of the result's scale, exact to the last digit, of Int32, Int64 or Int128 arguments
  // whose sum or squares may pass 128 bits; NULL with too few arguments, 22003 beyond 38 digits.
  ExactAvg,
  ExactStddevSamp,
  ExactStddevPop,
  ExactVarSamp,
  ExactVarPop,
};

struct AggregateInfo {
  AggregateState state;
  RegisterInfo argument;  // unused for CountStar
  RegisterInfo result;
  int32_t position = -1;          // in the statement, for errors
  int32_t same_argument = -1;     // an aggregate before that takes the same values of the same rows; -1: none is known
  int64_t row_bound = INT64_MAX;  // it takes no more rows
};

// Without keys a hash table has exactly one group, even when no row came.
struct HashTableInfo {
  std::vector<RegisterInfo> keys;
  std::vector<AggregateInfo> aggregates;
  int64_t expected_groups = 0;  // estimate; 0 unknown
};

struct SortKeyInfo {
  bool descending = false;
  bool nulls_first = false;
};

// Rows that sections hand to each other, from the opcode that makes the row set (RowSet, Groups) to its Drop. First
// rows are appended, then it is sorted where it has keys, then cursors are opened on it.
// Of all rows, in its order, rows [offset, limit) stay.
struct RowSetInfo {
  std::vector<RegisterInfo> columns;  // of its cursors, too; sort keys first, then the others
  std::vector<SortKeyInfo> keys;      // empty: it keeps the order of its sections, and their rows' order
  int64_t limit = -1;                 // only the first `limit` rows matter; -1: all
  int64_t offset = 0;                 // and the first `offset` of them are left out
  int64_t expected_rows = 0;          // before the limit; estimate, 0 unknown
};

// Whether some of its rows may be left out.
inline bool is_cut(const RowSetInfo& row_set) { return row_set.limit >= 0 || row_set.offset > 0; }

// The rows of a row set by keys, which are its first columns; no keys: every row is found.
// Whether several rows of an index are expected to have the same keys.
enum class KeysRepeat : uint8_t { Unknown, Never, Often };

struct IndexInfo {
  int32_t row_set = 0;
  int32_t keys = 0;
  // Estimates; 0: unknown.
  int64_t expected_rows = 0;
  int64_t expected_pairs = 0;  // that Matches finds in it
  // Whether Matches may stop at one row with the keys, which no Fetch reads.
  bool finds_one = false;
  bool is_unique = false;                   // it is proven that no two rows have the same keys
  KeysRepeat repeat = KeysRepeat::Unknown;  // where that is not so
};

// A small table of constants that rows index: strings of a dictionary, or an expression computed once for every entry
// of a dictionary.
struct LookupTable {
  RegisterInfo entry;
  std::vector<Value> values;               // entry i, or...
  const Dictionary* dictionary = nullptr;  // ...the strings of this dictionary (entry.physical is Text)
};

// The values of an IN list, without NULLs, of one physical type.
struct ValueSet {
  PhysicalType physical = PhysicalType::Int32;
  std::vector<Value> values;
  bool has_null = false;  // the list had a NULL: what is not found gives NULL instead of false
};

// What was proven of the rows of a source, and the program relies on (source_facts.h).
struct SourceFacts {
  struct Column {
    size_t number = 0;  // of the source
    RegisterInfo values;
    // Of strings that are codes; null: they are not. The id tells whether the dictionary is still there.
    const Dictionary* dictionary = nullptr;
    uint64_t dictionary_id = 0;  // 0: none
    uint32_t dictionary_size = 0;
  };
  int64_t row_bound = INT64_MAX;  // there are no more rows
  bool has_all_rows = false;      // none was deleted
  std::vector<Column> columns;    // that are read
};

// What one section reads of its cursor, and what is known of tablets it may skip.
struct ZoneCondition {
  size_t column;      // of the cursor
  Opcode comparison;  // Eq, Lt, Le, Gt, Ge: rows where (column comparison bound) is not true are not needed
  Value bound;        // a constant of the column's type
};

struct CursorInfo {
  std::string name;
  std::vector<RegisterInfo> columns;
  std::vector<std::string> column_names;
  std::vector<ZoneCondition> zone_conditions;  // all must hold for a tablet to be needed; only on table sources
  // Estimates; 0: unknown. Its rows, and those of them, or of the pairs that they make, that reach the section's sinks.
  int64_t expected_rows = 0;
  int64_t expected_rows_out = 0;
};

struct ResultColumnInfo {
  std::string name;
  Type type;
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<RegisterInfo> registers;
  std::vector<CursorInfo> cursors;
  std::vector<std::shared_ptr<const TabletSource>> sources;
  std::vector<SourceFacts> facts;  // of each source
  std::vector<HashTableInfo> hash_tables;
  std::vector<RowSetInfo> row_sets;
  std::vector<IndexInfo> indexes;
  std::vector<LookupTable> lookups;
  std::vector<ValueSet> sets;
  std::vector<Type> types;  // targets of Cast
  std::vector<ResultColumnInfo> result_columns;
  ParameterUses parameters;
  // What is found out about it may be kept by this number, which no other program has, nor the same one with other
  // constants or rows. 0: it has none, and nothing is kept.
  uint64_t number = 0;
  // The same of what does not depend on its rows: it stays when they change.
  uint64_t text_number = 0;
};

// Checks the rules above. Errors: XX000 naming the address and the rule.
void verify(const Program& program);

// The listing that EXPLAIN shows: address, opcode, operands and a comment on what it does here.
std::vector<std::string> disassemble(const Program& program);

}  // namespace diptych
