// load_column(): from the bytes of a block to a view.
#include <string>

#include <zstd.h>

#include "base/error.h"
#include "tablet/column_check.h"
#include "tablet/encoding/bit_packing.h"
#include "tablet/layout.h"
#include "tablet/layout_records.h"

namespace diptych {
namespace {

[[noreturn]] void damaged(const char* area, const char* what) {
  throw Error(SqlState::data_corrupted, std::string("damaged tablet: ") + what + " of the " + area);
}

std::span<const std::byte> bytes_of(const Area& area, const ByteRange& range, std::span<const std::byte> bytes,
                                    const char* name) {
  if (area.stored.bytes == 0) return {};
  check_invariant(bytes.size() == range.bytes, "a column is made from the bytes its meta data names");
  std::span<const std::byte> stored = bytes.subspan(area.stored.offset - range.offset, area.stored.bytes);
  if (records::checksum_of(stored.data(), stored.size()) != area.checksum) damaged(name, "checksum");
  return stored;
}

AlignedBuffer decompress(const Area& area, std::span<const std::byte> stored, const char* name) {
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != area.raw_bytes) damaged(name, "decompressed size");
  AlignedBuffer raw(area.raw_bytes);
  size_t written = ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size());
  if (ZSTD_isError(written) || written != raw.size()) damaged(name, "compressed form");
  return raw;
}

// The area in its form in memory: viewed in place, or made in `owned`. width: of the values of a packed area.
const std::byte* open_area(const Area& area, std::span<const std::byte> stored, int width, int64_t rows,
                           const char* name, AlignedBuffer& owned) {
  if (area.codec == AreaCodec::Raw || stored.empty()) return stored.data();
  if (area.codec == AreaCodec::Zstd) {
    owned = decompress(area, stored, name);
  } else {
    owned = AlignedBuffer(area.raw_bytes);
    unpack_bits(stored, area.bits, width, rows, owned.data());
  }
  return owned.data();
}

template <typename Length>
uint64_t sum_up(const std::byte* bytes, int64_t rows, uint32_t* offsets) {
  const Length* lengths = reinterpret_cast<const Length*>(bytes);
  uint64_t end = 0;
  for (int64_t i = 0; i < rows; ++i) {
    offsets[i] = static_cast<uint32_t>(end);
    end += lengths[i];
  }
  offsets[rows] = static_cast<uint32_t>(end);
  return end;
}

AlignedBuffer offsets_from(const std::byte* lengths, int width, int64_t rows, uint64_t heap_bytes) {
  AlignedBuffer offsets((static_cast<size_t>(rows) + 1) * sizeof(uint32_t));
  uint32_t* to = offsets.as<uint32_t>();
  uint64_t end = width == 1   ? sum_up<uint8_t>(lengths, rows, to)
                 : width == 2 ? sum_up<uint16_t>(lengths, rows, to)
                              : sum_up<uint32_t>(lengths, rows, to);
  if (end != heap_bytes) damaged("heap", "size");
  return offsets;
}

}  // namespace

LoadedColumn load_column(const ColumnMeta& meta, int64_t rows, std::span<const std::byte> fixed,
                         std::span<const std::byte> variable, const Dictionary* dictionary) {
  LoadedColumn column;
  ColumnView& view = column.view;
  view.encoding = meta.encoding;
  view.physical = meta.physical;
  view.width = meta.width;
  view.base = meta.base;
  view.factor = meta.factor;
  ByteRange fixed_range = meta.fixed(), variable_range = meta.variable();
  auto data = bytes_of(meta.data, fixed_range, fixed, "data");
  auto validity = bytes_of(meta.validity, fixed_range, fixed, "validity");
  view.data = open_area(meta.data, data, meta.width, rows, "data", column.data);
  view.validity = validity.empty() ? nullptr : reinterpret_cast<const uint8_t*>(validity.data());
  column.views_source = !validity.empty() || (!data.empty() && column.data.empty());
  if (meta.encoding == Encoding::Dictionary) {
    check_invariant(dictionary != nullptr, "a column of codes comes with its dictionary");
    view.dictionary = dictionary;
  }
  if (meta.encoding == Encoding::Heap) {
    auto lengths = bytes_of(meta.lengths, variable_range, variable, "lengths");
    auto heap = bytes_of(meta.heap, variable_range, variable, "heap");
    AlignedBuffer unpacked;
    const std::byte* opened = open_area(meta.lengths, lengths, meta.length_width, rows, "lengths", unpacked);
    column.offsets = offsets_from(opened, meta.length_width, rows, meta.heap.raw_bytes);
    view.offsets = column.offsets.as<uint32_t>();
    view.heap = reinterpret_cast<const char*>(open_area(meta.heap, heap, 0, rows, "heap", column.heap));
    column.views_source = column.views_source || (!heap.empty() && column.heap.empty());
  }
  check_values(meta, rows, view);
  return column;
}

LoadedColumn load_column(const TabletMeta& meta, size_t column, std::span<const std::byte> block,
                         const Dictionary* dictionary) {
  const ColumnMeta& column_meta = meta.columns[column];
  ByteRange fixed = column_meta.fixed(), variable = column_meta.variable();
  return load_column(column_meta, meta.rows, block.subspan(fixed.offset, fixed.bytes),
                     block.subspan(variable.offset, variable.bytes), dictionary);
}

}  // namespace diptych
