#include "engine/placement/section_facts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/run/zone_test.h"
#include "program/section_contents.h"
#include "program/section_flow.h"

namespace diptych {
namespace {

// Memory comes in such pieces; a column behind a filter is read where one row of a piece passes.
constexpr double sector_bytes = 32;

// Of a section that stops early, whatever it needs: blocks of some threads.
constexpr double least_rows_read = 16384;

// Equality with a constant that is somewhere between the bounds.
constexpr double equality_selectivity = 0.05;

class FactFinder {
 public:
  FactFinder(const Program& program, int32_t address, const RowsRead& rows)
      : program_(program), rows_(rows), flow_(analyse_section(program, address)) {
    facts_.rows = rows.rows;
    facts_.tablets = rows.tablets;
    for (const int64_t bytes : rows.bytes) facts_.bytes += bytes;
  }

  SectionFacts run(int64_t wanted, std::vector<RowsToSink>* sinks) {
    for (int32_t at = flow_.first; at < flow_.end; ++at) add_instruction(at);
    if (wanted >= 0 && row_bytes_ > 0) stop_after(wanted);
    if (sinks != nullptr) *sinks = std::move(sinks_);
    return facts_;
  }

 private:
  const RegisterInfo& info(int32_t number) const { return program_.registers[static_cast<size_t>(number)]; }

  void count(WorkKind kind, double times = 1) {
    facts_.work[static_cast<size_t>(kind)] += reach_ * static_cast<double>(facts_.rows) * times;
  }

  void add_instruction(int32_t at) {
    const Instruction& instruction = program_.instructions[static_cast<size_t>(at)];
    switch (instruction.opcode) {
      case Opcode::Column:
      case Opcode::Code:
        count(WorkKind::Load);
        load_column(static_cast<size_t>(instruction.p2));
        break;
      case Opcode::Rowid:
      case Opcode::Lookup:
      case Opcode::Fetch:
      case Opcode::Move: count(WorkKind::Load); break;
      case Opcode::Matches: count(WorkKind::Group); break;
      case Opcode::Add:
      case Opcode::Sub:
      case Opcode::Mul:
      case Opcode::Negate: count(is_wide(instruction.p1) ? WorkKind::Wide : WorkKind::Arithmetic); break;
      case Opcode::Div:
      case Opcode::Mod:
      case Opcode::NumericDiv:
      case Opcode::Rescale: count(is_wide(instruction.p1) ? WorkKind::Divide : WorkKind::Arithmetic, 2); break;
      case Opcode::Cast: count(WorkKind::Arithmetic); break;
      case Opcode::Call:
      case Opcode::Concat: count(WorkKind::Text); break;
      case Opcode::Group:
        count(WorkKind::Group);
        add_sink(Opcode::Group, instruction.p3);
        break;
      case Opcode::Aggregate:
        count(WorkKind::Aggregate);
        add_sink(Opcode::Group, instruction.p1);
        break;
      case Opcode::Append:
        count_append(program_.row_sets[static_cast<size_t>(instruction.p1)]);
        add_sink(Opcode::Append, instruction.p1);
        break;
      case Opcode::Result: add_result(instruction); break;
      default: add_condition(at, instruction);
    }
  }

  // Rows without keys are copied. Of the others that a limit leaves out, most are turned away by the worst that is
  // kept: of n rows in any order, k (1 + ln(n / k)) are among the first k when they come.
  void count_append(const RowSetInfo& row_set) {
    if (row_set.keys.empty()) return count(WorkKind::Load, static_cast<double>(row_set.columns.size()));
    const double rows = reach_ * static_cast<double>(facts_.rows);
    const auto limit = static_cast<double>(row_set.limit);
    if (limit < 0 || limit >= rows) return count(WorkKind::Sort);
    const double sorted = limit * (1 + std::log(rows / std::max(limit, 1.0)));
    count(WorkKind::Compare);
    count(WorkKind::Sort, std::min(1.0, sorted / rows));
  }

  void add_sink(Opcode kind, int32_t object) {
    const double rows = reach_ * static_cast<double>(facts_.rows);
    for (RowsToSink& known : sinks_) {
      if (known.kind != kind || known.object != object) continue;
      known.rows = std::max(known.rows, rows);
      return;
    }
    sinks_.push_back({kind, object, rows});
  }

  // The section ends when it has written so many rows.
  void stop_after(int64_t wanted) {
    facts_.result_bytes = std::min(facts_.result_bytes, wanted * row_bytes_);
    const auto rows = static_cast<double>(facts_.rows);
    const double needed = std::max(least_rows_read, static_cast<double>(wanted) / std::max(reach_, 1e-9));
    if (needed >= rows) return;
    const double part = needed / rows;
    const auto scaled = [part](int64_t all) {
      return static_cast<int64_t>(std::ceil(static_cast<double>(all) * part));
    };
    for (int64_t* all : {&facts_.rows, &facts_.bytes, &facts_.wanted_bytes, &facts_.tablets}) *all = scaled(*all);
    for (double& times : facts_.work) times *= part;
  }

  bool is_wide(int32_t number) const { return info(number).physical == PhysicalType::Int128; }

  void load_column(size_t column) {
    if (facts_.rows == 0) return;
    const auto bytes = static_cast<double>(rows_.bytes[column]);
    const double rows_in_sector = sector_bytes / std::max(0.1, bytes / static_cast<double>(facts_.rows));
    const double part = 1 - std::pow(1 - std::min(reach_, 1.0), std::max(1.0, rows_in_sector));
    facts_.wanted_bytes += static_cast<int64_t>(bytes * part);
  }

  void add_result(const Instruction& instruction) {
    count(WorkKind::Result, instruction.p2);
    for (int32_t i = 0; i < instruction.p2; ++i) {
      const RegisterInfo& column = info(instruction.p1 + i);
      row_bytes_ += width_bytes(column.physical) + (column.nullable ? 1 : 0);
    }
    facts_.result_bytes +=
        static_cast<int64_t>(reach_ * static_cast<double>(facts_.rows) * static_cast<double>(row_bytes_));
  }

  void add_condition(int32_t at, const Instruction& instruction) {
    const OpcodeKind kind = info_of(instruction.opcode).kind;
    if (is_constant_load(instruction.opcode) || kind == OpcodeKind::Setup) return;
    if (instruction.opcode == Opcode::Invalid || instruction.opcode == Opcode::Jump) return;
    count(WorkKind::Compare);
    if (kind == OpcodeKind::Jump && flow_.effect(at).finishes) reach_ *= 1 - leaving(instruction);
  }

  // The part of the rows that a jump takes out.
  double leaving(const Instruction& instruction) const {
    const double unknown = 1 - usual_selectivity;
    if (instruction.p2 < 0) return unknown;
    switch (instruction.opcode) {
      case Opcode::Eq: return equal_part(instruction);
      case Opcode::Neq: return 1 - equal_part(instruction);
      case Opcode::Lt:
      case Opcode::Le: return below_part(instruction.p1, instruction.p2).value_or(unknown);
      case Opcode::Gt:
      case Opcode::Ge: return below_part(instruction.p2, instruction.p1).value_or(unknown);
      default: return unknown;
    }
  }

  double equal_part(const Instruction& instruction) const {
    const RegisterInfo& value = info(is_constant(instruction.p2) ? instruction.p1 : instruction.p2);
    if (!value.has_range) return equality_selectivity;
    return std::max(1e-6, 1 / (static_cast<double>(value.high - value.low) + 1));
  }

  bool is_constant(int32_t number) const { return flow_.constants[static_cast<size_t>(number)]; }

  // How often `less` is less than `more`, where one is a constant and the other has bounds.
  std::optional<double> below_part(int32_t less, int32_t more) const {
    const RegisterInfo &a = info(less), &b = info(more);
    if (!a.has_range || !b.has_range || is_constant(less) == is_constant(more)) return std::nullopt;
    const RegisterInfo &constant = is_constant(less) ? a : b, &value = is_constant(less) ? b : a;
    if (constant.low != constant.high || value.high <= value.low) return std::nullopt;
    const double span = static_cast<double>(value.high) - static_cast<double>(value.low);
    const double at = (static_cast<double>(constant.low) - static_cast<double>(value.low)) / span;
    return std::clamp(is_constant(less) ? 1 - at : at, 0.0, 1.0);
  }

  const Program& program_;
  const RowsRead& rows_;
  const SectionFlow flow_;
  SectionFacts facts_;
  std::vector<RowsToSink> sinks_;
  double reach_ = 1;       // part of the rows that are still there
  int64_t row_bytes_ = 0;  // of a row of the result
};

}  // namespace

RowsRead rows_of_table(const Program& program, int32_t address, const TabletSource& source,
                       const NeededTablets& needed) {
  const auto cursor = static_cast<size_t>(program.instructions[static_cast<size_t>(address)].p1);
  RowsRead read;
  read.columns = columns_read(program, address);
  read.bytes.assign(program.cursors[cursor].columns.size(), 0);
  for (const TabletSpan& span : needed.spans()) {
    read.tablets += static_cast<int64_t>(span.count);
    read.rows += span.rows;
    for (const size_t column : read.columns) read.bytes[column] += encoded_bytes(source, span, column);
  }
  return read;
}

SectionFacts find_facts(const Program& program, int32_t address, const RowsRead& rows, int64_t wanted,
                        std::vector<RowsToSink>* sinks) {
  return FactFinder(program, address, rows).run(wanted, sinks);
}

SectionFacts find_facts(const Program& program, int32_t address, const TabletSource& source,
                        const NeededTablets& needed, int64_t wanted) {
  return find_facts(program, address, rows_of_table(program, address, source, needed), wanted);
}

}  // namespace diptych
