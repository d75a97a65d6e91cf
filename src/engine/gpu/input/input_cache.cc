#include "engine/gpu/input/input_cache.h"

#include <algorithm>
#include <utility>

namespace diptych::gpu {
namespace {

// Each holds its segments, and some words a tablet.
constexpr size_t most_inputs = 32;

// Going by the first tablet of each range.
bool has_tablet_of(const SectionInput& input, const TabletSource& source) {
  return std::ranges::any_of(input.ranges, [&](const std::shared_ptr<const InputRange>& range) {
    const size_t first = range->tablets.first;
    return !range->ids.empty() && first < source.tablet_count() &&
           std::ranges::any_of(range->ids, [&](const auto& ids) { return ids[0] == source.tablet_id(first); });
  });
}

}  // namespace

void SectionInput::wait_in(Queue& queue) const {
  for (const auto& segment : arriving) segment->wait_in(queue);
}

std::optional<double> SectionInput::share_of(size_t section) {
  std::lock_guard guard(mutex);
  const auto known = shares_.find(section);
  return known == shares_.end() ? std::nullopt : std::optional(known->second);
}

void SectionInput::note_share(size_t section, double share) {
  constexpr size_t most_sections = 1024;
  std::lock_guard guard(mutex);
  if (shares_.size() >= most_sections) shares_.clear();
  shares_[section] = share;
}

void SectionInput::learn_from(SectionInput& earlier) {
  std::scoped_lock guard(mutex, earlier.mutex);
  earlier_descriptions = earlier.descriptions;
  shares_ = earlier.shares_;
}

std::shared_ptr<SectionInput> InputCache::find(const std::shared_ptr<const TabletSource>& source,
                                               const std::vector<size_t>& columns, Place place) {
  std::lock_guard guard(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->place != place || entry->columns != columns || entry->source.lock() != source) continue;
    entries_.splice(entries_.begin(), entries_, entry);
    entry->was_read = true;
    return entry->input;
  }
  return nullptr;
}

bool InputCache::Entry::is_of_table() const {
  return std::ranges::any_of(input->ranges, [](const auto& range) { return !range->ids.empty(); });
}

bool InputCache::Entry::is_of(const TabletSource& table, const std::vector<size_t>& its_columns,
                              Place its_place) const {
  return place == its_place && columns == its_columns && has_tablet_of(*input, table);
}

std::shared_ptr<SectionInput> InputCache::find_earlier(const TabletSource& source, const std::vector<size_t>& columns,
                                                       Place place) {
  std::lock_guard guard(mutex_);
  const auto entry =
      std::ranges::find_if(entries_, [&](const Entry& one) { return one.is_of(source, columns, place); });
  return entry != entries_.end() ? entry->input : nullptr;
}

void InputCache::keep(const std::shared_ptr<const TabletSource>& source, const std::vector<size_t>& columns,
                      Place place, std::shared_ptr<SectionInput> input, For whom) {
  Entries dropped;  // freed when others may go on
  std::lock_guard guard(mutex_);
  move_past(dropped, [&](const Entry& entry) { return !entry.is_of_table() || entry.is_of(*source, columns, place); });
  entries_.push_front({source, columns, place, std::move(input), whom == For::Statement});
  if (entries_.size() > most_inputs) dropped.splice(dropped.end(), entries_, std::prev(entries_.end()));
}

std::vector<InputCache::Earlier> InputCache::take_read(const std::shared_ptr<const TabletSource>& table) {
  std::vector<Earlier> read;
  std::lock_guard guard(mutex_);
  for (Entry& entry : entries_) {
    if (entry.place != Place::Device || !entry.was_read || !entry.is_of(*table, entry.columns, entry.place)) continue;
    const bool is_now = std::ranges::any_of(entries_, [&](const Entry& other) {
      return other.place == entry.place && other.columns == entry.columns && other.source.lock() == table;
    });
    if (is_now) continue;
    entry.was_read = false;
    read.push_back({entry.columns, entry.input});
  }
  return read;
}

template <typename Test>
void InputCache::move_past(Entries& to, Test&& is_meant) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->source.expired() && is_meant(*entry)) to.splice(to.end(), entries_, entry);
    entry = next;
  }
}

void InputCache::forget_past() {
  Entries dropped;
  std::lock_guard guard(mutex_);
  move_past(dropped, [](const Entry&) { return true; });
}

void InputCache::clear() {
  Entries dropped;
  std::lock_guard guard(mutex_);
  dropped.swap(entries_);
}

}  // namespace diptych::gpu
