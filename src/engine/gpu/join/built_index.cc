#include "engine/gpu/join/built_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/error.h"
#include "engine/device/stop_check.h"
#include "engine/gpu/groups/group_launch.h"
#include "engine/gpu/input/segment_loader.h"
#include "engine/gpu/join/index_record.h"
#include "engine/gpu/join/joined_tablets.h"
#include "engine/gpu/output/text_fetch.h"
#include "engine/gpu/when_done.h"
#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

constexpr const char* build_file = "device/index_build.h";

// Chains of full slots are short up to this.
constexpr int64_t slots_a_row = 2, least_slots = 1024;
// Of the filter of a table: with two bits a row set, 2 % of the keys that are not there find theirs set.
constexpr int64_t filter_rows_a_word = 2, least_filter_words = 32;
// Of a launch: a row is few instructions, but waits for memory several times.
constexpr int64_t groups_per_unit = 8;
// Rows of a launch, so that a statement that builds is cancelled soon: the host's cores take 0.1 us for a row where all
// have one key.
constexpr int64_t most_rows_of_a_launch = int64_t{1} << 26, most_rows_of_a_launch_of_a_host = int64_t{1} << 19;
// A build's control, and where it has the rows of the key that has most.
constexpr int64_t control_bytes = 12, most_rows_at = 8;
// Slots and rows are numbered by 32 bits.
constexpr int64_t most_rows = int64_t{1} << 30;

// Forms of keys and fields, as kernel/device/index_build.h has them.
enum FieldForm : uint64_t {
  Float32Form = 3,
  Float64Form = 4,
  HalfForm = 5,
  TextForm = 6,
  UpperForm = 7,
  AddressForm = 8,
  LengthForm = 9,
  OffsetForm = 10,
  IsThereForm = 11,
  KeyFloat32Form = 12,
  KeyFloat64Form = 13
};
// Words of the parameters of its kernels.
constexpr size_t key_fields_at = 17, fields_at = 18;

uint64_t form_of(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Int32: return 0;
    case PhysicalType::Int64: return 1;
    case PhysicalType::Bool: return 2;
    case PhysicalType::Float32: return Float32Form;
    case PhysicalType::Float64: return Float64Form;
    case PhysicalType::Text: return TextForm;
    default: return HalfForm;
  }
}

// Of a key as a field of its row.
uint64_t key_form_of(uint64_t form) {
  switch (form) {
    case Float32Form: return KeyFloat32Form;
    case Float64Form: return KeyFloat64Form;
    case TextForm: return OffsetForm;
    default: return form;
  }
}

// Adds a field of up to 8 bytes from a bit on.
void add_field(std::vector<uint64_t>& words, size_t counted_at, std::array<uint64_t, 3> from, uint64_t form, int width,
               int bit) {
  constexpr int word_bits = 64;
  const uint64_t place = static_cast<uint64_t>(bit % word_bits) << 16 | static_cast<uint64_t>(bit / word_bits) << 24;
  words.insert(words.end(), {from[0], from[1], from[2], form | static_cast<uint64_t>(width) << 8 | place});
  ++words[counted_at];
}

// Of the number of slots or words that are enough for so many.
uint64_t bits_for(int64_t least) {
  return static_cast<uint64_t>(std::countr_zero(std::bit_ceil(static_cast<uint64_t>(least))));
}

// A launch's words are as many as one of a few kernels has.
size_t parameter_words(size_t needed) { return needed <= 32 ? 32 : needed <= 64 ? 64 : most_parameter_words; }

}  // namespace

BuiltIndex* index_on(const Device& device, const SectionTask& task, int32_t index) {
  if (task.indexes == nullptr) return nullptr;
  const auto built = task.indexes->find(index);
  if (built == task.indexes->end() || &built->second->device() != &device) return nullptr;
  return static_cast<BuiltIndex*>(built->second.get());
}

bool has_guessed_wrong(const Device& device, const SectionTask& task) {
  return std::ranges::any_of(indexes_met(task.program, task.address), [&](int32_t index) {
    BuiltIndex* built = index_on(device, task, index);
    return built != nullptr && built->has_guessed_wrong();
  });
}

bool correct_guesses(const Device& device, const SectionTask& task) {
  bool any = false;
  for (const int32_t index : indexes_met(task.program, task.address)) {
    BuiltIndex* built = index_on(device, task, index);
    if (built == nullptr || !built->has_guessed_wrong()) continue;
    built->build_again();
    any = true;
  }
  return any;
}

double most_matches_of_a_row(const Device& device, const SectionTask& task) {
  double most = 1;
  for (const int32_t index : indexes_met(task.program, task.address))
    if (const BuiltIndex* built = index_on(device, task, index)) most *= static_cast<double>(built->most_matches());
  return most;
}

std::shared_ptr<BuiltIndex> BuiltIndex::build(GpuEngine& engine, const IndexTask& task, std::string& reason) {
  reason = why_not_built(task.program, task.index);
  if (reason.empty() && task.rows->row_count() > most_rows) reason = "an index of more rows than 30 bits can number";
  if (!reason.empty()) return nullptr;
  const std::shared_ptr<const void> entered = engine.device().enter();
  std::shared_ptr<BuiltIndex> built(new BuiltIndex(engine, task));
  built->queue_ = engine.take_queue(task.report);
  built->find_columns(*built->queue_, task.context.budget);
  if (built->shape_.has_keys) built->insert(*built->queue_);
  built->queue_->report_to(nullptr);  // which ends before the index does
  if (built->is_there_ == nullptr) built->note_end(*built->queue_);
  if (built->is_left()) return built;
  built->kernel_nanoseconds_ = built->kernel_nanoseconds();
  built->is_there_.reset();
  engine.give_back(std::move(built->queue_));
  return built;
}

int64_t BuiltIndex::kernel_nanoseconds() const {
  if (begins_ == nullptr || queue_ == nullptr) return kernel_nanoseconds_;
  try {
    queue_->synchronize();
    return std::max<int64_t>(queue_->nanoseconds_between(*begins_, *is_there_), 0);
  } catch (const Error&) {
    return 0;  // the sections that meet it report that
  }
}

// Nothing may be freed that the device still works with.
BuiltIndex::~BuiltIndex() {
  if (queue_ == nullptr) return;
  try {
    queue_->synchronize();
    engine_.give_back(std::move(queue_));
  } catch (const Error&) {
    // The sections that meet it report that; the queue is dropped.
  }
}

BuiltIndex::BuiltIndex(GpuEngine& engine, const IndexTask& task)
    : engine_(engine),
      program_(task.program),
      info_(task.program.indexes[static_cast<size_t>(task.index)]),
      row_set_(task.program.row_sets[static_cast<size_t>(info_.row_set)]),
      rows_(task.rows),
      count_(rows_->row_count()),
      is_timed_(task.report != nullptr),
      shape_(planned_index(task.program, task.index, count_, info_.repeat)),
      layout_(record_layout(task.program, task.index)) {
  if (!shape_.has_keys) {
    span_ = static_cast<uint64_t>(count_);
    most_matches_ = info_.finds_one ? 1 : std::max<int64_t>(count_, 1);
  } else if (shape_.is_dense) {
    low_ = static_cast<uint64_t>(static_cast<int64_t>(row_set_.columns[0].low));
    span_ = static_cast<uint64_t>(places_of(program_, task.index));
  } else {
    span_ = bits_for(std::max(slots_a_row * count_, least_slots));
    row_bits_ = static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(count_)));
    filter_bits_ = bits_for(std::max(count_ / filter_rows_a_word, least_filter_words));
  }
}

void BuiltIndex::find_columns(Queue& queue, MemoryBudget* budget) {
  const DeviceRowSet* there = rows_on(engine_.device(), *rows_);
  const bool is_one = there != nullptr && rows_->tablet_count() == 1;
  const JoinedTablets joined(*rows_, budget);
  for (size_t i = 0; i < row_set_.columns.size(); ++i) {
    values_.push_back(0);
    validity_.push_back(0);
    heaps_.push_back(0);
    if (count_ > 0) {
      const bool is_text = row_set_.columns[i].physical == PhysicalType::Text;
      // Strings as codes are made strings on the way.
      const bool is_there = is_one && (!is_text || there->form(0, i).encoding == Encoding::Heap);
      columns_.push_back(is_there ? there->segment(0, i) : copied(joined, i, queue));
      const ColumnSegment& segment = *columns_.back();
      const SegmentTablet& tablet = segment.tablets().front();
      const DeviceAddress start = segment.address_of(0);
      values_.back() = (start + tablet.data).value;
      if (is_text) heaps_.back() = (start + tablet.heap).value;
      if (tablet.validity >= 0) validity_.back() = (start + tablet.validity).value;
    }
    shape_.has_nulls[i] = validity_.back() != 0;
  }
}

std::shared_ptr<const ColumnSegment> BuiltIndex::copied(const TabletSource& rows, size_t column, Queue& queue) const {
  Device& device = engine_.device();
  SegmentLoader loader(rows, 0, 1, column, ColumnSegment::Place::Device);
  const auto memory = std::make_shared<SegmentMemory>(device.allocate(loader.bytes(), "rows of an index"));
  return loader.load(memory, device, queue);
}

void BuiltIndex::allocate() {
  Device& device = engine_.device();
  const int64_t slots = slot_count();
  const bool is_dense = shape_.is_dense, is_unique = shape_.is_unique;
  control_ = bits_ = slots_ = filter_ = counts_ = records_ = row_numbers_ = DeviceAddress();
  int64_t bytes = padded(control_bytes);
  const auto take = [&bytes](int64_t wanted) { return std::exchange(bytes, bytes + padded(wanted)); };
  const bool has_bits = is_dense && is_unique && !(shape_.is_full && !shape_.is_guessed);
  const int64_t bits = has_bits ? take((slots + 31) / 32 * 4) : 0, table = is_dense ? 0 : take(slots * 4);
  // With the end behind them, once they are starts.
  const int64_t counts = is_unique ? 0 : take((slots + 1) * 4);
  const int64_t filter = shape_.has_filter ? take(int64_t{4} << filter_bits_) : 0;
  for (DeviceBuffer* one : {&cleared_, &places_, &keys_, &by_key_, &ranks_}) *one = DeviceBuffer();
  cleared_ = device.allocate(bytes, is_dense ? "bits of an index" : "slots of an index");
  control_ = cleared_.address();
  if (bits > 0) bits_ = cleared_.address() + bits;
  if (table > 0) slots_ = cleared_.address() + table;
  if (counts > 0) counts_ = cleared_.address() + counts;
  if (filter > 0) filter_ = cleared_.address() + filter;
  const int64_t rows = std::max<int64_t>(count_, 1), record_bytes = shape_.record_bytes;
  if (!is_dense) keys_ = device.allocate(rows * shape_.key_bytes, "keys of an index");
  if (!is_unique) ranks_ = device.allocate(rows * 8, "ranks of rows");
  if (!shape_.is_fetched) return;
  if (is_dense && is_unique && !shape_.is_direct) {
    places_ = device.allocate(slots * 4, "places of an index");
    slots_ = places_.address();
  }
  if (!is_dense && is_unique) {
    if (record_bytes > 0) records_ = keys_.address();
    return;
  }
  if (is_unique && record_bytes == 0) return;
  by_key_ = device.allocate((shape_.is_direct ? slots : rows) * std::max<int64_t>(record_bytes, 4), "rows of an index");
  (record_bytes > 0 ? records_ : row_numbers_) = by_key_.address();
}

std::vector<uint64_t> BuiltIndex::parameters() const {
  std::vector<uint64_t> words = {0,  // rows of a launch
                                 bits_.value,
                                 slots_.value,
                                 span_,
                                 low_,
                                 row_bits_,
                                 keys_.address().value,
                                 static_cast<uint64_t>(shape_.key_bytes),
                                 filter_.value,
                                 filter_bits_,
                                 (ranks_.address() + count_ * 4).value,
                                 control_.value,
                                 counts_.value,
                                 ranks_.address().value,
                                 row_numbers_.value,
                                 records_.value,
                                 static_cast<uint64_t>(shape_.record_bytes),
                                 0,
                                 0,
                                 static_cast<uint64_t>(info_.keys)};
  for (const bool texts : {false, true})
    for (size_t i = 0; i < static_cast<size_t>(info_.keys); ++i) {
      const uint64_t form = form_of(row_set_.columns[i].physical);
      if ((form == TextForm) == texts) words.insert(words.end(), {values_[i], validity_[i], form, heaps_[i]});
    }
  add_keys(words);
  if (shape_.record_bytes > 0) add_fields(words);
  check_invariant(words.size() <= most_parameter_words, "an index has no more fields than its kernels take");
  words.resize(parameter_words(words.size()), 0);
  return words;
}

void BuiltIndex::add_keys(std::vector<uint64_t>& words) const {
  for (size_t i = 0; i < shape_.key_fields.size(); ++i) {
    const IndexShape::Field& field = shape_.key_fields[i];
    const uint64_t form = form_of(row_set_.columns[i].physical);
    add_field(words, key_fields_at, {values_[i], heaps_[i], 0}, key_form_of(form), std::min(field.width, 8),
              field.at * 8);
    if (field.width > 8) add_field(words, key_fields_at, {values_[i], 0, 0}, UpperForm, 8, field.at * 8 + 64);
  }
}

// In the order of their words: those of 16 bytes are two.
void BuiltIndex::add_fields(std::vector<uint64_t>& words) const {
  for (const size_t column : layout_.columns()) {
    const IndexShape::Field& field = shape_.fields[column];
    const uint64_t form = form_of(row_set_.columns[column].physical), values = values_[column];
    const bool is_text = form == TextForm;
    const auto low = static_cast<uint64_t>(layout_.field(column).low);
    add_field(words, fields_at, {values, heaps_[column], low}, is_text ? uint64_t{AddressForm} : form,
              std::min(field.width, 8), field.at * 8);
    if (field.width > 8)
      add_field(words, fields_at, {values, 0, 0}, is_text ? LengthForm : UpperForm, 8, field.at * 8 + 64);
  }
  for (const size_t column : layout_.columns())
    if (validity_[column] != 0)
      add_field(words, fields_at, {validity_[column], 0, 0}, IsThereForm, 1, shape_.fields[column].null_bit);
}

BuiltIndex::BuildKernel BuiltIndex::find_kernel(const Queue& queue, const char* entry) const {
  BuildKernel found{parameters(), nullptr};
  const PartScope scope(queue.clock(), TimePart::Compile);
  found.kernel = engine_.device().compile(text_kernel(build_file, entry, found.words.size()));
  return found;
}

BuiltIndex::BuildKernel BuiltIndex::find_insert_kernel(const Queue& queue) const {
  return find_kernel(queue, shape_.is_dense ? "dk_index_insert_places" : "dk_index_insert_slots");
}

void BuiltIndex::launch(Queue& queue, const BuildKernel& build) const {
  const DeviceInfo& device = engine_.device().info();
  const int64_t most_groups = std::max(1, device.compute_units) * groups_per_unit;
  const int64_t most = device.is_host ? most_rows_of_a_launch_of_a_host : most_rows_of_a_launch;
  std::vector<uint64_t> words = build.words;
  for (int64_t first = 0; first < count_; first += most) {
    if (const StopCheck* stop = StopCheck::here(); stop != nullptr && first > 0) {
      queue.synchronize();
      stop->ask();
    }
    const int64_t rows = std::min(count_ - first, most);
    words[0] = static_cast<uint64_t>(first) | static_cast<uint64_t>(first + rows) << 32;
    queue.launch(*build.kernel, std::min((rows + group_size - 1) / group_size, most_groups), group_size, words);
  }
}

void BuiltIndex::begin(Queue& queue) {
  if (is_timed_ && begins_ == nullptr) begins_ = queue.record();
  queue.fill(cleared_.address(), 0, cleared_.bytes());
}

void BuiltIndex::insert(Queue& queue) {
  if (!shape_.is_unique) return insert_repeated(queue);
  allocate();
  if (count_ == 0) return begin(queue);
  const BuildKernel inserts = find_insert_kernel(queue);
  begin(queue);
  launch(queue, inserts);
  note_end(queue);
  if (is_left() || !has_repeated_keys(queue)) return;
  repeat_keys();
  insert_repeated(queue);
}

// Lays the rows out key by key.
void BuiltIndex::insert_repeated(Queue& queue) {
  Device& device = engine_.device();
  allocate();
  if (count_ == 0) return begin(queue);
  const BuildKernel inserts = find_insert_kernel(queue);
  const BuildKernel places = shape_.is_fetched ? find_kernel(queue, "dk_index_place") : BuildKernel();
  const DeviceBuffer state = device.allocate(starts_state_bytes(slot_count()), "starts of an index");
  const PinnedBuffer report = device.allocate_pinned(control_bytes, "control words of an index");
  const WhenDone when_done{queue};
  begin(queue);
  launch(queue, inserts);
  launch_starts(engine_, queue, counts_, slot_count(), state.address(), control_ + most_rows_at);
  queue.copy_to_host(report.data(), control_, control_bytes);
  if (shape_.is_fetched) launch(queue, places);
  note_end(queue);
  queue.synchronize();
  const auto* seen = reinterpret_cast<const uint32_t*>(report.data());
  check_invariant(seen[1] == 0, "the keys of an index lie within their proven range");
  most_matches_ = std::max<int64_t>(seen[most_rows_at / 4], 1);
  shape_.has_long_lists = most_matches_ > most_own_matches;
  ranks_ = DeviceBuffer();
}

void BuiltIndex::note_end(Queue& queue) {
  if (begins_ != nullptr || is_left()) is_there_ = queue.record();
}

bool BuiltIndex::has_repeated_keys(Queue& queue) const {
  const PinnedBuffer report = engine_.device().allocate_pinned(control_bytes, "control words of an index");
  const WhenDone when_done{queue};
  queue.copy_to_host(report.data(), control_, control_bytes);
  queue.synchronize();
  const auto* seen = reinterpret_cast<const uint32_t*>(report.data());
  check_invariant(seen[1] == 0, "the keys of an index lie within their proven range");
  return seen[0] != 0;
}

// From now on several rows may share a key.
void BuiltIndex::repeat_keys() {
  shape_ = planned_index(program_, shape_.index, count_, KeysRepeat::Often);
  for (size_t i = 0; i < validity_.size(); ++i) shape_.has_nulls[i] = validity_[i] != 0;
}

bool BuiltIndex::has_guessed_wrong() { return shape_.is_guessed && count_ > 0 && has_repeated_keys(*queue_); }

void BuiltIndex::build_again() {
  const std::shared_ptr<const void> entered = engine_.device().enter();
  repeat_keys();
  insert_repeated(*queue_);
}

FormProfile BuiltIndex::form() const {
  return {.form = !shape_.has_keys ? "rows" : shape_.is_dense ? "dense" : "table"};
}

uint64_t BuiltIndex::word(int32_t part) const {
  switch (static_cast<IndexPart>(part)) {
    case IndexPart::Control: return control_.value;
    case IndexPart::Bits: return bits_.value;
    case IndexPart::Slots: return slots_.value;
    case IndexPart::Span: return span_;
    case IndexPart::Low: return low_;
    case IndexPart::Keys: return keys_.address().value;
    case IndexPart::RowBits: return row_bits_;
    case IndexPart::Filter: return filter_.value;
    case IndexPart::FilterBits: return filter_bits_;
    case IndexPart::Starts: return counts_.value;
    case IndexPart::Rows: return row_numbers_.value;
    case IndexPart::Records: return records_.value;
    default: break;
  }
  const int32_t at = part - static_cast<int32_t>(IndexPart::FirstColumn);
  const auto column = static_cast<size_t>(at / index_column_parts);
  switch (at % index_column_parts) {
    case 0: return values_[column];
    case 1: return validity_[column];
    case 2: return heaps_[column];
    default: return static_cast<uint64_t>(layout_.field(column).low);
  }
}

}  // namespace diptych::gpu
