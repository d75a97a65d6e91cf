// Where finished tablets go: to pages of the file, or into memory for good, also where the file is only read.
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
  // As store(), beside the writer. Null: the file's headers are not settled, and the tablet is lost.
  TabletHandle store_beside(uint64_t id, EncodedTablet tablet, std::span<const size_t> key_columns) const;
  // Calls `use` with columns of a tablet of the table, all of its rows.
  void view(const TableState& table, size_t tablet, std::span<const size_t> columns,
            const std::function<void(std::span<const ColumnView>)>& use) const;
  // Calls `use` with all columns of those of a tablet's rows that are there.
  void view_live_rows(const TableState& table, size_t tablet, const std::function<void(const RowBatch&)>& use) const;
};

}  // namespace diptych
