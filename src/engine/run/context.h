// What a run of a program is given, and how it is stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/error.h"
#include "base/memory_budget.h"
#include "engine/run/profile.h"

namespace diptych {

class BlockPool;
class SectionRunner;
struct PlacementChoice;
class TempSpace;

// How far a running statement is; written by the engine, read by any thread.
struct Progress {
  std::atomic<int64_t> rows_done{0};
  std::atomic<int64_t> rows_total{0};  // over all sections started so far
};

// Where rows are kept that sections hand to each other, as the setting row_place says.
enum class RowPlace : uint8_t { Made, Host, File };

// What an engine has made of a program and takes again in the program's next run, while its constants stay as they are.
// Of one run at a time.
class KeptPreparation {
 public:
  virtual ~KeptPreparation() = default;
};

// What a run may use, and where it reports. Everything outlives the run.
struct ExecutionContext {
  int threads = 1;  // 1: the calling thread alone
  MemoryBudget* budget = nullptr;
  BlockPool* pool = nullptr;         // large buffers of results and intermediate tablets come from here
  TempSpace* temp = nullptr;         // what the budget has no room for goes there; null: 53200
  SectionRunner* devices = nullptr;  // null: the CPU alone
  const PlacementChoice* choice = nullptr;
  RowPlace row_place = RowPlace::Made;
  const std::atomic<bool>* cancelled = nullptr;  // looked at once a block; 57014
  Progress* progress = nullptr;
  ExecutionProfile* profile = nullptr;                      // null: not wanted
  std::unique_ptr<KeptPreparation>* preparation = nullptr;  // of the run before, if there is one; null: none is kept
};

// Errors: 57014 when the run has been cancelled.
inline void check_cancelled(const ExecutionContext& context) {
  if (context.cancelled != nullptr && context.cancelled->load(std::memory_order_relaxed))
    throw Error(SqlState::query_canceled, "cancelled on request");
}

}  // namespace diptych
