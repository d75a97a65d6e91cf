#include "engine/gpu/join/joined_tablets.h"

#include <cstring>

#include "base/error.h"
#include "engine/gpu/output/host_memory.h"
#include "engine/rows/host_row_set.h"
#include "program/operands.h"

namespace diptych::gpu {
namespace {

struct JoinedColumn {
  std::vector<std::byte> values;  // of strings: their bytes
  std::vector<uint32_t> offsets;  // of strings
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

// Errors: 53200 where offsets of 32 bits don't reach, or the budget doesn't.
void append_strings(const ColumnView& view, int64_t rows, MemoryReservation& reserved, JoinedColumn& to) {
  size_t bytes = 0;
  for (int64_t row = 0; row < rows; ++row) bytes += text_at(view, row).size();
  if (to.values.size() + bytes > UINT32_MAX)
    throw Error(SqlState::out_of_memory, "strings of an index have more than 4 GB");
  reserve_on_host(reserved, static_cast<int64_t>(bytes));
  for (int64_t row = 0; row < rows; ++row) {
    const std::string_view string = text_at(view, row);
    const auto* from = reinterpret_cast<const std::byte*>(string.data());
    to.values.insert(to.values.end(), from, from + string.size());
    to.offsets.push_back(static_cast<uint32_t>(to.values.size()));
  }
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
      JoinedColumn& column = made->joined[i];
      append_validity(view, before, part->rows, all, column);
      if (view.physical == PhysicalType::Text) {
        if (column.offsets.empty()) {
          reserve_on_host(made->bytes, (all + 1) * 4 + (all + 7) / 8);
          column.offsets.reserve(static_cast<size_t>(all) + 1);
          column.offsets.push_back(0);
          made->views[i] = {.encoding = Encoding::Heap, .physical = PhysicalType::Text, .width = 4};
        }
        append_strings(view, part->rows, made->bytes, column);
        continue;
      }
      check_invariant(view.encoding == Encoding::Plain, "rows that a section appends are plain");
      const auto bytes = static_cast<size_t>(all * width_bytes(view.physical));
      if (column.values.empty() && bytes > 0) {
        reserve_on_host(made->bytes, static_cast<int64_t>(bytes) + (all + 7) / 8);
        column.values.resize(bytes);
        made->views[i] = {.encoding = Encoding::Plain, .physical = view.physical, .width = view.width};
      }
      append_values(view, before, part->rows, column);
    }
    before += part->rows;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (made->views[i].encoding == Encoding::Heap) {
      made->views[i].offsets = made->joined[i].offsets.data();
      made->views[i].heap = reinterpret_cast<const char*>(made->joined[i].values.data());
    } else {
      made->views[i].data = made->joined[i].values.data();
    }
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
