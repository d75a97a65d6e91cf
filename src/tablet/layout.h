// A tablet as one block of bytes, for disk, host memory and devices alike: whole pages, and no address in it.
//
//   0            header       64 bytes: magic, version, rows, columns, sizes, checksum of the meta area
//   64           column meta  256 bytes a column: encoding, frame, bounds, and where its four areas are
//   ...          key area     data and validity of the primary key's columns
//   ...          fixed area   data and validity of the other columns, each area on a multiple of 64
//   ...          variable     string lengths and heaps, column by column
//   ...          zeros up to a multiple of 4096
//
// Each area carries its own checksum (XXH3, 64 bits) and may be compressed at rest. docs/format.md has every field.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tablet/encoded_tablet.h"

namespace diptych {

inline constexpr uint64_t tablet_page_bytes = 4096;
inline constexpr uint32_t tablet_format_version = 1;

enum class AreaCodec : uint8_t {
  Raw,   // as in memory
  Zstd,  // one zstd frame that gives its content size
  Bits,  // codes or lengths in `bits` bits each, value i at bit i * bits, lowest bit first; groups of 8 values are
         // whole bytes
};

// A stretch of bytes, counted from the start of the block.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t end() const { return offset + bytes; }
};

struct Area {
  ByteRange stored;        // empty: the area is not there
  uint64_t raw_bytes = 0;  // after decompression
  uint64_t checksum = 0;   // of the stored bytes
  AreaCodec codec = AreaCodec::Raw;
  uint8_t bits = 0;  // Bits only
};

struct ColumnMeta {
  Encoding encoding = Encoding::FrameOfReference;
  PhysicalType physical = PhysicalType::Int32;
  uint8_t width = 0;         // of a code
  uint8_t length_width = 0;  // Heap: bytes of a string's length at rest (1, 2, 4)
  int64_t base = 0;
  int64_t factor = 1;
  ZoneMap zone;
  Area data, validity, lengths, heap;
  // Dictionary: codes are below this, which whoever knows sets; it is not in the block.
  uint32_t code_end = UINT32_MAX;

  // Where data and validity, and where lengths and heap are: a column is read with at most these two reads.
  ByteRange fixed() const;
  ByteRange variable() const;
  // Bytes at rest.
  int64_t stored_bytes() const { return static_cast<int64_t>(fixed().bytes + variable().bytes); }
  // Bytes in memory once load_column() has made the view: encoded, but not compressed.
  int64_t loaded_bytes(int64_t rows) const;
};

struct TabletMeta {
  int64_t rows = 0;
  uint64_t block_bytes = 0;
  std::vector<ColumnMeta> columns;
};

struct SerializeOptions {
  bool compress = true;                      // false: every area raw, for blocks that stay in memory
  std::span<const size_t> key_columns = {};  // of the primary key
};

// The block of a tablet; its size is a multiple of tablet_page_bytes.
AlignedBuffer serialize(const EncodedTablet& tablet, const SerializeOptions& options = {});

// Bytes at the start of a block that parse_meta() needs.
uint64_t tablet_meta_bytes(size_t columns);

// Reads the meta data from the first bytes of a block and checks everything that a reader relies on: every area lies
// within the block, sizes agree with the row count, widths and types are possible. Errors: XX001.
TabletMeta parse_meta(std::span<const std::byte> start_of_block, uint64_t block_bytes);

// The ranges to read for some columns, in ascending order; ranges at most `gap` bytes apart are read as one.
std::vector<ByteRange> column_extents(const TabletMeta& meta, std::span<const size_t> wanted, uint64_t gap);

// A column ready for engines, and the memory its view needs beyond the bytes it was made from.
struct LoadedColumn {
  ColumnView view;
  AlignedBuffer data, validity, offsets, heap;  // those that had to be decompressed or rebuilt
  bool views_source = false;                    // the view points into the bytes given, too
};

// Makes the view of a column from its bytes: `fixed` and `variable` are the bytes of meta.fixed() and meta.variable(),
// `fixed` starting on a multiple of 64. Raw areas are viewed in place, others go to memory of the result. Errors: XX001
// when a checksum or the decompressed form is wrong, or the values are not what the meta data say (column_check.h).
// dictionary: of the column; needed for Encoding::Dictionary only.
LoadedColumn load_column(const ColumnMeta& meta, int64_t rows, std::span<const std::byte> fixed,
                         std::span<const std::byte> variable, const Dictionary* dictionary);

// The same out of a whole block in memory.
LoadedColumn load_column(const TabletMeta& meta, size_t column, std::span<const std::byte> block,
                         const Dictionary* dictionary);

}  // namespace diptych
