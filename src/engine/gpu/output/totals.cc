#include "engine/gpu/output/totals.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/rows/host_row_set.h"
#include "tablet/aligned_buffer.h"

namespace diptych::gpu {
namespace {

struct TotalsRow {
  AlignedBuffer values;
  std::vector<std::string> strings;  // by aggregate
};

// The least or greatest of what the groups of all grids have found; empty where there is none.
std::string extreme_string(const StatesLayout& layout, size_t number, const std::vector<PartialWords>& partials) {
  const StateLayout& state = layout.aggregates[number];
  const std::string* best = nullptr;
  for (const PartialWords& partial : partials) {
    for (size_t group = 0; group < partial.groups; ++group) {
      // Its length, and 1.
      if (partial.words[group * layout.words + state.first_word + 2] == 0) continue;
      const std::string& found = partial.strings.at(number)[group];
      if (best == nullptr || (state.is_least ? found < *best : *best < found)) best = &found;
    }
  }
  return best == nullptr ? std::string() : *best;
}

}  // namespace

GroupWords total_states(const StatesLayout& layout, const std::vector<PartialWords>& partials) {
  GroupWords made;
  made.row_words = 1 + layout.words;
  made.words.resize(made.row_words);
  const std::span<uint64_t> total = std::span(made.words).subspan(1);
  clear_states(layout, total);
  for (const PartialWords& partial : partials) {
    for (size_t group = 0; group < partial.groups; ++group)
      combine_states(layout, total, std::span(partial.words).subspan(group * layout.words, layout.words));
  }
  return made;
}

std::shared_ptr<const RowSet> combine_totals(const Program& program, int32_t hash_table,
                                             const std::vector<PartialWords>& partials) {
  const HashTableInfo& table = program.hash_tables[static_cast<size_t>(hash_table)];
  const StatesLayout layout = layout_states(table, true);
  const GroupWords words = total_states(layout, partials);
  const std::span<const uint64_t> total = std::span(words.words).subspan(1);
  // One value of at most 16 bytes and one byte of validity a column.
  auto memory = std::make_shared<TotalsRow>();
  memory->values = AlignedBuffer(std::max<size_t>(1, table.aggregates.size()) * 128);
  memory->strings.resize(table.aggregates.size());
  std::fill_n(memory->values.data(), memory->values.size(), std::byte{0});
  std::vector<ColumnView> views;
  std::vector<ColumnDefinition> columns;
  for (size_t i = 0; i < table.aggregates.size(); ++i) {
    const AggregateInfo& aggregate = table.aggregates[i];
    std::byte* place = memory->values.data() + i * 128;
    ColumnView& view = views.emplace_back();
    view.encoding = Encoding::Plain;
    view.physical = aggregate.result.physical;
    view.data = place;
    if (!finish_state(aggregate, layout, i, total, aggregate.position, place))
      view.validity = reinterpret_cast<const uint8_t*>(place + 64);
    columns.push_back({"", aggregate.result.type});
    if (view.physical != PhysicalType::Text) continue;
    std::string& string = memory->strings[i];
    string = extreme_string(layout, i, partials);
    const uint32_t offsets[2] = {0, static_cast<uint32_t>(string.size())};
    std::memcpy(place, offsets, sizeof(offsets));
    view.encoding = Encoding::Heap;
    view.offsets = reinterpret_cast<const uint32_t*>(place);
    view.heap = string.data();
  }
  auto totals = std::make_shared<HostRowSet>(std::move(columns));
  totals->add(HostPiece{1, std::move(views), {}, std::move(memory)});
  return totals;
}

}  // namespace diptych::gpu
