#include "engine/gpu/sort/key_text.h"

#include <fmt/format.h>

#include <vector>

namespace diptych::gpu {
namespace {

// The functions of kernel/sort_key.h that give the words of a value.
std::vector<std::string> word_functions(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Bool: return {"dk_sort_word_bool"};
    case PhysicalType::Int32: return {"dk_sort_word_i32"};
    case PhysicalType::Int64: return {"dk_sort_word_i64"};
    case PhysicalType::Float32: return {"dk_sort_word_f32"};
    case PhysicalType::Float64: return {"dk_sort_word_f64"};
    case PhysicalType::Int128: return {"dk_sort_high_i128", "dk_sort_low_i128"};
    case PhysicalType::Interval: return {"dk_sort_high_interval", "dk_sort_low_interval"};
    case PhysicalType::Text: return {"dk_sort_word_text"};
  }
  return {};
}

}  // namespace

std::string sort_key_statements(const SortKeyPlace& place, const SortBoundText& bounds, const std::string& value,
                                const std::string& valid, const std::string& words) {
  if (place.bits > 0) {
    const std::string whole = place.physical == PhysicalType::Int128 ? "(dk_i64)" + value + ".lo" : value;
    const std::string code = fmt::format("dk_sort_code({}, {}, {:d}, (dk_i64){}, {}, {})", valid, whole,
                                         place.descending, bounds.first_value, place.first_code, bounds.null_code);
    const std::string word = fmt::format("{}[{}]", words, place.at);
    if (place.starts_word) return word + " = " + code + ";\n";
    return fmt::format("{0} = {0} << {1} | {2};\n", word, place.bits, code);
  }
  std::string text;
  size_t at = place.at;
  if (place.nullable) text = fmt::format("{}[{}] = dk_sort_null({}, {:d});\n", words, at++, valid, place.nulls_first);
  for (const std::string& function : word_functions(place.physical)) {
    text += fmt::format("{}[{}] = dk_sort_value({}, {}({}), {:d});\n", words, at++, valid, function, value,
                        place.descending);
  }
  return text;
}

}  // namespace diptych::gpu
