#include "engine/gpu/output/totals.h"

#include <algorithm>

#include "engine/gpu/output/device_rows.h"
#include "tablet/aligned_buffer.h"

namespace diptych::gpu {

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

std::shared_ptr<const TabletSource> combine_totals(const Program& program, int32_t hash_table,
                                                   const std::vector<PartialWords>& partials) {
  const HashTableInfo& table = program.hash_tables[static_cast<size_t>(hash_table)];
  const StatesLayout layout = layout_states(table);
  const GroupWords words = total_states(layout, partials);
  const std::span<const uint64_t> total = std::span(words.words).subspan(1);
  // One value of at most 16 bytes and one byte of validity a column.
  auto memory = std::make_shared<AlignedBuffer>(std::max<size_t>(1, table.aggregates.size()) * 128);
  std::fill_n(memory->data(), memory->size(), std::byte{0});
  SectionRows row;
  row.rows = 1;
  row.owner = memory;
  std::vector<ColumnDefinition> columns;
  for (size_t i = 0; i < table.aggregates.size(); ++i) {
    const AggregateInfo& aggregate = table.aggregates[i];
    std::byte* place = memory->data() + i * 128;
    ColumnView& view = row.views.emplace_back();
    view.encoding = Encoding::Plain;
    view.physical = aggregate.result.physical;
    view.data = place;
    if (!finish_state(aggregate, layout, i, total, aggregate.position, place))
      view.validity = reinterpret_cast<const uint8_t*>(place + 64);
    columns.push_back({"", aggregate.result.type});
  }
  auto source = std::make_shared<DeviceRows>(std::move(columns));
  source->add(std::move(row));
  return source;
}

}  // namespace diptych::gpu
