#include "kernel/device/device_testing.h"

#ifdef DIPTYCH_HAVE_OPENCL

namespace diptych::testing {
namespace {

// Copies a column through dk_load<R>_<type>, each work-item R rows.
std::string copy_kernel(int R, const std::string& suffix, const std::string& type) {
  const std::string r = std::to_string(R);
  return kernel_head + type + " values[" + r +
         "]; dk_i64 first = ((dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID) * " + r + ";\n  dk_load" + r + "_" +
         suffix + "(DK_AT(const dk_u8, parameters.word[0]), first, values);\n  for (dk_i32 i = 0; i < " + r +
         "; i++) DK_AT(" + type + ", parameters.word[1])[first + i] = values[i];\n}\n";
}

class Load : public DeviceKernel {
 protected:
  template <typename Column, typename Out>
  void check(const std::string& suffix, const std::string& type) {
    for (int R : {1, 4, 8, 16}) {
      ASSERT_NO_FATAL_FAILURE(build({"device/load.h"}, copy_kernel(R, suffix, type), 64));
      const size_t rows = 3 * 64 * static_cast<size_t>(R);
      std::vector<Column> column(rows);
      std::vector<Out> expected(rows);
      for (size_t i = 0; i < rows; ++i) {
        dk_u64 bits[2] = {random_.bits(), random_.bits()};
        std::memcpy(&column[i], bits, sizeof(Column));
        if constexpr (std::is_integral_v<Column>) {
          expected[i] = static_cast<Out>(column[i]);
        } else {
          std::memcpy(&expected[i], bits, sizeof(Out));
        }
      }
      clear();
      dk_u64 from = put(column);
      dk_u64 to = put(std::vector<Out>(rows));
      run(3, {from, to});
      const std::vector<Out> got = get<Out>(to, rows);
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), rows * sizeof(Out)), 0) << suffix << ", R = " << R;
    }
  }
  Random random_;
};

TEST_F(Load, Codes) {
  check<dk_u8, dk_u32>("u8", "dk_u32");
  check<dk_u16, dk_u32>("u16", "dk_u32");
  check<dk_u32, dk_u32>("u32", "dk_u32");
  check<dk_u64, dk_u64>("u64", "dk_u64");
}

// Every code against every bound, and masks of R of them.
TEST_F(Load, CodesOverABound) {
  for (int R : {4, 8, 16}) {
    const std::string r = std::to_string(R);
    ASSERT_NO_FATAL_FAILURE(build({"device/load.h", "device/packed_codes.h"},
                                  kernel_head + "dk_u32 words[" + r + " / 4]; dk_i64 item = (dk_i64)DK_GROUP_ID * " +
                                      "DK_GROUP_SIZE + DK_LOCAL_ID;\n  dk_load_words" + std::to_string(R / 4) +
                                      "(DK_AT(const dk_u8, parameters.word[0]) + item * " + r +
                                      ", words);\n  for (dk_i32 bound = -1; bound < 256; bound++)\n" +
                                      "    DK_AT(dk_u32, parameters.word[1])[item * 257 + bound + 1] = dk_codes_over" +
                                      r + "_u8(words, bound);\n}\n",
                                  64));
    std::vector<dk_u8> codes(64 * static_cast<size_t>(R));
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<dk_u8>(i < 256 ? i : random_.bits());
    clear();
    const dk_u64 from = put(codes), to = put(std::vector<dk_u32>(64 * 257));
    run(1, {from, to});
    const std::vector<dk_u32> got = get<dk_u32>(to, 64 * 257);
    for (size_t item = 0; item < 64; ++item) {
      for (int bound = -1; bound < 256; ++bound) {
        dk_u32 expected = 0;
        for (int i = 0; i < R; ++i)
          expected |= static_cast<dk_u32>(codes[item * static_cast<size_t>(R) + static_cast<size_t>(i)] > bound) << i;
        ASSERT_EQ(got[item * 257 + static_cast<size_t>(bound + 1)], expected) << "R = " << R << ", bound " << bound;
      }
    }
  }
}

TEST_F(Load, PlainValues) {
  check<dk_u8, dk_bool>("bool", "dk_bool");
  check<dk_i32, dk_i32>("i32", "dk_i32");
  check<dk_f32, dk_f32>("f32", "dk_f32");
  check<dk_i64, dk_i64>("i64", "dk_i64");
  check<dk_f64, dk_f64>("f64", "dk_f64");
  check<dk_i128, dk_i128>("i128", "dk_i128");
  check<dk_interval, dk_interval>("interval", "dk_interval");
}

// Codes of a width that is a parameter, decoded in 64 and in 32 bits, validity bits, and an address of mapped memory.
TEST_F(Load, CodesOfAnyWidthAndValidity) {
  const std::string body = kernel_head + R"(
  dk_i64 first = ((dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID) * ROWS;
  dk_u64 codes[ROWS];
  dk_i64 base = (dk_i64)*DK_AT(dk_u64, parameters.word[5]);
  LOAD(DK_AT(const dk_u8, parameters.word[0]), (dk_i32)parameters.word[1], first, codes);
  dk_u32 valid = dk_validity_bits(DK_AT(const dk_u8, parameters.word[2]), first, ROWS);
  for (dk_i32 i = 0; i < ROWS; i++) {
    DK_AT(dk_i64, parameters.word[3])[first + i] = (valid >> i & 1) != 0 ? dk_decode_code_i64(codes[i], base, -3) : 0;
    DK_AT(dk_i32, parameters.word[4])[first + i] = dk_decode_code_i32((dk_u32)codes[i], (dk_i32)base, 5);
  }
})";
  mapped_[3] = static_cast<dk_u64>(-1000);
  for (int R : {1, 4, 8, 16}) {
    const std::string r = std::to_string(R);
    ASSERT_NO_FATAL_FAILURE(
        build({"device/load.h"}, "#define ROWS " + r + "\n#define LOAD dk_load" + r + "_codes\n" + body, 64));
    for (size_t width : {1, 2, 4, 8}) {
      const size_t rows = 64 * static_cast<size_t>(R);
      std::vector<dk_u8> column(rows * width), validity(rows / 8);
      for (auto& byte : column) byte = static_cast<dk_u8>(random_.bits());
      for (auto& byte : validity) byte = static_cast<dk_u8>(random_.bits());
      clear();
      dk_u64 from = put(column), bits = put(validity), wide = put(std::vector<dk_i64>(rows)),
             narrow = put(std::vector<dk_i32>(rows));
      run(1, {from, width, bits, wide, narrow, (dk_u64{1} << 63) | 24});
      const auto got = get<dk_i64>(wide, rows);
      const auto got32 = get<dk_i32>(narrow, rows);
      for (size_t i = 0; i < rows; ++i) {
        dk_u64 code = 0;
        std::memcpy(&code, column.data() + i * width, width);
        const bool valid = (validity[i / 8] >> (i % 8) & 1) != 0;
        ASSERT_EQ(got[i], valid ? static_cast<dk_i64>(dk_u64{0} - 1000 - 3 * code) : 0)
            << R << " " << width << " " << i;
        ASSERT_EQ(got32[i], static_cast<dk_i32>(static_cast<dk_u32>(5 * code - 1000)));
      }
    }
  }
}

}  // namespace
}  // namespace diptych::testing

#endif
