// The limit: what a C++ loop over plain arrays takes for each query, with the condition and the columns compiled in and
// the result written to arrays that are there already. Compiled with -O3 for the machine that it runs on.
//
// Two ways to write such a loop are tried for each query and number of threads, and the faster one counts:
//   one pass    every row is written to the result's end, which moves on only if the row is taken: no branch
//   two passes  a block's conditions to bytes (the compiler vectorises that), the taken rows' positions, then a gather
#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>

#include "queries.h"
#include "system.h"

namespace diptych::bench {

namespace {

// Rows a thread takes at a time; a piece's result begins where its input does, so pieces are independent.
constexpr size_t piece_rows = 1 << 17;
constexpr size_t block_rows = 1 << 11;

template <typename T>
struct Copy {
  const T* from;
  T* to;
};

template <typename Condition, typename... Ts>
size_t one_pass(size_t begin, size_t end, const Condition& condition, Copy<Ts>... copies) {
  size_t taken = begin;
  for (size_t i = begin; i < end; ++i) {
    ((copies.to[taken] = copies.from[i]), ...);
    taken += condition(i) ? 1 : 0;
  }
  return taken - begin;
}

template <typename T>
void gather(Copy<T> copy, size_t at, const uint32_t* __restrict rows, size_t count) {
  T* __restrict to = copy.to + at;
  for (size_t i = 0; i < count; ++i) to[i] = copy.from[rows[i]];
}

template <typename Condition, typename... Ts>
size_t two_passes(size_t begin, size_t end, const Condition& condition, Copy<Ts>... copies) {
  uint8_t met[block_rows];
  uint32_t rows[block_rows];
  size_t taken = begin;
  for (size_t block = begin; block < end; block += block_rows) {
    const size_t length = std::min(block_rows, end - block);
    for (size_t i = 0; i < length; ++i) met[i] = condition(block + i) ? 1 : 0;
    size_t count = 0;
    for (size_t i = 0; i < length; ++i) {
      rows[count] = static_cast<uint32_t>(block + i);
      count += met[i];
    }
    (gather(copies, taken, rows, count), ...);
    taken += count;
  }
  return taken - begin;
}

// Of a block's rows that met the condition: 1 in `met`, else 0. The values are small enough for 32 bits.
double sum_of(const int32_t* __restrict values, const int32_t* __restrict met, size_t length) {
  int32_t sum = 0;
  for (size_t i = 0; i < length; ++i) sum += values[i] * met[i];
  return sum;
}

// In lanes, since the compiler must not change the order of additions by itself.
double sum_of(const float* __restrict values, const int32_t* __restrict met, size_t length) {
  constexpr size_t lanes = 8;
  double sums[lanes] = {};
  const auto value = [&](size_t i) { return static_cast<double>(values[i] * static_cast<float>(met[i])); };
  size_t i = 0;
  for (; i + lanes <= length; i += lanes) {
    for (size_t lane = 0; lane < lanes; ++lane) sums[lane] += value(i + lane);
  }
  for (; i < length; ++i) sums[0] += value(i);
  return std::accumulate(sums, sums + lanes, 0.0);
}

template <typename Condition, typename... Ts>
Totals sum_up(size_t begin, size_t end, const Condition& condition, Copy<Ts>... columns) {
  int32_t met[block_rows];
  Totals totals;
  for (size_t block = begin; block < end; block += block_rows) {
    const size_t length = std::min(block_rows, end - block);
    int32_t count = 0;
    for (size_t i = 0; i < length; ++i) count += met[i] = condition(block + i) ? 1 : 0;
    totals.rows += count;
    size_t column = 0;
    ((totals.sums[column++] += sum_of(columns.from + block, met, length)), ...);
  }
  return totals;
}

class LimitSystem : public TotalsSystem {
 public:
  explicit LimitSystem(const Dataset& data)
      : data_(data), counts_((data.rows() + piece_rows - 1) / piece_rows), totals_(counts_.size()) {
    for (auto& column : integers_) column.resize(data.rows());
    for (auto& column : floats_) column.resize(data.rows());
  }

  std::string version() const override { return fmt::format("C++, -O3, gcc {}", __VERSION__); }

  void configure(const Configuration& configuration) override {
    if (configuration.threads == threads_) return;
    threads_ = configuration.threads;
    arena_ = std::make_unique<tbb::task_arena>(threads_);
  }

  double run(size_t query) override {
    Run& way = faster_[threads_][query];
    if (way == nullptr) way = choose(query);
    return timed(query, way);
  }

  double run_totals(size_t query) override { return timed(query, &LimitSystem::add_up); }

  Totals totals(size_t query) override {
    run_totals(query);
    Totals all;
    for (const Totals& piece : totals_) {
      all.rows += piece.rows;
      for (size_t i = 0; i < all.sums.size(); ++i) all.sums[i] += piece.sums[i];
    }
    return all;
  }

  Digest digest(size_t query) override {
    run(query);
    Digest digest;
    for (size_t piece = 0; piece < counts_.size(); ++piece) add_piece(digest, query, piece);
    return digest;
  }

 private:
  using Run = size_t (LimitSystem::*)(size_t query, size_t begin, size_t end);

  static constexpr std::array<Run, 2> ways() { return {&LimitSystem::run_one_pass, &LimitSystem::run_two_passes}; }

  Run choose(size_t query) {
    Run fastest = nullptr;
    double best = std::numeric_limits<double>::infinity();
    for (const Run way : ways()) {
      for (int i = 0; i < 3; ++i) {
        const double seconds = timed(query, way);
        if (seconds >= best) continue;
        best = seconds;
        fastest = way;
      }
    }
    return fastest;
  }

  double timed(size_t query, Run way) {
    const Stopwatch watch;
    const auto run_piece = [&](size_t piece) {
      const size_t begin = piece * piece_rows;
      counts_[piece] = (this->*way)(query, begin, std::min(begin + piece_rows, data_.rows()));
    };
    if (threads_ == 1) {
      for (size_t piece = 0; piece < counts_.size(); ++piece) run_piece(piece);
    } else {
      arena_->execute([&] { tbb::parallel_for(size_t{0}, counts_.size(), run_piece); });
    }
    return watch.seconds();
  }

  void add_piece(Digest& digest, size_t query, size_t piece) {
    std::array<std::vector<uint32_t>, most_columns> bits;
    std::array<const uint32_t*, most_columns> columns{};
    const size_t begin = piece * piece_rows;
    for (size_t c = 0; c < queries[query].columns; ++c) {
      for (size_t i = begin; i < begin + counts_[piece]; ++i) {
        const bool is_float = c > 0 && queries[query].floats;
        bits[c].push_back(is_float ? std::bit_cast<uint32_t>(floats_[c - 1][i])
                                   : static_cast<uint32_t>(integers_[c][i]));
      }
      columns[c] = bits[c].data();
    }
    digest.add(std::span(columns).first(queries[query].columns), counts_[piece]);
  }

  size_t run_one_pass(size_t query, size_t begin, size_t end) {
    return dispatch(query,
                    [&](const auto& condition, auto... copies) { return one_pass(begin, end, condition, copies...); });
  }
  size_t run_two_passes(size_t query, size_t begin, size_t end) {
    return dispatch(
        query, [&](const auto& condition, auto... copies) { return two_passes(begin, end, condition, copies...); });
  }

  size_t add_up(size_t query, size_t begin, size_t end) {
    return dispatch(query, [&](const auto& condition, auto, auto... copies) {
      totals_[begin / piece_rows] = sum_up(begin, end, condition, copies...);
      return size_t{0};
    });
  }

  Copy<int32_t> integer(const std::vector<int32_t>& column, size_t to) { return {column.data(), integers_[to].data()}; }
  Copy<float> real(const std::vector<float>& column, size_t to) { return {column.data(), floats_[to - 1].data()}; }

  // Calls loop(condition, columns of the result...) for the query, with everything known at compile time.
  template <typename Loop>
  size_t dispatch(size_t query, const Loop& loop) {
    const Dataset& d = data_;
    const int32_t *ui = d.uniformi.data(), *n5 = d.normali5.data(), *n20 = d.normali20.data();
    const float *uf = d.uniformf.data(), *f5 = d.normalf5.data(), *f20 = d.normalf20.data();
    const auto id = integer(d.id, 0);
    // Single &: both sides are cheap, and a branch that can't be foreseen is not.
    switch (query) {
      case 0:
        return loop([=](size_t i) { return (ui[i] > 60) & (n5[i] < 0); }, id, integer(d.uniformi, 1),
                    integer(d.normali5, 2));
      case 1:
        return loop([=](size_t i) { return (uf[i] > 60.0F) & (f5[i] < 0.0F); }, id, real(d.uniformf, 1),
                    real(d.normalf5, 2));
      case 2:
        return loop([=](size_t i) { return (ui[i] > -60) & (n5[i] < 5); }, id, integer(d.uniformi, 1),
                    integer(d.normali5, 2));
      case 3:
        return loop([=](size_t i) { return (uf[i] > -60.0F) & (f5[i] < 5.0F); }, id, real(d.uniformf, 1),
                    real(d.normalf5, 2));
      case 4:
        return loop([=](size_t i) { return n20[i] + 40 > ui[i] - 10; }, id, integer(d.uniformi, 1),
                    integer(d.normali20, 2));
      case 5:
        return loop([=](size_t i) { return f20[i] + 40.0F > uf[i] - 10.0F; }, id, real(d.uniformf, 1),
                    real(d.normalf20, 2));
      case 6:
        return loop([=](size_t i) { return (n5[i] * n20[i] >= -5) & (n5[i] * n20[i] <= 5); }, id,
                    integer(d.normali5, 1), integer(d.normali20, 2));
      case 7:
        return loop([=](size_t i) { return (f5[i] * f20[i] >= -5.0F) & (f5[i] * f20[i] <= 5.0F); }, id,
                    real(d.normalf5, 1), real(d.normalf20, 2));
      case 8:
        return loop(
            [=](size_t i) {
              return ((ui[i] >= -1) & (ui[i] <= 1)) | ((n5[i] >= -1) & (n5[i] <= 1)) | ((n20[i] >= -1) & (n20[i] <= 1));
            },
            id, integer(d.uniformi, 1), integer(d.normali5, 2), integer(d.normali20, 3));
      default:
        return loop(
            [=](size_t i) {
              return ((uf[i] >= -1.0F) & (uf[i] <= 1.0F)) | ((f5[i] >= -1.0F) & (f5[i] <= 1.0F)) |
                     ((f20[i] >= -1.0F) & (f20[i] <= 1.0F));
            },
            id, real(d.uniformf, 1), real(d.normalf5, 2), real(d.normalf20, 3));
    }
  }

  const Dataset& data_;
  int threads_ = 1;
  std::unique_ptr<tbb::task_arena> arena_;
  std::map<int, std::array<Run, queries.size()>> faster_;  // by number of threads
  std::vector<size_t> counts_;                             // rows in the result of each piece
  std::vector<Totals> totals_;                             // of each piece
  std::array<std::vector<int32_t>, most_columns> integers_;
  std::array<std::vector<float>, most_columns - 1> floats_;
};

}  // namespace

std::unique_ptr<TotalsSystem> make_limit_system(const Dataset& data) { return std::make_unique<LimitSystem>(data); }

}  // namespace diptych::bench
