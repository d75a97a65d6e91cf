#include "kernel/device/device_testing.h"

#ifdef DIPTYCH_HAVE_OPENCL

namespace diptych::testing {
namespace {

const std::string tiles_kernel = kernel_head + R"(
  DK_SCRATCH(scratch);
  DK_GLOBAL dk_u64* counter = DK_AT(dk_u64, parameters.word[0]);
  DK_GLOBAL dk_u64* status = DK_AT(dk_u64, parameters.word[1]);
  for (dk_i64 tile = dk_next_tile(counter, scratch); tile < (dk_i64)parameters.word[4];
       tile = dk_next_tile(counter, scratch)) {
    dk_u32 count = DK_AT(dk_u32, parameters.word[2])[tile];
    dk_u64 before = dk_look_back(status, tile, count, scratch);
    DK_AT(dk_u64, parameters.word[3])[tile * DK_GROUP_SIZE + DK_LOCAL_ID] = before;
  }
})";

class LookBack : public DeviceKernel {};

TEST_F(LookBack, GivesEveryTileTheSumBefore) {
  Random random;
  for (size_t size : {32, 64, 256}) {
    ASSERT_NO_FATAL_FAILURE(build({"device/look_back.h"}, tiles_kernel, static_cast<int>(size)));
    for (size_t tiles : {1, 2, 31, 33, 257, 2000}) {
      for (int groups : {1, 3, 64}) {
        std::vector<dk_u32> counts;
        for (size_t i = 0; i < tiles; ++i)
          counts.push_back(static_cast<dk_u32>(random.below(4) == 0 ? 0 : random.below(DK_I64(4294967296))));
        clear();
        dk_u64 counter = put(std::vector<dk_u64>(1)), status = put(std::vector<dk_u64>(tiles)), from = put(counts),
               to = put(std::vector<dk_u64>(tiles * size));
        run(groups, {counter, status, from, to, tiles});
        const auto got = get<dk_u64>(to, tiles * size);
        dk_u64 sum = 0;
        for (size_t tile = 0; tile < tiles; ++tile) {
          for (size_t i = 0; i < size; ++i) ASSERT_EQ(got[tile * size + i], sum) << "tile " << tile << " of " << tiles;
          sum += counts[tile];
        }
      }
    }
  }
}

}  // namespace
}  // namespace diptych::testing

#endif
