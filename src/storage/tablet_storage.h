// Where finished tablets go: to pages of the file, or into memory for good, also where the file is only read. Small
// fragments are in memory until a header is written: what most commits bring is in the log, and soon in a larger
// fragment.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "storage/file/database_file.h"
#include "storage/table_state.h"
#include "storage/tablet_buffer.h"
#include "storage/tablet_ids.h"
#include "tablet/row_batch.h"

namespace diptych {

struct TabletStorage {
  static constexpr int64_t most_fragment_bytes = int64_t{64} << 10;  // in memory

  MemoryBudget& budget;
  std::shared_ptr<DatabaseFile> file;    // nullptr: in memory
  std::shared_ptr<TabletBuffer> buffer;  // nullptr: in memory
  std::shared_ptr<TabletIds> ids;        // of all tablets that are written here
  bool is_read_only = false;             // the file

  bool writes_file() const { return file != nullptr && !is_read_only; }

  // id: of `ids`. held: has the memory that the tablet takes, or a part of it, which a tablet in memory goes on with;
  // null: nobody has. Errors: 53100, 58030; in memory 53200. Thread safety: many threads at once.
  TabletHandle store(uint64_t id, EncodedTablet tablet, std::span<const size_t> key_columns,
                     MemoryReservation* held = nullptr) const;
  // As store(), of a tablet that has room for more rows.
  TabletHandle store_fragment(uint64_t id, EncodedTablet tablet, std::span<const size_t> key_columns,
                              MemoryReservation* held) const;
  // Puts the tablets of a table that are in memory into the file. Errors: 53100, 58030.
  void write_fragments(TableState& table) const;
  // As store(), beside the writer. Null: the file's headers are not settled, and the tablet is lost.
  TabletHandle store_beside(uint64_t id, EncodedTablet tablet, std::span<const size_t> key_columns) const;
  // Calls `use` with columns of a tablet of the table, all of its rows.
  void view(const TableState& table, size_t tablet, std::span<const size_t> columns,
            const std::function<void(std::span<const ColumnView>)>& use) const;
  // Calls `use` with all columns of those of a tablet's rows that are there.
  void view_live_rows(const TableState& table, size_t tablet, const std::function<void(const RowBatch&)>& use) const;

 private:
  TabletHandle store_in_file(uint64_t id, const EncodedTablet& tablet, std::span<const size_t> key_columns) const;
};

}  // namespace diptych
