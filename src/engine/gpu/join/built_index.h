// An index over the rows of a row set in a device's memory, which kernels look rows up in (kernel/device/index_find.h).
//
//   dense   one whole number as the key, whose values span few places: a bit for each place says whether it is there,
//           unless all are
//   table   other keys but intervals: a hash table of rows, before which a filter is asked where most rows are expected
//           to find nothing
//   rows    without a key: all of them
//
// Where no two rows share a key, a place leads to its row's record, or is where that lies; else to the records of all
// rows that have the key, which stand one behind the other (kernel/device/index_build.h). An index of which nothing is
// fetched has no records.
#pragma once

#include <memory>
#include <vector>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/join/index_plan.h"
#include "engine/gpu/rows/device_row_set.h"
#include "engine/gpu/section_kernel.h"
#include "engine/rows/packed_layout.h"
#include "engine/run/section_task.h"

namespace diptych::gpu {

class BuiltIndex final : public DeviceIndex {
 public:
  // Of rows on the engine's device, or copied there. Null: the CPU has to, and `reason` says why.
  // Waits for the device only where it is not known whether several rows that matter have the same key, or where they
  // have. Errors: 53200, 58000, those of pinning the rows.
  static std::shared_ptr<BuiltIndex> build(GpuEngine& engine, const IndexTask& task, std::string& reason);

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
  // Whether rows share keys that were taken to be unique. Waits for the device. Errors: 58000.
  bool has_guessed_wrong();
  // Builds it anew, once has_guessed_wrong(), while no kernel works with it. Errors: as build().
  void build_again();
  // Rows with the same key that are found, at most.
  int64_t most_matches() const { return most_matches_; }
  // The word of a kernel's parameter.
  uint64_t word(int32_t part) const;

 private:
  BuiltIndex(GpuEngine& engine, const IndexTask& task);
  void find_columns(Queue& queue, MemoryBudget* budget);
  std::shared_ptr<const ColumnSegment> copied(const TabletSource& rows, size_t column, Queue& queue) const;
  void insert(Queue& queue);
  void insert_repeated(Queue& queue);
  bool has_repeated_keys(Queue& queue) const;
  void repeat_keys();
  void note_end(Queue& queue);
  void allocate();
  // What is zeroed at first is zeroed; from here on the device's time counts. Behind all that the host has to prepare,
  // which the device would wait for.
  void begin(Queue& queue);
  struct BuildKernel {
    std::vector<uint64_t> words;  // its parameters
    std::shared_ptr<const Kernel> kernel;
  };
  // Once all is allocated.
  BuildKernel find_kernel(const Queue& queue, const char* entry) const;
  BuildKernel find_insert_kernel(const Queue& queue) const;
  std::vector<uint64_t> parameters() const;
  void add_keys(std::vector<uint64_t>& words) const;
  void add_fields(std::vector<uint64_t>& words) const;
  void launch(Queue& queue, const BuildKernel& build) const;
  // Whether its build need not be waited for.
  bool is_left() const { return shape_.has_keys && shape_.is_unique && (finds_one() || shape_.is_guessed); }
  // Whether Matches finds one row of a key at most, whatever the rows are.
  bool finds_one() const { return info_.finds_one || info_.is_unique; }
  int64_t slot_count() const { return shape_.is_dense ? static_cast<int64_t>(span_) : int64_t{1} << span_; }

  GpuEngine& engine_;
  const Program& program_;
  const IndexInfo& info_;
  const RowSetInfo& row_set_;
  const std::shared_ptr<const TabletSource> rows_;
  const int64_t count_;
  const bool is_timed_;
  int64_t most_matches_ = 1;
  IndexShape shape_;
  PackedLayout layout_;  // of records
  uint64_t low_ = 0;
  uint64_t span_ = 0;         // places of a dense index; bits of the number of slots of a table; rows without a key
  uint64_t row_bits_ = 0;     // of a slot of a table
  uint64_t filter_bits_ = 0;  // of the number of words
  std::vector<std::shared_ptr<const ColumnSegment>> columns_;  // of the row set, on the device
  std::vector<uint64_t> heaps_;                                // by column: addresses of strings' bytes
  std::vector<uint64_t> values_, validity_;                    // addresses, by column; 0: it is not there
  // What is zeroed at first, in one piece, and where its parts are.
  DeviceBuffer cleared_;
  DeviceAddress control_, bits_, slots_, filter_, counts_;
  // Rows by place of a dense index, which bits tell of; keys of a table, behind each perhaps its record; other records,
  // or numbers of rows.
  DeviceBuffer places_, keys_, by_key_;
  DeviceAddress records_, row_numbers_;
  DeviceBuffer ranks_;  // of rows, and their slots
  // Of a build that nobody has waited for: its queue.
  std::unique_ptr<Queue> queue_;
  // begins_: null where nobody wants to know; is_there_: null where that is long past.
  std::unique_ptr<const DeviceEvent> begins_, is_there_;
  int64_t kernel_nanoseconds_ = 0;
};

// The index as the task has it on the device; null: it is not there.
BuiltIndex* index_on(const Device& device, const SectionTask& task, int32_t index);

// Whether keys of an index that the task's section meets were taken to be unique and are not. Errors: 58000.
bool has_guessed_wrong(const Device& device, const SectionTask& task);
// Builds such indexes again; false: there are none. No kernel works with them. Errors: as BuiltIndex::build().
bool correct_guesses(const Device& device, const SectionTask& task);
inline constexpr const char* wrong_guess = "rows of an index share keys that were taken to be unique";

// How many pairs a row of the task's section may make with the rows of the indexes there that it meets.
double most_matches_of_a_row(const Device& device, const SectionTask& task);

}  // namespace diptych::gpu
