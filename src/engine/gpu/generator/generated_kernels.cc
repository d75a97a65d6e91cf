#include "engine/gpu/generator/generated_kernels.h"

#include <algorithm>
#include <type_traits>

#include "engine/gpu/join/expected_matches.h"

namespace diptych::gpu {
namespace {

constexpr size_t most_kernels = 64;

class Signature {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, int128_t>
  void add(T field) { bytes_.append(reinterpret_cast<const char*>(&field), sizeof(field)); }
  void add(const std::string& text) {
    add(text.size());
    bytes_ += text;
  }
  void add(const Type& type) {
    add(type.id);
    add(type.precision);
    add(type.scale);
    add(type.length);
  }
  void add(const Value& value) {
    add(value.type());
    add(value.is_null());
    if (!value.is_null()) add(value.to_text());
  }
  void add(std::monostate) {}
  void add(const Instruction& instruction) {
    add(instruction.opcode);
    add(instruction.p1);
    add(instruction.p2);
    add(instruction.p3);
    add(instruction.p4.index());
    std::visit([this](const auto& operand) { add(operand); }, instruction.p4);
  }
  void add(const RegisterInfo& info) {
    add(info.physical);
    add(info.type);
    add(info.nullable);
    add(info.has_range);
    add(info.low);
    add(info.high);
  }
  void add(const AggregateInfo& aggregate) {
    add(aggregate.state);
    add(aggregate.argument);
    add(aggregate.result);
  }
  void add(const HashTableInfo& table) {
    add_all(table.keys);
    add_all(table.aggregates);
  }
  void add(const SortKeyInfo& key) {
    add(key.descending);
    add(key.nulls_first);
  }
  void add(const RowSetInfo& row_set) {
    add_all(row_set.columns);
    add_all(row_set.keys);
    add(row_set.limit);
    add(row_set.offset);
  }
  // Entries are data, but for whether one is NULL.
  void add(const LookupTable& table) {
    add(table.entry);
    add(table.dictionary != nullptr);
    add(std::any_of(table.values.begin(), table.values.end(), [](const Value& value) { return value.is_null(); }));
  }
  void add(const ValueSet& set) {
    add(set.physical);
    add(set.has_null);
  }
  void add(const CursorInfo& cursor) { add_all(cursor.columns); }
  void add(const ResultColumnInfo& column) { add(column.type); }
  void add(const ColumnShape& shape) {
    add(shape.column);
    add(shape.encoding);
    add(shape.physical);
    add(shape.width);
    add(shape.has_nulls);
    add(shape.unit_factor);
    add(shape.mixed);
  }
  void add(const IndexShape& shape) {
    add(shape.index);
    add(shape.has_keys);
    add(shape.is_dense);
    add(shape.is_unique);
    add(shape.is_fetched);
    add(shape.has_filter);
    add(shape.has_nulls.size());
    for (const bool has_nulls : shape.has_nulls) add(has_nulls);
  }
  void add(const IndexInfo& index) {
    add(index.row_set);
    add(index.keys);
  }
  template <typename T>
  void add_all(const std::vector<T>& items) {
    add(items.size());
    for (const T& item : items) add(item);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace

std::string section_signature(const Program& program, int32_t address, const SectionShape& shape) {
  Signature signature;
  signature.add(address);
  signature.add_all(shape.columns);
  signature.add_all(shape.indexes);
  signature.add(shape.unsupported);
  signature.add(shape.has_large_groups);
  signature.add(shape.most_dense_bytes);
  signature.add_all(program.instructions);
  signature.add(few_reach_sinks(program, address));
  for (int32_t at = address; program.instructions[static_cast<size_t>(at)].opcode != Opcode::Converge; ++at)
    if (program.instructions[static_cast<size_t>(at)].opcode == Opcode::Matches) signature.add(leaves_few(program, at));
  signature.add_all(program.registers);
  signature.add_all(program.cursors);
  signature.add_all(program.hash_tables);
  signature.add_all(program.row_sets);
  signature.add_all(program.indexes);
  signature.add_all(program.lookups);
  signature.add_all(program.sets);
  signature.add_all(program.types);
  signature.add_all(program.result_columns);
  return signature.take();
}

std::shared_ptr<const SectionKernel> GeneratedKernels::get(const Program& program, int32_t address,
                                                           const SectionShape& shape) {
  std::string signature = section_signature(program, address, shape);
  {
    std::lock_guard guard(mutex_);
    if (const auto known = kernels_.find(signature); known != kernels_.end()) return known->second;
  }
  auto kernel = std::make_shared<const SectionKernel>(generate_section(program, address, shape));
  std::lock_guard guard(mutex_);
  // A start from nothing now and then costs less than keeping account of who was used when.
  if (kernels_.size() >= most_kernels) kernels_.clear();
  kernels_[std::move(signature)] = kernel;
  return kernel;
}

}  // namespace diptych::gpu
