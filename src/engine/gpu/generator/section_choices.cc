// What a section's kernel is like, chosen before its text is written: which registers decide about rows, how many rows
// a work-item takes, the forms of registers, the sink.
#include <algorithm>

#include "engine/gpu/generator/section_generator.h"
#include "engine/gpu/join/expected_matches.h"
#include "program/operands.h"
#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

// Registers of a work-item that its rows may take together, in 32-bit words: more are spilled to memory.
constexpr int most_register_words = 96;
// That a work-item has: where rows of an output take more together, each is an item's alone. Text for several would
// make compilers take tens of seconds, for nothing.
constexpr int most_wide_words = 255;
// And those that are spilled: a driver for a CPU keeps them for all work-items of a group on a thread's stack.
constexpr int most_private_words = 1024;

// Of a section: beyond, drivers take tens of seconds to compile its kernel, or refuse to. A condition is a bracket
// inside those before it, and clang nests 256.
constexpr int32_t most_opcodes = 2000;
constexpr int most_conditions = 200;

// Of a work-item, for the rows of one output column.
constexpr int most_stage_bytes = 128;

SectionKernel::Sink sink_of(const RowSetInfo& row_set) {
  return row_set.keys.empty() ? SectionKernel::Sink::Rows : SectionKernel::Sink::Sort;
}

// Rows that are found by their keys only. Without keys all are, one after the other.
bool feeds_index_alone(const Program& program, int32_t row_set) {
  const int32_t index = index_over(program, row_set);
  return index >= 0 && program.indexes[static_cast<size_t>(index)].keys > 0 &&
         std::ranges::none_of(program.instructions, [row_set](const Instruction& at) {
           return at.opcode == Opcode::Rows && at.p2 == row_set;
         });
}

}  // namespace

void SectionGenerator::check_size() {
  const auto first = program_.instructions.begin() + flow_.first, end = program_.instructions.begin() + flow_.end;
  const auto is_condition = [](const Instruction& at) { return info_of(at.opcode).kind == OpcodeKind::Jump; };
  if (flow_.end - flow_.first > most_opcodes) refuse("it has more opcodes than a kernel has room for");
  if (std::count_if(first, end, is_condition) > most_conditions)
    refuse("it has more conditions than a kernel has room for");
}

// Whether it writes a new string into the room for them.
bool SectionGenerator::makes_text(const Instruction& instruction) const {
  const int32_t out = register_written(instruction);
  if (out < 0 || info(out).physical != PhysicalType::Text || flow_.constants[static_cast<size_t>(out)]) return false;
  switch (instruction.opcode) {
    case Opcode::Column:
    case Opcode::Constant:
    case Opcode::Null:
    case Opcode::Lookup:
    case Opcode::Move: return false;
    default: return true;
  }
}

// What decides which rows the sink takes: registers that jumps read, and what those are made of. A first pass over rows
// that are to be grouped needs their keys as well, and makes all strings that the second one makes: with the room that
// it has found for them both see the same.
void SectionGenerator::find_filter() {
  const auto find = [&](std::vector<bool>& found, bool with_keys) {
    found.assign(registers_.size(), false);
    for (int32_t address = flow_.end - 1; address >= flow_.first; --address) {
      const Instruction& instruction = at(address);
      const int32_t out = register_written(instruction);
      if (with_keys && groups() && makes_text(instruction)) found[static_cast<size_t>(out)] = true;
      if (instruction.opcode == Opcode::Matches) found[static_cast<size_t>(out)] = true;
      const bool decides = info_of(instruction.opcode).kind == OpcodeKind::Jump ||
                           (with_keys && instruction.opcode == Opcode::Group) ||
                           (out >= 0 && found[static_cast<size_t>(out)]);
      if (!decides) continue;
      for_each_register_read(program_, instruction, [&](int32_t number) { found[static_cast<size_t>(number)] = true; });
    }
  };
  find(filters_, false);
  find(early_, true);
  for (first_rare_ = flow_.first; first_rare_ < flow_.end; ++first_rare_)
    if (at(first_rare_).opcode == Opcode::Matches && leaves_few(program_, first_rare_)) break;
}

// A work-item's loads should be 16 bytes where the registers allow, so that enough bytes are on their way; but no more
// than 32 of a column, a sector, so that a warp's lie side by side: over the bus, sectors apart come at half the speed
// of lines. Columns that are fetched again for a result don't count, nor may its stage in shared memory grow past 32
// KiB; nor does what is behind a Matches from which on an item has one row.
void SectionGenerator::choose_rows_per_thread() {
  int widest = 1, widest_other = 1, words = 4, packed = 0, widest_output = 1;
  std::vector<bool> is_behind(registers_.size(), false);
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    const Instruction& instruction = at(address);
    if (const int32_t out = register_written(instruction); address > compacts_at_ && out >= 0)
      is_behind[static_cast<size_t>(out)] = true;
    if (address > compacts_at_) continue;
    if (instruction.opcode != Opcode::Column && instruction.opcode != Opcode::Code) continue;
    const ColumnShape& column = shape_.of(static_cast<size_t>(instruction.p2));
    int& among = filters_[static_cast<size_t>(instruction.p1)] ? widest : widest_other;
    among = std::max(among, column.width < 0 ? 4 : column.width);
  }
  for (size_t i = 0; i < registers_.size(); ++i) {
    if ((gathers_ && !filters_[i]) || is_behind[i]) continue;
    if (registers_[i].form == Form::Vector || registers_[i].form == Form::Code)
      words += std::max(1, width_bytes(program_.registers[i].physical) / 4);
    if (registers_[i].form == Form::Place) ++words;
    if (registers_[i].form == Form::Packed) ++packed;
    if (registers_[i].form != Form::Unused)
      widest_output = std::max(widest_output, width_bytes(program_.registers[i].physical));
  }
  // Where nothing but the filter is computed, two loads of each column are on their way at once.
  int rows = std::clamp((gathers_ || compacts() ? 32 : 16) / widest, 4, 16);
  if (!gathers_) rows = std::clamp(32 / widest_other, 4, rows);
  words += (packed + 3) / 4;
  while (rows > 4 &&
         (rows * words > most_register_words || (ordered_ && !gathers_ && rows * widest_output > most_stage_bytes)))
    rows /= 2;
  // Looking for a group or in a hash table, or making the words of sort keys, is much text, once for each row.
  const bool groups_each = groups() && !compacts();
  if (groups_each || kernel_.sink == SectionKernel::Sink::Sort || looks_in_tables()) rows = std::min(rows, 4);
  // Of rows that meet an index several loads follow each other: the more rows wait at once, the better.
  if (meets_index(program_, address_)) rows = std::min(rows, 8);
  if (compacts()) rows = std::min(rows, most_kept_rows_);
  const bool may_be_one = ordered_ && !gathers_ && !compacts() && packed == 0;
  if (may_be_one && rows * words > most_wide_words) rows = 1;
  if (rows * words > most_private_words) refuse("it computes more values than a kernel has room for");
  kernel_.rows_per_thread = rows;
  is_light_ = rows * words <= most_register_words;
}

// Whether its rows meet an index that is a hash table, or several rows of one.
bool SectionGenerator::looks_in_tables() const {
  return std::ranges::any_of(indexes_met(program_, address_), [this](int32_t index) {
    const IndexShape* shape = shape_.built(index);
    return shape == nullptr || !shape->is_dense || !shape->is_unique;
  });
}

void SectionGenerator::choose_forms() {
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    const Instruction& instruction = at(address);
    const int32_t out = register_written(instruction);
    if (out < 0 || instruction.opcode == Opcode::Group) continue;
    Register& target = reg(out);
    const bool once = flow_.writers[static_cast<size_t>(out)] == 1;
    if (flow_.constants[static_cast<size_t>(out)]) {
      target.form = Form::Constant;
      continue;
    }
    target.form = info(out).physical == PhysicalType::Bool ? Form::Truth : Form::Vector;
    if (instruction.opcode == Opcode::Matches) target.form = Form::Place;
    if (instruction.opcode == Opcode::Column && once) {
      const auto column = static_cast<size_t>(instruction.p2);
      if (shape_.of(column).encoding == Encoding::Dictionary && info(out).physical == PhysicalType::Text) {
        target.form = Form::Code;
        target.column = shape_.index_of(column);
      }
    }
  }
}

void SectionGenerator::find_sink() {
  int sinks = 0;
  bool grouped = false;
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    const Instruction& instruction = at(address);
    if (info_of(instruction.opcode).kind != OpcodeKind::Sink) continue;
    switch (instruction.opcode) {
      case Opcode::Result:
        ++sinks;
        kernel_.sink = SectionKernel::Sink::Result;
        ordered_ = true;
        break;
      case Opcode::Append:
        if (shares_row_set(program_, flow_.first - 1, instruction.p1))
          return refuse("rows for a row set of several sections");
        ++sinks;
        kernel_.row_set = instruction.p1;
        kernel_.sink = sink_of(program_.row_sets[static_cast<size_t>(instruction.p1)]);
        ordered_ = true;
        in_any_order_ = kernel_.sink == SectionKernel::Sink::Rows && feeds_index_alone(program_, kernel_.row_set);
        break;
      case Opcode::Aggregate: {
        if (kernel_.hash_table != instruction.p1) ++sinks;
        kernel_.sink = SectionKernel::Sink::Totals;
        kernel_.hash_table = instruction.p1;
        break;
      }
      case Opcode::Group: grouped = true; break;
      default: return refuse(fmt::format("{} on a device", info_of(instruction.opcode).name));
    }
  }
  if (grouped) {
    kernel_.sink = SectionKernel::Sink::Groups;
    sinks = 1;
  }
  if (sinks != 1) refuse("a section without a sink, or with several");
  if (kernel_.sink == SectionKernel::Sink::Rows && is_cut(program_.row_sets[static_cast<size_t>(kernel_.row_set)]))
    refuse(appends_cut);
}

}  // namespace diptych::gpu
