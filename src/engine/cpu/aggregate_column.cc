#include "engine/cpu/aggregate_column.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/error.h"
#include "engine/cpu/row_function.h"
#include "engine/run/exact_moments.h"

namespace diptych::cpu {
namespace {

// ---- what all have in common

// Derived has: struct State; static void combine(State&, const State&); Out result(const State&); and
// void block(State&, input, rows), void row(State&, input, row).
template <typename Derived, typename StateType, typename Out>
class TypedColumn : public AggregateColumn {
 public:
  using State = StateType;
  static_assert(std::is_trivially_copyable_v<State>);
  size_t state_bytes() const override { return sizeof(State); }
  size_t alignment() const override { return alignof(State); }
  void add(const AggregateInput& input, const RowMask& rows, uint32_t group) override {
    self().block(state(group), has(group) != 0, input, rows);
    has(group) = 1;
  }
  void scatter(const AggregateInput& input, const RowMask& rows, const uint32_t* numbers) override {
    // Compiled for columns, whose strides are known, and for rows.
    if (this->places_.has_stride == 1)
      scatter(input, rows, numbers, std::integral_constant<size_t, sizeof(State)>(),
              std::integral_constant<size_t, 1>());
    else
      scatter(input, rows, numbers, this->places_.stride, this->places_.has_stride);
  }
  void merge(const PlacesOfStates<const std::byte>& others, const char* strings, std::span<const uint32_t> from,
             std::span<const uint32_t> to) override {
    for (size_t i = 0; i < to.size(); ++i) {
      if (others.has[from[i] * others.has_stride] == std::byte{0}) continue;
      const State other =
          self().at_hand(reinterpret_cast<const State&>(others.states[from[i] * others.stride]), strings);
      if (has(to[i]) != 0)
        self().combine(state(to[i]), other);
      else
        state(to[i]) = self().own(other);
      has(to[i]) = 1;
    }
  }
  bool emit(std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const override {
    bool nulls = false;
    for (size_t i = 0; i < groups.size(); ++i) {
      const Out result = static_cast<const Derived&>(*this).result(state(groups[i]));
      std::memcpy(out + i * sizeof(Out), &result, sizeof(Out));
      if (Derived::null_when_empty && has(groups[i]) == 0) {
        valid[i / 64] &= ~(uint64_t{1} << (i % 64));
        nulls = true;
      }
    }
    return nulls;
  }

  static constexpr bool null_when_empty = true;
  // A state of another column, with its strings, and as this one keeps it.
  static State at_hand(const State& state, const char* /*strings*/) { return state; }
  State own(const State& state) const { return state; }

 protected:
  State& state(uint32_t group) const {
    return reinterpret_cast<State&>(this->places_.states[group * this->places_.stride]);
  }
  uint8_t& has(uint32_t group) const {
    return reinterpret_cast<uint8_t&>(this->places_.has[group * this->places_.has_stride]);
  }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
  template <typename Stride, typename HasStride>
  void scatter(const AggregateInput& input, const RowMask& rows, const uint32_t* numbers, Stride stride,
               HasStride has_stride) {
    std::byte* const states = this->places_.states;
    auto* const has = reinterpret_cast<uint8_t*>(this->places_.has);
    for_each_row(rows.words, input.words, [&](int row) {
      const size_t group = numbers[row];
      self().row(reinterpret_cast<State&>(states[group * stride]), has[group * has_stride] != 0, input, row);
      has[group * has_stride] = 1;
    });
  }
};

// ---- counts and sums

class CountColumn final : public TypedColumn<CountColumn, int64_t, int64_t> {
 public:
  static constexpr bool null_when_empty = false;
  void block(int64_t& count, bool, const AggregateInput& input, const RowMask& rows) {
    for (int w = 0; w < input.words; ++w) count += std::popcount(rows.words[w]);
  }
  void row(int64_t& count, bool, const AggregateInput&, int) { ++count; }
  void combine(int64_t& count, int64_t other) { count += other; }
  int64_t result(int64_t count) const { return count; }
};

template <typename T>
class SumInt64Column final : public TypedColumn<SumInt64Column<T>, int64_t, int64_t> {
 public:
  void block(int64_t& sum, bool, const AggregateInput& input, const RowMask& rows) {
    int64_t part = 0;
    const SumLoop loop = sizeof(T) == 4 ? loops().sum_i32 : loops().sum_i64;
    loop(rows.words, input.words, input.argument->values, &part);
    sum += part;
  }
  void row(int64_t& sum, bool, const AggregateInput& input, int row) {
    sum += value_at<T>(input.argument->values, row);
  }
  void combine(int64_t& sum, int64_t other) { sum += other; }
  int64_t result(int64_t sum) const { return sum; }
};

// Of 32 or 64 bits: 2^63 rows of them fit 128.
template <typename T>
class SumInt128Column final : public TypedColumn<SumInt128Column<T>, int128_t, int128_t> {
 public:
  // small: a block's sum fits 64 bits.
  explicit SumInt128Column(bool small) : small_(small) {}
  void block(int128_t& sum, bool, const AggregateInput& input, const RowMask& rows) {
    int64_t narrow = 0;
    int128_t part = 0;
    if (sizeof(T) == 8 && !small_) {
      loops().sum_i64_wide(rows.words, input.words, input.argument->values, &part);
    } else {
      const SumLoop loop = sizeof(T) == 4 ? loops().sum_i32 : loops().sum_i64;
      loop(rows.words, input.words, input.argument->values, &narrow);
      part = narrow;
    }
    sum += part;
  }
  void row(int128_t& sum, bool, const AggregateInput& input, int row) {
    sum += value_at<T>(input.argument->values, row);
  }
  void combine(int128_t& sum, int128_t other) { sum += other; }
  int128_t result(int128_t sum) const { return sum; }

 private:
  bool small_;
};

// Of 128 bits: what passes 38 digits on the way may fit them in the end.
class WideSumColumn final : public TypedColumn<WideSumColumn, WideSum, int128_t> {
 public:
  void block(WideSum& sum, bool, const AggregateInput& input, const RowMask& rows) {
    for_each_row(rows.words, input.words, [&](int at) { row(sum, true, input, at); });
  }
  void row(WideSum& sum, bool, const AggregateInput& input, int row) {
    sum.add(value_at<int128_t>(input.argument->values, row));
  }
  void combine(WideSum& sum, const WideSum& other) { sum.add(other); }
  int128_t result(const WideSum& sum) const {
    const std::optional<int128_t> numeric = sum.numeric();
    if (!numeric) this->overflow();
    return *numeric;
  }
};

// Averages and deviations of exact numbers, beyond 128 bits.
template <typename T>
class ExactMomentsColumn final : public TypedColumn<ExactMomentsColumn<T>, ExactMoments, int128_t> {
 public:
  explicit ExactMomentsColumn(const AggregateInfo& info) : formula_(moments_formula(info)) {}
  void block(ExactMoments& moments, bool, const AggregateInput& input, const RowMask& rows) {
    for_each_row(rows.words, input.words, [&](int at) { row(moments, true, input, at); });
  }
  void row(ExactMoments& moments, bool, const AggregateInput& input, int row) {
    moments.add(value_at<T>(input.argument->values, row));
  }
  void combine(ExactMoments& moments, const ExactMoments& other) { moments.add(other); }
  bool emit(std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const override {
    bool nulls = false;
    for (size_t i = 0; i < groups.size(); ++i) {
      int128_t result = 0;
      const MomentsResult kind = finish_moments(formula_, this->state(groups[i]), result);
      if (kind == MomentsResult::Overflow) this->overflow();
      std::memcpy(out + i * sizeof(result), &result, sizeof(result));
      if (kind != MomentsResult::Null) continue;
      valid[i / 64] &= ~(uint64_t{1} << (i % 64));
      nulls = true;
    }
    return nulls;
  }
  int128_t result(const ExactMoments&) const { return 0; }

 private:
  MomentsFormula formula_;
};

template <typename T>
class SumSquaresColumn final : public TypedColumn<SumSquaresColumn<T>, int128_t, int128_t> {
 public:
  void block(int128_t& sum, bool, const AggregateInput& input, const RowMask& rows) {
    for_each_row(rows.words, input.words, [&](int at) { row(sum, true, input, at); });
  }
  void row(int128_t& sum, bool, const AggregateInput& input, int row) {
    const int128_t value = value_at<T>(input.argument->values, row);
    int128_t square = 0;
    if (__builtin_mul_overflow(value, value, &square) || __builtin_add_overflow(sum, square, &sum)) this->overflow();
  }
  void combine(int128_t& sum, int128_t other) {
    if (__builtin_add_overflow(sum, other, &sum)) this->overflow();
  }
  int128_t result(int128_t sum) const { return sum; }
};

// As PostgreSQL: a sum of finite numbers that becomes infinite is an error.
template <typename T>
class SumFloat64Column final : public TypedColumn<SumFloat64Column<T>, double, double> {
 public:
  void block(double& sum, bool, const AggregateInput& input, const RowMask& rows) {
    double part = 0;
    const SumLoop loop = sizeof(T) == 4 ? loops().sum_f32 : loops().sum_f64;
    loop(rows.words, input.words, input.argument->values, &part);
    if (std::isinf(part) && all_finite(input, rows)) this->overflow();
    accumulate(sum, part);
  }
  void row(double& sum, bool, const AggregateInput& input, int row) {
    accumulate(sum, static_cast<double>(value_at<T>(input.argument->values, row)));
  }
  void combine(double& sum, double other) { accumulate(sum, other); }
  double result(double sum) const { return sum; }

 private:
  void accumulate(double& sum, double value) const {
    const double total = sum + value;
    if (std::isinf(total) && std::isfinite(sum) && std::isfinite(value)) this->overflow();
    sum = total;
  }
  static bool all_finite(const AggregateInput& input, const RowMask& rows) {
    bool finite = true;
    for_each_row(rows.words, input.words,
                 [&](int row) { finite &= std::isfinite(value_at<T>(input.argument->values, row)); });
    return finite;
  }
};

// ---- least and greatest

template <typename T>
bool comes_before(T a, T b) {
  if constexpr (std::is_same_v<T, dk_interval>)
    return dk_lt_interval(a, b) != 0;
  else if constexpr (std::is_same_v<T, dk_i128>)
    return dk_lt_i128(a, b) != 0;
  else if constexpr (std::is_same_v<T, dk_f32>)
    return dk_lt_f32(a, b) != 0;
  else if constexpr (std::is_same_v<T, dk_f64>)
    return dk_lt_f64(a, b) != 0;
  else
    return a < b;
}

template <typename T, bool Greatest>
class ExtremeColumn final : public TypedColumn<ExtremeColumn<T, Greatest>, T, T> {
 public:
  // loop: for a block's rows; null: row by row.
  explicit ExtremeColumn(SumLoop loop) : loop_(loop) {}
  void block(T& best, bool has, const AggregateInput& input, const RowMask& rows) {
    if (loop_ == nullptr) {
      for_each_row(rows.words, input.words, [&](int at) {
        row(best, has, input, at);
        has = true;
      });
      return;
    }
    T part{};
    loop_(rows.words, input.words, input.argument->values, &part);
    take(best, has, part);
  }
  void row(T& best, bool has, const AggregateInput& input, int row) {
    take(best, has, value_at<T>(input.argument->values, row));
  }
  void combine(T& best, T other) { take(best, true, other); }
  T result(T best) const { return best; }

 private:
  static void take(T& best, bool has, T value) {
    // Equal intervals may differ, as a month and 30 days do: the later one is taken, as in PostgreSQL.
    const bool takes_equal = std::is_same_v<T, dk_interval>;
    if (!has || (takes_equal ? !(Greatest ? comes_before(value, best) : comes_before(best, value))
                             : (Greatest ? comes_before(best, value) : comes_before(value, best))))
      best = value;
  }
  SumLoop loop_;
};

// The strings live in an arena of the column.
template <bool Greatest>
class ExtremeTextColumn final : public TypedColumn<ExtremeTextColumn<Greatest>, dk_text, dk_text> {
 public:
  void block(dk_text& best, bool has, const AggregateInput& input, const RowMask& rows) {
    dk_text part = best;
    for_each_row(rows.words, input.words, [&](int at) {
      const dk_text value = value_at<dk_text>(input.argument->values, at);
      if (!has || better(value, part)) part = value;
      has = true;
    });
    if (part.data != best.data || best.data == nullptr) best = copy(part);
  }
  void row(dk_text& best, bool has, const AggregateInput& input, int row) {
    const dk_text value = value_at<dk_text>(input.argument->values, row);
    if (!has || better(value, best)) best = copy(value);
  }
  void combine(dk_text& best, dk_text other) {
    if (better(other, best)) best = copy(other);
  }
  dk_text result(dk_text best) const { return best; }
  static dk_text at_hand(dk_text text, const char* strings) {
    if (strings != nullptr) text.data = strings + reinterpret_cast<uint64_t>(text.data);
    return text;
  }
  dk_text own(dk_text text) { return copy(text); }
  void clear() override { arena_ = TextArena(); }
  bool holds_texts() const override { return true; }
  size_t text_bytes() const override { return arena_.bytes(); }

 private:
  static bool better(dk_text a, dk_text b) { return (Greatest ? dk_lt_text(b, a) : dk_lt_text(a, b)) != 0; }
  dk_text copy(dk_text text) {
    if (text.length == 0) return {"", 0};
    char* place = arena_.allocate(static_cast<size_t>(text.length));
    std::memcpy(place, text.data, static_cast<size_t>(text.length));
    return {place, text.length};
  }
  TextArena arena_;
};

template <bool And>
class BoolColumn final : public TypedColumn<BoolColumn<And>, uint8_t, uint8_t> {
 public:
  void block(uint8_t& state, bool has, const AggregateInput& input, const RowMask& rows) {
    for_each_row(rows.words, input.words, [&](int at) {
      row(state, has, input, at);
      has = true;
    });
  }
  void row(uint8_t& state, bool has, const AggregateInput& input, int row) {
    const uint8_t value = value_at<uint8_t>(input.argument->values, row) != 0;
    if (has)
      combine(state, value);
    else
      state = value;
  }
  void combine(uint8_t& state, uint8_t other) { state = And ? state & other : state | other; }
  uint8_t result(uint8_t state) const { return state; }
};

// ---- variance

struct Moments {
  double count = 0, sum = 0, squares = 0;  // squares of the differences from the mean
};

// Youngs and Cramer, "Some results relevant to choice of sum and sum-of-product algorithms", 1971; as PostgreSQL, an
// infinite or NaN argument makes the result NaN, and only an overflow out of finite ones is an error.
class VarianceColumn final : public TypedColumn<VarianceColumn, Moments, double> {
 public:
  void block(Moments& moments, bool has, const AggregateInput& input, const RowMask& rows) {
    for_each_row(rows.words, input.words, [&](int at) { row(moments, has, input, at); });
  }
  void row(Moments& moments, bool, const AggregateInput& input, int row) {
    const double value = value_at<double>(input.argument->values, row);
    const double before = moments.sum;
    moments.count += 1;
    moments.sum += value;
    if (moments.count > 1) {
      const double difference = value * moments.count - moments.sum;
      moments.squares += difference * difference / (moments.count * (moments.count - 1));
      if (std::isinf(moments.sum) || std::isinf(moments.squares)) {
        if (!std::isinf(before) && !std::isinf(value)) this->overflow();
        moments.squares = std::nan("");
      }
    } else if (!std::isfinite(value)) {
      moments.squares = std::nan("");
    }
  }
  void combine(Moments& a, const Moments& b) {
    const double difference = a.sum / a.count - b.sum / b.count;
    const double count = a.count + b.count;
    a.squares += b.squares + a.count * b.count * difference * difference / count;
    a.count = count;
    a.sum += b.sum;
  }
  double result(const Moments& moments) const { return moments.squares; }
};

// ---- choosing

// Values below 2^51 in magnitude: 2^12 of them fit 63 bits.
bool block_sum_is_small(const RegisterInfo& argument) {
  constexpr int128_t bound = int128_t{1} << 51;
  return argument.has_range && argument.low > -bound && argument.high < bound;
}

template <template <typename> typename Column, typename... Arguments>
std::unique_ptr<AggregateColumn> of_whole(PhysicalType physical, Arguments... arguments) {
  switch (physical) {
    case PhysicalType::Int32: return std::make_unique<Column<int32_t>>(arguments...);
    case PhysicalType::Int64: return std::make_unique<Column<int64_t>>(arguments...);
    default: return std::make_unique<Column<int128_t>>(arguments...);
  }
}

template <bool Greatest>
std::unique_ptr<AggregateColumn> extreme_of(PhysicalType physical) {
  const auto loop = [](Lane lane) {
    return Greatest ? loops().greatest[static_cast<size_t>(lane)] : loops().least[static_cast<size_t>(lane)];
  };
  switch (physical) {
    case PhysicalType::Bool: return std::make_unique<ExtremeColumn<uint8_t, Greatest>>(loop(Lane::U8));
    case PhysicalType::Int32: return std::make_unique<ExtremeColumn<int32_t, Greatest>>(loop(Lane::I32));
    case PhysicalType::Int64: return std::make_unique<ExtremeColumn<int64_t, Greatest>>(loop(Lane::I64));
    case PhysicalType::Int128: return std::make_unique<ExtremeColumn<dk_i128, Greatest>>(nullptr);
    case PhysicalType::Float32: return std::make_unique<ExtremeColumn<float, Greatest>>(loop(Lane::F32));
    case PhysicalType::Float64: return std::make_unique<ExtremeColumn<double, Greatest>>(loop(Lane::F64));
    case PhysicalType::Interval: return std::make_unique<ExtremeColumn<dk_interval, Greatest>>(nullptr);
    default: return std::make_unique<ExtremeTextColumn<Greatest>>();
  }
}

std::unique_ptr<AggregateColumn> make_column(const AggregateInfo& info) {
  const PhysicalType argument = info.argument.physical;
  switch (info.state) {
    case AggregateState::CountStar:
    case AggregateState::Count: return std::make_unique<CountColumn>();
    case AggregateState::SumInt64:
      if (argument == PhysicalType::Int32) return std::make_unique<SumInt64Column<int32_t>>();
      return std::make_unique<SumInt64Column<int64_t>>();
    case AggregateState::SumInt128:
      if (argument == PhysicalType::Int32) return std::make_unique<SumInt128Column<int32_t>>(true);
      if (argument == PhysicalType::Int64)
        return std::make_unique<SumInt128Column<int64_t>>(block_sum_is_small(info.argument));
      return std::make_unique<WideSumColumn>();
    case AggregateState::ExactAvg:
    case AggregateState::ExactStddevSamp:
    case AggregateState::ExactStddevPop:
    case AggregateState::ExactVarSamp:
    case AggregateState::ExactVarPop: return of_whole<ExactMomentsColumn>(argument, info);
    case AggregateState::SumFloat64:
      if (argument == PhysicalType::Float32) return std::make_unique<SumFloat64Column<float>>();
      return std::make_unique<SumFloat64Column<double>>();
    case AggregateState::Min: return extreme_of<false>(argument);
    case AggregateState::Max: return extreme_of<true>(argument);
    case AggregateState::BoolAnd: return std::make_unique<BoolColumn<true>>();
    case AggregateState::BoolOr: return std::make_unique<BoolColumn<false>>();
    case AggregateState::VarianceFloat64: return std::make_unique<VarianceColumn>();
    case AggregateState::SumSquares: return of_whole<SumSquaresColumn>(argument);
  }
  throw Error(SqlState::internal_error, "an aggregate without a state");
}

}  // namespace

std::unique_ptr<AggregateColumn> make_aggregate_column(const AggregateInfo& info) {
  auto column = make_column(info);
  column->position_ = info.position;
  return column;
}

void AggregateColumn::overflow() const { raise_kernel_error(DK_NUMERIC_OUT_OF_RANGE, position_); }

}  // namespace diptych::cpu
