#include "engine/cpu/block_source.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/row_mask.h"

namespace diptych::cpu {
namespace {

size_t row_bytes(const ColumnView& view) {
  switch (view.encoding) {
    case Encoding::Dictionary: return view.width;
    case Encoding::Plain: return static_cast<size_t>(width_bytes(view.physical));
    default: return 0;
  }
}

}  // namespace

void BlockSource::add(BlockTablet tablet) {
  if (tablet.rows == 0) return;
  first_rows_.push_back(rows_);
  rows_ += tablet.rows;
  tablets_.push_back(std::move(tablet));
}

const Dictionary* BlockSource::common_dictionary(size_t column) const {
  const Dictionary* common = tablets_.empty() ? nullptr : tablets_.front().views[column].dictionary;
  for (const BlockTablet& tablet : tablets_) {
    if (tablet.views[column].encoding != Encoding::Dictionary || tablet.views[column].dictionary != common)
      return nullptr;
  }
  return common;
}

std::unique_ptr<PinnedTablet> BlockSource::pin(size_t tablet, std::span<const size_t> wanted) const {
  auto pinned = std::make_unique<PinnedTablet>();
  pinned->rows = tablets_[tablet].rows;
  pinned->first_row_id = first_rows_[tablet];
  for (size_t column : wanted) pinned->views.push_back(tablets_[tablet].views[column]);
  return pinned;
}

int64_t BlockSource::encoded_bytes(size_t tablet, size_t column) const {
  const ColumnView& view = tablets_[tablet].views[column];
  const int64_t rows = tablets_[tablet].rows;
  int64_t bytes = view.validity != nullptr ? (rows + 7) / 8 : 0;
  if (view.encoding == Encoding::Heap) return bytes + (rows + 1) * 4 + (view.offsets[rows] - view.offsets[0]);
  return bytes + rows * static_cast<int64_t>(row_bytes(view));
}

void BlockSource::drop_front(BlockTablet& tablet, int64_t first, std::vector<Chunk>& chunks, const Memory& memory) {
  const auto rows = static_cast<size_t>(tablet.rows - first);
  for (ColumnView& view : tablet.views) {
    const bool heap = view.encoding == Encoding::Heap;
    const size_t width = heap ? 4 : row_bytes(view);
    const auto* from = heap ? reinterpret_cast<const std::byte*>(view.offsets) : view.data;
    const size_t count = heap ? rows + 1 : rows;
    const size_t data_bytes = (count * width + 63) / 64 * 64;
    Chunk chunk = memory.allocate(data_bytes + words_for(static_cast<int64_t>(rows)) * 8 + 64, "result");
    std::memcpy(chunk.data(), from + static_cast<size_t>(first) * width, count * width);
    if (heap)
      view.offsets = reinterpret_cast<const uint32_t*>(chunk.data());
    else
      view.data = chunk.data();
    if (view.validity != nullptr) {
      auto* bits = reinterpret_cast<uint8_t*>(chunk.data() + data_bytes);
      std::memset(bits, 0, (rows + 7) / 8);
      for (size_t row = 0; row < rows; ++row) {
        const size_t source = row + static_cast<size_t>(first);
        bits[row / 8] =
            static_cast<uint8_t>(bits[row / 8] | (view.validity[source / 8] >> (source % 8) & 1) << (row % 8));
      }
      view.validity = bits;
    }
    chunks.push_back(std::move(chunk));
  }
  tablet.rows = static_cast<int64_t>(rows);
}

void BlockSource::cut(int64_t offset, int64_t limit, const Memory& memory) {
  std::vector<BlockTablet> before = std::move(tablets_);
  tablets_.clear();
  first_rows_.clear();
  rows_ = 0;
  for (BlockTablet& tablet : before) {
    const int64_t skipped = std::min(offset, tablet.rows);
    offset -= skipped;
    if (skipped == tablet.rows) continue;
    if (skipped > 0) drop_front(tablet, skipped, chunks_, memory);
    if (limit >= 0) tablet.rows = std::min(tablet.rows, limit - rows_);
    if (tablet.rows <= 0) break;
    add(std::move(tablet));
  }
}

}  // namespace diptych::cpu
