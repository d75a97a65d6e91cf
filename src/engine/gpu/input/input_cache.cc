#include "engine/gpu/input/input_cache.h"

namespace diptych::gpu {
namespace {

// Each holds its segments, and some words a tablet.
constexpr size_t most_inputs = 32;

}  // namespace

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

std::shared_ptr<SectionInput> InputCache::find(const std::shared_ptr<const TabletSource>& source,
                                               const std::vector<size_t>& columns, Place place) {
  std::lock_guard guard(mutex_);
  entries_.remove_if([](const Entry& entry) { return entry.source.expired(); });
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->place != place || entry->columns != columns || entry->source.lock() != source) continue;
    entries_.splice(entries_.begin(), entries_, entry);
    return entry->input;
  }
  return nullptr;
}

void InputCache::keep(const std::shared_ptr<const TabletSource>& source, const std::vector<size_t>& columns,
                      Place place, std::shared_ptr<SectionInput> input) {
  std::lock_guard guard(mutex_);
  entries_.push_front({source, columns, place, std::move(input)});
  if (entries_.size() > most_inputs) entries_.pop_back();
}

void InputCache::clear() {
  std::list<Entry> dropped;
  std::lock_guard guard(mutex_);
  dropped.swap(entries_);
}

}  // namespace diptych::gpu
