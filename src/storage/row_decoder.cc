#include "storage/row_decoder.h"

#include <cstring>
#include <string_view>

#include "base/error.h"
#include "tablet/dictionary.h"

namespace diptych {

DecodedRows::DecodedRows(std::span<const ColumnView> views, int64_t rows, Texts texts) : rows_(rows), texts_(texts) {
  for (const ColumnView& view : views) columns_.push_back(decode(view));
}

DecodedRows::DecodedRows(std::span<const ColumnView> views, int64_t rows, const uint8_t* live)
    : rows_(count_ones(live, 0, rows)), has_all_(rows_ == rows) {
  if (!has_all_) {
    slots_.reserve(static_cast<size_t>(rows_));
    for (int64_t slot = 0; slot < rows; ++slot)
      if (is_valid(live, slot)) slots_.push_back(static_cast<uint32_t>(slot));
  }
  for (const ColumnView& view : views) columns_.push_back(decode(view));
}

template <typename T>
T* DecodedRows::memory(int64_t count) {
  memory_.push_back(std::make_unique<std::byte[]>(sizeof(T) * static_cast<size_t>(count)));
  return reinterpret_cast<T*>(memory_.back().get());
}

// Calls use(row, slot of the tablet) in order.
template <typename Use>
void DecodedRows::for_each_row(Use use) const {
  if (has_all_)
    for (int64_t row = 0; row < rows_; ++row) use(row, row);
  else
    for (int64_t row = 0; row < rows_; ++row) use(row, int64_t{slots_[static_cast<size_t>(row)]});
}

BatchColumn DecodedRows::decode(const ColumnView& view) {
  BatchColumn column;
  column.physical = view.physical;
  column.validity = has_all_ || view.validity == nullptr ? view.validity : copy_validity(view);
  if (view.encoding == Encoding::Heap && has_all_) {
    column.offsets = view.offsets;
    column.bytes = view.heap;
  } else if (view.encoding == Encoding::Dictionary && texts_ == Texts::Codes) {
    column.codes = copy_codes(view);
    column.dictionary = view.dictionary;
  } else if (view.physical == PhysicalType::Text) {
    copy_texts(view, column);
  } else {
    column.values = decode_values(view);
  }
  return column;
}

const uint8_t* DecodedRows::copy_validity(const ColumnView& view) {
  auto* bits = memory<uint8_t>(validity_bytes(rows_));
  std::memset(bits, 0, static_cast<size_t>(validity_bytes(rows_)));
  for_each_row([&](int64_t row, int64_t slot) {
    bits[row / 8] |= static_cast<uint8_t>(int{is_valid(view.validity, slot)} << (row % 8));
  });
  return bits;
}

const void* DecodedRows::decode_values(const ColumnView& view) {
  const bool is_framed = view.encoding == Encoding::FrameOfReference;
  if (!is_framed && has_all_) return view.data;
  switch (view.physical) {
    case PhysicalType::Bool: return is_framed ? decode_framed<uint8_t>(view) : copy_plain<uint8_t>(view);
    case PhysicalType::Int32: return is_framed ? decode_framed<int32_t>(view) : copy_plain<int32_t>(view);
    case PhysicalType::Int64: return is_framed ? decode_framed<int64_t>(view) : copy_plain<int64_t>(view);
    case PhysicalType::Int128: return is_framed ? decode_framed<int128_t>(view) : copy_plain<int128_t>(view);
    case PhysicalType::Float32: return copy_plain<float>(view);
    case PhysicalType::Float64: return copy_plain<double>(view);
    case PhysicalType::Interval: return copy_plain<Interval>(view);
    case PhysicalType::Text: break;
  }
  check_invariant(false, "strings are no values");
  return nullptr;
}

template <typename T>
const void* DecodedRows::copy_plain(const ColumnView& view) {
  T* values = memory<T>(rows_);
  for_each_row([&](int64_t row, int64_t slot) { values[row] = plain_at<T>(view, slot); });
  return values;
}

template <typename T>
const void* DecodedRows::decode_framed(const ColumnView& view) {
  T* values = memory<T>(rows_);
  const auto decode = [&]<typename Code>(Code) {
    // Unsigned: the range of a tablet may exceed what int64 holds, the value does not.
    for_each_row([&](int64_t row, int64_t slot) {
      values[row] = static_cast<T>(
          static_cast<int64_t>(static_cast<uint64_t>(view.base) +
                               static_cast<uint64_t>(view.factor) * uint64_t{plain_at<Code>(view, slot)}));
    });
  };
  switch (view.width) {
    case 0: for_each_row([&](int64_t row, int64_t) { values[row] = static_cast<T>(view.base); }); break;
    case 1: decode(uint8_t{}); break;
    case 2: decode(uint16_t{}); break;
    case 4: decode(uint32_t{}); break;
    default: decode(uint64_t{}); break;
  }
  return values;
}

void DecodedRows::copy_texts(const ColumnView& view, BatchColumn& column) {
  auto* offsets = memory<uint32_t>(rows_ + 1);
  uint32_t bytes = 0;
  for_each_row([&](int64_t row, int64_t slot) {
    offsets[row] = bytes;
    if (!is_null_at(view, slot)) bytes += static_cast<uint32_t>(string_at(view, slot).size());
  });
  offsets[rows_] = bytes;
  char* text = memory<char>(bytes);
  for_each_row([&](int64_t row, int64_t slot) {
    if (offsets[row + 1] > offsets[row])
      std::memcpy(text + offsets[row], string_at(view, slot).data(), string_at(view, slot).size());
  });
  column.offsets = offsets;
  column.bytes = text;
}

const int32_t* DecodedRows::copy_codes(const ColumnView& view) {
  auto* codes = memory<int32_t>(rows_);
  const auto copy = [&]<typename Code>(Code) {
    for_each_row([&](int64_t row, int64_t slot) { codes[row] = static_cast<int32_t>(plain_at<Code>(view, slot)); });
  };
  switch (view.width) {
    case 0: std::memset(codes, 0, sizeof(int32_t) * static_cast<size_t>(rows_)); break;
    case 1: copy(uint8_t{}); break;
    case 2: copy(uint16_t{}); break;
    default: copy(uint32_t{}); break;
  }
  return codes;
}

}  // namespace diptych
