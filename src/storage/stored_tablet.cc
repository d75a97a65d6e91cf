#include "storage/stored_tablet.h"

#include "storage/tablet_buffer.h"

namespace diptych {

StoredTablet::StoredTablet(uint64_t id, TabletMeta meta, Extent extent, std::shared_ptr<TabletBuffer> buffer)
    : id_(id), rows_(meta.rows), meta_(std::move(meta)), extent_(std::move(extent)), buffer_(std::move(buffer)) {}

StoredTablet::StoredTablet(uint64_t id, EncodedTablet tablet, MemoryReservation reservation)
    : id_(id),
      rows_(tablet.rows),
      encoded_(std::move(tablet)),
      reservation_(std::make_unique<MemoryReservation>(std::move(reservation))) {}

StoredTablet::~StoredTablet() {
  if (buffer_) buffer_->forget(*this);
}

size_t StoredTablet::column_count() const { return is_in_memory() ? encoded_.columns.size() : meta_.columns.size(); }

Encoding StoredTablet::encoding(size_t column) const {
  return is_in_memory() ? encoded_.columns[column].encoding : meta_.columns[column].encoding;
}

const ZoneMap& StoredTablet::zone_map(size_t column) const {
  return is_in_memory() ? encoded_.columns[column].zone : meta_.columns[column].zone;
}

int64_t StoredTablet::encoded_bytes(size_t column) const {
  return is_in_memory() ? encoded_.columns[column].bytes() : meta_.columns[column].loaded_bytes(rows_);
}

StoredForm StoredTablet::form(size_t column, const Dictionary* dictionary) const {
  StoredForm form;
  if (is_in_memory()) {
    const ColumnView view = encoded_.columns[column].view();
    form = {view.encoding, view.physical, view.width, view.factor, view.validity != nullptr, view.dictionary};
  } else {
    const ColumnMeta& meta = meta_.columns[column];
    form = {meta.encoding, meta.physical, meta.width, meta.factor, meta.validity.stored.bytes > 0, nullptr};
    if (meta.encoding == Encoding::Dictionary) form.dictionary = dictionary;
  }
  return form;
}

}  // namespace diptych
