#include "engine/gpu/join/joined_tablets.h"

#include <cstring>

#include "base/error.h"
#include "engine/gpu/output/host_memory.h"
#include "program/operands.h"

namespace diptych::gpu {
namespace {

struct JoinedColumn {
  std::vector<std::byte> values;
  std::vector<uint8_t> validity;  // empty: no row is NULL
};

class JoinedTablet final : public PinnedTablet {
 public:
  JoinedTablet(MemoryBudget* budget, size_t columns) : bytes(budget, "rows of an index"), joined(columns) {}

  MemoryReservation bytes;
  std::vector<JoinedColumn> joined;
};

void append_values(const ColumnView& view, int64_t before, int64_t rows, JoinedColumn& to) {
  const auto width = static_cast<size_t>(width_bytes(view.physical));
  std::memcpy(to.values.data() + static_cast<size_t>(before) * width, view.data, static_cast<size_t>(rows) * width);
}

void append_validity(const ColumnView& view, int64_t before, int64_t rows, int64_t all, JoinedColumn& to) {
  if (view.validity == nullptr) return;
  if (to.validity.empty()) to.validity.assign(static_cast<size_t>(all + 7) / 8, 0xFF);
  if (before % 8 == 0) {
    // Bits behind the last row may be any.
    std::memcpy(to.validity.data() + before / 8, view.validity, static_cast<size_t>(rows + 7) / 8);
    if (before + rows < all && rows % 8 != 0)
      to.validity[static_cast<size_t>((before + rows) / 8)] |= static_cast<uint8_t>(0xFF << rows % 8);
    return;
  }
  for (int64_t row = 0; row < rows; ++row) {
    if ((view.validity[row / 8] >> row % 8 & 1) != 0) continue;
    const int64_t at = before + row;
    to.validity[static_cast<size_t>(at / 8)] &= static_cast<uint8_t>(~(1U << at % 8));
  }
}

}  // namespace

std::unique_ptr<PinnedTablet> JoinedTablets::pin(size_t, std::span<const size_t> wanted) const {
  auto made = std::make_unique<JoinedTablet>(budget_, wanted.size());
  const int64_t all = made->rows = row_count();
  made->views.resize(wanted.size());
  int64_t before = 0;
  for (size_t tablet = 0; tablet < source_.tablet_count(); ++tablet) {
    const auto part = source_.pin(tablet, wanted);
    for (size_t i = 0; i < wanted.size(); ++i) {
      const ColumnView& view = part->views[i];
      check_invariant(view.encoding == Encoding::Plain, "rows that a section appends are plain");
      JoinedColumn& column = made->joined[i];
      const auto bytes = static_cast<size_t>(all * width_bytes(view.physical));
      if (column.values.empty() && bytes > 0) {
        reserve_on_host(made->bytes, static_cast<int64_t>(bytes) + (all + 7) / 8);
        column.values.resize(bytes);
        made->views[i] = {.encoding = Encoding::Plain, .physical = view.physical, .width = view.width};
      }
      append_values(view, before, part->rows, column);
      append_validity(view, before, part->rows, all, column);
    }
    before += part->rows;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    made->views[i].data = made->joined[i].values.data();
    if (!made->joined[i].validity.empty()) made->views[i].validity = made->joined[i].validity.data();
  }
  return made;
}

int64_t JoinedTablets::encoded_bytes(size_t, size_t column) const {
  int64_t bytes = 0;
  for (size_t tablet = 0; tablet < source_.tablet_count(); ++tablet) bytes += source_.encoded_bytes(tablet, column);
  return bytes;
}

}  // namespace diptych::gpu
