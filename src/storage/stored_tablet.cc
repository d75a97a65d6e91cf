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

}  // namespace diptych
