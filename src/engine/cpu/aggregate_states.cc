#include "engine/cpu/aggregate_states.h"

#include <algorithm>
#include <numeric>

namespace diptych::cpu {

AggregateStates::AggregateStates(const std::vector<AggregateInfo>& infos)
    : order_(infos.size()), places_(infos.size()) {
  for (const AggregateInfo& info : infos) columns_.push_back(make_aggregate_column(info));
  std::iota(order_.begin(), order_.end(), size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](size_t a, size_t b) { return columns_[a]->alignment() > columns_[b]->alignment(); });
  for (const size_t number : order_) {
    places_[number] = first_flag_;
    if (columns_[number]->holds_texts()) text_places_.push_back(first_flag_);
    first_flag_ += columns_[number]->state_bytes();
  }
  const size_t alignment = order_.empty() ? 1 : columns_[order_.front()]->alignment();
  row_bytes_ = (first_flag_ + columns_.size() + alignment - 1) / alignment * alignment;
}

AggregateStates::AggregateStates(const std::vector<AggregateInfo>& infos, size_t groups, const Memory& memory)
    : AggregateStates(infos) {
  place_columns(groups, memory);
}

// The rows move when they grow.
void AggregateStates::place_rows() {
  for (size_t i = 0; i < columns_.size(); ++i)
    columns_[i]->place({rows_.data() + places_[i], rows_.data() + first_flag_ + i, row_bytes_, row_bytes_});
}

void AggregateStates::place_columns(size_t groups, const Memory& memory) {
  const size_t bytes = groups * (first_flag_ + columns_.size());
  columns_of_states_ = memory.allocate(bytes, "hash table");
  std::byte* const data = columns_of_states_.data();
  std::fill_n(data, bytes, std::byte{0});
  for (size_t i = 0; i < columns_.size(); ++i)
    columns_[i]->place({data + groups * places_[i], data + groups * (first_flag_ + i), columns_[i]->state_bytes(), 1});
}

void AggregateStates::grow_to(size_t groups) {
  if (groups * row_bytes_ <= rows_.size()) return;
  rows_.resize(std::max(groups * row_bytes_, rows_.size() * 2));
  place_rows();
}

void AggregateStates::clear(size_t groups) {
  std::fill_n(rows_.begin(), groups * row_bytes_, std::byte{0});
  for (const auto& column : columns_) column->clear();
}

void AggregateStates::merge(const AggregateStates& other, size_t first, size_t last) {
  std::vector<uint32_t> some(last - first);
  std::iota(some.begin(), some.end(), static_cast<uint32_t>(first));
  for (size_t i = 0; i < columns_.size(); ++i) {
    const PlacesOfStates<std::byte>& places = other.columns_[i]->places();
    columns_[i]->merge({places.states, places.has, places.stride, places.has_stride}, nullptr, some, some);
  }
}

void AggregateStates::merge_rows(const std::byte* rows, const char* strings, std::span<const uint32_t> from,
                                 std::span<const uint32_t> to) {
  for (size_t i = 0; i < columns_.size(); ++i)
    columns_[i]->merge({rows + places_[i], rows + first_flag_ + i, row_bytes_, row_bytes_}, strings, from, to);
}

size_t AggregateStates::bytes() const { return rows_.capacity() + text_bytes(); }

size_t AggregateStates::text_bytes() const {
  size_t bytes = 0;
  for (const auto& column : columns_) bytes += column->text_bytes();
  return bytes;
}

}  // namespace diptych::cpu
