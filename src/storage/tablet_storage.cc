#include "storage/tablet_storage.h"

#include <numeric>
#include <optional>
#include <utility>

#include "storage/row_decoder.h"
#include "tablet/dictionary.h"
#include "tablet/layout.h"

namespace diptych {

namespace {

// A tablet as the file has it.
struct Block {
  Block(const EncodedTablet& tablet, std::span<const size_t> key_columns)
      : bytes(serialize(tablet, {.compress = true, .key_columns = key_columns})),
        meta(parse_meta(bytes.span().first(tablet_meta_bytes(tablet.columns.size())), bytes.size())) {
    for (size_t i = 0; i < meta.columns.size(); ++i) {
      if (tablet.columns[i].dictionary) meta.columns[i].code_end = tablet.columns[i].dictionary->size();
    }
  }
  AlignedBuffer bytes;
  TabletMeta meta;
};

}  // namespace

TabletHandle TabletStorage::store(uint64_t id, EncodedTablet tablet, std::span<const size_t> key_columns,
                                  MemoryReservation* held) const {
  if (writes_file()) return store_in_file(id, tablet, key_columns);
  MemoryReservation reservation(budget, "table in memory");
  const int64_t bytes = tablet.bytes();
  if (held != nullptr) held->give(reservation, bytes);
  reservation.grow(bytes - reservation.bytes());
  return std::make_shared<StoredTablet>(id, std::move(tablet), std::move(reservation));
}

TabletHandle TabletStorage::store_fragment(uint64_t id, EncodedTablet tablet, std::span<const size_t> key_columns,
                                           MemoryReservation* held) const {
  MemoryReservation reservation(budget, "fragment in memory");
  const int64_t bytes = tablet.bytes();
  if (held != nullptr) held->give(reservation, bytes);
  if (writes_file() && bytes <= most_fragment_bytes && reservation.try_grow(bytes - reservation.bytes()))
    return std::make_shared<StoredTablet>(id, std::move(tablet), std::move(reservation));
  if (held != nullptr) reservation.give(*held, bytes);
  return store(id, std::move(tablet), key_columns, held);
}

TabletHandle TabletStorage::store_in_file(uint64_t id, const EncodedTablet& tablet,
                                          std::span<const size_t> key_columns) const {
  Block block(tablet, key_columns);
  return std::make_shared<StoredTablet>(id, std::move(block.meta), file->write_block(block.bytes.span()), buffer);
}

void TabletStorage::write_fragments(TableState& table) const {
  const TabletDirectory& directory = table.directory;
  size_t first = 0;
  while (first < directory.size() && !directory[first].tablet->is_in_memory()) ++first;
  std::vector<MaskedTablet> tail;
  for (size_t i = first; i < directory.size(); ++i) {
    const auto& [tablet, mask, first_row] = directory[i];
    const bool is_written = !tablet->is_in_memory();
    tail.push_back(
        {is_written ? tablet : store_in_file(tablet->id(), tablet->encoded(), table.definition.primary_key), mask});
  }
  if (!tail.empty()) table.directory.replace_tail(first, std::move(tail), table.tablet_rows);
}

TabletHandle TabletStorage::store_beside(uint64_t id, EncodedTablet tablet, std::span<const size_t> key_columns) const {
  if (!writes_file()) return store(id, std::move(tablet), key_columns);
  Block block(tablet, key_columns);
  std::optional<Extent> extent = file->write_block_if_settled(block.bytes.span());
  if (!extent) return nullptr;
  return std::make_shared<StoredTablet>(id, std::move(block.meta), std::move(*extent), buffer);
}

void TabletStorage::view(const TableState& table, size_t tablet, std::span<const size_t> columns,
                         const std::function<void(std::span<const ColumnView>)>& use) const {
  TabletHandle handle = table.directory[tablet].tablet;
  std::vector<ColumnView> views;
  if (handle->is_in_memory()) {
    for (size_t column : columns) views.push_back(handle->encoded().columns[column].view());
    use(views);
    return;
  }
  std::vector<const Dictionary*> dictionaries;
  for (const auto& dictionary : table.dictionaries->columns) dictionaries.push_back(dictionary.get());
  views = buffer->pin(*handle, columns, {table.definition.name, tablet, dictionaries});
  struct Unpin {
    TabletBuffer& buffer;
    const StoredTablet& tablet;
    std::span<const size_t> columns;
    ~Unpin() { buffer.unpin(tablet, columns); }
  } unpin{*buffer, *handle, columns};
  use(views);
}

void TabletStorage::view_live_rows(const TableState& table, size_t tablet,
                                   const std::function<void(const RowBatch&)>& use) const {
  const TabletDirectory::Entry entry = table.directory[tablet];
  std::vector<size_t> columns(entry.tablet->column_count());
  std::iota(columns.begin(), columns.end(), 0);
  view(table, tablet, columns, [&](std::span<const ColumnView> views) {
    const int64_t rows = entry.tablet->rows();
    const DecodedRows decoded =
        entry.mask != nullptr ? DecodedRows(views, rows, entry.mask->bits()) : DecodedRows(views, rows);
    use(decoded.batch());
  });
}

}  // namespace diptych
