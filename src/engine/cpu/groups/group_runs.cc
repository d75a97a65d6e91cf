#include "engine/cpu/groups/group_runs.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/machine.h"
#include "engine/cpu/row_mask.h"

namespace diptych::cpu {
namespace {

// A table, strings apart, that is in the caches takes less time a row than partitioning the row does; one that is not
// takes more. Where the machine does not tell its caches, and where it tells more than a thread will get of them:
constexpr int64_t least_table_bytes = int64_t{2} << 20, most_table_bytes = int64_t{16} << 20;
constexpr size_t most_strings = size_t{16} << 20;
// Tables, and the runs of all threads together, hold at most this part of the memory limit each.
constexpr int64_t memory_part = 4;

}  // namespace

size_t bytes_of_group(const KeyLayout& layout, const AggregateStates& states) {
  // Its key, its hash, and as many places of the hash table as it is wide.
  return layout.words() * 8 + 8 + 4 * 8 + states.row_bytes();
}

GroupRuns::GroupRuns(HashedKeys& keys, AggregateStates& states, const Memory& memory)
    : keys_(keys), states_(states), memory_(memory), share_(memory.thread_share(memory_part)) {
  const auto cache = static_cast<size_t>(std::clamp(machine_cache_bytes(), least_table_bytes, most_table_bytes));
  most_groups_ = static_cast<uint32_t>(
      std::max<size_t>(std::min(cache, share_ / 2) / bytes_of_group(keys.layout(), states), block_rows));
  most_text_bytes_ = std::min(most_strings, share_ / 2);
}

bool GroupRuns::is_full() const {
  if (keys_.groups() >= most_groups_ || gives_way_) return true;
  return keys_.text_bytes() + states_.text_bytes() >= most_text_bytes_;
}

void GroupRuns::before_block() {
  if (keys_.groups() > 0 && is_full()) end_run();
}

bool GroupRuns::give_way() {
  if (!memory_.can_spill() || keys_.groups() == 0) return false;
  gives_way_ = true;
  return true;
}

void GroupRuns::end_run() {
  // Fewer rows a group than this, and looking them up costs more than it saves the merge.
  constexpr int64_t least_rows_a_group = 2;
  // After so many runs without looking up one tries again: data may change on its way.
  constexpr int append_runs = 16;
  if (runs_to_append_ > 0)
    --runs_to_append_;
  else if (rows_taken_ < least_rows_a_group * keys_.groups())
    runs_to_append_ = append_runs;
  rows_taken_ = 0;
  make_run();
  if (std::exchange(gives_way_, false) || bytes_ > share_) move_to_file();
}

void GroupRuns::make_run() {
  try {
    made_.runs.emplace_back(keys_, states_, memory_);
  } catch (const Error& error) {
    if (error.state() != SqlState::out_of_memory || !memory_.can_spill() || bytes_ == 0) throw;
    move_to_file();
    made_.runs.emplace_back(keys_, states_, memory_);
  }
  bytes_ += made_.runs.back().bytes_in_memory();
}

void GroupRuns::move_to_file() {
  if (!memory_.can_spill()) return;
  if (!made_.file) made_.file = memory_.open_temp_file();
  for (GroupRun& run : made_.runs) run.move_to(*made_.file);
  memory_.count_spilled(static_cast<int64_t>(bytes_));
  bytes_ = 0;
}

RunsOfGroups GroupRuns::take() {
  if (keys_.groups() > 0) end_run();
  bytes_ = 0;
  return std::move(made_);
}

}  // namespace diptych::cpu
