// What a run tells of itself, for EXPLAIN ANALYZE: the times, bytes and forms of its sections and operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/run/queue_work.h"
#include "engine/run/time_parts.h"

namespace diptych {

// The pairs of rows that one Matches has found.
struct JoinProfile {
  int32_t address = 0;
  int64_t rows = 0;
  int64_t estimated_rows = 0;  // 0: not estimated
};

// What happened in one parallel section, for EXPLAIN ANALYZE.
struct SectionProfile {
  int32_t address = 0;                                    // of its Parallel
  int64_t rows_in = 0;                                    // rows of the tablets that were read
  int64_t rows_out = 0;                                   // rows that reached the last sink
  int64_t estimated_rows_in = 0, estimated_rows_out = 0;  // 0: not estimated
  std::vector<JoinProfile> joins;                         // in the order of the program
  int64_t tablets = 0, tablets_skipped = 0;
  int64_t rows_on_cpu = 0;  // of rows_in, those of tablets that the CPU took while a device took the others
  int64_t bytes_read = 0;   // encoded
  int64_t nanoseconds = 0;
  int threads = 1;
  // Over its rows; several, where the indexes of joins have no room as a whole, or a device guessed wrong of their
  // keys.
  int64_t passes = 1;
  std::string engine;                // "cpu", "cuda:0"
  std::string kernel;                // "generated", "interpreter"; empty: the CPU's
  std::string residency;             // of a device's columns; empty: the CPU's
  std::string fallback;              // why it did not run where it was asked to; empty: it did
  std::string why;                   // this engine, in a line; empty: nothing was to be decided
  int64_t estimate_nanoseconds = 0;  // of the cost model before it ran; 0: not asked
  double limit = 0;                  // bytes a second that the slowest way of the columns gives; 0: not calibrated
  int64_t total_nanoseconds = 0;     // the whole section; `nanoseconds` are those that the estimate is of
  PartTimes parts;                   // of the total; of all threads of a section that is shared
  // On devices:
  QueueWork work;
  std::string kernel_origin;  // of the section's kernel: "memory", "build", "disk", "compiler"
  int64_t batches = 0;
  int64_t kernel_nanoseconds = 0;  // by the device's clock

  // What happened in a further pass over the same rows.
  void add_pass(const SectionProfile& pass) {
    rows_out += pass.rows_out;
    bytes_read += pass.bytes_read;
    nanoseconds += pass.nanoseconds;
    add(pass.joins);
    ++passes;
  }
  // What happened in a further part of the section's rows.
  void add(const SectionProfile& part) {
    rows_in += part.rows_in;
    rows_out += part.rows_out;
    tablets += part.tablets;
    tablets_skipped += part.tablets_skipped;
    bytes_read += part.bytes_read;
    nanoseconds += part.nanoseconds;
    add(part.joins);
    threads = std::max(threads, part.threads);
  }
  void add(const std::vector<JoinProfile>& others) {
    if (joins.empty()) joins.resize(others.size());
    for (size_t i = 0; i < others.size(); ++i) joins[i] = {others[i].address, joins[i].rows + others[i].rows};
  }
};

// How groups or sorted rows were made; the names are in docs/explain.md.
struct FormProfile {
  std::string form;
  int64_t parts = 0;  // that were put together: tables or runs of threads, batches of a device
  // Partitioned groups:
  int partition_bits = 0;
  int64_t slice_rows = 0;  // that a work-group takes at a time, at most
  int64_t state_rows = 0;  // that were merged in global memory
  int64_t passes = 0;      // over these; several, where the device has no room for all groups
};

// What happened between sections: groups read, rows sorted. On a device, they are made as the section ends.
struct OperationProfile {
  int32_t address = 0;
  std::string what;  // "groups", "sort", "build"
  FormProfile form;
  int64_t rows = 0;
  int64_t estimated_rows = 0;  // 0: not estimated
  int64_t nanoseconds = 0;
  // Of an index that a device builds:
  QueueWork work;
  int64_t kernel_nanoseconds = 0;  // by the device's clock
};

struct DeviceBytes {
  std::string device;  // "cuda:0"
  int64_t used = 0, peak = 0, pinned = 0;
};

struct ExecutionProfile {
  std::vector<SectionProfile> sections;
  std::vector<OperationProfile> operations;
  int64_t prepare_nanoseconds = 0;  // before the first opcode
  int64_t finish_nanoseconds = 0;   // after the last
  int64_t release_nanoseconds = 0;  // until the run's memory was given back
  int64_t peak_bytes = 0;
  int64_t spilled_bytes = 0;         // written to temporary files
  std::vector<DeviceBytes> devices;  // that a section ran on, after the last one
};

}  // namespace diptych
