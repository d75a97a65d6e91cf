#include "engine/cpu/section_run.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "engine/run/parallel.h"
#include "program/section_contents.h"

namespace diptych::cpu {
namespace {

// The least or greatest of equal intervals is the last of the rows, which one thread alone knows.
bool depends_on_order(const Program& program, const Section& section) {
  const auto is_extreme_interval = [](const AggregateInfo& info) {
    return (info.state == AggregateState::Min || info.state == AggregateState::Max) &&
           info.argument.physical == PhysicalType::Interval;
  };
  return std::any_of(section.steps.begin(), section.steps.end(), [&](const Step& step) {
    if (step.instruction->opcode != Opcode::Aggregate) return false;
    const auto& aggregates = program.hash_tables[static_cast<size_t>(step.instruction->p1)].aggregates;
    return std::any_of(aggregates.begin(), aggregates.end(), is_extreme_interval);
  });
}

bool is_sorted(const Program& program, const Instruction& append) {
  return !program.row_sets[static_cast<size_t>(append.p1)].keys.empty();
}

// A section of more has work for several threads, whatever it does.
constexpr size_t most_morsels_alone = 8;
// Others spare the calling thread more than it takes to wake them, and to wait for them at the end.
constexpr double least_spared_ns = 40e3;
// What the first blocks take tells nothing, if it is less.
constexpr double least_known_ns = 5e3;

// Tablets that are kept for their strings take at most this part of the memory limit.
constexpr int64_t kept_memory_part = 8;

// Groups with strings among their keys refer to those of the tablets, if these may stay in memory until groups are
// merged.
bool can_keep_tablets(const Program& program, const Section& section, const TabletSource& source,
                      const NeededTablets& needed, const Memory& memory) {
  const auto has_texts = [&](const Step& step) {
    if (step.instruction->opcode != Opcode::Group) return false;
    const auto& keys = program.hash_tables[static_cast<size_t>(step.instruction->p3)].keys;
    return std::ranges::any_of(keys, [](const RegisterInfo& key) { return key.physical == PhysicalType::Text; });
  };
  if (!source.pins_outlive_it() || std::ranges::none_of(section.steps, has_texts)) return false;
  if (memory.budget() == nullptr) return true;
  int64_t left = memory.budget()->limit() / kept_memory_part;
  for (const TabletSpan& span : needed.spans())
    for (const size_t column : section.columns) left -= encoded_bytes(source, span, column);
  return left >= 0;
}

bool writes_rows_alone(const Program& program, const Section& section) {
  return std::all_of(section.steps.begin(), section.steps.end(), [&](const Step& step) {
    const Opcode opcode = step.instruction->opcode;
    if (opcode == Opcode::Append) return !is_sorted(program, *step.instruction);
    return opcode != Opcode::Group && opcode != Opcode::Aggregate;
  });
}

}  // namespace

SectionRun::SectionRun(const Program& program, const Section& section, const TabletSource& source,
                       const NeededTablets& needed, const ExecutionContext& context, const Memory& memory,
                       const RowIndexes& indexes, int64_t first_order)
    : program_(program),
      section_(section),
      source_(source),
      context_(context),
      indexes_(indexes),
      keeps_tablets_(can_keep_tablets(program, section, source, needed, memory)),
      can_begin_again_(writes_rows_alone(program, section)) {
  profile_.address = section.first - 1;
  profile_.engine = "cpu";
  find_morsels(needed, first_order);
  for (const Step& step : section.steps) {
    const Instruction& at = *step.instruction;
    if (at.opcode == Opcode::Result) stores_[to_result] = std::make_shared<ChunkStore>(memory);
    if (at.opcode == Opcode::Append && !is_sorted(program, at)) stores_[at.p1] = std::make_shared<ChunkStore>(memory);
  }
  for (const MatchPoint& point : section.matches) {
    const Instruction& matches = *section.steps[static_cast<size_t>(point.step) - 1].instruction;
    profile_.joins.push_back({static_cast<int32_t>(&matches - program.instructions.data())});
  }
  const int threads = depends_on_order(program, section) ? 1 : std::max(1, context.threads);
  profile_.threads = static_cast<int>(std::clamp<size_t>(morsels_.size(), 1, static_cast<size_t>(threads)));
}

void SectionRun::find_morsels(const NeededTablets& needed, int64_t first_order) {
  for (const TabletSpan& span : needed.spans()) {
    int64_t order = first_order + span.first_row;
    for (size_t tablet = span.first; tablet < span.first + span.count; ++tablet) {
      const int64_t rows = source_.rows_in(tablet);
      for (int64_t first = 0; first < rows; first += morsel_rows)
        morsels_.push_back({tablet, first, std::min(morsel_rows, rows - first), order + first});
      order += rows;
    }
    profile_.tablets += static_cast<int64_t>(span.count);
    if (context_.profile == nullptr) continue;
    for (size_t column : section_.columns) profile_.bytes_read += encoded_bytes(source_, span, column);
  }
  profile_.tablets_skipped = static_cast<int64_t>(source_.tablet_count()) - profile_.tablets;
}

void SectionRun::run(std::vector<ThreadSinks>& threads, int64_t wanted, TabletQueue* queue) {
  const auto start = std::chrono::steady_clock::now();
  find_limit(wanted);
  queue_ = queue;
  written_.assign(morsels_.size(), -1);
  writers_.resize(static_cast<size_t>(profile_.threads));
  if (context_.progress != nullptr) {
    for (const Morsel& morsel : morsels_) rows_announced_ += morsel.rows;
    context_.progress->rows_total += rows_announced_;
  }
  if (wanted_ != 0 && !morsels_.empty()) run_morsels(threads);
  profile_.rows_out = rows_out_;
  profile_.nanoseconds = nanoseconds_since(start);
}

void SectionRun::find_limit(int64_t wanted) {
  wanted_ = wanted;
  for (const Step& step : section_.steps) {
    if (step.instruction->opcode != Opcode::Append || wanted == 0) continue;
    const RowSetInfo& rows = program_.row_sets[static_cast<size_t>(step.instruction->p1)];
    limited_ = step.instruction->p1;
    wanted_ = rows.keys.empty() ? rows.limit : -1;
  }
}

void SectionRun::run_morsels(std::vector<ThreadSinks>& threads) {
  const size_t all = morsels_.size();
  if (profile_.threads == 1) return work(0, threads[0], all, false);
  // One morsel may have all the rows that are wanted before another thread is awake.
  const bool has_limit = limited_ != to_result || writes_result(program_, section_.first - 1);
  if (wanted_ >= 0 && has_limit) work(0, threads[0], 1, false);
  if (next_ >= all || stopped_) return;
  const auto work_on = [&](int thread) { work(thread, threads[static_cast<size_t>(thread)], all, true); };
  if (queue_ != nullptr || all > most_morsels_alone) {
    run_parallel(profile_.threads, work_on);
  } else {
    OtherThreads others(profile_.threads);
    alone_.emplace(Alone{[&] { others.start(work_on); }, {}, 0});
    work_on(0);
    alone_.reset();
    others.wait();
  }
  // Also of what nobody had memory to begin with.
  if ((left_.empty() && !has_morsels()) || stopped_) return;
  for (const ThreadSinks& sinks : threads) sinks.move_to_files();
  work(0, threads[0], all, false);
}

void SectionRun::work(int thread, ThreadSinks& sinks, size_t most_morsels, bool has_others) {
  TabletInHands hands{{program_, section_}, nullptr};
  Frame& frame = hands.frame;
  for (size_t i = 0; i < indexes_.size(); ++i) frame.indexes[i] = indexes_[i].get();
  frame.wants_more = [&] {
    check_cancelled(context_);
    return !stopped_.load(std::memory_order_relaxed) && !has_enough(frame);
  };
  Writers& writers = writers_[static_cast<size_t>(thread)];
  open_writers(writers, frame);
  MorselRange taken;
  try {
    if (!has_others)
      sinks.make(section_);
    else if (!has_memory_for([&] { sinks.make(section_); }))
      return;  // the others take all
    for (size_t i = 0; i < sinks.groups.size(); ++i) frame.groups[i] = sinks.groups[i].get();
    for (size_t i = 0; i < sinks.sort_runs.size(); ++i) frame.sort_runs[i] = sinks.sort_runs[i].get();
    for (; most_morsels > 0 && !stopped_.load(std::memory_order_relaxed); --most_morsels) {
      if (taken.first == taken.second) taken = take_morsels();
      if (taken.first == taken.second) break;
      const size_t i = taken.first;
      if (!try_morsel(hands, sinks, writers, morsels_[i], has_others)) {
        std::lock_guard guard(mutex_);
        left_.push_back(taken);
        break;
      }
      ++taken.first;
      finish_rows(writers, i);
    }
  } catch (...) {
    stopped_ = true;
    throw;
  }
  rows_out_ += frame.rows_out;
  std::lock_guard guard(mutex_);
  for (size_t i = 0; i < frame.pairs_out.size(); ++i) profile_.joins[i].rows += frame.pairs_out[i];
}

void SectionRun::open_writers(Writers& writers, Frame& frame) {
  for (const Step& step : section_.steps) {
    const bool is_result = step.instruction->opcode == Opcode::Result;
    const int32_t row_set = is_result ? to_result : step.instruction->p1;
    if (!is_result && (step.instruction->opcode != Opcode::Append || !stores_.contains(row_set))) continue;
    std::unique_ptr<RowWriter>& writer = writers[row_set];
    if (!writer)
      writer = std::make_unique<RowWriter>(program_, section_, step.a, forms_of(row_set), source_, stores_.at(row_set));
    (is_result ? frame.result : frame.row_writers[static_cast<size_t>(row_set)]) = writer.get();
  }
}

std::vector<PhysicalType> SectionRun::forms_of(int32_t row_set) const {
  std::vector<PhysicalType> forms;
  if (row_set == to_result)
    for (const ResultColumnInfo& column : program_.result_columns) forms.push_back(column.type.physical());
  else
    for (const RegisterInfo& column : program_.row_sets[static_cast<size_t>(row_set)].columns)
      forms.push_back(column.physical);
  return forms;
}

void SectionRun::begin_tablet(TabletInHands& hands, const ThreadSinks& sinks, size_t tablet, bool has_others) {
  Frame& frame = hands.frame;
  const auto begin = [&] {
    hands.pinned.reset();
    frame.keeper.reset();
    hands.tablet = SIZE_MAX;
    for (SortRun* run : frame.sort_runs)
      if (run != nullptr) run->make_room();
    hands.pinned = source_.pin(tablet, section_.columns);
    frame.begin_tablet(*hands.pinned);
  };
  if (has_others) {
    begin();
  } else if (!has_memory_for(begin)) {
    sinks.move_to_files();
    begin();
  }
  hands.tablet = tablet;
  if (keeps_tablets_) frame.keeper = hands.pinned;
}

bool SectionRun::try_morsel(TabletInHands& hands, const ThreadSinks& sinks, Writers& writers, const Morsel& morsel,
                            bool has_others) {
  Frame& frame = hands.frame;
  const int64_t rows_out = frame.rows_out;
  const std::vector<int64_t> pairs_out = frame.pairs_out;
  bool can_leave = has_others;
  try {
    if (morsel.tablet != hands.tablet) begin_tablet(hands, sinks, morsel.tablet, has_others);
    can_leave = has_others && can_begin_again_;
    run_morsel(frame, morsel);
    return true;
  } catch (const Error& error) {
    if (error.state() != SqlState::out_of_memory || !can_leave) throw;
  }
  frame.rows_out = rows_out;
  frame.pairs_out = pairs_out;
  for (auto& [row_set, writer] : writers) writer->take_back_morsel();
  return false;
}

SectionRun::MorselRange SectionRun::take_morsels() {
  {
    std::lock_guard guard(mutex_);
    if (!left_.empty()) {
      const MorselRange left = left_.back();
      left_.pop_back();
      return left;
    }
  }
  if (queue_ == nullptr) {
    const size_t next = next_++;
    return {next, next < morsels_.size() ? next + 1 : next};
  }
  const TabletRun run = queue_->take(morsel_rows);
  const auto first_of = [this](size_t tablet) {
    const auto morsel = std::partition_point(morsels_.begin(), morsels_.end(),
                                             [tablet](const Morsel& before) { return before.tablet < tablet; });
    return static_cast<size_t>(morsel - morsels_.begin());
  };
  return {first_of(run.first), first_of(run.end)};
}

void SectionRun::run_morsel(Frame& frame, const Morsel& morsel) {
  const int64_t end = morsel.first_row + morsel.rows;
  if (alone_ && alone_->rows == 0) alone_->since = std::chrono::steady_clock::now();
  for (int64_t row = morsel.first_row; row < end; row += block_rows) {
    check_cancelled(context_);
    if (stopped_.load(std::memory_order_relaxed)) return;
    frame.order = morsel.order + (row - morsel.first_row);
    frame.begin_block(row, static_cast<int>(std::min<int64_t>(block_rows, end - row)));
    frame.run();
    if (has_enough(frame)) break;
    if (alone_) call_others_if_long(std::min<int64_t>(block_rows, end - row));
  }
  count_rows_in(morsel);
}

void SectionRun::call_others_if_long(int64_t rows) {
  alone_->rows += rows;
  const auto taken = static_cast<double>(nanoseconds_since(alone_->since));
  if (taken < least_known_ns) return;
  // Rows to be done, of all morsels and of those that the thread has taken itself.
  int64_t left = -alone_->rows, own = left;
  for (size_t i = 0; i < morsels_.size(); ++i) {
    left += morsels_[i].rows;
    if (i < next_) own += morsels_[i].rows;
  }
  const int64_t spared = left - std::max(own, left / profile_.threads);
  if (taken * static_cast<double>(spared) < least_spared_ns * static_cast<double>(alone_->rows)) return;
  const std::function<void()> call_others = std::move(alone_->call_others);
  alone_.reset();
  call_others();
}

bool SectionRun::has_enough(const Frame& frame) const {
  const RowWriter* limited = limited_ == to_result ? frame.result : frame.row_writers[static_cast<size_t>(limited_)];
  return wanted_ >= 0 && limited != nullptr && limited->open_rows() >= wanted_;
}

void SectionRun::count_rows_in(const Morsel& morsel) {
  if (context_.progress != nullptr) context_.progress->rows_done += morsel.rows;
  std::lock_guard guard(mutex_);
  profile_.rows_in += morsel.rows;
}

void SectionRun::take_back_progress() {
  if (context_.progress == nullptr) return;
  context_.progress->rows_total -= rows_announced_;
  context_.progress->rows_done -= profile_.rows_in;
}

void SectionRun::finish_rows(Writers& writers, size_t morsel) {
  for (auto& [row_set, writer] : writers) {
    const int64_t rows = writer->open_rows();
    writer->finish_morsel(morsel);
    if (row_set == limited_ && wanted_ >= 0) count_written(rows, morsel);
  }
}

void SectionRun::count_written(int64_t rows, size_t morsel) {
  std::lock_guard guard(mutex_);
  written_[morsel] = rows;
  for (; finished_prefix_ < written_.size() && written_[finished_prefix_] >= 0; ++finished_prefix_)
    prefix_rows_ += written_[finished_prefix_];
  if (prefix_rows_ >= wanted_) stopped_ = true;
}

std::vector<MorselPiece> SectionRun::take_rows(int32_t row_set) {
  std::vector<MorselPiece> pieces;
  for (const Writers& writers : writers_) {
    const auto found = writers.find(row_set);
    if (found == writers.end()) continue;
    for (MorselPiece& piece : found->second->pieces()) pieces.push_back(std::move(piece));
    found->second->finish();
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const MorselPiece& a, const MorselPiece& b) { return a.morsel < b.morsel; });
  return pieces;
}

SectionProfile SectionRun::profile() const { return profile_; }

}  // namespace diptych::cpu
