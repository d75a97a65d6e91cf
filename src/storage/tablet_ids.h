// Gives every tablet of a database its id: 1, 2, 3 ...
//
// An id names bytes that never change, so caches in host memory and on devices find them again by it. It is given once:
// a tablet that is written again with more rows gets another id, and so do the tablets of a table that is dropped and
// created again. Therefore the counter belongs to the database and does not go back when a transaction is given up. A
// commit writes it to the file together with the tablets (docs/format.md).
//
// Thread safety: one writer at a time.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace diptych {

class TabletIds {
 public:
  // Ids are less than that: the id of a row, id of the tablet * row slots + slot, is then less than 2^63 for tablets of
  // up to 2^20 row slots.
  static constexpr uint64_t end = uint64_t{1} << 43;

  explicit TabletIds(uint64_t next = 1) : next_(next) {}

  // Errors: 54000 when all ids are given.
  uint64_t take() {
    if (next_ == end) throw Error(SqlState::program_limit_exceeded, "the database has no more ids for tablets");
    return next_++;
  }
  // All ids that were given are less.
  uint64_t next() const { return next_; }

 private:
  uint64_t next_;
};

}  // namespace diptych
