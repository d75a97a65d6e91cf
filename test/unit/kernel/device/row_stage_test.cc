#include <algorithm>

#include "kernel/device/device_testing.h"

#ifdef DIPTYCH_HAVE_OPENCL

namespace diptych::testing {
namespace {

// As a section's second pass does it: each item has a row or none in a step; what is kept is written when a step's
// might have no room, and at the end. A row's first word is its partition, the others tell which row it is.
const std::string stage_kernel = kernel_head + R"(
  DK_SCRATCH(scratch);
  DK_SHARED DK_ALIGN16 dk_u32 room[2 * PARTITIONS + CAPACITY * (WORDS + 1) + CAPACITY / 2];
  DK_GLOBAL const dk_u32* starts = DK_AT(const dk_u32, parameters.word[0]);
  DK_GLOBAL const dk_u32* partition_of = DK_AT(const dk_u32, parameters.word[1]);
  const dk_i64 rows = (dk_i64)parameters.word[2];
  for (dk_i32 i = DK_LOCAL_ID; i < PARTITIONS; i += DK_GROUP_SIZE) {
    room[i] = starts[i * DK_GROUP_COUNT + DK_GROUP_ID];
    room[PARTITIONS + i] = 0;
  }
  DK_BARRIER();
  dk_u32 kept = 0;
  for (dk_i64 first = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE; first < rows;
       first += (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE) {
    const dk_i64 row = first + DK_LOCAL_ID;
    const dk_u32 partition = row < rows ? partition_of[row] : 0xFFFFFFFFU;
    dk_u32 more;
    const dk_u32 entry = kept + dk_block_scan_u32(partition < PARTITIONS ? 1U : 0U, scratch, &more);
    if (partition < PARTITIONS) {
      dk_u32 words[WORDS];
      for (dk_i32 i = 0; i < WORDS; i++) words[i] = (dk_u32)row * WORDS + (dk_u32)i;
      dk_stage_keep(room, PARTITIONS, CAPACITY, entry, partition, words, WORDS);
    }
    kept += more;
    if (kept + DK_GROUP_SIZE > CAPACITY) {
      dk_stage_write(room, PARTITIONS, CAPACITY, kept, DK_AT(dk_u32, parameters.word[3]), WORDS, scratch);
      kept = 0;
    }
  }
  dk_stage_write(room, PARTITIONS, CAPACITY, kept, DK_AT(dk_u32, parameters.word[3]), WORDS, scratch);
})";

class RowStage : public DeviceKernel {
 protected:
  static constexpr int groups = 3;
  static constexpr dk_u32 none = ~0U;

  void build_for(size_t partitions, size_t words, size_t capacity, int size) {
    build({"device/row_stage.h"},
          "#define PARTITIONS " + std::to_string(partitions) + "\n#define WORDS " + std::to_string(words) +
              "\n#define CAPACITY " + std::to_string(capacity) + "\n" + stage_kernel,
          size);
  }

  // Every row has to come to its partition, once, among those of its group of the grid.
  void check(const std::vector<dk_u32>& partition_of, size_t partitions, size_t words, size_t size) {
    std::vector<std::vector<dk_u32>> wanted(partitions * groups);
    for (size_t row = 0; row < partition_of.size(); ++row)
      if (partition_of[row] != none)
        wanted[partition_of[row] * groups + row / size % groups].push_back(static_cast<dk_u32>(row));
    std::vector<dk_u32> starts;
    dk_u32 all = 0;
    for (const auto& rows : wanted) {
      starts.push_back(all);
      all += static_cast<dk_u32>(rows.size());
    }
    clear();
    const dk_u64 at = put(starts), of = put(partition_of), to = put(std::vector<dk_u32>(all * words + 4, none));
    run(groups, {at, of, partition_of.size(), to});
    const std::vector<dk_u32> got = get<dk_u32>(to, all * words + 4);
    size_t place = 0;
    for (const auto& rows : wanted) {
      std::vector<dk_u32> found;
      for (size_t i = 0; i < rows.size(); ++i, place += words) {
        found.push_back(got[place] / static_cast<dk_u32>(words));
        for (size_t word = 0; word < words; ++word) ASSERT_EQ(got[place + word], got[place] + word);
      }
      std::ranges::sort(found);
      ASSERT_EQ(found, rows);
    }
    for (; place < got.size(); ++place) EXPECT_EQ(got[place], none) << "behind the last row";
  }
  Random random_;
};

TEST_F(RowStage, WritesRowsToTheirPartitions) {
  constexpr size_t rows = 4000;
  struct Shape {
    size_t size, partitions, words;
  };
  for (const Shape& shape : {Shape{64, 16, 1}, {64, 64, 2}, {256, 1024, 4}, {64, 1024, 8}, {256, 16, 2}}) {
    ASSERT_NO_FATAL_FAILURE(
        build_for(shape.partitions, shape.words, 2 * shape.size + 12, static_cast<int>(shape.size)));
    std::vector<dk_u32> spread(rows), skewed(rows, 7), few(rows, none);
    for (dk_u32& one : spread) one = static_cast<dk_u32>(random_.below(static_cast<dk_i64>(shape.partitions)));
    for (size_t row = 0; row < rows; row += 3) skewed[row] = spread[row];
    for (size_t row = 0; row < rows; row += 100) few[row] = spread[row];
    for (const auto& one : {spread, skewed, few, std::vector<dk_u32>(rows, none)})
      ASSERT_NO_FATAL_FAILURE(check(one, shape.partitions, shape.words, shape.size));
  }
}

}  // namespace
}  // namespace diptych::testing

#endif
