// What a connection sees of several catalogs as one.
//
//   CatalogWithTemporary   the connection's temporary tables, before those that all connections see
//   CatalogWithChanges     tables that a transaction changes, beside others as its snapshot has them
#pragma once

#include <array>
#include <memory>
#include <set>
#include <string>

#include "storage/catalog.h"

namespace diptych {

using NameSet = std::set<std::string, std::less<>>;

// Numbers for versions of a catalog that is made of several: another one than before wherever one of theirs is another
// one. No catalog of a store has one of them.
class VersionNumbers {
 public:
  using Parts = std::array<uint64_t, 3>;

  uint64_t number_of(const Parts& parts) {
    if (parts != parts_) ++number_;
    parts_ = parts;
    return number_;
  }

 private:
  Parts parts_{};
  uint64_t number_ = uint64_t{1} << 63;
};

class CatalogWithTemporary final : public CatalogSnapshot {
 public:
  CatalogWithTemporary(std::shared_ptr<const CatalogSnapshot> temporary,
                       std::shared_ptr<const CatalogSnapshot> permanent, uint64_t version, uint64_t schema_version)
      : temporary_(std::move(temporary)),
        permanent_(std::move(permanent)),
        version_(version),
        schema_version_(schema_version) {}

  std::shared_ptr<const TableSnapshot> find_table(std::string_view name) const override;
  std::vector<std::string> table_names() const override;
  const ViewDefinition* find_view(std::string_view name) const override;
  std::vector<std::string> view_names() const override { return permanent_->view_names(); }
  uint64_t version() const override { return version_; }
  uint64_t schema_version() const override { return schema_version_; }
  const CatalogSnapshot& permanent() const override { return *permanent_; }
  const CatalogSnapshot& temporary() const override { return *temporary_; }

 private:
  const std::shared_ptr<const CatalogSnapshot> temporary_, permanent_;
  const uint64_t version_, schema_version_;
};

class CatalogWithChanges final : public CatalogSnapshot {
 public:
  // names: of the tables and views that are as `changed` has them.
  CatalogWithChanges(std::shared_ptr<const CatalogSnapshot> changed, NameSet names,
                     std::shared_ptr<const CatalogSnapshot> others, uint64_t version, uint64_t schema_version)
      : changed_(std::move(changed)),
        names_(std::move(names)),
        others_(std::move(others)),
        version_(version),
        schema_version_(schema_version) {}

  std::shared_ptr<const TableSnapshot> find_table(std::string_view name) const override {
    return catalog_of(name).find_table(name);
  }
  std::vector<std::string> table_names() const override {
    return names_of(changed_->table_names(), others_->table_names());
  }
  const ViewDefinition* find_view(std::string_view name) const override { return catalog_of(name).find_view(name); }
  std::vector<std::string> view_names() const override {
    return names_of(changed_->view_names(), others_->view_names());
  }
  uint64_t version() const override { return version_; }
  uint64_t schema_version() const override { return schema_version_; }

 private:
  const CatalogSnapshot& catalog_of(std::string_view name) const {
    return names_.contains(name) ? *changed_ : *others_;
  }
  std::vector<std::string> names_of(std::vector<std::string> changed, std::vector<std::string> others) const;

  const std::shared_ptr<const CatalogSnapshot> changed_;
  const NameSet names_;
  const std::shared_ptr<const CatalogSnapshot> others_;
  const uint64_t version_, schema_version_;
};

}  // namespace diptych
