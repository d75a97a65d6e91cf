#include "engine/run/shared_section.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/run/kernel_error.h"
#include "kernel/kernel.h"
#include "program/section_contents.h"
#include "tablet/aligned_buffer.h"

namespace diptych {
namespace {

bool is_additive(const AggregateInfo& aggregate) {
  const PhysicalType argument = aggregate.argument.physical, result = aggregate.result.physical;
  switch (aggregate.state) {
    case AggregateState::Min:
    case AggregateState::Max: return result != PhysicalType::Text && result != PhysicalType::Interval;
    // What does not fit 128 bits in a part may fit them in the whole.
    case AggregateState::SumInt128: return argument != PhysicalType::Int128;
    case AggregateState::SumSquares:
    case AggregateState::VarianceFloat64:
    case AggregateState::ExactAvg:
    case AggregateState::ExactStddevSamp:
    case AggregateState::ExactStddevPop:
    case AggregateState::ExactVarSamp:
    case AggregateState::ExactVarPop: return false;
    default: return true;
  }
}

// NaN is the greatest value, as SQL orders it.
template <typename T>
bool is_less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  }
  return a < b;
}

template <typename T>
T combined(AggregateState state, T a, T b, int32_t position) {
  switch (state) {
    case AggregateState::Min: return is_less(b, a) ? b : a;
    case AggregateState::Max: return is_less(a, b) ? b : a;
    case AggregateState::BoolAnd: return std::min(a, b);
    case AggregateState::BoolOr: return std::max(a, b);
    default: break;
  }
  const T sum = static_cast<T>(a + b);
  if constexpr (std::is_floating_point_v<T>) {
    // As PostgreSQL: a sum of finite numbers that becomes infinite is an error.
    if (std::isinf(sum) && std::isfinite(a) && std::isfinite(b)) raise_kernel_error(DK_NUMERIC_OUT_OF_RANGE, position);
  }
  return sum;
}

template <typename T>
void combine(const AggregateInfo& aggregate, const std::byte* a, const std::byte* b, std::byte* to) {
  T x, y;
  std::memcpy(&x, a, sizeof(T));
  std::memcpy(&y, b, sizeof(T));
  const T result = combined(aggregate.state, x, y, aggregate.position);
  std::memcpy(to, &result, sizeof(T));
}

void combine_values(const AggregateInfo& aggregate, const std::byte* a, const std::byte* b, std::byte* to) {
  switch (aggregate.result.physical) {
    case PhysicalType::Bool: return combine<uint8_t>(aggregate, a, b, to);
    case PhysicalType::Int32: return combine<int32_t>(aggregate, a, b, to);
    case PhysicalType::Int64: return combine<int64_t>(aggregate, a, b, to);
    case PhysicalType::Int128: return combine<int128_t>(aggregate, a, b, to);
    case PhysicalType::Float32: return combine<float>(aggregate, a, b, to);
    case PhysicalType::Float64: return combine<double>(aggregate, a, b, to);
    default: break;  // is_additive() admits no other
  }
}

bool is_there(const ColumnView& view) { return view.validity == nullptr || (view.validity[0] & 1) != 0; }

}  // namespace

bool can_share(const Program& program, int32_t address, int64_t wanted) {
  const auto opcodes = opcodes_of(program, address);
  return std::all_of(opcodes.begin(), opcodes.end(), [&](const Instruction& at) {
    if (at.opcode == Opcode::Group || at.opcode == Opcode::Append) return false;
    // Its index is in one place.
    if (at.opcode == Opcode::Matches) return false;
    if (at.opcode == Opcode::Result) return wanted < 0;
    if (at.opcode != Opcode::Aggregate) return true;
    const HashTableInfo& table = program.hash_tables[static_cast<size_t>(at.p1)];
    return table.keys.empty() && !shares_groups(program, address, at.p1) &&
           std::all_of(table.aggregates.begin(), table.aggregates.end(), is_additive);
  });
}

std::shared_ptr<const RowSet> add_totals(const Program& program, int32_t hash_table, const TabletSource& a,
                                         const TabletSource& b, const Memory& memory) {
  const HashTableInfo& table = program.hash_tables[static_cast<size_t>(hash_table)];
  std::vector<size_t> all(table.aggregates.size());
  std::iota(all.begin(), all.end(), size_t{0});
  const auto row_a = a.pin(0, all), row_b = b.pin(0, all);
  // One value of at most 16 bytes and one byte of validity a column.
  constexpr size_t value_bytes = 64, column_bytes = 128;
  auto values = std::make_shared<AlignedBuffer>(std::max<size_t>(1, all.size()) * column_bytes);
  std::fill_n(values->data(), values->size(), std::byte{0});
  std::vector<ColumnView> views;
  std::vector<ColumnDefinition> columns;
  for (const size_t i : all) {
    const AggregateInfo& aggregate = table.aggregates[i];
    const ColumnView &x = row_a->views[i], &y = row_b->views[i];
    std::byte* place = values->data() + i * column_bytes;
    ColumnView& view = views.emplace_back();
    view.encoding = Encoding::Plain;
    view.physical = aggregate.result.physical;
    view.data = place;
    if (is_there(x) && is_there(y))
      combine_values(aggregate, x.data, y.data, place);
    else if (is_there(x) || is_there(y))
      std::memcpy(place, (is_there(x) ? x : y).data, static_cast<size_t>(width_bytes(view.physical)));
    else
      view.validity = reinterpret_cast<const uint8_t*>(place + value_bytes);
    columns.push_back({"", aggregate.result.type});
  }
  auto totals = std::make_shared<HostRowSet>(std::move(columns), memory);
  totals->add(HostPiece{1, std::move(views), {}, std::move(values)});
  return totals;
}

}  // namespace diptych
