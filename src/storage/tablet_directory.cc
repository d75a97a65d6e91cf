#include "storage/tablet_directory.h"

#include <algorithm>

#include "base/error.h"

namespace diptych {

DirectoryChunk::DirectoryChunk(std::vector<TabletHandle> members) : tablets(std::move(members)) {
  check_invariant(!tablets.empty(), "a directory chunk has a tablet");
  all_codes.assign(tablets[0]->column_count(), true);
  columns.resize(all_codes.size());
  for (const TabletHandle& tablet : tablets) {
    first_rows.push_back(rows);
    rows += tablet->rows();
    for (size_t column = 0; column < all_codes.size(); ++column) {
      if (tablet->encoding(column) != Encoding::Dictionary) all_codes[column] = false;
      columns[column].add(tablet->zone_map(column), tablet->rows(), tablet->encoded_bytes(column));
    }
  }
}

TabletDirectory::Entry TabletDirectory::operator[](size_t tablet) const {
  auto after = std::upper_bound(parts_.begin(), parts_.end(), tablet,
                                [](size_t number, const Part& part) { return number < part.first_tablet; });
  check_invariant(after != parts_.begin() && tablet < size_, "a tablet's number is below their count");
  const Part& part = *std::prev(after);
  size_t index = tablet - part.first_tablet;
  return {part.chunk->tablets[index], part.first_row + part.chunk->first_rows[index]};
}

bool TabletDirectory::all_codes(size_t column) const {
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) { return part.chunk->all_codes[column]; });
}

void TabletDirectory::add_part(std::shared_ptr<const DirectoryChunk> chunk, std::shared_ptr<const StoredBlob> blob) {
  size_t count = chunk->tablets.size();
  int64_t rows = chunk->rows;
  parts_.push_back({std::move(chunk), std::move(blob), size_, rows_});
  size_ += count;
  rows_ += rows;
}

void TabletDirectory::drop_part() {
  size_ = parts_.back().first_tablet;
  rows_ = parts_.back().first_row;
  parts_.pop_back();
}

// Drops all parts that reach beyond `kept`; what they have before it goes to the front of the tail.
void TabletDirectory::cut(size_t kept, std::vector<TabletHandle>& tail) {
  while (size_ > kept) {
    auto chunk = parts_.back().chunk;
    size_t first = parts_.back().first_tablet;
    drop_part();
    if (first < kept) {
      auto begin = chunk->tablets.begin();
      tail.insert(tail.begin(), begin, begin + static_cast<std::ptrdiff_t>(kept - first));
    }
  }
}

void TabletDirectory::replace_tail(size_t kept, std::vector<TabletHandle> added, int64_t tablet_rows) {
  cut(kept, added);
  std::span<const TabletHandle> rest = added;
  while (!rest.empty()) {
    bool is_full = rest[0]->rows() == tablet_rows;
    auto end = std::find_if(rest.begin(), rest.end(),
                            [&](const TabletHandle& tablet) { return (tablet->rows() == tablet_rows) != is_full; });
    size_t count = static_cast<size_t>(end - rest.begin());
    append_run(rest.first(count), tablet_rows);
    rest = rest.subspan(count);
  }
}

// run: tablets that are all full, or all fragments.
void TabletDirectory::append_run(std::span<const TabletHandle> run, int64_t tablet_rows) {
  std::vector<TabletHandle> members(run.begin(), run.end());
  bool is_full = run[0]->rows() == tablet_rows;
  while (!parts_.empty()) {
    auto last = parts_.back().chunk;
    bool same_kind = (last->tablets[0]->rows() == tablet_rows) == is_full;
    bool large = last->tablets.size() >= DirectoryChunk::most_tablets || last->tablets.size() >= 2 * members.size();
    if (!same_kind || large) break;
    members.insert(members.begin(), last->tablets.begin(), last->tablets.end());
    drop_part();
  }
  for (size_t at = 0; at < members.size(); at += DirectoryChunk::most_tablets) {
    auto begin = members.begin() + static_cast<std::ptrdiff_t>(at);
    auto end =
        members.begin() + static_cast<std::ptrdiff_t>(std::min(at + DirectoryChunk::most_tablets, members.size()));
    add_part(std::make_shared<DirectoryChunk>(std::vector<TabletHandle>(begin, end)), nullptr);
  }
}

}  // namespace diptych
