#include "kernel/device/device_testing.h"

#ifdef DIPTYCH_HAVE_OPENCL

namespace diptych::testing {
namespace {

// As a scan's result is written: scan, look-back, put; the masks are given, a value is that of the row's column.
std::string output_kernel(int R, const std::string& suffix, const std::string& type) {
  const std::string r = std::to_string(R);
  return "#define ROWS " + r + "\n" + kernel_head + "  DK_SHARED DK_ALIGN16 " + type + " stage[ROWS * DK_GROUP_SIZE];" +
         R"(
  DK_SCRATCH(scratch);
  for (dk_i64 tile = dk_next_tile(DK_AT(dk_u64, parameters.word[0]), scratch); tile < (dk_i64)parameters.word[2];
       tile = dk_next_tile(DK_AT(dk_u64, parameters.word[0]), scratch)) {
    dk_i64 item = tile * DK_GROUP_SIZE + DK_LOCAL_ID;
    dk_u32 mask = DK_AT(dk_u32, parameters.word[3])[item];
    dk_u32 total;
    dk_u32 position = dk_block_scan_u32(DK_POPCOUNT_U32(mask), scratch, &total);
    dk_u64 offset = dk_look_back(DK_AT(dk_u64, parameters.word[1]), tile, total, scratch);
)" + "    " +
         type + " values[ROWS];\n    for (dk_i32 i = 0; i < ROWS; i++) values[i] = DK_AT(" + type +
         ", parameters.word[4])[item * ROWS + i];\n    dk_team_put" + r + "_" + suffix +
         "(stage, mask, position, values, total, DK_AT(" + type +
         ", parameters.word[5]), offset, parameters.word[6]);\n" +
         "    if (tile == (dk_i64)parameters.word[2] - 1 && DK_LOCAL_ID == 0)\n" +
         "      *DK_AT(dk_u64, parameters.word[7]) = offset + total;\n  }\n}\n";
}

class TeamPut : public DeviceKernel {
 protected:
  template <typename T>
  void check(const std::string& suffix, const std::string& type) {
    for (int R : {1, 4, 8, 16}) {
      for (int size : {64, 256}) {
        if (static_cast<size_t>(R * size) * sizeof(T) > 48 * 1024) continue;  // more than a CUDA group can declare
        ASSERT_NO_FATAL_FAILURE(build({"device/look_back.h", "device/team.h"}, output_kernel(R, suffix, type), size));
        for (int density : {0, 1, 50, 100}) check_rows<T>(R, size, density, 7);
        check_rows<T>(R, size, 30, 1);
      }
    }
  }

  template <typename T>
  void check_rows(int R, int size, int density, size_t tiles) {
    const size_t items = tiles * static_cast<size_t>(size), each = static_cast<size_t>(R);
    std::vector<dk_u32> masks(items);
    std::vector<T> values(items * each), expected;
    for (size_t i = 0; i < items; ++i) {
      for (size_t k = 0; k < each; ++k) {
        dk_u64 bits[2] = {random_.bits(), random_.bits()};
        std::memcpy(&values[i * each + k], bits, sizeof(T));
        if (random_.below(100) >= density) continue;
        masks[i] |= 1U << k;
        expected.push_back(values[i * each + k]);
      }
    }
    for (size_t capacity : {expected.size() + 5, expected.size(), expected.size() / 2}) {
      clear();
      const size_t room = expected.size() + 100;
      dk_u64 counter = put(std::vector<dk_u64>(1)), status = put(std::vector<dk_u64>(tiles)), mask = put(masks),
             column = put(values), out = put(std::vector<dk_u8>(room * sizeof(T))), rows = put(std::vector<dk_u64>(1));
      run(3, {counter, status, tiles, mask, column, out, capacity, rows});
      EXPECT_EQ(get<dk_u64>(rows, 1)[0], expected.size());
      const std::vector<T> got = get<T>(out, room);
      const size_t written = std::min(capacity, expected.size());
      ASSERT_EQ(std::memcmp(got.data(), expected.data(), written * sizeof(T)), 0) << R << " " << size << " " << density;
      const std::vector<dk_u8> untouched((room - written) * sizeof(T));
      ASSERT_EQ(std::memcmp(got.data() + written, untouched.data(), untouched.size()), 0) << "past the capacity";
    }
  }
  Random random_;
};

TEST_F(TeamPut, Bytes) { check<dk_u8>("u8", "dk_u8"); }
TEST_F(TeamPut, FourBytes) { check<dk_u32>("u32", "dk_u32"); }
TEST_F(TeamPut, EightBytes) { check<dk_u64>("u64", "dk_u64"); }
TEST_F(TeamPut, SixteenBytes) { check<dk_i128>("i128", "dk_i128"); }

}  // namespace
}  // namespace diptych::testing

#endif
