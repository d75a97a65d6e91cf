#include "engine/gpu/join/joined_tablets.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/gpu/output/host_memory.h"
#include "engine/rows/host_row_set.h"
#include "program/operands.h"
#include "tablet/validity_bits.h"

namespace diptych::gpu {
namespace {

struct JoinedColumn {
  std::vector<std::byte> values;  // of strings: their bytes
  std::vector<uint32_t> offsets;  // of strings
  GrowingValidity validity;
};

class JoinedTablet final : public PinnedTablet {
 public:
  JoinedTablet(MemoryBudget* budget, size_t columns) : bytes(budget, "rows of an index"), joined(columns) {}

  MemoryReservation bytes;
  std::vector<JoinedColumn> joined;
};

// all: rows of all tablets, of which so many come before these. Errors: 53200.
void append_values(const ColumnView& view, int64_t before, int64_t rows, int64_t all, MemoryReservation& reserved,
                   JoinedColumn& to) {
  check_invariant(view.encoding == Encoding::Plain, "rows that a section appends are plain");
  const auto width = static_cast<size_t>(width_bytes(view.physical));
  if (to.values.empty()) {
    const size_t bytes = static_cast<size_t>(all) * width;
    reserve_on_host(reserved, static_cast<int64_t>(bytes) + validity_bytes(all));
    to.values.resize(bytes);
  }
  std::memcpy(to.values.data() + static_cast<size_t>(before) * width, view.data, static_cast<size_t>(rows) * width);
}

// Errors: 53200 where offsets of 32 bits don't reach, or the budget doesn't.
void append_strings(const ColumnView& view, int64_t rows, int64_t all, MemoryReservation& reserved, JoinedColumn& to) {
  if (to.offsets.empty()) {
    reserve_on_host(reserved, (all + 1) * 4 + validity_bytes(all));
    to.offsets.reserve(static_cast<size_t>(all) + 1);
    to.offsets.push_back(0);
  }
  size_t bytes = 0;
  for (int64_t row = 0; row < rows; ++row) bytes += text_at(view, row).size();
  if (to.values.size() + bytes > UINT32_MAX)
    throw Error(SqlState::out_of_memory, "strings of an index have more than 4 GB");
  const size_t needed = to.values.size() + bytes, had = to.values.capacity();
  if (needed > had) {
    // In ever larger steps: each moves what is there.
    const size_t room = std::max(needed, 2 * had);
    reserve_on_host(reserved, static_cast<int64_t>(room - had));
    to.values.reserve(room);
  }
  for (int64_t row = 0; row < rows; ++row) {
    const std::string_view string = text_at(view, row);
    const auto* from = reinterpret_cast<const std::byte*>(string.data());
    to.values.insert(to.values.end(), from, from + string.size());
    to.offsets.push_back(static_cast<uint32_t>(to.values.size()));
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
    if (part->rows == 0) continue;
    for (size_t i = 0; i < wanted.size(); ++i) {
      const ColumnView& view = part->views[i];
      JoinedColumn& column = made->joined[i];
      column.validity.append(view.validity, 0, part->rows);
      if (view.physical == PhysicalType::Text)
        append_strings(view, part->rows, all, made->bytes, column);
      else
        append_values(view, before, part->rows, all, made->bytes, column);
      made->views[i].physical = view.physical;
    }
    before += part->rows;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    ColumnView& view = made->views[i];
    const JoinedColumn& column = made->joined[i];
    view.validity = column.validity.bits();
    if (view.physical == PhysicalType::Text) {
      view.encoding = Encoding::Heap;
      view.offsets = column.offsets.data();
      view.heap = reinterpret_cast<const char*>(column.values.data());
    } else {
      view.encoding = Encoding::Plain;
      view.data = column.values.data();
    }
  }
  return made;
}

int64_t JoinedTablets::encoded_bytes(size_t, size_t column) const {
  int64_t bytes = 0;
  for (size_t tablet = 0; tablet < source_.tablet_count(); ++tablet) bytes += source_.encoded_bytes(tablet, column);
  return bytes;
}

}  // namespace diptych::gpu
