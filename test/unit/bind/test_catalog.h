// A catalog of tables without rows, for binding against.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind/binder.h"
#include "storage/catalog.h"

namespace diptych {

class EmptyTable : public TableSnapshot {
 public:
  explicit EmptyTable(TableDefinition definition) : definition_(std::move(definition)) {
    for (const TableColumn& column : definition_.columns) columns_.push_back({column.name, column.type});
  }
  const TableDefinition& definition() const override { return definition_; }
  uint64_t contents_version() const override { return 0; }
  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return 0; }
  int64_t row_count() const override { return 0; }
  int64_t rows_in(size_t) const override { return 0; }
  ZoneMap zone_map(size_t, size_t) const override { return {}; }
  const Dictionary* common_dictionary(size_t) const override { return nullptr; }
  std::unique_ptr<PinnedTablet> pin(size_t, std::span<const size_t>) const override { return nullptr; }
  int64_t encoded_bytes(size_t, size_t) const override { return 0; }

 private:
  TableDefinition definition_;
  std::vector<ColumnDefinition> columns_;
};

class TestCatalog : public CatalogSnapshot {
 public:
  void add(TableDefinition definition) { add(std::make_shared<EmptyTable>(std::move(definition))); }
  void add(std::shared_ptr<const TableSnapshot> table) { tables_[table->definition().name] = std::move(table); }
  std::shared_ptr<const TableSnapshot> find_table(std::string_view name) const override {
    const auto found = tables_.find(std::string(name));
    return found == tables_.end() ? nullptr : found->second;
  }
  std::vector<std::string> table_names() const override {
    std::vector<std::string> names;
    for (const auto& [name, table] : tables_) names.push_back(name);
    return names;
  }
  void add_view(ViewDefinition view) {
    const std::string name = view.name;
    views_[name] = std::move(view);
  }
  const ViewDefinition* find_view(std::string_view name) const override {
    const auto found = views_.find(std::string(name));
    return found == views_.end() ? nullptr : &found->second;
  }
  std::vector<std::string> view_names() const override {
    std::vector<std::string> names;
    for (const auto& [name, view] : views_) names.push_back(name);
    return names;
  }
  uint64_t version() const override { return 1; }
  uint64_t schema_version() const override { return 1; }

 private:
  std::map<std::string, std::shared_ptr<const TableSnapshot>> tables_;
  std::map<std::string, ViewDefinition> views_;
};

// One column of each type: b boolean, s smallint, i integer, l bigint, r real, d double precision, n numeric(15,2), w
// numeric(30,4), day date, ts timestamp, v interval, t text, vc varchar(10), c char(5). Table `every` has them all,
// `other` has x and i, `keyed` has a key k integer, a text and z integer DEFAULT 7. The view `pairs` has p, which is i
// of `other`, and k, z of `keyed`, where i = k.
const TestCatalog& test_catalog();

// Parses and binds one statement against test_catalog(). FROM 'x' gives a file with the columns of `other`. Now is
// 2024-02-29 12:34:56.
BoundStatement bind_text(const std::string& sql);
LogicalOperatorPtr bind_query(const std::string& sql);

}  // namespace diptych
