#include "storage/table_view.h"

#include <algorithm>

#include "storage/tablet_buffer.h"

namespace diptych {
namespace {

// How far ahead of a scan the file system is asked to read: enough for a disk to be busy while a tablet is worked on.
constexpr int64_t prefetch_bytes = int64_t{16} << 20;
constexpr size_t most_prefetched_tablets = 16;

ColumnView visibility_view(const VisibilityMask* mask) {
  ColumnView view;
  view.physical = PhysicalType::Bool;
  view.base = 1;
  if (mask != nullptr) view.validity = mask->bits();
  return view;
}

// Keeps the tablet, its mask, the table's dictionaries and the buffer's frames.
class StoredPin final : public PinnedTablet {
 public:
  StoredPin(TabletHandle tablet, MaskHandle mask, std::shared_ptr<const TableDictionaries> dictionaries,
            int64_t position)
      : tablet_(std::move(tablet)), mask_(std::move(mask)), dictionaries_(std::move(dictionaries)) {
    rows = tablet_->rows();
    first_position = position;
  }
  StoredPin(const StoredPin&) = delete;
  StoredPin& operator=(const StoredPin&) = delete;
  ~StoredPin() override {
    if (!pinned_.empty()) tablet_->buffer().unpin(*tablet_, pinned_);
  }

  void view_memory(std::span<const size_t> wanted) {
    const auto& columns = tablet_->encoded().columns;
    for (const size_t column : wanted)
      views.push_back(column < columns.size() ? columns[column].view() : visibility_view(mask_.get()));
  }

  void pin_frames(std::vector<size_t> stored, const LoadContext& context) {
    views = tablet_->buffer().pin(*tablet_, stored, context);
    pinned_ = std::move(stored);
  }

  // Before the view that has the place.
  void add_visibility(size_t place) {
    views.insert(views.begin() + static_cast<ptrdiff_t>(place), visibility_view(mask_.get()));
  }

 private:
  TabletHandle tablet_;
  MaskHandle mask_;
  std::shared_ptr<const TableDictionaries> dictionaries_;
  std::vector<size_t> pinned_;
};

}  // namespace

TableView::TableView(TableState state) : state_(std::move(state)), columns_(state_.column_definitions()) {
  for (const auto& dictionary : state_.dictionaries->columns) dictionaries_.push_back(dictionary.get());
  columns_.push_back({"visibility", Type{TypeId::Boolean}});
  dictionaries_.push_back(nullptr);
}

int64_t TableView::rows_between(size_t first, size_t end) const {
  const auto rows_before = [&](size_t tablet) {
    return tablet < tablet_count() ? state_.directory[tablet].first_row : row_count();
  };
  return rows_before(end) - rows_before(first);
}

ZoneMap TableView::zone_map(size_t tablet, size_t column) const {
  const auto [handle, mask, first_row] = state_.directory[tablet];
  return is_visibility(column) ? visibility_zone({handle, mask}) : handle->zone_map(column);
}

namespace {

// Kernels for it find a bitmap or none in each tablet.
const StoredForm visibility_form{.physical = PhysicalType::Bool, .has_nulls = true};

}  // namespace

std::optional<StoredForm> TableView::stored_form(size_t tablet, size_t column) const {
  if (is_visibility(column)) return visibility_form;
  return state_.directory[tablet].tablet->form(column, dictionaries_[column]);
}

std::vector<StoredForm> TableView::group_forms(size_t group, size_t column) const {
  if (is_visibility(column)) return {visibility_form};
  std::vector<StoredForm> forms = state_.directory.parts()[group].chunk->forms[column];
  for (StoredForm& form : forms)
    if (form.encoding == Encoding::Dictionary) form.dictionary = dictionaries_[column];
  return forms;
}

int64_t TableView::encoded_bytes(size_t tablet, size_t column) const {
  const auto [handle, mask, first_row] = state_.directory[tablet];
  if (!is_visibility(column)) return handle->encoded_bytes(column);
  return mask != nullptr ? mask->bytes() : 0;
}

std::vector<uint64_t> TableView::column_ids(size_t first, size_t count, size_t column) const {
  std::vector<uint64_t> ids;
  ids.reserve(count);
  for (const TabletDirectory::Part& part : state_.directory.parts()) {
    const std::vector<uint64_t>& all = is_visibility(column) ? part.chunk->visibility_ids : part.chunk->ids;
    const size_t begin = std::max(first, part.first_tablet),
                 end = std::min(first + count, part.first_tablet + all.size());
    const auto at = all.begin() - static_cast<ptrdiff_t>(part.first_tablet);
    if (begin < end) ids.insert(ids.end(), at + static_cast<ptrdiff_t>(begin), at + static_cast<ptrdiff_t>(end));
  }
  return ids;
}

TabletGroup TableView::group(size_t number) const {
  const TabletDirectory::Part& part = state_.directory.parts()[number];
  return {part.first_tablet, part.chunk->tablets.size(), part.first_row, part.chunk->rows};
}

ColumnSummary TableView::group_summary(size_t group, size_t column) const {
  const DirectoryChunk& chunk = *state_.directory.parts()[group].chunk;
  return is_visibility(column) ? chunk.visibility : chunk.columns[column];
}

const Dictionary* TableView::common_dictionary(size_t column) const {
  if (!dictionaries_[column] || state_.directory.size() == 0) return nullptr;
  return state_.directory.all_codes(column) ? dictionaries_[column] : nullptr;
}

// Those of few of the rows, as where the others come from a file without statistics, would say little of all.
const TableStatistics* TableView::statistics() const {
  return 2 * state_.rows_in_statistics >= state_.directory.rows() ? state_.statistics.get() : nullptr;
}

std::unique_ptr<PinnedTablet> TableView::pin(size_t tablet, std::span<const size_t> wanted) const {
  const auto [handle, mask, first_row] = state_.directory[tablet];
  auto result = std::make_unique<StoredPin>(handle, mask, state_.dictionaries, first_row);
  if (handle->is_in_memory()) {
    result->view_memory(wanted);
    return result;
  }
  std::vector<size_t> stored(wanted.begin(), wanted.end());
  std::erase_if(stored, [this](size_t column) { return is_visibility(column); });
  if (!stored.empty()) {
    prefetch_behind(tablet, stored);
    result->pin_frames(std::move(stored), {state_.definition.name, tablet, dictionaries_});
  }
  for (size_t place = 0; place < wanted.size(); ++place)
    if (is_visibility(wanted[place])) result->add_visibility(place);
  return result;
}

// Only while tablets are pinned one after the other (several threads: almost so); jumps are skips by zone maps.
void TableView::prefetch_behind(size_t tablet, std::span<const size_t> wanted) const {
  size_t last = last_pinned_.exchange(tablet, std::memory_order_relaxed);
  bool is_sequential = tablet + 2 >= last && tablet <= last + 4;
  const StoredTablet& first = *state_.directory[tablet].tablet;
  if (!is_sequential) return;
  int64_t bytes = 1;
  for (size_t column : wanted) bytes += first.meta().columns[column].stored_bytes();
  size_t depth = std::clamp<size_t>(static_cast<size_t>(prefetch_bytes / bytes), 1, most_prefetched_tablets);
  size_t end = std::min(tablet + 1 + depth, state_.directory.size());
  size_t begin = prefetched_.load(std::memory_order_relaxed);
  if (begin <= tablet || begin > end + most_prefetched_tablets) begin = tablet + 1;  // a new scan
  if (begin >= end) return;
  prefetched_.store(end, std::memory_order_relaxed);
  for (size_t next = begin; next < end; ++next) {
    const StoredTablet& ahead = *state_.directory[next].tablet;
    // Small fragments are in memory, and where the file is only read, all that its log has.
    if (!ahead.is_in_memory() && !ahead.buffer().holds(ahead, wanted)) ahead.buffer().prefetch(ahead, wanted);
  }
}

void TableView::verify() const {
  for (size_t tablet = 0; tablet < state_.directory.size(); ++tablet) {
    const TabletHandle& handle = state_.directory[tablet].tablet;
    if (!handle->is_in_memory()) {
      handle->buffer().verify(*handle, {state_.definition.name, tablet, dictionaries_});
    }
  }
}

std::shared_ptr<const TableSnapshot> CatalogView::find_table(std::string_view name) const {
  auto entry = tables_.find(name);
  return entry == tables_.end() ? nullptr : entry->second;
}

std::vector<std::string> CatalogView::table_names() const {
  std::vector<std::string> names;
  for (const auto& [name, table] : tables_) names.push_back(name);
  return names;
}

const ViewDefinition* CatalogView::find_view(std::string_view name) const {
  auto entry = views_.find(name);
  return entry == views_.end() ? nullptr : &entry->second;
}

std::vector<std::string> CatalogView::view_names() const {
  std::vector<std::string> names;
  for (const auto& [name, view] : views_) names.push_back(name);
  return names;
}

}  // namespace diptych
