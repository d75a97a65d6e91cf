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
// A tablet of which rows were deleted has a mask beside it; when all were, it goes.
//
// Positions count the rows of all tablets, those included that were deleted: a row's position is first_row, the rows of
// all tablets before, and its slot. Counted without the deleted ones a row keeps its number when tablets are written
// anew. Tablets have ids besides, which stay theirs in other versions (storage/tablet_ids.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "storage/file/database_file.h"
#include "storage/stored_tablet.h"
#include "storage/visibility_mask.h"
#include "tablet/column_summary.h"

namespace diptych {

using TabletHandle = std::shared_ptr<const StoredTablet>;

// A tablet in a table, and which of its rows are there.
struct MaskedTablet {
  TabletHandle tablet;
  MaskHandle mask;  // null: all

  int64_t live_rows() const { return mask != nullptr ? mask->live_rows() : tablet->rows(); }
};

// Of the column that the mask is for engines (table_view.h).
ZoneMap visibility_zone(const MaskedTablet& member);

// Of tablet number `tablet` of a table.
struct NewMask {
  size_t tablet;
  MaskHandle mask;
};

struct DirectoryChunk {
  static constexpr size_t most_tablets = 256;

  explicit DirectoryChunk(std::vector<MaskedTablet> members);
  // The same tablets with other masks: by their number in a table, of whose tablets `first_tablet` is the chunk's
  // first.
  DirectoryChunk(const DirectoryChunk& before, size_t first_tablet, std::span<const NewMask> masks);

  std::vector<MaskedTablet> tablets;
  std::vector<int64_t> first_rows;  // relative to the chunk
  // By tablet, its own and that of what it has as visibility: readers compare those of all tablets of a table.
  std::vector<uint64_t> ids, visibility_ids;
  int64_t rows = 0, live_rows = 0;
  std::vector<bool> all_codes;  // per column: is it Encoding::Dictionary in every tablet?
  std::vector<ColumnSummary> columns;
  std::vector<std::vector<StoredForm>> forms;  // per column: as TabletSource::group_forms(), without dictionaries
  ColumnSummary visibility;                    // of the masks, as a column (table_view.h)

 private:
  // What the masks say.
  void look_at_masks();
};

class TabletDirectory {
 public:
  struct Part {
    std::shared_ptr<const DirectoryChunk> chunk;
    std::shared_ptr<const StoredBlob> blob;  // nullptr: not in the file yet
    size_t first_tablet = 0;
    int64_t first_row = 0, first_live_row = 0;
  };
  struct Entry {
    const TabletHandle& tablet;
    const MaskHandle& mask;
    int64_t first_row;
  };

  size_t size() const { return size_; }
  int64_t rows() const { return rows_; }
  // Those that are there.
  int64_t live_rows() const { return live_rows_; }
  Entry operator[](size_t tablet) const;
  bool all_codes(size_t column) const;

  // Keeps the first `kept` tablets and puts others behind them. tablet_rows: row slots of a full tablet.
  void replace_tail(size_t kept, std::vector<MaskedTablet> added, int64_t tablet_rows);
  // Puts others in the place of `count` tablets from `first` on, or none.
  void replace(size_t first, size_t count, std::vector<MaskedTablet> added);
  // In ascending order of tablets. Tablets without a row that is there are left out.
  void put_masks(std::span<const NewMask> masks);
  // The number of the tablet that has the row.
  size_t tablet_of(int64_t position) const;
  // Of rows that are there, in ascending order: how many that are there come before each; and back. Positions and
  // numbers are less than rows() and live_rows().
  std::vector<int64_t> live_rows_before(std::span<const int64_t> positions) const;
  std::vector<int64_t> positions_of(std::span<const int64_t> live_rows) const;

  // For reading and writing the file.
  const std::vector<Part>& parts() const { return parts_; }
  void add_part(std::shared_ptr<const DirectoryChunk> chunk, std::shared_ptr<const StoredBlob> blob);
  void set_blob(size_t part, std::shared_ptr<const StoredBlob> blob) { parts_[part].blob = std::move(blob); }

 private:
  void cut(size_t kept, std::vector<MaskedTablet>& tail);
  void append_run(std::span<const MaskedTablet> run, int64_t tablet_rows);
  void add_chunks(std::span<const MaskedTablet> members);
  // Takes all parts out.
  std::vector<Part> take_parts();
  void drop_part();

  std::vector<Part> parts_;
  size_t size_ = 0;
  int64_t rows_ = 0, live_rows_ = 0;
};

}  // namespace diptych
