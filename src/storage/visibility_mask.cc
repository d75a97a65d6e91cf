#include "storage/visibility_mask.h"

#include <bit>
#include <cstring>

#include "base/error.h"

namespace diptych {

VisibilityMask::VisibilityMask(uint64_t id, int64_t rows, MemoryBudget& budget)
    : id_(id), rows_(rows), memory_(budget, "rows that are there") {
  memory_.grow(bytes());
  bits_.resize(static_cast<size_t>(bytes()));
  std::memset(bits_.data(), 0, bits_.size());
}

VisibilityMask::VisibilityMask(uint64_t id, int64_t rows, const VisibilityMask* before,
                               std::span<const int64_t> positions, int64_t first, MemoryBudget& budget)
    : VisibilityMask(id, rows, budget) {
  if (before != nullptr)
    std::memcpy(bits_.data(), before->bits(), bits_.size());
  else
    set_ones(bits_.as<uint8_t>(), 0, rows);
  const int64_t live_before = before != nullptr ? before->live_rows() : rows;
  live_rows_ = live_before - static_cast<int64_t>(positions.size());
  auto* bits = bits_.as<uint8_t>();
  uint8_t missing = 0;  // bits that should have been 1
  while (!positions.empty()) {
    const int64_t slot = positions.front() - first;
    // Neighbours 64 or eight at a time.
    const auto starts_with = [&](int64_t count) {
      const auto size = static_cast<size_t>(count);
      return slot % count == 0 && positions.size() >= size && positions[size - 1] == positions[0] + count - 1;
    };
    if (starts_with(64)) {
      uint64_t there = 0;
      std::memcpy(&there, bits + slot / 8, sizeof(there));
      missing |= static_cast<uint8_t>(there != UINT64_MAX);
      std::memset(bits + slot / 8, 0, sizeof(there));
      positions = positions.subspan(64);
      continue;
    }
    const bool has_byte = starts_with(8);
    const auto gone = static_cast<uint8_t>(has_byte ? 0xFF : 1U << (slot % 8));
    missing |= static_cast<uint8_t>(gone & ~bits[slot / 8]);
    bits[slot / 8] &= static_cast<uint8_t>(~gone);
    positions = positions.subspan(has_byte ? 8 : 1);
  }
  check_invariant(missing == 0, "rows that are deleted are there");
}

VisibilityMask::VisibilityMask(uint64_t id, int64_t rows, std::span<const std::byte> bits, MemoryBudget& budget)
    : VisibilityMask(id, rows, budget) {
  check_invariant(bits.size() == bits_.size(), "a mask has a bit for each row");
  std::memcpy(bits_.data(), bits.data(), bits.size());
  live_rows_ = count_ones(this->bits(), 0, rows);
}

int64_t VisibilityMask::slot_of(int64_t live_row) const {
  int64_t before = 0;
  for (int64_t first = 0; first < rows_; first += 64) {
    uint64_t word = 0;
    std::memcpy(&word, bits_.data() + first / 8, sizeof(word));
    const int64_t here = std::popcount(word);
    if (before + here <= live_row) {
      before += here;
      continue;
    }
    for (; before < live_row; ++before) word &= word - 1;
    return first + std::countr_zero(word);
  }
  check_invariant(false, "a tablet has the row that is asked for");
  return rows_;
}

}  // namespace diptych
