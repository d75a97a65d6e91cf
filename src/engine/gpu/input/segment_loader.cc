#include "engine/gpu/input/segment_loader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/machine.h"
#include "engine/gpu/when_done.h"
#include "engine/run/parallel.h"

namespace diptych::gpu {
namespace {

static_assert(device_alignment >= 16 * 16, "kernels load up to 16 elements of 16 bytes, past the last one too");

// Pieces on their way through pinned memory: copies of 4 MB and more come near the speed of the bus, and a thread reads
// some 10 GB/s.
constexpr int64_t piece_bytes = int64_t{8} << 20;
constexpr int64_t thread_bytes = int64_t{1} << 20, most_threads = 6;

}  // namespace

SegmentLoader::SegmentLoader(const TabletSource& source, size_t first, size_t count, size_t column,
                             const std::vector<SegmentPart>& there)
    : segment_(std::make_shared<ColumnSegment>()) {
  for (size_t i = 0; i < count; ++i) {
    segment_->starts_.push_back(segment_->bytes_);
    if (i < there.size() && there[i].segment != nullptr) {
      segment_->tablets_.push_back(place_part(there[i]));
      continue;
    }
    pins_.push_back(source.pin(first + i, std::span(&column, 1)));
    segment_->tablets_.push_back(place_column(pins_.back()->views[0], pins_.back()->rows));
  }
}

SegmentTablet SegmentLoader::place_part(const SegmentPart& part) {
  const int64_t offset = segment_->bytes_, from = part.segment->start_of(part.tablet),
                bytes = part.segment->start_of(part.tablet + 1) - from;
  segment_->bytes_ += bytes;
  Move* last = moves_.empty() ? nullptr : &moves_.back();
  if (last != nullptr && last->segment == part.segment && last->next_tablet == part.tablet &&
      last->offset + last->bytes == offset) {
    last->bytes += bytes;
    ++last->next_tablet;
  } else {
    moves_.push_back({offset, part.segment, from, bytes, part.tablet + 1});
  }
  SegmentTablet tablet = part.segment->tablets()[part.tablet];
  for (int64_t* at : {&tablet.data, &tablet.validity, &tablet.heap})
    if (*at >= 0) *at += offset - from;
  return tablet;
}

SegmentTablet SegmentLoader::place_column(const ColumnView& view, int64_t rows) {
  SegmentTablet tablet = stored_form(view, rows);
  const int64_t start = segment_->bytes_;
  const auto add = [&](const void* from, int64_t bytes) {
    if (bytes > 0) areas_.push_back({segment_->bytes_, static_cast<const std::byte*>(from), bytes});
    return std::exchange(segment_->bytes_, segment_->bytes_ + padded(bytes));
  };
  switch (view.encoding) {
    case Encoding::Heap:
      tablet.data = add(view.offsets, (rows + 1) * 4);
      tablet.heap = add(view.heap, view.offsets[rows]);
      break;
    case Encoding::Plain: tablet.data = add(view.data, rows * tablet.width); break;
    default:
      if (view.width > 0) tablet.data = add(view.data, rows * view.width);
  }
  if (view.validity != nullptr) tablet.validity = add(view.validity, (rows + 7) / 8);
  if (stretches_.empty() || stretches_.back().offset + stretches_.back().bytes != start)
    stretches_.push_back({start, 0});
  stretches_.back().bytes += segment_->bytes_ - start;
  return tablet;
}

std::shared_ptr<const ColumnSegment> SegmentLoader::load(DeviceBuffer to, Device& device, Queue& queue) {
  segment_->place_ = ColumnSegment::Place::Device;
  segment_->device_ = std::move(to);
  const WhenDone when_done{queue};
  for (const Move& move : moves_)
    queue.copy_on_device(segment_->device_.address() + move.offset, move.segment->address() + move.from, move.bytes);
  if (device.info().is_host)
    copy_areas(queue);
  else
    copy_staged(device, queue);
  queue.synchronize();
  return segment_;
}

std::shared_ptr<const ColumnSegment> SegmentLoader::load(PinnedBuffer to) {
  segment_->place_ = ColumnSegment::Place::Pinned;
  segment_->pinned_ = std::move(to);
  std::byte* start = segment_->pinned_.data();
  for (const Move& move : moves_)
    std::memcpy(start + move.offset, move.segment->host_data() + move.from, static_cast<size_t>(move.bytes));
  for (const Stretch& stretch : stretches_)
    read_together(start + stretch.offset, stretch.offset, stretch.offset + stretch.bytes);
  return segment_;
}

void SegmentLoader::read(std::byte* to, int64_t begin, int64_t end) const {
  auto area = std::upper_bound(areas_.begin(), areas_.end(), begin,
                               [](int64_t at, const Area& other) { return at < other.offset; });
  if (area != areas_.begin()) --area;
  int64_t done = begin;
  for (; area != areas_.end() && area->offset < end; ++area) {
    const int64_t first = std::max(begin, area->offset), last = std::min(end, area->offset + area->bytes);
    if (first >= last) continue;
    std::memset(to + (done - begin), 0, static_cast<size_t>(first - done));
    std::memcpy(to + (first - begin), area->from + (first - area->offset), static_cast<size_t>(last - first));
    done = last;
  }
  std::memset(to + (done - begin), 0, static_cast<size_t>(end - done));
}

void SegmentLoader::read_together(std::byte* to, int64_t begin, int64_t end) const {
  const int64_t bytes = end - begin;
  const int64_t threads =
      std::clamp<int64_t>(bytes / thread_bytes, 1, std::min<int64_t>(most_threads, machine_threads()));
  if (threads == 1) return read(to, begin, end);
  const int64_t part = padded((bytes + threads - 1) / threads);
  run_parallel(static_cast<int>(threads), [&](int thread) {
    const int64_t from = std::min(bytes, part * thread), until = std::min(bytes, from + part);
    if (from < until) read(to + from, begin + from, begin + until);
  });
}

// From where they are. Areas that lie side by side on both sides are one copy.
void SegmentLoader::copy_areas(Queue& queue) const {
  const DeviceAddress start = segment_->device_.address();
  // Kernels load what is behind a column's end, too. All at once: a fill for every gap takes longer.
  for (const Stretch& stretch : stretches_) queue.fill(start + stretch.offset, 0, stretch.bytes);
  for (size_t i = 0; i < areas_.size();) {
    const Area& first = areas_[i];
    int64_t bytes = first.bytes;
    for (++i; i < areas_.size() && areas_[i].offset == first.offset + bytes && areas_[i].from == first.from + bytes;
         ++i)
      bytes += areas_[i].bytes;
    queue.copy_to_device(start + first.offset, first.from, bytes);
  }
}

void SegmentLoader::copy_staged(Device& device, Queue& queue) const {
  int64_t longest = 0;
  for (const Stretch& stretch : stretches_) longest = std::max(longest, stretch.bytes);
  if (longest == 0) return;
  std::optional<Staging> staging;
  try {
    staging.emplace();
    for (PinnedBuffer& piece : staging->pieces)
      piece = device.allocate_pinned(std::min(longest, piece_bytes), "columns on their way");
  } catch (const Error& error) {
    if (error.state() != SqlState::out_of_memory) throw;
    return copy_areas(queue);
  }
  const WhenDone when_done{queue};
  for (const Stretch& stretch : stretches_) copy_staged(stretch, *staging, queue);
}

// A piece is read while the one before is copied, and queued when that is done: then its memory is free for the next.
// The first one need not wait.
void SegmentLoader::copy_staged(const Stretch& stretch, Staging& staging, Queue& queue) const {
  const int64_t end = stretch.offset + stretch.bytes;
  for (int64_t at = stretch.offset; at < end; at += piece_bytes) {
    const int64_t bytes = std::min(end - at, piece_bytes);
    const PinnedBuffer& piece = staging.pieces[staging.pieces_read++ % 2];
    read_together(piece.data(), at, at + bytes);
    if (staging.pieces_read > 1) queue.synchronize();
    queue.copy_to_device(segment_->device_.address() + at, piece.data(), bytes);
  }
}

}  // namespace diptych::gpu
