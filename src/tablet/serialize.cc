// serialize(): from encoded columns to a block.
#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include <zstd.h>

#include "base/error.h"
#include "tablet/encoding/bit_packing.h"
#include "tablet/layout.h"
#include "tablet/layout_records.h"

namespace diptych {
namespace {

constexpr int zstd_level = 1;
// What an area must save to be kept compressed, in percent; decompression costs about 1 ns a byte, unpacking 0.2.
constexpr uint64_t least_saving_of_strings = 25;
constexpr uint64_t least_saving_of_values = 40;
constexpr uint64_t least_saving_of_bits = 10;
// Before a column's data is compressed as a whole, this much of it is tried.
constexpr size_t sample_bytes = 16384;
// Of less than a part of a page there is little to save: small tablets come with every commit, and are soon put
// together.
constexpr size_t least_compressed_bytes = 1024;

bool saves(uint64_t bytes, uint64_t of, uint64_t percent) { return bytes * 100 <= of * (100 - percent); }

// An area about to be written: its stored bytes are `view`, held by `owned` when they are not the column's own.
struct StoredArea {
  records::Area record{};
  std::span<const std::byte> view;
  AlignedBuffer owned;
};

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

// To make one takes as long as to compress some kilobytes. Errors: std::bad_alloc.
ZSTD_CCtx& context_of_thread() {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  if (context == nullptr) throw std::bad_alloc();
  return *context;
}

AlignedBuffer zstd_compress(std::span<const std::byte> raw) {
  AlignedBuffer compressed(ZSTD_compressBound(raw.size()));
  const size_t bytes =
      ZSTD_compressCCtx(&context_of_thread(), compressed.data(), compressed.size(), raw.data(), raw.size(), zstd_level);
  check_invariant(!ZSTD_isError(bytes), "zstd compresses into a buffer of its bound");
  compressed.resize(bytes);
  return compressed;
}

StoredArea raw_area(std::span<const std::byte> raw) {
  StoredArea area;
  area.view = raw;
  area.record.raw_bytes = raw.size();
  return area;
}

void replace(StoredArea& area, AreaCodec codec, AlignedBuffer bytes, int bits = 0) {
  area.owned = std::move(bytes);
  area.view = area.owned.span();
  area.record.codec = static_cast<uint8_t>(codec);
  area.record.bits = static_cast<uint8_t>(bits);
}

void try_zstd(StoredArea& area, std::span<const std::byte> raw, uint64_t least_saving) {
  if (raw.size() < least_compressed_bytes) return;
  if (raw.size() > 2 * sample_bytes) {
    std::span<const std::byte> sample = raw.subspan(raw.size() / 2, sample_bytes);
    uint64_t expected = zstd_compress(sample).size() * raw.size() / sample_bytes;
    if (!saves(expected, area.view.size(), least_saving)) return;
  }
  AlignedBuffer compressed = zstd_compress(raw);
  if (saves(compressed.size(), area.view.size(), least_saving)) replace(area, AreaCodec::Zstd, std::move(compressed));
}

void try_bits(StoredArea& area, std::span<const std::byte> raw, int width, int64_t rows) {
  int bits = std::max(1, bits_needed(raw.data(), width, rows));
  if (bits > most_packed_bits) return;
  uint64_t bytes = packed_bytes(static_cast<uint64_t>(rows), bits);
  if (!saves(bytes, raw.size(), least_saving_of_bits)) return;
  AlignedBuffer packed(bytes);
  pack_bits(raw.data(), width, rows, bits, packed.data());
  replace(area, AreaCodec::Bits, std::move(packed), bits);
}

StoredArea data_area(const EncodedColumn& column, int64_t rows, bool compress) {
  StoredArea area = raw_area(column.data.span());
  if (!compress || column.data.empty()) return area;
  if (column.width > 0) try_bits(area, column.data.span(), column.width, rows);
  if (column.width == 0 || column.width >= 4) try_zstd(area, column.data.span(), least_saving_of_values);
  return area;
}

// The lengths of the strings in the fewest whole bytes.
AlignedBuffer lengths_of(const EncodedColumn& column, int64_t rows, uint8_t& width) {
  const uint32_t* offsets = column.offsets.as<uint32_t>();
  uint32_t longest = 0;
  for (int64_t i = 0; i < rows; ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
  width = longest <= 0xFF ? 1 : longest <= 0xFFFF ? 2 : 4;
  AlignedBuffer lengths(static_cast<size_t>(rows) * width);
  for (int64_t i = 0; i < rows; ++i) {
    uint32_t length = offsets[i + 1] - offsets[i];
    std::memcpy(lengths.data() + i * width, &length, width);
  }
  return lengths;
}

struct StoredColumn {
  records::Column record{};
  AlignedBuffer lengths_bytes;
  StoredArea data, validity, lengths, heap;
};

void set_wide(uint64_t (&halves)[2], int128_t value) {
  halves[0] = static_cast<uint64_t>(value);
  halves[1] = static_cast<uint64_t>(static_cast<uint128_t>(value) >> 64);
}

StoredColumn store_column(const EncodedColumn& column, int64_t rows, bool compress) {
  StoredColumn stored;
  records::Column& record = stored.record;
  record.encoding = static_cast<uint8_t>(column.encoding);
  record.physical = static_cast<uint8_t>(column.physical);
  record.width = column.width;
  record.has_bounds = column.zone.has_bounds ? 1 : 0;
  record.base = column.base;
  record.factor = column.factor;
  record.null_count = column.zone.null_count;
  set_wide(record.low, column.zone.low);
  set_wide(record.high, column.zone.high);
  record.low_float = column.zone.low_float;
  record.high_float = column.zone.high_float;
  stored.data = data_area(column, rows, compress);
  stored.validity = raw_area(column.validity.span());
  if (column.encoding == Encoding::Heap) {
    stored.lengths_bytes = lengths_of(column, rows, record.length_width);
    stored.lengths = raw_area(stored.lengths_bytes.span());
    stored.heap = raw_area(column.heap.span());
    if (compress && rows > 0) try_bits(stored.lengths, stored.lengths_bytes.span(), record.length_width, rows);
    if (compress && !column.heap.empty()) try_zstd(stored.heap, column.heap.span(), least_saving_of_strings);
  }
  return stored;
}

uint64_t round_up(uint64_t bytes, uint64_t to) { return (bytes + to - 1) / to * to; }

// Gives the area its place at `end` and moves `end` past it.
void place(StoredArea& area, records::Area& in_column, uint64_t& end) {
  area.record.stored_bytes = area.view.size();
  if (!area.view.empty()) {
    area.record.offset = end;
    area.record.checksum = records::checksum_of(area.view.data(), area.view.size());
    end = round_up(end + area.view.size(), AlignedBuffer::alignment);
  }
  in_column = area.record;
}

void write(const StoredArea& area, AlignedBuffer& block) {
  if (!area.view.empty()) std::memcpy(block.data() + area.record.offset, area.view.data(), area.view.size());
}

AlignedBuffer write_block(const std::vector<StoredColumn>& columns, records::Header& header) {
  AlignedBuffer block(header.block_bytes);
  std::memset(block.data(), 0, block.size());
  std::byte* records_at = block.data() + sizeof(header);
  for (size_t i = 0; i < columns.size(); ++i) {
    std::memcpy(records_at + i * sizeof(records::Column), &columns[i].record, sizeof(records::Column));
    for (const StoredArea* area : {&columns[i].data, &columns[i].validity, &columns[i].lengths, &columns[i].heap}) {
      write(*area, block);
    }
  }
  header.checksum = records::checksum_of_meta(header, records_at);
  std::memcpy(block.data(), &header, sizeof(header));
  return block;
}

}  // namespace

AlignedBuffer serialize(const EncodedTablet& tablet, const SerializeOptions& options) {
  std::vector<StoredColumn> columns;
  for (const EncodedColumn& column : tablet.columns)
    columns.push_back(store_column(column, tablet.rows, options.compress));
  records::Header header{};
  std::memcpy(header.magic, records::magic, sizeof(header.magic));
  header.version = tablet_format_version;
  header.columns = static_cast<uint32_t>(columns.size());
  header.rows = static_cast<uint64_t>(tablet.rows);
  header.meta_bytes = tablet_meta_bytes(columns.size());
  uint64_t end = header.meta_bytes;
  std::vector<bool> is_key(columns.size());
  for (size_t key : options.key_columns) is_key[key] = true;
  for (bool key : {true, false}) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (is_key[i] != key) continue;
      place(columns[i].data, columns[i].record.data, end);
      place(columns[i].validity, columns[i].record.validity, end);
    }
    if (key) header.key_bytes = end - header.meta_bytes;
  }
  for (StoredColumn& column : columns) {
    place(column.lengths, column.record.lengths, end);
    place(column.heap, column.record.heap, end);
  }
  header.block_bytes = round_up(end, tablet_page_bytes);
  return write_block(columns, header);
}

}  // namespace diptych
