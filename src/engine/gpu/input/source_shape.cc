#include "engine/gpu/input/source_shape.h"

#include "engine/gpu/groups/group_source.h"
#include "engine/run/zone_test.h"
#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

// Strings of a dictionary in some tablets, and in the heap of others.
bool are_mixed_strings(const ColumnShape& shape, const SegmentTablet& tablet) {
  const auto is_kept = [](Encoding encoding) { return encoding == Encoding::Heap || encoding == Encoding::Dictionary; };
  return tablet.encoding != shape.encoding && is_kept(tablet.encoding) && is_kept(shape.encoding);
}

}  // namespace

ColumnShape empty_shape(const TabletSource& source, size_t column) {
  ColumnShape shape;
  shape.column = column;
  shape.unit_factor = true;
  const PhysicalType physical = source.columns()[column].type.physical();
  if (physical == PhysicalType::Text) return shape;
  shape.encoding = Encoding::Plain;
  shape.physical = physical;
  shape.width = width_bytes(physical);
  return shape;
}

void add_to_shape(const SegmentTablet& tablet, bool is_first, ColumnShape& shape, const Dictionary*& dictionary,
                  std::string& unsupported) {
  if (is_first) {
    shape.encoding = tablet.encoding;
    shape.physical = tablet.physical;
    shape.width = tablet.width;
    dictionary = tablet.dictionary;
  }
  if (are_mixed_strings(shape, tablet)) {
    shape.mixed = true;
    shape.encoding = Encoding::Heap;  // no register holds codes of it
    if (tablet.dictionary != nullptr) dictionary = tablet.dictionary;
  } else if (tablet.encoding != shape.encoding || tablet.physical != shape.physical ||
             (tablet.encoding == Encoding::Dictionary && tablet.dictionary != dictionary)) {
    unsupported = "a column whose tablets are encoded in several ways";
  }
  if (tablet.width != shape.width) shape.width = -1;
  shape.has_nulls |= tablet.has_nulls;
  shape.unit_factor &= tablet.factor == 1;
}

SectionShape find_source_shape(const Program& program, int32_t address, const TabletSource& source) {
  const auto cursor = static_cast<size_t>(program.instructions[static_cast<size_t>(address)].p1);
  const std::vector<size_t> columns = columns_read(program, address);
  SectionShape shape;
  for (const size_t column : columns) shape.columns.push_back(empty_shape(source, column));
  std::vector<const Dictionary*> dictionaries(columns.size(), nullptr);
  bool is_first = true;
  if (columns.empty()) return shape;
  if (const auto* groups = dynamic_cast<const GroupSource*>(&source)) {
    for (size_t piece = 0; piece < groups->tablet_count(); ++piece) {
      for (size_t i = 0; i < columns.size(); ++i)
        add_to_shape(groups->form(piece, columns[i]), piece == 0, shape.columns[i], dictionaries[i], shape.unsupported);
    }
    return shape;
  }
  for (const TabletSpan& span : needed_tablets(program.cursors[cursor], source)) {
    for (size_t tablet = span.first; tablet < span.first + span.count; ++tablet) {
      const auto pinned = source.pin(tablet, columns);
      for (size_t i = 0; i < columns.size(); ++i)
        add_to_shape(stored_form(pinned->views[i], pinned->rows), is_first, shape.columns[i], dictionaries[i],
                     shape.unsupported);
      is_first = false;
    }
  }
  return shape;
}

}  // namespace diptych::gpu
