#include "storage/compaction.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "storage/store_state.h"
#include "tablet/builder.h"

namespace diptych {
namespace {

// A tablet is written anew once one in so many of its rows is gone: scans then read little more than they would
// without.
constexpr int64_t least_part_gone = 16;
// Of a run: what is written before any of it counts.
constexpr size_t most_run_tablets = 32;

struct RowCounts {
  int64_t all = 0, live = 0;
  void add(const MaskedTablet& member) {
    all += member.tablet->rows();
    live += member.live_rows();
  }
  int64_t gone() const { return all - live; }
  bool is_worth_it() const { return gone() * least_part_gone >= all; }
};

bool is_worth_it(const MaskedTablet& member) {
  RowCounts counts;
  counts.add(member);
  return member.mask != nullptr && counts.is_worth_it();
}

// Finds the best run among tablets that come one by one.
class RunFinder {
 public:
  explicit RunFinder(int64_t tablet_rows) : tablet_rows_(tablet_rows) {}

  void add(const MaskedTablet& member, size_t number) {
    const bool goes_on = end_ == number && number > first_ && number - first_ < most_run_tablets;
    // One that is not full takes the rows of its neighbours.
    if (!is_worth_it(member) && !(goes_on && member.tablet->rows() < tablet_rows_)) return;
    if (!goes_on) {
      first_ = number;
      counts_ = {};
    }
    end_ = number + 1;
    counts_.add(member);
    // Of runs that have lost equal parts the longer one.
    if (counts_.gone() * best_counts_.all < best_counts_.gone() * counts_.all) return;
    best_first_ = first_;
    best_count_ = end_ - first_;
    best_counts_ = counts_;
  }

  size_t first() const { return best_first_; }
  size_t count() const { return best_count_; }

 private:
  const int64_t tablet_rows_;
  size_t first_ = 0, end_ = 0;
  RowCounts counts_;
  size_t best_first_ = 0, best_count_ = 0;
  RowCounts best_counts_;
};

// Rows of a tablet that `before` has and `after` has not, counted by `before` from `first` on.
void append_gone(const VisibilityMask* before, const VisibilityMask* after, int64_t rows, int64_t first,
                 std::vector<int64_t>& gone) {
  if (before == after) return;
  for (int64_t slot = 0; slot < rows; ++slot) {
    if (before != nullptr && !before->is_live(slot)) continue;
    if (!after->is_live(slot)) gone.push_back(first);
    ++first;
  }
}

// The numbers of the run's tablets in a later version of their table, none for those that it does not have; nothing
// where they are not neighbours any more, or none is there.
struct Places {
  std::vector<std::optional<size_t>> of_tablets;
  size_t first = 0, count = 0;
};

std::optional<Places> find_places(const CompactedRun& run, const TabletDirectory& later) {
  std::map<uint64_t, size_t> wanted;
  for (size_t i = 0; i < run.count; ++i) wanted.emplace(run.table->state().directory[run.first + i].tablet->id(), i);
  Places places;
  places.of_tablets.resize(run.count);
  for (const TabletDirectory::Part& part : later.parts()) {
    for (size_t i = 0; i < part.chunk->tablets.size(); ++i) {
      const auto found = wanted.find(part.chunk->tablets[i].tablet->id());
      if (found == wanted.end()) continue;
      const size_t number = part.first_tablet + i;
      if (places.count == 0) places.first = number;
      if (places.first + places.count++ != number) return {};
      places.of_tablets[found->second] = number;
    }
  }
  if (places.count == 0) return {};
  return places;
}

}  // namespace

std::optional<CompactedRun> run_to_compact(std::shared_ptr<const TableView> table, CompactedPart which) {
  const TabletDirectory& directory = table->state().directory;
  if (directory.live_rows() == directory.rows()) return {};
  const int64_t tablet_rows = table->state().tablet_rows;
  size_t end = directory.size();
  if (which == CompactedPart::BeforeFragmentsAtEnd)
    while (end > 0 && directory[end - 1].tablet->rows() < tablet_rows) --end;
  RunFinder finder(tablet_rows);
  for (const TabletDirectory::Part& part : directory.parts()) {
    const DirectoryChunk& chunk = *part.chunk;
    if (chunk.live_rows == chunk.rows) continue;
    for (size_t i = 0; i < chunk.tablets.size() && part.first_tablet + i < end; ++i)
      finder.add(chunk.tablets[i], part.first_tablet + i);
  }
  if (finder.count() == 0) return {};
  return CompactedRun{std::move(table), finder.first(), finder.count(), {}};
}

bool write_run(const TabletStorage& storage, CompactedRun& run, const std::atomic<bool>* cancelled) {
  const TableState& state = run.table->state();
  TabletBuilder builder(state.column_definitions(), state.tablet_rows, state.dictionaries->all());
  MemoryReservation memory(storage.budget, "tablets written anew");
  const auto flush = [&] {
    run.tablets.push_back(storage.store_beside(storage.ids->take(), builder.finish(), state.definition.primary_key));
    return run.tablets.back() != nullptr;
  };
  bool is_settled = true;
  for (size_t tablet = run.first; is_settled && tablet < run.first + run.count; ++tablet) {
    check_cancelled(cancelled);
    storage.view_live_rows(state, tablet, [&](const RowBatch& batch) {
      for (int64_t first = 0; is_settled && first < batch.rows;) {
        first += builder.append(batch, first, batch.rows - first);
        memory.follow(static_cast<size_t>(builder.staged_bytes()));
        if (builder.full()) is_settled = flush();
      }
    });
  }
  return is_settled && (builder.rows() == 0 || flush());
}

bool put_run(const TabletStorage& storage, const CompactedRun& run, TableState& later) {
  const TableState& before = run.table->state();
  if (later.dictionaries != before.dictionaries) return false;  // another table of the name
  const std::optional<Places> places = find_places(run, later.directory);
  if (!places) return false;
  std::vector<int64_t> gone;  // since, as rows of what was written
  int64_t rows = 0;
  for (size_t i = 0; i < run.count; ++i) {
    const auto [tablet, mask, position] = before.directory[run.first + i];
    const int64_t live = MaskedTablet{tablet, mask}.live_rows();
    // Rows of a tablet that is not there are gone, or in another one.
    if (const auto place = places->of_tablets[i])
      append_gone(mask.get(), later.directory[*place].mask.get(), tablet->rows(), rows, gone);
    else
      for (int64_t row = rows; row < rows + live; ++row) gone.push_back(row);
    rows += live;
  }
  std::vector<MaskedTablet> added;
  std::span<const int64_t> left = gone;
  int64_t position = 0;
  for (const TabletHandle& tablet : run.tablets) {
    const auto end = std::lower_bound(left.begin(), left.end(), position + tablet->rows());
    const auto here = left.first(static_cast<size_t>(end - left.begin()));
    left = left.subspan(here.size());
    MaskHandle mask;
    if (!here.empty())
      mask = std::make_shared<VisibilityMask>(storage.ids->take(), tablet->rows(), nullptr, here, position,
                                              storage.budget);
    position += tablet->rows();
    if (mask == nullptr || mask->live_rows() > 0) added.push_back({tablet, std::move(mask)});
  }
  check_invariant(position == rows, "a run has all rows that were there");
  later.directory.replace(places->first, places->count, std::move(added));
  later.blob = nullptr;
  return true;
}

}  // namespace diptych
