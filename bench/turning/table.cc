#include <algorithm>
#include <numeric>
#include <random>

#include "contestant.h"

namespace diptych::bench {

Table Table::generate(size_t rows) {
  std::mt19937_64 random(rows);
  std::uniform_int_distribution<int32_t> group(1, 100), value(1, 65535);
  Table table;
  table.id.resize(rows);
  std::iota(table.id.begin(), table.id.end(), 1);
  std::shuffle(table.id.begin(), table.id.end(), random);
  for (size_t i = 0; i < rows; ++i) {
    table.group_number.push_back(group(random));
    table.value.push_back(value(random));
  }
  return table;
}

}  // namespace diptych::bench
