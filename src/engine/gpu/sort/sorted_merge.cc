#include "engine/gpu/sort/sorted_merge.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "tablet/aligned_buffer.h"
#include "tablet/dictionary.h"
#include "tablet/validity_bits.h"

namespace diptych::gpu {

// Memory of merged columns.
class MergedMemory {
 public:
  std::byte* take(size_t bytes) {
    AlignedBuffer& buffer = buffers_.emplace_back(std::max<size_t>(bytes, 1));
    std::memset(buffer.data(), 0, buffer.size());
    return buffer.data();
  }

 private:
  std::vector<AlignedBuffer> buffers_;
};

namespace {

std::string_view text_of(const ColumnView& view, size_t row) {
  if (view.encoding == Encoding::Heap)
    return {view.heap + view.offsets[row], view.offsets[row + 1] - view.offsets[row]};
  return (*view.dictionary)[reinterpret_cast<const uint32_t*>(view.data)[row]];
}

}  // namespace

std::shared_ptr<const RowSet> SortedMerge::finish(const RowSetInfo& sorted) {
  std::vector<ColumnDefinition> columns;
  for (const RegisterInfo& column : sorted.columns) columns.push_back({"", column.type});
  auto rows = std::make_shared<HostRowSet>(std::move(columns));
  if (batches_.size() == 1) {
    for (HostPiece& piece : batches_.front().pieces) rows->add(std::move(piece));
  } else if (HostPiece piece = merge(sorted.limit, sorted.columns.size()); piece.rows > 0) {
    rows->add(std::move(piece));
  }
  return rows;
}

HostPiece SortedMerge::merge(int64_t limit, size_t columns) const {
  const std::vector<Place> order = find_order(limit);
  HostPiece merged;
  merged.rows = static_cast<int64_t>(order.size());
  auto memory = std::make_shared<MergedMemory>();
  for (size_t column = 0; column < columns && !order.empty(); ++column)
    merged.views.push_back(merge_column(order, column, *memory));
  merged.owner = std::move(memory);
  return merged;
}

// There are few batches, and few rows of each: a heap would gain nothing on them.
std::vector<SortedMerge::Place> SortedMerge::find_order(int64_t limit) const {
  std::vector<Place> rows;
  for (size_t batch = 0; batch < batches_.size(); ++batch) {
    const int64_t count = batches_[batch].pieces.empty() ? 0 : batches_[batch].pieces.front().rows;
    for (int64_t row = 0; row < count; ++row) rows.push_back({batch, static_cast<size_t>(row)});
    const auto middle = rows.end() - count;
    std::inplace_merge(rows.begin(), middle, rows.end(), [&](Place a, Place b) {
      for (size_t word = 0; word < batches_[a.batch].words.size(); ++word) {
        const uint64_t left = batches_[a.batch].words[word][a.row], right = batches_[b.batch].words[word][b.row];
        if (left != right) return left < right;
      }
      return false;
    });
    if (static_cast<int64_t>(rows.size()) > limit) rows.resize(static_cast<size_t>(limit));
  }
  return rows;
}

ColumnView SortedMerge::merge_column(const std::vector<Place>& order, size_t column, MergedMemory& memory) const {
  ColumnView merged = view_of(order.front(), column);
  bool same_form = merged.encoding != Encoding::Heap;
  auto* bits = reinterpret_cast<uint8_t*>(memory.take(order.size() / 8 + 1));
  for (size_t i = 0; i < order.size(); ++i) {
    const ColumnView& from = view_of(order[i], column);
    same_form &= from.encoding == merged.encoding && from.dictionary == merged.dictionary;
    bits[i / 8] = static_cast<uint8_t>(
        bits[i / 8] | (is_valid(from.validity, static_cast<int64_t>(order[i].row)) ? 1 : 0) << (i % 8));
  }
  merged.validity = bits;
  if (same_form)
    merge_values(order, column, memory, merged);
  else
    merge_texts(order, column, memory, merged);
  return merged;
}

void SortedMerge::merge_values(const std::vector<Place>& order, size_t column, MergedMemory& memory,
                               ColumnView& merged) const {
  const auto width = static_cast<size_t>(merged.width);
  std::byte* to = memory.take(order.size() * width);
  merged.data = to;
  for (Place at : order) {
    std::memcpy(to, view_of(at, column).data + at.row * width, width);
    to += width;
  }
}

void SortedMerge::merge_texts(const std::vector<Place>& order, size_t column, MergedMemory& memory,
                              ColumnView& merged) const {
  auto* offsets = reinterpret_cast<uint32_t*>(memory.take((order.size() + 1) * sizeof(uint32_t)));
  uint64_t bytes = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    bytes += text_of(view_of(order[i], column), order[i].row).size();
    if (bytes > UINT32_MAX)
      throw Error(SqlState::out_of_memory, "the strings of 65536 sorted rows take more than 4 GB");
    offsets[i + 1] = static_cast<uint32_t>(bytes);
  }
  std::byte* heap = memory.take(bytes);
  for (size_t i = 0; i < order.size(); ++i) {
    const std::string_view text = text_of(view_of(order[i], column), order[i].row);
    if (!text.empty()) std::memcpy(heap + offsets[i], text.data(), text.size());
  }
  merged.encoding = Encoding::Heap;
  merged.offsets = offsets;
  merged.heap = reinterpret_cast<const char*>(heap);
  merged.data = nullptr;
}

}  // namespace diptych::gpu
