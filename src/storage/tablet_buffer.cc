#include "storage/tablet_buffer.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace diptych {
namespace {

// Columns at most so far apart are read with one call: reading 64 KiB costs an NVMe disk less than another request.
constexpr uint64_t coalesce_gap = 64 << 10;

// A protected frame is stale when so many times the cache's size was loaded since its last use: a table of that many
// times the memory is scanned with the protected part in place.
constexpr int64_t stale_after = 4;

// Evicted frames that are remembered: 40 bytes each.
constexpr size_t most_evicted = 65536;

ByteRange aligned(ByteRange range) {
  uint64_t start = range.offset / AlignedBuffer::alignment * AlignedBuffer::alignment;
  return {start, range.end() - start};
}

int64_t file_offset(const StoredTablet& tablet) { return tablet.pages().first * page_bytes; }

[[noreturn]] void fail_corrupted(const DatabaseFile& file, const StoredTablet& tablet, const LoadContext& context,
                                 const std::string& place, const Error& problem) {
  throw Error(SqlState::data_corrupted, "database file \"" + file.path() + "\": table \"" + context.table +
                                            "\", tablet " + std::to_string(context.tablet) + ", " + place + ", page " +
                                            std::to_string(tablet.pages().first) + ": " + problem.message());
}

}  // namespace

// Bytes of neighbouring columns, read at once.
struct TabletBuffer::Source {
  ByteRange range;  // in the block
  PooledBuffer bytes;
  std::vector<size_t> columns;  // whose views may point into it

  std::span<const std::byte> part(ByteRange wanted) const {
    return {bytes.data() + (wanted.offset - range.offset), wanted.bytes};
  }
};

struct TabletBuffer::Frame {
  enum class State { Absent, Loading, Ready };
  enum class Place { Nowhere, Probation, Protected };

  Key key;
  State state = State::Absent;
  Place place = Place::Nowhere;
  int64_t pins = 0;
  bool seen_again = false;
  int64_t used_at = 0;               // the buffer's loaded_bytes_ when it was pinned last
  int64_t bytes = 0;                 // what dropping it gives back, about
  size_t position = 0;               // in probation_
  std::list<Frame*>::iterator link;  // in protected_
  LoadedColumn column;
  std::shared_ptr<Source> fixed_source, variable_source;  // what the view points into; shared with neighbours
  std::optional<MemoryReservation> reservation;           // of the column's own buffers
};

TabletBuffer::TabletBuffer(MemoryBudget& budget, std::shared_ptr<DatabaseFile> file)
    : budget_(budget), file_(std::move(file)), pool_(budget) {
  reclaimer_ = budget_.add_reclaimer([this](int64_t bytes) { return reclaim(bytes); });
}

TabletBuffer::~TabletBuffer() { budget_.remove_reclaimer(reclaimer_); }

std::vector<ColumnView> TabletBuffer::pin(const StoredTablet& tablet, std::span<const size_t> columns,
                                          const LoadContext& context) {
  {
    std::lock_guard guard(mutex_);
    for (size_t column : columns) {
      auto& frame = frames_[{tablet.id(), column}];
      if (!frame) {
        frame = std::make_unique<Frame>();
        frame->key = {tablet.id(), column};
      }
      if (frame->pins++ == 0 && frame->state == Frame::State::Ready) make_unevictable(*frame);
      ++(frame->state == Frame::State::Absent ? misses_ : hits_);
    }
  }
  for (;;) {
    std::vector<size_t> missing = claim_absent(tablet, columns);
    if (missing.empty()) break;
    try {
      load(tablet, missing, context);
    } catch (...) {
      {
        std::lock_guard guard(mutex_);
        for (size_t column : missing) {
          Frame& frame = *frames_.at({tablet.id(), column});
          if (frame.state == Frame::State::Loading) frame.state = Frame::State::Absent;
        }
      }
      loaded_.notify_all();
      unpin(tablet, columns);
      throw;
    }
  }
  std::vector<ColumnView> views;
  std::lock_guard guard(mutex_);
  for (size_t column : columns) views.push_back(frames_.at({tablet.id(), column})->column.view);
  return views;
}

// Columns that others load are waited for only when there is nothing to load: so nobody waits for one that waits for
// him.
std::vector<size_t> TabletBuffer::claim_absent(const StoredTablet& tablet, std::span<const size_t> columns) {
  std::unique_lock guard(mutex_);
  for (;;) {
    std::vector<size_t> missing;
    bool is_loading = false;
    for (size_t column : columns) {
      Frame& frame = *frames_.at({tablet.id(), column});
      if (frame.state == Frame::State::Absent) {
        frame.state = Frame::State::Loading;
        missing.push_back(column);
      } else if (frame.state == Frame::State::Loading) {
        is_loading = true;
      }
    }
    if (!missing.empty() || !is_loading) return missing;
    loaded_.wait(guard);
  }
}

void TabletBuffer::load(const StoredTablet& tablet, std::span<const size_t> missing, const LoadContext& context) {
  std::vector<std::shared_ptr<Source>> sources;
  for (ByteRange range : column_extents(tablet.meta(), missing, coalesce_gap)) sources.push_back(read(tablet, range));
  auto find = [&](ByteRange range) -> std::shared_ptr<Source> {
    if (range.bytes == 0) return nullptr;
    auto source = std::find_if(sources.begin(), sources.end(), [&](const auto& candidate) {
      return candidate->range.offset <= range.offset && range.end() <= candidate->range.end();
    });
    check_invariant(source != sources.end(), "the extents of columns cover their areas");
    return *source;
  };
  for (size_t column : missing) {
    const ColumnMeta& meta = tablet.meta().columns[column];
    Frame loaded;
    loaded.fixed_source = find(meta.fixed());
    loaded.variable_source = find(meta.variable());
    decode(tablet, column, context, loaded);
    std::lock_guard guard(mutex_);
    Frame& frame = *frames_.at({tablet.id(), column});
    frame.bytes = loaded.bytes;
    frame.column = std::move(loaded.column);
    frame.fixed_source = std::move(loaded.fixed_source);
    frame.variable_source = std::move(loaded.variable_source);
    frame.reservation.emplace(std::move(*loaded.reservation));
    if (frame.fixed_source) frame.fixed_source->columns.push_back(column);
    cached_bytes_ += frame.bytes;
    loaded_bytes_ += frame.bytes;
    frame.used_at = loaded_bytes_;
    frame.seen_again = was_here_lately(frame.key);
    frame.state = Frame::State::Ready;
  }
  loaded_.notify_all();
}

// Makes the column of a frame out of its sources, and gives up those that its view does not need.
void TabletBuffer::decode(const StoredTablet& tablet, size_t column, const LoadContext& context, Frame& frame) {
  const ColumnMeta& meta = tablet.meta().columns[column];
  std::span<const std::byte> fixed, variable;
  if (frame.fixed_source) fixed = frame.fixed_source->part(meta.fixed());
  if (frame.variable_source) variable = frame.variable_source->part(meta.variable());
  frame.reservation.emplace(budget_, "tablet buffer");
  frame.reservation->grow(meta.loaded_bytes(tablet.rows()));
  try {
    frame.column = load_column(meta, tablet.rows(), fixed, variable, context.dictionaries[column]);
  } catch (const Error& error) {
    if (error.state() != SqlState::data_corrupted) throw;
    fail_corrupted(*file_, tablet, context, "column " + std::to_string(column), error);
  }
  const LoadedColumn& loaded = frame.column;
  frame.bytes = static_cast<int64_t>(loaded.data.capacity() + loaded.validity.capacity() + loaded.offsets.capacity() +
                                     loaded.heap.capacity());
  frame.reservation->shrink(std::max<int64_t>(0, frame.reservation->bytes() - frame.bytes));
  if (loaded.views_source) {
    frame.bytes += static_cast<int64_t>(fixed.size() + variable.size());
  } else {
    frame.fixed_source.reset();
    frame.variable_source.reset();
  }
}

std::shared_ptr<TabletBuffer::Source> TabletBuffer::read(const StoredTablet& tablet, ByteRange range) {
  range = aligned(range);
  // Vector loads may look up to 64 bytes past the end of a column.
  auto source = std::make_shared<Source>(Source{range, allocate(range.bytes + AlignedBuffer::alignment), {}});
  file_->read_at(file_offset(tablet) + static_cast<int64_t>(range.offset), {source->bytes.data(), range.bytes});
  std::fill_n(source->bytes.data() + range.bytes, AlignedBuffer::alignment, std::byte{0});
  return source;
}

// When the budget is used up, evicted frames leave blocks of the sizes that a scan goes on asking for: taking those
// over spares unmapping them and mapping new ones.
PooledBuffer TabletBuffer::allocate(size_t bytes) {
  for (int attempt = 0; attempt < 4; ++attempt) {
    if (auto buffer = pool_.try_allocate(bytes)) return std::move(*buffer);
    int64_t released = 0;
    if (evict(static_cast<int64_t>(BlockPool::block_bytes(bytes)), released) == 0) break;
  }
  return pool_.allocate(bytes, "tablet buffer");
}

void TabletBuffer::unpin(const StoredTablet& tablet, std::span<const size_t> columns) noexcept {
  std::lock_guard guard(mutex_);
  for (size_t column : columns) {
    auto entry = frames_.find({tablet.id(), column});
    Frame& frame = *entry->second;
    if (--frame.pins > 0) continue;
    if (frame.state == Frame::State::Ready) {
      make_evictable(frame);
    } else {
      frames_.erase(entry);
    }
  }
}

void TabletBuffer::make_evictable(Frame& frame) {
  if (frame.seen_again) frame.seen_again = make_room_in_protected(frame.bytes);
  if (frame.seen_again) {
    frame.place = Frame::Place::Protected;
    frame.link = protected_.insert(protected_.end(), &frame);
    protected_bytes_ += frame.bytes;
  } else {
    frame.place = Frame::Place::Probation;
    frame.position = probation_.size();
    probation_.push_back(&frame);
  }
}

bool TabletBuffer::was_here_lately(const Key& key) {
  auto entry = evicted_.find(key);
  if (entry == evicted_.end()) return false;
  bool is_late = loaded_bytes_ - entry->second <= stale_after * cached_bytes_;
  evicted_.erase(entry);
  return is_late;
}

// Frames that have not been used for long go on probation; those in use stay, even if the newcomer has to wait: in a
// repeated scan the least recently used frame is the very next to be used.
bool TabletBuffer::make_room_in_protected(int64_t bytes) {
  while (protected_bytes_ + bytes > cached_bytes_ / 4 * 3) {
    if (protected_.empty()) return true;
    Frame& oldest = *protected_.front();
    if (loaded_bytes_ - oldest.used_at <= stale_after * cached_bytes_) return false;
    make_unevictable(oldest);
    oldest.seen_again = false;
    make_evictable(oldest);
  }
  return true;
}

void TabletBuffer::make_unevictable(Frame& frame) {
  if (frame.place == Frame::Place::Probation) {
    probation_[frame.position] = probation_.back();
    probation_[frame.position]->position = frame.position;
    probation_.pop_back();
  } else if (frame.place == Frame::Place::Protected) {
    protected_.erase(frame.link);
    protected_bytes_ -= frame.bytes;
  }
  frame.place = Frame::Place::Nowhere;
  // Several pins in a row are one scan that comes back for the next rows of the tablet, not a second use.
  if (loaded_bytes_ - frame.used_at > cached_bytes_ / 8) frame.seen_again = true;
  frame.used_at = loaded_bytes_;
}

TabletBuffer::Frame* TabletBuffer::choose_victim() {
  if (!probation_.empty()) return probation_[random_() % probation_.size()];
  return protected_.empty() ? nullptr : protected_.front();
}

int64_t TabletBuffer::evict(int64_t bytes, int64_t& released) {
  // Destroyed after the lock is given up: unmapping is slow.
  std::vector<std::unique_ptr<Frame>> dropped;
  int64_t dropped_bytes = 0;
  std::lock_guard guard(mutex_);
  while (dropped_bytes < bytes) {
    Frame* victim = choose_victim();
    if (!victim) break;
    Key key = victim->key;
    auto source = victim->fixed_source;
    dropped_bytes += drop(frames_.find(key), released, dropped);
    // What was read with it holds the same block: only together do they free it.
    for (size_t column : source ? std::span<const size_t>(source->columns) : std::span<const size_t>()) {
      auto entry = frames_.find({key.tablet, column});
      if (entry == frames_.end() || entry->second->place != Frame::Place::Probation) continue;
      if (entry->second->fixed_source == source) dropped_bytes += drop(entry, released, dropped);
    }
  }
  return dropped_bytes;
}

int64_t TabletBuffer::drop(Frames::iterator entry, int64_t& released, std::vector<std::unique_ptr<Frame>>& dropped) {
  Frame& frame = *entry->second;
  make_unevictable(frame);
  cached_bytes_ -= frame.bytes;
  released += frame.reservation->bytes();
  if (evicted_.size() >= most_evicted) evicted_.clear();
  evicted_[frame.key] = loaded_bytes_;
  dropped.push_back(std::move(entry->second));
  frames_.erase(entry);
  return frame.bytes;
}

int64_t TabletBuffer::reclaim(int64_t bytes) {
  int64_t given = 0;
  while (given < bytes) {
    int64_t dropped = evict(bytes - given, given);
    if (given < bytes) given += pool_.trim(bytes - given);
    if (dropped == 0) break;
  }
  return given;
}

void TabletBuffer::forget(const StoredTablet& tablet) noexcept {
  int64_t given_up = 0;
  {
    // Destroyed after the lock is given up: unmapping is slow.
    std::vector<std::unique_ptr<Frame>> dropped;
    int64_t released = 0;
    std::lock_guard guard(mutex_);
    for (size_t column = 0; column < tablet.column_count(); ++column) {
      auto entry = frames_.find({tablet.id(), column});
      if (entry != frames_.end()) given_up += drop(entry, released, dropped);
    }
  }
  // The tablets that come instead have other sizes: of a table that changes, blocks would be kept without end.
  pool_.trim(given_up);
}

bool TabletBuffer::holds(const StoredTablet& tablet, std::span<const size_t> columns) const {
  std::lock_guard guard(mutex_);
  return std::all_of(columns.begin(), columns.end(), [&](size_t column) {
    return frames_.count({tablet.id(), column}) != 0;
  });
}

void TabletBuffer::prefetch(const StoredTablet& tablet, std::span<const size_t> columns) {
  for (ByteRange range : column_extents(tablet.meta(), columns, coalesce_gap)) {
    file_->will_read(file_offset(tablet) + static_cast<int64_t>(range.offset), static_cast<int64_t>(range.bytes));
  }
}

void TabletBuffer::verify(const StoredTablet& tablet, const LoadContext& context) const {
  size_t bytes = static_cast<size_t>(tablet.pages().count * page_bytes);
  AlignedBuffer block(bytes);
  file_->read_at(file_offset(tablet), {block.data(), bytes});
  try {
    TabletMeta meta = parse_meta(block.span(), bytes);
    if (meta.rows != tablet.rows() || meta.columns.size() != tablet.column_count()) {
      throw Error(SqlState::data_corrupted, "the tablet's own meta data contradict the directory");
    }
    for (size_t column = 0; column < meta.columns.size(); ++column) {
      load_column(tablet.meta(), column, block.span(), context.dictionaries[column]);
    }
  } catch (const Error& error) {
    if (error.state() != SqlState::data_corrupted) throw;
    fail_corrupted(*file_, tablet, context, "verification", error);
  }
}

int64_t TabletBuffer::cached_bytes() const {
  std::lock_guard guard(mutex_);
  return cached_bytes_;
}

int64_t TabletBuffer::hits() const {
  std::lock_guard guard(mutex_);
  return hits_;
}

int64_t TabletBuffer::misses() const {
  std::lock_guard guard(mutex_);
  return misses_;
}

}  // namespace diptych
