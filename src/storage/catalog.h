// What tables there are: definitions, and immutable snapshots of their rows.
//
//   Store ---- current CatalogSnapshot ---- TableSnapshot "lineitem": [tablet 0] [tablet 1] ...
//                     ^                               (a TabletSource)
//          WriteTransaction ---- commit() makes the next CatalogSnapshot current, atomically and durably
//
// Readers keep the snapshot they started with; they block nobody and nobody blocks them. One writer at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tablet/statistics/table_statistics.h"
#include "tablet/tablet_source.h"

namespace diptych {

struct TableColumn {
  std::string name;
  Type type;
  bool not_null = false;
  std::string default_sql;  // expression text as CREATE TABLE gave it; empty: NULL
};

struct TableDefinition {
  std::string name;
  bool is_temporary = false;  // of one connection, as long as that
  std::vector<TableColumn> columns;
  std::vector<size_t> primary_key;  // columns, in key order; empty: none. Key columns are not_null.

  std::optional<size_t> find_column(std::string_view name) const;
};

// Which table a name means: a temporary one hides a table or view of all connections that has the same name.
struct TableAddress {
  std::string name;
  bool is_temporary = false;

  bool operator==(const TableAddress&) const = default;
};

// A query with a name. Tables and views that are not temporary share their names.
struct ViewDefinition {
  std::string name;
  std::vector<std::string> columns;  // of the first outputs; the others have the query's names
  std::string sql;                   // the query's text, as CREATE VIEW gave it

  bool operator==(const ViewDefinition&) const = default;
};

// The committed rows of one table at one moment, in the order in which they were appended.
class TableSnapshot : public TabletSource {
 public:
  virtual const TableDefinition& definition() const = 0;
  // Grows with every commit that changes its rows or makes the table anew; equal ones mean the same rows, though
  // perhaps in other tablets.
  virtual uint64_t contents_version() const = 0;
  const TableStatistics* statistics() const override { return nullptr; }
};

class CatalogSnapshot {
 public:
  virtual ~CatalogSnapshot() = default;
  // nullptr when there is no such table. Names are compared exactly (the parser has folded them).
  virtual std::shared_ptr<const TableSnapshot> find_table(std::string_view name) const = 0;
  // All names, sorted.
  virtual std::vector<std::string> table_names() const = 0;
  // nullptr when there is no such view; stays while the snapshot does.
  virtual const ViewDefinition* find_view(std::string_view name) const = 0;
  // All names, sorted.
  virtual std::vector<std::string> view_names() const = 0;
  // Another one with every commit, and when tablets are written anew; equal versions mean the same rows in the same
  // tablets.
  virtual uint64_t version() const = 0;
  // Another one with every commit that makes, drops or replaces a table or a view; equal schema versions mean the same
  // definitions, though perhaps other rows.
  virtual uint64_t schema_version() const = 0;
  // The tables and views that all connections see, also those that temporary tables hide; and the temporary tables.
  // Both stay while this does.
  virtual const CatalogSnapshot& permanent() const { return *this; }
  virtual const CatalogSnapshot& temporary() const;
};

TableAddress address_of(const TableSnapshot& table);
// nullptr when there is no such table.
std::shared_ptr<const TableSnapshot> find_table(const CatalogSnapshot& catalog, const TableAddress& address);

}  // namespace diptych
