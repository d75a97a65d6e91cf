#include "engine/gpu/section_batch.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/error.h"
#include "engine/gpu/groups/group_strings.h"
#include "engine/gpu/join/built_index.h"
#include "engine/gpu/when_done.h"
#include "engine/run/kernel_error.h"
#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

// A group of the grid has at least so many tiles to take.
constexpr int64_t tiles_per_group = 3;

// Rows of mapped columns come slowly and all groups at the same pace: with large tiles all would read, and then all
// write, each way over the bus idle half of the time.
constexpr int64_t most_mapped_steps = 2;

// Of 4 bytes each: over the bus go lines of 128 bytes, to the device's memory sectors of 32.
constexpr uint64_t host_line_rows = 32, device_line_rows = 8;

// Of the states of tiles in the control buffer.
constexpr int64_t status_at = 64;
static_assert(status_at >= static_cast<int64_t>(sizeof(ControlBlock)));

// That have room among those that a second launch shares out; further ones are left to their teams.
constexpr int64_t usual_long_rows = 65536;

bool is_text_row(const OutputColumn& column) { return column.is_text_row(); }

}  // namespace

SectionBatch::SectionBatch(GpuEngine& engine, const SectionTask& task, const std::vector<size_t>& columns,
                           Residency residency, KernelChoice choice, bool merges_sorted)
    : engine_(engine),
      task_(task),
      residency_(residency),
      choice_(choice),
      merges_sorted_(merges_sorted),
      queue_(engine.take_queue(task.report)),
      loader_(engine, *task.source, columns, residency, *queue_) {}

// Nothing may be freed that the device still works with.
SectionBatch::~SectionBatch() {
  try {
    stop();
    queue_->synchronize();
    engine_.give_back(std::move(queue_));
  } catch (const Error&) {
    // The failure was reported where it was met; the queue is dropped.
  }
}

bool SectionBatch::start(std::shared_ptr<SectionInput> input, int64_t room, bool is_only, KernelMemo& memo,
                         std::string& reason) {
  input_ = std::move(input);
  const PartScope scope(task_.clock(), TimePart::Launch);
  if (!find_kernel(memo, reason)) return false;
  input_->wait_in(*queue_);
  constants_.emplace(task_.program, *kernel_, input_->dictionaries);
  constants_->upload(engine_, *queue_);
  tablets_ = loader_.describe(*input_, choose_steps() * kernel_->step_rows());
  for (const GroupPlan& plan : kernel_->groups) {
    const HashTableInfo& table = task_.program.hash_tables[static_cast<size_t>(plan.hash_table)];
    if (plan.place == GroupPlan::Place::Partitioned)
      partitions_.emplace_back(engine_, plan, table, expected_rows(), is_only && !plan.is_shared);
    else
      numbered_.emplace_back(engine_, plan);
  }
  if (kernel_->stages_rows) shared_room_ = partitions_.front().stage(kernel_->step_rows());
  for (const int32_t index : indexes_met(task_.program, task_.address))
    if (const BuiltIndex* built = index_on(engine_.device(), task_, index)) built->order(*queue_);
  launch_with(room);
  return true;
}

// That reach the sinks.
int64_t SectionBatch::expected_rows() const {
  if (!kernel_->repeats) return input_->rows;
  const Instruction& parallel = task_.program.instructions[static_cast<size_t>(task_.address)];
  const CursorInfo& cursor = task_.program.cursors[static_cast<size_t>(parallel.p1)];
  const double pairs = static_cast<double>(cursor.expected_rows_out) /
                       static_cast<double>(std::max<int64_t>(cursor.expected_rows, 1)) *
                       static_cast<double>(input_->rows);
  // More make no more partitions.
  constexpr double most_expected = 1e9;
  return std::max(input_->rows, static_cast<int64_t>(std::min(pairs, most_expected)));
}

bool SectionBatch::find_kernel(KernelMemo& memo, std::string& reason) {
  const PartScope scope(task_.clock(), TimePart::Compile);
  const SectionShape shape = shape_with_indexes();
  if (memo.compiled != nullptr && memo.shape == shape) {
    kernel_ = memo.kernel;
    compiled_ = memo.compiled;
  } else {
    kernel_ = engine_.kernels().choose(task_.program, task_.address, shape, choice_);
  }
  reason = kernel_->unsupported;
  if (kernel_->sink == SectionKernel::Sink::Sort && input_->rows > DeviceSort::most_rows)
    reason = "sorting more rows than 32 bits can number";
  if (!reason.empty()) return false;
  if (compiled_ == nullptr) {
    CompileReport report;
    compiled_ = engine_.kernels().compile(*kernel_, report);
    kernel_origin_ = report.origin();
    memo = {shape, kernel_, compiled_};
  }
  return true;
}

// The indexes that are there may be others in another run.
SectionShape SectionBatch::shape_with_indexes() const {
  SectionShape shape = input_->shape;
  for (const int32_t index : indexes_met(task_.program, task_.address))
    if (const BuiltIndex* built = index_on(engine_.device(), task_, index)) shape.indexes.push_back(built->shape());
  return shape;
}

// The words of the section that this launch knows.
void SectionBatch::send_section() {
  std::vector<uint64_t> section = kernel_->section;
  for (const SectionWord& one : kernel_->section_words) section[one.index] = word(one.parameter) + one.offset;
  const auto bytes = static_cast<int64_t>(section.size() * sizeof(uint64_t));
  if (section_buffer_.bytes() == 0) section_buffer_ = engine_.device().allocate(bytes, "a section to interpret");
  section_sent_ = send(engine_.device(), *queue_, section_buffer_.address(), section.data(), bytes);
}

// Large tiles keep many loads on their way between two barriers; but every group of the grid should have several.
int64_t SectionBatch::choose_steps() {
  const int per_unit = std::max(1, compiled_->groups_per_unit(kernel_->items));
  grid_ = static_cast<int64_t>(engine_.device().info().compute_units) * per_unit;
  int64_t most = kernel_->most_steps;
  if (residency_ == Residency::Mapped && kernel_->writes_rows()) most = std::min(most, most_mapped_steps);
  steps_ = std::clamp<int64_t>(input_->rows / (grid_ * kernel_->step_rows() * tiles_per_group), 1, most);
  return steps_;
}

void SectionBatch::launch_with(int64_t capacity) {
  capacity_ = capacity;
  if (control_buffer_.bytes() == 0) {
    const int64_t status_bytes = kernel_->writes_rows() ? std::max<int64_t>(tablets_->tiles, 1) * 8 : 0;
    control_buffer_ = engine_.device().allocate(status_at + status_bytes, "control block of a kernel");
    control_report_.allocate(engine_, sizeof(ControlBlock), "control block of a kernel");
    // Few rows may have many slices.
    groups_ = kernel_->shares_rows ? grid_ : std::clamp<int64_t>(tablets_->tiles, 1, grid_);
    // Few rows are written to few places at a time, however many groups of the grid there are.
    if (!kernel_->notes_rows)
      for (const PartitionBatch& partitions : partitions_) groups_ = std::min(groups_, partitions.most_groups());
  }
  queue_->fill(control_buffer_.address(), 0, control_buffer_.bytes());
  text_room_.prepare(engine_, *kernel_, input_->rows);
  if (kernel_->writes_rows()) {
    allocate_outputs(capacity);
  } else if (kernel_->partial_words > 0) {
    partials_report_.allocate(engine_, groups_of_launches() * static_cast<int64_t>(kernel_->partial_words) * 8,
                              "partial aggregates");
  }
  if (kernel_->notes_rows && row_masks_.bytes() == 0)
    row_masks_ =
        engine_.device().allocate(std::max<int64_t>(tablets_->tiles * steps_ * kernel_->items, 1), "masks of rows");
  for (NumberedBatch& groups : numbered_) groups.prepare(*queue_);
  for (PartitionBatch& partitions : partitions_) partitions.begin(groups_of_launches());
  if (kernel_->is_interpreted()) send_section();
  if (is_watched()) {
    stop_ = engine_.device().allocate_pinned(sizeof(uint64_t), "a word that stops a kernel");
    *reinterpret_cast<uint64_t*>(stop_.data()) = 0;
  }
  before_.reset();
  if (!partitions_.empty() || kernel_->shares_rows) begin_time();
  if (!partitions_.empty()) {
    if (kernel_->adds_noted_rows) queue_->fill(row_masks_.address(), 0, row_masks_.bytes());
    count_rows();
    for (PartitionBatch& partitions : partitions_) {
      partitions.make_room_for(kernel_->repeats ? static_cast<int64_t>(control().rows_out) : input_->rows);
      partitions.place_rows(*queue_);
    }
    queue_->fill(control_buffer_.address(), 0, sizeof(ControlBlock));
  }
  launch_pass(1);
  for (PartitionBatch& partitions : partitions_) partitions.group(*queue_);
  if (finds_first_rows()) find_first_rows();
  if (is_timed() || is_watched()) after_ = queue_->record();
  control_report_.ask(*queue_);
  for (NumberedBatch& groups : numbered_) groups.ask(*queue_);
  partials_report_.ask(*queue_);
  queue_->begin();
  if (finds_first_rows() && std::none_of(kernel_->outputs.begin(), kernel_->outputs.end(), is_text_row)) start_fetch();
}

// Rows are counted first, as the second pass finds them: where strings that it makes are part of them, with as much
// room for these. Of rows that repeat only the count says how many there are.
void SectionBatch::count_rows() {
  launch_pass(0);
  if (kernel_->new_texts == 0 && !kernel_->repeats) return;
  control_report_.ask(*queue_);
  queue_->synchronize();
  while (text_room_.grow(engine_, *kernel_, control())) {
    queue_->fill(control_buffer_.address(), 0, sizeof(ControlBlock));
    launch_pass(0);
    control_report_.ask(*queue_);
    queue_->synchronize();
  }
}

void SectionBatch::begin_time() {
  if (is_timed() && before_ == nullptr) before_ = queue_->record();
}

void SectionBatch::launch_pass(uint32_t pass) {
  pass_ = pass;
  const bool notes_rows = kernel_->shares_rows && (pass == 0 || partitions_.empty());
  if (notes_rows) long_rows_.clear(engine_, *queue_, most_long_rows());
  launch();
  if (residency_ == Residency::Mapped) queue_->count_in_place(input_->bytes, 0);
  if (!kernel_->shares_rows) return;
  long_rows_.share(true);
  launch();
  long_rows_.share(false);
}

void SectionBatch::launch() {
  std::vector<uint64_t> words;
  words.reserve(kernel_->parameters.size());
  for (const KernelParameter& parameter : kernel_->parameters) words.push_back(word(parameter));
  begin_time();
  queue_->launch(*compiled_, groups_, kernel_->items, words, shared_room_);
}

// Of rows for partitions the second pass must find the same ones noted: none may lack room.
int64_t SectionBatch::most_long_rows() const {
  return partitions_.empty() ? std::min(input_->rows, usual_long_rows) : input_->rows;
}

bool SectionBatch::writes_to_host() const {
  return residency_ == Residency::Mapped && engine_.device().info().can_map &&
         kernel_->sink == SectionKernel::Sink::Result &&
         std::none_of(kernel_->outputs.begin(), kernel_->outputs.end(), is_text_row);
}

void SectionBatch::allocate_outputs(int64_t capacity) {
  outputs_.clear();
  outputs_.resize(kernel_->outputs.size());
  if (writes_to_host()) return allocate_pinned_outputs(capacity);
  output_offsets_.clear();
  int64_t bytes = 0;
  const auto take = [&](int64_t wanted) { return std::exchange(bytes, bytes + padded(wanted)); };
  for (const OutputColumn& column : kernel_->outputs) {
    OutputOffsets& offsets = output_offsets_.emplace_back();
    offsets.values = take(capacity * column.width());
    if (!column.nullable) continue;
    offsets.nulls = take(capacity);
    if (kernel_->sink == SectionKernel::Sink::Rows) offsets.bits = take(word_bits_bytes(capacity));
  }
  sort_word_offsets_.clear();
  for (size_t i = 0; i < kernel_->sort_words; ++i) sort_word_offsets_.push_back(take(capacity * 8));
  outputs_buffer_ = DeviceBuffer();
  outputs_buffer_ = engine_.device().allocate(std::max<int64_t>(bytes, 8), "result rows on the device");
  for (size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i].values = outputs_buffer_.address() + output_offsets_[i].values;
    outputs_[i].nulls = outputs_buffer_.address() + output_offsets_[i].nulls;
  }
}

// Those that rows for a row set have, while what they lie in is there.
void SectionBatch::own_strings() {
  strings_.resize(kernel_->outputs.size());
  const WhenDone when_done{*queue_};
  for (size_t i = 0; i < strings_.size(); ++i)
    if (kernel_->outputs[i].is_text_row() && rows_out() > 0)
      strings_[i] = copy_strings(engine_.device(), *queue_, outputs_[i].values, rows_out());
}

AppendedRows::Batch SectionBatch::take_appended() {
  AppendedRows::Batch batch;
  batch.buffer = std::move(outputs_buffer_);
  for (const OutputOffsets& offsets : output_offsets_) {
    batch.values.push_back(offsets.values);
    batch.nulls.push_back(offsets.nulls);
    batch.bits.push_back(offsets.bits);
  }
  batch.rows = rows_out();
  batch.strings = std::move(strings_);
  return batch;
}

void SectionBatch::allocate_pinned_outputs(int64_t capacity) {
  const auto take = [&](int64_t bytes, PinnedBuffer& buffer) {
    buffer = engine_.device().allocate_pinned(std::max<int64_t>(bytes, 1), "result rows");
    return buffer.address();
  };
  for (size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i].values = take(capacity * kernel_->outputs[i].width(), outputs_[i].pinned_values);
    if (kernel_->outputs[i].nullable) outputs_[i].nulls = take(capacity, outputs_[i].pinned_nulls);
  }
}

uint64_t SectionBatch::word(const KernelParameter& parameter) const {
  using Kind = KernelParameter::Kind;
  const auto index = static_cast<size_t>(parameter.index);
  switch (parameter.kind) {
    case Kind::Tablets: return tablets_->buffer.address().value;
    case Kind::TabletCount: return static_cast<uint64_t>(tablets_->tablets);
    case Kind::TileCount: return static_cast<uint64_t>(tablets_->tiles);
    case Kind::TilesPerTablet: return static_cast<uint64_t>(tablets_->tiles_per_tablet);
    case Kind::StepsPerTile: return long_rows_.is_sharing() ? 1 : static_cast<uint64_t>(steps_);
    case Kind::Control: return control_buffer_.address().value;
    case Kind::TileStatus: return (control_buffer_.address() + status_at).value;
    case Kind::Capacity: return static_cast<uint64_t>(capacity_);
    case Kind::LineMask: return writes_to_host() ? host_line_rows - 1 : device_line_rows - 1;
    case Kind::Output: return outputs_[index].values.value;
    case Kind::SortWord: return (outputs_buffer_.address() + sort_word_offsets_[index]).value;
    case Kind::OutputNulls: return outputs_[index].nulls.value;
    case Kind::LongRows: return long_rows_.word(parameter.part);
    case Kind::RowMasks: return row_masks_.address().value;
    case Kind::TextRoom: return text_room_.address().value;
    case Kind::TextRoomBytes: return static_cast<uint64_t>(text_room_.bytes());
    case Kind::Section: return section_buffer_.address().value;
    case Kind::Stop:
      return stop_.bytes() > 0 ? stop_.address().value
                               : (control_buffer_.address() + offsetof(ControlBlock, never)).value;
    case Kind::ControlReport: return control_report_.address().value;
    case Kind::Partials: return partials_report_.address().value;
    case Kind::Index: return index_on(engine_.device(), task_, parameter.index)->word(parameter.part);
    case Kind::Group:
      for (const NumberedBatch& groups : numbered_) {
        if (groups.plan().hash_table == parameter.index) return groups.word(parameter);
      }
      for (const PartitionBatch& partitions : partitions_) {
        if (partitions.plan().hash_table == parameter.index) return partitions.word(parameter, pass_);
      }
      [[fallthrough]];
    default: return constants_->word(parameter);
  }
}

void SectionBatch::count_time() {
  if (before_ == nullptr) return;
  int64_t nanoseconds = queue_->nanoseconds_between(*before_, *after_);
  // 0 where the driver does not know; less where this kernel was done first.
  if (const int64_t since = before_this_ ? queue_->nanoseconds_between(*before_this_, *after_) : 0; since != 0)
    nanoseconds = std::min(nanoseconds, since);
  kernel_nanoseconds_ += std::max<int64_t>(nanoseconds, 0);
}

bool SectionBatch::is_watched() const {
  const DeviceInfo& device = engine_.device().info();
  if (!kernel_->can_be_stopped || !device.can_map) return false;
  const double most = device.is_host ? most_unwatched_pairs_of_a_host : most_unwatched_pairs;
  return static_cast<double>(input_->rows) * most_matches_of_a_row(engine_.device(), task_) > most;
}

// What it makes from then on is not used.
void SectionBatch::stop() {
  if (stop_.bytes() > 0) *reinterpret_cast<volatile uint64_t*>(stop_.data()) = 1;
}

void SectionBatch::wait() {
  if (stop_.bytes() == 0) return queue_->synchronize();
  bool is_stopped = false;
  queue_->synchronize_watching(*after_, [&] {
    if (task_.context.cancelled == nullptr || !*task_.context.cancelled) return;
    is_stopped = true;
    stop();
  });
  if (is_stopped) check_cancelled(task_.context);
}

// Waits for the kernel, and launches it again where it had too little room for strings.
void SectionBatch::launch_until_room() {
  do {
    wait();
    count_time();
    if (!text_room_.grow(engine_, *kernel_, control())) return;
    launch_with(capacity_);
  } while (true);
}

void SectionBatch::bring() {
  is_brought_ = true;
  bring_output();
  // For another batch's. An input of columns that stay is others', too.
  if (residency_ == Residency::Streamed) input_->copies = DeviceBuffer();
}

void SectionBatch::bring_output() {
  launch_until_room();
  if (has_failed()) return;
  if (kernel_->writes_rows()) {
    const auto rows = static_cast<int64_t>(control().rows_out);
    if (rows > capacity_ && (task_.wanted < 0 || capacity_ < task_.wanted)) {
      launch_with(rows);
      launch_until_room();
    }
    if (kernel_->sink == SectionKernel::Sink::Sort) sort_rows();
    if (kernel_->sink == SectionKernel::Sink::Rows)
      own_strings();
    else if (!fetch_)
      start_fetch();
    return;
  }
  for (const NumberedBatch& groups : numbered_) groups_found_.push_back(groups.read());
  for (PartitionBatch& partitions : partitions_) {
    while (partitions.group_again(*queue_)) queue_->synchronize();
    partitions.own_strings(*queue_);
  }
  if (kernel_->partial_words > 0) fetch_partials();
}

void SectionBatch::fetch_partials() {
  partials_.groups = static_cast<size_t>(groups_of_launches());
  partials_.words.assign(partials_report_.words(),
                         partials_report_.words() + partials_.groups * kernel_->partial_words);
  const HashTableInfo& table = task_.program.hash_tables[static_cast<size_t>(kernel_->hash_table)];
  const StatesLayout layout = layout_states(table, true);
  for (size_t i = 0; i < layout.aggregates.size(); ++i) {
    const StateLayout& state = layout.aggregates[i];
    if (state.kind != StateKind::Extreme || table.aggregates[i].argument.physical != PhysicalType::Text) continue;
    partials_.strings[i] =
        fetch_strings(engine_, *queue_, {partials_report_.address(), groups_of_launches(), kernel_->partial_words},
                      string_of_extreme(state.first_word));
  }
}

void SectionBatch::finish() {
  if (!fetch_) return;
  queue_->synchronize();
  rows_ = fetch_->finish();
}

void SectionBatch::raise_failure() const {
  const auto address = static_cast<size_t>((control().failure >> 32) - 1);
  raise_kernel_error(failure(), task_.program.instructions[address].position);
}

std::vector<DeviceAddress> SectionBatch::sort_words() const {
  std::vector<DeviceAddress> words;
  for (int64_t offset : sort_word_offsets_) words.push_back(outputs_buffer_.address() + offset);
  return words;
}

// Of a small limit the rows wanted are found before the host knows how many there are.
bool SectionBatch::finds_first_rows() const {
  return kernel_->sink == SectionKernel::Sink::Sort && capacity_ > 0 &&
         gpu::finds_first_rows(*kernel_, *sorted_set_of(task_.program, task_.address));
}

void SectionBatch::find_first_rows() {
  const std::vector<DeviceAddress> words = sort_words();
  const DeviceAddress rows = control_buffer_.address() + offsetof(ControlBlock, rows_out);
  fetch_.reset();
  sort_.emplace(engine_, *queue_)
      .find_first({words, rows, capacity_}, sorted_set_of(task_.program, task_.address)->limit);
}

// Leaves the rows where they are: start_fetch() brings them in their order.
void SectionBatch::sort_rows() {
  const std::vector<DeviceAddress> words = sort_words();
  const RowSetInfo& sorted = *sorted_set_of(task_.program, task_.address);
  if (finds_first_rows()) {
    sort_->cut(static_cast<int64_t>(control().rows_out));
    if (fetch_) fetch_->cut(sort_->rows());
    if (merges_sorted_) sort_->fetch_words(words);
    return;
  }
  if (is_timed()) before_ = queue_->record();
  std::vector<TextKey> texts;
  for (const SortText& text : kernel_->sort_texts)
    texts.push_back({text.word, outputs_[text.output].values, text.descending});
  const SortInput input{words, texts, static_cast<int64_t>(control().rows_out)};
  sort_.emplace(engine_, *queue_).sort(input, sorted.limit, task_.context);
  if (is_timed()) after_ = queue_->record();
  if (merges_sorted_) sort_->fetch_words(words);
  queue_->synchronize();
  count_time();
}

void SectionBatch::start_fetch() {
  const int64_t rows = sort_ ? sort_->rows() : std::min(static_cast<int64_t>(control().rows_out), capacity_);
  if (rows == 0) return;
  fetch_.emplace(engine_.device(), *queue_, rows, sort_ ? &*sort_ : nullptr, task_.context.budget);
  for (size_t i = 0; i < kernel_->outputs.size(); ++i) {
    const OutputColumn& column = kernel_->outputs[i];
    FetchedColumn from;
    from.column = column;
    from.values = outputs_[i].values;
    from.nulls = outputs_[i].nulls;
    if (column.dictionary_column >= 0)
      from.dictionary = input_->dictionaries[static_cast<size_t>(column.dictionary_column)];
    if (writes_to_host()) {
      queue_->count_in_place(0, rows * (column.width() + (column.nullable ? 1 : 0)));
      fetch_->keep(from, std::move(outputs_[i].pinned_values), std::move(outputs_[i].pinned_nulls));
    } else {
      fetch_->add(from);
    }
  }
  fetch_->start();
}

}  // namespace diptych::gpu
