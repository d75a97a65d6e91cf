// Which rows the last commits have taken out of a table: a transaction that sees the table as it was before some of
// them finds its rows again in the latest version, or that they are gone.
//
//   version 7   rows  0 1 2 3 4 5
//   version 8   rows  0 1   3 4 5        erased: number 2 of version 7
//   version 9   rows  0 1     4 5 6      erased: number 2 of version 8, appended: one row
//   gone since version 7: 2 3
//
// Rows are counted without those that are not there, so that a row keeps its number when tablets are written anew.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace diptych {

// A value: versions of a table share what they have in common.
class ErasedRows {
 public:
  // More are not remembered.
  static constexpr size_t most_numbers = size_t{1} << 18;

  // numbers: of rows that were there, in ascending order; empty: of so many that nothing is known of versions before.
  // version: above those of all commits before.
  void add(uint64_t version, std::vector<int64_t> numbers);
  // Nothing is known of the rows of versions before this one.
  void forget(uint64_t version);
  // Of a version's rows, of which there were so many, the numbers of those that are gone since; nothing: not known.
  std::optional<std::vector<int64_t>> gone_since(uint64_t version, int64_t rows) const;

 private:
  struct Erasure {
    uint64_t version;
    std::vector<int64_t> numbers;
  };

  std::vector<std::shared_ptr<const Erasure>> erasures_;  // the oldest first
  size_t numbers_ = 0;                                    // in all of them
  uint64_t known_since_ = 0;
};

// Where the rows of an older version of a table are in the latest one, while a transaction changes both in the same
// way. Numbers are as above; rows that were appended since are behind the others.
class OlderRows {
 public:
  // gone: numbers of older rows that are gone. rows, latest_rows: of the older version and of the latest one.
  OlderRows(std::vector<int64_t> gone, int64_t rows, int64_t latest_rows);

  // numbers: of the older version, in ascending order. Errors: 40001 one of the rows is gone.
  std::vector<int64_t> in_latest(std::span<const int64_t> numbers) const;
  // The transaction takes these out of both.
  void erase(std::span<const int64_t> numbers);

 private:
  std::vector<int64_t> gone_;  // in ascending order
  int64_t rows_;               // of the older version, without those that the transaction has taken out or appended
  int64_t added_;              // rows of the latest one that others have appended
};

}  // namespace diptych
