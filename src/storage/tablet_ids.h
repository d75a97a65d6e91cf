// Gives every tablet of a database its id: 1, 2, 3 ...
//
// An id names bytes that never change, so caches in host memory and on devices find them again by it. It is given once:
// a tablet that is written again with more rows gets another id, and so do the tablets of a table that is dropped and
// created again. Therefore the counter belongs to the database and does not go back when a transaction is given up. A
// commit writes it to the file together with the tablets (docs/format.md).
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"

namespace diptych {

class TabletIds {
 public:
  // Ids are less than that: the id of a row, id of the tablet * row slots + slot, is then less than 2^63 for tablets of
  // up to 2^20 row slots.
  static constexpr uint64_t end = uint64_t{1} << 43;

  // When a database is opened. next: more than all ids that it has.
  void go_on_from(uint64_t next) { next_ = next; }

  // Errors: 54000 when all ids are given.
  uint64_t take() {
    uint64_t id = next_;
    do {
      if (id == end) throw Error(SqlState::program_limit_exceeded, "the database has no more ids for tablets");
    } while (!next_.compare_exchange_weak(id, id + 1));
    return id;
  }
  // All ids that were given are less.
  uint64_t next() const { return next_; }

 private:
  std::atomic<uint64_t> next_ = 1;
};

}  // namespace diptych
