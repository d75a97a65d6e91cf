#include "engine/gpu/groups/numbered_groups.h"

#include <algorithm>
#include <cstring>

#include "engine/gpu/output/totals.h"
#include "engine/rows/host_row_set.h"
#include "tablet/aligned_buffer.h"

namespace diptych::gpu {
namespace {

// The memory of a piece's columns.
class OwnedColumns {
 public:
  explicit OwnedColumns(MemoryBudget* budget) : reserved_(budget, "groups") {}
  // Errors: 53200.
  AlignedBuffer& add(size_t bytes) {
    reserve_on_host(reserved_, static_cast<int64_t>(bytes));
    return buffers_.emplace_back(bytes);
  }

 private:
  MemoryReservation reserved_;
  std::vector<AlignedBuffer> buffers_;
};

// As long as the tablets of tables by default.
constexpr size_t tablet_rows = 65536;

size_t padded(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

NumberedGroups::NumberedGroups(const Program& program, const GroupPlan& plan, MemoryBudget* budget)
    : table_(program.hash_tables[static_cast<size_t>(plan.hash_table)]),
      plan_(plan),
      budget_(budget),
      reserved_(budget, "groups") {}

void NumberedGroups::add(GroupWords batch) {
  // As if all groups were new.
  reserve_on_host(reserved_, static_cast<int64_t>(batch.words.size() * sizeof(uint64_t)));
  if (empty_) {
    groups_ = std::move(batch);
    empty_ = false;
    return;
  }
  // By the numbers of groups, where they are in groups_, + 1; 0: nowhere.
  std::vector<uint32_t> places(static_cast<size_t>(plan_.groups), 0);
  for (size_t i = 0; i < groups_.count(); ++i)
    places[groups_.words[i * groups_.row_words]] = static_cast<uint32_t>(i + 1);
  const size_t states = plan_.states.words;
  for (size_t i = 0; i < batch.count(); ++i) {
    const uint64_t* row = batch.words.data() + i * batch.row_words;
    if (const size_t place = places[row[0]]; place != 0)
      combine_states(plan_.states, {groups_.words.data() + (place - 1) * groups_.row_words + 1, states},
                     {row + 1, states});
    else
      groups_.words.insert(groups_.words.end(), row, row + batch.row_words);
  }
}

bool NumberedGroups::read_key(const uint64_t* row, size_t number, std::byte* to) const {
  const GroupKeyPlan& key = plan_.keys[number];
  const auto store = [&](auto value) { std::memcpy(to, &value, sizeof(value)); };
  const uint64_t place = row[0] / key.stride % (key.span + (key.nullable ? 1U : 0U));
  const bool there = place != key.span;
  const uint64_t value = there ? static_cast<uint64_t>(key.low) + place : 0;
  switch (key.physical) {
    case PhysicalType::Bool: store(static_cast<uint8_t>(value)); break;
    case PhysicalType::Int32: store(static_cast<int32_t>(value)); break;
    default: store(value);
  }
  return there;
}

std::vector<ColumnDefinition> NumberedGroups::columns() const {
  std::vector<ColumnDefinition> columns;
  for (const RegisterInfo& key : table_.keys) columns.push_back({"", key.type});
  for (const AggregateInfo& aggregate : table_.aggregates) columns.push_back({"", aggregate.result.type});
  return columns;
}

std::shared_ptr<const RowSet> NumberedGroups::finish() const {
  auto made = std::make_shared<HostRowSet>(columns());
  const size_t keys = table_.keys.size(), count = groups_.count();
  for (size_t first = 0; first < count; first += tablet_rows) {
    std::vector<ColumnView> views;
    const size_t rows = std::min(tablet_rows, count - first);
    auto owners = std::make_shared<OwnedColumns>(budget_);
    for (size_t i = 0; i < keys + table_.aggregates.size(); ++i) {
      ColumnView& view = views.emplace_back();
      view.encoding = Encoding::Plain;
      view.physical = i < keys ? table_.keys[i].physical : table_.aggregates[i - keys].result.physical;
      const auto width = static_cast<size_t>(width_bytes(view.physical));
      AlignedBuffer& memory = owners->add(padded(rows * width) + padded(rows / 8 + 8));
      auto* bits = reinterpret_cast<uint8_t*>(memory.data() + padded(rows * width));
      std::memset(bits, 0xFF, rows / 8 + 1);
      bool any_null = false;
      for (size_t row = 0; row < rows; ++row) {
        const uint64_t* words = groups_.words.data() + (first + row) * groups_.row_words;
        std::byte* to = memory.data() + row * width;
        const bool there =
            i < keys ? read_key(words, i, to)
                     : finish_state(table_.aggregates[i - keys], plan_.states, i - keys,
                                    {words + 1, plan_.states.words}, table_.aggregates[i - keys].position, to);
        if (there) continue;
        bits[row / 8] = static_cast<uint8_t>(bits[row / 8] & ~(1U << (row % 8)));
        any_null = true;
      }
      view.data = memory.data();
      if (any_null) view.validity = bits;
    }
    made->add(HostPiece{static_cast<int64_t>(rows), std::move(views), {}, std::move(owners)});
  }
  return made;
}

}  // namespace diptych::gpu
