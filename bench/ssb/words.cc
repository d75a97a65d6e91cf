#include "words.h"

#include <initializer_list>

namespace ssb {
namespace {

using Word = std::string_view;

constexpr std::array<Word, 6> kTypeSizes = {"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"};
constexpr std::array<Word, 5> kTreatments = {"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"};
constexpr std::array<Word, 5> kMetals = {"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"};
constexpr std::array<Word, 5> kContainerSizes = {"SM", "LG", "MED", "JUMBO", "WRAP"};
constexpr std::array<Word, 8> kContainerKinds = {"CASE", "BOX", "BAG", "JAR", "PACK", "PKG", "CAN", "DRUM"};

static_assert(kTypeSizes.size() * kTreatments.size() * kMetals.size() == kPartTypes);
static_assert(kContainerSizes.size() * kContainerKinds.size() == kContainers);

std::string joined(std::initializer_list<Word> words) {
  std::string text;
  for (const Word word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

}  // namespace

const std::array<Nation, 25> kNations = {{
    {"ALGERIA", "AFRICA"},
    {"ARGENTINA", "AMERICA"},
    {"BRAZIL", "AMERICA"},
    {"CANADA", "AMERICA"},
    {"EGYPT", "MIDDLE EAST"},
    {"ETHIOPIA", "AFRICA"},
    {"FRANCE", "EUROPE"},
    {"GERMANY", "EUROPE"},
    {"INDIA", "ASIA"},
    {"INDONESIA", "ASIA"},
    {"IRAN", "MIDDLE EAST"},
    {"IRAQ", "MIDDLE EAST"},
    {"JAPAN", "ASIA"},
    {"JORDAN", "MIDDLE EAST"},
    {"KENYA", "AFRICA"},
    {"MOROCCO", "AFRICA"},
    {"MOZAMBIQUE", "AFRICA"},
    {"PERU", "AMERICA"},
    {"CHINA", "ASIA"},
    {"ROMANIA", "EUROPE"},
    {"SAUDI ARABIA", "MIDDLE EAST"},
    {"VIETNAM", "ASIA"},
    {"RUSSIA", "EUROPE"},
    {"UNITED KINGDOM", "EUROPE"},
    {"UNITED STATES", "AMERICA"},
}};

const std::array<std::string_view, 5> kMarketSegments = {"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD",
                                                         "MACHINERY"};

const std::array<std::string_view, 92> kColours = {
    "almond",   "antique", "aquamarine", "azure",     "beige",      "bisque",    "black",     "blanched", "blue",
    "blush",    "brown",   "burlywood",  "burnished", "chartreuse", "chiffon",   "chocolate", "coral",    "cornflower",
    "cornsilk", "cream",   "cyan",       "dark",      "deep",       "dim",       "dodger",    "drab",     "firebrick",
    "floral",   "forest",  "frosted",    "gainsboro", "ghost",      "goldenrod", "green",     "grey",     "honeydew",
    "hot",      "indian",  "ivory",      "khaki",     "lace",       "lavender",  "lawn",      "lemon",    "light",
    "lime",     "linen",   "magenta",    "maroon",    "medium",     "metallic",  "midnight",  "mint",     "misty",
    "moccasin", "navajo",  "navy",       "olive",     "orange",     "orchid",    "pale",      "papaya",   "peach",
    "peru",     "pink",    "plum",       "powder",    "puff",       "purple",    "red",       "rose",     "rosy",
    "royal",    "saddle",  "salmon",     "sandy",     "seashell",   "sienna",    "sky",       "slate",    "smoke",
    "snow",     "spring",  "steel",      "tan",       "thistle",    "tomato",    "turquoise", "violet",   "wheat",
    "white",    "yellow"};

const std::array<std::string_view, 5> kOrderPriorities = {"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"};

const std::array<std::string_view, 7> kShipModes = {"REG AIR", "AIR", "RAIL", "TRUCK", "MAIL", "FOB", "SHIP"};

std::string part_type(size_t number) {
  return joined({kTypeSizes[number / 25], kTreatments[number / 5 % 5], kMetals[number % 5]});
}

std::string container(size_t number) { return joined({kContainerSizes[number / 8], kContainerKinds[number % 8]}); }

}  // namespace ssb
