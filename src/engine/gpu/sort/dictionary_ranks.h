// Where the strings of a dictionary stand among each other, for sorting by a column of codes: the codes themselves are
// in the order of first appearance.
//
//   code   0       1      2           rank   2  0  1
//   string "SHIP"  "AIR"  "RAIL"
#pragma once

#include <cstdint>
#include <vector>

#include "tablet/dictionary.h"

namespace diptych::gpu {

// By code; bytewise, as the CPU compares strings. One more than there are strings, as an empty dictionary may be looked
// up, too.
std::vector<uint32_t> dictionary_ranks(const Dictionary& dictionary);

}  // namespace diptych::gpu
