#include "engine/cpu/groups/group_merge.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "engine/cpu/groups/merge_table.h"
#include "engine/run/parallel.h"

namespace diptych::cpu {
namespace {

// Partitions, or a part of one, that are merged in one table.
struct Task {
  uint32_t first = 0, last = 0;
  HashPart part;
};

class Merge {
 public:
  Merge(const HashTableInfo& info, std::vector<RunsOfGroups>& threads, HostRowSet& rows,
        const ExecutionContext& context, const Memory& memory)
      : info_(info), threads_(threads), rows_(rows), context_(context), memory_(memory) {}

  void run() {
    make_tasks();
    const int threads =
        static_cast<int>(std::min<size_t>(static_cast<size_t>(std::max(1, context_.threads)), tasks_.size()));
    if (threads > 1) run_parallel(threads, [&](int) { work(); });
    if (threads <= 1 || !tasks_.empty()) work_alone();
  }

 private:
  // Above this a table leaves the third-level cache, too.
  static constexpr size_t most_groups = 131072;
  // So many groups are worth a task of their own.
  static constexpr size_t least_groups = 16384;
  // Tables of all threads together take at most this part of the memory limit.
  static constexpr int64_t memory_part = 4;
  // A partition is split into 2 to the power of so many parts at most.
  static constexpr uint32_t most_bits = 16;

  void make_tasks() {
    for (const RunsOfGroups& thread : threads_) thread.add_counts(row_counts_);
    const size_t distinct = distinct_in_a_partition();
    const size_t share = memory_.thread_share(memory_part) / MergeTable(info_, memory_).group_bytes();
    const size_t most = std::clamp<size_t>(share, 64, most_groups);
    const size_t least = std::min(least_groups, most);
    Task open;
    size_t open_groups = 0;
    const auto close = [&] {
      if (open_groups > 0) tasks_.push_back(open);
      open_groups = 0;
    };
    for (uint32_t partition = 0; partition < partition_count; ++partition) {
      const size_t groups = row_counts_[partition];
      if (open_groups > 0 && open_groups + groups > most) close();
      if (std::min(groups, distinct) > most || std::min(groups, 2 * distinct) > share) {
        split(partition, std::min(groups, distinct), std::min(groups, 2 * distinct), share);
        continue;
      }
      if (open_groups == 0) open.first = partition;
      open.last = partition + 1;
      open_groups += groups;
      if (open_groups >= least) close();
    }
    close();
    std::reverse(tasks_.begin(), tasks_.end());
  }

  // About as many groups as a partition has, whose rows may be far more: hashes spread groups evenly, so that the one
  // of the median number of rows stands for all. Counted by the share of a bitmap's bits that are still 0 (linear
  // counting, Whang, Vander-Zanden and Taylor 1990).
  size_t distinct_in_a_partition() const {
    std::array<std::pair<size_t, uint32_t>, partition_count> sizes;
    for (uint32_t partition = 0; partition < partition_count; ++partition)
      sizes[partition] = {row_counts_[partition], partition};
    const auto median = sizes.begin() + sizes.size() / 2;
    std::nth_element(sizes.begin(), median, sizes.end());
    const auto [rows, partition] = *median;
    if (rows == 0) return SIZE_MAX;
    // Eight bits a row: few of them are hit by several hashes.
    const size_t bits = std::bit_ceil(std::max<size_t>(rows, 8)) * 8;
    std::vector<uint64_t> words(bits / 64), room;
    const KeyLayout layout(info_.keys);
    const auto count_slice = [&](const GroupSlice& slice) {
      const uint64_t* const hashes = slice.hashes_of(layout, 0, slice.count, room);
      for (size_t i = 0; i < slice.count; ++i) {
        const uint64_t bit = hashes[i] & (bits - 1);
        words[bit / 64] |= uint64_t{1} << (bit % 64);
      }
    };
    for (const RunsOfGroups& thread : threads_) thread.for_each_slice(partition, partition + 1, memory_, count_slice);
    size_t hit = 0;
    for (const uint64_t word : words) hit += static_cast<size_t>(std::popcount(word));
    const double left = 1 - static_cast<double>(hit) / static_cast<double>(bits);
    return static_cast<size_t>(-static_cast<double>(bits) * std::log(left)) + 1;
  }

  // Each part goes over all hashes of the partition: 16 times for the cache's sake take as long as the rest does. For
  // the memory's sake there are as many parts as it takes.
  void split(uint32_t partition, size_t groups, size_t most_there, size_t share) {
    constexpr uint32_t most_bits_for_cache = 4;
    const auto bits_for = [](size_t groups, size_t most) {
      return static_cast<uint32_t>(std::bit_width((groups - 1) / most));
    };
    const uint32_t bits = std::clamp(std::min(bits_for(groups, most_groups), most_bits_for_cache),
                                     std::min(bits_for(most_there, std::max<size_t>(share, 64)), most_bits), most_bits);
    for (uint32_t value = 0; value < 1U << bits; ++value) tasks_.push_back({partition, partition + 1, {bits, value}});
  }

  // One of several threads: without memory for a task it leaves that to the others.
  void work() {
    MergeTable table(info_, memory_);
    while (const std::optional<Task> task = take_task()) {
      if (has_memory_for([&] { merge(*task, table); })) continue;
      add_task(*task);
      return;
    }
  }

  // The thread that is left: there is nobody else to give way.
  void work_alone() {
    while (const std::optional<Task> task = take_task()) {
      const auto merge_it = [&] {
        MergeTable table(info_, memory_);
        merge(*task, table);
      };
      if (has_memory_for(merge_it) || (move_runs() && has_memory_for(merge_it))) continue;
      if (!halve(*task)) merge_it();
    }
  }

  // Whether there were any in memory, and can be in files.
  bool move_runs() {
    if (!memory_.can_spill()) return false;
    bool any = false;
    for (RunsOfGroups& thread : threads_) {
      any = any || !thread.runs.empty();
      thread.move_to_file(memory_);
    }
    return any;
  }

  // Whether it has halves, which are tasks then.
  bool halve(const Task& task) {
    if (task.last - task.first > 1) {
      const uint32_t middle = task.first + (task.last - task.first) / 2;
      add_task({middle, task.last, task.part});
      add_task({task.first, middle, task.part});
      return true;
    }
    const auto [bits, value] = task.part;
    if (bits == most_bits) return false;
    add_task({task.first, task.last, {bits + 1, 2 * value + 1}});
    add_task({task.first, task.last, {bits + 1, 2 * value}});
    return true;
  }

  std::optional<Task> take_task() {
    const std::lock_guard guard(mutex_);
    if (tasks_.empty()) return std::nullopt;
    const Task task = tasks_.back();
    tasks_.pop_back();
    return task;
  }

  void add_task(const Task& task) {
    const std::lock_guard guard(mutex_);
    tasks_.push_back(task);
  }

  // Adds the task's groups to the rows. Errors: 53200, and nothing is added; 57014, 58030, what adding states raises.
  void merge(const Task& task, MergeTable& table) {
    for (const RunsOfGroups& thread : threads_) {
      thread.for_each_slice(task.first, task.last, memory_, [&](const GroupSlice& slice) {
        check_cancelled(context_);
        table.add(slice, task.part);
      });
    }
    std::vector<HostPiece> pieces = table.rows();
    table.clear();
    const std::lock_guard guard(mutex_);
    for (HostPiece& piece : pieces) rows_.add(std::move(piece));
  }

  const HashTableInfo& info_;
  std::vector<RunsOfGroups>& threads_;
  HostRowSet& rows_;
  const ExecutionContext& context_;
  const Memory& memory_;
  std::array<size_t, partition_count> row_counts_{};  // groups and loose rows of all runs, by partition
  std::mutex mutex_;                                  // guards what follows, and rows_
  std::vector<Task> tasks_;                           // the last is done next
};

}  // namespace

void merge_groups(const HashTableInfo& info, std::vector<RunsOfGroups>& threads, HostRowSet& rows,
                  const ExecutionContext& context, const Memory& memory) {
  Merge(info, threads, rows, context, memory).run();
}

}  // namespace diptych::cpu
