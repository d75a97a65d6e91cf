#include "engine/cpu/groups/group_runs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/machine.h"
#include "engine/rows/row_mask.h"

namespace diptych::cpu {
namespace {

// A table of so many bytes, strings apart, is in most second-level caches and takes less time a row than a loose row
// does up to the end of the merge; one in the third level takes more, unless strings are to be copied and compared.
constexpr int64_t small_table_bytes = int64_t{1} << 20;
// Groups of few bytes may be in the third-level cache, if there seem to be no more than it has room for.
constexpr size_t most_light_bytes = 128;
// Where the machine does not tell its caches, and where it tells more than a thread will get of them:
constexpr int64_t least_table_bytes = int64_t{2} << 20, most_table_bytes = int64_t{16} << 20;
constexpr size_t most_strings = size_t{16} << 20;
// Tables with their loose rows, and the runs of all threads together, hold at most this part of the memory limit each:
// of it three eighths are for groups, one for loose rows, which may take twice as much as they are, and one for the
// strings of each.
constexpr int64_t group_memory_part = 4;
// Loose rows become a run when they take so many bytes: smaller runs have partitions of a few rows each, larger ones
// leave the caches before they are put in order.
constexpr size_t most_loose_bytes = size_t{8} << 20;
// Fewer rows a group than this, and looking them up costs more than it saves the merge.
constexpr int64_t least_rows_a_group = 2;
// So many rows show how many are of the groups of a full table. A row that is looked up in vain in a table of the third
// level of caches takes as long as one that is kept loose does up to the end of the merge.
constexpr int64_t trial_rows = 65536, least_known_percent = 50, least_known_percent_of_large = 75;
// Groups of such a part of a trial's rows are frequent; there are few of them, and looking up others in vain costs
// little.
constexpr int64_t frequent_part = 256;
constexpr int64_t least_frequent_percent = 20;
// After so many tables without a trial, or runs without looking up, one tries again: data may change on its way.
constexpr int rounds_without_trial = 16;

bool is_frequent(int64_t rows, int64_t of) { return rows > 0 && rows * frequent_part >= of; }

}  // namespace

size_t bytes_of_group(const KeyLayout& layout, const AggregateStates& states) {
  // Its key, its hash, and as many places of the hash table as it is wide.
  return layout.words() * 8 + 8 + 4 * 8 + states.row_bytes();
}

GroupRuns::GroupRuns(HashedKeys& keys, AggregateStates& states, LooseRows& loose, const Memory& memory)
    : keys_(keys), states_(states), loose_(loose), memory_(memory), share_(memory.thread_share(group_memory_part)) {
  most_groups_ = groups_that_fit(keys.layout().has_texts() ? most_table_bytes : small_table_bytes);
  most_loose_ = std::max<size_t>(std::min(most_loose_bytes, share_ / 8) / loose.row_bytes(), size_t{block_rows});
  most_text_bytes_ = std::min(most_strings, share_ / 8);
}

int64_t GroupRuns::groups_that_fit(int64_t most_bytes) const {
  const auto cache = static_cast<size_t>(std::min(std::max(machine_cache_bytes(), least_table_bytes), most_bytes));
  const size_t groups = std::min(cache, share_ / 8 * 3) / bytes_of_group(keys_.layout(), states_);
  return static_cast<int64_t>(std::max<size_t>(groups, block_rows));
}

bool GroupRuns::is_table_full() const {
  return int64_t{keys_.groups()} >= most_groups_ || keys_.text_bytes() + states_.text_bytes() >= most_text_bytes_;
}

bool GroupRuns::is_loose_full() const {
  return loose_.count() >= most_loose_ || loose_.text_bytes() >= most_text_bytes_;
}

void GroupRuns::count(int64_t rows, int64_t loose) {
  rows_taken_ += rows;
  rows_loose_ += loose;
}

void GroupRuns::count_known(const RowMask& known, int words, const uint32_t* numbers) {
  if (rows_of_group_.empty()) return;
  for_each_row(known.words, words, [&](int row) { ++rows_of_group_[numbers[row]]; });
}

Lookup GroupRuns::before_block() {
  if (std::exchange(gives_way_, false)) move_all_to_file();
  if (lookup_ == Lookup::Adds && is_table_full()) end_filling();
  // What least and greatest strings were before is freed only with the table.
  if (lookup_ == Lookup::Known && states_.text_bytes() >= most_text_bytes_) start_anew();
  if (lookup_ == Lookup::Known && (rows_taken_ >= trial_rows || is_loose_full())) judge_known();
  if (is_loose_full()) {
    give_up_loose();
    if (runs_without_trial_ > 0 && --runs_without_trial_ == 0) {
      start_anew();
      // Loose rows have taken much memory by now.
      most_groups_ = groups_that_fit(most_table_bytes);
    }
  }
  return lookup_;
}

void GroupRuns::start_anew() {
  give_up_loose();
  give_up_table();
  has_frequent_alone_ = false;
  lookup_ = Lookup::Adds;
}

void GroupRuns::end_filling() {
  rows_filled_ = std::exchange(rows_taken_, 0);
  rows_loose_ = 0;
  if (tables_without_trial_ == 0) {
    lookup_ = Lookup::Known;
    rows_of_group_.assign(keys_.groups(), 0);
    return;
  }
  --tables_without_trial_;
  give_up_table();
}

void GroupRuns::judge_known() {
  const int64_t known = rows_taken_ - rows_loose_;
  // Loose rows are to be no more, of all rows, than groups were of the rows that filled the table.
  const bool is_better = rows_loose_ * rows_filled_ <= rows_taken_ * static_cast<int64_t>(keys_.groups());
  const bool is_large = most_groups_ > groups_that_fit(small_table_bytes);
  const bool is_worth_it =
      is_better && known * 100 >= rows_taken_ * (is_large ? least_known_percent_of_large : least_known_percent);
  const int64_t taken = std::exchange(rows_taken_, 0);
  rows_loose_ = 0;
  if (has_frequent_alone_ ? known * 100 >= taken * least_frequent_percent : is_worth_it) {
    rows_of_group_.clear();
    // Other keys may become frequent.
    if (runs_without_trial_ == 0) runs_without_trial_ = rounds_without_trial;
    return;
  }
  const int64_t frequent = rows_of_frequent(taken);
  if (!is_large && would_fit_large(taken - frequent, known - frequent)) {
    give_up_loose();
    lookup_ = Lookup::Adds;
    rows_taken_ = rows_filled_;
    most_groups_ = groups_that_fit(most_table_bytes);
    return;
  }
  if (std::exchange(has_frequent_alone_, false)) {
    lookup_ = Lookup::None;
  } else if (rows_filled_ >= least_rows_a_group * static_cast<int64_t>(keys_.groups())) {
    tables_without_trial_ = rounds_without_trial;
    start_anew();
    return;
  } else {
    runs_without_trial_ = rounds_without_trial;
    if (keep_frequent(taken)) return;
    lookup_ = Lookup::None;
  }
  give_up_table();
}

int64_t GroupRuns::rows_of_frequent(int64_t taken) const {
  return std::accumulate(rows_of_group_.begin(), rows_of_group_.end(), int64_t{0}, [&](int64_t sum, uint32_t rows) {
    return sum + (is_frequent(rows, taken) ? int64_t{rows} : 0);
  });
}

// Whether a table of the third-level cache is worth it for all groups: if they are equally frequent but for the few
// that are left out of both counts, the table has the same part of them as of the rows taken.
bool GroupRuns::would_fit_large(int64_t taken, int64_t known) const {
  const int64_t most = groups_that_fit(most_table_bytes), groups = keys_.groups();
  const bool is_full_of_groups = groups >= most_groups_ && most_groups_ < most;
  return is_full_of_groups && bytes_of_group(keys_.layout(), states_) <= most_light_bytes &&
         groups * taken <= known * most;
}

// Gives up the table but for the keys of which the trial has seen many, if these have enough of the rows.
bool GroupRuns::keep_frequent(int64_t taken) {
  if (rows_of_frequent(taken) * 100 < taken * least_frequent_percent) return false;
  const size_t words = keys_.layout().words();
  std::vector<uint64_t> rows, hashes;
  TextArena texts;
  for (uint32_t group = 0; group < rows_of_group_.size(); ++group) {
    if (!is_frequent(rows_of_group_[group], taken)) continue;
    const KeyRows all = keys_.all();
    rows.insert(rows.end(), all.rows + group * words, all.rows + (group + 1) * words);
    keys_.layout().own_texts(rows.data() + hashes.size() * words, texts);
    hashes.push_back(all.hashes[group]);
  }
  rows_of_group_.clear();
  give_up_table();
  keys_.shrink();
  std::vector<uint32_t> numbers(hashes.size());
  keys_.find_rows({rows.data(), hashes.data(), hashes.size()}, true, numbers.data());
  states_.grow_to(keys_.groups());
  has_frequent_alone_ = true;
  return true;
}

void GroupRuns::give_up_table() {
  rows_taken_ = rows_loose_ = 0;
  if (keys_.groups() > 0) make_run(keys_, states_);
}

void GroupRuns::give_up_loose() {
  if (loose_.count() > 0) make_run(loose_);
}

bool GroupRuns::give_way() {
  if (!memory_.can_spill() || (keys_.groups() == 0 && loose_.count() == 0)) return false;
  gives_way_ = true;
  return true;
}

void GroupRuns::move_all_to_file() {
  if (!memory_.can_spill()) return;
  start_anew();
  move_to_file();
}

template <typename... Sources>
void GroupRuns::make_run(Sources&... sources) {
  const auto make = [&] { made_.runs.emplace_back(sources..., memory_); };
  bool is_counted = true;
  if (!memory_.can_spill()) {
    make();
  } else if (!has_memory_for(make)) {
    move_to_file();
    is_counted = has_memory_for(make);
    // Beyond the limit, until it is written: what it is made of has no other way out.
    if (!is_counted) made_.runs.emplace_back(sources..., Memory());
  }
  bytes_ += made_.runs.back().bytes_in_memory();
  if (!is_counted || bytes_ > share_) move_to_file();
}

void GroupRuns::move_to_file() {
  if (!memory_.can_spill()) return;
  made_.move_to_file(memory_);
  bytes_ = 0;
}

RunsOfGroups GroupRuns::take() {
  give_up_table();
  give_up_loose();
  bytes_ = 0;
  return std::move(made_);
}

}  // namespace diptych::cpu
