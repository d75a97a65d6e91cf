// bench_engine [rows] [threads] [part of a name]: hand-made programs on the CPU engine beside plain C++ loops over
// plain arrays, in one run.
//
// Each line: best of several runs, and the ratio to the loop on one thread. The tables are those of the seed's ten
// queries and of TPC-H's q1 and q6, in the encodings that the tablet builder chooses.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <random>

#include "base/block_pool.h"
#include "engine/program_maker.h"

namespace diptych {
namespace {

using testing::ProgramMaker;

const Type integer{TypeId::Integer}, bigint{TypeId::BigInt}, real{TypeId::Real};
constexpr int64_t tablet_rows = 131072;

struct Data {
  std::vector<int32_t> id, uniform, normal5, normal20;
  std::vector<float> uniform_f, normal5_f;
  std::vector<int32_t> flag, status, quantity, price, discount, tax, date;
};

Data make_data(int64_t rows) {
  Data data;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-100, 100);
  std::normal_distribution<double> narrow(0, 5), wide(0, 20);
  const auto below = [&](int bound) { return static_cast<int32_t>(random() % static_cast<uint64_t>(bound)); };
  for (int64_t i = 0; i < rows; ++i) {
    data.id.push_back(static_cast<int32_t>(i));
    data.uniform.push_back(static_cast<int32_t>(uniform(random)));
    data.normal5.push_back(static_cast<int32_t>(narrow(random)));
    data.normal20.push_back(static_cast<int32_t>(wide(random)));
    data.uniform_f.push_back(static_cast<float>(uniform(random)));
    data.normal5_f.push_back(static_cast<float>(narrow(random)));
    data.flag.push_back(below(4) < 2 ? 0 : 1 + below(2));
    data.status.push_back(data.flag.back() == 0 ? 0 : 1);
    data.quantity.push_back(100 + 100 * below(50));
    data.price.push_back(90000 + below(10000000));
    data.discount.push_back(below(11));
    data.tax.push_back(below(9));
    data.date.push_back(-2900 + below(2500));
  }
  return data;
}

template <typename T>
PhysicalType physical_of() {
  return std::is_same_v<T, float> ? PhysicalType::Float32 : PhysicalType::Int32;
}

struct Input {
  Type type;
  BatchColumn column;
};
template <typename T>
Input input(const std::vector<T>& values) {
  BatchColumn column;
  column.physical = physical_of<T>();
  column.values = values.data();
  return {std::is_same_v<T, float> ? real : integer, column};
}

std::shared_ptr<const TabletSource> make_source(const std::vector<Input>& inputs, int64_t rows) {
  std::vector<ColumnDefinition> columns;
  std::vector<BatchColumn> batch;
  for (const Input& one : inputs) {
    columns.push_back({"", one.type});
    batch.push_back(one.column);
  }
  auto source = std::make_shared<MemorySource>(columns);
  TabletBuilder builder(columns, tablet_rows, std::vector<Dictionary*>(columns.size(), nullptr));
  for (int64_t first = 0; first < rows;) {
    first += builder.append({rows, batch}, first, std::min(tablet_rows, rows - first));
    source->add(builder.finish());
  }
  return source;
}

double seconds(const std::function<void()>& work) {
  double best = 1e9;
  for (int i = 0; i < 7; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

struct Bench {
  int64_t rows;
  int threads;
  std::string wanted;  // only benchmarks with this in their names
  MemoryBudget budget{int64_t{16} << 30};
  BlockPool pool{budget};

  void report(const std::string& name, const std::shared_ptr<const Program>& program,
              const std::function<int64_t()>& loop) {
    if (name.find(wanted) == std::string::npos) return;
    volatile int64_t sink = 0;
    const double by_hand = seconds([&] { sink = loop(); });
    fmt::print("{:<28} loop {:7.2f} ms", name, by_hand * 1e3);
    for (const int used : {1, threads}) {
      ExecutionContext context;
      context.threads = used;
      context.budget = &budget;
      context.pool = &pool;
      int64_t result_rows = 0;
      const double time = seconds([&] { result_rows = run_program(program, context)->row_count(); });
      fmt::print("   {} thread(s) {:7.2f} ms, ratio {:5.2f}", used, time * 1e3, time / by_hand);
      if (used == threads) fmt::print("   ({} rows)", result_rows);
    }
    fmt::print("\n");
  }
};

// select id, a, b from t where a > x and b < y
void filter(Bench& bench, const char* name, const std::shared_ptr<const TabletSource>& source, int a, int b,
            const Value& x, const Value& y, const std::function<int64_t()>& loop) {
  ProgramMaker maker(source);
  maker.parallel(0);
  const int first = maker.reg(integer), second = maker.reg(x.type()), third = maker.reg(x.type());
  maker.emit(Opcode::Column, second, a);
  const int low = maker.constant(x), high = maker.constant(y);
  const int32_t leave = maker.emit(Opcode::Le, second, low, 0, jump_if_null);
  maker.emit(Opcode::Column, third, b);
  const int32_t leave_too = maker.emit(Opcode::Ge, third, high, 0, jump_if_null);
  maker.emit(Opcode::Column, first, 0);
  maker.result({first, second, third});
  maker.land(leave);
  maker.land(leave_too);
  maker.converge();
  bench.report(name, maker.finish(), loop);
}

template <typename T>
std::function<int64_t()> filter_loop(const Data& data, const std::vector<T>& a, const std::vector<T>& b, T x, T y,
                                     std::vector<std::vector<int32_t>>& room) {
  return [&data, &a, &b, x, y, &room]() -> int64_t {
    int64_t count = 0;
    int32_t* const o0 = room[0].data();
    T* const o1 = reinterpret_cast<T*>(room[1].data());
    T* const o2 = reinterpret_cast<T*>(room[2].data());
    for (size_t i = 0; i < a.size(); ++i) {
      o0[count] = data.id[i];
      o1[count] = a[i];
      o2[count] = b[i];
      count += (a[i] > x) & (b[i] < y);
    }
    return count;
  };
}

// select id, uniform, normal20 from t where (normal20 + 40) > (uniform - 10)
void arithmetic_filter(Bench& bench, const std::shared_ptr<const TabletSource>& source, const Data& data,
                       std::vector<std::vector<int32_t>>& room) {
  ProgramMaker maker(source);
  maker.parallel(0);
  const int first = maker.reg(integer), second = maker.reg(integer), third = maker.reg(integer);
  maker.emit(Opcode::Column, third, 3);
  const int forty = maker.constant(Value::integer(40)), ten = maker.constant(Value::integer(10));
  const int sum = maker.reg(integer), difference = maker.reg(integer);
  maker.emit(Opcode::Add, sum, third, forty, Check::None);
  maker.emit(Opcode::Column, second, 1);
  maker.emit(Opcode::Sub, difference, second, ten, Check::None);
  const int32_t leave = maker.emit(Opcode::Le, sum, difference, 0, jump_if_null);
  maker.emit(Opcode::Column, first, 0);
  maker.result({first, second, third});
  maker.land(leave);
  maker.converge();
  bench.report("virginian q5", maker.finish(), [&]() -> int64_t {
    int64_t count = 0;
    for (size_t i = 0; i < data.id.size(); ++i) {
      room[0][static_cast<size_t>(count)] = data.id[i];
      room[1][static_cast<size_t>(count)] = data.uniform[i];
      room[2][static_cast<size_t>(count)] = data.normal20[i];
      count += data.normal20[i] + 40 > data.uniform[i] - 10;
    }
    return count;
  });
}

RegisterInfo ranged(PhysicalType physical, const Type& type, int64_t low, int64_t high) {
  return {physical, type, false, true, low, high};
}

// Columns of the TPC-H tables here, in order.
enum LineColumn { flag_column, status_column, quantity_column, price_column, discount_column, tax_column, date_column };

// One of them in a register that knows the column's range.
int line_column(ProgramMaker& maker, int number, int64_t low, int64_t high) {
  const int out = maker.reg(integer);
  maker.program().registers[static_cast<size_t>(out)] = ranged(PhysicalType::Int32, integer, low, high);
  maker.emit(Opcode::Column, out, number);
  return out;
}

int wide_register(ProgramMaker& maker, int64_t high) {
  const int out = maker.reg(bigint);
  maker.program().registers[static_cast<size_t>(out)] = ranged(PhysicalType::Int64, bigint, 0, high);
  return out;
}

// Outputs the groups of hash table 0.
void output_groups(ProgramMaker& maker, const HashTableInfo& info) {
  maker.parallel(maker.groups(0));
  std::vector<int> out;
  for (size_t i = 0; i < info.keys.size() + info.aggregates.size(); ++i)
    out.push_back(maker.column(static_cast<int>(i)));
  maker.result(out);
  maker.converge();
}

int64_t q1_by_hand(const Data& data) {
  struct Group {
    int64_t quantity = 0, price = 0, discount = 0, count = 0;
    int128_t discounted = 0, charged = 0;
  };
  Group groups[6];
  for (size_t i = 0; i < data.id.size(); ++i) {
    if (data.date[i] > -440) continue;
    Group& group = groups[data.flag[i] * 2 + data.status[i]];
    const int64_t discounted = int64_t{data.price[i]} * (100 - data.discount[i]);
    group.quantity += data.quantity[i];
    group.price += data.price[i];
    group.discount += data.discount[i];
    group.discounted += discounted;
    group.charged += discounted * (100 + data.tax[i]);
    ++group.count;
  }
  return groups[0].count + groups[3].count + static_cast<int64_t>(groups[5].charged);
}

// TPC-H q1, with the dictionary codes of its two keys as integers.
void tpch_q1(Bench& bench, const std::shared_ptr<const TabletSource>& source, const Data& data) {
  ProgramMaker maker(source);
  const RegisterInfo count{PhysicalType::Int64, bigint, false, false, 0, 0},
      sum{PhysicalType::Int64, bigint, true, false, 0, 0};
  const RegisterInfo wide{PhysicalType::Int128, Type::numeric(38, 6), true, false, 0, 0};
  const RegisterInfo small = ranged(PhysicalType::Int32, integer, 0, 1 << 24);
  const RegisterInfo product = ranged(PhysicalType::Int64, bigint, 0, int64_t{1} << 31);
  const RegisterInfo charge = ranged(PhysicalType::Int64, bigint, 0, int64_t{1} << 38);
  HashTableInfo info;
  info.keys = {ranged(PhysicalType::Int32, integer, 0, 2), ranged(PhysicalType::Int32, integer, 0, 1)};
  info.aggregates = {{AggregateState::SumInt64, small, sum},     {AggregateState::SumInt64, small, sum},
                     {AggregateState::SumInt128, product, wide}, {AggregateState::SumInt128, charge, wide},
                     {AggregateState::SumInt64, small, sum},     {AggregateState::CountStar, {}, count}};
  maker.program().hash_tables.push_back(info);
  maker.parallel(0);
  const int date = line_column(maker, date_column, -2900, -400);
  const int bound = maker.constant(Value::integer(-440));
  const int32_t leave = maker.emit(Opcode::Gt, date, bound, 0, jump_if_null);
  const int quantity = line_column(maker, quantity_column, 100, 5000),
            price = line_column(maker, price_column, 0, 1 << 24);
  const int discount = line_column(maker, discount_column, 0, 10), tax = line_column(maker, tax_column, 0, 8);
  const int hundred = maker.constant(Value::integer(100));
  const int rest = maker.reg(integer), more = maker.reg(integer);
  maker.emit(Opcode::Sub, rest, hundred, discount, Check::None);
  const int discounted = wide_register(maker, int64_t{1} << 31);
  maker.emit(Opcode::Mul, discounted, price, rest, Check::None);
  maker.emit(Opcode::Add, more, hundred, tax, Check::None);
  const int charged = wide_register(maker, int64_t{1} << 38);
  maker.emit(Opcode::Mul, charged, discounted, more, Check::None);
  const int flag = line_column(maker, flag_column, 0, 2);
  line_column(maker, status_column, 0, 1);
  const int group = maker.reg(integer);
  maker.emit(Opcode::Group, group, flag, 0);
  const int arguments[] = {quantity, price, discounted, charged, discount, -1};
  for (int64_t i = 0; i < 6; ++i) maker.emit(Opcode::Aggregate, 0, arguments[i], group, i);
  maker.land(leave);
  maker.converge();
  output_groups(maker, info);
  bench.report("tpch q1", maker.finish(), [&] { return q1_by_hand(data); });
}

void tpch_q6(Bench& bench, const std::shared_ptr<const TabletSource>& source, const Data& data) {
  ProgramMaker maker(source);
  HashTableInfo info;
  info.aggregates = {{AggregateState::SumInt128,
                      ranged(PhysicalType::Int64, bigint, 0, int64_t{1} << 31),
                      {PhysicalType::Int128, Type::numeric(38, 4), true, false, 0, 0}}};
  maker.program().hash_tables.push_back(info);
  maker.parallel(0);
  const int date = line_column(maker, date_column, -2900, -400);
  std::vector<int32_t> leaves;
  leaves.push_back(maker.emit(Opcode::Lt, date, maker.constant(Value::integer(-2191)), 0, jump_if_null));
  leaves.push_back(maker.emit(Opcode::Ge, date, maker.constant(Value::integer(-1826)), 0, jump_if_null));
  const int discount = line_column(maker, discount_column, 0, 10);
  leaves.push_back(maker.emit(Opcode::Lt, discount, maker.constant(Value::integer(5)), 0, jump_if_null));
  leaves.push_back(maker.emit(Opcode::Gt, discount, maker.constant(Value::integer(7)), 0, jump_if_null));
  const int quantity = line_column(maker, quantity_column, 100, 5000);
  leaves.push_back(maker.emit(Opcode::Ge, quantity, maker.constant(Value::integer(2400)), 0, jump_if_null));
  const int price = line_column(maker, price_column, 0, 1 << 24);
  const int revenue = wide_register(maker, int64_t{1} << 31);
  maker.emit(Opcode::Mul, revenue, price, discount, Check::None);
  maker.emit(Opcode::Aggregate, 0, revenue, -1, int64_t{0});
  for (const int32_t leave : leaves) maker.land(leave);
  maker.converge();
  output_groups(maker, info);
  bench.report("tpch q6", maker.finish(), [&]() -> int64_t {
    int64_t sum = 0;
    for (size_t i = 0; i < data.id.size(); ++i) {
      const bool wanted = (data.date[i] >= -2191) & (data.date[i] < -1826) & (data.discount[i] >= 5) &
                          (data.discount[i] <= 7) & (data.quantity[i] < 2400);
      sum += wanted ? int64_t{data.price[i]} * data.discount[i] : 0;
    }
    return sum;
  });
}

// Sums by a key of many values, unknown to the compiler: through the hash table.
void many_groups(Bench& bench, const std::shared_ptr<const TabletSource>& source, const Data& data) {
  ProgramMaker maker(source);
  HashTableInfo info;
  info.keys = {{PhysicalType::Int32, integer, false, false, 0, 0}};
  info.aggregates = {{AggregateState::SumInt64,
                      ranged(PhysicalType::Int32, integer, 0, 5000),
                      {PhysicalType::Int64, bigint, true, false, 0, 0}}};
  maker.program().hash_tables.push_back(info);
  maker.parallel(0);
  const int price = line_column(maker, price_column, 0, 1 << 24),
            quantity = line_column(maker, quantity_column, 100, 5000);
  const int divisor = maker.constant(Value::integer(100)), key = maker.reg(integer), group = maker.reg(integer);
  maker.emit(Opcode::Div, key, price, divisor, Check::None);
  maker.emit(Opcode::Group, group, key, 0);
  maker.emit(Opcode::Aggregate, 0, quantity, group, int64_t{0});
  maker.converge();
  output_groups(maker, info);
  std::vector<int64_t> sums(200000);
  bench.report("100,000 groups", maker.finish(), [&]() -> int64_t {
    for (size_t i = 0; i < data.id.size(); ++i) sums[static_cast<size_t>(data.price[i] / 100)] += data.quantity[i];
    return sums[1000];
  });
}

void sort_all(Bench& bench, const std::shared_ptr<const TabletSource>& source, const Data& data, int64_t limit) {
  ProgramMaker maker(source);
  RowSetInfo info;
  info.columns = {ranged(PhysicalType::Int32, integer, 0, 1 << 24), ranged(PhysicalType::Int32, integer, 0, 5000)};
  info.keys = {{false, false}};
  info.limit = limit;
  const int sorted = maker.row_set(info);
  maker.parallel(0);
  const int price = line_column(maker, price_column, 0, 1 << 24);
  line_column(maker, quantity_column, 100, 5000);
  maker.emit(Opcode::Append, sorted, price, 2);
  maker.converge();
  maker.parallel(maker.rows(sorted));
  const int first = maker.column(0), second = maker.column(1);
  maker.result({first, second});
  maker.converge();
  bench.report(limit < 0 ? "sort" : "top 100", maker.finish(), [&]() -> int64_t {
    std::vector<std::pair<int32_t, int32_t>> rows;
    for (size_t i = 0; i < data.id.size(); ++i) rows.emplace_back(data.price[i], data.quantity[i]);
    if (limit < 0)
      std::sort(rows.begin(), rows.end());
    else
      std::partial_sort(rows.begin(), rows.begin() + limit, rows.end());
    return rows[0].first;
  });
}

void run_all(int64_t rows, int threads, const std::string& wanted) {
  const Data data = make_data(rows);
  Bench bench{rows, threads, wanted};
  const auto table = make_source({input(data.id), input(data.uniform), input(data.normal5), input(data.normal20),
                                  input(data.uniform_f), input(data.normal5_f)},
                                 rows);
  const auto lines = make_source({input(data.flag), input(data.status), input(data.quantity), input(data.price),
                                  input(data.discount), input(data.tax), input(data.date)},
                                 rows);
  std::vector<std::vector<int32_t>> room(3, std::vector<int32_t>(static_cast<size_t>(rows) + 1));
  filter(bench, "virginian q1", table, 1, 2, Value::integer(60), Value::integer(0),
         filter_loop<int32_t>(data, data.uniform, data.normal5, 60, 0, room));
  filter(bench, "virginian q2", table, 4, 5, Value::floating(real, 60), Value::floating(real, 0),
         filter_loop<float>(data, data.uniform_f, data.normal5_f, 60, 0, room));
  filter(bench, "virginian q3", table, 1, 2, Value::integer(-60), Value::integer(5),
         filter_loop<int32_t>(data, data.uniform, data.normal5, -60, 5, room));
  filter(bench, "virginian q4", table, 4, 5, Value::floating(real, -60), Value::floating(real, 5),
         filter_loop<float>(data, data.uniform_f, data.normal5_f, -60, 5, room));
  arithmetic_filter(bench, table, data, room);
  tpch_q1(bench, lines, data);
  tpch_q6(bench, lines, data);
  many_groups(bench, lines, data);
  sort_all(bench, lines, data, 100);
  sort_all(bench, lines, data, -1);
}

}  // namespace
}  // namespace diptych

int main(int argc, char** argv) {
  diptych::run_all(argc > 1 ? std::atoll(argv[1]) : 8000000, argc > 2 ? std::atoi(argv[2]) : 2,
                   argc > 3 ? argv[3] : "");
}
