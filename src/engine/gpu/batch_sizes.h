// How many rows each batch of a section has, chosen as it goes.
//
//   cached, mapped     all at once; of a large result a first part, and when it is known how many rows come out of it,
//                      larger ones, so that one part's rows are copied to the host while the next are found;
//                      where columns are mapped, rows take little of the device's memory or none; where a run before
//                      has shown how many come out, a part and all the rest
//   streamed           as many as bring a bus to full speed and, of all batches under way, take less than 64 MB;
//                      of rows that go to many groups as many as a part of the device's memory has room for
//   serial             as many as bring a bus to full speed
//   LIMIT              few at first, then more and more
#pragma once

#include <cstdint>
#include <optional>

#include "engine/gpu/generator/group_plan.h"
#include "engine/gpu/gpu_engine.h"
#include "program/program.h"

namespace diptych::gpu {

class BatchSizes {
 public:
  struct Section {
    Residency residency = Residency::Cached;
    bool needs_all = false;        // rows must come together, as those of a sort
    int64_t wanted = -1;           // see SectionTask
    int64_t rows = 0;              // of all tablets
    double input_row_bytes = 0;    // of memory that a row takes where it has to be moved, on average
    int64_t output_row_bytes = 0;  // of a row that the kernel writes; 0: it writes none
    int64_t group_row_bytes = 0;   // of memory that a row takes on its way to its group
    bool writes_to_host = false;   // rows go straight to pinned memory
    int64_t memory_bytes = 0;      // that it may plan with
    bool has_company = false;      // others have their part of the device
    int64_t tablet_rows = 0;       // of a tablet, which is not divided
    GroupRoom group_room = {};
    int64_t sorted_row_bytes = 0;            // that sorting a batch takes beside its rows; 0: it is not sorted
    std::optional<double> known_share = {};  // of the rows that came out when the section ran before
  };
  explicit BatchSizes(const Section& section);

  // With more memory from now on.
  void plan_with(const Section& section) {
    section_.memory_bytes = section.memory_bytes;
    section_.has_company = section.has_company;
  }
  // Of the next batch, at most; 1 or more.
  int64_t next_rows();
  // What came of a batch.
  void note(int64_t rows_in, int64_t rows_out);
  // Whether it is known how many rows come out, as far as it matters.
  bool knows_share() const { return rows_in_ > 0 || section_.known_share || section_.output_row_bytes == 0; }
  // Of device memory, at most, as far as it is known before the first batch: of all batches under way.
  int64_t most_bytes() const;
  // Rows to make room for before a batch of so many.
  int64_t room_for(int64_t rows) const;

 private:
  double share() const;
  // Of each of so many batches under way.
  int64_t rows_to_group(int64_t batches) const;
  // Of memory for rows of a batch whose columns stay.
  int64_t most_output_bytes(bool is_first) const;

  Section section_;
  int64_t limited_rows_;  // of the next batch, with a LIMIT
  bool has_begun_ = false;
  int64_t rows_in_ = 0, rows_out_ = 0;
};

// Bytes of a row that the section behind the Parallel at `address` writes, at most; 0: it writes none.
int64_t output_row_bytes(const Program& program, int32_t address);

}  // namespace diptych::gpu
