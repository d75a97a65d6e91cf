#include "engine/gpu/source_shape.h"

#include <algorithm>

#include "engine/cpu/zone_test.h"

namespace diptych::gpu {
namespace {

int stored_width(const ColumnView& view) {
  if (view.encoding == Encoding::Heap) return 4;
  return view.encoding == Encoding::Plain ? width_bytes(view.physical) : view.width;
}

// Adds one tablet's column to what was found of the others.
void add_tablet(const ColumnView& view, bool is_first, const Dictionary*& dictionary, ColumnShape& shape,
                std::string& unsupported) {
  if (is_first) {
    shape.encoding = view.encoding;
    shape.physical = view.physical;
    shape.width = stored_width(view);
    dictionary = view.dictionary;
  }
  if (view.encoding != shape.encoding || view.physical != shape.physical || view.dictionary != dictionary)
    unsupported = "a column whose tablets are encoded in several ways";
  if (stored_width(view) != shape.width) shape.width = -1;
  shape.has_nulls |= view.validity != nullptr;
  shape.unit_factor &= view.factor == 1;
}

}  // namespace

std::vector<bool> tablets_needed(const CursorInfo& cursor, const TabletSource& source) {
  std::vector<bool> needed(source.tablet_count(), true);
  for (size_t tablet = 0; tablet < needed.size(); ++tablet) {
    needed[tablet] =
        std::all_of(cursor.zone_conditions.begin(), cursor.zone_conditions.end(), [&](const ZoneCondition& condition) {
          return cpu::may_hold(condition, source.zone_map(tablet, condition.column));
        });
  }
  return needed;
}

SectionShape find_source_shape(const Program& program, int32_t address, const TabletSource& source) {
  const auto cursor = static_cast<size_t>(program.instructions[static_cast<size_t>(address)].p1);
  const std::vector<bool> needed = tablets_needed(program.cursors[cursor], source);
  const std::vector<size_t> columns = columns_read(program, address);
  SectionShape shape;
  for (const size_t column : columns) {
    shape.columns.emplace_back().column = column;
    shape.columns.back().unit_factor = true;
  }
  std::vector<const Dictionary*> dictionaries(columns.size(), nullptr);
  bool is_first = true;
  for (size_t tablet = 0; tablet < needed.size() && !columns.empty(); ++tablet) {
    if (!needed[tablet]) continue;
    const auto pinned = source.pin(tablet, columns);
    for (size_t i = 0; i < columns.size(); ++i)
      add_tablet(pinned->views[i], is_first, dictionaries[i], shape.columns[i], shape.unsupported);
    is_first = false;
  }
  return shape;
}

}  // namespace diptych::gpu
