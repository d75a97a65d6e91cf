#include "tablet/layout.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "tablet/encoding/bit_packing.h"
#include "tablet/layout_records.h"
#include "tablet/validity_bits.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace diptych {
namespace records {

uint64_t checksum_of(const void* bytes, uint64_t count, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, count, seed);
}

uint64_t checksum_of_meta(const Header& header, const void* columns) {
  uint64_t seed = checksum_of(&header, offsetof(Header, checksum));
  return checksum_of(columns, header.columns * sizeof(Column), seed);
}

}  // namespace records

namespace {

constexpr uint64_t most_rows = uint64_t{1} << 24;
constexpr uint64_t most_columns = 65536;
// zstd makes at most 128 KiB of 4 bytes; more is a size that only asks for memory.
constexpr uint64_t most_compression = 32768;

[[noreturn]] void damaged(const std::string& what) { throw Error(SqlState::data_corrupted, "damaged tablet: " + what); }

void require(bool holds, const char* what) {
  if (!holds) damaged(what);
}

bool is_present(const Area& area) { return area.stored.bytes > 0; }

// The smallest range that holds both areas.
ByteRange cover(const Area& a, const Area& b) {
  if (!is_present(a)) return b.stored;
  if (!is_present(b)) return a.stored;
  uint64_t first = std::min(a.stored.offset, b.stored.offset);
  return {first, std::max(a.stored.end(), b.stored.end()) - first};
}

Area parse_area(const records::Area& record, const records::Header& header) {
  Area area;
  area.stored = {record.offset, record.stored_bytes};
  area.raw_bytes = record.raw_bytes;
  area.checksum = record.checksum;
  area.codec = static_cast<AreaCodec>(record.codec);
  area.bits = record.bits;
  require(record.codec <= static_cast<uint8_t>(AreaCodec::Bits), "unknown codec");
  if (record.stored_bytes == 0) {
    require(record.raw_bytes == 0, "an area without stored bytes");
    area.stored.offset = 0;
    return area;
  }
  require(record.offset % AlignedBuffer::alignment == 0, "an area is not aligned");
  require(record.offset >= header.meta_bytes && record.offset <= header.block_bytes,
          "an area starts outside the block");
  require(record.stored_bytes <= header.block_bytes - record.offset, "an area ends outside the block");
  require(area.codec != AreaCodec::Raw || record.stored_bytes == record.raw_bytes, "a raw area's size");
  require(record.raw_bytes > 0 && record.raw_bytes / most_compression <= record.stored_bytes, "an area's size");
  require(area.codec != AreaCodec::Bits || (area.bits >= 1 && area.bits <= most_packed_bits), "bits of a packed area");
  return area;
}

void check_packed(const Area& area, int width, uint64_t rows) {
  if (area.codec != AreaCodec::Bits) return;
  require(width > 0 && area.bits < 8 * width, "bits of a packed area");
  require(area.stored.bytes == packed_bytes(rows, area.bits), "a packed area's size");
}

bool is_code_width(int width) { return width == 0 || width == 1 || width == 2 || width == 4 || width == 8; }

void check_strings(const ColumnMeta& column, uint64_t rows) {
  require(column.length_width == 1 || column.length_width == 2 || column.length_width == 4, "width of string lengths");
  require(column.lengths.raw_bytes == rows * column.length_width, "size of the string lengths");
  require(column.heap.raw_bytes <= UINT32_MAX, "size of the heap");
  require(column.heap.codec != AreaCodec::Bits, "codec of the heap");
  check_packed(column.lengths, column.length_width, rows);
}

// Sizes and widths that the encoding demands.
void check_column(const ColumnMeta& column, uint64_t rows) {
  bool is_text = column.physical == PhysicalType::Text;
  uint64_t expected_data = 0;
  switch (column.encoding) {
    case Encoding::FrameOfReference:
      require(column.physical <= PhysicalType::Int128, "frame of reference of a type without integers");
      require(is_code_width(column.width), "width of codes");
      expected_data = rows * column.width;
      break;
    case Encoding::Plain:
      require(!is_text && column.physical >= PhysicalType::Int128, "plain values of a type that has none");
      expected_data = rows * static_cast<uint64_t>(width_bytes(column.physical));
      break;
    case Encoding::Dictionary:
      require(is_text && (column.width == 1 || column.width == 2), "width of dictionary codes");
      expected_data = rows * column.width;
      break;
    case Encoding::Heap:
      require(is_text, "a heap of a type without strings");
      check_strings(column, rows);
      break;
  }
  bool has_codes = column.encoding == Encoding::FrameOfReference || column.encoding == Encoding::Dictionary;
  require(column.data.raw_bytes == expected_data, "size of the data");
  bool has_heap = column.encoding == Encoding::Heap;
  require(has_heap || (!is_present(column.lengths) && !is_present(column.heap)), "a heap without strings");
  require(has_codes || column.data.codec != AreaCodec::Bits, "codec of the data");
  check_packed(column.data, column.width, rows);
  require(column.factor >= 1, "factor");
  bool is_framed = column.encoding == Encoding::FrameOfReference;
  require(is_framed || (column.base == 0 && column.factor == 1), "a frame of what has none");
  require(column.zone.null_count >= 0 && static_cast<uint64_t>(column.zone.null_count) <= rows, "count of nulls");
  bool is_integer = column.physical <= PhysicalType::Int128;
  bool is_float = column.physical == PhysicalType::Float32 || column.physical == PhysicalType::Float64;
  bool has_values = static_cast<uint64_t>(column.zone.null_count) < rows;
  require((!is_integer && !is_float) || column.zone.has_bounds == has_values,
          "bounds of values that are not there, or none");
  require(!is_integer || column.zone.low <= column.zone.high, "bounds");
  require(column.validity.codec == AreaCodec::Raw, "codec of the validity");
  uint64_t expected_validity =
      column.zone.null_count > 0 ? static_cast<uint64_t>(validity_bytes(static_cast<int64_t>(rows))) : 0;
  require(column.validity.raw_bytes == expected_validity, "size of the validity");
}

int128_t wide(const uint64_t (&halves)[2]) { return static_cast<int128_t>((uint128_t{halves[1]} << 64) | halves[0]); }

ColumnMeta parse_column(const records::Column& record, const records::Header& header) {
  ColumnMeta column;
  require(record.encoding <= static_cast<uint8_t>(Encoding::Heap), "unknown encoding");
  require(record.physical <= static_cast<uint8_t>(PhysicalType::Text), "unknown type");
  column.encoding = static_cast<Encoding>(record.encoding);
  column.physical = static_cast<PhysicalType>(record.physical);
  column.width = record.width;
  column.length_width = record.length_width;
  column.base = record.base;
  column.factor = record.factor;
  column.zone.has_bounds = record.has_bounds != 0;
  column.zone.null_count = record.null_count;
  column.zone.low = wide(record.low);
  column.zone.high = wide(record.high);
  column.zone.low_float = record.low_float;
  column.zone.high_float = record.high_float;
  column.data = parse_area(record.data, header);
  column.validity = parse_area(record.validity, header);
  column.lengths = parse_area(record.lengths, header);
  column.heap = parse_area(record.heap, header);
  check_column(column, header.rows);
  return column;
}

}  // namespace

ByteRange ColumnMeta::fixed() const { return cover(data, validity); }
ByteRange ColumnMeta::variable() const { return cover(lengths, heap); }

int64_t ColumnMeta::loaded_bytes(int64_t rows) const {
  uint64_t offsets = encoding == Encoding::Heap ? (static_cast<uint64_t>(rows) + 1) * sizeof(uint32_t) : 0;
  return static_cast<int64_t>(data.raw_bytes + validity.raw_bytes + heap.raw_bytes + offsets);
}

uint64_t tablet_meta_bytes(size_t columns) { return sizeof(records::Header) + columns * sizeof(records::Column); }

TabletMeta parse_meta(std::span<const std::byte> start_of_block, uint64_t block_bytes) {
  records::Header header;
  require(start_of_block.size() >= sizeof(header), "shorter than its header");
  std::memcpy(&header, start_of_block.data(), sizeof(header));
  require(std::memcmp(header.magic, records::magic, sizeof(header.magic)) == 0, "no tablet starts here");
  if (header.version != tablet_format_version) {
    damaged("it has format version " + std::to_string(header.version) + ", this program reads version " +
            std::to_string(tablet_format_version));
  }
  require(header.columns <= most_columns && header.rows <= most_rows, "row or column count");
  require(header.block_bytes == block_bytes && block_bytes % tablet_page_bytes == 0, "block size");
  require(header.meta_bytes == tablet_meta_bytes(header.columns) && header.meta_bytes <= block_bytes,
          "size of the meta data");
  require(header.meta_bytes <= start_of_block.size(), "meta data not read in full");
  const std::byte* columns = start_of_block.data() + sizeof(header);
  require(records::checksum_of_meta(header, columns) == header.checksum, "checksum of the meta data");
  TabletMeta meta;
  meta.rows = static_cast<int64_t>(header.rows);
  meta.block_bytes = block_bytes;
  for (uint32_t i = 0; i < header.columns; ++i) {
    records::Column record;
    std::memcpy(&record, columns + i * sizeof(record), sizeof(record));
    meta.columns.push_back(parse_column(record, header));
  }
  return meta;
}

std::vector<ByteRange> column_extents(const TabletMeta& meta, std::span<const size_t> wanted, uint64_t gap) {
  std::vector<ByteRange> ranges;
  for (size_t column : wanted) {
    for (ByteRange range : {meta.columns[column].fixed(), meta.columns[column].variable()}) {
      if (range.bytes > 0) ranges.push_back(range);
    }
  }
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.offset < b.offset; });
  std::vector<ByteRange> merged;
  for (const ByteRange& range : ranges) {
    if (!merged.empty() && range.offset <= merged.back().end() + gap) {
      merged.back().bytes = std::max(merged.back().end(), range.end()) - merged.back().offset;
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

}  // namespace diptych
