#include "storage/file/catalog_format.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "base/type_limits.h"
#include "storage/file/blob_codec.h"
#include "storage/file/statistics_format.h"
#include "storage/tablet_storage.h"

namespace diptych {
namespace {

constexpr char root_name[] = "catalog";
constexpr int64_t most_tablet_rows = int64_t{1} << 20;

void write_reference(BlobWriter& writer, const BlobReference& reference) {
  writer.varint(static_cast<uint64_t>(reference.first_page));
  writer.varint(static_cast<uint64_t>(reference.bytes));
  writer.fixed(reference.checksum);
}

BlobReference read_reference(BlobReader& reader) {
  BlobReference reference;
  reference.first_page = static_cast<int64_t>(reader.varint());
  reference.bytes = static_cast<int64_t>(reader.varint());
  reference.checksum = reader.fixed();
  return reference;
}

void write_definition(BlobWriter& writer, const TableState& table) {
  writer.text(table.definition.name);
  writer.varint(static_cast<uint64_t>(table.tablet_rows));
  writer.count(table.definition.columns.size());
  for (const TableColumn& column : table.definition.columns) {
    writer.text(column.name);
    writer.byte(static_cast<uint8_t>(column.type.id));
    writer.byte(column.type.precision);
    writer.byte(column.type.scale);
    writer.varint(column.type.length);
    writer.byte(column.not_null);
    writer.text(column.default_sql);
  }
  writer.count(table.definition.primary_key.size());
  for (size_t column : table.definition.primary_key) writer.varint(column);
}

constexpr uint32_t most_characters = 10485760;  // of char(n) and varchar(n), as in PostgreSQL

bool is_possible(const Type& type) {
  if (type.id == TypeId::Null || type.length > most_characters) return false;
  return type.id != TypeId::Numeric || (type.precision >= 1 && type.scale <= type.precision);
}

TableState read_definition(BlobReader& reader) {
  TableDefinition definition;
  definition.name = reader.text();
  int64_t tablet_rows = static_cast<int64_t>(reader.varint());
  if (tablet_rows < 1 || tablet_rows > most_tablet_rows || (tablet_rows & (tablet_rows - 1)) != 0) {
    reader.fail("impossible tablet size");
  }
  for (size_t left = reader.count(); left > 0; --left) {
    TableColumn column;
    column.name = reader.text();
    column.type.id = static_cast<TypeId>(reader.byte_up_to(static_cast<uint8_t>(TypeId::Char)));
    column.type.precision = reader.byte_up_to(max_precision);
    column.type.scale = reader.byte_up_to(max_precision);
    column.type.length = static_cast<uint32_t>(std::min<uint64_t>(reader.varint(), UINT32_MAX));
    if (!is_possible(column.type)) reader.fail("impossible type");
    column.not_null = reader.byte_up_to(1) != 0;
    column.default_sql = reader.text();
    if (definition.find_column(column.name)) reader.fail("a column is there twice");
    definition.columns.push_back(std::move(column));
  }
  if (definition.columns.empty()) reader.fail("a table without columns");
  for (size_t left = reader.count(); left > 0; --left) {
    definition.primary_key.push_back(static_cast<size_t>(reader.varint()));
    if (definition.primary_key.back() >= definition.columns.size()) reader.fail("impossible key column");
  }
  return make_table(std::move(definition), tablet_rows);
}

// Merges segments as directory chunks are merged: the last is rewritten with the new strings unless it is at least
// twice as large.
void write_dictionary(DatabaseFile& file, const Dictionary& dictionary, std::vector<DictionarySegment>& segments) {
  uint32_t end = dictionary.size();
  uint32_t begin = segments.empty() ? 0 : segments.back().first + segments.back().count;
  if (begin == end) return;
  while (!segments.empty() && segments.back().count < 2 * (end - begin)) {
    begin = segments.back().first;
    segments.pop_back();
  }
  BlobWriter writer;
  writer.varint(begin);
  writer.count(end - begin);
  for (uint32_t code = begin; code < end; ++code) writer.text(dictionary[code]);
  segments.push_back({begin, end - begin, file.write_blob(writer.bytes())});
}

void read_dictionary_segment(BlobReader& reader, Dictionary& dictionary, DictionarySegment& segment) {
  segment.first = static_cast<uint32_t>(reader.varint());
  if (segment.first != dictionary.size()) reader.fail("a dictionary segment is missing");
  segment.count = static_cast<uint32_t>(reader.count());
  for (uint32_t code = segment.first; code < segment.first + segment.count; ++code) {
    if (dictionary.find_or_append(reader.text()) != code) reader.fail("a dictionary has a string twice or too many");
  }
  reader.finish();
}

// A tablet is listed with its id and a copy of the meta data its block begins with, so that planning needs no tablet;
// then its mask, if it has one.
void write_chunk(DatabaseFile& file, TabletDirectory& directory, size_t part) {
  const DirectoryChunk& chunk = *directory.parts()[part].chunk;
  BlobWriter writer;
  writer.count(chunk.tablets.size());
  for (const auto& [tablet, mask] : chunk.tablets) {
    writer.varint(tablet->id());
    writer.varint(static_cast<uint64_t>(tablet->pages().first));
    writer.varint(static_cast<uint64_t>(tablet->pages().count));
    std::vector<std::byte> meta(tablet_meta_bytes(tablet->column_count()));
    file.read_at(tablet->pages().first * page_bytes, meta);
    parse_meta(meta, tablet->meta().block_bytes);
    writer.raw(meta);
    writer.varint(mask != nullptr ? mask->id() : 0);
    if (mask != nullptr) writer.raw(std::as_bytes(std::span(mask->bits(), static_cast<size_t>(mask->bytes()))));
  }
  directory.set_blob(part, file.write_blob(writer.bytes()));
}

void write_table_statistics(DatabaseFile& file, BlobWriter& table_writer, TableState& table) {
  table_writer.varint(static_cast<uint64_t>(table.rows_in_statistics));
  if (table.rows_in_statistics == 0) return;
  if (!table.statistics_blob) {
    BlobWriter writer;
    write_statistics(writer, *table.statistics);
    table.statistics_blob = file.write_blob(writer.bytes());
  }
  write_reference(table_writer, table.statistics_blob->reference());
}

std::string statistics_name(const std::string& table) { return table + ", statistics"; }

void read_table_statistics(DatabaseFile& file, BlobReader& table_reader, TableState& table, const std::string& what) {
  table.rows_in_statistics = static_cast<int64_t>(table_reader.varint());
  if (table.rows_in_statistics == 0) return;
  if (table.rows_in_statistics < 0) table_reader.fail("statistics of more rows than there can be");
  const BlobReference place = read_reference(table_reader);
  table.statistics_blob = file.claim_blob(place, statistics_name(what));
  const auto bytes = file.read_blob(place, statistics_name(what));
  BlobReader reader(bytes, statistics_name(what));
  table.statistics = read_statistics(reader, table.definition);
}

// The ids of the tablets and masks in a file. Version 1 has none: its tablets are numbered in the order in which they
// are read, which is the same until a commit writes the ids.
class IdReader {
 public:
  // root: at its beginning.
  IdReader(uint32_t version, BlobReader& root) : has_ids_(version >= 2), next_(1) {
    if (!has_ids_) return;
    next_ = root.varint();
    if (next_ == 0 || next_ > TabletIds::end) root.fail("impossible next id of a tablet");
  }

  // Of the next tablet in the directory. Caches take tablets with one id for one tablet.
  uint64_t read(BlobReader& directory) {
    if (!has_ids_) return next_++;
    return checked(directory.varint(), directory);
  }

  // Of the mask of a tablet; 0: it has none.
  uint64_t read_of_mask(BlobReader& directory) {
    const uint64_t id = directory.varint();
    return id == 0 ? id : checked(id, directory);
  }

  uint64_t next() const { return next_; }

 private:
  uint64_t checked(uint64_t id, const BlobReader& directory) {
    if (id == 0 || id >= next_) directory.fail("a tablet has an id that was not given");
    if (!seen_.insert(id).second) directory.fail("a tablet has the id of another one");
    return id;
  }

  bool has_ids_;
  uint64_t next_;
  std::unordered_set<uint64_t> seen_;
};

// Bounds become proofs, so they are no wider than the column's type. That values lie within them is checked when they
// are read.
bool fits_column(const ColumnMeta& meta, const TableColumn& column) {
  if (meta.physical != column.type.physical()) return false;
  if (column.not_null && meta.zone.null_count > 0) return false;
  const std::optional<TypeLimits> limits = limits_of(column.type);
  return !limits || (meta.zone.low >= limits->low && meta.zone.high <= limits->high);
}

MaskHandle read_mask(BlobReader& reader, int64_t rows, IdReader& ids, MemoryBudget& budget) {
  const uint64_t id = ids.read_of_mask(reader);
  if (id == 0) return nullptr;
  const auto bits = reader.raw(static_cast<size_t>(validity_bytes(rows)));
  auto mask = std::make_shared<VisibilityMask>(id, rows, bits, budget);
  const bool has_more = rows % 8 != 0 && std::to_integer<int>(bits.back()) >> (rows % 8) != 0;
  if (has_more || mask->live_rows() == 0 || mask->live_rows() == rows) reader.fail("impossible mask of a tablet");
  return mask;
}

std::shared_ptr<const DirectoryChunk> read_chunk(DatabaseFile& file, const std::shared_ptr<TabletBuffer>& buffer,
                                                 BlobReader& reader, const TableState& table, const std::string& what,
                                                 IdReader& ids) {
  std::vector<MaskedTablet> tablets;
  size_t columns = table.definition.columns.size();
  for (size_t left = reader.count(); left > 0; --left) {
    const uint64_t id = ids.read(reader);
    PageRange range;
    range.first = static_cast<int64_t>(reader.varint());
    range.count = static_cast<int64_t>(reader.varint());
    Extent extent = file.claim(range, what);
    TabletMeta meta = parse_meta(reader.raw(tablet_meta_bytes(columns)),
                                 static_cast<uint64_t>(range.count) * static_cast<uint64_t>(page_bytes));
    bool fits = meta.columns.size() == columns && meta.rows > 0 && meta.rows <= table.tablet_rows;
    for (size_t column = 0; fits && column < columns; ++column) {
      fits = fits_column(meta.columns[column], table.definition.columns[column]);
      const Dictionary* dictionary = table.dictionaries->columns[column].get();
      if (dictionary) meta.columns[column].code_end = dictionary->size();
    }
    if (!fits) reader.fail("a tablet does not fit its table");
    const int64_t rows = meta.rows;
    auto tablet = std::make_shared<StoredTablet>(id, std::move(meta), std::move(extent), buffer);
    MaskHandle mask;
    if (file.header().version >= 5) mask = read_mask(reader, rows, ids, buffer->budget());
    tablets.push_back({std::move(tablet), std::move(mask)});
  }
  reader.finish();
  if (tablets.empty()) reader.fail("a directory chunk is empty");
  return std::make_shared<DirectoryChunk>(std::move(tablets));
}

std::string dictionary_name(const std::string& table, const TableColumn& column) {
  return table + ", dictionary of \"" + column.name + "\"";
}

TableState read_table(DatabaseFile& file, const std::shared_ptr<TabletBuffer>& buffer, const BlobReference& reference,
                      const std::string& name, IdReader& ids) {
  std::string what = "table \"" + name + "\"";
  auto blob = file.claim_blob(reference, what);
  auto bytes = file.read_blob(reference, what);
  BlobReader reader(bytes, what);
  TableState table = read_definition(reader);
  table.blob = std::move(blob);
  if (table.definition.name != name) reader.fail("the catalog has another name for it");
  for (size_t column = 0; column < table.definition.columns.size(); ++column) {
    Dictionary* dictionary = table.dictionaries->columns[column].get();
    for (size_t left = dictionary ? reader.count() : 0; left > 0; --left) {
      std::string segment_name = dictionary_name(what, table.definition.columns[column]);
      BlobReference place = read_reference(reader);
      DictionarySegment segment{0, 0, file.claim_blob(place, segment_name)};
      auto segment_bytes = file.read_blob(place, segment_name);
      BlobReader segment_reader(segment_bytes, segment_name);
      read_dictionary_segment(segment_reader, *dictionary, segment);
      table.segments[column].push_back(std::move(segment));
    }
  }
  for (size_t left = reader.count(); left > 0; --left) {
    BlobReference place = read_reference(reader);
    auto chunk_blob = file.claim_blob(place, what + ", directory");
    auto chunk_bytes = file.read_blob(place, what + ", directory");
    BlobReader chunk_reader(chunk_bytes, what + ", directory");
    auto chunk = read_chunk(file, buffer, chunk_reader, table, what, ids);
    table.directory.add_part(std::move(chunk), std::move(chunk_blob));
  }
  if (file.header().version >= 4) read_table_statistics(file, reader, table, what);
  reader.finish();
  return table;
}

ViewMap read_views(BlobReader& reader, const TableMap& tables) {
  ViewMap views;
  for (size_t left = reader.count(); left > 0; --left) {
    ViewDefinition view;
    view.name = reader.text();
    view.sql = reader.text();
    for (size_t columns = reader.count(); columns > 0; --columns) view.columns.emplace_back(reader.text());
    if (tables.contains(view.name) || views.contains(view.name)) reader.fail("a name is there twice");
    views[view.name] = std::move(view);
  }
  return views;
}

}  // namespace

namespace {

// Whether the file has this version of the table, in the form that is written today.
bool is_written(const DatabaseFile& file, const TableState& table) {
  return table.blob && file.header().version == file_format_version;
}

// Its own blob last.
void write_table(DatabaseFile& file, TableState& table) {
  const bool is_old = file.header().version != file_format_version;
  BlobWriter writer;
  write_definition(writer, table);
  for (size_t column = 0; column < table.definition.columns.size(); ++column) {
    const Dictionary* dictionary = table.dictionaries->columns[column].get();
    if (!dictionary) continue;
    write_dictionary(file, *dictionary, table.segments[column]);
    writer.count(table.segments[column].size());
    for (const DictionarySegment& segment : table.segments[column]) write_reference(writer, segment.blob->reference());
  }
  writer.count(table.directory.parts().size());
  for (size_t part = 0; part < table.directory.parts().size(); ++part) {
    if (is_old || !table.directory.parts()[part].blob) write_chunk(file, table.directory, part);
    write_reference(writer, table.directory.parts()[part].blob->reference());
  }
  write_table_statistics(file, writer, table);
  table.blob = file.write_blob(writer.bytes());
}

}  // namespace

void write_tables(const TabletStorage& storage, TableMap& tables) {
  for (auto& [name, table] : tables) {
    if (is_written(*storage.file, table->state())) continue;
    TableState written = table->state();
    storage.write_fragments(written);
    write_table(*storage.file, written);
    table = std::make_shared<TableView>(std::move(written));
  }
}

std::shared_ptr<const StoredBlob> write_root(DatabaseFile& file, const TableMap& tables, const ViewMap& views,
                                             uint64_t next_id) {
  BlobWriter writer;
  writer.varint(next_id);
  writer.count(tables.size());
  for (const auto& [name, table] : tables) {
    writer.text(name);
    write_reference(writer, table->state().blob->reference());
  }
  writer.count(views.size());
  for (const auto& [name, view] : views) {
    writer.text(name);
    writer.text(view.sql);
    writer.count(view.columns.size());
    for (const std::string& column : view.columns) writer.text(column);
  }
  return file.write_blob(writer.bytes());
}

std::shared_ptr<const CatalogView> read_catalog(DatabaseFile& file, const std::shared_ptr<TabletBuffer>& buffer,
                                                TabletIds& ids) {
  const FileHeader& header = file.header();
  TableMap tables;
  ViewMap views;
  std::shared_ptr<const StoredBlob> root;
  if (header.root.bytes > 0) {
    root = file.claim_blob(header.root, root_name);
    auto bytes = file.read_blob(header.root, root_name);
    BlobReader reader(bytes, root_name);
    IdReader id_reader(header.version, reader);
    for (size_t left = reader.count(); left > 0; --left) {
      std::string name = reader.text();
      BlobReference place = read_reference(reader);
      tables[name] = std::make_shared<TableView>(read_table(file, buffer, place, name, id_reader));
    }
    if (header.version >= 3) views = read_views(reader, tables);
    reader.finish();
    ids.go_on_from(id_reader.next());
  }
  const CatalogVersions versions{header.sequence, header.sequence};
  return std::make_shared<CatalogView>(std::move(tables), std::move(views), versions, std::move(root));
}

void verify_catalog(const DatabaseFile& file, const CatalogView& catalog) {
  if (catalog.root()) file.read_blob(catalog.root()->reference(), root_name);
  for (const auto& [name, table] : catalog.tables()) {
    const TableState& state = table->state();
    std::string what = "table \"" + name + "\"";
    file.read_blob(state.blob->reference(), what);
    for (size_t column = 0; column < state.segments.size(); ++column) {
      for (const DictionarySegment& segment : state.segments[column]) {
        file.read_blob(segment.blob->reference(), dictionary_name(what, state.definition.columns[column]));
      }
    }
    for (const auto& part : state.directory.parts()) file.read_blob(part.blob->reference(), what + ", directory");
    if (const auto& blob = state.statistics_blob) file.read_blob(blob->reference(), statistics_name(what));
  }
}

}  // namespace diptych
