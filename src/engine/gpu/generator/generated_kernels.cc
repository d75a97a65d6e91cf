#include "engine/gpu/generator/generated_kernels.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "engine/gpu/join/expected_matches.h"

namespace diptych::gpu {
namespace {

constexpr size_t most_kernels = 64;

// Sections of programs that came again, of which the program's part of the signature is kept.
constexpr size_t most_programs = 1024;

// Most programs, and most shapes, have fewer.
constexpr size_t usual_words = 4096, usual_shape_words = 256;

// Fields as words, and of a text, too, its length: no two lists of fields have the same words.
class SignatureWords {
 public:
  explicit SignatureWords(size_t usual) { words_.reserve(usual); }
  template <typename T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void add(T field) { words_.push_back(static_cast<uint64_t>(field)); }
  void add(double field) { add(std::bit_cast<uint64_t>(field)); }
  void add(int128_t field) {
    add(static_cast<uint64_t>(field));
    add(static_cast<uint64_t>(field >> 64));
  }
  void add(const std::string& text) {
    constexpr size_t word_bytes = sizeof(uint64_t);
    add(text.size());
    const size_t first = words_.size();
    words_.resize(first + (text.size() + word_bytes - 1) / word_bytes);
    if (!text.empty()) std::memcpy(&words_[first], text.data(), text.size());
  }
  void add(const Interval& interval) {
    add(interval.months);
    add(interval.days);
    add(interval.microseconds);
  }
  void add(const Type& type) {
    add(uint64_t{type.length} << 32 | uint64_t{type.precision} << 16 | uint64_t{type.scale} << 8 |
        static_cast<uint64_t>(type.id));
  }
  void add(const Value& value) {
    add(value.type());
    add(value.is_null());
    if (value.is_null()) return;
    switch (value.type().physical()) {
      case PhysicalType::Bool: return add(value.as_boolean());
      case PhysicalType::Int32:
      case PhysicalType::Int64:
      case PhysicalType::Int128: return add(value.as_integral());
      case PhysicalType::Float32:
      case PhysicalType::Float64: return add(value.as_double());
      case PhysicalType::Interval: return add(value.as_interval());
      case PhysicalType::Text: return add(value.as_string());
    }
  }
  void add(std::monostate) {}
  void add(const Instruction& instruction) {
    add(static_cast<uint64_t>(instruction.p4.index()) << 32 | static_cast<uint64_t>(instruction.opcode));
    add(static_cast<uint64_t>(instruction.p1) << 32 | static_cast<uint32_t>(instruction.p2));
    add(instruction.p3);
    std::visit([this](const auto& operand) { add(operand); }, instruction.p4);
  }
  void add(const RegisterInfo& info) {
    add(info.type);
    add(static_cast<uint64_t>(info.physical) << 2 | uint64_t{info.nullable} << 1 | uint64_t{info.has_range});
    if (!info.has_range) return;
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
    add(shape.is_guessed);
    add(shape.is_full);
    add(shape.is_direct);
    add(shape.is_fetched);
    add(shape.has_filter);
    add(shape.has_long_lists);
    add(shape.has_nulls.size());
    for (const bool has_nulls : shape.has_nulls) add(has_nulls);
    add(shape.record_bytes);
    add(shape.record_load_bytes);
    add_all(shape.fields);
    add(shape.key_bytes);
    add(shape.key_load_bytes);
    add_all(shape.key_fields);
  }
  void add(const IndexShape::Field& field) {
    add(field.width);
    add(field.at);
    add(field.null_bit);
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
  SectionSignature hash() const {
    const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof(uint64_t));
    return {hash.high64, hash.low64};
  }

 private:
  std::vector<uint64_t> words_;
};

// The part that is the same whatever the columns and indexes are like.
SectionSignature program_signature(const Program& program, int32_t address) {
  SignatureWords signature(usual_words);
  signature.add(address);
  signature.add_all(program.instructions);
  signature.add(few_reach_sinks(program, address));
  for (int32_t at = address; program.instructions[static_cast<size_t>(at)].opcode != Opcode::Converge; ++at)
    if (program.instructions[static_cast<size_t>(at)].opcode == Opcode::Matches) signature.add(leaves_few(program, at));
  signature.add_all(program.registers);
  signature.add(program.cursors[static_cast<size_t>(program.instructions[static_cast<size_t>(address)].p1)]);
  signature.add_all(program.hash_tables);
  signature.add_all(program.row_sets);
  signature.add_all(program.indexes);
  signature.add_all(program.lookups);
  signature.add_all(program.sets);
  signature.add_all(program.types);
  signature.add_all(program.result_columns);
  return signature.hash();
}

SectionSignature with_shape(const SectionSignature& program, const SectionShape& shape) {
  SignatureWords signature(usual_shape_words);
  signature.add(program.first);
  signature.add(program.second);
  signature.add_all(shape.columns);
  signature.add_all(shape.indexes);
  signature.add(shape.unsupported);
  signature.add(shape.has_large_groups);
  signature.add(shape.most_dense_bytes);
  return signature.hash();
}

}  // namespace

SectionSignature section_signature(const Program& program, int32_t address, const SectionShape& shape) {
  return with_shape(program_signature(program, address), shape);
}

template <typename Key, typename Value>
std::optional<Value> GeneratedKernels::find(const std::map<Key, Value>& kept, const Key& key) {
  std::lock_guard guard(mutex_);
  const auto known = kept.find(key);
  return known != kept.end() ? std::optional(known->second) : std::nullopt;
}

// A start from nothing now and then costs less than keeping account of who was used when.
template <typename Key, typename Value>
void GeneratedKernels::keep(std::map<Key, Value>& kept, size_t most, const Key& key, const Value& value) {
  std::lock_guard guard(mutex_);
  if (kept.size() >= most) kept.clear();
  kept[key] = value;
}

SectionSignature GeneratedKernels::signature(const Program& program, int32_t address, const SectionShape& shape) {
  if (program.text_number == 0) return section_signature(program, address, shape);
  const std::pair key(program.text_number, address);
  if (const auto known = find(programs_, key)) return with_shape(*known, shape);
  const SectionSignature of_program = program_signature(program, address);
  keep(programs_, most_programs, key, of_program);
  return with_shape(of_program, shape);
}

std::shared_ptr<const SectionKernel> GeneratedKernels::get(const Program& program, int32_t address,
                                                           const SectionShape& shape) {
  const SectionSignature signature = this->signature(program, address, shape);
  if (const auto known = find(kernels_, signature)) return *known;
  auto kernel = std::make_shared<const SectionKernel>(generate_section(program, address, shape));
  keep(kernels_, most_kernels, signature, kernel);
  return kernel;
}

}  // namespace diptych::gpu
