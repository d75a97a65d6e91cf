// The seed's data: a key, three integer and three float32 columns of known distributions.
//
//   id         uniformi     normali5  normali20  uniformf    normalf5  normalf20
//   0..rows-1  [-100, 100]  sigma 5   sigma 20   [-100,100)  sigma 5   sigma 20
//
// Integers are the truncated real values, as in the original (db/generate.c of the Virginian), so 0 has double mass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace diptych::bench {

struct Dataset {
  std::vector<int32_t> id, uniformi, normali5, normali20;
  std::vector<float> uniformf, normalf5, normalf20;

  size_t rows() const { return id.size(); }
};

// Rows `first` to `first` + `rows` of the data of a seed: the same on every machine with IEEE arithmetic and the same
// libm, however many threads make them and however they are divided among calls. Rows for which the conditions on
// floats would differ between single and double precision are drawn anew, so that systems that promote a literal
// differently must still agree on every row.
Dataset make_dataset(size_t first, size_t rows, uint64_t seed);

}  // namespace diptych::bench
