#include "engine/cpu/groups/group_run.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace diptych::cpu {
namespace {

uint32_t partition_of(uint64_t hash) { return static_cast<uint32_t>(hash >> (64 - GroupRun::partition_bits)); }

size_t padded(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Calls action(address and length words) for each string of a group: those of its key row, then those of its states.
template <typename Action>
void for_each_string(const KeyLayout& layout, uint64_t* row, std::span<dk_text* const> states, size_t group,
                     Action&& action) {
  layout.for_each_text(row, [&](uint64_t& address, uint64_t length) { action(address, length); });
  for (dk_text* texts : states) {
    auto address = reinterpret_cast<uint64_t>(texts[group].data);
    action(address, static_cast<uint64_t>(texts[group].length));
    texts[group].data = reinterpret_cast<const char*>(address);
  }
}

}  // namespace

GroupRun::GroupRun(HashedKeys& keys, std::span<const std::unique_ptr<AggregateColumn>> aggregates,
                   const Memory& memory) {
  const size_t groups = keys.groups();
  const size_t row_bytes = keys.layout().words() * 8;
  size_t bytes = 0;
  const auto add_area = [&](size_t width) {
    areas_.push_back({bytes, width});
    bytes += padded(groups * width);
  };
  add_area(8);
  add_area(row_bytes);
  for (const auto& aggregate : aggregates) {
    add_area(aggregate->state_bytes());
    add_area(1);
  }
  fixed_ = memory.allocate(bytes, "groups");

  // A counting sort by partition.
  for (uint32_t group = 0; group < groups; ++group) ++starts_[partition_of(keys.hash(group)) + 1];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  std::vector<uint32_t> order(groups);
  std::array<uint32_t, partitions> next;
  std::copy(starts_.begin(), starts_.end() - 1, next.begin());
  for (uint32_t group = 0; group < groups; ++group) order[next[partition_of(keys.hash(group))]++] = group;

  std::byte* const base = fixed_.data();
  auto* hashes = reinterpret_cast<uint64_t*>(base);
  for (size_t i = 0; i < groups; ++i) {
    hashes[i] = keys.hash(order[i]);
    std::memcpy(base + areas_[1].at + i * row_bytes, keys.row(order[i]), row_bytes);
  }
  for (size_t i = 0; i < aggregates.size(); ++i)
    aggregates[i]->write(order, base + areas_[2 + 2 * i].at, reinterpret_cast<uint8_t*>(base + areas_[3 + 2 * i].at));
  place_strings(keys.layout(), aggregates, memory);
  keys.clear();
  for (const auto& aggregate : aggregates) aggregate->clear();
}

// Copies the strings partition by partition; keys and states then have their positions instead of addresses.
void GroupRun::place_strings(const KeyLayout& layout, std::span<const std::unique_ptr<AggregateColumn>> aggregates,
                             const Memory& memory) {
  std::vector<dk_text*> states;
  for (size_t i = 0; i < aggregates.size(); ++i) {
    if (aggregates[i]->holds_texts())
      states.push_back(reinterpret_cast<dk_text*>(fixed_.data() + areas_[2 + 2 * i].at));
  }
  if (!layout.has_texts() && states.empty()) return;
  auto* rows = reinterpret_cast<uint64_t*>(fixed_.data() + areas_[1].at);
  uint64_t bytes = 0;
  for (uint32_t partition = 0; partition < partitions; ++partition) {
    string_starts_[partition] = bytes;
    for (size_t group = starts_[partition]; group < starts_[partition + 1]; ++group) {
      for_each_string(layout, rows + group * layout.words(), states, group,
                      [&](uint64_t&, uint64_t length) { bytes += length; });
    }
  }
  string_starts_[partitions] = bytes;
  strings_ = memory.allocate(std::max<size_t>(bytes, 1), "groups");
  uint64_t at = 0;
  for (size_t group = 0; group < starts_[partitions]; ++group) {
    for_each_string(layout, rows + group * layout.words(), states, group, [&](uint64_t& address, uint64_t length) {
      if (length > 0) std::memcpy(strings_.data() + at, reinterpret_cast<const char*>(address), length);
      address = at;
      at += length;
    });
  }
}

void GroupRun::move_to(TempFile& file) {
  if (file_ != nullptr) return;
  fixed_offset_ = file.append({fixed_.data(), fixed_.size()});
  if (strings_.size() > 0) strings_offset_ = file.append({strings_.data(), strings_.size()});
  file_ = &file;
  fixed_ = {};
  strings_ = {};
}

GroupSlice GroupRun::slice(uint32_t first, uint32_t last, const Memory& memory) const {
  GroupSlice slice;
  slice.count = count(first, last);
  if (slice.count == 0) return slice;
  const size_t string_bytes = string_starts_[last] - string_starts_[first];
  std::vector<const std::byte*> places;
  if (file_ == nullptr) {
    for (const Area& area : areas_) places.push_back(fixed_.data() + area.at + starts_[first] * area.width);
    slice.strings = reinterpret_cast<const char*>(strings_.data());
  } else {
    size_t bytes = padded(string_bytes);
    for (const Area& area : areas_) bytes += padded(slice.count * area.width);
    slice.loaded = memory.allocate(bytes, "groups");
    slice.stays = false;
    std::byte* to = slice.loaded.data();
    const auto read = [&](int64_t offset, size_t wanted) {
      if (wanted > 0) file_->read_at(offset, {to, wanted});
      return std::exchange(to, to + padded(wanted));
    };
    for (const Area& area : areas_)
      places.push_back(
          read(fixed_offset_ + static_cast<int64_t>(area.at + starts_[first] * area.width), slice.count * area.width));
    const std::byte* strings = read(strings_offset_ + static_cast<int64_t>(string_starts_[first]), string_bytes);
    slice.strings = reinterpret_cast<const char*>(strings) - string_starts_[first];
  }
  slice.hashes = reinterpret_cast<const uint64_t*>(places[0]);
  slice.keys = reinterpret_cast<const uint64_t*>(places[1]);
  for (size_t i = 2; i < places.size(); i += 2)
    slice.columns.push_back({places[i], reinterpret_cast<const uint8_t*>(places[i + 1])});
  return slice;
}

}  // namespace diptych::cpu
