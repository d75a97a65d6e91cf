#include "engine/gpu/input/section_input.h"

#include <algorithm>

#include "base/error.h"
#include "engine/gpu/input/segment_loader.h"
#include "engine/gpu/input/source_shape.h"
#include "engine/gpu/rows/device_row_set.h"

namespace diptych::gpu {
namespace {

// Statements of other results divide an input in other ways.
constexpr size_t most_parts = 256;

}  // namespace

std::shared_ptr<SectionInput> InputLoader::load(std::vector<SegmentRange> ranges) {
  auto input = std::make_shared<SectionInput>();
  input->ranges = std::move(ranges);
  try {
    for (const SegmentRange& range : input->ranges) {
      input->segments.emplace_back();
      input->addresses.emplace_back();
      for (size_t column : columns_) bring_column(*input, range, column);
    }
    if (residency_ == Residency::Streamed) copy_needed(*input);
    find_shape(*input);
    count_rows(*input);
  } catch (...) {
    queue_.synchronize();  // copies into what is freed now may be under way
    throw;
  }
  return input;
}

std::shared_ptr<SectionInput> InputLoader::part_of(SectionInput& whole, const TabletRun& run) {
  std::lock_guard guard(whole.mutex);
  if (whole.parts.size() >= most_parts) whole.parts.clear();
  std::shared_ptr<SectionInput>& kept = whole.parts[{run.first, run.end}];
  if (kept) return kept;
  auto part = std::make_shared<SectionInput>();
  for (size_t i = 0; i < whole.ranges.size(); ++i) {
    SegmentRange range = whole.ranges[i];
    if (range.first >= run.end || range.first + range.count <= run.first) continue;
    for (size_t t = 0; t < range.count; ++t) {
      if (range.first + t < run.first || range.first + t >= run.end) range.needed[t] = false;
    }
    part->ranges.push_back(std::move(range));
    part->segments.push_back(whole.segments[i]);
    part->addresses.push_back(whole.addresses[i]);
  }
  part->shape = whole.shape;
  part->dictionaries = whole.dictionaries;
  count_rows(*part);
  return kept = part;
}

void InputLoader::bring_column(SectionInput& input, const SegmentRange& range, size_t column) {
  const TabletSource& source = *task_.source;
  std::shared_ptr<const ColumnSegment> segment;
  if (const DeviceRowSet* rows = rows_on(engine_.device(), source)) {
    segment = rows->segment(range.first, column);
    input.addresses.back().push_back(segment->address());
    return input.segments.back().push_back(std::move(segment));
  }
  switch (residency_) {
    case Residency::Cached:
      segment = engine_.device_columns().get(source, range.first, range.count, column, queue_);
      break;
    case Residency::Serial: segment = load_alone(range, column); break;
    default: segment = engine_.pinned_columns().get(source, range.first, range.count, column, queue_);
  }
  input.addresses.back().push_back(segment->address());
  input.segments.back().push_back(std::move(segment));
}

std::shared_ptr<const ColumnSegment> InputLoader::load_alone(const SegmentRange& range, size_t column) {
  SegmentLoader loader(*task_.source, range.first, range.count, column);
  return loader.load(engine_.device().allocate(std::max(loader.bytes(), device_alignment), "columns of a batch"),
                     engine_.device(), queue_);
}

// Copies pinned segments, each from its first needed tablet to its last, one behind the other: many pieces of different
// sizes would leave gaps in the device's memory. Their addresses become those where they would start if they were there
// as a whole.
void InputLoader::copy_needed(SectionInput& input) {
  const auto bytes_before = [](const SegmentRange& range, const ColumnSegment& segment) {
    const auto first = std::find(range.needed.begin(), range.needed.end(), true) - range.needed.begin();
    return segment.start_of(static_cast<size_t>(first));
  };
  const auto bytes_until = [](const SegmentRange& range, const ColumnSegment& segment) {
    const auto end = range.needed.rend() - std::find(range.needed.rbegin(), range.needed.rend(), true);
    return segment.start_of(static_cast<size_t>(end));
  };
  int64_t bytes = 0;
  for (size_t range = 0; range < input.ranges.size(); ++range)
    for (const auto& segment : input.segments[range])
      bytes += padded(bytes_until(input.ranges[range], *segment) - bytes_before(input.ranges[range], *segment));
  if (bytes == 0) return;
  input.copies = engine_.device().allocate(bytes, "streamed columns");
  DeviceAddress to = input.copies.address();
  for (size_t range = 0; range < input.ranges.size(); ++range) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const ColumnSegment& segment = *input.segments[range][i];
      const int64_t from = bytes_before(input.ranges[range], segment),
                    part = bytes_until(input.ranges[range], segment) - from;
      if (part > 0) queue_.copy_to_device(to, segment.host_data() + from, part);
      input.addresses[range][i] = to + -from;
      to = to + padded(part);
    }
  }
}

// What all needed tablets have in common.
void InputLoader::find_shape(SectionInput& input) const {
  input.dictionaries.assign(columns_.size(), nullptr);
  add_device(engine_.device(), input.shape);
  for (size_t i = 0; i < columns_.size(); ++i) {
    ColumnShape shape = empty_shape(*task_.source, columns_[i]);
    bool first = true;
    for (size_t range = 0; range < input.ranges.size(); ++range) {
      const auto& tablets = input.segments[range][i]->tablets();
      for (size_t t = 0; t < tablets.size(); ++t) {
        if (!input.ranges[range].needed[t]) continue;
        add_to_shape(tablets[t], first, shape, input.dictionaries[i], input.shape.unsupported);
        first = false;
      }
    }
    add_source(*task_.source, shape);
    input.shape.columns.push_back(shape);
  }
}

// Groups that are needed as a whole are asked, and not each of their tablets.
void InputLoader::count_rows(SectionInput& input) const {
  const TabletSource& source = *task_.source;
  std::vector<bool> needed(source.tablet_count());
  for (const SegmentRange& range : input.ranges)
    std::copy(range.needed.begin(), range.needed.end(), needed.begin() + static_cast<ptrdiff_t>(range.first));
  for (size_t number = 0; number < source.group_count(); ++number) {
    const TabletGroup group = source.group(number);
    const auto first = needed.begin() + static_cast<ptrdiff_t>(group.first);
    const auto end = first + static_cast<ptrdiff_t>(group.count);
    if (std::find(first, end, false) == end) {
      input.rows += group.rows;
      for (size_t column : columns_) input.bytes += source.group_summary(number, column).bytes;
      continue;
    }
    for (size_t tablet = group.first; tablet < group.first + group.count; ++tablet) {
      if (!needed[tablet]) continue;
      input.rows += source.rows_in(tablet);
      for (size_t column : columns_) input.bytes += source.encoded_bytes(tablet, column);
    }
  }
}

int64_t InputLoader::rows_of(const SectionInput& input, size_t range, size_t tablet) const {
  if (!columns_.empty()) return input.segments[range][0]->tablets()[tablet].rows;
  return task_.source->rows_in(input.ranges[range].first + tablet);
}

std::shared_ptr<TabletDescriptions> InputLoader::describe(SectionInput& input, int64_t tile_rows) {
  {
    std::lock_guard guard(input.mutex);
    if (const auto kept = input.descriptions.find(tile_rows); kept != input.descriptions.end()) return kept->second;
  }
  auto made = std::make_shared<TabletDescriptions>();
  std::vector<uint64_t> words;
  size_t tablets = 0;
  for (const SegmentRange& range : input.ranges) tablets += range.count;
  words.reserve(tablets * (4 + 6 * columns_.size()));
  int64_t usual = -1, rows_described = 0;
  bool differs = false;
  for (size_t range = 0; range < input.ranges.size(); ++range) {
    int64_t before = input.ranges[range].rows_before;
    for (size_t t = 0; t < input.ranges[range].count; ++t) {
      const int64_t rows = rows_of(input, range, t);
      const auto row = static_cast<uint64_t>(before);
      before += rows;
      if (!input.ranges[range].needed[t] || rows == 0) continue;
      const int64_t tiles = (rows + tile_rows - 1) / tile_rows;
      // All but the last tablet have to agree; the last may have fewer.
      if (usual >= 0 && (made->tiles != made->tablets * usual || tiles > usual)) differs = true;
      if (usual < 0) usual = tiles;
      words.insert(words.end(), {static_cast<uint64_t>(rows), static_cast<uint64_t>(made->tiles), row,
                                 static_cast<uint64_t>(rows_described)});
      rows_described += rows;
      for (size_t i = 0; i < columns_.size(); ++i) {
        const SegmentTablet& tablet = input.segments[range][i]->tablets()[t];
        const uint64_t start = input.addresses[range][i].value;
        const auto at = [&](int64_t offset) { return offset < 0 ? 0 : start + static_cast<uint64_t>(offset); };
        words.insert(words.end(),
                     {at(tablet.data), at(tablet.validity), static_cast<uint64_t>(tablet.base),
                      static_cast<uint64_t>(tablet.factor), static_cast<uint64_t>(tablet.width), at(tablet.heap)});
      }
      ++made->tablets;
      made->tiles += tiles;
    }
  }
  made->tiles_per_tablet = differs ? 0 : std::max<int64_t>(usual, 1);
  const auto bytes = static_cast<int64_t>(words.size() * sizeof(uint64_t));
  const bool stays = residency_ == Residency::Cached || residency_ == Residency::Mapped;
  constexpr const char* what = "descriptions of tablets";
  Device& device = engine_.device();
  made->buffer = stays ? device.allocate_to_stay(std::max<int64_t>(bytes, 8), what)
                       : device.allocate(std::max<int64_t>(bytes, 8), what);
  made->sent = send(device, queue_, made->buffer.address(), words.data(), bytes);
  // Another statement's queue may use them next, if they stay. The mutex is not held while the device is waited for:
  // two may make the same.
  if (stays) queue_.synchronize();
  std::lock_guard guard(input.mutex);
  return input.descriptions.try_emplace(tile_rows, std::move(made)).first->second;
}

}  // namespace diptych::gpu
