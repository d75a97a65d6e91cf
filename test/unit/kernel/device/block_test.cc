#include <cmath>
#include <limits>

#include "kernel/device/device_testing.h"

#ifdef DIPTYCH_HAVE_OPENCL

namespace diptych::testing {
namespace {

class Block : public DeviceKernel {
 protected:
  // Each group reduces three runs of values, one after another; results[group * 3 + run] has to be `expected` of the
  // run in every work-item.
  template <typename T, typename Expected>
  void check_reduction(const std::string& name, const std::string& type, std::vector<T> values, Expected expected) {
    const std::string body = kernel_head + "  DK_SCRATCH(scratch);\n  for (dk_i32 run = 0; run < 3; run++) {\n" +
                             "    dk_i32 at = (DK_GROUP_ID * 3 + run) * DK_GROUP_SIZE + DK_LOCAL_ID;\n    " + "DK_AT(" +
                             type + ", parameters.word[1])[at] = dk_block_" + name + "(DK_AT(" + type +
                             ", parameters.word[0])[at], scratch);\n  }\n}\n";
    for (size_t size : {32, 64, 256}) {
      ASSERT_NO_FATAL_FAILURE(build({"device/block.h"}, body, static_cast<int>(size)));
      std::vector<T> input;
      for (size_t i = 0; i < 6 * size; ++i)
        input.push_back(values[static_cast<size_t>(random_.below(static_cast<dk_i64>(values.size())))]);
      clear();
      dk_u64 from = put(input), to = put(std::vector<T>(input.size()));
      run(2, {from, to});
      const std::vector<T> got = get<T>(to, input.size());
      for (size_t run = 0; run < 6; ++run) {
        T result = input[run * size];
        for (size_t i = 1; i < size; ++i) result = expected(result, input[run * size + i]);
        for (size_t i = 0; i < size; ++i)
          ASSERT_EQ(std::memcmp(&got[run * size + i], &result, sizeof(T)), 0) << name << ", size " << size;
      }
    }
  }
  template <typename T>
  std::vector<T> random_values() {
    std::vector<T> values;
    for (int i = 0; i < 1000; ++i) values.push_back(static_cast<T>(random_.any_i64()));
    return values;
  }
  Random random_;
};

TEST_F(Block, ReducesIntegers) {
  auto sum = [](auto a, auto b) { return static_cast<decltype(a)>(static_cast<dk_u64>(a) + static_cast<dk_u64>(b)); };
  auto least = [](auto a, auto b) { return std::min(a, b); };
  auto greatest = [](auto a, auto b) { return std::max(a, b); };
  auto either = [](auto a, auto b) { return a | b; };
  check_reduction("sum_u32", "dk_u32", random_values<dk_u32>(), sum);
  check_reduction("min_u32", "dk_u32", random_values<dk_u32>(), least);
  check_reduction("max_u32", "dk_u32", random_values<dk_u32>(), greatest);
  check_reduction("or_u32", "dk_u32", std::vector<dk_u32>{0, 1, 64}, either);
  check_reduction("sum_u64", "dk_u64", random_values<dk_u64>(), sum);
  check_reduction("min_u64", "dk_u64", random_values<dk_u64>(), least);
  check_reduction("max_u64", "dk_u64", random_values<dk_u64>(), greatest);
  check_reduction("or_u64", "dk_u64", std::vector<dk_u64>{0, 1, 1UL << 40}, either);
  check_reduction("sum_i64", "dk_i64", random_values<dk_i64>(), sum);
  check_reduction("min_i64", "dk_i64", random_values<dk_i64>(), least);
  check_reduction("max_i64", "dk_i64", random_values<dk_i64>(), greatest);
}

TEST_F(Block, ReducesInt128) {
  std::vector<dk_i128> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i128(random_.any_i128()));
  check_reduction("min_i128", "dk_i128", values, [](dk_i128 a, dk_i128 b) { return dk_lt_i128(b, a) ? b : a; });
  check_reduction("max_i128", "dk_i128", values, [](dk_i128 a, dk_i128 b) { return dk_lt_i128(a, b) ? b : a; });
}

TEST_F(Block, ReducesFloats) {
  auto least = [](auto a, auto b) { return std::isnan(a) || b < a ? b : a; };
  auto greatest = [](auto a, auto b) { return std::isnan(b) || a < b ? b : a; };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> mixed = {1.5, -2.5, 1e300, -1e300, infinity, -infinity, nan, 7};
  const std::vector<double> plain = {1, -2, 3, 1048576};  // whose sums are exact in any order
  const std::vector<float> floats(mixed.begin(), mixed.end());
  for (const auto& values : {mixed, plain, std::vector<double>{nan}}) {
    check_reduction("min_f64", "dk_f64", values, least);
    check_reduction("max_f64", "dk_f64", values, greatest);
  }
  check_reduction("sum_f64", "dk_f64", plain, [](double a, double b) { return a + b; });
  check_reduction("min_f32", "dk_f32", floats, least);
  check_reduction("max_f32", "dk_f32", floats, greatest);
}

TEST_F(Block, ScansAndBroadcasts) {
  const std::string body = kernel_head + R"(
  DK_SCRATCH(scratch);
  for (dk_i32 run = 0; run < 5; run++) {
    dk_i32 at = run * DK_GROUP_SIZE + DK_LOCAL_ID;
    dk_u32 total;
    dk_u32 before = dk_block_scan_u32(DK_AT(dk_u32, parameters.word[0])[at], scratch, &total);
    dk_u64 first = dk_block_broadcast_u64(before + DK_AT(dk_u32, parameters.word[0])[at], scratch);
    DK_AT(dk_u64, parameters.word[1])[3 * at] = before;
    DK_AT(dk_u64, parameters.word[1])[3 * at + 1] = total;
    DK_AT(dk_u64, parameters.word[1])[3 * at + 2] = first;
  }
})";
  for (size_t size : {32, 64, 256, 1024}) {
    ASSERT_NO_FATAL_FAILURE(build({"device/block.h"}, body, static_cast<int>(size)));
    std::vector<dk_u32> input;
    for (size_t i = 0; i < 5 * size; ++i)
      input.push_back(i < size ? 0 : i < 2 * size ? 16 : static_cast<dk_u32>(random_.below(17)));
    clear();
    dk_u64 from = put(input), to = put(std::vector<dk_u64>(3 * input.size()));
    run(1, {from, to});
    const auto got = get<dk_u64>(to, 3 * input.size());
    for (size_t run = 0; run < 5; ++run) {
      dk_u64 sum = 0;
      for (size_t at = run * size; at < (run + 1) * size; ++at) {
        ASSERT_EQ(got[3 * at], sum) << size << " " << at;
        ASSERT_EQ(got[3 * at + 2], input[run * size]);
        sum += input[at];
      }
      for (size_t at = run * size; at < (run + 1) * size; ++at) ASSERT_EQ(got[3 * at + 1], sum);
    }
  }
}

}  // namespace
}  // namespace diptych::testing

#endif
