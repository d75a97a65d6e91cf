#include "engine/gpu/input/source_shape.h"

#include <algorithm>

#include "engine/gpu/groups/numbered_batch.h"
#include "engine/gpu/rows/device_row_set.h"
#include "engine/run/zone_test.h"
#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

// Strings of a dictionary in some tablets, and in the heap of others.
bool are_mixed_strings(const ColumnShape& shape, const SegmentTablet& tablet) {
  const auto is_kept = [](Encoding encoding) { return encoding == Encoding::Heap || encoding == Encoding::Dictionary; };
  return tablet.encoding != shape.encoding && is_kept(tablet.encoding) && is_kept(shape.encoding);
}

SegmentTablet tablet_of(const StoredForm& form) {
  ColumnView view;
  view.encoding = form.encoding;
  view.physical = form.physical;
  view.width = form.width;
  view.factor = form.factor;
  view.dictionary = form.dictionary;
  SegmentTablet tablet = stored_form(view, 0);
  tablet.has_nulls = form.has_nulls;
  return tablet;
}

class ShapeFinder {
 public:
  ShapeFinder(const Program& program, int32_t address, const TabletSource& source, bool may_pin)
      : cursor_(program.cursors[static_cast<size_t>(program.instructions[static_cast<size_t>(address)].p1)]),
        source_(source),
        device_rows_(dynamic_cast<const DeviceRowSet*>(&source)),
        columns_(columns_read(program, address)),
        may_pin_(may_pin) {}

  std::optional<SectionShape> find(bool all_alike) {
    for (const size_t column : columns_) shape_.columns.push_back(empty_shape(source_, column));
    if (columns_.empty()) return std::move(shape_);
    dictionaries_.assign(columns_.size(), nullptr);
    for (const TabletSpan& span : needed_tablets(cursor_, source_))
      if (!add_group(span) && !add_tablets(span)) return std::nullopt;
    if (all_alike && differs_) return std::nullopt;
    for (ColumnShape& shape : shape_.columns) add_source(source_, shape);
    return std::move(shape_);
  }

 private:
  // Without asking each of its tablets. False: that has to be done.
  bool add_group(const TabletSpan& span) {
    if (!span.is_whole || device_rows_ != nullptr) return false;
    std::vector<std::vector<StoredForm>> forms;
    for (const size_t column : columns_) {
      forms.push_back(source_.group_forms(span.group, column));
      if (forms.back().empty()) return false;
    }
    for (size_t i = 0; i < columns_.size(); ++i)
      for (const StoredForm& form : forms[i]) add(i, tablet_of(form));
    return true;
  }

  // False: one does not tell.
  bool add_tablets(const TabletSpan& span) {
    for (size_t tablet = span.first; tablet < span.first + span.count; ++tablet) {
      const std::vector<SegmentTablet> forms = forms_of(tablet);
      if (forms.empty()) return false;
      for (size_t i = 0; i < columns_.size(); ++i) add(i, forms[i]);
    }
    return true;
  }

  void add(size_t column, const SegmentTablet& form) {
    const bool is_first = first_.size() <= column;
    if (is_first) first_.push_back(form);
    differs_ |= !is_stored_alike(form, first_[column]);
    add_to_shape(form, is_first, shape_.columns[column], dictionaries_[column], shape_.unsupported);
  }

  // By column; none where the tablet would have to be pinned, and may not.
  std::vector<SegmentTablet> forms_of(size_t tablet) const {
    std::vector<SegmentTablet> forms;
    for (const size_t column : columns_) {
      if (device_rows_ != nullptr)
        forms.push_back(device_rows_->form(tablet, column));
      else if (const auto form = source_.stored_form(tablet, column))
        forms.push_back(tablet_of(*form));
    }
    if (forms.size() == columns_.size() || !may_pin_)
      return forms.size() == columns_.size() ? forms : std::vector<SegmentTablet>();
    forms.clear();
    const auto pinned = source_.pin(tablet, columns_);
    for (const ColumnView& view : pinned->views) forms.push_back(stored_form(view, pinned->rows));
    return forms;
  }

  const CursorInfo& cursor_;
  const TabletSource& source_;
  const DeviceRowSet* const device_rows_;  // null: it is no such source
  const std::vector<size_t> columns_;
  const bool may_pin_;
  SectionShape shape_;
  std::vector<const Dictionary*> dictionaries_;  // by column, as the next two
  std::vector<SegmentTablet> first_;
  bool differs_ = false;  // tablets are stored in several ways
};

}  // namespace

bool is_stored_alike(const SegmentTablet& a, const SegmentTablet& b) {
  return a.encoding == b.encoding && a.physical == b.physical && a.width == b.width && a.has_nulls == b.has_nulls &&
         (a.factor == 1) == (b.factor == 1) && a.dictionary == b.dictionary;
}

ColumnShape empty_shape(const TabletSource& source, size_t column) {
  ColumnShape shape;
  shape.column = column;
  shape.unit_factor = true;
  // Whether rows of a tablet were deleted is no part of the shape: the kernel stays when some are.
  shape.has_nulls = source.visibility_column() == column;
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

void add_source(const TabletSource& source, ColumnShape& shape) {
  // The tablets of another batch may have such strings as bytes: all batches make the same groups of them.
  if (shape.encoding != Encoding::Dictionary || source.common_dictionary(shape.column) != nullptr) return;
  shape.encoding = Encoding::Heap;
  shape.mixed = true;
}

void add_device(const Device& device, SectionShape& shape) {
  shape.most_dense_bytes = most_dense_bytes(device);
  shape.has_large_groups = device.info().api == DeviceApi::Cuda;
}

SectionShape find_source_shape(const Program& program, int32_t address, const TabletSource& source) {
  return *ShapeFinder(program, address, source, true).find(false);
}

std::optional<SectionShape> find_known_shape(const Program& program, int32_t address, const TabletSource& source,
                                             bool all_alike) {
  return ShapeFinder(program, address, source, false).find(all_alike);
}

}  // namespace diptych::gpu
