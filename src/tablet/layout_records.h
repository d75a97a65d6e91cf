// The records of a block as they stand in its bytes, little-endian. docs/format.md, section "tablet", describes them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "tablet/layout.h"

namespace diptych::records {

static_assert(std::endian::native == std::endian::little, "records are copied, not converted");

inline constexpr char magic[8] = {'D', 'P', 'T', 'A', 'B', 'L', 'E', 'T'};

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t columns;
  uint64_t rows;
  uint64_t block_bytes;
  uint64_t meta_bytes;
  uint64_t key_bytes;  // of the key area, which follows the meta data
  uint64_t reserved;
  uint64_t checksum;  // of the column records, seeded with that of the header before this field
};
static_assert(sizeof(Header) == 64);

struct Area {
  uint64_t offset;
  uint64_t stored_bytes;
  uint64_t raw_bytes;
  uint64_t checksum;
  uint8_t codec;
  uint8_t bits;
  uint8_t reserved[6];
};
static_assert(sizeof(Area) == 40);

struct Column {
  uint8_t encoding;
  uint8_t physical;
  uint8_t width;
  uint8_t length_width;
  uint8_t has_bounds;
  uint8_t reserved[3];
  int64_t base;
  int64_t factor;
  int64_t null_count;
  uint64_t low[2];  // lower half first
  uint64_t high[2];
  double low_float;
  double high_float;
  Area data, validity, lengths, heap;
  uint64_t reserved_end[2];
};
static_assert(sizeof(Column) == 256);

// XXH3, 64 bits.
uint64_t checksum_of(const void* bytes, uint64_t count, uint64_t seed = 0);
uint64_t checksum_of_meta(const Header& header, const void* columns);

}  // namespace diptych::records
