#include "engine/gpu/join/built_index.h"

#include <algorithm>
#include <bit>
#include <span>

#include "base/error.h"
#include "engine/gpu/groups/group_launch.h"
#include "engine/gpu/input/segment_loader.h"
#include "engine/gpu/join/expected_matches.h"
#include "engine/gpu/join/joined_tablets.h"
#include "engine/gpu/output/text_fetch.h"
#include "engine/gpu/when_done.h"
#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

constexpr const char* build_file = "device/index_build.h";

// A dense index has at most so many places a row, or so many in any case. Each takes a bit, and four bytes that are
// only touched where there is a row.
constexpr int64_t most_places_a_row = 64, least_places = 4194304, most_places = int64_t{1} << 31;
// Chains of full slots are short up to this.
constexpr int64_t slots_a_row = 2, least_slots = 1024;
// Of the filter of a table: with two bits a row set, 2 % of the keys that are not there find theirs set.
constexpr int64_t filter_rows_a_word = 2, least_filter_words = 32;
// Words of a build's control, and of those that the host reads of it.
constexpr int64_t control_bytes = 12;
// Slots and rows are numbered by 32 bits.
constexpr int64_t most_rows = int64_t{1} << 30;
constexpr int32_t most_keys = 8;
// Of a build that is not waited for: four bytes a row stay with it.
constexpr int64_t most_left_rows = int64_t{1} << 20;

// As dk_index_key_words() knows them.
uint64_t key_form(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Int32: return 0;
    case PhysicalType::Int64: return 1;
    case PhysicalType::Bool: return 2;
    case PhysicalType::Float32: return 3;
    case PhysicalType::Float64: return 4;
    case PhysicalType::Text: return 6;
    default: return 5;
  }
}

int64_t key_words(PhysicalType physical) { return physical == PhysicalType::Int128 ? 2 : 1; }

bool may_be_dense(std::span<const RegisterInfo> keys) {
  return keys.size() == 1 && keys[0].has_range &&
         (keys[0].physical == PhysicalType::Int32 || keys[0].physical == PhysicalType::Int64);
}

// Places of such keys; -1: more than a number of 64 bits counts.
int64_t places_of(const RegisterInfo& key) {
  const int128_t places = key.high - key.low + 1;
  return places > INT64_MAX ? -1 : std::max<int64_t>(static_cast<int64_t>(places), 1);
}

}  // namespace

const BuiltIndex* index_on(const Device& device, const SectionTask& task, int32_t index) {
  if (task.indexes == nullptr) return nullptr;
  const auto built = task.indexes->find(index);
  if (built == task.indexes->end() || &built->second->device() != &device) return nullptr;
  return static_cast<const BuiltIndex*>(built->second.get());
}

double most_matches_of_a_row(const Device& device, const SectionTask& task) {
  double most = 1;
  for (const int32_t index : indexes_met(task.program, task.address))
    if (const BuiltIndex* built = index_on(device, task, index)) most *= static_cast<double>(built->most_matches());
  return most;
}

std::string why_not_built(const Program& program, int32_t index) {
  const IndexInfo& info = program.indexes[static_cast<size_t>(index)];
  const auto& columns = program.row_sets[static_cast<size_t>(info.row_set)].columns;
  if (info.keys > most_keys) return "an index of more than 8 keys";
  for (int32_t i = 0; i < info.keys; ++i) {
    const PhysicalType physical = columns[static_cast<size_t>(i)].physical;
    if (physical == PhysicalType::Interval) return "intervals as keys of an index";
  }
  return "";
}

std::string why_not_met(const Program& program, int32_t index) {
  std::string reason = why_not_built(program, index);
  for (size_t address = 0; reason.empty() && address < program.instructions.size(); ++address) {
    if (program.instructions[address].opcode != Opcode::Parallel) continue;
    const std::set<int32_t> met = indexes_met(program, static_cast<int32_t>(address));
    if (!met.contains(index)) continue;
    for (const int32_t other : met)
      if (reason.empty()) reason = why_not_built(program, other);
  }
  return reason;
}

std::string why_no_join(const Program& program, int32_t address) {
  std::set<int32_t> indexes = indexes_met(program, address);
  for (const Instruction& at : opcodes_of(program, address)) {
    if (at.opcode != Opcode::Append) continue;
    const RowSetInfo& row_set = program.row_sets[static_cast<size_t>(at.p1)];
    if (row_set.keys.empty() && is_cut(row_set)) return appends_cut;
    if (const int32_t index = index_over(program, at.p1); index >= 0) indexes.insert(index);
  }
  for (const int32_t index : indexes)
    if (std::string reason = why_not_met(program, index); !reason.empty()) return reason;
  return "";
}

void add_expected_indexes(const Program& program, int32_t address, SectionShape& shape) {
  for (const int32_t index : indexes_met(program, address)) {
    const IndexInfo& info = program.indexes[static_cast<size_t>(index)];
    const auto& columns = program.row_sets[static_cast<size_t>(info.row_set)].columns;
    if (!why_not_built(program, index).empty()) continue;
    IndexShape& expected = shape.indexes.emplace_back();
    expected.index = index;
    expected.has_keys = info.keys > 0;
    expected.is_unique = expected.has_keys || info.finds_one;
    expected.is_dense = expected.has_keys && may_be_dense({columns.data(), static_cast<size_t>(info.keys)}) &&
                        places_of(columns[0]) > 0 && places_of(columns[0]) <= least_places;
    expected.has_filter = expected.has_keys && !expected.is_dense && is_mostly_missed(program, index);
    expected.is_fetched = is_fetched(program, index);
    for (const RegisterInfo& column : columns) expected.has_nulls.push_back(column.nullable);
  }
}

std::shared_ptr<const BuiltIndex> BuiltIndex::build(GpuEngine& engine, const IndexTask& task, std::string& reason) {
  reason = why_not_built(task.program, task.index);
  if (reason.empty() && task.rows->row_count() > most_rows) reason = "an index of more rows than 30 bits can number";
  if (!reason.empty()) return nullptr;
  const std::shared_ptr<const void> entered = engine.device().enter();
  std::shared_ptr<BuiltIndex> built(new BuiltIndex(engine, task));
  built->queue_ = engine.take_queue(task.report);
  built->find_columns(*built->queue_, task.context.budget);
  const bool is_timed = task.report != nullptr;
  if (is_timed) built->begins_ = built->queue_->record();
  if (built->shape_.has_keys) built->insert(*built->queue_);
  built->queue_->report_to(nullptr);  // which ends before the index does
  if (is_timed || built->is_left()) built->is_there_ = built->queue_->record();
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
      info_(task.program.indexes[static_cast<size_t>(task.index)]),
      row_set_(task.program.row_sets[static_cast<size_t>(info_.row_set)]),
      rows_(task.rows),
      count_(rows_->row_count()) {
  shape_.index = task.index;
  shape_.has_keys = info_.keys > 0;
  shape_.is_fetched = is_fetched(task.program, task.index);
  if (shape_.has_keys) {
    choose_form(task.program);
  } else {
    span_ = static_cast<uint64_t>(count_);
    shape_.is_unique = info_.finds_one;
    most_matches_ = info_.finds_one ? 1 : std::max<int64_t>(count_, 1);
  }
}

std::span<const RegisterInfo> BuiltIndex::keys() const {
  return {row_set_.columns.data(), static_cast<size_t>(info_.keys)};
}

int64_t BuiltIndex::compared_words() const {
  int64_t words = 0;
  for (const RegisterInfo& key : keys()) words += key_words(key.physical);
  return words;
}

int64_t BuiltIndex::texts() const {
  return std::count_if(keys().begin(), keys().end(),
                       [](const RegisterInfo& key) { return key.physical == PhysicalType::Text; });
}

void BuiltIndex::choose_form(const Program& program) {
  const int64_t places = may_be_dense(keys()) ? places_of(keys()[0]) : -1;
  shape_.is_dense = places > 0 && places <= std::clamp(most_places_a_row * count_, least_places, most_places);
  if (shape_.is_dense) {
    low_ = static_cast<uint64_t>(static_cast<int64_t>(keys()[0].low));
    span_ = static_cast<uint64_t>(places);
  } else {
    const auto bits_of = [](int64_t least) {
      return static_cast<uint64_t>(std::countr_zero(std::bit_ceil(static_cast<uint64_t>(least))));
    };
    span_ = bits_of(std::max(slots_a_row * count_, least_slots));
    shape_.has_filter = is_mostly_missed(program, shape_.index);
    filter_bits_ = bits_of(std::max(count_ / filter_rows_a_word, least_filter_words));
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
      values_.back() = (segment.address() + tablet.data).value;
      if (is_text) heaps_.back() = (segment.address() + tablet.heap).value;
      if (tablet.validity >= 0) validity_.back() = (segment.address() + tablet.validity).value;
    }
    shape_.has_nulls.push_back(validity_.back() != 0);
  }
}

std::shared_ptr<const ColumnSegment> BuiltIndex::copied(const TabletSource& rows, size_t column, Queue& queue) const {
  SegmentLoader loader(rows, 0, 1, column);
  return loader.load(engine_.device().allocate(loader.bytes(), "rows of an index"), engine_.device(), queue);
}

DeviceBuffer BuiltIndex::make_keys(Queue& queue) const {
  const int64_t words = compared_words() + texts();
  DeviceBuffer made = engine_.device().allocate(std::max<int64_t>(count_ * words * 8, 8), "keys of an index");
  std::vector<uint64_t> parameters = {static_cast<uint64_t>(count_), made.address().value, static_cast<uint64_t>(words),
                                      keys().size()};
  auto word = uint64_t{0}, text = static_cast<uint64_t>(compared_words() - texts());
  for (size_t i = 0; i < keys().size(); ++i) {
    const PhysicalType physical = keys()[i].physical;
    const bool is_text = physical == PhysicalType::Text;
    parameters.insert(parameters.end(), {values_[i], key_form(physical), is_text ? text : word, heaps_[i],
                                         is_text ? text + static_cast<uint64_t>(texts()) : 0});
    if (is_text)
      ++text;
    else
      word += static_cast<uint64_t>(key_words(physical));
  }
  launch_text_kernel(engine_.device(), queue, build_file, "dk_index_keys", count_, parameters);
  return made;
}

// Zeroed, but for places that lead to rows: bits tell which of them do.
void BuiltIndex::allocate(Queue& queue) {
  Device& device = engine_.device();
  const int64_t slots = slot_count();
  int64_t bytes = padded(control_bytes);
  const auto take = [&bytes](int64_t wanted) { return std::exchange(bytes, bytes + padded(wanted)); };
  const int64_t table = take(shape_.is_dense ? (slots + 31) / 32 * 4 : slots * 4);
  const int64_t filter = shape_.has_filter ? take(int64_t{4} << filter_bits_) : 0;
  cleared_ = device.allocate(bytes, shape_.is_dense ? "bits of an index" : "slots of an index");
  queue.fill(cleared_.address(), 0, bytes);
  control_ = cleared_.address();
  (shape_.is_dense ? bits_ : slots_) = cleared_.address() + table;
  if (filter > 0) filter_ = cleared_.address() + filter;
  if (!shape_.is_dense || !shape_.is_fetched) return;
  places_ = device.allocate(slots * 4, "places of an index");
  slots_ = places_.address();
}

// Whether its build need not be waited for: what that uses besides stays as long as the index.
bool BuiltIndex::is_left() const { return shape_.has_keys && (count_ == 0 || finds_one()) && count_ <= most_left_rows; }

void BuiltIndex::insert(Queue& queue) {
  Device& device = engine_.device();
  slots_of_rows_ = device.allocate(std::max<int64_t>(count_, 1) * 4, "slots of rows");
  allocate(queue);
  if (count_ == 0) return;
  if (!shape_.is_dense) keys_ = make_keys(queue);
  std::vector<uint64_t> parameters = {static_cast<uint64_t>(count_),
                                      bits_.value,
                                      slots_.value,
                                      span_,
                                      low_,
                                      values_[0],
                                      key_form(keys()[0].physical),
                                      keys_.address().value,
                                      static_cast<uint64_t>(compared_words() | texts() << 32),
                                      filter_.value,
                                      filter_bits_,
                                      slots_of_rows_.address().value,
                                      control_.value,
                                      keys().size()};
  for (size_t i = 0; i < keys().size(); ++i) parameters.push_back(validity_[i]);
  launch_text_kernel(device, queue, build_file, "dk_index_insert", count_, parameters);
  shape_.is_unique = finds_one();
  if (is_left()) return;
  const PinnedBuffer report = device.allocate_pinned(control_bytes, "control words of an index");
  const WhenDone when_done{queue};
  queue.copy_to_host(report.data(), control_, control_bytes);
  queue.synchronize();
  const auto* seen = reinterpret_cast<const uint32_t*>(report.data());
  check_invariant(seen[1] == 0, "the keys of an index lie within their proven range");
  shape_.is_unique |= seen[0] == 0;
  if (!shape_.is_unique) place(queue, report);
  slots_of_rows_ = DeviceBuffer();
}

void BuiltIndex::place(Queue& queue, const PinnedBuffer& report) {
  Device& device = engine_.device();
  places_ = DeviceBuffer();
  if (shape_.is_dense) slots_ = {};
  // With the end behind them, once they are starts.
  starts_ = device.allocate((slot_count() + 1) * 4, "counts of an index");
  if (shape_.is_fetched) by_key_ = device.allocate(count_ * 4, "rows of an index");
  const DeviceBuffer ranks = device.allocate(count_ * 4, "ranks of rows");
  const DeviceBuffer state = device.allocate(starts_state_bytes(slot_count()), "starts of an index");
  const WhenDone when_done{queue};
  const auto rows = static_cast<uint64_t>(count_);
  queue.fill(starts_.address(), 0, (slot_count() + 1) * 4);
  launch_text_kernel(
      device, queue, build_file, "dk_index_rank", count_,
      {rows, slots_of_rows_.address().value, starts_.address().value, ranks.address().value, control_.value});
  queue.copy_to_host(report.data(), control_, control_bytes);
  launch_starts(engine_, queue, starts_.address(), slot_count(), state.address());
  if (shape_.is_fetched)
    launch_text_kernel(device, queue, build_file, "dk_index_place", count_,
                       {rows, slots_of_rows_.address().value, ranks.address().value, starts_.address().value,
                        by_key_.address().value});
  queue.synchronize();
  most_matches_ = int64_t{reinterpret_cast<const uint32_t*>(report.data())[2]} + 1;
  shape_.has_long_lists = most_matches_ > most_own_matches;
}

FormProfile BuiltIndex::form() const {
  return {.form = !shape_.has_keys ? "rows" : shape_.is_dense ? "dense" : "table"};
}

uint64_t BuiltIndex::word(int32_t part) const {
  switch (static_cast<IndexPart>(part)) {
    case IndexPart::Bits: return bits_.value;
    case IndexPart::Slots: return slots_.value;
    case IndexPart::Span: return span_;
    case IndexPart::Low: return low_;
    case IndexPart::Keys: return keys_.address().value;
    case IndexPart::Filter: return filter_.value;
    case IndexPart::FilterBits: return filter_bits_;
    case IndexPart::Starts: return starts_.address().value;
    case IndexPart::Rows: return by_key_.address().value;
    default: break;
  }
  const auto at = static_cast<size_t>(part - static_cast<int32_t>(IndexPart::FirstColumn));
  const std::vector<uint64_t>* const parts[] = {&values_, &validity_, &heaps_};
  return (*parts[at % 3])[at / 3];
}

}  // namespace diptych::gpu
