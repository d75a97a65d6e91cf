#include "engine/gpu/program_kernels.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "engine/gpu/groups/group_columns.h"
#include "engine/gpu/groups/group_kernels.h"
#include "engine/gpu/groups/group_launch.h"
#include "engine/gpu/input/source_shape.h"
#include "engine/gpu/join/built_index.h"
#include "engine/gpu/output/text_fetch.h"
#include "engine/gpu/sort/sort_sink.h"
#include "program/section_contents.h"

namespace diptych::gpu {

std::vector<KernelText> ProgramKernels::find(int32_t address, const TabletSource& rows) {
  std::vector<Cursor> cursors(program_.cursors.size());
  std::vector<int32_t> tables(program_.row_sets.size(), -1);  // by row set: whose groups it has
  const auto& instructions = program_.instructions;
  for (int32_t next = 0; next < static_cast<int32_t>(instructions.size()); ++next) {
    const Instruction& at = instructions[static_cast<size_t>(next)];
    const auto cursor = static_cast<size_t>(at.p1);
    switch (at.opcode) {
      case Opcode::Table: cursors[cursor] = {program_.sources[static_cast<size_t>(at.p2)].get(), -1}; break;
      case Opcode::Groups: tables[static_cast<size_t>(at.p1)] = at.p2; break;
      case Opcode::Rows: cursors[cursor] = {nullptr, tables[static_cast<size_t>(at.p2)]}; break;
      case Opcode::Parallel:
        if (next == address)
          add_section(next, shape_of(next, rows));
        else if (next > address)
          add_section(next, shape_of(next, cursors[cursor]));
        next = at.p3;
        break;
      default: break;
    }
  }
  std::move(sometimes_.begin(), sometimes_.end(), std::back_inserter(always_));
  return std::move(always_);
}

void ProgramKernels::add_section(int32_t address, std::optional<SectionShape> shape) {
  if (!shape) return;
  add_expected_indexes(program_, address, *shape);
  add_device(engine_.device(), *shape);
  const auto kernel = engine_.kernels().generated(program_, address, *shape);
  if (!kernel->unsupported.empty()) return;
  always_.push_back(kernel->source);
  add_kernels_behind(*kernel, address);
}

std::optional<SectionShape> ProgramKernels::shape_of(int32_t address, const TabletSource& rows) const {
  const bool is_one_batch = residency_ == Residency::Cached || residency_ == Residency::Mapped;
  return find_known_shape(program_, address, rows, !is_one_batch);
}

std::optional<SectionShape> ProgramKernels::shape_of(int32_t address, const Cursor& cursor) const {
  if (cursor.hash_table >= 0) return shape_of_groups(address, cursor.hash_table);
  if (cursor.rows == nullptr || !admits_(address, cursor.rows, cursor.rows->row_count())) return std::nullopt;
  return shape_of(address, *cursor.rows);
}

std::optional<SectionShape> ProgramKernels::shape_of_groups(int32_t address, int32_t hash_table) const {
  const auto known = plans_.find(hash_table);
  const HashTableInfo& table = program_.hash_tables[static_cast<size_t>(hash_table)];
  if (known == plans_.end()) return std::nullopt;
  const GroupPlan& plan = known->second;
  // Others go to the host, and are few.
  const bool are_there = plan.place == GroupPlan::Place::Partitioned;
  if (!continues(address) && !(are_there && admits_(address, nullptr, table.expected_groups))) return std::nullopt;
  SectionShape shape;
  for (const size_t column : columns_read(program_, address)) {
    SegmentTablet form = stored_form(group_form(plan, table, column), 0);
    form.has_nulls = is_nullable_result(plan, column);
    // On the host there is a bitmap where one is NULL.
    if (form.has_nulls && !are_there) return std::nullopt;
    ColumnShape& added = shape.columns.emplace_back();
    added.column = column;
    added.unit_factor = true;
    const Dictionary* dictionary = nullptr;
    add_to_shape(form, true, added, dictionary, shape.unsupported);
  }
  return shape;
}

bool ProgramKernels::continues(int32_t address) const {
  const std::set<int32_t> filled = tables_filled(program_, address);
  return std::any_of(filled.begin(), filled.end(), [this](int32_t table) { return plans_.contains(table); });
}

void ProgramKernels::add_kernels_behind(const SectionKernel& kernel, int32_t address) {
  for (const GroupPlan& plan : kernel.groups) {
    plans_.insert_or_assign(plan.hash_table, plan);
    if (plan.place != GroupPlan::Place::Partitioned) continue;
    const HashTableInfo& table = program_.hash_tables[static_cast<size_t>(plan.hash_table)];
    add_group_kernels(plan, table, always_, sometimes_);
  }
  const auto is_text_row = [](const OutputColumn& column) { return column.is_text_row(); };
  if (std::any_of(kernel.outputs.begin(), kernel.outputs.end(), is_text_row)) add_text_kernels(always_);
  if (kernel.sink != SectionKernel::Sink::Sort) return;
  const RowSetInfo& sorted = *sorted_set_of(program_, address);
  if (finds_first_rows(kernel, sorted))
    TopRows::add_kernels(always_);
  else
    engine_.sort().add_kernels(!kernel.sort_texts.empty(), sorted.limit, always_, sometimes_);
  std::set<int> widths;
  for (const OutputColumn& column : kernel.outputs) {
    widths.insert(column.width());
    if (column.nullable) widths.insert(1);
  }
  for (const int width : widths) always_.push_back(DeviceSort::gather_kernel(width));
}

}  // namespace diptych::gpu
