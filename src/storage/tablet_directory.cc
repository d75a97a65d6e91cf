#include "storage/tablet_directory.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace diptych {

namespace {

void add_form(StoredForm form, std::vector<StoredForm>& forms) {
  form.dictionary = nullptr;
  if (std::find(forms.begin(), forms.end(), form) == forms.end()) forms.push_back(form);
}

}  // namespace

DirectoryChunk::DirectoryChunk(std::vector<MaskedTablet> members) : tablets(std::move(members)) {
  check_invariant(!tablets.empty(), "a directory chunk has a tablet");
  all_codes.assign(tablets[0].tablet->column_count(), true);
  columns.resize(all_codes.size());
  forms.resize(all_codes.size());
  for (const auto& [tablet, mask] : tablets) {
    ids.push_back(tablet->id());
    first_rows.push_back(rows);
    rows += tablet->rows();
    for (size_t column = 0; column < all_codes.size(); ++column) {
      if (tablet->encoding(column) != Encoding::Dictionary) all_codes[column] = false;
      columns[column].add(tablet->zone_map(column), tablet->rows(), tablet->encoded_bytes(column));
      add_form(tablet->form(column, nullptr), forms[column]);
    }
  }
  look_at_masks();
}

DirectoryChunk::DirectoryChunk(const DirectoryChunk& before, size_t first_tablet, std::span<const NewMask> masks)
    : DirectoryChunk(before) {
  for (const NewMask& changed : masks) tablets[changed.tablet - first_tablet].mask = changed.mask;
  look_at_masks();
}

void DirectoryChunk::look_at_masks() {
  live_rows = 0;
  visibility = {};
  visibility_ids = ids;
  for (size_t index = 0; index < tablets.size(); ++index) {
    const MaskedTablet& member = tablets[index];
    live_rows += member.live_rows();
    visibility.add(visibility_zone(member), member.tablet->rows(), member.mask != nullptr ? member.mask->bytes() : 0);
    if (member.mask != nullptr) visibility_ids[index] = member.mask->id();
  }
}

ZoneMap visibility_zone(const MaskedTablet& member) {
  ZoneMap zone;
  zone.has_bounds = true;
  zone.low = zone.high = 1;
  zone.null_count = member.tablet->rows() - member.live_rows();
  return zone;
}

TabletDirectory::Entry TabletDirectory::operator[](size_t tablet) const {
  auto after = std::upper_bound(parts_.begin(), parts_.end(), tablet,
                                [](size_t number, const Part& part) { return number < part.first_tablet; });
  check_invariant(after != parts_.begin() && tablet < size_, "a tablet's number is below their count");
  const Part& part = *std::prev(after);
  size_t index = tablet - part.first_tablet;
  const MaskedTablet& member = part.chunk->tablets[index];
  return {member.tablet, member.mask, part.first_row + part.chunk->first_rows[index]};
}

bool TabletDirectory::all_codes(size_t column) const {
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) { return part.chunk->all_codes[column]; });
}

void TabletDirectory::add_part(std::shared_ptr<const DirectoryChunk> chunk, std::shared_ptr<const StoredBlob> blob) {
  size_t count = chunk->tablets.size();
  const int64_t rows = chunk->rows, live_rows = chunk->live_rows;
  parts_.push_back({std::move(chunk), std::move(blob), size_, rows_, live_rows_});
  size_ += count;
  rows_ += rows;
  live_rows_ += live_rows;
}

void TabletDirectory::drop_part() {
  size_ = parts_.back().first_tablet;
  rows_ = parts_.back().first_row;
  live_rows_ = parts_.back().first_live_row;
  parts_.pop_back();
}

// Drops all parts that reach beyond `kept`; what they have before it goes to the front of the tail.
void TabletDirectory::cut(size_t kept, std::vector<MaskedTablet>& tail) {
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

void TabletDirectory::replace_tail(size_t kept, std::vector<MaskedTablet> added, int64_t tablet_rows) {
  cut(kept, added);
  std::span<const MaskedTablet> rest = added;
  while (!rest.empty()) {
    bool is_full = rest[0].tablet->rows() == tablet_rows;
    auto end = std::find_if(rest.begin(), rest.end(), [&](const MaskedTablet& member) {
      return (member.tablet->rows() == tablet_rows) != is_full;
    });
    size_t count = static_cast<size_t>(end - rest.begin());
    append_run(rest.first(count), tablet_rows);
    rest = rest.subspan(count);
  }
}

// run: tablets that are all full, or all fragments.
void TabletDirectory::append_run(std::span<const MaskedTablet> run, int64_t tablet_rows) {
  std::vector<MaskedTablet> members(run.begin(), run.end());
  bool is_full = run[0].tablet->rows() == tablet_rows;
  while (!parts_.empty()) {
    auto last = parts_.back().chunk;
    bool same_kind = (last->tablets[0].tablet->rows() == tablet_rows) == is_full;
    bool large = last->tablets.size() >= DirectoryChunk::most_tablets || last->tablets.size() >= 2 * members.size();
    if (!same_kind || large) break;
    members.insert(members.begin(), last->tablets.begin(), last->tablets.end());
    drop_part();
  }
  add_chunks(members);
}

void TabletDirectory::add_chunks(std::span<const MaskedTablet> members) {
  while (!members.empty()) {
    const auto chunk = members.first(std::min(DirectoryChunk::most_tablets, members.size()));
    add_part(std::make_shared<DirectoryChunk>(std::vector(chunk.begin(), chunk.end())), nullptr);
    members = members.subspan(chunk.size());
  }
}

std::vector<TabletDirectory::Part> TabletDirectory::take_parts() {
  size_ = 0;
  rows_ = live_rows_ = 0;
  return std::exchange(parts_, {});
}

void TabletDirectory::replace(size_t first, size_t count, std::vector<MaskedTablet> added) {
  check_invariant(count > 0 && first + count <= size_, "the tablets that are replaced are there");
  std::vector<MaskedTablet> members;  // of the parts that have some of the tablets
  for (const Part& part : take_parts()) {
    const std::vector<MaskedTablet>& tablets = part.chunk->tablets;
    const size_t end = part.first_tablet + tablets.size();
    if (end <= first || part.first_tablet >= first + count) {
      add_part(part.chunk, part.blob);
      continue;
    }
    for (size_t tablet = part.first_tablet; tablet < end; ++tablet) {
      if (tablet == first) std::move(added.begin(), added.end(), std::back_inserter(members));
      if (tablet < first || tablet >= first + count) members.push_back(tablets[tablet - part.first_tablet]);
    }
    if (end >= first + count) add_chunks(members);
  }
}

void TabletDirectory::put_masks(std::span<const NewMask> masks) {
  for (const Part& part : take_parts()) {
    const size_t end = part.first_tablet + part.chunk->tablets.size();
    const auto next = std::find_if(masks.begin(), masks.end(), [&](const NewMask& mask) { return mask.tablet >= end; });
    const auto here = masks.first(static_cast<size_t>(next - masks.begin()));
    masks = masks.subspan(here.size());
    if (here.empty()) {
      add_part(part.chunk, part.blob);
    } else if (std::none_of(here.begin(), here.end(), [](const NewMask& one) { return one.mask->live_rows() == 0; })) {
      add_part(std::make_shared<DirectoryChunk>(*part.chunk, part.first_tablet, here), nullptr);
    } else {
      std::vector<MaskedTablet> members = part.chunk->tablets;
      for (const NewMask& changed : here) members[changed.tablet - part.first_tablet].mask = changed.mask;
      std::erase_if(members, [](const MaskedTablet& member) { return member.live_rows() == 0; });
      if (!members.empty()) add_part(std::make_shared<DirectoryChunk>(std::move(members)), nullptr);
    }
  }
}

namespace {

// The part whose first row, counted as `first` says, is the last one up to the row.
template <typename First>
const TabletDirectory::Part& part_with(const std::vector<TabletDirectory::Part>& parts, int64_t row, First first) {
  const auto after = std::upper_bound(parts.begin(), parts.end(), row,
                                      [&](int64_t wanted, const auto& part) { return wanted < first(part); });
  check_invariant(after != parts.begin(), "a row is in a part of the directory");
  return *std::prev(after);
}

}  // namespace

size_t TabletDirectory::tablet_of(int64_t position) const {
  const Part& part = part_with(parts_, position, [](const Part& one) { return one.first_row; });
  const std::vector<int64_t>& firsts = part.chunk->first_rows;
  const auto after = std::upper_bound(firsts.begin(), firsts.end(), position - part.first_row);
  return part.first_tablet + static_cast<size_t>(after - firsts.begin()) - 1;
}

std::vector<int64_t> TabletDirectory::live_rows_before(std::span<const int64_t> positions) const {
  std::vector<int64_t> live_rows;
  const Part* part = nullptr;
  size_t index = 0;
  int64_t before = 0;  // the tablet, of the rows that are there
  for (const int64_t position : positions) {
    if (part == nullptr || position >= part->first_row + part->chunk->rows) {
      part = &part_with(parts_, position, [](const Part& one) { return one.first_row; });
      index = 0;
      before = part->first_live_row;
    }
    const DirectoryChunk& chunk = *part->chunk;
    while (position >= part->first_row + chunk.first_rows[index] + chunk.tablets[index].tablet->rows())
      before += chunk.tablets[index++].live_rows();
    const int64_t slot = position - part->first_row - chunk.first_rows[index];
    const VisibilityMask* mask = chunk.tablets[index].mask.get();
    live_rows.push_back(before + (mask != nullptr ? mask->live_before(slot) : slot));
  }
  return live_rows;
}

std::vector<int64_t> TabletDirectory::positions_of(std::span<const int64_t> live_rows) const {
  std::vector<int64_t> positions;
  const Part* part = nullptr;
  size_t index = 0;
  int64_t before = 0;
  for (const int64_t live_row : live_rows) {
    if (part == nullptr || live_row >= part->first_live_row + part->chunk->live_rows) {
      part = &part_with(parts_, live_row, [](const Part& one) { return one.first_live_row; });
      index = 0;
      before = part->first_live_row;
    }
    const DirectoryChunk& chunk = *part->chunk;
    while (live_row >= before + chunk.tablets[index].live_rows()) before += chunk.tablets[index++].live_rows();
    const VisibilityMask* mask = chunk.tablets[index].mask.get();
    const int64_t slot = mask != nullptr ? mask->slot_of(live_row - before) : live_row - before;
    positions.push_back(part->first_row + chunk.first_rows[index] + slot);
  }
  return positions;
}

}  // namespace diptych
