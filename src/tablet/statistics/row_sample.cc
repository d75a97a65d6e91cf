#include "tablet/statistics/row_sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tablet/cells.h"

namespace diptych {
namespace {

constexpr int64_t all_rows_end = 65536;
constexpr int64_t run_rows = 16;

// Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014. Differs for all positions.
uint64_t drawn_for(int64_t number) {
  uint64_t z = (static_cast<uint64_t>(number) + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

// Rows of greater priority are not among the least ones of so many rows, but for one time in ten thousand.
uint64_t greatest_priority(int64_t rows) {
  const auto wanted = static_cast<double>(RowSample::most_rows);
  const double part = (wanted + 4 * std::sqrt(wanted)) / static_cast<double>(rows);
  return part >= 1 ? UINT64_MAX : static_cast<uint64_t>(part * 0x1p64);
}

struct Candidate {
  uint64_t priority;
  int64_t position;
  bool operator<(const Candidate& other) const { return priority < other.priority; }
};

// Of positions [first, end), by priority.
std::vector<Candidate> candidates_of(int64_t first, int64_t end) {
  const uint64_t greatest = greatest_priority(end);
  std::vector<Candidate> found;
  for (int64_t position = first; position < std::min(end, all_rows_end); ++position)
    if (const uint64_t priority = drawn_for(position); priority <= greatest) found.push_back({priority, position});
  for (int64_t run = std::max(first, all_rows_end) / run_rows; run * run_rows < end; ++run) {
    // The least of n uniform numbers is near 0 as evenly spread as one of them divided by n.
    const uint64_t drawn = drawn_for(-run);
    const int64_t position = run * run_rows + static_cast<int64_t>(drawn % run_rows);
    if (drawn / run_rows <= greatest && position >= first && position < end)
      found.push_back({drawn / run_rows, position});
  }
  std::sort(found.begin(), found.end());
  if (found.size() > RowSample::most_rows) found.resize(RowSample::most_rows);
  return found;
}

double number_at(const ColumnView& view, int64_t row) {
  if (view.encoding == Encoding::FrameOfReference) return static_cast<double>(framed_at(view, row));
  switch (view.physical) {
    case PhysicalType::Float32: return sampled_number(static_cast<double>(plain_at<float>(view, row)));
    case PhysicalType::Float64: return sampled_number(plain_at<double>(view, row));
    case PhysicalType::Interval: return sampled_number(plain_at<Interval>(view, row));
    default: return sampled_number(integer_at(view, row));
  }
}

SampledColumn sampled(const ColumnView& view, const std::vector<Candidate>& rows, int64_t first) {
  SampledColumn column;
  column.reserve(view.physical, rows.size());
  for (const Candidate& candidate : rows) column.append(view, candidate.position - first);
  return column;
}

template <typename T>
void append_part(std::vector<T>& to, const std::vector<T>& from, size_t first, size_t count) {
  const auto begin = from.begin() + static_cast<ptrdiff_t>(first);
  to.insert(to.end(), begin, begin + static_cast<ptrdiff_t>(count));
}

}  // namespace

double sampled_number(int128_t value) { return static_cast<double>(value); }

double sampled_number(double value) { return std::isnan(value) ? std::numeric_limits<double>::infinity() : value; }

double sampled_number(const Interval& value) {
  constexpr double day = 86'400e6, days_a_month = 30;
  return (value.months * days_a_month + value.days) * day + static_cast<double>(value.microseconds);
}

void SampledColumn::append(const SampledColumn& other, size_t first, size_t count) {
  append_part(is_null, other.is_null, first, count);
  if (!other.texts.empty()) append_part(texts, other.texts, first, count);
  if (!other.numbers.empty()) append_part(numbers, other.numbers, first, count);
}

void SampledColumn::reserve(PhysicalType physical, size_t rows) {
  is_null.reserve(rows);
  if (physical == PhysicalType::Text)
    texts.reserve(rows);
  else
    numbers.reserve(rows);
}

void SampledColumn::append(const ColumnView& view, int64_t row) {
  const bool null = is_null_at(view, row);
  is_null.push_back(null);
  if (view.physical == PhysicalType::Text)
    texts.emplace_back(null ? "" : string_at(view, row).substr(0, most_text_bytes));
  else
    numbers.push_back(null ? 0 : number_at(view, row));
}

void SampledColumn::append(const BatchColumn& batch, int64_t row) {
  const bool null = batch.is_null(row);
  is_null.push_back(null);
  if (batch.physical == PhysicalType::Text) {
    texts.emplace_back(null ? "" : string_at(batch, row).substr(0, most_text_bytes));
    return;
  }
  ColumnView plain;
  plain.encoding = Encoding::Plain;
  plain.physical = batch.physical;
  plain.data = static_cast<const std::byte*>(batch.values);
  numbers.push_back(null ? 0 : number_at(plain, row));
}

int SampledColumn::compare(size_t a, size_t b) const {
  if (!texts.empty()) return texts[a].compare(texts[b]);
  return numbers[a] < numbers[b] ? -1 : numbers[a] > numbers[b] ? 1 : 0;
}

void RowSample::append(const RowSample& other, size_t first, size_t count) {
  append_part(priorities_, other.priorities_, first, count);
  for (size_t i = 0; i < columns_.size(); ++i) columns_[i].append(other.columns_[i], first, count);
}

RowSample RowSample::of(const EncodedTablet& tablet, int64_t first_position) {
  const std::vector<Candidate> rows = candidates_of(first_position, first_position + tablet.rows);
  RowSample sample;
  for (const Candidate& row : rows) sample.priorities_.push_back(row.priority);
  for (const EncodedColumn& column : tablet.columns)
    sample.columns_.push_back(sampled(column.view(), rows, first_position));
  return sample;
}

bool RowSample::would_stay_with(const RowSample& other) const {
  return std::all_of(other.priorities_.begin(), other.priorities_.end(), [this](uint64_t priority) {
    if (rows() == most_rows && priority > priorities_.back()) return true;
    return std::binary_search(priorities_.begin(), priorities_.end(), priority);
  });
}

RowSample RowSample::least_of(const std::vector<const RowSample*>& samples) {
  struct Row {
    uint64_t priority;
    const RowSample* sample;
    size_t number;
  };
  const auto precedes = [](const Row& a, const Row& b) { return a.priority < b.priority; };
  size_t rows = 0;
  for (const RowSample* sample : samples) rows += sample->rows();
  std::vector<Row> order;
  order.reserve(rows);
  for (const RowSample* sample : samples) {
    const auto before = static_cast<ptrdiff_t>(order.size());
    for (size_t row = 0; row < sample->rows(); ++row) order.push_back({sample->priorities_[row], sample, row});
    if (!std::is_sorted(order.begin() + before, order.end(), precedes))
      std::stable_sort(order.begin() + before, order.end(), precedes);
    std::inplace_merge(order.begin(), order.begin() + before, order.end(), precedes);
  }
  const auto is_same = [](const Row& a, const Row& b) { return a.priority == b.priority; };
  order.erase(std::unique(order.begin(), order.end(), is_same), order.end());
  order.resize(std::min(order.size(), most_rows));
  RowSample least(samples.front()->columns_.size());
  for (size_t first = 0, end = 0; first < order.size(); first = end) {
    const auto& [priority, sample, number] = order[first];
    // Neighbours in a sample are mostly neighbours in the new one.
    while (end < order.size() && order[end].sample == sample && order[end].number == number + (end - first)) ++end;
    least.append(*sample, number, end - first);
  }
  return least;
}

}  // namespace diptych
