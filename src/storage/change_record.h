// What a transaction changed in rows, as a record of the log (file/commit_log.h), in the order in which it did.
//
//   'a' table, rows, columns: each its form, validity, values     rows that were appended
//   'e' table, rows: each as its distance from the one before          ... erased
//   't' table     ... all
//
// A row that is erased is known by how many rows of the table that are there come before it: that stays the same where
// tablets are written anew, so the record needs the rows that it was made for and not their tablets. docs/format.md has
// the fields.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "storage/file/blob_codec.h"
#include "storage/store.h"

namespace diptych {

// Thread safety: one thread at a time.
class ChangeRecord {
 public:
  void append(std::string_view table, const RowBatch& batch);
  // What a record of the rows takes, about.
  static int64_t bytes_of(const RowBatch& batch);
  // rows: as TabletDirectory::live_rows_before().
  void erase(std::string_view table, std::span<const int64_t> rows);
  void truncate(std::string_view table);
  std::span<const std::byte> bytes() const { return writer_.bytes(); }
  // Back to as many bytes as it had.
  void cut(size_t bytes) { writer_.cut(bytes); }

 private:
  BlobWriter writer_;
};

// Does the changes of a record again. what: the record, for errors. Errors: XX001 where the bytes make no sense, or not
// for the tables that are there; those of the transaction's members.
void do_again(std::span<const std::byte> record, const std::string& what, WriteTransaction& transaction,
              const CatalogSnapshot& catalog);

}  // namespace diptych
