#include "engine/gpu/input/tablet_descriptions.h"

#include <algorithm>
#include <cstring>

#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {
namespace {

constexpr auto word_bytes = static_cast<int64_t>(sizeof(uint64_t));

}  // namespace

int64_t TabletDescriber::words_so_far() const {
  return described_.tablets * static_cast<int64_t>(tablet_words + columns_ * column_words);
}

void TabletDescriber::add_ranges(const std::vector<std::shared_ptr<const InputRange>>& ranges,
                                 const std::shared_ptr<const TabletDescriptions>& earlier) {
  for (const auto& range : ranges) {
    const size_t place = ranges_.size();
    TabletDescriptions::Range& added =
        ranges_.emplace_back(TabletDescriptions::Range{range->number, described_, described_});
    if (earlier != nullptr && place < earlier->ranges.size() && earlier->ranges[place].number == added.number &&
        earlier->ranges[place].before == added.before) {
      described_ = earlier->ranges[place].until;
      earlier_ = earlier;
    } else {
      add(*range);
    }
    added.until = described_;
  }
}

void TabletDescriber::add(const InputRange& range) {
  const int64_t at = words_so_far();
  if (changes_.empty() || changes_.back().at + static_cast<int64_t>(changes_.back().count) != at)
    changes_.push_back({at, words_.size(), 0});
  int64_t row = range.tablets.rows_before;
  for (size_t tablet = 0; tablet < range.tablets.count; ++tablet) {
    const int64_t rows = range.segments.empty() ? source_.rows_in(range.tablets.first + tablet)
                                                : range.segments[0]->tablets()[tablet].rows;
    if (range.tablets.needed[tablet] && rows > 0) add_tablet(range, tablet, row, rows);
    row += rows;
  }
  changes_.back().count = words_.size() - changes_.back().first;
}

void TabletDescriber::add_tablet(const InputRange& range, size_t tablet, int64_t row, int64_t rows) {
  const int64_t tiles = (rows + tile_rows_ - 1) / tile_rows_;
  // All but the last tablet have to agree; the last may have fewer.
  if (described_.usual_tiles < 0) described_.usual_tiles = tiles;
  if (described_.tiles != described_.tablets * described_.usual_tiles || tiles > described_.usual_tiles)
    described_.differs = true;
  words_.insert(words_.end(), {static_cast<uint64_t>(rows), static_cast<uint64_t>(described_.tiles),
                               static_cast<uint64_t>(row), static_cast<uint64_t>(described_.rows)});
  for (size_t column = 0; column < columns_; ++column) {
    const ColumnSegment& segment = *range.segments[column];
    const SegmentTablet& stored = segment.tablets()[tablet];
    const bool is_copied = !range.copies.empty();
    const uint64_t start =
        (is_copied ? range.copies[column] + segment.part(tablet).start : segment.address_of(tablet)).value;
    const auto at = [&](int64_t offset) { return offset < 0 ? 0 : start + static_cast<uint64_t>(offset); };
    words_.insert(words_.end(),
                  {at(stored.data), at(stored.validity), static_cast<uint64_t>(stored.base),
                   static_cast<uint64_t>(stored.factor), static_cast<uint64_t>(stored.width), at(stored.heap)});
  }
  ++described_.tablets;
  described_.tiles += tiles;
  described_.rows += rows;
}

std::shared_ptr<TabletDescriptions> TabletDescriber::send(Device& device, Queue& queue, bool stay) {
  constexpr const char* what = "descriptions of tablets";
  auto made = std::make_shared<TabletDescriptions>();
  made->ranges = std::move(ranges_);
  made->tablets = described_.tablets;
  made->tiles = described_.tiles;
  made->tiles_per_tablet = described_.differs ? 0 : std::max<int64_t>(described_.usual_tiles, 1);
  const int64_t bytes = std::max(words_so_far() * word_bytes, word_bytes);
  const auto sent_bytes = static_cast<int64_t>(words_.size()) * word_bytes;
  made->buffer = stay ? device.allocate_to_stay(bytes, what) : device.allocate(bytes, what);
  made->sent = device.allocate_pinned(std::max(sent_bytes, word_bytes), what);
  if (!words_.empty()) std::memcpy(made->sent.data(), words_.data(), static_cast<size_t>(sent_bytes));
  const DeviceAddress to = made->buffer.address();
  queue.hold(made);
  if (earlier_ != nullptr) {
    queue.hold(earlier_);
    earlier_->arrival->wait_in(queue);
    queue.copy_on_device(to, earlier_->buffer.address(), std::min(bytes, earlier_->buffer.bytes()));
  }
  for (const Words& change : changes_) {
    if (change.count == 0) continue;
    queue.copy_to_device(to + change.at * word_bytes,
                         made->sent.data() + static_cast<int64_t>(change.first) * word_bytes,
                         static_cast<int64_t>(change.count) * word_bytes);
  }
  made->arrival.emplace(queue);
  return made;
}

}  // namespace diptych::gpu
