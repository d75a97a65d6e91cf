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
void for_each_string(const KeyLayout& layout, std::byte* key, const std::vector<size_t>& text_places, std::byte* states,
                     Action&& action) {
  layout.for_each_text(reinterpret_cast<uint64_t*>(key),
                       [&](uint64_t& address, uint64_t length) { action(address, length); });
  for (const size_t place : text_places) {
    auto& text = reinterpret_cast<dk_text&>(states[place]);
    auto address = reinterpret_cast<uint64_t>(text.data);
    action(address, static_cast<uint64_t>(text.length));
    text.data = reinterpret_cast<const char*>(address);
  }
}

}  // namespace

GroupRun::GroupRun(HashedKeys& keys, AggregateStates& states, const Memory& memory) {
  const size_t groups = keys.groups();
  const size_t row_bytes = keys.layout().words() * 8;
  areas_[Hashes] = {0, 8};
  areas_[Keys] = {padded(groups * 8), row_bytes};
  areas_[States] = {areas_[Keys].at + padded(groups * row_bytes), states.row_bytes()};
  fixed_ = memory.allocate(areas_[States].at + padded(groups * states.row_bytes()), "groups");

  // A counting sort by partition.
  for (uint32_t group = 0; group < groups; ++group) ++starts_[partition_of(keys.hash(group)) + 1];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  std::array<uint32_t, partitions> next;
  std::copy(starts_.begin(), starts_.end() - 1, next.begin());
  for (uint32_t group = 0; group < groups; ++group) {
    const uint64_t hash = keys.hash(group);
    const uint32_t to = next[partition_of(hash)]++;
    std::memcpy(row(Hashes, to), &hash, 8);
    std::memcpy(row(Keys, to), keys.row(group), row_bytes);
    if (states.count() > 0) std::memcpy(row(States, to), states.row(group), states.row_bytes());
  }
  place_strings(keys.layout(), states.text_places(), memory);
  keys.clear();
  states.clear(groups);
}

// Copies the strings partition by partition; keys and states then have their positions instead of addresses.
void GroupRun::place_strings(const KeyLayout& layout, const std::vector<size_t>& text_places, const Memory& memory) {
  if (!layout.has_texts() && text_places.empty()) return;
  const auto visit = [&](size_t group, auto&& action) {
    for_each_string(layout, row(Keys, group), text_places, row(States, group), action);
  };
  uint64_t bytes = 0;
  for (uint32_t partition = 0; partition < partitions; ++partition) {
    string_starts_[partition] = bytes;
    for (size_t group = starts_[partition]; group < starts_[partition + 1]; ++group)
      visit(group, [&](uint64_t&, uint64_t length) { bytes += length; });
  }
  string_starts_[partitions] = bytes;
  strings_ = memory.allocate(std::max<size_t>(bytes, 1), "groups");
  uint64_t at = 0;
  for (size_t group = 0; group < starts_[partitions]; ++group) {
    visit(group, [&](uint64_t& address, uint64_t length) {
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
  slice.hashes = reinterpret_cast<const uint64_t*>(places[Hashes]);
  slice.keys = reinterpret_cast<const uint64_t*>(places[Keys]);
  slice.states = places[States];
  return slice;
}

}  // namespace diptych::cpu
