// The lists of words that columns choose from. Their order counts: a random number is a place in a list.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace ssb {

struct Nation {
  std::string_view name;
  std::string_view region;
};

extern const std::array<Nation, 25> kNations;
extern const std::array<std::string_view, 5> kMarketSegments;
extern const std::array<std::string_view, 92> kColours;
extern const std::array<std::string_view, 5> kOrderPriorities;
extern const std::array<std::string_view, 7> kShipModes;

// Three words each: a size, a treatment, a metal; 150 types.
std::string part_type(size_t number);
inline constexpr size_t kPartTypes = 150;

// Two words each: a size, a kind; 40 containers.
std::string container(size_t number);
inline constexpr size_t kContainers = 40;

}  // namespace ssb
