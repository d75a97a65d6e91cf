// The tablets of a table in row order, as a list that is cheap to change at its end and shares the rest with older
// versions.
//
//   chunks   [256 full tablets] [256 full] [12 full] [1 full] | [2 fragments] [1 fragment]
//   blobs     in the file        in the file ...                 ...           not yet
//
// A chunk is written to the file as one blob and never changes. Appending makes a new chunk and merges it with those
// before it that are not at least twice as large, so a commit rewrites an amortised O(log) of directory entries for
// each tablet it adds. Full tablets and fragments (fewer rows than a tablet has slots; they are soon rewritten) share
// no chunk.
//
// Positions count the rows of this version of the table; a row's position is first_row, the rows of all tablets before,
// and its slot. Tablets have ids besides, which stay theirs in other versions (storage/tablet_ids.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage/file/database_file.h"
#include "storage/stored_tablet.h"
#include "tablet/column_summary.h"

namespace diptych {

using TabletHandle = std::shared_ptr<const StoredTablet>;

struct DirectoryChunk {
  static constexpr size_t most_tablets = 256;

  explicit DirectoryChunk(std::vector<TabletHandle> members);

  std::vector<TabletHandle> tablets;
  std::vector<int64_t> first_rows;  // relative to the chunk
  int64_t rows = 0;
  std::vector<bool> all_codes;  // per column: is it Encoding::Dictionary in every tablet?
  std::vector<ColumnSummary> columns;
};

class TabletDirectory {
 public:
  struct Part {
    std::shared_ptr<const DirectoryChunk> chunk;
    std::shared_ptr<const StoredBlob> blob;  // nullptr: not in the file yet
    size_t first_tablet = 0;
    int64_t first_row = 0;
  };
  struct Entry {
    const TabletHandle& tablet;
    int64_t first_row;
  };

  size_t size() const { return size_; }
  int64_t rows() const { return rows_; }
  Entry operator[](size_t tablet) const;
  bool all_codes(size_t column) const;

  // Keeps the first `kept` tablets and puts others behind them. tablet_rows: row slots of a full tablet.
  void replace_tail(size_t kept, std::vector<TabletHandle> added, int64_t tablet_rows);

  // For reading and writing the file.
  const std::vector<Part>& parts() const { return parts_; }
  void add_part(std::shared_ptr<const DirectoryChunk> chunk, std::shared_ptr<const StoredBlob> blob);
  void set_blob(size_t part, std::shared_ptr<const StoredBlob> blob) { parts_[part].blob = std::move(blob); }

 private:
  void cut(size_t kept, std::vector<TabletHandle>& tail);
  void append_run(std::span<const TabletHandle> run, int64_t tablet_rows);
  void drop_part();

  std::vector<Part> parts_;
  size_t size_ = 0;
  int64_t rows_ = 0;
};

}  // namespace diptych
