#include "dataset.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace diptych::bench {

namespace {

// Rows of one random source. Blocks differ in theirs, so that threads need not wait for each other.
constexpr size_t block_rows = 1 << 16;

struct Floats {
  float uniform, normal5, normal20;
};

struct Row {
  int32_t uniform, normal5, normal20;
  Floats floats;
};

// Whether both precisions give the same answer to the two conditions that compute with floats (q5 and q7).
bool is_unambiguous(const Floats& row) {
  const bool single_sum = row.normal20 + 40.0F > row.uniform - 10.0F;
  const bool double_sum = static_cast<double>(row.normal20) + 40.0 > static_cast<double>(row.uniform) - 10.0;
  const float single_product = row.normal5 * row.normal20;
  const double double_product = static_cast<double>(row.normal5) * static_cast<double>(row.normal20);
  const bool single_within = single_product >= -5.0F && single_product <= 5.0F;
  const bool double_within = double_product >= -5.0 && double_product <= 5.0;
  return single_sum == double_sum && single_within == double_within;
}

// Uniform in [0, 1) with 53 random bits: the standard's own distributions differ between libraries.
class Source {
 public:
  // Multiplied, so that neighbouring seeds have no blocks in common (the golden ratio's 64 bits, as in SplitMix64).
  Source(uint64_t seed, uint64_t block) : engine_(seed * 0x9e3779b97f4a7c15ULL + block) {}

  Row next_row() {
    Row row{static_cast<int32_t>(uniform(-100, 100)),
            static_cast<int32_t>(normal(5)),
            static_cast<int32_t>(normal(20)),
            {}};
    do {
      row.floats.uniform = static_cast<float>(uniform(-100, 100));
      row.floats.normal5 = static_cast<float>(normal(5));
      row.floats.normal20 = static_cast<float>(normal(20));
    } while (!is_unambiguous(row.floats));
    return row;
  }

 private:
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double uniform(double from, double to) { return from + (to - from) * unit(); }

  // Box and Muller's transform; its second value is not used.
  double normal(double sigma) {
    return sigma * std::sqrt(-2.0 * std::log(1.0 - unit())) * std::cos(6.283185307179586 * unit());
  }

  std::mt19937_64 engine_;
};

void put(const Row& row, size_t id, Dataset& data, size_t at) {
  data.id[at] = static_cast<int32_t>(id);
  data.uniformi[at] = row.uniform;
  data.normali5[at] = row.normal5;
  data.normali20[at] = row.normal20;
  data.uniformf[at] = row.floats.uniform;
  data.normalf5[at] = row.floats.normal5;
  data.normalf20[at] = row.floats.normal20;
}

}  // namespace

Dataset make_dataset(size_t first, size_t rows, uint64_t seed) {
  Dataset data;
  for (auto* column : {&data.id, &data.uniformi, &data.normali5, &data.normali20}) column->resize(rows);
  for (auto* column : {&data.uniformf, &data.normalf5, &data.normalf20}) column->resize(rows);
  const size_t blocks = (first + rows + block_rows - 1) / block_rows;
  tbb::parallel_for(first / block_rows, blocks, [&](size_t block) {
    Source source(seed, block);
    const size_t end = std::min((block + 1) * block_rows, first + rows);
    for (size_t id = block * block_rows; id < end; ++id) {
      const Row row = source.next_row();
      if (id >= first) put(row, id, data, id - first);
    }
  });
  return data;
}

}  // namespace diptych::bench
