#include "storage/erased_rows.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace diptych {
namespace {

constexpr size_t most_erasures = 64;

}  // namespace

void ErasedRows::add(uint64_t version, std::vector<int64_t> numbers) {
  if (numbers.empty()) return forget(version);
  numbers_ += numbers.size();
  erasures_.push_back(std::make_shared<const Erasure>(Erasure{version, std::move(numbers)}));
  while (erasures_.size() > most_erasures || numbers_ > most_numbers) {
    known_since_ = erasures_.front()->version;
    numbers_ -= erasures_.front()->numbers.size();
    erasures_.erase(erasures_.begin());
  }
}

void ErasedRows::forget(uint64_t version) {
  erasures_.clear();
  numbers_ = 0;
  known_since_ = version;
}

std::optional<std::vector<int64_t>> ErasedRows::gone_since(uint64_t version, int64_t rows) const {
  if (version < known_since_) return std::nullopt;
  std::vector<int64_t> gone, both;
  for (const auto& erasure : erasures_) {
    if (erasure->version <= version) continue;
    std::vector<int64_t> more;
    size_t before = 0;  // of those that were gone already, before the one being looked for
    for (const int64_t number : erasure->numbers) {
      while (before < gone.size() && gone[before] - static_cast<int64_t>(before) <= number) ++before;
      const int64_t then = number + static_cast<int64_t>(before);
      if (then >= rows) break;  // it and those behind it were appended later
      more.push_back(then);
    }
    both.clear();
    std::ranges::merge(gone, more, std::back_inserter(both));
    gone.swap(both);
  }
  return gone;
}

OlderRows::OlderRows(std::vector<int64_t> gone, int64_t rows, int64_t latest_rows)
    : gone_(std::move(gone)), rows_(rows), added_(latest_rows - (rows - static_cast<int64_t>(gone_.size()))) {}

std::vector<int64_t> OlderRows::in_latest(std::span<const int64_t> numbers) const {
  std::vector<int64_t> latest;
  latest.reserve(numbers.size());
  size_t before = 0;
  for (const int64_t number : numbers) {
    while (before < gone_.size() && gone_[before] < number) ++before;
    if (before < gone_.size() && gone_[before] == number)
      throw Error(SqlState::serialization_failure, "could not serialize access due to concurrent update", -1,
                  "Others have changed a row since the transaction's first statement: begin it anew.");
    latest.push_back(number - static_cast<int64_t>(before) + (number < rows_ ? 0 : added_));
  }
  return latest;
}

void OlderRows::erase(std::span<const int64_t> numbers) {
  const auto before = [&](int64_t number) { return std::ranges::lower_bound(numbers, number) - numbers.begin(); };
  for (int64_t& number : gone_) number -= before(number);
  rows_ -= before(rows_);
}

}  // namespace diptych
