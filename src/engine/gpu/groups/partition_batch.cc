#include "engine/gpu/groups/partition_batch.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "engine/gpu/groups/group_launch.h"
#include "engine/gpu/groups/group_strings.h"

namespace diptych::gpu {
namespace {

// A partition of so many rows keeps a work-group busy for longer than it takes to begin.
constexpr int64_t partition_rows = 1024;
constexpr int least_partition_bits = 4;
// As many partitions as make small tables, which all of a device's units share out evenly; more where there may be so
// many groups that tables would be more than three quarters full: the more partitions, the fewer rows of each are
// written together.
constexpr int usual_partition_bits = 11;

// Partitions of uniform keys are one slice each.
constexpr int64_t least_slice_rows = 8192, slice_partitions = 4;

// A work-group has all of a multiprocessor's shared memory, but what its scratch and counters take.
constexpr int64_t beside_table = 2048;

// Entries of rows that are kept have numbers of 16 bits.
constexpr int64_t most_staged_rows = 65536;

// Rows of a partition lie in lines of 128 bytes; those that all groups of the grid write to should stay in the cache:
// 256 MB of them took four times the memory traffic.
constexpr int64_t written_lines = int64_t{1} << 18;

// Of the memory to plan with, for the rows of one result, and for states.
constexpr int64_t part_of_memory = 8;
constexpr int64_t least_room = 4096;

bool is_prime(int64_t number) {
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0) return false;
  return true;
}

}  // namespace

PartitionBatch::PartitionBatch(GpuEngine& engine, const GroupPlan& plan, const HashTableInfo& table, int64_t rows,
                               bool is_complete)
    : engine_(engine), plan_(plan), table_(table), rows_(rows), is_complete_(is_complete) {
  const auto by_rows = static_cast<uint64_t>(rows / partition_rows);
  const auto by_groups = static_cast<uint64_t>(most_possible_groups() / (shared_slots() * 3 / 4 + 1));
  const int bits = static_cast<int>(std::bit_width(by_rows));
  bits_ = std::clamp(static_cast<int>(std::bit_width(by_groups)), std::min(usual_partition_bits, bits), bits);
  bits_ = std::clamp(bits_, least_partition_bits, plan.partition_bits);
}

// As far as the ranges of the keys tell.
int64_t PartitionBatch::most_possible_groups() const {
  double groups = 1;
  for (const RegisterInfo& key : table_.keys) {
    if (key.physical == PhysicalType::Bool)
      groups *= 3;
    else if (key.has_range)
      groups *= static_cast<double>(key.high - key.low) + 2;
    else
      return rows_;
  }
  return static_cast<int64_t>(std::min(groups, static_cast<double>(rows_)));
}

int64_t PartitionBatch::table_bytes() const {
  const DeviceInfo& info = engine_.device().info();
  return info.api == DeviceApi::Cuda ? info.most_shared_bytes - beside_table : usual_table_bytes;
}

// A prime, so that a search meets all slots whatever its stride is.
int64_t PartitionBatch::shared_slots() const {
  int64_t slots = std::max<int64_t>(1, table_bytes() / static_cast<int64_t>(plan_.kernels->slot_bytes));
  while (!is_prime(slots)) --slots;
  return slots;
}

int64_t PartitionBatch::slice_rows() const {
  return std::max(least_slice_rows, slice_partitions * rows_ / partitions());
}

int64_t PartitionBatch::most_groups() const {
  return std::max<int64_t>(engine_.device().info().compute_units, written_lines / partitions());
}

// As kernel/device/row_stage.h lays it out.
int64_t PartitionBatch::stage(int64_t step_rows) {
  const int64_t bytes_of_partitions = partitions() * 8;
  const int64_t entry_bytes = static_cast<int64_t>(plan_.row.words) * 4 + 6;
  staged_rows_ = std::min<int64_t>((table_bytes() - bytes_of_partitions) / entry_bytes / 4 * 4, most_staged_rows);
  if (staged_rows_ < step_rows) staged_rows_ = 0;
  return bytes_of_partitions + staged_rows_ * entry_bytes;
}

void PartitionBatch::begin(int64_t grid_groups) {
  counts_ = grid_groups;
  Device& device = engine_.device();
  const int64_t all = partitions() * counts_;
  // Counts, the state of their scan, first slices.
  const int64_t bytes = padded((all + 1) * 4) + padded(starts_state_bytes(all)) + padded((partitions() + 1) * 4);
  if (starts_.bytes() < bytes) starts_ = device.allocate(bytes, "partitions of groups");
  if (control_.bytes() == 0) control_ = device.allocate(sizeof(GroupControl), "control words of groups");
  if (report_.bytes() == 0) report_ = device.allocate_pinned(sizeof(GroupControl), "control words of groups");
}

void PartitionBatch::make_room_for(int64_t rows) {
  if (rows > std::numeric_limits<uint32_t>::max())
    throw Error(SqlState::out_of_memory, "more rows to be grouped than 32 bits number");
  rows_ = rows;
  Device& device = engine_.device();
  const int64_t row_bytes = std::max<int64_t>(rows, 1) * static_cast<int64_t>(plan_.row.words) * 4;
  if (rows_buffer_.bytes() < row_bytes) rows_buffer_ = device.allocate(row_bytes, "rows to be grouped");
  if (capacity_ == 0 && state_capacity_ == 0) {
    const int64_t most = device.room() / part_of_memory;
    const auto room = [&](int64_t bytes_of_row) {
      return std::clamp<int64_t>(most / bytes_of_row, std::min(rows_, least_room), std::max<int64_t>(rows_, 1));
    };
    make_room(is_complete_ ? room(group_column_bytes(plan_, table_)) : 0,
              room(static_cast<int64_t>(plan_.kernels->state_row) * 8));
  }
}

void PartitionBatch::make_room(int64_t groups, int64_t state_rows) {
  capacity_ = groups;
  state_capacity_ = state_rows;
  const int64_t bytes = state_rows * static_cast<int64_t>(plan_.kernels->state_row) * 8;
  if (states_.bytes() >= bytes) return;
  states_ = DeviceBuffer();
  states_ = engine_.device().allocate(bytes, "states of groups");
}

void PartitionBatch::place_rows(Queue& queue) {
  const int64_t all = partitions() * counts_;
  const DeviceAddress state = starts_.address() + padded((all + 1) * 4);
  launch_starts(engine_, queue, starts_.address(), all, state);
  launch_slices(engine_, queue, starts_.address(), partitions(), counts_, slice_rows(),
                state + padded(starts_state_bytes(all)));
}

void PartitionBatch::group(Queue& queue) {
  const int64_t all = partitions() * counts_;
  queue.fill(control_.address(), 0, sizeof(GroupControl));
  if (result_.capacity != capacity_ || result_.columns.empty())
    result_ = allocate_groups(engine_.device(), queue, plan_, table_, capacity_);
  GroupParameters words(*plan_.kernels);
  words.set(GroupWord::Control, control_.address());
  words.set(GroupWord::Rows, rows_buffer_.address());
  words.set(GroupWord::Starts, starts_.address());
  words.set(GroupWord::Counts, static_cast<uint64_t>(counts_));
  words.set(GroupWord::FirstSlices, starts_.address() + padded((all + 1) * 4) + padded(starts_state_bytes(all)));
  words.set(GroupWord::PartitionBits, static_cast<uint64_t>(bits_));
  words.set(GroupWord::SliceRows, static_cast<uint64_t>(slice_rows()));
  words.set(GroupWord::IsComplete, is_complete_ ? 1 : 0);
  words.set(GroupWord::States, states_.address());
  words.set(GroupWord::StateCapacity, static_cast<uint64_t>(state_capacity_));
  words.set(result_);
  GroupGrid grid;
  // No more slices than that.
  grid.groups = partitions() + rows_ / least_slice_rows;
  grid.items = plan_.kernels->group_items;
  if (engine_.device().info().api == DeviceApi::Cuda) grid.shared_room = table_bytes();
  words.set(GroupWord::SharedSlots, static_cast<uint64_t>(shared_slots()));
  launch_group_kernel(engine_, queue, plan_.kernels->group, words, grid);
  queue.copy_to_host(report_.data(), control_.address(), sizeof(GroupControl));
}

bool PartitionBatch::group_again(Queue& queue) {
  const auto groups = static_cast<int64_t>(control().groups), state_rows = static_cast<int64_t>(control().state_rows);
  if (control().failure != 0 || (groups <= capacity_ && state_rows <= state_capacity_)) {
    result_.rows = groups;
    starts_ = DeviceBuffer();
    rows_buffer_ = DeviceBuffer();
    return false;
  }
  make_room(std::max(groups, capacity_), std::max(state_rows, state_capacity_));
  group(queue);
  return true;
}

void PartitionBatch::own_strings(Queue& queue) {
  if (control().failure != 0) return;
  gpu::own_strings(engine_, queue, result_);
  strings_ =
      gpu::own_strings(engine_, queue, plan_, table_, states_.address(), static_cast<int64_t>(control().state_rows));
}

uint64_t PartitionBatch::word(const KernelParameter& parameter, uint32_t pass) const {
  switch (static_cast<GroupPart>(parameter.part)) {
    case GroupPart::Pass: return pass;
    case GroupPart::Rows: return rows_buffer_.address().value;
    case GroupPart::Starts: return starts_.address().value;
    case GroupPart::PartitionBits: return static_cast<uint64_t>(bits_);
    case GroupPart::StagedRows: return static_cast<uint64_t>(staged_rows_);
    default: throw Error(SqlState::internal_error, "a kernel asks for what partitions have not");
  }
}

}  // namespace diptych::gpu
