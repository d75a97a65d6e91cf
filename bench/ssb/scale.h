// How many rows each table has at a scale factor.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ssb {

// 1992 to 1998, at every scale factor.
inline constexpr int64_t kDays = 2557;

struct Scale {
  // factor: a whole number, or less than 1. Below 1 the tables are our own: the reference generator shortens the date
  // table, too, so that most orders find no date.
  explicit Scale(double factor)
      : customers(rows(30'000, factor)), suppliers(rows(2'000, factor)), orders(rows(1'500'000, factor)) {
    parts = factor < 1 ? rows(200'000, factor) : rows(200'000, std::floor(1 + std::log(factor) / std::log(2.0)));
    // The natural logarithm here and the binary one above are the reference generator's: from scale factor 2 on there
    // are parts that nobody orders.
    ordered_parts = factor < 1 ? parts : rows(200'000, std::floor(std::log(factor)) + 1);
  }

  int64_t customers;
  int64_t suppliers;
  int64_t orders;  // one to seven rows of lineorder each
  int64_t parts;
  int64_t ordered_parts;  // lo_partkey is at most this

 private:
  static int64_t rows(double base, double factor) { return std::max<int64_t>(1, static_cast<int64_t>(base * factor)); }
};

}  // namespace ssb
