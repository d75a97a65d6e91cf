#include "engine/gpu/groups/state_text.h"

#include "engine/gpu/generator/scalar_text.h"
#include "engine/run/exact_moments.h"

namespace diptych::gpu {
namespace {

bool is_real(PhysicalType physical) { return physical == PhysicalType::Float32 || physical == PhysicalType::Float64; }

// A whole number of 64 bits, or of 128 bits, as a register of the form.
std::string narrowed(const std::string& value, bool is_wide, PhysicalType to) {
  if (to == PhysicalType::Int128) return is_wide ? value : fmt::format("dk_widen_i64({})", value);
  return fmt::format("({})({}{})", type_text(to), value, is_wide ? ".lo" : "");
}

}  // namespace

std::string exact_addend(size_t part, StateKind kind, PhysicalType physical, const std::string& value) {
  const bool is_sum = part == 1;
  if (physical == PhysicalType::Int128)
    return fmt::format("{}({})",
                       is_sum      ? "dk_sum192_of_i128"
                       : part == 2 ? "dk_lower_square_of_i128"
                                   : "dk_upper_square_of_i128",
                       value);
  if (kind == StateKind::Sum192) return fmt::format("dk_square_of_i64({})", value);
  const std::string addend = is_sum ? value : fmt::format("(dk_i64){0} * (dk_i64){0}", value);
  return fmt::format("{}({})", kind == StateKind::SumI64 ? "(dk_u64)" : "dk_widen_i64", addend);
}

StateText::StateText(const GroupPlan& plan, const HashTableInfo& table, std::string space)
    : plan_(plan), table_(table), space_(std::move(space)), qualifier_(space_ == "local" ? "DK_LOCAL" : "DK_GLOBAL") {}

std::string StateText::lock() const { return fmt::format("({} dk_u32*)(at + {})", qualifier_, plan_.state_words - 1); }

bool StateText::is_text(size_t number) const {
  return table_.aggregates[number].argument.physical == PhysicalType::Text;
}

void StateText::note(KernelWriter& out, size_t number) const {
  const StateKind kind = plan_.states.aggregates[number].kind;
  // These count what came.
  if (kind == StateKind::Count || kind == StateKind::Exact || plan_.always_comes(number)) return;
  out.line("dk_note_{}(({} dk_u32*)at + {}, {}U);", space_, qualifier_, note_index(number), came_bit(number));
}

void StateText::update(KernelWriter& out, size_t number, PhysicalType physical, const std::string& value,
                       int failure) const {
  const StateLayout& state = plan_.states.aggregates[number];
  const std::string place = fmt::format("at + {}", state.first_word);
  if (state.kind == StateKind::Count) return out.line("dk_add_{}_u64({}, 1);", space_, place);
  if (state.kind == StateKind::Exact) return update_exact(out, state, physical, value);
  const std::string wide = widened(value, physical, PhysicalType::Int128), real = fmt::format("(dk_f64)({})", value);
  const std::string key =
      is_real(physical) ? fmt::format("dk_key_f64({})", real) : fmt::format("dk_key_i64((dk_i64)({}))", value);
  const auto note_not_finite = [&] {
    out.line("if (!dk_is_finite_f64({})) dk_note_{}(({} dk_u32*)at + {}, {}U);", real, space_, qualifier_,
             note_index(number), not_finite_bit(number));
  };
  switch (state.kind) {
    case StateKind::Count:
    case StateKind::Exact: return;
    case StateKind::SumI64: return out.line("dk_add_{}_u64({}, (dk_u64)(dk_i64)({}));", space_, place, value);
    case StateKind::SumI128: return out.line("dk_atomic_add_{}_i128({}, {});", space_, place, wide);
    case StateKind::SumF64:
      out.line("dk_atomic_add_{}_f64(({} dk_f64*)({}), {});", space_, qualifier_, place, real);
      return note_not_finite();
    case StateKind::Sum192:
      if (table_.aggregates[number].state != AggregateState::SumSquares)
        return out.line("dk_atomic_add_{}_sum192({}, dk_sum192_of_i128({}));", space_, place, wide);
      out.line("dk_i32 error = 0;");
      out.line("dk_atomic_add_{}_sum192({}, dk_sum192_of_i128(dk_square_i128({}, &error)));", space_, place, wide);
      return out.line("DK_NOTE_FAILURE(failure, error, 1, {});", failure);
    case StateKind::Least: return out.line("dk_raise_{}_u64({}, ~{});", space_, place, key);
    case StateKind::Greatest: return out.line("dk_raise_{}_u64({}, {});", space_, place, key);
    case StateKind::LeastI128:
      return out.line("dk_locked_raise_{}_u128({}, {}, dk_complement_u128(dk_key_i128({})));", space_, lock(), place,
                      wide);
    case StateKind::GreatestI128:
      return out.line("dk_locked_raise_{}_u128({}, {}, dk_key_i128({}));", space_, lock(), place, wide);
    case StateKind::Moments:
      out.line("dk_locked_add_{}_moments({}, ({} dk_f64*)({}), dk_moments_of({}));", space_, lock(), qualifier_, place,
               real);
      return note_not_finite();
    case StateKind::Extreme:
      if (is_text(number))
        return out.line("dk_locked_raise_{}_text(DK_SPACES_ARG, {}, {}, {}, {});", space_, lock(), place, value,
                        state.is_least ? 1 : 0);
      out.line("const dk_interval interval = {};", value);
      out.line("dk_u64 words[5];");
      out.line("dk_interval_state(interval, dk_span_of_interval(interval), row_number, {}, words);",
               state.is_least ? 1 : 0);
      return out.line("dk_locked_raise_{}_interval({}, {}, words);", space_, lock(), place);
  }
}

void StateText::update_exact(KernelWriter& out, const StateLayout& state, PhysicalType physical,
                             const std::string& value) const {
  if (state.is_repeated) return;
  const StateLayout* parts = plan_.states.parts.data() + state.first_part;
  out.line("const {} value = {};", type_text(physical), value);
  out.line("dk_add_{}_u64(at + {}, 1);", space_, parts[0].first_word);
  for (size_t i = 1; i < state.part_count; ++i) {
    const StateKind kind = parts[i].kind;
    const std::string add = kind == StateKind::SumI64    ? fmt::format("dk_add_{}_u64", space_)
                            : kind == StateKind::SumI128 ? fmt::format("dk_atomic_add_{}_i128", space_)
                                                         : fmt::format("dk_atomic_add_{}_sum192", space_);
    out.line("{}(at + {}, {});", add, parts[i].first_word, exact_addend(i, kind, physical, "value"));
  }
}

void StateText::merge(KernelWriter& out, const std::string& from) const {
  for (size_t i = 0; i < plan_.states.note_words; ++i) {
    out.line("dk_note_{}(({} dk_u32*)at + {}, (dk_u32){}[{}]);", space_, qualifier_, 2 * i, from, i);
    if (i > 0)
      out.line("dk_note_{}(({} dk_u32*)at + {}, (dk_u32)({}[{}] >> 32));", space_, qualifier_, 2 * i + 1, from, i);
  }
  for (size_t number = 0; number < plan_.states.parts.size(); ++number) {
    const StateLayout& state = plan_.states.parts[number];
    const size_t first = state.first_word;
    const std::string place = fmt::format("at + {}", first);
    const auto word = [&](size_t i) { return fmt::format("{}[{}]", from, first + i); };
    const std::string pair = fmt::format("dk_make_i128((dk_i64){}, {})", word(1), word(0));
    switch (state.kind) {
      case StateKind::Count:
      case StateKind::SumI64: out.line("dk_add_{}_u64({}, {});", space_, place, word(0)); break;
      case StateKind::SumI128: out.line("dk_atomic_add_{}_i128({}, {});", space_, place, pair); break;
      case StateKind::Sum192:
        out.line("dk_atomic_add_{}_sum192({}, dk_sum192_of_words({}, {}, {}));", space_, place, word(0), word(1),
                 word(2));
        break;
      case StateKind::SumF64:
        out.line("dk_atomic_add_{}_f64(({} dk_f64*)({}), DK_F64_OF_BITS({}));", space_, qualifier_, place, word(0));
        break;
      case StateKind::Least:
      case StateKind::Greatest: out.line("dk_raise_{}_u64({}, {});", space_, place, word(0)); break;
      case StateKind::LeastI128:
      case StateKind::GreatestI128:
        out.line("dk_locked_raise_{}_u128({}, {}, dk_make_u128({}, {}));", space_, lock(), place, word(1), word(0));
        break;
      case StateKind::Moments:
        out.line(
            "if ({0} != 0) dk_locked_add_{1}_moments({2}, ({3} dk_f64*)({4}), dk_moments_of_words({0}, {5}, {6}));",
            word(0), space_, lock(), qualifier_, place, word(1), word(2));
        break;
      case StateKind::Extreme:
        if (state.words == text_extreme_words)
          out.line("dk_locked_merge_{}_text(DK_SPACES_ARG, {}, {}, {} + {}, {});", space_, lock(), place, from, first,
                   state.is_least ? 1 : 0);
        else
          out.line("dk_locked_raise_{}_interval({}, {}, {} + {});", space_, lock(), place, from, first);
        break;
      case StateKind::Exact: break;  // never a part
    }
  }
}

void StateText::finish(KernelWriter& out, size_t number, int failure) const {
  const StateLayout& state = plan_.states.aggregates[number];
  if (state.kind == StateKind::Exact) return finish_exact(out, number, failure);
  const PhysicalType physical = table_.aggregates[number].result.physical;
  const auto word = [&](size_t i) { return fmt::format("s[{}]", state.first_word + i); };
  const std::string notes = fmt::format("(dk_u32)(s[{}] >> {})", note_index(number) / 2, note_index(number) % 2 * 32);
  const bool always = state.kind == StateKind::Count || plan_.always_comes(number);
  out.line("const dk_bool there = {};", always ? "1" : fmt::format("({} & {}U) != 0", notes, came_bit(number)));
  const std::string all_finite = fmt::format("({} & {}U) == 0", notes, not_finite_bit(number));
  // Strings as text rows.
  const std::string type = physical == PhysicalType::Text ? "dk_i128" : type_text(physical);
  const auto value = [&](const std::string& text) { out.line("const {} value = {};", type, text); };
  const auto raise_if = [&](const std::string& condition) {
    out.line("DK_NOTE_FAILURE(failure, DK_NUMERIC_OUT_OF_RANGE, there && ({}), {});", condition, failure);
  };
  const std::string pair = fmt::format("dk_make_i128((dk_i64){}, {})", word(1), word(0));
  switch (state.kind) {
    case StateKind::Exact: return;
    case StateKind::Count:
    case StateKind::SumI64: return value(narrowed("(dk_i64)" + word(0), false, physical));
    case StateKind::SumI128: return value(narrowed(pair, true, physical));
    case StateKind::Sum192:
      out.line("const dk_sum192 sum = dk_sum192_of_words({}, {}, {});", word(0), word(1), word(2));
      raise_if("!dk_sum192_fits(sum) || dk_exceeds_38_digits(dk_magnitude_i128(dk_i128_of_sum192(sum)))");
      return value(narrowed("dk_i128_of_sum192(sum)", true, physical));
    case StateKind::SumF64:
      out.line("const dk_f64 sum = DK_F64_OF_BITS({});", word(0));
      raise_if(fmt::format("!dk_is_finite_f64(sum) && sum == sum && {}", all_finite));
      return value("sum");
    case StateKind::Least:
    case StateKind::Greatest: {
      const std::string key = state.kind == StateKind::Least ? "~" + word(0) : word(0);
      return value(fmt::format("({})dk_{}_of_key({})", type, is_real(physical) ? "f64" : "i64", key));
    }
    case StateKind::LeastI128:
      return value(narrowed(fmt::format("dk_i128_of_key(dk_complement_u128(dk_make_u128({}, {})))", word(1), word(0)),
                            true, physical));
    case StateKind::GreatestI128:
      return value(narrowed(fmt::format("dk_i128_of_key(dk_make_u128({}, {}))", word(1), word(0)), true, physical));
    case StateKind::Moments:
      out.line("const dk_bool all_finite = {};", all_finite);
      out.line("const dk_f64 squares = DK_F64_OF_BITS({});", word(2));
      raise_if("!dk_is_finite_f64(squares) && all_finite");
      return value("all_finite ? squares : DK_F64_OF_BITS(DK_U64(0x7FF8000000000000))");
    case StateKind::Extreme:
      if (is_text(number))
        return value(fmt::format("dk_make_i128({0} == 0 ? 0 : (dk_i64){0} - 1, {1})", word(2), word(1)));
      return value(fmt::format("dk_interval_of_words({}, {})", word(3), word(4)));
  }
}

void StateText::finish_exact(KernelWriter& out, size_t number, int failure) const {
  const StateLayout& state = plan_.states.aggregates[number];
  const StateLayout* parts = plan_.states.parts.data() + state.first_part;
  const auto sum = [&](size_t part) {
    if (part >= state.part_count) return std::string("dk_sum192_of_i64(0)");
    const auto word = [&](size_t i) { return fmt::format("s[{}]", parts[part].first_word + i); };
    if (parts[part].kind == StateKind::Sum192)
      return fmt::format("dk_sum192_of_words({}, {}, {})", word(0), word(1), word(2));
    if (parts[part].kind == StateKind::SumI64) return fmt::format("dk_sum192_of_i64((dk_i64){})", word(0));
    return fmt::format("dk_sum192_of_i128(dk_make_i128((dk_i64){}, {}))", word(1), word(0));
  };
  const MomentsFormula formula = moments_formula(table_.aggregates[number]);
  const std::string count = fmt::format("s[{}]", parts[0].first_word);
  out.line("dk_i32 error = 0;");
  out.line("const dk_bool there = {} > {};", count, formula.of_sample ? 1 : 0);
  out.line("dk_i128 value = dk_widen_i64(0);");
  if (formula.is_average)
    out.line("if (there) value = dk_exact_average_of({}, {}, {}, &error);", count, sum(1), formula.shift);
  else
    out.line("if (there) value = dk_exact_deviation_of({}, {}, {}, {}, {}, {}, {}, &error);", count, sum(1), sum(2),
             sum(3), formula.of_sample ? 1 : 0, formula.has_root ? 1 : 0, formula.shift);
  out.line("DK_NOTE_FAILURE(failure, error, 1, {});", failure);
}

}  // namespace diptych::gpu
