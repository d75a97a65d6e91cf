// The hot loops of the engine, each compiled for several levels of the x86-64 instruction set and chosen at run time.
//
//   table.inc  ->  loops_v2.cc (SSE 4.2), loops_v3.cc (AVX2), loops_v4.cc (AVX-512)
//              ->  loops(): the table of the best level that this machine has
//
// All loops take a mask of wanted rows and work on whole words of 64 rows: words without a wanted row are skipped, in
// the others every lane is computed, wanted or not. Inputs must be readable and outputs writable up to the end of the
// last word.
#pragma once

#include <cstddef>
#include <cstdint>

namespace diptych::cpu {

__extension__ typedef __int128 wide_t;

// Values of a register or codes of a column, as loops see them.
struct Values {
  const void* data = nullptr;
  size_t word_bytes = 0;  // from a word of 64 rows to the next; 0: a constant, the same 64 values serve every word
};

// How the elements of Values are to be read. Unsigned lanes are codes of encoded columns.
enum class Lane : uint8_t { U8, U16, U32, U64, I32, I64, I128, F32, F64 };
inline constexpr int lane_count = 9;

// Widths of codes: 0, 1, 2, 4, 8 bytes; the index of a width in tables.
inline constexpr int code_widths = 5;
constexpr int code_index(int width) { return width == 0 ? 0 : width == 1 ? 1 : width == 2 ? 2 : width == 4 ? 3 : 4; }

// Integer registers in tables.
enum class Whole : uint8_t { I32, I64, I128 };
inline constexpr int whole_count = 3;

// value = base + factor * code
struct CodeFrame {
  int64_t base = 0;
  int64_t factor = 1;
};

// out = the rows where it holds, unspecified bits in rows that are not wanted, 0 in words without a wanted row.
using CompareLoop = void (*)(const uint64_t* wanted, int words, Values a, Values b, uint64_t* out);
// Returns false when some lane of a word may not have come out right (overflow); such words are to be looked at row by
// row.
using BinaryLoop = bool (*)(const uint64_t* wanted, int words, Values a, Values b, void* out);
using UnaryLoop = bool (*)(const uint64_t* wanted, int words, Values a, void* out);
using DecodeLoop = void (*)(const uint64_t* wanted, int words, const void* codes, CodeFrame frame, void* out);
// Writes the wanted rows only, close together, and returns how many. Up to 64 bytes past the last one may be
// overwritten.
using CompressLoop = size_t (*)(const uint64_t* wanted, int words, const void* codes, CodeFrame frame, void* out);
// The number of the register's lane that holds the sum, least or greatest of the wanted rows.
using SumLoop = void (*)(const uint64_t* wanted, int words, Values a, void* sum);
// True when a wanted row's value is below *low or above *high.
using OutsideLoop = bool (*)(const uint64_t* wanted, int words, Values a, const void* low, const void* high);
// Adds value * stride to a row's group number; `first`: stores instead of adding.
using IndexLoop = void (*)(const uint64_t* wanted, int words, Values a, int64_t low, uint32_t stride, bool first,
                           uint32_t* index);

// Which of the numbers from low on are keys of an index, and what is found for one: its own number from low on, or how
// many keys come before it.
struct PlaceFrame {
  int64_t low = 0;
  uint64_t span = 0;                 // numbers from low on that may be keys
  const uint64_t* bits = nullptr;    // up to that of number `span`, which is 0; null: all are keys
  const uint32_t* before = nullptr;  // by word of bits: keys before it; null: what is found is the number itself
};
// Clears the rows whose key is none, and writes what is found for the others.
using PlaceLoop = void (*)(uint64_t* rows, int words, Values keys, const PlaceFrame& frame, int64_t* places);

// A filter of hashes (register-blocked: Lang et al., VLDB 2019): the upper bits of a hash choose a word, three parts of
// the lower ones the bits of it that are set for this hash.
struct FilterFrame {
  const uint64_t* words = nullptr;
  int shift = 0;  // from a hash to the number of its word
};
static inline uint64_t filter_bits_of(uint64_t hash) {
  return uint64_t{1} << (hash & 63) | uint64_t{1} << (hash >> 6 & 63) | uint64_t{1} << (hash >> 12 & 63);
}
// By row, dk_hash_i64() of the key.
using HashLoop = void (*)(const uint64_t* wanted, int words, Values keys, uint64_t* hashes);
// Clears the rows whose hash the filter has not seen.
using FilterLoop = void (*)(uint64_t* rows, int words, const uint64_t* hashes, const FilterFrame& filter);

struct ArithmeticLoops {
  BinaryLoop add[2], sub[2], mul[2];  // [1]: reports overflow
};

struct LoopTable {
  const char* name;
  CompareLoop equal[lane_count];
  CompareLoop less[lane_count];

  DecodeLoop decode[code_widths][whole_count];
  // From codes of a width to values of a form; and of plain values of 1, 4, 8 and 16 bytes (log2 is the index).
  CompressLoop compress_codes[code_widths][whole_count];
  CompressLoop compress_plain[5];

  ArithmeticLoops i32, i64, i128, f32, f64;
  ArithmeticLoops i64_of_i32, i64_of_i64_i32, i128_of_i64;
  UnaryLoop widen_i32_i64, widen_i32_i128, widen_i64_i128;
  OutsideLoop outside[lane_count];

  // Bytes that are 0 or not, from and to bits.
  void (*pack)(const uint64_t* wanted, int words, Values bytes, uint64_t* out);
  void (*expand)(const uint64_t* bits, int words, void* bytes);

  // Sums: int64 of I32 and I64 (wraps around), exact wide_t of I64, double of F32 and F64.
  SumLoop sum_i32, sum_i64, sum_i64_wide, sum_f32, sum_f64;
  // The least or greatest, by the order of SQL (NaN is the greatest float); at least one row is wanted.
  SumLoop least[lane_count], greatest[lane_count];

  IndexLoop index_bool, index_i32, index_i64;
  PlaceLoop places_i32, places_i64;
  PlaceLoop places_codes[3];  // of 1, 2 and 4 bytes; the frame's low less the codes' base, between -2^31 and 2^32
  HashLoop hash_i32, hash_i64;
  FilterLoop filter;
};

// The table for this machine. DIPTYCH_ISA=v2, v3 or v4 in the environment asks for a lower level, for tests and
// measurements.
const LoopTable& loops();

namespace v2 {
extern const LoopTable table;
}
namespace v3 {
extern const LoopTable table;
}
namespace v4 {
extern const LoopTable table;
}

}  // namespace diptych::cpu
