#include "engine/cpu/groups/moved_runs.h"

#include <utility>

#include "base/error.h"

namespace diptych::cpu {
namespace {

// So much is written at a time, and a partition more.
constexpr size_t written_bytes = size_t{256} << 10;

}  // namespace

template <typename Action>
void MovedRuns::for_each_stack(Action&& action) const {
  for (size_t i = 0; i + 1 < stacks_.size(); ++i)
    action(GroupRun::Runs(runs_).subspan(stacks_[i], stacks_[i + 1] - stacks_[i]));
}

MovedRuns::MovedRuns(std::vector<GroupRun> runs, TempFile& file) : runs_(std::move(runs)), file_(file) {
  for (GroupRun& run : runs_) run.begin_pieces();
  for (size_t i = 0; i < runs_.size(); ++i)
    if (i == 0 || !runs_[i].can_share_pieces_with(runs_[i - 1])) stacks_.push_back(i);
  stacks_.push_back(runs_.size());
  starts_.reserve(partition_count + 1);
  std::vector<std::byte> pieces;
  pieces.reserve(2 * written_bytes);
  int64_t written = -1;  // up to there
  const auto write = [&] {
    const int64_t at = file.append(pieces);
    check_invariant(written < 0 || at == written, "pieces of runs are next to one another");
    if (written < 0) starts_.front() = at;
    written = at + static_cast<int64_t>(pieces.size());
    pieces.clear();
  };
  int64_t bytes = 0;  // of all partitions so far
  for (uint32_t partition = 0; partition < partition_count; ++partition) {
    starts_.push_back(bytes);
    for_each_stack([&](GroupRun::Runs stack) {
      const size_t at = pieces.size(), more = GroupRun::piece_bytes(stack, partition);
      pieces.resize(at + more);
      GroupRun::write_piece(stack, partition, pieces.data() + at);
      bytes += static_cast<int64_t>(more);
    });
    if (pieces.size() >= written_bytes) write();
  }
  starts_.push_back(bytes);
  if (!pieces.empty()) write();
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_.front();
  for (GroupRun& run : runs_) run.free_memory();
}

void MovedRuns::for_each_slice(uint32_t first, uint32_t last, const Memory& memory, const TakeSlice& action) const {
  for (uint32_t partition = first; partition < last; ++partition) {
    const auto bytes = static_cast<size_t>(starts_[partition + size_t{1}] - starts_[partition]);
    if (bytes == 0) continue;
    const Chunk loaded = memory.allocate(bytes, "groups");
    file_.read_at(starts_[partition], {loaded.data(), bytes});
    const std::byte* piece = loaded.data();
    for_each_stack([&](GroupRun::Runs stack) {
      const GroupSlice slice = GroupRun::slice_of_piece(stack, partition, piece);
      if (slice.count > 0) action(slice);
      piece += GroupRun::piece_bytes(stack, partition);
    });
  }
}

size_t RunsOfGroups::run_count() const {
  size_t count = runs.size();
  for (const MovedRuns& some : moved) count += some.runs().size();
  return count;
}

void RunsOfGroups::add_counts(std::span<size_t, partition_count> counts) const {
  const auto add = [&](GroupRun::Runs some) {
    for (const GroupRun& run : some)
      for (uint32_t partition = 0; partition < partition_count; ++partition)
        counts[partition] += run.count(partition, partition + 1);
  };
  for (const MovedRuns& some : moved) add(some.runs());
  add(runs);
}

void RunsOfGroups::move_to_file(const Memory& memory) {
  if (runs.empty()) return;
  if (!file) file = memory.open_temp_file();
  size_t bytes = 0;
  for (const GroupRun& run : runs) bytes += run.bytes_in_memory();
  moved.emplace_back(std::exchange(runs, {}), *file);
  memory.count_spilled(static_cast<int64_t>(bytes));
}

void RunsOfGroups::for_each_slice(uint32_t first, uint32_t last, const Memory& memory, const TakeSlice& action) const {
  for (const MovedRuns& some : moved) some.for_each_slice(first, last, memory, action);
  for (const GroupRun& run : runs)
    if (run.count(first, last) > 0) action(run.slice(first, last));
}

}  // namespace diptych::cpu
