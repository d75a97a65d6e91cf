#include "table_file.h"

#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <fstream>

namespace ssb {
namespace {

// A few megabytes of text at most: long enough to make handing them over cheap, short enough for all cores at scale
// factor 1.
constexpr int64_t kRowsPerChunk = 10'000;

struct Chunk {
  int64_t first;
  int64_t count;
};

}  // namespace

void write_table(const std::string& path, int64_t rows, const AppendRows& append_rows) {
  std::ofstream file;
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.open(path, std::ios::binary | std::ios::trunc);

  int64_t next = 0;
  const auto take = [&](tbb::flow_control& control) {
    const Chunk chunk = {next, std::min(kRowsPerChunk, rows - next)};
    if (chunk.count <= 0) control.stop();
    next += kRowsPerChunk;
    return chunk;
  };
  const auto make = [&](Chunk chunk) {
    std::string text;
    append_rows(chunk.first, chunk.count, text);
    return text;
  };
  const auto write = [&](const std::string& text) {
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
  };

  // Twice as many chunks under way as threads, so that nobody waits for the one that is behind.
  const auto under_way = static_cast<size_t>(2 * tbb::this_task_arena::max_concurrency());
  tbb::parallel_pipeline(under_way, tbb::make_filter<void, Chunk>(tbb::filter_mode::serial_in_order, take) &
                                        tbb::make_filter<Chunk, std::string>(tbb::filter_mode::parallel, make) &
                                        tbb::make_filter<std::string, void>(tbb::filter_mode::serial_in_order, write));
  file.close();
}

}  // namespace ssb
