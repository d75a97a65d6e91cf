#include <bit>
#include <cmath>
#include <limits>

#include "kernel/device/device_testing.h"

#ifdef DIPTYCH_HAVE_OPENCL

namespace diptych::testing {
namespace {

// word[0]: values of 16 bytes, so many per work-item as word[4]; word[1]: states of 16 words per slot, 5 slots in
// global memory; word[2]: the same states of local memory, added up per work-group; word[3]: one lock per slot.
constexpr size_t slots = 5;
constexpr size_t slot_words = 16;

const std::string scatter_kernel = R"(
#define SLOTS 5
)" + kernel_head + R"(
  DK_SHARED dk_u64 near[SLOTS * 16];
  DK_SHARED dk_u32 locks[SLOTS];
  DK_GLOBAL dk_u64* far = DK_AT(dk_u64, parameters.word[1]);
  for (dk_i32 i = DK_LOCAL_ID; i < SLOTS * 16; i += DK_GROUP_SIZE) near[i] = far[i];
  for (dk_i32 i = DK_LOCAL_ID; i < SLOTS; i += DK_GROUP_SIZE) locks[i] = 0;
  DK_BARRIER();
  dk_i32 each = (dk_i32)parameters.word[4];
  for (dk_i32 k = 0; k < each; k++) {
    dk_i32 at = (DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID) * each + k;
    dk_i128 value = DK_AT(const dk_i128, parameters.word[0])[at];
    dk_f64 number = (dk_f64)(dk_i32)value.lo;
    dk_i32 slot = at % SLOTS;
    DK_GLOBAL dk_u64* state = far + slot * 16;
    DK_LOCAL dk_u64* local_state = near + slot * 16;
    DK_GLOBAL dk_u32* lock = DK_AT(dk_u32, parameters.word[3]) + slot;
    dk_atomic_add_global_u64(state, 1);
    dk_atomic_add_local_u64(local_state, 1);
    dk_atomic_add_global_i128(state + 1, dk_widen_i64((dk_i64)value.lo));
    dk_atomic_add_local_i128(local_state + 1, dk_widen_i64((dk_i64)value.lo));
    dk_atomic_add_global_sum192(state + 3, dk_sum192_of_i128(value));
    dk_atomic_add_local_sum192(local_state + 3, dk_sum192_of_i128(value));
    dk_atomic_add_global_f64((DK_GLOBAL dk_f64*)(state + 6), number);
    dk_atomic_add_local_f64((DK_LOCAL dk_f64*)(local_state + 6), number);
    dk_atomic_min_global_u64(state + 7, dk_key_i64((dk_i64)value.lo));
    dk_atomic_min_local_u64(local_state + 7, dk_key_i64((dk_i64)value.lo));
    dk_atomic_max_global_u64(state + 8, dk_key_f64(number));
    dk_atomic_max_local_u64(local_state + 8, dk_key_f64(number));
    dk_locked_min_global_i128(lock, state + 9, value);
    dk_locked_min_local_i128(locks + slot, local_state + 9, value);
    dk_locked_max_global_i128(lock, state + 11, value);
    dk_locked_max_local_i128(locks + slot, local_state + 11, value);
    dk_locked_add_global_moments(lock, (DK_GLOBAL dk_f64*)(state + 13), dk_moments_of(number));
    dk_locked_add_local_moments(locks + slot, (DK_LOCAL dk_f64*)(local_state + 13), dk_moments_of(number));
    dk_note_global(lock + SLOTS, (dk_u32)1 << (at & 31));
  }
  DK_BARRIER();
  for (dk_i32 i = DK_LOCAL_ID; i < SLOTS * 16; i += DK_GROUP_SIZE)
    DK_AT(dk_u64, parameters.word[2])[DK_GROUP_ID * SLOTS * 16 + i] = near[i];
}
)";

std::vector<dk_u64> empty_states() {
  std::vector<dk_u64> states(slots * slot_words);
  for (size_t slot = 0; slot < slots; ++slot) {
    dk_u64* state = &states[slot * slot_words];
    state[7] = state[9] = ~dk_u64{0};
    state[10] = INT64_MAX;
    state[12] = static_cast<dk_u64>(INT64_MIN);
  }
  return states;
}

// What the states of a slot should be. Sums of 192 bits are compared by their lower 128, and the third limb by the sum
// of the values' signs.
struct Expected {
  dk_u64 count = 0;
  Int128 narrow = 0, least = 0, greatest = 0;
  UInt128 wide_lo = 0;
  dk_u64 wide_hi = 0;
  double sum = 0, most = 0, squares = 0;
  dk_i64 least64 = 0;

  void add(Int128 value) {
    const auto low = static_cast<dk_i64>(value);
    const double number = static_cast<dk_i32>(low);
    const bool first = count++ == 0;
    narrow += low;
    const UInt128 before = wide_lo;
    wide_lo += static_cast<UInt128>(value);
    wide_hi += (value < 0 ? ~dk_u64{0} : 0) + (wide_lo < before ? 1 : 0);
    least64 = first ? low : std::min(least64, low);
    least = first ? value : std::min(least, value);
    greatest = first ? value : std::max(greatest, value);
    most = first ? number : std::max(most, number);
    sum += number;
    squares += number * number;
  }
  void check(const dk_u64* state) const {
    EXPECT_EQ(state[0], count);
    auto word128 = [&](int at) { return static_cast<Int128>((static_cast<UInt128>(state[at + 1]) << 64) | state[at]); };
    EXPECT_EQ(word128(1), narrow);
    EXPECT_EQ(word128(3), static_cast<Int128>(wide_lo));
    EXPECT_EQ(state[5], wide_hi);
    auto number = [&](int at) { return std::bit_cast<double>(state[at]); };
    EXPECT_DOUBLE_EQ(number(6), sum);
    EXPECT_EQ(static_cast<dk_i64>(state[7] ^ (dk_u64{1} << 63)), least64);
    EXPECT_EQ(state[8], std::bit_cast<dk_u64>(most) ^ (most < 0 ? ~dk_u64{0} : dk_u64{1} << 63));
    EXPECT_EQ(word128(9), least);
    EXPECT_EQ(word128(11), greatest);
    EXPECT_EQ(number(13), static_cast<double>(count));
    EXPECT_NEAR(number(14), sum, std::abs(sum) * 1e-12);
    const double variance = squares - sum * sum / static_cast<double>(count);
    EXPECT_NEAR(number(15), variance, squares * 1e-9);
  }
};

class Aggregate : public DeviceKernel {
 protected:
  Random random_;
};

TEST_F(Aggregate, ManyWorkItemsAddToOneState) {
  for (int size : {64, 256}) {
    ASSERT_NO_FATAL_FAILURE(build({"device/aggregate.h"}, scatter_kernel, size));
    constexpr size_t groups = 4, each = 9;
    std::vector<dk_i128> values;
    std::vector<Expected> all(slots), first(slots);  // of all work-groups, of the first
    const size_t per_group = static_cast<size_t>(size) * each;
    for (size_t i = 0; i < groups * per_group; ++i) {
      const Int128 value = random_.any_i128();
      values.push_back(i128(value));
      all[i % slots].add(value);
      if (i < per_group) first[i % slots].add(value);
    }
    clear();
    dk_u64 from = put(values), far = put(empty_states()), near = put(std::vector<dk_u64>(groups * slots * slot_words)),
           locks = put(std::vector<dk_u32>(2 * slots));
    // The states of local memory start as copies of those of global memory, which are empty when there is one group.
    run(1, {from, far, near, locks, each});
    std::vector<dk_u64> got_near = get<dk_u64>(near, slots * slot_words);
    for (size_t slot = 0; slot < slots; ++slot) first[slot].check(&got_near[slot * slot_words]);
    clear();
    from = put(values), far = put(empty_states()), near = put(std::vector<dk_u64>(groups * slots * slot_words)),
    locks = put(std::vector<dk_u32>(2 * slots));
    run(groups, {from, far, near, locks, each});
    const std::vector<dk_u64> got = get<dk_u64>(far, slots * slot_words);
    for (size_t slot = 0; slot < slots; ++slot) all[slot].check(&got[slot * slot_words]);
    EXPECT_EQ(get<dk_u32>(locks, 2 * slots)[slots], ~0U);
  }
}

TEST_F(Aggregate, GroupsReduceSumsAndMoments) {
  const std::string body = kernel_head + R"(
  DK_SCRATCH(scratch);
  dk_i128 value = DK_AT(const dk_i128, parameters.word[0])[DK_LOCAL_ID];
  dk_sum192 sum = dk_block_sum192(dk_sum192_of_i128(value), scratch);
  dk_moments mine = dk_no_moments();
  if (DK_LOCAL_ID % 3 != 0) mine = dk_moments_of((dk_f64)DK_LOCAL_ID + 1e9);
  dk_moments moments = dk_block_moments(mine, scratch);
  DK_GLOBAL dk_u64* out = DK_AT(dk_u64, parameters.word[1]) + DK_LOCAL_ID * 8;
  out[0] = sum.lo;
  out[1] = sum.mid;
  out[2] = sum.hi;
  out[3] = dk_sum192_fits(sum);
  out[4] = DK_F64_BITS(moments.count);
  out[5] = DK_F64_BITS(moments.sum);
  out[6] = DK_F64_BITS(moments.squares);
  out[7] = (dk_u64)dk_i128_of_sum192(sum).hi;
})";
  for (size_t size : {32, 64, 256}) {
    ASSERT_NO_FATAL_FAILURE(build({"device/aggregate.h"}, body, static_cast<int>(size)));
    for (int kind = 0; kind < 3; ++kind) {  // random values, the greatest ones, the least ones
      std::vector<dk_i128> values;
      Expected expected;
      for (size_t i = 0; i < size; ++i) {
        const Int128 most = static_cast<Int128>(~UInt128{0} >> 1);
        const Int128 value = kind == 0 ? random_.any_i128() >> 10 : kind == 1 ? most : -most;
        values.push_back(i128(value));
        expected.add(value);
      }
      clear();
      dk_u64 from = put(values), to = put(std::vector<dk_u64>(8 * size));
      run(1, {from, to});
      const auto got = get<dk_u64>(to, 8 * size);
      double count = 0, sum = 0, squares = 0;
      for (size_t i = 0; i < size; ++i) {
        if (i % 3 == 0) continue;
        count += 1;
        sum += static_cast<double>(i);
      }
      for (size_t i = 0; i < size; ++i) {
        if (i % 3 != 0) squares += std::pow(static_cast<double>(i) - sum / count, 2);
      }
      for (size_t i = 0; i < size; ++i) {
        const dk_u64* out = &got[8 * i];
        ASSERT_EQ(out[0], static_cast<dk_u64>(expected.wide_lo));
        ASSERT_EQ(out[1], static_cast<dk_u64>(expected.wide_lo >> 64));
        ASSERT_EQ(out[2], expected.wide_hi);
        ASSERT_EQ(out[3], kind == 0 ? 1U : 0U);
        ASSERT_EQ(out[7], out[1]);
        ASSERT_EQ(std::bit_cast<double>(out[4]), count);
        ASSERT_NEAR(std::bit_cast<double>(out[5]), sum + count * 1e9, 1e-3);
        ASSERT_NEAR(std::bit_cast<double>(out[6]), squares, squares * 1e-5 + 1e-5);
      }
    }
  }
}

TEST_F(Aggregate, KeysKeepTheOrder) {
  const std::string body = kernel_head + R"(
  dk_i32 i = DK_LOCAL_ID;
  dk_f64 value = DK_F64_OF_BITS(DK_AT(dk_u64, parameters.word[0])[i]);
  DK_GLOBAL dk_u64* out = DK_AT(dk_u64, parameters.word[1]) + i * 5;
  dk_i32 error = 0;
  out[0] = dk_key_f64(value);
  out[1] = DK_F64_BITS(dk_f64_of_key(dk_key_f64(value)));
  out[2] = dk_is_finite_f64(value);
  out[3] = (dk_u64)dk_i64_of_key(dk_key_i64((dk_i64)DK_F64_BITS(value)));
  dk_square_i128(dk_make_i128(i, 0), &error);
  out[4] = (dk_u64)error;
})";
  ASSERT_NO_FATAL_FAILURE(build({"device/aggregate.h"}, body, 32));
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> ascending = {-infinity, -1e300, -1, -5e-324, 0, 5e-324, 1, 2, 1e300, infinity, nan, -nan};
  ascending.resize(32, nan);
  dk_u64 from = put(ascending), to = put(std::vector<dk_u64>(5 * 32));
  run(1, {from, to});
  const auto got = get<dk_u64>(to, 5 * 32);
  for (size_t i = 0; i < 32; ++i) {
    if (i > 0 && i <= 10) {
      EXPECT_LT(got[5 * (i - 1)], got[5 * i]) << i;
    }
    if (i > 10) {
      EXPECT_EQ(got[5 * i], got[5 * 10]);
    }
    const double back = std::bit_cast<double>(got[5 * i + 1]);
    EXPECT_TRUE(back == ascending[i] || (std::isnan(back) && std::isnan(ascending[i])));
    EXPECT_EQ(got[5 * i + 2], std::isfinite(ascending[i]) ? 1U : 0U);
    EXPECT_EQ(got[5 * i + 3], std::bit_cast<dk_u64>(ascending[i]));
    EXPECT_EQ(got[5 * i + 4], i == 0 ? 0U : static_cast<dk_u64>(DK_NUMERIC_OUT_OF_RANGE));
  }
}

}  // namespace
}  // namespace diptych::testing

#endif
