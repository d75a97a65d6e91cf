#include "engine/cpu/groups/dense_merge.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/run/parallel.h"

namespace diptych::cpu {
namespace {

// Groups of a table that are worth a task, by all tables: another thread wakes up in about the time that they take.
constexpr size_t least_groups = 32768;

}  // namespace

std::vector<HostPiece> merge_dense(std::vector<std::unique_ptr<GroupTable>> tables, int threads) {
  GroupTable& first = *tables[0];
  const size_t groups = first.possible_groups();
  const size_t most = first.has_texts() ? 1 : static_cast<size_t>(std::max(1, threads));
  const size_t tasks = std::clamp<size_t>(groups * tables.size() / least_groups, 1, most);
  std::vector<std::vector<HostPiece>> made(tasks);
  const auto merge = [&](int task) {
    const auto number = static_cast<size_t>(task);
    const size_t begin = groups * number / tasks, end = groups * (number + 1) / tasks;
    for (size_t i = 1; i < tables.size(); ++i) first.merge(*tables[i], begin, end);
    made[number] = first.rows(begin, end);
  };
  if (tasks == 1)
    merge(0);
  else
    run_parallel(static_cast<int>(tasks), merge);
  std::vector<HostPiece> pieces = std::move(made[0]);
  for (size_t i = 1; i < tasks; ++i) std::ranges::move(made[i], std::back_inserter(pieces));
  return pieces;
}

}  // namespace diptych::cpu
