#include "engine/rows/host_row_set.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "engine/rows/row_mask.h"
#include "kernel/kernel.h"
#include "tablet/cells.h"
#include "tablet/validity_bits.h"

namespace diptych {
namespace {

size_t row_bytes(const ColumnView& view) {
  switch (view.encoding) {
    case Encoding::Dictionary: return view.width;
    case Encoding::Plain: return static_cast<size_t>(width_bytes(view.physical));
    default: return 0;
  }
}

size_t data_bytes(const ColumnView& view, int64_t rows) { return row_bytes(view) * static_cast<size_t>(rows); }
size_t offset_bytes(int64_t rows) { return (static_cast<size_t>(rows) + 1) * sizeof(uint32_t); }

// Its columns are in the store's memory, which stays, ...
class HeldTablet : public PinnedTablet {
 public:
  explicit HeldTablet(const StoredPiece& piece) : store_(piece.store), batch_(piece.batch) {}
  ~HeldTablet() override { store_->let_go(batch_); }

 private:
  std::shared_ptr<ChunkStore> store_;
  size_t batch_;
};

// ... or have been read back into memory of its own.
class LoadedTablet : public PinnedTablet {
 public:
  LoadedTablet(const StoredPiece& piece, std::span<const size_t> wanted) {
    size_t bytes = 0;
    for (size_t column : wanted) {
      views.push_back(piece.views[column]);
      for_each_area(piece, column, views.back(), [&](const void*&, size_t area) { bytes += padded(area); });
    }
    chunk_ = piece.store->memory().allocate(bytes, "result");
    std::byte* to = chunk_.data();
    for (size_t i = 0; i < wanted.size(); ++i) {
      for_each_area(piece, wanted[i], views[i], [&](const void*& address, size_t area) {
        piece.store->read(piece.batch, static_cast<const std::byte*>(address), {to, area});
        address = to;
        to += padded(area);
      });
    }
  }

 private:
  static size_t padded(size_t bytes) { return (bytes + 63) / 64 * 64; }

  // Calls action(address, bytes) for each array that the view points to; a changed address is taken over.
  template <typename Action>
  static void for_each_area(const StoredPiece& piece, size_t column, ColumnView& view, Action&& action) {
    const auto area = [&](auto*& pointer, size_t bytes) {
      const void* address = pointer;
      action(address, bytes);
      pointer = static_cast<std::remove_reference_t<decltype(pointer)>>(address);
    };
    if (view.encoding == Encoding::Heap) {
      area(view.offsets, offset_bytes(piece.rows));
      if (piece.heap_bytes[column] > 0) area(view.heap, piece.heap_bytes[column]);
    } else {
      area(view.data, data_bytes(view, piece.rows));
    }
    if (view.validity != nullptr) area(view.validity, static_cast<size_t>(validity_bytes(piece.rows)));
  }

  Chunk chunk_;
};

bool holds_addresses(const ColumnView& view) {
  return view.encoding == Encoding::Plain && view.physical == PhysicalType::Text;
}

}  // namespace

void HostRowSet::add(StoredPiece piece) {
  if (piece.rows == 0) return;
  first_rows_.push_back(rows_);
  rows_ += piece.rows;
  pieces_.push_back(std::move(piece));
}

void HostRowSet::add(HostPiece piece) {
  if (piece.owner != nullptr) keep(std::move(piece.owner));
  const size_t batch = store_->open_batch();
  const bool can_move = std::none_of(piece.views.begin(), piece.views.end(), holds_addresses);
  std::vector<size_t> heap_bytes;
  for (const ColumnView& view : piece.views)
    heap_bytes.push_back(view.encoding == Encoding::Heap ? view.offsets[piece.rows] : 0);
  add(StoredPiece{piece.rows, std::move(piece.views), std::move(heap_bytes), store_, batch});
  store_->close_batch(batch, std::move(piece.chunks), can_move);
}

const Dictionary* HostRowSet::common_dictionary(size_t column) const {
  const Dictionary* common = pieces_.empty() ? nullptr : pieces_.front().views[column].dictionary;
  for (const StoredPiece& piece : pieces_) {
    if (piece.views[column].encoding != Encoding::Dictionary || piece.views[column].dictionary != common)
      return nullptr;
  }
  return common;
}

std::unique_ptr<PinnedTablet> HostRowSet::pin(size_t tablet, std::span<const size_t> wanted) const {
  auto pinned = pin(pieces_[tablet], wanted);
  pinned->first_position = first_rows_[tablet];
  return pinned;
}

std::unique_ptr<PinnedTablet> HostRowSet::pin(const StoredPiece& piece, std::span<const size_t> wanted) {
  std::unique_ptr<PinnedTablet> pinned;
  if (piece.store->hold(piece.batch)) {
    pinned = std::make_unique<HeldTablet>(piece);
    for (size_t column : wanted) pinned->views.push_back(piece.views[column]);
  } else {
    pinned = std::make_unique<LoadedTablet>(piece, wanted);
  }
  pinned->rows = piece.rows;
  return pinned;
}

int64_t HostRowSet::encoded_bytes(size_t number, size_t column) const {
  const StoredPiece& piece = pieces_[number];
  const ColumnView& view = piece.views[column];
  size_t bytes = view.validity != nullptr ? static_cast<size_t>(validity_bytes(piece.rows)) : 0;
  bytes += view.encoding == Encoding::Heap ? offset_bytes(piece.rows) + piece.heap_bytes[column]
                                           : data_bytes(view, piece.rows);
  return static_cast<int64_t>(bytes);
}

std::string_view text_at(const ColumnView& view, int64_t row) {
  if (is_null_at(view, row)) return {};
  if (!holds_addresses(view)) return string_at(view, row);
  const auto text = plain_at<dk_text>(view, row);
  return {text.data, static_cast<size_t>(text.length)};
}

namespace {

// While the last rows of a large tablet are copied, the first copies may move to a file.
constexpr int64_t copied_rows = 16384;

bool is_string(const ColumnView& view) { return view.encoding == Encoding::Heap || holds_addresses(view); }

size_t string_bytes(const ColumnView& view, int64_t first, int64_t rows) {
  size_t bytes = 0;
  for (int64_t row = first; row < first + rows; ++row) bytes += text_at(view, row).size();
  return bytes;
}

}  // namespace

void HostRowSet::add_copy(std::span<const ColumnView> from, int64_t first_row, int64_t rows) {
  const bool has_room = std::all_of(from.begin(), from.end(), [&](const ColumnView& view) {
    return !is_string(view) || string_bytes(view, first_row, rows) <= UINT32_MAX;
  });
  if (!has_room) {
    check_invariant(rows > 1, "one string takes less than 4 GB");
    add_copy(from, first_row, rows / 2);
    return add_copy(from, first_row + rows / 2, rows - rows / 2);
  }
  std::vector<ColumnView> views;
  std::vector<Chunk> chunks;
  const auto allocate = [&](size_t bytes) {
    return chunks.emplace_back(store_->memory().allocate(bytes + 64, "result")).data();
  };
  for (ColumnView view : from) {
    if (is_string(view)) {
      auto* offsets = reinterpret_cast<uint32_t*>(allocate(offset_bytes(rows)));
      std::byte* heap = allocate(string_bytes(view, first_row, rows));
      uint32_t at = 0;
      for (int64_t i = 0; i < rows; ++i) {
        const std::string_view string = text_at(view, first_row + i);
        offsets[i] = at;
        if (!string.empty()) std::memcpy(heap + at, string.data(), string.size());
        at += static_cast<uint32_t>(string.size());
      }
      offsets[rows] = at;
      view.encoding = Encoding::Heap;
      view.data = nullptr;
      view.offsets = offsets;
      view.heap = reinterpret_cast<const char*>(heap);
    } else {
      std::byte* data = allocate(data_bytes(view, rows));
      std::memcpy(data, view.data + data_bytes(view, first_row), data_bytes(view, rows));
      view.data = data;
    }
    if (view.validity != nullptr) {
      const auto bytes = static_cast<size_t>(validity_bytes(rows));
      auto* bits = reinterpret_cast<uint8_t*>(allocate(bytes));
      std::memset(bits, 0, bytes);
      copy_bits(bits, 0, view.validity, first_row, rows);
      view.validity = bits;
    }
    views.push_back(view);
  }
  add(HostPiece{rows, std::move(views), std::move(chunks), nullptr});
}

// Pieces may be of other stores than its own: of those whom they were taken over from.
void HostRowSet::move_to_file() {
  const ChunkStore* moved = nullptr;
  for (const StoredPiece& piece : pieces_) {
    if (piece.store.get() == moved) continue;
    piece.store->move_all();
    moved = piece.store.get();
  }
}

std::shared_ptr<HostRowSet> copy_rows(const TabletSource& source, const Memory& memory) {
  auto copy = std::make_shared<HostRowSet>(source.columns(), memory);
  std::vector<size_t> all(source.columns().size());
  std::iota(all.begin(), all.end(), size_t{0});
  for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet) {
    const auto pinned = source.pin(tablet, all);
    for (int64_t row = 0; row < pinned->rows; row += copied_rows)
      copy->add_copy(pinned->views, row, std::min(copied_rows, pinned->rows - row));
  }
  return copy;
}

bool HostRowSet::has_codes(size_t first) const {
  return std::any_of(pieces_.begin() + static_cast<ptrdiff_t>(first), pieces_.end(), [](const StoredPiece& piece) {
    return std::any_of(piece.views.begin(), piece.views.end(),
                       [](const ColumnView& view) { return view.encoding == Encoding::Dictionary; });
  });
}

void HostRowSet::cut(int64_t offset, int64_t limit) {
  std::vector<size_t> all(columns_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<StoredPiece> before = std::move(pieces_);
  pieces_.clear();
  first_rows_.clear();
  rows_ = 0;
  for (StoredPiece& piece : before) {
    const int64_t skipped = std::min(offset, piece.rows);
    offset -= skipped;
    if (skipped == piece.rows) continue;
    if (limit >= 0) piece.rows = skipped + std::min(piece.rows - skipped, limit - rows_);
    if (piece.rows <= skipped) break;
    if (skipped > 0)
      add_copy(pin(piece, all)->views, skipped, piece.rows - skipped);
    else
      add(std::move(piece));
  }
}

void cut_rows(const RowSetInfo& info, HostRowSet& rows) {
  const bool has_more = info.limit >= 0 && rows.row_count() > info.limit;
  if (info.offset > 0 || has_more)
    rows.cut(info.offset, info.limit < 0 ? -1 : std::max<int64_t>(0, info.limit - info.offset));
}

}  // namespace diptych
