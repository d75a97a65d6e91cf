// Runs of one section over all of its rows, each with indexes of other parts of the rows that it meets:
//
//   index 0   |part 0         |part 1         |        as many rows as there is room for
//   index 1   |part 0 |part 1 |part 0 |part 1 |
//   pass       1       2       3       4               every pair of rows is found in one of them
//
// Parts are ranges of rows, whatever their keys: the rows of one key may be in several of them. So no key is too
// common, and each part is read once for each part of the indexes that change less often.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/join/built_indexes.h"

namespace diptych::cpu {

class IndexPasses {
 public:
  // numbers: of the indexes that the section reads. has_positions: of the indexes that are made for the passes. What is
  // passed by reference outlives it.
  IndexPasses(BuiltIndexes& indexes, std::vector<size_t> numbers, bool has_positions);
  IndexPasses(const IndexPasses&) = delete;
  IndexPasses& operator=(const IndexPasses&) = delete;
  ~IndexPasses() { end(); }

  // Whether any index, or this one, is made for the passes; else it stands.
  bool make_any() const { return !made_.empty(); }
  bool make(size_t index) const;
  // Makes the indexes of the next pass; false: there is none. Errors: 53200, 54000, 57014, those of reading the rows.
  bool next();
  // Lets go of the indexes that have a part of the rows.
  void end();
  // Passes begun.
  int64_t count() const { return count_; }

 private:
  struct Made {
    size_t index;
    int64_t rows;                // of all parts
    int64_t part_rows;           // of one
    size_t most_bytes = 0;       // of one
    int64_t begin = 0, end = 0;  // rows of the part at hand
  };
  void choose_parts(size_t room);
  // On to the next parts; those made that are others than before are let go of. False: there are none.
  bool advance();
  size_t bytes_of(const Made& made) const;
  void make_part(Made& made);

  BuiltIndexes& indexes_;
  const bool has_positions_;
  std::vector<Made> made_;  // that change most often first
  int64_t count_ = 0;
};

}  // namespace diptych::cpu
