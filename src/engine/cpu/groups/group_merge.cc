#include "engine/cpu/groups/group_merge.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <mutex>
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
  Merge(const HashTableInfo& info, const std::vector<RunsOfGroups>& threads, HostRowSet& rows,
        const ExecutionContext& context, const Memory& memory)
      : info_(info), threads_(threads), rows_(rows), context_(context), memory_(memory) {}

  void run() {
    make_tasks();
    const int threads =
        static_cast<int>(std::min<size_t>(static_cast<size_t>(std::max(1, context_.threads)), tasks_.size()));
    if (threads > 1) run_parallel(threads, [&](int) { work(true); });
    if (threads <= 1 || !left_.empty()) work(false);
  }

 private:
  // Above this a table leaves the third-level cache, too.
  static constexpr size_t most_groups = 131072;
  // So many groups are worth a task of their own.
  static constexpr size_t least_groups = 16384;
  // Tables of all threads together take at most this part of the memory limit.
  static constexpr int64_t memory_part = 4;

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
    constexpr uint32_t most_bits = 16, most_bits_for_cache = 4;
    const auto bits_for = [](size_t groups, size_t most) {
      return static_cast<uint32_t>(std::bit_width((groups - 1) / most));
    };
    const uint32_t bits = std::clamp(std::min(bits_for(groups, most_groups), most_bits_for_cache),
                                     std::min(bits_for(most_there, std::max<size_t>(share, 64)), most_bits), most_bits);
    for (uint32_t value = 0; value < 1U << bits; ++value) tasks_.push_back({partition, partition + 1, {bits, value}});
  }

  // has_others: without memory for a task, the thread leaves it to them.
  void work(bool has_others) {
    MergeTable table(info_, memory_);
    while (const Task* task = take_task()) {
      std::vector<HostPiece> pieces;
      try {
        pieces = merge(*task, table);
      } catch (const Error& error) {
        if (error.state() != SqlState::out_of_memory || !has_others) throw;
        const std::lock_guard guard(mutex_);
        left_.push_back(task);
        return;
      }
      const std::lock_guard guard(mutex_);
      for (HostPiece& piece : pieces) rows_.add(std::move(piece));
    }
  }

  const Task* take_task() {
    const std::lock_guard guard(mutex_);
    if (next_ < tasks_.size()) return &tasks_[next_++];
    if (left_.empty()) return nullptr;
    const Task* const left = left_.back();
    left_.pop_back();
    return left;
  }

  std::vector<HostPiece> merge(const Task& task, MergeTable& table) const {
    for (const RunsOfGroups& thread : threads_) {
      thread.for_each_slice(task.first, task.last, memory_, [&](const GroupSlice& slice) {
        check_cancelled(context_);
        table.add(slice, task.part);
      });
    }
    std::vector<HostPiece> pieces = table.rows();
    table.clear();
    return pieces;
  }

  const HashTableInfo& info_;
  const std::vector<RunsOfGroups>& threads_;
  HostRowSet& rows_;
  const ExecutionContext& context_;
  const Memory& memory_;
  std::array<size_t, partition_count> row_counts_{};  // groups and loose rows of all runs, by partition
  std::vector<Task> tasks_;
  std::mutex mutex_;               // guards what follows, and rows_
  size_t next_ = 0;                // of the tasks
  std::vector<const Task*> left_;  // by threads that got no memory
};

}  // namespace

void merge_groups(const HashTableInfo& info, const std::vector<RunsOfGroups>& threads, HostRowSet& rows,
                  const ExecutionContext& context, const Memory& memory) {
  Merge(info, threads, rows, context, memory).run();
}

}  // namespace diptych::cpu
