#include "engine/gpu/input/segment_loader.h"

#include <algorithm>
#include <cstring>
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

// So much goes without waiting, and so often until all is waited for: pinned memory is short.
constexpr int64_t few_bytes = int64_t{1} << 20;
constexpr size_t most_held = 256;

// Memories that parts of a segment lie in, beside its own.
constexpr size_t most_shared = 7;

// Whether what is there should be shared: in few memories, half of which at least is of use.
bool are_shared(const std::vector<SegmentPart>& there) {
  std::vector<const SegmentMemory*> memories;
  int64_t held = 0, used = 0;
  for (const SegmentPart& part : there) {
    if (part.segment == nullptr) continue;
    const SegmentMemory* memory = part.segment->memory_of(part.tablet).get();
    used += part.segment->part(part.tablet).bytes;
    if (memory == nullptr || std::ranges::find(memories, memory) != memories.end()) continue;
    memories.push_back(memory);
    held += memory->bytes();
  }
  return memories.size() <= most_shared && held <= 2 * used;
}

}  // namespace

SegmentLoader::SegmentLoader(const TabletSource& source, size_t first, size_t count, size_t column, Place place,
                             const std::vector<SegmentPart>& there)
    : segment_(std::make_shared<ColumnSegment>()) {
  segment_->place_ = place;
  segment_->memories_.emplace_back();
  const bool shares = place == Place::Device && are_shared(there);
  for (size_t i = 0; i < count; ++i) {
    if (i < there.size() && there[i].segment != nullptr) {
      shares ? share_part(there[i]) : move_part(there[i]);
      continue;
    }
    pins_.push_back(source.pin(first + i, std::span(&column, 1)));
    add_column(pins_.back()->views[0], pins_.back()->rows);
  }
}

void SegmentLoader::add(const SegmentTablet& tablet, ColumnSegment::Part part) {
  segment_->tablets_.push_back(tablet);
  segment_->parts_.push_back(part);
  segment_->bytes_ += part.bytes;
}

void SegmentLoader::share_part(const SegmentPart& part) {
  const SegmentTablet& tablet = part.segment->tablets()[part.tablet];
  const std::shared_ptr<SegmentMemory>& memory = part.segment->memory_of(part.tablet);
  ColumnSegment::Part shared = part.segment->part(part.tablet);
  if (shared.bytes == 0) return add(tablet, {});
  std::vector<std::shared_ptr<SegmentMemory>>& memories = segment_->memories_;
  const auto known = std::find(memories.begin() + 1, memories.end(), memory);
  shared.memory = static_cast<size_t>(known - memories.begin());
  if (known == memories.end()) memories.push_back(memory);
  add(tablet, shared);
}

void SegmentLoader::move_part(const SegmentPart& part) {
  const SegmentTablet& tablet = part.segment->tablets()[part.tablet];
  const auto& [number, from, bytes] = part.segment->part(part.tablet);
  const std::shared_ptr<SegmentMemory>& memory = part.segment->memory_of(part.tablet);
  const int64_t offset = std::exchange(bytes_, bytes_ + bytes);
  Move* last = moves_.empty() ? nullptr : &moves_.back();
  if (last != nullptr && last->memory == memory && last->from + last->bytes == from &&
      last->offset + last->bytes == offset)
    last->bytes += bytes;
  else if (bytes > 0)
    moves_.push_back({offset, memory, from, bytes});
  add(tablet, {0, offset, bytes});
}

void SegmentLoader::add_column(const ColumnView& view, int64_t rows) {
  SegmentTablet tablet = stored_form(view, rows);
  const int64_t start = bytes_;
  const auto take = [&](const void* from, int64_t bytes) {
    if (bytes > 0) areas_.push_back({bytes_, static_cast<const std::byte*>(from), bytes});
    return std::exchange(bytes_, bytes_ + padded(bytes)) - start;
  };
  switch (view.encoding) {
    case Encoding::Heap:
      tablet.data = take(view.offsets, (rows + 1) * 4);
      tablet.heap = take(view.heap, view.offsets[rows]);
      break;
    case Encoding::Plain: tablet.data = take(view.data, rows * tablet.width); break;
    default:
      if (view.width > 0) tablet.data = take(view.data, rows * view.width);
  }
  if (view.validity != nullptr) tablet.validity = take(view.validity, (rows + 7) / 8);
  if (stretches_.empty() || stretches_.back().offset + stretches_.back().bytes != start)
    stretches_.push_back({start, 0});
  stretches_.back().bytes += bytes_ - start;
  add(tablet, {0, start, bytes_ - start});
}

std::shared_ptr<const ColumnSegment> SegmentLoader::load(std::shared_ptr<SegmentMemory> to, Device& device,
                                                         Queue& queue) {
  if (to == nullptr) return segment_;
  SegmentMemory& memory = *(segment_->memories_.front() = std::move(to));
  if (queue.held() >= most_held) queue.synchronize();
  queue.hold(segment_);
  for (const Move& move : moves_) {
    queue.hold(move.memory);
    if (move.memory->arrival) move.memory->arrival->wait_in(queue);
    queue.copy_on_device(memory.address() + move.offset, move.memory->address() + move.from, move.bytes);
  }
  if (device.info().is_host)
    copy_areas(queue);
  else
    copy_staged(device, queue);
  if (!queue.is_idle()) memory.arrival.emplace(queue);
  return segment_;
}

std::shared_ptr<const ColumnSegment> SegmentLoader::load_pinned(std::shared_ptr<SegmentMemory> to) {
  segment_->memories_.front() = std::move(to);
  std::byte* start = segment_->memories_.front()->host_data();
  for (const Move& move : moves_)
    std::memcpy(start + move.offset, move.memory->host_data() + move.from, static_cast<size_t>(move.bytes));
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
  const DeviceAddress start = segment_->memories_.front()->address();
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
  queue.synchronize();
}

void SegmentLoader::copy_staged(Device& device, Queue& queue) const {
  int64_t longest = 0, all = 0;
  for (const Stretch& stretch : stretches_) {
    longest = std::max(longest, stretch.bytes);
    all += stretch.bytes;
  }
  if (all == 0) return;
  constexpr const char* what = "columns on their way";
  Staging staging;
  try {
    if (all <= few_bytes) return copy_few(device.allocate_pinned(all, what), queue);
    for (PinnedBuffer& piece : staging.pieces) piece = device.allocate_pinned(std::min(longest, piece_bytes), what);
  } catch (const Error& error) {
    if (error.state() != SqlState::out_of_memory) throw;
    return copy_areas(queue);
  }
  const WhenDone when_done{queue};
  for (const Stretch& stretch : stretches_) copy_pieces(stretch, staging, queue);
  queue.synchronize();
}

void SegmentLoader::copy_few(PinnedBuffer through, Queue& queue) const {
  const auto piece = std::make_shared<const PinnedBuffer>(std::move(through));
  queue.hold(piece);
  std::byte* part = piece->data();
  for (const Stretch& stretch : stretches_) {
    read(part, stretch.offset, stretch.offset + stretch.bytes);
    queue.copy_to_device(segment_->memories_.front()->address() + stretch.offset, part, stretch.bytes);
    part += stretch.bytes;
  }
}

// A piece is read while the one before is copied, and queued when that is done: then its memory is free for the next.
// The first one need not wait.
void SegmentLoader::copy_pieces(const Stretch& stretch, Staging& staging, Queue& queue) const {
  const int64_t end = stretch.offset + stretch.bytes;
  for (int64_t at = stretch.offset; at < end; at += piece_bytes) {
    const int64_t bytes = std::min(end - at, piece_bytes);
    const PinnedBuffer& piece = staging.pieces[staging.pieces_read++ % 2];
    read_together(piece.data(), at, at + bytes);
    if (staging.pieces_read > 1) queue.synchronize();
    queue.copy_to_device(segment_->memories_.front()->address() + at, piece.data(), bytes);
  }
}

}  // namespace diptych::gpu
