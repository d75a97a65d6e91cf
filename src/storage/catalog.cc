#include "storage/catalog.h"

namespace diptych {
namespace {

class EmptyCatalog final : public CatalogSnapshot {
 public:
  std::shared_ptr<const TableSnapshot> find_table(std::string_view) const override { return nullptr; }
  std::vector<std::string> table_names() const override { return {}; }
  const ViewDefinition* find_view(std::string_view) const override { return nullptr; }
  std::vector<std::string> view_names() const override { return {}; }
  uint64_t version() const override { return 0; }
  uint64_t schema_version() const override { return 0; }
};

}  // namespace

std::optional<size_t> TableDefinition::find_column(std::string_view wanted) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == wanted) return i;
  }
  return {};
}

const CatalogSnapshot& CatalogSnapshot::temporary() const {
  static const EmptyCatalog empty;
  return empty;
}

TableAddress address_of(const TableSnapshot& table) {
  return {table.definition().name, table.definition().is_temporary};
}

std::shared_ptr<const TableSnapshot> find_table(const CatalogSnapshot& catalog, const TableAddress& address) {
  return (address.is_temporary ? catalog.temporary() : catalog.permanent()).find_table(address.name);
}

}  // namespace diptych
