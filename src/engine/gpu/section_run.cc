#include "engine/gpu/section_run.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "engine/cpu/zone_test.h"
#include "engine/gpu/totals.h"

namespace diptych::gpu {
namespace {

// 64 tablets of 65536 rows are 4 MiB a byte of width: what a bus moves at full speed.
constexpr size_t segment_tablets = 64;

// Batches that overlap: one copies in, one computes, one copies out.
constexpr size_t batches_at_once = 3;

// Only rows of the result can be enough: what goes into groups or a sorter is needed whatever LIMIT says.
int64_t rows_wanted(const SectionTask& task) {
  const auto& instructions = task.program.instructions;
  const auto first = instructions.begin() + task.address;
  const auto end = instructions.begin() + first->p3;
  const bool makes_result = std::any_of(first, end, [](const Instruction& at) { return at.opcode == Opcode::Result; });
  return makes_result ? task.wanted : -1;
}

}  // namespace

SectionRun::SectionRun(GpuEngine& engine, const SectionTask& task, Residency residency)
    : engine_(engine),
      task_{task.program, task.address, task.source, rows_wanted(task), task.context},
      residency_(residency),
      columns_(columns_read(task.program, task.address)) {
  result_.profile.address = task.address;
  result_.profile.engine = engine.device().info().id() + " generated";
  result_.profile.residency = name_of(residency);
}

std::optional<SectionResult> SectionRun::run(std::string& reason) {
  const auto start = std::chrono::steady_clock::now();
  find_ranges();
  std::deque<std::unique_ptr<SectionBatch>> running;
  const size_t most = residency_ == Residency::Streamed ? batches_at_once : 1;
  bool any_started = false;
  for (std::vector<SegmentRange>& ranges : divide()) {
    check_cancelled();
    if (has_enough()) break;
    running.push_back(std::make_unique<SectionBatch>(engine_, task_, columns_, residency_));
    if (!running.back()->start(std::move(ranges), reason)) {
      if (any_started) throw Error(SqlState::internal_error, "a later batch of a section can't run: " + reason);
      return std::nullopt;
    }
    any_started = true;
    if (running.size() < most) continue;
    collect(*running.front());
    running.pop_front();
  }
  for (auto& batch : running) collect(*batch);
  if (kernel_.sink == SectionKernel::Sink::Totals) finish_totals();
  result_.profile.nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
  return std::move(result_);
}

void SectionRun::find_ranges() {
  const TabletSource& source = *task_.source;
  const auto& cursor =
      task_.program.cursors[static_cast<size_t>(task_.program.instructions[static_cast<size_t>(task_.address)].p1)];
  int64_t rows = 0;
  for (size_t first = 0; first < source.tablet_count(); first += segment_tablets) {
    SegmentRange range;
    range.first = first;
    range.count = std::min(segment_tablets, source.tablet_count() - first);
    range.rows_before = rows;
    bool any = false;
    for (size_t tablet = first; tablet < first + range.count; ++tablet) {
      const bool needed = std::all_of(cursor.zone_conditions.begin(), cursor.zone_conditions.end(),
                                      [&](const ZoneCondition& condition) {
                                        return cpu::may_hold(condition, source.zone_map(tablet, condition.column));
                                      });
      range.needed.push_back(needed);
      any |= needed;
      rows += source.rows_in(tablet);
      ++(needed ? result_.profile.tablets : result_.profile.tablets_skipped);
      if (!needed) continue;
      for (size_t column : columns_) result_.profile.bytes_read += source.encoded_bytes(tablet, column);
    }
    if (any) ranges_.push_back(std::move(range));
  }
}

// With a LIMIT a few tablets may do: batches then start small and grow.
std::vector<std::vector<SegmentRange>> SectionRun::divide() const {
  std::vector<std::vector<SegmentRange>> batches;
  size_t size = ranges_.size();
  if (residency_ == Residency::Serial || residency_ == Residency::Streamed || task_.wanted >= 0) size = 1;
  for (size_t first = 0; first < ranges_.size();) {
    const size_t end = std::min(ranges_.size(), first + size);
    batches.emplace_back(ranges_.begin() + static_cast<ptrdiff_t>(first),
                         ranges_.begin() + static_cast<ptrdiff_t>(end));
    first = end;
    if (task_.wanted >= 0 && residency_ != Residency::Serial && residency_ != Residency::Streamed) size *= 4;
  }
  // Also of no rows a section has a sink, and with it a result.
  if (batches.empty()) batches.emplace_back();
  return batches;
}

void SectionRun::check_cancelled() const {
  if (task_.context.cancelled != nullptr && task_.context.cancelled->load(std::memory_order_relaxed))
    throw Error(SqlState::query_canceled, "cancelled on request");
}

void SectionRun::collect(SectionBatch& batch) {
  batch.finish();
  kernel_ = batch.kernel();
  for (SectionRows& rows : batch.take_rows()) {
    rows_ += rows.rows;
    result_.rows.push_back(std::move(rows));
  }
  partials_.push_back(batch.partials());
  result_.profile.rows_in += batch.rows_in();
  result_.profile.rows_out += batch.rows_out();
  result_.profile.kernel_nanoseconds += batch.kernel_nanoseconds();
  result_.profile.compile_nanoseconds += batch.compile_report().nanoseconds;
  result_.profile.launches += batch.launches();
  if (task_.context.progress != nullptr) task_.context.progress->rows_done += batch.rows_in();
}

void SectionRun::finish_totals() { result_.groups = combine_totals(task_.program, kernel_, partials_); }

}  // namespace diptych::gpu
