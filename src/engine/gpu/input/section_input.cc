#include "engine/gpu/input/section_input.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/error.h"
#include "engine/gpu/input/segment_loader.h"
#include "engine/gpu/input/source_shape.h"
#include "engine/gpu/rows/device_row_set.h"

namespace diptych::gpu {
namespace {

// Statements of other results divide an input in other ways.
constexpr size_t most_parts = 256;

// Of a change that is brought to a device before a statement asks for it: more would take the change long.
constexpr size_t most_followed = 4;

uint64_t next_range() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

std::vector<SegmentRange> InputLoader::all_ranges() const {
  // Pieces of a row set lie where they were made.
  const bool are_alone = rows_on(engine_.device(), source_) != nullptr;
  const auto place = residency_ == Residency::Cached ? ColumnSegment::Place::Device : ColumnSegment::Place::Pinned;
  const size_t count = source_.tablet_count();
  std::vector<SegmentRange> ranges;
  int64_t rows = 0;
  for (size_t first = 0; first < count; first += ranges.back().count) {
    const size_t size = are_alone ? 1 : std::min(tablets_of_segment(place, first, count), count - first);
    ranges.push_back({first, size, rows, std::vector<bool>(size, true)});
    rows += source_.rows_between(first, first + size);
  }
  return ranges;
}

std::shared_ptr<SectionInput> InputLoader::follow(const std::shared_ptr<SectionInput>& earlier) {
  std::vector<SegmentRange> ranges = all_ranges();
  size_t changed = 0;
  for (const SegmentRange& range : ranges)
    if (same_range(range, *earlier) == nullptr && ++changed > most_followed) return nullptr;
  std::shared_ptr<SectionInput> input = load(std::move(ranges), earlier);
  std::vector<int64_t> tiles;
  for (const auto& [tile_rows, descriptions] : input->earlier_descriptions) tiles.push_back(tile_rows);
  for (const int64_t tile_rows : tiles) describe(*input, tile_rows);
  return input;
}

std::shared_ptr<SectionInput> InputLoader::load(std::vector<SegmentRange> ranges,
                                                std::shared_ptr<SectionInput> earlier) {
  auto input = std::make_shared<SectionInput>();
  input->ranges.resize(ranges.size());
  if (earlier != nullptr) {
    for (size_t i = 0; i < ranges.size(); ++i) input->ranges[i] = same_range(ranges[i], *earlier);
    input->learn_from(*earlier);
    // Its other segments may have to give way.
    earlier.reset();
  }
  std::vector<std::shared_ptr<InputRange>> brought;
  try {
    for (size_t i = 0; i < ranges.size(); ++i)
      if (input->ranges[i] == nullptr) input->ranges[i] = brought.emplace_back(bring_range(std::move(ranges[i])));
    note_arriving(*input);
    if (residency_ == Residency::Streamed) copy_needed(*input, brought);
    find_shape(*input);
    count_rows(*input);
  } catch (...) {
    queue_.synchronize();  // copies into what is freed now may be under way
    throw;
  }
  return input;
}

std::shared_ptr<const InputRange> InputLoader::same_range(const SegmentRange& range,
                                                          const SectionInput& earlier) const {
  const auto found =
      std::ranges::lower_bound(earlier.ranges, range.first, {}, [](const auto& other) { return other->tablets.first; });
  if (found == earlier.ranges.end() || (*found)->tablets != range || (*found)->ids.empty()) return nullptr;
  for (size_t i = 0; i < columns_.size(); ++i)
    if (source_.column_ids(range.first, range.count, columns_[i]) != (*found)->ids[i]) return nullptr;
  return *found;
}

std::shared_ptr<SectionInput> InputLoader::part_of(SectionInput& whole, const TabletRun& run) {
  std::lock_guard guard(whole.mutex);
  if (whole.parts.size() >= most_parts) whole.parts.clear();
  std::shared_ptr<SectionInput>& kept = whole.parts[{run.first, run.end}];
  if (kept) return kept;
  auto part = std::make_shared<SectionInput>();
  for (size_t i = 0; i < whole.ranges.size(); ++i) {
    const SegmentRange& all = whole.ranges[i]->tablets;
    if (all.first >= run.end || all.first + all.count <= run.first) continue;
    auto range = std::make_shared<InputRange>(*whole.ranges[i]);
    range->number = next_range();
    for (size_t t = 0; t < all.count; ++t) {
      if (all.first + t < run.first || all.first + t >= run.end) range->tablets.needed[t] = false;
    }
    part->ranges.push_back(std::move(range));
  }
  part->shape = whole.shape;
  part->dictionaries = whole.dictionaries;
  part->arriving = whole.arriving;
  count_rows(*part);
  return kept = part;
}

std::shared_ptr<InputRange> InputLoader::bring_range(SegmentRange tablets) {
  auto range = std::make_shared<InputRange>();
  range->number = next_range();
  range->tablets = std::move(tablets);
  const auto& [first, count, rows_before, needed] = range->tablets;
  const bool has_ids = source_.tablet_id(first) != 0;
  for (const size_t column : columns_) {
    if (has_ids) range->ids.push_back(source_.column_ids(first, count, column));
    const ColumnSegment& segment = *range->segments.emplace_back(bring_column(range->tablets, column));
    std::vector<SegmentTablet>& stored = range->stored.emplace_back();
    for (size_t t = 0; t < count; ++t) {
      const SegmentTablet& tablet = segment.tablets()[t];
      const auto is_alike = [&](const SegmentTablet& other) { return is_stored_alike(tablet, other); };
      if (needed[t] && std::ranges::none_of(stored, is_alike)) stored.push_back(tablet);
    }
  }
  return range;
}

std::shared_ptr<const ColumnSegment> InputLoader::bring_column(const SegmentRange& range, size_t column) {
  if (const DeviceRowSet* rows = rows_on(engine_.device(), source_)) return rows->segment(range.first, column);
  switch (residency_) {
    case Residency::Cached: return engine_.device_columns().get(source_, range.first, range.count, column, queue_);
    case Residency::Serial: return load_alone(range, column);
    default: return engine_.pinned_columns().get(source_, range.first, range.count, column, queue_);
  }
}

std::shared_ptr<const ColumnSegment> InputLoader::load_alone(const SegmentRange& range, size_t column) {
  Device& device = engine_.device();
  SegmentLoader loader(source_, range.first, range.count, column, ColumnSegment::Place::Device);
  const int64_t bytes = std::max(loader.bytes(), device_alignment);
  return loader.load(std::make_shared<SegmentMemory>(device.allocate(bytes, "columns of a batch")), device, queue_);
}

// Copies pinned segments, each from its first needed tablet to its last, one behind the other: many pieces of different
// sizes would leave gaps in the device's memory.
void InputLoader::copy_needed(SectionInput& input, const std::vector<std::shared_ptr<InputRange>>& ranges) {
  const auto bytes_before = [](const InputRange& range, size_t column) {
    const std::vector<bool>& needed = range.tablets.needed;
    const auto first = std::find(needed.begin(), needed.end(), true) - needed.begin();
    return range.segments[column]->part(static_cast<size_t>(first)).start;
  };
  const auto bytes_until = [](const InputRange& range, size_t column) {
    const std::vector<bool>& needed = range.tablets.needed;
    const auto last = needed.rend() - std::find(needed.rbegin(), needed.rend(), true) - 1;
    const ColumnSegment::Part& part = range.segments[column]->part(static_cast<size_t>(last));
    return part.start + part.bytes;
  };
  int64_t bytes = 0;
  for (const auto& range : ranges)
    for (size_t i = 0; i < columns_.size(); ++i) bytes += padded(bytes_until(*range, i) - bytes_before(*range, i));
  if (bytes == 0) return;
  input.copies = engine_.device().allocate(bytes, "streamed columns");
  DeviceAddress to = input.copies.address();
  for (const auto& range : ranges) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const int64_t from = bytes_before(*range, i), part = bytes_until(*range, i) - from;
      if (part > 0) queue_.copy_to_device(to, range->segments[i]->host_data() + from, part);
      range->copies.push_back(to + -from);
      to = to + padded(part);
    }
  }
}

// Also those that another state of the table has brought may still be under way.
void InputLoader::note_arriving(SectionInput& input) {
  for (const auto& range : input.ranges)
    for (const auto& segment : range->segments)
      if (segment->may_be_under_way()) input.arriving.push_back(segment);
}

// What all needed tablets have in common.
void InputLoader::find_shape(SectionInput& input) const {
  input.dictionaries.assign(columns_.size(), nullptr);
  add_device(engine_.device(), input.shape);
  for (size_t i = 0; i < columns_.size(); ++i) {
    ColumnShape shape = empty_shape(source_, columns_[i]);
    bool first = true;
    for (const auto& range : input.ranges)
      for (const SegmentTablet& tablet : range->stored[i])
        add_to_shape(tablet, std::exchange(first, false), shape, input.dictionaries[i], input.shape.unsupported);
    add_source(source_, shape);
    input.shape.columns.push_back(shape);
  }
}

// Groups that are needed as a whole are asked, and not each of their tablets.
void InputLoader::count_rows(SectionInput& input) const {
  std::vector<bool> needed(source_.tablet_count());
  for (const auto& range : input.ranges) {
    const auto& [first, count, rows_before, needed_there] = range->tablets;
    std::copy(needed_there.begin(), needed_there.end(), needed.begin() + static_cast<ptrdiff_t>(first));
  }
  for (size_t number = 0; number < source_.group_count(); ++number) {
    const TabletGroup group = source_.group(number);
    const auto first = needed.begin() + static_cast<ptrdiff_t>(group.first);
    const auto end = first + static_cast<ptrdiff_t>(group.count);
    if (std::find(first, end, false) == end) {
      input.rows += group.rows;
      for (size_t column : columns_) input.bytes += source_.group_summary(number, column).bytes;
      continue;
    }
    for (size_t tablet = group.first; tablet < group.first + group.count; ++tablet) {
      if (!needed[tablet]) continue;
      input.rows += source_.rows_in(tablet);
      for (size_t column : columns_) input.bytes += source_.encoded_bytes(tablet, column);
    }
  }
}

std::shared_ptr<TabletDescriptions> InputLoader::describe(SectionInput& input, int64_t tile_rows) {
  std::shared_ptr<TabletDescriptions> earlier;
  {
    std::lock_guard guard(input.mutex);
    if (const auto kept = input.descriptions.find(tile_rows); kept != input.descriptions.end()) {
      kept->second->arrival->wait_in(queue_);
      return kept->second;
    }
    if (const auto node = input.earlier_descriptions.extract(tile_rows)) earlier = node.mapped();
  }
  TabletDescriber describer(source_, tile_rows, columns_.size());
  describer.add_ranges(input.ranges, earlier);
  const bool stays = residency_ == Residency::Cached || residency_ == Residency::Mapped;
  std::shared_ptr<TabletDescriptions> made = describer.send(engine_.device(), queue_, stays);
  // Two may make the same, and each uses its own.
  std::lock_guard guard(input.mutex);
  input.descriptions.try_emplace(tile_rows, made);
  return made;
}

}  // namespace diptych::gpu
