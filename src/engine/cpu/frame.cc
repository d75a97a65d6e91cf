#include "engine/cpu/frame.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/cpu/column_decoder.h"
#include "engine/cpu/step.h"

namespace diptych::cpu {

namespace {

// Group numbers need 4 bytes, whatever the register's type.
size_t storage_width(const RegisterPlace& place) {
  return std::max<size_t>(4, static_cast<size_t>(width_bytes(place.physical)));
}

constexpr RowMask no_rows{};

}  // namespace

Frame::Frame(const Program& program, const Section& section)
    : groups(program.hash_tables.size()),
      sort_runs(program.row_sets.size()),
      row_writers(program.row_sets.size()),
      indexes(program.indexes.size()),
      pairs_out(section.matches.size()),
      program_(program),
      section_(section) {
  slots_.resize(program.registers.size());
  columns_.resize(section.columns.size());
  pending_.resize(section.targets.size());
  for (RowMask& mask : pending_) mask.clear();
  waiting_.assign(section.targets.size(), false);
  for (int i = 0; i < section.comparisons; ++i) comparisons_.push_back(std::make_unique<CodeComparison>());
  lay_out_registers();
  initialise_constants();
}

//   storage_   |values|NULLs|values|NULLs|...|64 values|...        place by place; constants have no bits for NULLs
void Frame::lay_out_registers() {
  const std::vector<RegisterPlace>& places = section_.places.places;
  std::vector<size_t> ends;  // by place
  size_t bytes = 0;
  for (const RegisterPlace& place : places) {
    bytes += place.is_constant ? 64 * storage_width(place) : block_rows * storage_width(place) + sizeof(RowMask);
    ends.push_back(bytes);
  }
  storage_.resize(bytes);
  if (bytes > 0) std::memset(storage_.data(), 0, bytes);  // a section that only counts rows has no register
  for (size_t i = 0; i < slots_.size(); ++i) {
    const int32_t number = section_.places.of_register[i];
    if (number < 0) continue;
    const RegisterPlace& place = places[static_cast<size_t>(number)];
    Slot& slot = slots_[i];
    slot.physical = place.physical;
    slot.storage = storage_.data() + (number == 0 ? 0 : ends[static_cast<size_t>(number) - 1]);
    if (!place.is_constant)
      slot.valid_storage = reinterpret_cast<uint64_t*>(slot.storage + block_rows * storage_width(place));
    slot.values = {slot.storage, 64 * static_cast<size_t>(width_bytes(slot.physical))};
  }
}

// Registers that are the same for all rows are filled once, with the values of one word, which serve all; their steps
// then do nothing. Columns are tied to their slots.
void Frame::initialise_constants() {
  for (const Step& step : section_.steps) {
    if (step.out < 0 || section_.writers[step.out] > 1) continue;
    const Opcode opcode = step.instruction->opcode;
    if (opcode == Opcode::Column || opcode == Opcode::Code) {
      slots_[step.out].column = step.number;
      slots_[step.out].codes_wanted = opcode == Opcode::Code;
      column_slots_.push_back(step.out);
    } else if (is_constant_load(opcode)) {
      fill_values(step, 64);
      slots_[step.out].values.word_bytes = 0;
      if (step.constant.is_null()) slots_[step.out].valid = no_rows.words;
    }
  }
}

void Frame::fill_values(const Step& step, int rows) {
  const Slot& out = slots_[step.out];
  const auto width = static_cast<size_t>(width_bytes(out.physical));
  store_value(step.constant, out.physical, out.storage);
  const size_t bytes = static_cast<size_t>(rows) * width;
  for (size_t filled = width; filled < bytes; filled *= 2)
    std::memcpy(out.storage + filled, out.storage, std::min(filled, bytes - filled));
}

void Frame::fill_constant(const Step& step) {
  fill_values(step, block_rows);
  Slot& out = slots_[step.out];
  out.valid = nullptr;
  if (step.constant.is_null()) {
    std::memset(out.valid_storage, 0, sizeof(RowMask));
    out.valid = out.valid_storage;
  }
}

void Frame::begin_tablet(const PinnedTablet& tablet) {
  for (size_t i = 0; i < columns_.size(); ++i) columns_[i].view = tablet.views[i];
  tablet_position_ = tablet.first_position;
  ++tablet_serial_;
}

std::shared_ptr<const PinnedTablet> Frame::keeper_of_texts(int first, size_t count) const {
  const auto slots = std::span(slots_).subspan(static_cast<size_t>(first), count);
  const bool are_columns = std::ranges::all_of(
      slots, [](const Slot& slot) { return slot.physical != PhysicalType::Text || slot.column >= 0; });
  return are_columns ? keeper : nullptr;
}

void Frame::begin_block(int64_t first_row, int count) {
  first_row_ = first_row;
  first_position_ = tablet_position_ + first_row;
  rows_ = count;
  words_ = words_for(count);
  active_.fill(count);
  if (section_.tracks_validity) valid_ = active_;
  any_active_ = true;
  arena_.reset();
  for (ColumnState& column : columns_) position_column(column, first_row, count);
  for (const int number : column_slots_) bind_column(slots_[static_cast<size_t>(number)]);
}

void Frame::bind_column(Slot& slot) {
  const ColumnState& column = columns_[static_cast<size_t>(slot.column)];
  slot.decoded = 0;
  slot.valid = column.valid;
  if (is_direct(column.view, slot.physical)) {
    slot.values = {column.codes, 64 * static_cast<size_t>(width_bytes(slot.physical))};
    slot.decoded = ~uint64_t{0};
  } else {
    slot.values = {slot.storage, 64 * static_cast<size_t>(width_bytes(slot.physical))};
  }
}

const Slot& Frame::read(int number) {
  Slot& slot = slots_[static_cast<size_t>(number)];
  if (slot.column >= 0 && slot.decoded != ~uint64_t{0}) materialise(slot);
  return slot;
}

const ColumnState* Frame::undecoded_whole(int number) const {
  const Slot& slot = slots_[static_cast<size_t>(number)];
  if (slot.column < 0 || slot.decoded != 0 || slot.codes_wanted) return nullptr;
  const ColumnState& column = columns_[static_cast<size_t>(slot.column)];
  const ColumnView& view = column.view;
  const bool is_whole = slot.physical == PhysicalType::Int32 || slot.physical == PhysicalType::Int64;
  return is_whole && view.encoding == Encoding::FrameOfReference && view.factor == 1 ? &column : nullptr;
}

// For registers that Moves write, too: they need values of their own.
void Frame::load_column(const Step& step) {
  Slot& out = slots_[static_cast<size_t>(step.out)];
  const ColumnState& column = columns_[static_cast<size_t>(step.number)];
  const auto width = static_cast<size_t>(width_bytes(out.physical));
  if (is_direct(column.view, out.physical))
    std::memcpy(out.storage, column.codes, static_cast<size_t>(words_) * 64 * width);
  else
    decode_column(column, step.instruction->opcode == Opcode::Code, out.physical,
                  {active_.words, words_, first_row_, rows_}, out.storage);
  out.valid = nullptr;
  if (column.valid == nullptr) return;
  std::memcpy(out.valid_storage, column.valid, static_cast<size_t>(words_) * 8);
  out.valid = out.valid_storage;
}

void Frame::materialise(Slot& slot) {
  uint64_t wanted[block_words];
  bool any = false;
  for (int w = 0; w < words_; ++w) {
    const bool missing = active_.words[w] != 0 && (slot.decoded >> w & 1) == 0;
    wanted[w] = missing ? active_.words[w] : 0;
    slot.decoded |= static_cast<uint64_t>(missing) << w;
    any |= missing;
  }
  if (!any) return;
  decode_column(columns_[static_cast<size_t>(slot.column)], slot.codes_wanted, slot.physical,
                {wanted, words_, first_row_, rows_}, slot.storage);
}

Slot& Frame::write(int number) {
  Slot& slot = slots_[static_cast<size_t>(number)];
  slot.valid = nullptr;
  return slot;
}

void Frame::combine_nulls(Slot& out, const Slot& a, const Slot& b) const {
  // Read before `out` changes: it may be one of the operands.
  const uint64_t* x = a.valid != nullptr ? a.valid : b.valid;
  const uint64_t* y = b.valid != nullptr ? b.valid : x;
  out.valid = nullptr;
  if (x == nullptr) return;
  // Copied even where one pointer would do: a Move may change the operand's bits later in the block.
  for (int w = 0; w < words_; ++w) out.valid_storage[w] = x[w] & y[w];
  out.valid = out.valid_storage;
}

uint64_t* Frame::own_nulls(Slot& out) const {
  for (int w = 0; w < words_; ++w) out.valid_storage[w] = ~uint64_t{0};
  out.valid = out.valid_storage;
  return out.valid_storage;
}

RowMask Frame::sinking() const {
  RowMask rows = active_;
  if (section_.tracks_validity) rows &= valid_;
  return rows;
}

void Frame::jump(const RowMask& taken, const Step& step) {
  uint64_t leaving = 0, staying = 0;
  for (int w = 0; w < words_; ++w) {
    leaving |= taken.words[w];
    active_.words[w] &= ~taken.words[w];
    staying |= active_.words[w];
  }
  any_active_ = staying != 0;
  if (leaving == 0) return;
  if (section_.tracks_validity) {
    if (step.jump.makes_valid) valid_ |= taken;
    if (step.jump.makes_invalid) valid_.remove(taken);
  }
  if (step.jump.finishes) return;
  pending_[static_cast<size_t>(step.jump.target)] |= taken;
  waiting_[static_cast<size_t>(step.jump.target)] = true;
}

void Frame::invalidate(const Step& step) {
  if (section_.tracks_validity) valid_.remove(active_);
  if (!step.jump.finishes) return;
  active_.clear();
  any_active_ = false;
}

void Frame::arrive(const Step& step) {
  const auto target = static_cast<size_t>(step.arrivals);
  if (!waiting_[target]) return;
  active_ |= pending_[target];
  pending_[target].clear();
  waiting_[target] = false;
  any_active_ = true;
}

void Frame::drop_invalid() {
  active_ &= valid_;
  any_active_ = active_.any();
}

void Frame::run_from(int32_t first_step) {
  const Step* const steps = section_.steps.data();
  const auto count = static_cast<int32_t>(section_.steps.size());
  size_t target = 0;  // none before it has rows waiting
  for (int32_t at = first_step; at < count;) {
    const Step& step = steps[at];
    if (step.arrivals >= 0) arrive(step);
    if (step.drops_invalid) drop_invalid();
    if (any_active_) {
      step.run(*this, step);
      ++at;
      continue;
    }
    // Nobody is here: on to the next address where rows wait.
    while (target < section_.targets.size() && !waiting_[target]) ++target;
    at = target < section_.targets.size() ? section_.targets[target] : count;
  }
  std::fill(waiting_.begin(), waiting_.end(), false);
}

}  // namespace diptych::cpu
