// An index over the rows of a row set in a device's memory, which kernels look rows up in (kernel/device/index_find.h).
//
//   dense   one whole number as the key, whose values span few places: a bit for each place says whether it is there
//   table   other keys but intervals: a hash table of rows, before which a filter is asked where most rows are expected
//           to find nothing
//   rows    without a key: all of them
//
// Where no two rows share a key, a place or slot leads to its row; else to the rows that have the key, which stand one
// behind the other (kernel/device/index_build.h). An index of which nothing is fetched has no rows.
#pragma once

#include <memory>
#include <string>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/rows/device_row_set.h"
#include "engine/gpu/section_kernel.h"
#include "engine/run/section_task.h"

namespace diptych::gpu {

class BuiltIndex final : public DeviceIndex {
 public:
  // Of rows on the engine's device, or copied there. Null: the CPU has to, and `reason` says why.
  // Waits for the device, to see whether keys are unique, unless it is known whether a key has several rows that
  // matter, and the rows are few. Errors: 53200, 58000, those of pinning the rows.
  static std::shared_ptr<const BuiltIndex> build(GpuEngine& engine, const IndexTask& task, std::string& reason);

  ~BuiltIndex() override;
  BuiltIndex(const BuiltIndex&) = delete;
  BuiltIndex& operator=(const BuiltIndex&) = delete;

  Device& device() const override { return engine_.device(); }
  // What the queue does from now on finds the index there.
  void order(Queue& queue) const {
    if (is_there_ != nullptr) queue.wait_for(*is_there_);
  }
  FormProfile form() const override;
  int64_t kernel_nanoseconds() const override;
  const IndexShape& shape() const { return shape_; }
  // Rows with the same key that are found, at most.
  int64_t most_matches() const { return most_matches_; }
  // The word of a kernel's parameter.
  uint64_t word(int32_t part) const;

 private:
  BuiltIndex(GpuEngine& engine, const IndexTask& task);
  void choose_form(const Program& program);
  void find_columns(Queue& queue, MemoryBudget* budget);
  void allocate(Queue& queue);
  // Whether Matches finds one row of a key at most, whatever the rows are.
  bool finds_one() const { return info_.finds_one || info_.is_unique; }
  bool is_left() const;
  void insert(Queue& queue);
  std::shared_ptr<const ColumnSegment> copied(const TabletSource& rows, size_t column, Queue& queue) const;
  DeviceBuffer make_keys(Queue& queue) const;
  // Lays the rows out key by key.
  void place(Queue& queue, const PinnedBuffer& report);
  int64_t slot_count() const { return shape_.is_dense ? static_cast<int64_t>(span_) : int64_t{1} << span_; }
  std::span<const RegisterInfo> keys() const;
  // Of each row's keys: words that are compared, and strings, whose addresses are behind these.
  int64_t compared_words() const;
  int64_t texts() const;

  GpuEngine& engine_;
  const IndexInfo& info_;
  const RowSetInfo& row_set_;
  const std::shared_ptr<const TabletSource> rows_;
  const int64_t count_;
  int64_t most_matches_ = 1;
  IndexShape shape_;
  uint64_t low_ = 0;
  uint64_t span_ = 0;         // places of a dense index; bits of the number of slots of a table; rows without a key
  uint64_t filter_bits_ = 0;  // of the number of words
  std::vector<std::shared_ptr<const ColumnSegment>> columns_;  // of the row set, on the device
  std::vector<uint64_t> heaps_;                                // by column: addresses of strings' bytes
  std::vector<uint64_t> values_, validity_;                    // addresses, by column; 0: it is not there
  // What is zeroed at first, in one piece, and where its parts are.
  DeviceBuffer cleared_;
  DeviceAddress control_, bits_, slots_, filter_;
  DeviceBuffer places_;  // of a dense index: slots_ are here, which bits tell of
  DeviceBuffer keys_, starts_, by_key_;
  // Of a build that nobody has waited for: its queue, and what else it uses.
  std::unique_ptr<Queue> queue_;
  DeviceBuffer slots_of_rows_;
  // begins_: null where nobody wants to know; is_there_: null where that is long past.
  std::unique_ptr<const DeviceEvent> begins_, is_there_;
  int64_t kernel_nanoseconds_ = 0;
};

// The index as the task has it on the device; null: it is not there.
const BuiltIndex* index_on(const Device& device, const SectionTask& task, int32_t index);

// How many pairs a row of the task's section may make with the rows of the indexes there that it meets.
double most_matches_of_a_row(const Device& device, const SectionTask& task);

// Adds the indexes that the section's rows meet, as they are expected to be before there are any: with unique keys.
void add_expected_indexes(const Program& program, int32_t address, SectionShape& shape);
// Why no device builds it, whatever its rows are; empty: one does.
std::string why_not_built(const Program& program, int32_t index);
// The same, or why it would be built there in vain: a section whose rows meet it meets another one that is not.
std::string why_not_met(const Program& program, int32_t index);
// Why no device runs the section for the sake of the indexes that its rows meet or are made for; empty: one may.
std::string why_no_join(const Program& program, int32_t address);

}  // namespace diptych::gpu
