#include "engine/cpu/join/index_passes.h"

#include <algorithm>

#include "base/error.h"

namespace diptych::cpu {
namespace {

// A part has no fewer rows, whatever they take.
constexpr int64_t least_part_rows = block_rows;

int64_t rounded_up(int64_t rows, int64_t parts) { return (rows + parts - 1) / parts; }

}  // namespace

IndexPasses::IndexPasses(BuiltIndexes& indexes, std::vector<size_t> numbers, bool has_positions)
    : indexes_(indexes), has_positions_(has_positions) {
  const auto stands = [&](size_t index) { return indexes_.is_made(index); };
  if (std::all_of(numbers.begin(), numbers.end(), stands)) return;
  // Those that the section does not read are made again when others do; and of what it reads, the largest share the
  // room, so that there are few passes.
  indexes_.unmake_all_but(numbers);
  for (const size_t index : numbers)
    made_.push_back({.index = index, .rows = indexes_.row_count(index), .part_rows = indexes_.row_count(index)});
  choose_parts(indexes_.room());
}

void IndexPasses::end() {
  for (const Made& made : made_)
    if (made.begin > 0 || made.end < made.rows) indexes_.unmake(made.index);
}

size_t IndexPasses::bytes_of(const Made& made) const {
  return indexes_.bytes_of(made.index, made.part_rows, has_positions_);
}

// The largest is made in one part more until all have room.
void IndexPasses::choose_parts(size_t room) {
  const auto all_bytes = [&] {
    size_t bytes = 0;
    for (const Made& made : made_) bytes += bytes_of(made);
    return bytes;
  };
  while (all_bytes() > room) {
    const auto largest = std::max_element(made_.begin(), made_.end(), [&](const Made& a, const Made& b) {
      const bool a_ends = a.part_rows <= least_part_rows, b_ends = b.part_rows <= least_part_rows;
      return a_ends != b_ends ? a_ends : bytes_of(a) < bytes_of(b);
    });
    if (largest->part_rows <= least_part_rows) break;
    // A part more, or a 16th more where there are many.
    const int64_t parts = rounded_up(largest->rows, largest->part_rows);
    largest->part_rows = std::max(least_part_rows, rounded_up(largest->rows, parts + 1 + parts / 16));
  }
  const size_t bytes = all_bytes(), spare = bytes < room ? (room - bytes) / made_.size() : 0;
  for (Made& made : made_) made.most_bytes = bytes_of(made) + spare;
  std::sort(made_.begin(), made_.end(), [](const Made& a, const Made& b) { return a.rows < b.rows; });
}

bool IndexPasses::make(size_t index) const {
  return std::any_of(made_.begin(), made_.end(), [index](const Made& made) { return made.index == index; });
}

bool IndexPasses::next() {
  if (made_.empty()) return count_++ == 0;
  if (count_ == 0) {
    for (const Made& made : made_) indexes_.unmake(made.index);
  } else if (!advance()) {
    return false;
  }
  for (size_t i = made_.size(); i-- > 0;)
    if (!indexes_.is_made(made_[i].index)) make_part(made_[i]);
  ++count_;
  return true;
}

bool IndexPasses::advance() {
  for (Made& made : made_) {
    const bool is_last = made.end == made.rows;
    if (is_last && made.begin == 0) continue;
    indexes_.unmake(made.index);
    made.begin = is_last ? 0 : made.end;
    if (!is_last) return true;
  }
  return false;
}

void IndexPasses::make_part(Made& made) {
  for (;;) {
    made.end = std::min(made.rows, made.begin + made.part_rows);
    const int64_t rows = made.end - made.begin;
    try {
      indexes_.make(made.index, made.begin, made.end, has_positions_, made.most_bytes);
      if (rows <= least_part_rows || indexes_.leaves_room()) return;
      indexes_.unmake(made.index);
    } catch (const Error& error) {
      if (error.state() != SqlState::out_of_memory || rows <= least_part_rows) throw;
    }
    made.part_rows = std::max(least_part_rows, rows / 2);
  }
}

}  // namespace diptych::cpu
