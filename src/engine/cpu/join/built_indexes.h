// The indexes of a run: their rows from Build to Drop, and the indexes that are made of them.
//
// An index that has room in its part of the memory limit is made at once and stays. Another one, or one that has to
// give way to it, is made a part of the rows at a time while a section runs that reads it (index_passes.h).
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/join/row_index.h"
#include "engine/run/profile.h"

namespace diptych::cpu {

// Those that are made, by number; null: not this one.
using RowIndexes = std::vector<std::unique_ptr<RowIndex>>;

class BuiltIndexes {
 public:
  // All arguments outlive it.
  BuiltIndexes(const Program& program, const ExecutionContext& context, const Memory& memory);

  // The rows of the index's row set, which are on the host; says what was made of them. Errors: 54000, 57014, and those
  // of reading the rows.
  FormProfile build(size_t index, std::shared_ptr<const TabletSource> rows);
  void forget(size_t index);
  const RowIndexes& made() const { return made_; }
  bool is_made(size_t index) const { return made_[index] != nullptr; }
  // The index of all its rows; null: there is none, or one of a part.
  const RowIndex* whole(size_t index) const {
    return is_made(index) && made_[index]->row_count() == row_count(index) ? made_[index].get() : nullptr;
  }

  // What all indexes together may take.
  size_t room() const { return room_; }
  int64_t row_count(size_t index) const { return sources_[index]->row_count(); }
  // What so many rows of the index may take.
  size_t bytes_of(size_t index, int64_t rows, bool has_positions) const;
  // What those take that are made, but for some.
  size_t bytes_made_but(const std::vector<size_t>& these) const;
  // Makes the index of rows [begin, end); the one before is let go of first. Errors: 53200, when it takes more than
  // most_bytes, too.
  void make(size_t index, int64_t begin, int64_t end, bool has_positions, size_t most_bytes);
  // Whether the indexes that are made leave as much memory as their section works with at least: what it takes can't be
  // had of them any more.
  bool leaves_room() const;
  // Lets go of the index, not of its rows.
  void unmake(size_t index) { made_[index].reset(); }
  void unmake_all_but(const std::vector<size_t>& these);

 private:
  const Program& program_;
  const ExecutionContext& context_;
  const Memory& memory_;
  const size_t room_;
  std::vector<std::shared_ptr<const TabletSource>> sources_;
  std::vector<size_t> text_bytes_;  // by index: of the strings of all rows
  RowIndexes made_;
};

}  // namespace diptych::cpu
