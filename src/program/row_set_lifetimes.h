// The life of every row set and of the cursors on it, as the verifier follows it from opcode to opcode.
//
//   RowSet --> open --Append...--> open --SortRows--> complete --Rows, Parallel...--> complete --Drop--> dropped
//   Groups --> complete            without keys Rows or Build makes it complete; an index ends with its row set
#pragma once

#include <string_view>
#include <vector>

#include "program/program.h"

namespace diptych {

class RowSetLifetimes {
 public:
  explicit RowSetLifetimes(const Program& program)
      : program_(program),
        states_(program.row_sets.size(), State::None),
        cursors_(program.cursors.size(), not_open),
        is_built_(program.indexes.size(), false) {}

  // What an opcode does, whose operands name objects that the program has. Returns the rule that it breaks; empty:
  // none.
  std::string_view apply(const Instruction& at) {
    switch (at.opcode) {
      case Opcode::Table: return open(at.p1, on_table);
      case Opcode::RowSet: return make(at.p1, State::Open);
      case Opcode::Groups: return make_groups(at.p1, at.p2);
      case Opcode::Append: return append(at);
      case Opcode::SortRows: return sort(at.p1);
      case Opcode::Rows: return open_rows(at.p1, at.p2);
      case Opcode::Parallel: return read(at.p1);
      case Opcode::Build: return build(at.p1, at.p2);
      case Opcode::Matches: return match(at);
      case Opcode::Fetch: return fetch(at);
      case Opcode::Drop: return drop(at.p1);
      case Opcode::Finish: return finish();
      default: return {};
    }
  }

 private:
  enum class State : uint8_t { None, Open, Complete, Dropped };
  // What a cursor is on, besides the numbers of row sets.
  static constexpr int32_t not_open = -1, on_table = -2;

  State& state_of(int32_t row_set) { return states_[static_cast<size_t>(row_set)]; }
  const RowSetInfo& info_of_set(int32_t row_set) const { return program_.row_sets[static_cast<size_t>(row_set)]; }

  std::string_view make(int32_t row_set, State made) {
    if (state_of(row_set) != State::None) return "a row set is made once";
    state_of(row_set) = made;
    return {};
  }
  std::string_view make_groups(int32_t row_set, int32_t hash_table) {
    const HashTableInfo& table = program_.hash_tables[static_cast<size_t>(hash_table)];
    if (info_of_set(row_set).columns.size() != table.keys.size() + table.aggregates.size())
      return "the row set of groups has their keys and aggregates as columns";
    return make(row_set, State::Complete);
  }
  std::string_view append(const Instruction& at) {
    const std::vector<RegisterInfo>& columns = info_of_set(at.p1).columns;
    if (state_of(at.p1) == State::None) return "a row set is made before rows are appended to it";
    if (state_of(at.p1) == State::Complete)
      return "rows are appended to a row set before it is sorted or opened, and never to one of groups";
    if (state_of(at.p1) == State::Dropped) return "no rows are appended to a row set after its Drop";
    if (static_cast<size_t>(at.p3) != columns.size()) return "Append gives every column of the row set a value";
    for (size_t i = 0; i < columns.size(); ++i) {
      const RegisterInfo& from = program_.registers[static_cast<size_t>(at.p2) + i];
      if (from.physical != columns[i].physical) return "Append keeps the physical types of the row set's columns";
    }
    return {};
  }
  std::string_view sort(int32_t row_set) {
    if (state_of(row_set) == State::None) return "a row set is made before it is sorted";
    if (state_of(row_set) == State::Dropped) return "a row set is not sorted after its Drop";
    if (state_of(row_set) == State::Complete) return "a row set is sorted once, before it is opened";
    if (info_of_set(row_set).keys.empty()) return "SortRows needs a row set with keys";
    state_of(row_set) = State::Complete;
    return {};
  }
  std::string_view open_rows(int32_t cursor, int32_t row_set) {
    if (state_of(row_set) == State::None) return "a row set is made before it is opened";
    if (state_of(row_set) == State::Dropped) return "a row set is not opened after its Drop";
    if (state_of(row_set) == State::Open && !info_of_set(row_set).keys.empty())
      return "a row set with keys is sorted before it is opened";
    if (program_.cursors[static_cast<size_t>(cursor)].columns.size() != info_of_set(row_set).columns.size())
      return "a cursor on a row set has its columns";
    state_of(row_set) = State::Complete;
    return open(cursor, row_set);
  }
  std::string_view open(int32_t cursor, int32_t on) {
    int32_t& known = cursors_[static_cast<size_t>(cursor)];
    if (known != not_open) return "a cursor is opened once";
    known = on;
    return {};
  }
  std::string_view read(int32_t cursor) {
    const int32_t on = cursors_[static_cast<size_t>(cursor)];
    if (on == not_open) return "a cursor is opened before its rows are read";
    if (on != on_table && state_of(on) == State::Dropped)
      return "a cursor's rows are not read after the Drop of its row set";
    return {};
  }
  std::string_view build(int32_t index, int32_t row_set) {
    const IndexInfo& info = program_.indexes[static_cast<size_t>(index)];
    if (is_built_[static_cast<size_t>(index)]) return "an index is built once";
    if (info.row_set != row_set) return "an index is built over its row set";
    if (info.keys < 0 || static_cast<size_t>(info.keys) > info_of_set(row_set).columns.size())
      return "the keys of an index are columns of its row set";
    if (state_of(row_set) == State::None) return "a row set is made before an index is built over it";
    if (state_of(row_set) == State::Dropped) return "no index is built over a row set after its Drop";
    if (state_of(row_set) == State::Open && !info_of_set(row_set).keys.empty())
      return "a row set with keys is sorted before an index is built over it";
    state_of(row_set) = State::Complete;
    is_built_[static_cast<size_t>(index)] = true;
    return {};
  }
  std::string_view use_index(int32_t index) {
    if (!is_built_[static_cast<size_t>(index)]) return "an index is built before it is used";
    if (state_of(program_.indexes[static_cast<size_t>(index)].row_set) == State::Dropped)
      return "an index is not used after the Drop of its row set";
    return {};
  }
  std::string_view match(const Instruction& at) {
    const IndexInfo& info = program_.indexes[static_cast<size_t>(at.p3)];
    for (int32_t i = 0; i < info.keys; ++i) {
      const RegisterInfo& key = program_.registers[static_cast<size_t>(at.p2 + i)];
      if (key.physical != info_of_set(info.row_set).columns[static_cast<size_t>(i)].physical)
        return "Matches keeps the physical types of the index's keys";
    }
    if (program_.registers[static_cast<size_t>(at.p1)].physical != PhysicalType::Int64)
      return "the row of an index is an Int64";
    return use_index(at.p3);
  }
  std::string_view fetch(const Instruction& at) {
    const IndexInfo& info = program_.indexes[static_cast<size_t>(at.p3)];
    const std::vector<RegisterInfo>& columns = info_of_set(info.row_set).columns;
    if (info.finds_one) return "no Fetch reads a row of an index that finds one of several";
    const int64_t* const column = std::get_if<int64_t>(&at.p4);
    if (column == nullptr || *column < 0 || static_cast<size_t>(*column) >= columns.size())
      return "Fetch names a column of the index's row set";
    if (program_.registers[static_cast<size_t>(at.p1)].physical != columns[static_cast<size_t>(*column)].physical)
      return "Fetch keeps the physical type of the column";
    return use_index(at.p3);
  }
  std::string_view drop(int32_t row_set) {
    if (state_of(row_set) == State::None) return "a row set is made before its Drop";
    if (state_of(row_set) == State::Dropped) return "a row set is dropped once";
    state_of(row_set) = State::Dropped;
    return {};
  }
  std::string_view finish() const {
    for (const State state : states_)
      if (state != State::Dropped) return "every row set is dropped before Finish";
    return {};
  }

  const Program& program_;
  std::vector<State> states_;     // by row set
  std::vector<int32_t> cursors_;  // by cursor: the row set that it is on
  std::vector<bool> is_built_;    // by index
};

}  // namespace diptych
