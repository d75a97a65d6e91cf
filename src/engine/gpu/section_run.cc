#include "engine/gpu/section_run.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "engine/gpu/generator/generated_kernels.h"
#include "engine/gpu/groups/device_groups.h"
#include "engine/gpu/join/built_index.h"
#include "engine/gpu/output/totals.h"
#include "engine/run/zone_test.h"
#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

// Only rows of the result can be enough: what goes into groups or a row set is needed whatever LIMIT says.
int64_t rows_wanted(const SectionTask& task) {
  const auto& instructions = task.program.instructions;
  const auto first = instructions.begin() + task.address;
  const auto end = instructions.begin() + first->p3;
  const bool makes_result = std::any_of(first, end, [](const Instruction& at) { return at.opcode == Opcode::Result; });
  return makes_result ? task.wanted : -1;
}

// In one launch, of rows and of the pairs that they make with those of indexes: counts of groups and of rows that are
// written rely on it.
constexpr double most_pairs = uint64_t{1} << 31;
// Of a tablet, which is the least that a launch takes, so that it ends soon enough to be cancelled, and of a launch
// that makes totals alone; and where the device is the host's cores.
constexpr double most_tablet_pairs = most_unwatched_pairs, most_tablet_pairs_of_a_host = 1e9;
// Of both, where the host can stop the kernel: so that others that wait for the device get their turn.
constexpr double most_watched_pairs = 1e12, most_watched_pairs_of_a_host = 1e11;

// Of the limit that a section takes at most which begins in the place of another one.
constexpr int64_t part_beside = 16;

bool makes_totals_alone(const Program& program, int32_t address) {
  return std::ranges::none_of(opcodes_of(program, address), [](const Instruction& at) {
    return info_of(at.opcode).kind == OpcodeKind::Sink && at.opcode != Opcode::Aggregate;
  });
}

}  // namespace

SectionRun::SectionRun(GpuEngine& engine, const SectionTask& task, Residency residency, KernelChoice choice)
    : engine_(engine),
      task_{task.program, task.address, task.source, rows_wanted(task), task.context, task.needed,
            task.partner, task.open,    task.queue,  task.report,       nullptr,      task.indexes},
      residency_(rows_on(engine.device(), *task.source) != nullptr ? Residency::Cached : residency),
      choice_(choice),
      columns_(columns_read(task.program, task.address)),
      queue_(task.queue),
      may_stop_early_(task.wanted == 0 || task_.wanted >= 0),
      progress_(task.context.progress) {
  result_.profile.address = task.address;
  result_.profile.engine = engine.device().info().id();
  result_.profile.kernel = "generated";
  result_.profile.residency = name_of(residency);
}

bool SectionRun::start(const SectionRun* before) {
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<const void> entered = engine_.device().enter();
  const PartScope scope(task_.clock(), TimePart::Load);
  if (!find_rows() || !enter_beside(before)) return false;
  std::string reason;
  if (launch_next(reason) != Next::Launched) return false;
  if (before != nullptr) running_.back()->follow(*before->running_.back());
  is_started_ = true;
  started_nanoseconds_ = nanoseconds_since(start);
  return true;
}

std::optional<SectionResult> SectionRun::run(std::string& reason) {
  const auto start = std::chrono::steady_clock::now();
  const std::shared_ptr<const void> entered = engine_.device().enter();
  const PartScope scope(task_.clock(), TimePart::Load);
  if (!is_started_) {
    if (!find_rows()) {
      reason = too_many_pairs;
      return std::nullopt;
    }
    enter();
  }
  const bool overlaps = residency_ == Residency::Streamed || (residency_ != Residency::Serial && task_.wanted < 0);
  const size_t most = overlaps ? batches_at_once : 1;
  // Also of no rows a section has a sink, and with it a result.
  do {
    const Next next = std::exchange(is_started_, false) ? Next::Launched : launch_next(reason);
    if (next == Next::NoKernel) return std::nullopt;
    if (next == Next::NoneLeft) break;
    // The host waits for a kernel when the next one is queued; for the first one, to see how many rows come out.
    if (!sizes_->knows_share())
      bring(*running_.back());
    else if (running_.size() > 1)
      bring(*running_[running_.size() - 2]);
    if (running_.size() < most) continue;
    collect(*running_.front());
    running_.pop_front();
  } while (!queue_->left().is_empty() && !has_enough());
  for (auto& batch : running_) bring(*batch);
  if (left_to_cpu_ != nullptr) {
    reason = left_to_cpu_;
    return std::nullopt;
  }
  for (auto& batch : running_) collect(*batch);
  note_share();
  put_together();
  const PartScope release(task_.clock(), TimePart::Release);
  running_.clear();
  result_.profile.nanoseconds = started_nanoseconds_ + nanoseconds_since(start);
  progress_.keep();
  return std::move(result_);
}

SectionRun::Next SectionRun::launch_next(std::string& reason) {
  check_cancelled(task_.context);
  if (!running_.empty() && place_->try_grow(wish_)) sizes_->plan_with(planned_with(place_->room()));
  SectionBatch& batch = *running_.emplace_back(
      std::make_unique<SectionBatch>(engine_, task_, columns_, residency_, choice_, merges_sorted()));
  if (running_.size() > 1) batch.follow(*running_[running_.size() - 2]);
  auto input = next_input(batch.loader());
  if (!input) {
    running_.pop_back();
    return Next::NoneLeft;
  }
  const int64_t room = sizes_->room_for(input->rows);
  // What earlier batches have made is dropped when a later one can't be done.
  const bool is_only =
      running_.size() == 1 && passed_batches_++ == 0 && task_.queue == nullptr && queue_->left().is_empty();
  return batch.start(std::move(input), room, is_only, memo_, reason) ? Next::Launched : Next::NoKernel;
}

void SectionRun::put_together() {
  const PartScope scope(task_.clock(), TimePart::Merge);
  if (kernel_->partial_words > 0) finish_totals();
  if (kernel_->sink == SectionKernel::Sink::Sort) {
    result_.appended.form.parts = sorted_.batches();
    result_.appended.rows = sorted_.finish(*sorted_set_of(task_.program, task_.address));
  }
  if (kernel_->sink == SectionKernel::Sink::Rows) finish_rows();
  if (kernel_->sink == SectionKernel::Sink::Groups) finish_groups();
}

// False: it could not be cancelled soon enough, or would take several launches where it needs one.
bool SectionRun::find_rows() {
  if (!find_input()) find_tablets();
  // Of a shared queue the CPU's part counts all rows.
  if (task_.queue == nullptr) progress_.add(rows_needed_, 0);
  all_tablets_ = queue_->left();
  return can_be_cancelled() && (!needs_one_launch() || takes_one_launch());
}

// Whether sorted rows come from several launches.
bool SectionRun::merges_sorted() const {
  const RowSetInfo* sorted = sorted_set_of(task_.program, task_.address);
  if (sorted == nullptr || !can_be_merged(*sorted)) return false;
  return residency_ == Residency::Serial || residency_ == Residency::Streamed || !takes_one_launch();
}

bool SectionRun::takes_one_launch() const { return rows_needed_ <= rows_of_a_launch() || result_.profile.tablets <= 1; }

bool SectionRun::needs_one_launch() const {
  return sorted_set_of(task_.program, task_.address) != nullptr && !merges_sorted();
}

// Whether all tablets of the source are needed and ready in the place that the residency means.
bool SectionRun::find_input() {
  if (!stays()) return false;
  auto input = engine_.inputs().find(task_.source, columns_, place());
  if (!input || !needs_all(task_.cursor(), *task_.source)) return false;
  result_.profile.tablets = static_cast<int64_t>(task_.source->tablet_count());
  result_.profile.bytes_read = input->bytes;
  queue_ = &own_queue_.emplace(*task_.source, std::vector<bool>(task_.source->tablet_count(), true));
  rows_needed_ = input->rows;
  input_ = std::move(input);
  return true;
}

void SectionRun::find_tablets() {
  const TabletSource& source = *task_.source;
  for (const TabletSpan& span : task_.needed.spans()) {
    result_.profile.tablets += static_cast<int64_t>(span.count);
    rows_needed_ += span.rows;
    for (size_t column : columns_) result_.profile.bytes_read += encoded_bytes(source, span, column);
  }
  result_.profile.tablets_skipped = static_cast<int64_t>(source.tablet_count()) - result_.profile.tablets;
  if (queue_ == nullptr) queue_ = &own_queue_.emplace(source, task_.needed.by_tablet());
}

void SectionRun::wish() {
  section_ = describe_section();
  wish_ = [this](int64_t room) { return BatchSizes(planned_with(room)).most_bytes(); };
}

// Waits for a place on the device, and holds nothing there meanwhile.
void SectionRun::enter() {
  const PartScope scope(task_.clock(), TimePart::Turn);
  DeviceReservations& reservations = engine_.reservations();
  const bool has_input = input_ != nullptr;
  wish();
  if (has_rows_there())
    place_ = reservations.try_enter(wish_);
  else if (has_input)
    place_ = reservations.enter_at_once(wish_);
  if (!place_ && meets_index(task_.program, task_.address))
    throw Error(SqlState::out_of_memory, engine_.device().info().id() + " has no room beside what others do there");
  if (!place_) {
    input_.reset();
    leave_device();
    section_ = describe_section();
    place_ = reservations.enter(wish_, task_.context.cancelled);
    if (has_input) input_ = engine_.inputs().find(task_.source, columns_, place());
    if (input_) section_ = describe_section();
  }
  sizes_.emplace(planned_with(place_->room()));
}

// In the place that the statement has, or in one for which it need not wait; false: there is none, or it takes more
// than should be taken without asking others.
bool SectionRun::enter_beside(const SectionRun* before) {
  const PartScope scope(task_.clock(), TimePart::Turn);
  wish();
  place_ = before != nullptr ? before->place_ : engine_.reservations().enter_at_once(wish_);
  if (place_ == nullptr) return false;
  if (before != nullptr && wish_(place_->room()) > engine_.device().memory_limit() / part_beside) return false;
  sizes_.emplace(planned_with(place_->room()));
  return true;
}

BatchSizes::Section SectionRun::planned_with(int64_t room) const {
  BatchSizes::Section section = section_;
  section.memory_bytes = room;
  section.has_company = room < engine_.device().memory_limit();
  return section;
}

// The tables of groups that sections before have begun on the device, and this one goes on with.
std::vector<DeviceGroups*> SectionRun::begun_groups() const {
  std::vector<DeviceGroups*> begun;
  if (task_.open == nullptr) return begun;
  for (const auto& [table, groups] : *task_.open)
    if (&groups->device() == &engine_.device()) begun.push_back(static_cast<DeviceGroups*>(groups.get()));
  return begun;
}

bool SectionRun::has_rows_there() const {
  return rows_on(engine_.device(), *task_.source) != nullptr || !begun_groups().empty() ||
         meets_index(task_.program, task_.address);
}

void SectionRun::leave_device() {
  if (const DeviceRowSet* rows = rows_on(engine_.device(), *task_.source)) {
    rows->move_to_host();
    residency_ = Residency::Serial;
    result_.profile.residency = name_of(residency_);
  }
  for (DeviceGroups* groups : begun_groups()) groups->move_to_host();
}

BatchSizes::Section SectionRun::describe_section() {
  const RowSetInfo* sorted = sorted_set_of(task_.program, task_.address);
  BatchSizes::Section section;
  // Of mapped columns a part at a time, so that the other has a part, too.
  const bool is_shared = task_.queue != nullptr;
  section.residency = is_shared && residency_ == Residency::Mapped ? Residency::Streamed : residency_;
  section.needs_all = needs_one_launch();
  section.wanted = task_.wanted;
  section.rows = rows_needed_;
  // Each tablet's part of a column is padded, and described.
  const int64_t beside = static_cast<int64_t>(columns_.size()) * device_alignment +
                         static_cast<int64_t>((tablet_words + columns_.size() * column_words) * sizeof(uint64_t));
  section.input_row_bytes = static_cast<double>(result_.profile.bytes_read + result_.profile.tablets * beside) /
                            static_cast<double>(std::max<int64_t>(rows_needed_, 1));
  section.output_row_bytes = output_row_bytes(task_.program, task_.address);
  section.group_row_bytes = group_row_bytes(task_.program, task_.address, most_dense_bytes(engine_.device()));
  if (section.output_row_bytes > 0)
    if (const auto hash = section_hash()) section.known_share = input_->share_of(*hash);
  const auto& columns = task_.program.result_columns;
  section.writes_to_host = engine_.device().info().can_map &&
                           std::none_of(columns.begin(), columns.end(), [](const ResultColumnInfo& column) {
                             return column.type.physical() == PhysicalType::Text;
                           });
  section.group_room = group_room(task_.program, task_.address, most_dense_bytes(engine_.device()));
  if (sorted != nullptr) section.sorted_row_bytes = DeviceSort::working_bytes(1, has_text_key(*sorted));
  // The others are hardly larger; going over all takes longer than some statements.
  if (!all_tablets_.is_empty()) section.tablet_rows = task_.source->rows_in(all_tablets_.first);
  return section;
}

// Of sections that have the same rows come out. Lookup tables and sets are not in a signature: where this section, or
// one before it, has any, there is none.
std::optional<size_t> SectionRun::section_hash() {
  const Program& program = task_.program;
  const std::span<const Instruction> opcodes = opcodes_of(program, task_.address);
  const auto is_unseen = [](const Instruction& at) {
    return at.opcode == Opcode::Lookup || at.opcode == Opcode::SetIn;
  };
  if (!input_ || std::any_of(program.instructions.data(), opcodes.data() + opcodes.size(), is_unseen))
    return std::nullopt;
  if (!hash_) hash_ = engine_.kernels().signature(program, task_.address, input_->shape).first;
  return hash_;
}

// The next statement like this one makes room for as many rows from the start.
void SectionRun::note_share() {
  if (!input_ || !kernel_->writes_rows() || result_.profile.rows_in < input_->rows || input_->rows == 0) return;
  if (const auto hash = section_hash())
    input_->note_share(*hash, static_cast<double>(rows_) / static_cast<double>(input_->rows));
}

std::shared_ptr<SectionInput> SectionRun::next_input(InputLoader& loader) {
  if (stays() && !input_) load_all(loader);
  const TabletRun run = queue_->take(std::min(sizes_->next_rows(), rows_of_a_launch()));
  // Others have taken the last tablets.
  if (task_.queue != nullptr && run.is_empty()) return nullptr;
  firsts_.push_back(run.first);
  if (!stays()) return loader.load(segments_of(run));
  return run == all_tablets_ ? input_ : loader.part_of(*input_, run);
}

// So that a statement is cancelled soon: of rows that may meet many others there are few in a launch, though a tablet's
// at least.
int64_t SectionRun::rows_of_a_launch() const {
  const double pairs = makes_totals_alone(task_.program, task_.address) ? most_cancelled_pairs() : most_pairs;
  return std::max<int64_t>(static_cast<int64_t>(pairs / most_matches_of_a_row(engine_.device(), task_)), 1);
}

bool SectionRun::can_be_cancelled() const {
  if (all_tablets_.is_empty()) return true;
  const auto rows = static_cast<double>(task_.source->rows_in(all_tablets_.first));
  return rows * most_matches_of_a_row(engine_.device(), task_) <= most_cancelled_pairs();
}

double SectionRun::most_cancelled_pairs() const {
  const DeviceInfo& device = engine_.device().info();
  if (makes_totals_alone(task_.program, task_.address) && device.can_map)
    return device.is_host ? most_watched_pairs_of_a_host : most_watched_pairs;
  return device.is_host ? most_tablet_pairs_of_a_host : most_tablet_pairs;
}

// Of all needed tablets, also where they are not all of one batch.
void SectionRun::load_all(InputLoader& loader) {
  const bool is_whole = result_.profile.tablets_skipped == 0 && !all_tablets_.is_empty();
  input_ = loader.load(is_whole ? loader.all_ranges() : segments_of(all_tablets_),
                       engine_.inputs().find_earlier(*task_.source, columns_, place()));
  if (is_whole) engine_.inputs().keep(task_.source, columns_, place(), input_, InputCache::For::Statement);
}

// Columns that are kept are kept by the segment, so that another run finds them; others are no more than the run.
std::vector<SegmentRange> SectionRun::segments_of(const TabletRun& run) {
  const TabletSource& source = *task_.source;
  const bool keeps = residency_ != Residency::Serial;
  std::vector<SegmentRange> ranges;
  for (size_t next = run.first; next < run.end;) {
    SegmentRange range;
    // Pieces of a row set lie where they were made.
    const bool is_alone = rows_on(engine_.device(), source) != nullptr;
    const auto place = residency_ == Residency::Cached ? ColumnSegment::Place::Device : ColumnSegment::Place::Pinned;
    const size_t size = is_alone ? 1 : tablets_of_segment(place, next, source.tablet_count());
    range.first = keeps ? next / size * size : next;
    range.count = std::min(range.first + size, keeps ? source.tablet_count() : run.end) - range.first;
    passed_rows_ += source.rows_between(passed_tablets_, range.first);
    passed_tablets_ = range.first;
    range.rows_before = passed_rows_;
    next = range.first + range.count;
    const bool needs_all = result_.profile.tablets_skipped == 0 && range.first >= run.first && next <= run.end;
    range.needed.assign(range.count, needs_all);
    bool any = needs_all;
    for (size_t tablet = range.first; tablet < next && !needs_all; ++tablet) {
      range.needed[tablet - range.first] = tablet >= run.first && tablet < run.end && queue_->needs(tablet);
      any |= range.needed[tablet - range.first];
    }
    if (any) ranges.push_back(std::move(range));
  }
  return ranges;
}

void SectionRun::bring(SectionBatch& batch) {
  if (batch.is_brought() || has_enough()) return;
  const PartScope scope(task_.clock(), TimePart::Fetch);
  batch.bring();
  if (batch.has_failed()) {
    if (has_guessed_wrong(engine_.device(), task_)) {
      left_to_cpu_ = wrong_guess;
    } else if (batch.failure() == DK_CASE_BEYOND_ASCII) {
      left_to_cpu_ = case_beyond_ascii;
    } else if (batch.failure() == DK_TOO_MANY_PAIRS) {
      left_to_cpu_ = too_many_pairs;
    } else if (may_stop_early_) {
      left_to_cpu_ = row_behind_limit;
    } else {
      batch.raise_failure();
    }
    return;
  }
  sizes_->note(batch.rows_in(), batch.rows_out());
  rows_ += batch.rows_out();
}

void SectionRun::collect(SectionBatch& batch) {
  const size_t first = firsts_.front();
  firsts_.pop_front();
  bring(batch);
  if (!batch.is_brought() || left_to_cpu_ != nullptr) return;
  const PartScope scope(task_.clock(), TimePart::Fetch);
  batch.finish();
  kernel_ = batch.kernel();
  if (kernel_->is_interpreted()) result_.profile.kernel = "interpreter";
  if (kernel_->sink == SectionKernel::Sink::Sort) {
    result_.appended.form.form = batch.sort_form();
    sorted_.add(batch.take_rows(), batch.take_sort_words());
  } else if (kernel_->sink == SectionKernel::Sink::Rows) {
    appended_.add(batch.take_appended());
    if (dictionaries_.empty()) dictionaries_ = batch.dictionaries();
  } else {
    for (HostPiece& rows : batch.take_rows()) result_.rows.push_back({std::move(rows), first});
  }
  partials_.push_back(batch.partials());
  collect_groups(batch);
  result_.profile.rows_in += batch.rows_in();
  result_.profile.rows_out += batch.rows_out();
  result_.profile.kernel_nanoseconds += batch.kernel_nanoseconds();
  if (batch.kernel_origin() != nullptr) result_.profile.kernel_origin = batch.kernel_origin();
  ++result_.profile.batches;
  progress_.add(0, batch.rows_in());
}

// What it has written stays there.
void SectionRun::finish_rows() {
  std::unique_ptr<Queue> queue = engine_.take_queue(task_.report);
  std::vector<ColumnDefinition> columns;
  for (const RegisterInfo& column : task_.program.row_sets[static_cast<size_t>(kernel_->row_set)].columns)
    columns.push_back({"", column.type});
  place_->comes_back();
  result_.appended.rows =
      appended_.finish(engine_, *queue, kernel_->outputs, columns, dictionaries_, task_.context.budget);
  engine_.give_back(std::move(queue));
}

void SectionRun::finish_totals() {
  const int32_t table = kernel_->hash_table;
  if (!shares_groups(task_.program, task_.address, table)) {
    result_.groups[table] = {combine_totals(task_.program, table, partials_),
                             {.form = "total", .parts = result_.profile.batches}};
    return;
  }
  const StatesLayout layout = layout_states(task_.program.hash_tables[static_cast<size_t>(table)], true);
  if (layout.has(StateKind::Extreme)) return open_groups(table).add(table, std::move(partials_));
  const GroupPlan plan = plan_groups(task_.program.hash_tables[static_cast<size_t>(table)], table, {}, 0);
  open_groups(table).add(plan, total_states(plan.states, partials_));
}

// Of a table that other sections fill, too.
DeviceGroups& SectionRun::open_groups(int32_t table) {
  std::shared_ptr<OpenGroups>& open = result_.open[table];
  if (task_.open != nullptr && open == nullptr)
    if (const auto found = task_.open->find(table); found != task_.open->end()) open = found->second;
  if (open == nullptr) open = std::make_shared<DeviceGroups>(engine_, task_.program, task_.context);
  return static_cast<DeviceGroups&>(*open);
}

void SectionRun::collect_groups(SectionBatch& batch) {
  std::vector<GroupWords> found = batch.take_groups();
  const auto& plans = batch.kernel()->groups;
  if (dictionaries_.empty()) dictionaries_ = batch.dictionaries();
  size_t numbered = 0, partitioned = 0;
  for (const GroupPlan& plan : plans) {
    const HashTableInfo& table = task_.program.hash_tables[static_cast<size_t>(plan.hash_table)];
    if (plan.place == GroupPlan::Place::Partitioned) {
      if (partitioned_.size() == partitioned) partitioned_.emplace_back(engine_, plan, table, task_.context);
      partitioned_[partitioned].add(batch.partitions()[partitioned], batch.queue());
      ++partitioned;
    } else {
      if (numbered_.size() == numbered) numbered_.emplace_back(task_.program, plan, task_.context.budget);
      numbered_[numbered].add(std::move(found[numbered]));
      ++numbered;
    }
  }
}

void SectionRun::finish_groups() {
  for (NumberedGroups& groups : numbered_) {
    const int32_t table = groups.plan().hash_table;
    if (groups.plan().is_shared)
      open_groups(table).add(groups.plan(), groups.take());
    else
      result_.groups[table] = {groups.finish(), {.form = groups.form(), .parts = result_.profile.batches}};
  }
  if (partitioned_.empty()) return;
  std::unique_ptr<Queue> queue = engine_.take_queue(task_.report);
  for (PartitionedGroups& groups : partitioned_) {
    const int32_t table = groups.plan().hash_table;
    if (groups.plan().is_shared) {
      open_groups(table).add(std::move(groups), dictionaries_);
      place_->comes_back();
      continue;
    }
    const bool is_timed = task_.context.profile != nullptr && groups.form().state_rows > 0;
    const auto before = is_timed ? queue->record() : nullptr;
    place_->comes_back();
    MadeRows& made = result_.groups[table];
    made.rows = finish_partitioned(engine_, *queue, task_.program, groups, dictionaries_, task_.context.budget);
    made.form = groups.form();
    if (!is_timed) continue;
    const auto after = queue->record();
    // A run that nobody asks about does not wait here: this is not counted.
    queue->report_to(nullptr);
    queue->synchronize();
    queue->report_to(task_.report);
    result_.profile.kernel_nanoseconds += queue->nanoseconds_between(*before, *after);
  }
  engine_.give_back(std::move(queue));
}

}  // namespace diptych::gpu
