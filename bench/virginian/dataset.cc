#include "dataset.h"

#include <cmath>
#include <random>

namespace diptych::bench {

namespace {

struct Floats {
  float uniform, normal5, normal20;
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
  explicit Source(uint64_t seed) : engine_(seed) {}

  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double uniform(double from, double to) { return from + (to - from) * unit(); }

  // Box and Muller's transform; its second value is not used.
  double normal(double sigma) {
    return sigma * std::sqrt(-2.0 * std::log(1.0 - unit())) * std::cos(6.283185307179586 * unit());
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace

Dataset make_dataset(size_t rows, uint64_t seed) {
  Source source(seed);
  Dataset data;
  for (auto* column : {&data.id, &data.uniformi, &data.normali5, &data.normali20}) column->resize(rows);
  for (auto* column : {&data.uniformf, &data.normalf5, &data.normalf20}) column->resize(rows);
  for (size_t i = 0; i < rows; ++i) {
    data.id[i] = static_cast<int32_t>(i);
    data.uniformi[i] = static_cast<int32_t>(source.uniform(-100, 100));
    data.normali5[i] = static_cast<int32_t>(source.normal(5));
    data.normali20[i] = static_cast<int32_t>(source.normal(20));
    Floats floats{};
    do {
      floats.uniform = static_cast<float>(source.uniform(-100, 100));
      floats.normal5 = static_cast<float>(source.normal(5));
      floats.normal20 = static_cast<float>(source.normal(20));
    } while (!is_unambiguous(floats));
    data.uniformf[i] = floats.uniform;
    data.normalf5[i] = floats.normal5;
    data.normalf20[i] = floats.normal20;
  }
  return data;
}

}  // namespace diptych::bench
