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

SectionRun::SectionRun(GpuEngine& engine, const SectionTask& task, Residency residency, KernelChoice choice)
    : engine_(engine),
      task_{task.program, task.address, task.source, rows_wanted(task), task.context},
      residency_(residency),
      choice_(choice),
      columns_(columns_read(task.program, task.address)) {
  result_.profile.address = task.address;
  result_.profile.engine = engine.device().info().id() + " generated";
  result_.profile.residency = name_of(residency);
}

std::optional<SectionResult> SectionRun::run(std::string& reason) {
  const auto start = std::chrono::steady_clock::now();
  const bool prepared = find_input();
  if (!prepared) find_ranges();
  std::deque<std::unique_ptr<SectionBatch>> running;
  KernelMemo memo;
  const size_t most = residency_ == Residency::Streamed ? batches_at_once : 1;
  for (std::vector<SegmentRange>& ranges : divide()) {
    check_cancelled();
    if (has_enough()) break;
    running.push_back(std::make_unique<SectionBatch>(engine_, task_, columns_, residency_, choice_));
    auto input = prepared ? input_ : running.back()->loader().load(std::move(ranges));
    if (!prepared) keep_input(input);
    if (!running.back()->start(std::move(input), memo, reason)) {
      // What earlier batches have made is dropped.
      return std::nullopt;
    }
    if (running.size() < most) continue;
    collect(*running.front());
    running.pop_front();
  }
  for (auto& batch : running) collect(*batch);
  if (kernel_.sink == SectionKernel::Sink::Totals) finish_totals();
  if (kernel_.sink == SectionKernel::Sink::Sort)
    result_.sorted = merge_sorted(*sorter_of(task_.program, task_.address), std::move(sorted_));
  if (kernel_.sink == SectionKernel::Sink::Groups) finish_groups();
  result_.profile.nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
  return std::move(result_);
}

// Whether all tablets of the source are needed and ready in the place that the residency means.
bool SectionRun::find_input() {
  if (!stays()) return false;
  auto input = engine_.inputs().find(task_.source, columns_, place());
  if (!input || !input->needs_all(task_.cursor().zone_conditions)) return false;
  result_.profile.tablets = static_cast<int64_t>(task_.source->tablet_count());
  result_.profile.bytes_read = input->bytes;
  input_ = std::move(input);
  return true;
}

void SectionRun::keep_input(const std::shared_ptr<SectionInput>& input) {
  if (stays() && result_.profile.tablets_skipped == 0 && task_.source->tablet_count() > 0)
    engine_.inputs().keep(task_.source, columns_, place(), input);
}

void SectionRun::find_ranges() {
  const TabletSource& source = *task_.source;
  int64_t rows = 0;
  for (size_t first = 0; first < source.tablet_count(); first += segment_tablets) {
    SegmentRange range;
    range.first = first;
    range.count = std::min(segment_tablets, source.tablet_count() - first);
    range.rows_before = rows;
    bool any = false;
    for (size_t tablet = first; tablet < first + range.count; ++tablet) {
      const bool needed = cpu::is_needed(task_.cursor(), source, tablet);
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
  const SorterInfo* sorter = sorter_of(task_.program, task_.address);
  if (sorter != nullptr && !is_merged(*sorter, residency_) && !ranges_.empty()) return {ranges_};
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
  if (kernel_.is_interpreted()) result_.profile.engine = engine_.device().info().id() + " interpreter";
  if (kernel_.sink == SectionKernel::Sink::Sort) sorted_.push_back(batch.take_sorted());
  for (SectionRows& rows : batch.take_rows()) {
    rows_ += rows.rows;
    result_.rows.push_back(std::move(rows));
  }
  partials_.push_back(batch.partials());
  collect_groups(batch);
  result_.profile.rows_in += batch.rows_in();
  result_.profile.rows_out += batch.rows_out();
  result_.profile.kernel_nanoseconds += batch.kernel_nanoseconds();
  result_.profile.compile_nanoseconds += batch.compile_report().nanoseconds;
  result_.profile.launches += batch.launches();
  result_.profile.bytes_moved += batch.bytes_moved();
  if (task_.context.progress != nullptr) task_.context.progress->rows_done += batch.rows_in();
}

void SectionRun::finish_totals() {
  result_.groups[kernel_.hash_table] = combine_totals(task_.program, kernel_, partials_);
}

void SectionRun::collect_groups(SectionBatch& batch) {
  std::vector<GroupWords> found = batch.take_groups();
  for (size_t i = 0; i < found.size(); ++i) {
    if (groups_.size() == i) groups_.emplace_back(task_.program, batch.kernel().groups[i], batch.dictionaries());
    groups_[i].add(std::move(found[i]));
  }
}

void SectionRun::finish_groups() {
  for (size_t i = 0; i < groups_.size(); ++i) result_.groups[kernel_.groups[i].hash_table] = groups_[i].finish();
}

}  // namespace diptych::gpu
