#include "engine/gpu/join/built_index.h"

#include <algorithm>
#include <bit>
#include <span>

#include "base/error.h"
#include "engine/gpu/groups/group_launch.h"
#include "engine/gpu/output/text_fetch.h"
#include "engine/gpu/when_done.h"
#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

constexpr const char* build_file = "device/index_build.h";

// A dense index has a slot for each of at most so many places a row, or so many in any case: 4 bytes each, where the
// table has 8 and the key's words beside them.
constexpr int64_t most_places_a_row = 8, least_places = 262144;
// Chains of full slots are short up to this.
constexpr int64_t slots_a_row = 2, least_slots = 1024;
// Slots and rows are numbered by 32 bits.
constexpr int64_t most_rows = int64_t{1} << 30;
constexpr int32_t most_keys = 8;

// As dk_index_key_words() knows them.
uint64_t key_form(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Int32: return 0;
    case PhysicalType::Int64: return 1;
    case PhysicalType::Bool: return 2;
    case PhysicalType::Float32: return 3;
    case PhysicalType::Float64: return 4;
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

std::string why_not_built(const Program& program, int32_t index) {
  const IndexInfo& info = program.indexes[static_cast<size_t>(index)];
  const auto& columns = program.row_sets[static_cast<size_t>(info.row_set)].columns;
  if (info.keys == 0) return "pairs of rows without a key";
  if (info.keys > most_keys) return "an index of more than 8 keys";
  for (int32_t i = 0; i < info.keys; ++i) {
    const PhysicalType physical = columns[static_cast<size_t>(i)].physical;
    if (physical == PhysicalType::Text) return "strings as keys of an index";
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

void add_expected_indexes(const Program& program, int32_t address, SectionShape& shape) {
  for (const int32_t index : indexes_met(program, address)) {
    const IndexInfo& info = program.indexes[static_cast<size_t>(index)];
    const auto& columns = program.row_sets[static_cast<size_t>(info.row_set)].columns;
    if (!why_not_built(program, index).empty()) continue;
    IndexShape& expected = shape.indexes.emplace_back();
    expected.index = index;
    expected.is_dense = may_be_dense({columns.data(), static_cast<size_t>(info.keys)}) && places_of(columns[0]) > 0 &&
                        places_of(columns[0]) <= least_places;
    for (const RegisterInfo& column : columns) expected.has_nulls.push_back(column.nullable);
  }
}

std::shared_ptr<const BuiltIndex> BuiltIndex::build(GpuEngine& engine, const Program& program, int32_t index,
                                                    std::shared_ptr<const TabletSource> rows, std::string& reason) {
  reason = why_not_built(program, index);
  if (reason.empty() && rows->row_count() > most_rows) reason = "an index of more rows than 30 bits can number";
  if (reason.empty() && rows->tablet_count() > 1) reason = "an index of rows in several pieces";
  if (!reason.empty()) return nullptr;
  std::shared_ptr<BuiltIndex> built(new BuiltIndex(engine, program, index, std::move(rows)));
  std::unique_ptr<Queue> queue = engine.take_queue(nullptr);
  built->insert(*queue);
  engine.give_back(std::move(queue));
  return built;
}

BuiltIndex::BuiltIndex(GpuEngine& engine, const Program& program, int32_t index,
                       std::shared_ptr<const TabletSource> rows)
    : engine_(engine),
      info_(program.indexes[static_cast<size_t>(index)]),
      row_set_(program.row_sets[static_cast<size_t>(info_.row_set)]),
      rows_(std::move(rows)),
      count_(rows_->row_count()) {
  shape_.index = index;
  choose_form();
  find_columns();
}

std::span<const RegisterInfo> BuiltIndex::keys() const {
  return {row_set_.columns.data(), static_cast<size_t>(info_.keys)};
}

int64_t BuiltIndex::words_of_keys() const {
  int64_t words = 0;
  for (const RegisterInfo& key : keys()) words += key_words(key.physical);
  return words;
}

void BuiltIndex::choose_form() {
  const int64_t places = may_be_dense(keys()) ? places_of(keys()[0]) : -1;
  shape_.is_dense = places > 0 && places <= std::max(least_places, most_places_a_row * count_);
  if (shape_.is_dense) {
    low_ = static_cast<uint64_t>(static_cast<int64_t>(keys()[0].low));
    span_ = static_cast<uint64_t>(places);
  } else {
    const auto least = static_cast<uint64_t>(std::max(slots_a_row * count_, least_slots));
    span_ = static_cast<uint64_t>(std::countr_zero(std::bit_ceil(least)));
  }
}

void BuiltIndex::find_columns() {
  const DeviceRowSet* there = rows_on(engine_.device(), *rows_);
  check_invariant(there != nullptr, "a device builds indexes over rows that it has");
  for (size_t i = 0; i < row_set_.columns.size(); ++i) {
    values_.push_back(0);
    validity_.push_back(0);
    if (count_ > 0) {
      const auto segment = there->segment(0, i);
      const SegmentTablet& tablet = segment->tablets().front();
      values_.back() = (segment->address() + tablet.data).value;
      if (tablet.validity >= 0) validity_.back() = (segment->address() + tablet.validity).value;
    }
    shape_.has_nulls.push_back(validity_.back() != 0);
  }
}

DeviceBuffer BuiltIndex::make_keys(Queue& queue) const {
  const int64_t words = words_of_keys();
  DeviceBuffer made = engine_.device().allocate(std::max<int64_t>(count_ * words * 8, 8), "keys of an index");
  std::vector<uint64_t> parameters = {static_cast<uint64_t>(count_), made.address().value, static_cast<uint64_t>(words),
                                      keys().size()};
  for (size_t i = 0; i < keys().size(); ++i) {
    parameters.push_back(values_[i]);
    parameters.push_back(key_form(keys()[i].physical));
  }
  launch_text_kernel(engine_.device(), queue, build_file, "dk_index_keys", count_, parameters);
  return made;
}

void BuiltIndex::insert(Queue& queue) {
  Device& device = engine_.device();
  const int64_t slots = slot_count();
  slots_ = device.allocate(slots * 4, "slots of an index");
  // With the end behind them, once they are starts.
  DeviceBuffer counts = device.allocate((slots + 1) * 4, "counts of an index");
  const DeviceBuffer ranks = device.allocate(std::max<int64_t>(count_, 1) * 8, "ranks of rows");
  const DeviceBuffer control = device.allocate(8, "control words of an index");
  const PinnedBuffer report = device.allocate_pinned(8, "control words of an index");
  const WhenDone when_done{queue};
  queue.fill(slots_.address(), 0, slots * 4);
  if (count_ == 0) return;
  queue.fill(counts.address(), 0, (slots + 1) * 4);
  queue.fill(control.address(), 0, 8);
  if (!shape_.is_dense) keys_ = make_keys(queue);
  std::vector<uint64_t> parameters = {static_cast<uint64_t>(count_),
                                      slots_.address().value,
                                      span_,
                                      low_,
                                      shape_.is_dense ? 0 : keys_.address().value,
                                      static_cast<uint64_t>(words_of_keys()),
                                      counts.address().value,
                                      ranks.address().value,
                                      (ranks.address() + count_ * 4).value,
                                      control.address().value,
                                      values_[0],
                                      key_form(keys()[0].physical),
                                      keys().size()};
  for (size_t i = 0; i < keys().size(); ++i) parameters.push_back(validity_[i]);
  launch_text_kernel(device, queue, build_file, "dk_index_insert", count_, parameters);
  queue.copy_to_host(report.data(), control.address(), 8);
  queue.synchronize();
  const auto* seen = reinterpret_cast<const uint32_t*>(report.data());
  check_invariant(seen[1] == 0, "the keys of an index lie within their proven range");
  if (!info_.finds_one) most_matches_ = int64_t{seen[0]} + 1;
  shape_.is_unique = most_matches_ == 1;
  if (!shape_.is_unique) place(queue, std::move(counts), ranks);
}

void BuiltIndex::place(Queue& queue, DeviceBuffer counts, const DeviceBuffer& ranks) {
  Device& device = engine_.device();
  starts_ = std::move(counts);
  by_key_ = device.allocate(count_ * 4, "rows of an index");
  const DeviceBuffer state = device.allocate(starts_state_bytes(slot_count()), "starts of an index");
  const WhenDone when_done{queue};
  launch_starts(engine_, queue, starts_.address(), slot_count(), state.address());
  launch_text_kernel(device, queue, build_file, "dk_index_place", count_,
                     {static_cast<uint64_t>(count_), ranks.address().value, (ranks.address() + count_ * 4).value,
                      starts_.address().value, by_key_.address().value});
}

FormProfile BuiltIndex::form() const { return {.form = shape_.is_dense ? "dense" : "table"}; }

uint64_t BuiltIndex::word(int32_t part) const {
  switch (static_cast<IndexPart>(part)) {
    case IndexPart::Slots: return slots_.address().value;
    case IndexPart::Span: return span_;
    case IndexPart::Low: return low_;
    case IndexPart::Keys: return keys_.address().value;
    case IndexPart::Starts: return starts_.address().value;
    case IndexPart::Rows: return by_key_.address().value;
    default: break;
  }
  const auto at = static_cast<size_t>(part - static_cast<int32_t>(IndexPart::FirstColumn));
  return at % 2 == 0 ? values_[at / 2] : validity_[at / 2];
}

}  // namespace diptych::gpu
