#include "session/visible_catalog.h"

#include <algorithm>

namespace diptych {

std::shared_ptr<const TableSnapshot> CatalogWithTemporary::find_table(std::string_view name) const {
  auto table = temporary_->find_table(name);
  return table != nullptr ? table : permanent_->find_table(name);
}

std::vector<std::string> CatalogWithTemporary::table_names() const {
  std::vector<std::string> names = temporary_->table_names(), permanent = permanent_->table_names();
  names.insert(names.end(), permanent.begin(), permanent.end());
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

const ViewDefinition* CatalogWithTemporary::find_view(std::string_view name) const {
  return temporary_->find_table(name) != nullptr ? nullptr : permanent_->find_view(name);
}

std::vector<std::string> CatalogWithChanges::names_of(std::vector<std::string> changed,
                                                      std::vector<std::string> others) const {
  std::erase_if(changed, [&](const std::string& name) { return !names_.contains(name); });
  std::erase_if(others, [&](const std::string& name) { return names_.contains(name); });
  changed.insert(changed.end(), others.begin(), others.end());
  std::ranges::sort(changed);
  return changed;
}

}  // namespace diptych
