#include "tablet/memory_source.h"

#include "base/error.h"

namespace diptych {

MemorySource::MemorySource(std::vector<ColumnDefinition> columns) : columns_(std::move(columns)) {}

void MemorySource::add(EncodedTablet tablet) {
  check_invariant(tablet.columns.size() == columns_.size(), "a tablet has the columns of its source");
  if (tablet.rows == 0) return;
  first_positions_.push_back(rows_);
  rows_ += tablet.rows;
  tablets_.push_back(std::move(tablet));
}

Dictionary* MemorySource::new_dictionary() { return dictionaries_.emplace_back(std::make_unique<Dictionary>()).get(); }

std::vector<Dictionary*> MemorySource::new_dictionaries() {
  std::vector<Dictionary*> dictionaries;
  for (const ColumnDefinition& column : columns_) {
    dictionaries.push_back(column.type.physical() == PhysicalType::Text ? new_dictionary() : nullptr);
  }
  return dictionaries;
}

const Dictionary* MemorySource::common_dictionary(size_t column) const {
  const Dictionary* common = nullptr;
  for (const EncodedTablet& tablet : tablets_) {
    const EncodedColumn& encoded = tablet.columns[column];
    if (encoded.encoding != Encoding::Dictionary) return nullptr;
    if (common != nullptr && common != encoded.dictionary) return nullptr;
    common = encoded.dictionary;
  }
  return common;
}

std::unique_ptr<PinnedTablet> MemorySource::pin(size_t tablet, std::span<const size_t> wanted) const {
  auto pinned = std::make_unique<PinnedTablet>();
  pinned->rows = tablets_[tablet].rows;
  pinned->first_position = first_positions_[tablet];
  for (size_t column : wanted) pinned->views.push_back(tablets_[tablet].columns[column].view());
  return pinned;
}

int64_t MemorySource::bytes() const {
  int64_t total = 0;
  for (const EncodedTablet& tablet : tablets_) total += tablet.bytes();
  return total;
}

}  // namespace diptych
