// One committed (or at least written) tablet: what is known of it without reading it, and where its bytes are.
//
// Immutable, and shared by all snapshots that hold it; its pages, memory and cached columns are given up when the last
// one goes.
#pragma once

#include <cstdint>
#include <memory>

#include "base/memory_budget.h"
#include "storage/file/extent_allocator.h"
#include "tablet/encoded_tablet.h"
#include "tablet/layout.h"
#include "tablet/tablet_source.h"

namespace diptych {

class TabletBuffer;

class StoredTablet {
 public:
  // In the file: meta data and pages. Cached columns belong to the buffer.
  StoredTablet(uint64_t id, TabletMeta meta, Extent extent, std::shared_ptr<TabletBuffer> buffer);
  // In memory: the reservation holds its bytes.
  StoredTablet(uint64_t id, EncodedTablet tablet, MemoryReservation reservation);
  StoredTablet(const StoredTablet&) = delete;
  StoredTablet& operator=(const StoredTablet&) = delete;
  ~StoredTablet();

  // Of the database's TabletIds: no other tablet has had it in this process, nor any that was committed, but the same
  // one in memory before it came to the file.
  uint64_t id() const { return id_; }
  int64_t rows() const { return rows_; }
  size_t column_count() const;
  Encoding encoding(size_t column) const;
  const ZoneMap& zone_map(size_t column) const;
  int64_t encoded_bytes(size_t column) const;
  // dictionary: the table's, of the column. Without the tablet's bytes.
  StoredForm form(size_t column, const Dictionary* dictionary) const;

  bool is_in_memory() const { return !buffer_; }
  // Of a tablet in memory.
  const EncodedTablet& encoded() const { return encoded_; }
  // Of a tablet in the file.
  const TabletMeta& meta() const { return meta_; }
  PageRange pages() const { return extent_.range(); }
  TabletBuffer& buffer() const { return *buffer_; }

 private:
  uint64_t id_;
  int64_t rows_;
  TabletMeta meta_;
  Extent extent_;
  std::shared_ptr<TabletBuffer> buffer_;
  EncodedTablet encoded_;
  std::unique_ptr<MemoryReservation> reservation_;
};

}  // namespace diptych
