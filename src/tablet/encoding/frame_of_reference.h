// Integers as `base + factor * code` with the fewest whole bytes a code.
//
//   values  1700 3600 800 100     base 100, factor 100     codes  16 35 7 0   (1 byte each)
//
// A factor is used only where it makes codes narrower, or where it is the usual one.
#pragma once

#include <cstdint>
#include <span>

#include "tablet/encoded_tablet.h"

namespace diptych {

// Null slots take the value of some other row, so that they don't widen the range; 0 where every row is null.
template <typename T>
void fill_nulls(std::span<T> values, const uint8_t* validity);

// Fills encoding, width, base, factor, data and the zone map's bounds of a column whose physical type, validity and
// count of nulls are set; null slots have what fill_nulls() gave them. T: uint8_t, int32_t or int64_t. Result: data of
// rows * width bytes, 0 in null slots.
template <typename T>
void encode_integers(std::span<const T> values, UsualForm form, EncodedColumn& column);

extern template void fill_nulls(std::span<uint8_t>, const uint8_t*);
extern template void fill_nulls(std::span<int32_t>, const uint8_t*);
extern template void fill_nulls(std::span<int64_t>, const uint8_t*);
extern template void encode_integers(std::span<const uint8_t>, UsualForm, EncodedColumn&);
extern template void encode_integers(std::span<const int32_t>, UsualForm, EncodedColumn&);
extern template void encode_integers(std::span<const int64_t>, UsualForm, EncodedColumn&);

}  // namespace diptych
