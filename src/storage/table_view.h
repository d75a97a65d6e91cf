// A version of a table, and of the whole catalog, as readers see it.
//
// Behind the columns of its definition a table has one more, its visibility: true in rows that are there, NULL in those
// that were deleted. In tablets that have all of their rows it is a constant, and in others the tablet's mask is its
// validity bitmap, so that engines read it as any other column.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/table_state.h"

namespace diptych {

class TableView final : public TableSnapshot {
 public:
  explicit TableView(TableState state);
  const TableState& state() const { return state_; }

  const TableDefinition& definition() const override { return state_.definition; }
  uint64_t contents_version() const override { return state_.contents_version; }
  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return state_.directory.size(); }
  int64_t row_count() const override { return state_.directory.rows(); }
  int64_t live_rows() const override { return state_.directory.live_rows(); }
  std::optional<size_t> visibility_column() const override { return state_.definition.columns.size(); }
  int64_t rows_in(size_t tablet) const override { return state_.directory[tablet].tablet->rows(); }
  int64_t rows_between(size_t first, size_t end) const override;
  ZoneMap zone_map(size_t tablet, size_t column) const override;
  std::optional<StoredForm> stored_form(size_t tablet, size_t column) const override;
  std::span<const size_t> key_columns() const override { return state_.definition.primary_key; }
  const TableStatistics* statistics() const override;
  uint64_t tablet_id(size_t tablet) const override { return state_.directory[tablet].tablet->id(); }
  std::vector<uint64_t> column_ids(size_t first, size_t count, size_t column) const override;
  const Dictionary* common_dictionary(size_t column) const override;
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override;
  bool pins_outlive_it() const override { return true; }
  int64_t encoded_bytes(size_t tablet, size_t column) const override;
  size_t group_count() const override { return state_.directory.parts().size(); }
  TabletGroup group(size_t number) const override;
  ColumnSummary group_summary(size_t group, size_t column) const override;
  std::vector<StoredForm> group_forms(size_t group, size_t column) const override;

  // Reads and checks all tablets. Errors: XX001.
  void verify() const;

 private:
  bool is_visibility(size_t column) const { return column == state_.definition.columns.size(); }
  void prefetch_behind(size_t tablet, std::span<const size_t> wanted) const;

  TableState state_;
  std::vector<ColumnDefinition> columns_;
  std::vector<const Dictionary*> dictionaries_;
  mutable std::atomic<size_t> last_pinned_{0};
  mutable std::atomic<size_t> prefetched_{0};  // tablets below it have been asked for
};

using TableMap = std::map<std::string, std::shared_ptr<const TableView>, std::less<>>;
using ViewMap = std::map<std::string, ViewDefinition, std::less<>>;

// A version, and that which was the last to change definitions.
struct CatalogVersions {
  uint64_t version = 0, schema = 0;
};

class CatalogView final : public CatalogSnapshot {
 public:
  CatalogView(TableMap tables, ViewMap views, CatalogVersions versions, std::shared_ptr<const StoredBlob> root)
      : tables_(std::move(tables)), views_(std::move(views)), versions_(versions), root_(std::move(root)) {}

  std::shared_ptr<const TableSnapshot> find_table(std::string_view name) const override;
  std::vector<std::string> table_names() const override;
  const ViewDefinition* find_view(std::string_view name) const override;
  std::vector<std::string> view_names() const override;
  uint64_t version() const override { return versions_.version; }
  uint64_t schema_version() const override { return versions_.schema; }

  const TableMap& tables() const { return tables_; }
  const ViewMap& views() const { return views_; }
  // The catalog's blob in the file; nullptr in memory and in a preview.
  const std::shared_ptr<const StoredBlob>& root() const { return root_; }

 private:
  TableMap tables_;
  ViewMap views_;
  CatalogVersions versions_;
  std::shared_ptr<const StoredBlob> root_;
};

}  // namespace diptych
