// The results of exact averages and deviations of groups, out of sums that kernels keep. They are functions of their
// own, since a kernel makes results in several places.
//
//   lower, upper   the sums of the lower and of the upper 128 bits of the squares
#pragma once

DK_FAR dk_i128 dk_exact_average_of(dk_u64 count, dk_sum192 sum, dk_i32 shift, DK_PRIVATE dk_i32* error) {
  dk_u64 words[3] = {sum.lo, sum.mid, sum.hi};
  dk_u64 squares[5] = {0, 0, 0, 0, 0};
  return dk_exact_average(dk_make_exact_moments(count, words, squares), shift, error);
}

DK_FAR dk_i128 dk_exact_deviation_of(dk_u64 count, dk_sum192 sum, dk_sum192 lower, dk_sum192 upper, dk_bool of_sample,
                                     dk_bool has_root, dk_i32 shift, DK_PRIVATE dk_i32* error) {
  dk_u64 words[3] = {sum.lo, sum.mid, sum.hi};
  dk_sum192 high = dk_add_sum192(upper, dk_sum192_of_words(lower.hi, 0, 0));
  dk_u64 squares[5] = {lower.lo, lower.mid, high.lo, high.mid, high.hi};
  return dk_exact_deviation(dk_make_exact_moments(count, words, squares), of_sample, has_root, shift, error);
}
