#include "engine/gpu/section_constants.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/gpu/sort/dictionary_ranks.h"
#include "engine/rows/sort_key_layout.h"
#include "engine/run/prepared.h"
#include "tablet/dictionary.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

SectionConstants::SectionConstants(const Program& program, const SectionKernel& kernel,
                                   std::span<const Dictionary* const> dictionaries, size_t most_string_bytes)
    : most_string_bytes_(most_string_bytes) {
  for (const KernelParameter& parameter : kernel.parameters) {
    if (!places_.contains(key_of(parameter))) add_parameter(program, kernel, parameter, dictionaries);
  }
  for (const SectionWord& word : kernel.section_words) {
    if (!places_.contains(key_of(word.parameter))) add_parameter(program, kernel, word.parameter, dictionaries);
  }
}

int64_t SectionConstants::key_of(const KernelParameter& parameter) {
  return (static_cast<int64_t>(parameter.kind) << 48) | (static_cast<int64_t>(parameter.index) << 8) | parameter.part;
}

void SectionConstants::add_parameter(const Program& program, const SectionKernel& kernel,
                                     const KernelParameter& parameter,
                                     std::span<const Dictionary* const> dictionaries) {
  const auto index = static_cast<size_t>(parameter.index);
  switch (parameter.kind) {
    case Kind::Constant: return add_constant(program, parameter);
    case Kind::LookupEntries:
    case Kind::LookupBytes: return add_lookup(program.lookups[index], parameter.index);
    case Kind::SetValues:
    case Kind::SetBytes:
    case Kind::SetCount: return add_set(program.sets[index], parameter.index);
    case Kind::Dictionary:
    case Kind::DictionaryBytes: {
      const Dictionary* dictionary = dictionaries[index];
      check_invariant(dictionary != nullptr, "a kernel reads strings of a column that has a dictionary");
      // One more than there are: the code 0 of a NULL may be looked up in an empty dictionary.
      std::vector<std::string_view> strings(dictionary->entries(), dictionary->entries() + dictionary->size());
      strings.emplace_back();
      return add_strings(strings, {Kind::Dictionary, parameter.index, 0}, {Kind::DictionaryBytes, parameter.index, 0});
    }
    case Kind::DictionaryRanks: {
      const std::vector<uint32_t> ranks = dictionary_ranks(*dictionaries[index]);
      return put_address(parameter, append(ranks.data(), ranks.size() * sizeof(uint32_t)));
    }
    case Kind::SortBound: {
      const SortKeyPlace key = SortKeyLayout(program.row_sets[static_cast<size_t>(kernel.row_set)]).keys[index];
      return put_value(parameter, parameter.part == 0 ? static_cast<uint64_t>(key.first_value) : key.null_code);
    }
    default: return;
  }
}

void SectionConstants::add_constant(const Program& program, const KernelParameter& parameter) {
  const Instruction& instruction = program.instructions[static_cast<size_t>(parameter.index)];
  const PhysicalType physical = program.registers[static_cast<size_t>(instruction.p1)].physical;
  uint64_t words[2] = {0, 0};
  if (instruction.opcode == Opcode::Integer) {
    const int64_t value = instruction.p2;
    words[0] = static_cast<uint64_t>(value);
    words[1] = value < 0 ? ~uint64_t{0} : 0;
  } else if (const Value* value = std::get_if<Value>(&instruction.p4); value != nullptr && !value->is_null()) {
    if (physical == PhysicalType::Text) {
      const std::string& text = value->as_string();
      const int64_t offset = append(text.data(), text.size());
      put_address({Kind::Constant, parameter.index, 0}, offset);
      put_value({Kind::Constant, parameter.index, 1}, text.size());
      return;
    }
    store_value(*value, physical, words);
  }
  for (int32_t part = 0; part < 2; ++part) put_value({Kind::Constant, parameter.index, part}, words[part]);
}

void SectionConstants::add_lookup(const LookupTable& table, int32_t index) {
  const KernelParameter entries{Kind::LookupEntries, index, 0}, bytes{Kind::LookupBytes, index, 0};
  if (table.entry.physical == PhysicalType::Text) {
    std::vector<std::string_view> strings;
    if (table.dictionary != nullptr) {
      strings.assign(table.dictionary->entries(), table.dictionary->entries() + table.dictionary->size());
    } else {
      for (const Value& value : table.values)
        strings.push_back(value.is_null() ? std::string_view() : value.as_string());
    }
    strings.emplace_back();
    return add_strings(strings, entries, bytes);
  }
  const auto width = static_cast<size_t>(width_bytes(table.entry.physical));
  std::vector<std::byte> values((table.values.size() + 1) * width);
  std::vector<uint8_t> there(table.values.size() + 1, 1);
  for (size_t i = 0; i < table.values.size(); ++i) {
    store_value(table.values[i], table.entry.physical, values.data() + i * width);
    there[i] = !table.values[i].is_null();
  }
  put_address(entries, append(values.data(), values.size()));
  put_address(bytes, append(there.data(), there.size()));
}

namespace {

// By the order of SQL: NaN is the greatest, and intervals are as long as they are.
template <typename T>
bool comes_before(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, dk_interval>)
    return dk_lt_interval(a, b) != 0;
  else if constexpr (std::is_floating_point_v<T>)
    return a < b || (a == a && b != b);
  else
    return a < b;
}

template <typename T, typename Get>
std::vector<T> sorted_values(const ValueSet& set, Get&& get) {
  std::vector<T> values;
  for (const Value& value : set.values) {
    if (std::optional<T> one = get(value)) values.push_back(*one);
  }
  std::sort(values.begin(), values.end(), comes_before<T>);
  return values;
}

}  // namespace

void SectionConstants::add_set(const ValueSet& set, int32_t index) {
  const KernelParameter values{Kind::SetValues, index, 0}, count{Kind::SetCount, index, 0};
  const auto put = [&]<typename T>(const std::vector<T>& sorted) {
    put_address(values, append(sorted.data(), sorted.size() * sizeof(T)));
    put_value(count, sorted.size());
  };
  // A constant that the register can't hold equals none of its values.
  const auto whole = [&]<typename T>(T) {
    put(sorted_values<T>(set, [](const Value& value) -> std::optional<T> {
      const int128_t wide = value.as_integral();
      return wide == static_cast<T>(wide) ? std::optional<T>(static_cast<T>(wide)) : std::nullopt;
    }));
  };
  switch (set.physical) {
    case PhysicalType::Bool:
      return put(
          sorted_values<uint8_t>(set, [](const Value& value) { return std::optional<uint8_t>(value.as_boolean()); }));
    case PhysicalType::Int32: return whole(int32_t{});
    case PhysicalType::Int64: return whole(int64_t{});
    case PhysicalType::Int128: return whole(int128_t{});
    case PhysicalType::Float32:
      return put(sorted_values<float>(
          set, [](const Value& value) { return std::optional(static_cast<float>(value.as_double())); }));
    case PhysicalType::Float64:
      return put(sorted_values<double>(set, [](const Value& value) { return std::optional(value.as_double()); }));
    case PhysicalType::Text: {
      std::vector<std::string_view> strings;
      for (const Value& value : set.values) strings.push_back(value.as_string());
      std::sort(strings.begin(), strings.end());
      put_value(count, strings.size());
      return add_strings(strings, values, {Kind::SetBytes, index, 0});
    }
    case PhysicalType::Interval:
      return put(sorted_values<dk_interval>(set, [](const Value& value) {
        dk_interval interval;
        store_value(value, PhysicalType::Interval, &interval);
        return std::optional(interval);
      }));
  }
}

void SectionConstants::add_strings(std::span<const std::string_view> strings, KernelParameter offsets,
                                   KernelParameter bytes) {
  std::vector<uint32_t> ends{0};
  std::string all;
  for (std::string_view text : strings) {
    if (text.size() > most_string_bytes_ - all.size())
      throw Error(SqlState::out_of_memory, "strings that a kernel looks up are more than 4 GiB");
    all += text;
    ends.push_back(static_cast<uint32_t>(all.size()));
  }
  put_address(offsets, append(ends.data(), ends.size() * sizeof(uint32_t)));
  put_address(bytes, append(all.data(), all.size()));
}

int64_t SectionConstants::append(const void* data, size_t bytes) {
  const size_t offset = (block_.size() + 15) / 16 * 16;
  block_.resize(offset + std::max<size_t>(bytes, 1));
  if (bytes > 0) std::memcpy(block_.data() + offset, data, bytes);
  return static_cast<int64_t>(offset);
}

void SectionConstants::put_address(const KernelParameter& parameter, int64_t offset) {
  places_[key_of(parameter)] = {offset, true, 0};
}

void SectionConstants::put_value(const KernelParameter& parameter, uint64_t value) {
  places_[key_of(parameter)] = {0, false, value};
}

void SectionConstants::upload(GpuEngine& engine, Queue& queue) {
  if (block_.empty()) return;
  device_ = engine.device().allocate(static_cast<int64_t>(block_.size()), "constants of a program");
  sent_ = send(engine.device(), queue, device_.address(), block_.data(), static_cast<int64_t>(block_.size()));
}

uint64_t SectionConstants::word(const KernelParameter& parameter) const {
  const Place& place = places_.at(key_of(parameter));
  return place.is_address ? (device_.address() + place.offset).value : place.value;
}

}  // namespace diptych::gpu
