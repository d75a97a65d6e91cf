#include "engine/cpu/groups/argument_columns.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/cpu/row_function.h"

namespace diptych::cpu {

ArgumentLayout::ArgumentLayout(const std::vector<AggregateInfo>& aggregates) {
  for (const AggregateInfo& aggregate : aggregates) {
    const bool is_first = aggregate.same_argument < 0;
    column_of_.push_back(is_first ? columns_.size() : column_of_[static_cast<size_t>(aggregate.same_argument)]);
    if (is_first) columns_.emplace_back();
    if (aggregate.state == AggregateState::CountStar || aggregate.state == AggregateState::Count) continue;
    const PhysicalType physical = aggregate.argument.physical;
    columns_[column_of_.back()] = {physical, static_cast<size_t>(width_bytes(physical))};
  }
  for (const Column& column : columns_) row_bytes_ += column.width + 1;
}

ArgumentColumns::ArgumentColumns(const std::vector<AggregateInfo>& aggregates)
    : layout_(aggregates), buffers_(layout_.columns().size()) {}

void ArgumentColumns::grow_to(size_t rows) {
  for (size_t column = 0; column < buffers_.size(); ++column) {
    Buffer& buffer = buffers_[column];
    if (rows <= buffer.has.size()) continue;
    buffer.has.resize(std::max(rows, buffer.has.size() * 2));
    buffer.values.resize(buffer.has.size() * layout_.columns()[column].width);
  }
}

void ArgumentColumns::add(size_t column, const AggregateInput& input, const RowMask& rows, const uint32_t* places) {
  Buffer& buffer = buffers_[column];
  uint8_t* const has = buffer.has.data();
  for_each_row(rows.words, input.words, [&](int row) { has[places[row]] = 1; });
  for (int w = 0; w < input.words; ++w) buffer.present += static_cast<size_t>(std::popcount(rows.words[w]));
  if (layout_.columns()[column].width == 0) return;
  with_kernel_type(layout_.columns()[column].physical, [&]<typename T>(T) {
    auto* const to = reinterpret_cast<T*>(buffer.values.data());
    for_each_row(rows.words, input.words, [&](int row) {
      T value = value_at<T>(input.argument->values, row);
      if constexpr (std::is_same_v<T, dk_text>) {
        const auto length = static_cast<size_t>(value.length);
        if (length > 0) value.data = static_cast<char*>(std::memcpy(arena_.allocate(length), value.data, length));
      }
      to[places[row]] = value;
    });
  });
}

void ArgumentColumns::clear(size_t rows) {
  for (size_t column = 0; column < buffers_.size(); ++column) {
    Buffer& buffer = buffers_[column];
    if (std::exchange(buffer.present, 0) == 0) continue;
    std::fill_n(buffer.has.begin(), rows, uint8_t{0});
    // No string is left behind in the place of a value that is not there.
    if (layout_.columns()[column].is_text()) std::fill_n(buffer.values.begin(), rows * sizeof(dk_text), std::byte{0});
  }
  arena_ = TextArena();
}

size_t ArgumentColumns::bytes() const {
  size_t bytes = arena_.bytes();
  for (const Buffer& buffer : buffers_) bytes += buffer.values.capacity() + buffer.has.capacity();
  return bytes;
}

}  // namespace diptych::cpu
