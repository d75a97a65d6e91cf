#include "dimensions.h"

#include <array>
#include <numeric>
#include <string_view>
#include <utility>

#include "random_stream.h"
#include "row_text.h"
#include "words.h"

namespace ssb {
namespace {

constexpr Sequence kCustomerAddress = {881155353, 9};
constexpr Sequence kCustomerNation = {1489529863, 1};
constexpr Sequence kMarketSegment = {1140279430, 1};
constexpr Sequence kSupplierAddress = {706178559, 9};
constexpr Sequence kSupplierNation = {110356601, 1};
// Suppliers take the first rows of these two, customers go on behind them.
constexpr Sequence kPhone = {1521138112, 3};
constexpr Sequence kCity = {1495190827, 1};

constexpr Sequence kPartName = {709314158, kColours.size()};
constexpr Sequence kManufacturer = {1, 1};
constexpr Sequence kCategory = {637858759, 1};
constexpr Sequence kBrand = {46831694, 1};
constexpr Sequence kPartType = {1841581359, 1};
constexpr Sequence kPartSize = {1193163244, 1};
constexpr Sequence kContainer = {727633698, 1};

size_t pick(RandomStream& stream, size_t count) {
  const auto place = static_cast<size_t>(stream.between(1, static_cast<int64_t>(count))) - 1;
  stream.end_row();
  return place;
}

std::string with_zeros(int64_t number, size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < width ? width - digits.size() : 0, '0') + digits;
}

// 6 to 24 characters; a random number has 31 bits, enough for five of them.
std::string make_address(RandomStream& stream) {
  constexpr std::string_view letters = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,";
  std::string address(static_cast<size_t>(stream.between(6, 24)), ' ');
  int64_t bits = 0;
  for (size_t i = 0; i < address.size(); ++i) {
    if (i % 5 == 0) bits = stream.between(0, 0x7fffffff);
    address[i] = letters[static_cast<size_t>(bits % 64)];
    bits /= 64;
  }
  stream.end_row();
  return address;
}

// The nation's first nine characters and a digit.
std::string make_city(std::string_view nation, RandomStream& stream) {
  std::string city(nation.substr(0, 9));
  city.resize(9, ' ');
  city += static_cast<char>('0' + stream.between(0, 9));
  stream.end_row();
  return city;
}

std::string make_phone(size_t nation, RandomStream& stream) {
  std::string phone = std::to_string(10 + nation);
  phone.append("-").append(std::to_string(stream.between(100, 999)));
  phone.append("-").append(std::to_string(stream.between(100, 999)));
  phone.append("-").append(std::to_string(stream.between(1000, 9999)));
  stream.end_row();
  return phone;
}

// What a customer and a supplier have in common: all columns but the market segment.
class Partners {
 public:
  // row: of the sequences that the two tables have of their own; shared_row: of those that they share
  Partners(std::string_view title, Sequence address, Sequence nation, int64_t row, int64_t shared_row)
      : title_(title),
        address_(address, row),
        nation_(nation, row),
        city_(kCity, shared_row),
        phone_(kPhone, shared_row) {}

  void append(int64_t key, RowText& row) {
    const auto number = static_cast<size_t>(nation_.between(0, kNations.size() - 1));
    nation_.end_row();
    const Nation& nation = kNations[number];
    row.field(key).field(title_ + with_zeros(key, 9)).field(make_address(address_));
    row.field(make_city(nation.name, city_)).field(nation.name).field(nation.region).field(make_phone(number, phone_));
  }

 private:
  std::string title_;
  RandomStream address_, nation_, city_, phone_;
};

// Puts all colours in a random order and takes the first three. Every number counts, since later colours may come to
// the front.
std::array<std::string_view, 3> three_colours(RandomStream& stream) {
  std::array<uint8_t, kColours.size()> order;
  std::iota(order.begin(), order.end(), uint8_t{0});
  for (uint8_t& place : order) std::swap(place, order[static_cast<size_t>(stream.between(0, kColours.size() - 1))]);
  stream.end_row();
  return {kColours[order[0]], kColours[order[1]], kColours[order[2]]};
}

class Parts {
 public:
  explicit Parts(int64_t row)
      : name_(kPartName, row),
        manufacturer_(kManufacturer, row),
        category_(kCategory, row),
        brand_(kBrand, row),
        type_(kPartType, row),
        size_(kPartSize, row),
        container_(kContainer, row) {}

  void append(int64_t key, RowText& row) {
    const auto [colour, first, second] = three_colours(name_);
    const std::string manufacturer = "MFGR#" + std::to_string(pick(manufacturer_, 5) + 1);
    const std::string category = manufacturer + std::to_string(pick(category_, 5) + 1);
    row.field(key).field(std::string(first).append(" ").append(second));
    row.field(manufacturer).field(category).field(category + std::to_string(pick(brand_, 40) + 1));
    row.field(colour).field(part_type(pick(type_, kPartTypes))).field(pick(size_, 50) + 1);
    row.field(container(pick(container_, kContainers))).end_row();
  }

 private:
  RandomStream name_, manufacturer_, category_, brand_, type_, size_, container_;
};

}  // namespace

void append_customers(const Scale& scale, int64_t first_row, int64_t rows, std::string& text) {
  Partners partners("Customer#", kCustomerAddress, kCustomerNation, first_row, scale.suppliers + first_row);
  RandomStream segment(kMarketSegment, first_row);
  RowText row(text);
  for (int64_t number = first_row; number < first_row + rows; ++number) {
    partners.append(number + 1, row);
    row.field(kMarketSegments[pick(segment, kMarketSegments.size())]).end_row();
  }
}

void append_suppliers(int64_t first_row, int64_t rows, std::string& text) {
  Partners partners("Supplier#", kSupplierAddress, kSupplierNation, first_row, first_row);
  RowText row(text);
  for (int64_t number = first_row; number < first_row + rows; ++number) {
    partners.append(number + 1, row);
    row.end_row();
  }
}

void append_parts(int64_t first_row, int64_t rows, std::string& text) {
  Parts parts(first_row);
  RowText row(text);
  for (int64_t number = first_row; number < first_row + rows; ++number) parts.append(number + 1, row);
}

}  // namespace ssb
