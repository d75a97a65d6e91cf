#include "tablet/statistics/different_values.h"

#include <algorithm>
#include <numeric>

namespace diptych {
namespace {

// A value that more of a cluster's rows have, or more than this part of the clusters, is frequent.
constexpr double rare_rows = 8, rare_part_of_clusters = 0.5;

// What Duj1 looks at: rows in a sample, the different values among them, and those that only one row has.
struct Found {
  double rows = 0, values = 0, single = 0;
};

double duj1(const Found& found, double all_rows) {
  if (found.rows == 0) return 0;
  return found.rows * found.values / (found.rows - found.single + found.single * found.rows / all_rows);
}

// counts: of each value in a sample of `all_rows` rows how many have it.
double expected_values(std::span<const double> counts, double most_rare, double all_rows) {
  Found rare;
  double frequent = 0, rows = 0;
  for (const double count : counts) {
    rows += count;
    if (count > most_rare) {
      ++frequent;
      continue;
    }
    rare.rows += count;
    ++rare.values;
    if (count == 1) ++rare.single;
  }
  return rows == 0 ? 0 : frequent + duj1(rare, std::max(rare.rows, all_rows * rare.rows / rows));
}

// The rows that are not NULL, by value and by cluster within a value.
std::vector<size_t> rows_by_value(const SampledColumn& column, std::span<const uint8_t> clusters) {
  std::vector<size_t> order;
  for (size_t row = 0; row < column.is_null.size(); ++row)
    if (column.is_null[row] == 0) order.push_back(row);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const int values = column.compare(a, b);
    return values != 0 ? values < 0 : clusters[a] < clusters[b];
  });
  return order;
}

}  // namespace

double different_values(const SampledColumn& column, std::span<const uint8_t> clusters,
                        std::span<const double> rows_of_clusters, double rows) {
  const std::vector<size_t> order = rows_by_value(column, clusters);
  std::vector<std::vector<double>> counts(rows_of_clusters.size());  // of each value, by cluster
  std::vector<double> in_clusters;                                   // of each value, how many of them
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_same = i > 0 && column.compare(order[i], order[i - 1]) == 0;
    if (!is_same) in_clusters.push_back(0);
    if (!is_same || clusters[order[i]] != clusters[order[i - 1]]) {
      ++in_clusters.back();
      counts[clusters[order[i]]].push_back(0);
    }
    ++counts[clusters[order[i]]].back();
  }
  std::vector<double> sampled(rows_of_clusters.size());
  for (const uint8_t cluster : clusters) ++sampled[cluster];
  double pairs = 0;  // of a value and a cluster that has it
  for (size_t cluster = 0; cluster < counts.size(); ++cluster) {
    const double not_null = std::accumulate(counts[cluster].begin(), counts[cluster].end(), 0.0);
    if (not_null > 0)
      pairs += expected_values(counts[cluster], rare_rows, rows_of_clusters[cluster] * not_null / sampled[cluster]);
  }
  const double looked_at = std::accumulate(rows_of_clusters.begin(), rows_of_clusters.end(), 0.0);
  const double most_rare = std::max(1.0, rare_part_of_clusters * static_cast<double>(rows_of_clusters.size()));
  const double values = expected_values(in_clusters, most_rare, pairs * std::max(1.0, rows / looked_at));
  return std::clamp(values, std::min(static_cast<double>(in_clusters.size()), rows), rows);
}

}  // namespace diptych
