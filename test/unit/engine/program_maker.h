// Small programs and tables for tests of engines, made by hand.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "program/program.h"
#include "tablet/builder.h"
#include "tablet/dictionary.h"
#include "tablet/memory_source.h"

namespace diptych::testing {

// A table with tablets of `tablet_rows` rows. rows[i][c] is the value of column c; strings go to dictionaries or to
// heaps.
std::shared_ptr<const TabletSource> make_table(const std::vector<ColumnDefinition>& columns,
                                               const std::vector<std::vector<Value>>& rows, int64_t tablet_rows,
                                               bool dictionaries = true);

// Tablets of another source, with ids as those of a table have.
class NumberedTablets final : public TabletSource {
 public:
  // first: the id of the first one.
  explicit NumberedTablets(std::shared_ptr<const TabletSource> source, uint64_t first = 1)
      : source_(std::move(source)), first_(first) {}
  const std::vector<ColumnDefinition>& columns() const override { return source_->columns(); }
  size_t tablet_count() const override { return source_->tablet_count(); }
  int64_t row_count() const override { return source_->row_count(); }
  int64_t rows_in(size_t tablet) const override { return source_->rows_in(tablet); }
  ZoneMap zone_map(size_t tablet, size_t column) const override { return source_->zone_map(tablet, column); }
  uint64_t tablet_id(size_t tablet) const override { return first_ + tablet; }
  const Dictionary* common_dictionary(size_t column) const override { return source_->common_dictionary(column); }
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override {
    if (tablet == unreadable_) throw Error(SqlState::out_of_memory, "no memory for the tablet");
    return source_->pin(tablet, wanted);
  }
  int64_t encoded_bytes(size_t tablet, size_t column) const override { return source_->encoded_bytes(tablet, column); }
  // pin() of it throws 53200 from now on.
  void make_unreadable(size_t tablet) { unreadable_ = tablet; }

 private:
  std::shared_ptr<const TabletSource> source_;
  const uint64_t first_;
  size_t unreadable_ = SIZE_MAX;
};

// The rows of a source as values, in order.
std::vector<std::vector<Value>> rows_of(const TabletSource& source);

// Writes a program: registers by physical type, instructions in order, jump targets by label.
class ProgramMaker {
 public:
  explicit ProgramMaker(std::shared_ptr<const TabletSource> source);

  Program& program() { return *program_; }
  int reg(const Type& type, std::optional<PhysicalType> physical = {});
  // Appends an instruction and returns its address.
  int32_t emit(Opcode opcode, int p1 = 0, int p2 = 0, int p3 = 0, decltype(Instruction::p4) p4 = {});
  int column(int number);
  int constant(const Value& value);
  // Sets the p3 of the instruction to the next address.
  void land(int32_t jump) { program_->instructions[static_cast<size_t>(jump)].p3 = next(); }
  int32_t next() const { return static_cast<int32_t>(program_->instructions.size()); }
  void parallel(int cursor);
  void converge();
  // A new row set to append to; all are dropped at the end of the program, but for those that drop() was called for.
  int row_set(const RowSetInfo& info);
  void drop(int row_set);
  // A cursor on the rows of a row set, which are sorted where it has keys.
  int rows(int row_set);
  // A cursor on another table.
  int table(std::shared_ptr<const TabletSource> source);
  // A cursor on the groups of a hash table, which become a new row set.
  int groups(int hash_table);
  // Outputs the registers, which need not be consecutive.
  void result(const std::vector<int>& registers);
  // The same, as a block of consecutive registers.
  int block(const std::vector<int>& registers);

  std::vector<std::vector<Value>> run(int threads);
  std::shared_ptr<const Program> finish();

 private:
  int add_row_set(const RowSetInfo& info);

  std::shared_ptr<Program> program_;
  std::vector<int> row_sets_;  // that are not dropped yet
  int32_t parallel_at_ = -1;
  int section_cursor_ = 0;
};

}  // namespace diptych::testing
