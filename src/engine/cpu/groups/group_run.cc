#include "engine/cpu/groups/group_run.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace diptych::cpu {
namespace {

size_t padded(size_t bytes, size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }
size_t aligned(size_t bytes) { return padded(bytes, GroupRun::piece_alignment); }

// Writes row i of `from` to row to[i].
template <typename Word>
void scatter(const std::byte* from, const uint32_t* to, size_t rows, std::byte* out) {
  for (size_t i = 0; i < rows; ++i) std::memcpy(out + to[i] * sizeof(Word), from + i * sizeof(Word), sizeof(Word));
}

void scatter(const std::byte* from, size_t width, const uint32_t* to, size_t rows, std::byte* out) {
  switch (width) {
    case 0: return;
    case 1: return scatter<uint8_t>(from, to, rows, out);
    case 4: return scatter<uint32_t>(from, to, rows, out);
    case 8: return scatter<uint64_t>(from, to, rows, out);
    case 16: return scatter<std::array<uint64_t, 2>>(from, to, rows, out);
    default: break;
  }
  for (size_t i = 0; i < rows; ++i) std::memcpy(out + to[i] * width, from + i * width, width);
}

}  // namespace

const uint64_t* GroupSlice::hashes_of(const KeyLayout& layout, size_t first, size_t rows,
                                      std::vector<uint64_t>& room) const {
  if (hashes != nullptr) return hashes + first;
  room.resize(rows);
  layout.hash_rows(keys + first * layout.words(), rows, room.data());
  return room.data();
}

GroupRun::GroupRun(HashedKeys& keys, AggregateStates& states, const Memory& memory) {
  std::vector<TextPlace> texts;
  for (const size_t at : states.text_places()) texts.push_back({States, at});
  const KeyRows all = keys.all();
  std::vector<Source> sources = {{all.rows, keys.layout().words() * 8}, {states.row(0), states.row_bytes()}};
  if (keys.layout().keeps_hashes()) {
    hashes_ = sources.size();
    sources.push_back({all.hashes, 8});
  }
  std::vector<uint16_t> partitions(all.count);
  std::transform(all.hashes, all.hashes + all.count, partitions.begin(), partition_of);
  partition(partitions, sources, memory);
  place_strings(keys.layout(), texts, memory);
  const size_t groups = keys.groups();
  keys.clear();
  states.clear(groups);
}

GroupRun::GroupRun(LooseRows& rows, const Memory& memory) : is_loose_(true) {
  std::vector<Source> sources = {{rows.keys(), rows.layout().words() * 8}};
  std::vector<TextPlace> texts;
  const ArgumentColumns& columns = rows.arguments();
  for (size_t i = 0; i < columns.layout().columns().size(); ++i) {
    const ArgumentLayout::Column& column = columns.layout().columns()[i];
    Argument& argument = arguments_.emplace_back();
    argument.any = columns.present(i) > 0;
    if (!argument.any) continue;
    if (columns.present(i) < rows.count()) {
      argument.has = sources.size();
      sources.push_back({columns.has(i), 1});
    }
    if (column.width == 0) continue;
    argument.values = sources.size();
    sources.push_back({columns.values(i), column.width});
    if (column.is_text()) texts.push_back({argument.values, 0});
  }
  if (rows.hashes() != nullptr) {
    hashes_ = sources.size();
    sources.push_back({rows.hashes(), 8});
  }
  partition({rows.partitions(), rows.count()}, sources, memory);
  if (texts.empty() && !rows.keepers().empty()) {
    keepers_.assign(rows.keepers().begin(), rows.keepers().end());
    keys_with_addresses_ = &rows.layout();
  } else {
    place_strings(rows.layout(), texts, memory);
  }
  rows.clear();
}

// A counting sort by partition of the sources, which become areas in this order.
void GroupRun::partition(std::span<const uint16_t> by_row, const std::vector<Source>& sources, const Memory& memory) {
  size_t bytes = 0;
  for (const Source& source : sources) {
    areas_.push_back({bytes, source.width});
    bytes += padded(by_row.size() * source.width, 64);
  }
  fixed_ = memory.allocate(bytes, "groups");
  const Chunk places = memory.allocate(by_row.size() * 4, "groups");
  auto* const to = reinterpret_cast<uint32_t*>(places.data());
  for (const uint16_t partition : by_row) ++starts_[partition + size_t{1}];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  std::array<uint32_t, partition_count> next;
  std::copy_n(starts_.begin(), partition_count, next.begin());
  for (size_t i = 0; i < by_row.size(); ++i) to[i] = next[by_row[i]]++;
  for (size_t i = 0; i < sources.size(); ++i)
    scatter(static_cast<const std::byte*>(sources[i].data), sources[i].width, to, by_row.size(), row(i, 0));
}

template <typename Visit>
uint64_t GroupRun::find_string_starts(Visit&& visit) {
  string_starts_.resize(partition_count + 1);
  uint64_t bytes = 0;
  for (uint32_t partition = 0; partition < partition_count; ++partition) {
    string_starts_[partition] = bytes;
    for (size_t group = starts_[partition]; group < starts_[partition + 1]; ++group)
      visit(group, [&](uint64_t, uint64_t length) { bytes += length; });
  }
  return string_starts_[partition_count] = bytes;
}

// Copies the strings partition by partition; keys and states then have their positions instead of addresses.
void GroupRun::place_strings(const KeyLayout& layout, const std::vector<TextPlace>& texts, const Memory& memory) {
  if (!layout.has_texts() && texts.empty()) return;
  const auto visit = [&](size_t group, auto&& action) {
    layout.for_each_text(reinterpret_cast<uint64_t*>(row(Keys, group)), action);
    for (const TextPlace& place : texts) {
      auto& text = reinterpret_cast<dk_text&>(*(row(place.area, group) + place.at));
      auto address = reinterpret_cast<uint64_t>(text.data);
      action(address, static_cast<uint64_t>(text.length));
      text.data = reinterpret_cast<const char*>(address);
    }
  };
  const uint64_t bytes = find_string_starts(visit);
  strings_ = memory.allocate(std::max<size_t>(bytes, 1), "groups");
  uint64_t at = 0;
  // In the order of partitions each string lies somewhere else in memory; the next ones are asked for ahead.
  constexpr size_t ahead = 16;
  for (size_t group = 0; group < starts_[partition_count]; ++group) {
    if (group + ahead < starts_[partition_count]) {
      visit(group + ahead, [](const uint64_t& address, uint64_t length) {
        if (length == 0) return;
        __builtin_prefetch(reinterpret_cast<const char*>(address));
        __builtin_prefetch(reinterpret_cast<const char*>(address + length - 1));
        asm volatile("");  // g++ 12 drops calls of a function that only prefetches
      });
    }
    visit(group, [&](uint64_t& address, uint64_t length) {
      if (length > 0) std::memcpy(strings_.data() + at, reinterpret_cast<const char*>(address), length);
      address = at;
      at += length;
    });
  }
}

void GroupRun::begin_pieces() {
  if (keys_with_addresses_ == nullptr) return;
  find_string_starts([this](size_t group, auto&& action) {
    keys_with_addresses_->for_each_text(reinterpret_cast<uint64_t*>(row(Keys, group)), action);
  });
}

void GroupRun::copy_strings(uint32_t partition, uint64_t* keys, std::byte* to) const {
  const uint64_t start = string_starts_[partition];
  uint64_t at = start;
  for (size_t i = 0; i < count(partition, partition + 1); ++i) {
    keys_with_addresses_->for_each_text(
        keys + i * keys_with_addresses_->words(), [&](uint64_t& address, uint64_t length) {
          std::memcpy(to + (at - start), reinterpret_cast<const char*>(address), length);
          address = at;
          at += length;
        });
  }
}

GroupSlice GroupRun::slice_at(size_t count, const std::vector<const std::byte*>& places) const {
  GroupSlice slice;
  slice.count = count;
  slice.keys = reinterpret_cast<const uint64_t*>(places[Keys]);
  if (hashes_ > 0) slice.hashes = reinterpret_cast<const uint64_t*>(places[hashes_]);
  slice.is_loose = is_loose_;
  if (!is_loose_) slice.states = places[States];
  slice.arguments.reserve(arguments_.size());
  for (const Argument& argument : arguments_)
    slice.arguments.push_back({argument.values > 0 ? places[argument.values] : nullptr,
                               argument.has > 0 ? places[argument.has] : nullptr, argument.any});
  return slice;
}

GroupSlice GroupRun::slice(uint32_t first, uint32_t last) const {
  std::vector<const std::byte*> places(areas_.size());
  for (size_t i = 0; i < areas_.size(); ++i) places[i] = row(i, starts_[first]);
  GroupSlice slice = slice_at(count(first, last), places);
  if (keys_with_addresses_ == nullptr) slice.strings = reinterpret_cast<const char*>(strings_.data());
  return slice;
}

size_t GroupRun::count(Runs runs, uint32_t partition) {
  size_t count = 0;
  for (const GroupRun& run : runs) count += run.count(partition, partition + 1);
  return count;
}

size_t GroupRun::piece_bytes(Runs runs, uint32_t partition) {
  const size_t groups = count(runs, partition);
  size_t bytes = aligned(runs.front().string_bytes(partition));
  for (const Area& area : runs.front().areas_) bytes += aligned(groups * area.width);
  return bytes;
}

void GroupRun::write_piece(Runs runs, uint32_t partition, std::byte* to) {
  std::byte* const piece = to;
  for (size_t i = 0; i < runs.front().areas_.size(); ++i) {
    size_t bytes = 0;
    for (const GroupRun& run : runs) {
      const size_t more = run.count(partition, partition + 1) * run.areas_[i].width;
      if (more > 0) std::memcpy(to + bytes, run.row(i, run.starts_[partition]), more);
      bytes += more;
    }
    to += aligned(bytes);
  }
  const GroupRun& first = runs.front();
  const size_t bytes = first.string_bytes(partition);
  if (bytes > 0 && first.keys_with_addresses_ != nullptr)
    first.copy_strings(partition, reinterpret_cast<uint64_t*>(piece), to);
  else if (bytes > 0)
    std::memcpy(to, first.strings_.data() + first.string_starts_[partition], bytes);
}

GroupSlice GroupRun::slice_of_piece(Runs runs, uint32_t partition, const std::byte* piece) {
  const GroupRun& first = runs.front();
  const size_t groups = count(runs, partition);
  std::vector<const std::byte*> places(first.areas_.size());
  for (size_t i = 0; i < places.size(); ++i) {
    places[i] = piece;
    piece += aligned(groups * first.areas_[i].width);
  }
  GroupSlice slice = first.slice_at(groups, places);
  if (!first.string_starts_.empty())
    slice.strings = reinterpret_cast<const char*>(piece) - first.string_starts_[partition];
  slice.stays = false;
  return slice;
}

bool GroupRun::can_share_pieces_with(const GroupRun& other) const {
  const auto is_as_wide = [](const Area& a, const Area& b) { return a.width == b.width; };
  return string_starts_.empty() && other.string_starts_.empty() && is_loose_ == other.is_loose_ &&
         hashes_ == other.hashes_ && arguments_ == other.arguments_ &&
         std::ranges::equal(areas_, other.areas_, is_as_wide);
}

void GroupRun::free_memory() {
  fixed_ = {};
  strings_ = {};
  keepers_.clear();
}

}  // namespace diptych::cpu
