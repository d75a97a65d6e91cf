#include "engine/cpu/column_decoder.h"

#include <cstring>

#include "base/error.h"
#include "tablet/dictionary.h"

namespace diptych::cpu {
namespace {

size_t stored_width(const ColumnView& view) {
  switch (view.encoding) {
    case Encoding::FrameOfReference:
    case Encoding::Dictionary: return view.width;
    case Encoding::Plain: return static_cast<size_t>(width_bytes(view.physical));
    case Encoding::Heap: return 0;
  }
  return 0;
}

Whole whole_of(PhysicalType physical) {
  return physical == PhysicalType::Int32 ? Whole::I32 : physical == PhysicalType::Int64 ? Whole::I64 : Whole::I128;
}

void decode_bools(const ColumnState& column, const DecodeRange& range, std::byte* out) {
  const auto* codes = reinterpret_cast<const uint8_t*>(column.codes);
  auto* to = reinterpret_cast<uint8_t*>(out);
  for (int row = 0; row < range.words * 64; ++row)
    to[row] = static_cast<uint8_t>(column.view.base + (column.view.width == 0 ? 0 : column.view.factor * codes[row]));
}

template <typename From, typename To>
void convert(const ColumnState& column, const DecodeRange& range, std::byte* out) {
  const auto* from = reinterpret_cast<const From*>(column.codes);
  auto* to = reinterpret_cast<To*>(out);
  for (int row = 0; row < range.words * 64; ++row) to[row] = static_cast<To>(from[row]);
}

// Plain integers of another width than the register's: the compiler has proven that the values fit.
void convert_plain(const ColumnState& column, PhysicalType physical, const DecodeRange& range, std::byte* out) {
  const auto from = [&]<typename To>(To) {
    switch (column.view.physical) {
      case PhysicalType::Int32: return convert<int32_t, To>(column, range, out);
      case PhysicalType::Int64: return convert<int64_t, To>(column, range, out);
      case PhysicalType::Int128: return convert<int128_t, To>(column, range, out);
      default: throw Error(SqlState::internal_error, "a column has another physical type than its register");
    }
  };
  switch (physical) {
    case PhysicalType::Int32: return from(int32_t{});
    case PhysicalType::Int64: return from(int64_t{});
    case PhysicalType::Int128: return from(int128_t{});
    default: throw Error(SqlState::internal_error, "a column has another physical type than its register");
  }
}

void decode_dictionary(const ColumnState& column, const DecodeRange& range, dk_text* out) {
  const std::string_view* entries = column.view.dictionary->entries();
  for (int w = 0; w < range.words; ++w) {
    if (range.wanted[w] == 0) continue;
    for (int row = w * 64; row < w * 64 + 64; ++row) {
      const std::string_view text = entries[dictionary_code(column, row)];
      out[row] = {text.data(), static_cast<dk_i32>(text.size())};
    }
  }
}

void decode_heap(const ColumnState& column, const DecodeRange& range, dk_text* out) {
  const uint32_t* offsets = column.view.offsets + range.first_row;
  for (int w = 0; w < range.words; ++w) {
    if (range.wanted[w] == 0) continue;
    for (int row = w * 64; row < w * 64 + 64; ++row) {
      if (row < range.rows)
        out[row] = {column.view.heap + offsets[row], static_cast<dk_i32>(offsets[row + 1] - offsets[row])};
      else
        out[row] = {nullptr, 0};
    }
  }
}

// Copies what a block has of something into a buffer that is zero up to the end of the last word.
const std::byte* padded_copy(AlignedBuffer& buffer, const std::byte* from, size_t bytes, size_t padded_bytes) {
  if (buffer.size() < padded_bytes) buffer.resize(padded_bytes);
  std::memcpy(buffer.data(), from, bytes);
  std::memset(buffer.data() + bytes, 0, padded_bytes - bytes);
  return buffer.data();
}

}  // namespace

void position_column(ColumnState& column, int64_t first_row, int rows) {
  const ColumnView& view = column.view;
  const size_t width = stored_width(view);
  const auto words = static_cast<size_t>(words_for(rows));
  const bool partial = rows % 64 != 0;
  column.codes = view.data == nullptr ? nullptr : view.data + static_cast<size_t>(first_row) * width;
  if (partial && width > 0)
    column.codes = padded_copy(column.tail, column.codes, static_cast<size_t>(rows) * width, words * 64 * width);
  column.valid = nullptr;
  if (view.validity == nullptr) return;
  const auto* bits = reinterpret_cast<const std::byte*>(view.validity) + first_row / 8;
  if (partial) bits = padded_copy(column.tail_valid, bits, (static_cast<size_t>(rows) + 7) / 8, words * 8);
  column.valid = reinterpret_cast<const uint64_t*>(bits);
}

bool is_direct(const ColumnView& view, PhysicalType physical) {
  return view.encoding == Encoding::Plain && view.physical == physical;
}

uint32_t dictionary_code(const ColumnState& column, int row) {
  switch (column.view.width) {
    case 0: return static_cast<uint32_t>(column.view.base);
    case 1: return reinterpret_cast<const uint8_t*>(column.codes)[row];
    case 2: return reinterpret_cast<const uint16_t*>(column.codes)[row];
    default: return reinterpret_cast<const uint32_t*>(column.codes)[row];
  }
}

void decode_column(const ColumnState& column, bool codes_wanted, PhysicalType physical, const DecodeRange& range,
                   std::byte* out) {
  const ColumnView& view = column.view;
  if (view.encoding == Encoding::Dictionary && !codes_wanted)
    return decode_dictionary(column, range, reinterpret_cast<dk_text*>(out));
  if (view.encoding == Encoding::Heap) return decode_heap(column, range, reinterpret_cast<dk_text*>(out));
  if (view.encoding == Encoding::Plain) return convert_plain(column, physical, range, out);
  if (physical == PhysicalType::Bool) return decode_bools(column, range, out);
  const DecodeLoop loop = loops().decode[code_index(view.width)][static_cast<size_t>(whole_of(physical))];
  loop(range.wanted, range.words, column.codes, {view.base, view.factor}, out);
}

}  // namespace diptych::cpu
