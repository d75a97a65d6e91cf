#include "io/parquet/parquet_sample.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "base/error.h"
#include "tablet/statistics/different_values.h"
#include "tablet/statistics/hyper_log_log.h"

namespace diptych {
namespace {

constexpr auto sampled_rows_at_most = static_cast<int64_t>(RowSample::most_rows);
// A cluster takes a page of each column, of a megabyte at most as a rule, to be decompressed. Where row groups are
// small there are more clusters, of fewer rows each.
constexpr int64_t usual_clusters = 8, most_clusters = ClustersSeen::most_clusters;
constexpr int64_t cluster_rows = 8192;
// A page has a hundred rows or more, and who writes long texts writes long pages.
constexpr int64_t most_bytes_a_row = 256;

// Of `count` rows from the first one on.
std::vector<int64_t> draw(int64_t first, int64_t count, int64_t wanted, int64_t seed) {
  std::vector<int64_t> drawn;
  if (count <= wanted) {
    for (int64_t row = first; row < first + count; ++row) drawn.push_back(row);
    return drawn;
  }
  std::set<int64_t> chosen;
  for (auto number = static_cast<uint64_t>(seed) << 32; chosen.size() < static_cast<size_t>(wanted); ++number)
    chosen.insert(first + static_cast<int64_t>(HyperLogLog::mixed(number + 1) % static_cast<uint64_t>(count)));
  drawn.assign(chosen.begin(), chosen.end());
  return drawn;
}

std::vector<SampleCluster> all_rows(std::span<const int64_t> row_group_rows) {
  std::vector<SampleCluster> clusters;
  for (size_t group = 0; group < row_group_rows.size(); ++group)
    if (const int64_t rows = row_group_rows[group]; rows > 0)
      clusters.push_back({group, 0, rows, draw(0, rows, rows, 0)});
  return clusters;
}

}  // namespace

std::vector<SampleCluster> sample_clusters(std::span<const int64_t> row_group_rows) {
  const int64_t rows = std::accumulate(row_group_rows.begin(), row_group_rows.end(), int64_t{0});
  const auto groups = static_cast<int64_t>(row_group_rows.size());
  if (rows <= sampled_rows_at_most && groups <= most_clusters) return all_rows(row_group_rows);
  const int64_t count =
      std::clamp(groups * sampled_rows_at_most / std::max<int64_t>(rows, 1), usual_clusters, most_clusters);
  std::vector<SampleCluster> clusters;
  size_t group = 0;
  int64_t before = 0;  // rows before the group
  int64_t end = 0;     // of the cluster before, in the group
  for (int64_t i = 0; i < count; ++i) {
    const int64_t middle = rows / count * i + rows / count / 2;
    for (; middle >= before + row_group_rows[group]; ++group) {
      before += row_group_rows[group];
      end = 0;
    }
    const int64_t longest = std::min(cluster_rows, std::max<int64_t>(rows / count, 1));
    const int64_t first = std::max(end, std::min(middle - before - longest / 2, row_group_rows[group] - longest));
    const int64_t last = std::min(first + longest, row_group_rows[group]);
    if (first >= last) continue;
    clusters.push_back({group, first, last - first, draw(first, last - first, sampled_rows_at_most / count, i)});
    end = last;
  }
  return clusters;
}

ParquetSample::ParquetSample(const ParquetReader& file)
    : SourceStatistics(file.columns().size()),
      file_(file),
      columns_(std::make_unique<ReadColumn[]>(file.columns().size())) {
  std::vector<int64_t> row_group_rows;
  for (size_t group = 0; group < file.row_group_count(); ++group) row_group_rows.push_back(file.rows_in(group));
  for (const SampleCluster& cluster : sample_clusters(row_group_rows)) {
    if (drawn_.empty() || drawn_.back().row_group != cluster.row_group) drawn_.push_back({cluster.row_group, {}});
    std::vector<int64_t>& drawn = drawn_.back().rows;
    drawn.insert(drawn.end(), cluster.drawn.begin(), cluster.drawn.end());
    clusters_.insert(clusters_.end(), cluster.drawn.size(), static_cast<uint8_t>(rows_of_clusters_.size()));
    rows_of_clusters_.push_back(static_cast<double>(cluster.rows));
  }
}

SampledColumn ParquetSample::read(size_t column) const {
  std::vector<SampledColumn> parts(drawn_.size());
  // A thread that waits takes no other work meanwhile, which might ask for the same column.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(size_t{0}, parts.size(),
                      [&](size_t i) { file_.sample_rows(drawn_[i].row_group, column, drawn_[i].rows, parts[i]); });
  });
  SampledColumn sample;
  for (const SampledColumn& part : parts) sample.append(part, 0, part.is_null.size());
  return sample;
}

// What is wrong with the file is for the query to find, if it reads there.
const SampledColumn* ParquetSample::sampled(size_t column) const {
  ReadColumn& wanted = columns_[column];
  std::call_once(wanted.is_read, [&] {
    try {
      const bool is_short = std::all_of(drawn_.begin(), drawn_.end(), [&](const DrawnRows& drawn) {
        return file_.decompressed_bytes(drawn.row_group, column) <= file_.rows_in(drawn.row_group) * most_bytes_a_row;
      });
      if (is_short && !clusters_.empty()) wanted.sample = read(column);
    } catch (const Error&) {
      wanted.sample.reset();
    }
  });
  return wanted.sample ? &*wanted.sample : nullptr;
}

double ParquetSample::count_different(size_t column) const {
  const ParquetReader::CountedValues counted = file_.counted_values(column);
  const SampledColumn* sample = sampled(column);
  if (sample == nullptr) return std::max(1.0, counted.most);
  const auto rows = static_cast<double>(file_.metadata().num_rows());
  const double different = different_values(*sample, clusters_, rows_of_clusters_, rows);
  return std::max(1.0, std::clamp(different, std::min(counted.least, counted.most), counted.most));
}

}  // namespace diptych
