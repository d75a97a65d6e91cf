// A database file whose values and meta data were changed, with every checksum made right again: what only a program
// that means harm, or has a defect, writes. For the fuzzer (fuzz/values.cc) and for random tests.
//
//   good file  -->  edits: a field of a column's record, bytes of an area, a count of rows, a byte of the catalog  -->
//   checksums of areas, records, blobs and header
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/fault_file_system.h"
#include "session/session_evaluator.h"
#include "session/statement.h"
#include "storage/file/file_header.h"
#include "tablet/layout_records.h"

namespace diptych::testing {

inline constexpr const char* damaged_path = "damaged.diptych";

inline constexpr const char* damaged_setup[] = {
    "SET tablet_rows = 64",
    "CREATE TABLE a(i integer, g integer, sm smallint, l bigint, n numeric(10,2), w numeric(30,2), d double precision, "
    "r real, s text, h text, c char(4), x date, ts timestamp, v interval, b boolean)",
    "INSERT INTO a SELECT i, i % 6 + 3, CASE WHEN i % 9 = 0 THEN NULL ELSE (i % 97)::smallint END, i * 1000::bigint, "
    "i / 4.0, CASE WHEN i % 4 = 0 THEN NULL ELSE i * 1234567890123456789.25 END, i / 8::float8, i / 2::real, "
    "CASE WHEN i % 10 = 0 THEN NULL ELSE 's' || i % 7 END, CASE WHEN i % 8 = 0 THEN NULL ELSE i * 7919 % 1009 || 'h' "
    "|| "
    "i END, 'c' || i % 5, date '2020-01-01' + i, CASE WHEN i % 5 = 0 THEN NULL ELSE timestamp '2020-01-01' + i * "
    "interval "
    "'1 hour' END, i * interval '1 day', CASE WHEN i % 3 = 0 THEN NULL ELSE i % 2 = 0 END FROM generate_series(1, 200) "
    "t(i)",
    "INSERT INTO a(i) VALUES (NULL), (-1)",
    "CREATE TABLE b(k integer PRIMARY KEY, t varchar(20) NOT NULL DEFAULT 'none')",
    "INSERT INTO b SELECT x, 'unique ' || x FROM generate_series(1, 100) t(x)",
};

// Every row and group has one place in the result, whatever the values are.
inline constexpr const char* damaged_questions[] = {
    "SELECT * FROM a",
    "SELECT g, count(*), sum(i), min(l), max(n) FROM a GROUP BY g ORDER BY g",
    "SELECT s, count(*), sum(n), min(d), max(r) FROM a GROUP BY s ORDER BY s",
    "SELECT s, b, g, count(*), count(sm) FROM a GROUP BY s, b, g ORDER BY s, b, g",
    "SELECT sm, c, sum(l) FROM a GROUP BY sm, c ORDER BY sm, c",
    "SELECT count(*), sum(i * g + sm), sum(n * n), sum(l - i), sum(w), min(x), max(ts), count(b) FROM a WHERE i > 20 "
    "AND "
    "sm < 90",
    "SELECT s, h FROM a WHERE h LIKE '%7%' AND s LIKE 's%' ORDER BY h, s",
    "SELECT i, l, n FROM a ORDER BY n DESC, l, i LIMIT 50",
    "SELECT g, s, i FROM a WHERE x > date '2020-02-01' ORDER BY g, s DESC, i",
    "SELECT upper(h) || s, length(h), substr(h, 2, 5), x + 1, extract(year from ts), i / g, -sm, abs(l) FROM a WHERE b",
    "SELECT count(DISTINCT g), count(DISTINCT s), count(DISTINCT h) FROM a",
    "SELECT count(*) FROM a WHERE s = 's3' OR s > 's5' OR g IN (3, 5) OR d < 1.5",
    "SELECT x, ts, v, w, c FROM a WHERE l BETWEEN 5000 AND 90000",
    "SELECT count(*), min(t), max(k), sum(k) FROM b WHERE t LIKE 'unique 5%' OR k < 10",
    "INSERT INTO b SELECT x, 'new' FROM generate_series(95, 120) t(x)",
    "INSERT INTO b(k) VALUES (1000)",
    "SELECT count(*), sum(k) FROM b",
};

// Bytes that tell what to change; zeros behind their end.
class EditReader {
 public:
  explicit EditReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  bool at_end() const { return at_ >= bytes_.size(); }
  uint8_t byte() { return at_end() ? uint8_t{0} : bytes_[at_++]; }
  uint32_t number() {
    const uint32_t low = byte();
    return low | uint32_t{byte()} << 8;
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

class DamagedFile {
 public:
  DamagedFile() {
    MemoryFileSystem files;
    {
      Database database(damaged_path, files);
      Connection connection(database);
      for (const char* sql : damaged_setup) Statement(connection, sql).run();
    }
    good_ = files.contents(damaged_path);
    blobs_.push_back({newest_header(good_).root, 0, 0});
    for (size_t i = 0; i < blobs_.size(); ++i) find_children(i);
    for (size_t i = 0; i < blobs_.size(); ++i) find_tablets(i);
  }

  size_t tablets() const { return tablets_.size(); }

  std::vector<std::byte> edit(std::span<const uint8_t> edits) const {
    std::vector<std::byte> file = good_;
    EditReader reader(edits);
    for (int count = 0; count < 3 && !reader.at_end(); ++count) edit_once(file, reader);
    return file;
  }

 private:
  // A blob of meta data in the file, and where its parent keeps its checksum.
  struct Blob {
    BlobReference place;
    size_t parent = 0;           // index in blobs_; the root's is itself
    size_t checksum_offset = 0;  // in the file; of the root unused
  };
  // A tablet as its directory blob has it.
  struct Tablet {
    size_t blob = 0;
    size_t meta_offset = 0;   // of header and records, in the file
    size_t block_offset = 0;  // of its block, in the file
    uint32_t columns = 0;
  };

  static std::span<std::byte> bytes_of(std::vector<std::byte>& file, const BlobReference& place) {
    return std::span(file).subspan(static_cast<size_t>(place.first_page * page_bytes),
                                   static_cast<size_t>(place.bytes));
  }

  static FileHeader newest_header(const std::vector<std::byte>& file) {
    FileHeader newest;
    for (int64_t page = 0; page < header_pages; ++page) {
      const auto header = decode_header(std::span(file).subspan(static_cast<size_t>(page * page_bytes), page_bytes));
      if (header && header->sequence >= newest.sequence) newest = *header;
    }
    return newest;
  }

  static bool read_varint(std::span<const std::byte> bytes, size_t& at, uint64_t& value) {
    value = 0;
    for (int shift = 0; at < bytes.size() && shift < 63; shift += 7) {
      const auto byte = static_cast<uint64_t>(bytes[at++]);
      value |= (byte & 127) << shift;
      if (byte < 128) return true;
    }
    return false;
  }

  // What reads as first page, length and checksum of bytes that have this checksum is a reference to a blob.
  void find_children(size_t parent) {
    const BlobReference place = blobs_[parent].place;
    const std::span<const std::byte> bytes = bytes_of(good_, place);
    for (size_t start = 0; start < bytes.size(); ++start) {
      size_t at = start;
      uint64_t first_page = 0, length = 0, checksum = 0;
      if (!read_varint(bytes, at, first_page) || !read_varint(bytes, at, length) || at + sizeof checksum > bytes.size())
        continue;
      if (first_page < uint64_t{header_pages} || first_page * page_bytes + length > good_.size() || length == 0)
        continue;
      std::memcpy(&checksum, &bytes[at], sizeof checksum);
      const BlobReference child{static_cast<int64_t>(first_page), static_cast<int64_t>(length), checksum};
      if (checksum_of(bytes_of(good_, child)) == checksum)
        blobs_.push_back({child, parent, static_cast<size_t>(place.first_page * page_bytes) + at});
    }
  }

  // Of a directory: count of tablets; of each id, first page, pages, header and records.
  void find_tablets(size_t number) {
    const std::span<const std::byte> bytes = bytes_of(good_, blobs_[number].place);
    size_t at = 0;
    uint64_t count = 0, id = 0, first_page = 0, pages = 0;
    if (!read_varint(bytes, at, count)) return;
    for (; count > 0; --count) {
      records::Header header;
      if (!read_varint(bytes, at, id) || !read_varint(bytes, at, first_page) || !read_varint(bytes, at, pages)) return;
      if (at + sizeof header > bytes.size()) return;
      std::memcpy(&header, &bytes[at], sizeof header);
      if (std::memcmp(header.magic, records::magic, sizeof records::magic) != 0) return;
      tablets_.push_back({number, static_cast<size_t>(blobs_[number].place.first_page * page_bytes) + at,
                          static_cast<size_t>(first_page * page_bytes), header.columns});
      at += sizeof header + header.columns * sizeof(records::Column);
    }
  }

  void edit_once(std::vector<std::byte>& file, EditReader& reader) const {
    const uint8_t kind = reader.byte() % 8;
    if (kind == 0) {
      const size_t blob = reader.byte() % blobs_.size();
      const std::span<std::byte> bytes = bytes_of(file, blobs_[blob].place);
      bytes[reader.number() % bytes.size()] ^= static_cast<std::byte>(reader.byte());
      return reseal_blob(file, blob);
    }
    const Tablet& tablet = tablets_[reader.byte() % tablets_.size()];
    std::byte* meta = &file[tablet.meta_offset];
    records::Header header;
    std::memcpy(&header, meta, sizeof header);
    if (kind == 1) {
      change(&header.rows, reader);
      std::memcpy(meta, &header, sizeof header);
      return reseal_tablet(file, tablet);
    }
    std::byte* at = meta + sizeof header + reader.byte() % tablet.columns * sizeof(records::Column);
    records::Column column;
    std::memcpy(&column, at, sizeof column);
    if (kind < 5) {
      change_record(column, reader);
    } else {
      change_area(file, tablet, column, reader);
    }
    std::memcpy(at, &column, sizeof column);
    reseal_tablet(file, tablet);
  }

  template <typename T>
  static void change(T* field, EditReader& reader) {
    uint64_t value = 0;
    std::memcpy(&value, field, sizeof(T));
    const uint8_t how = reader.byte();
    switch (how % 8) {
      case 0: value += 1; break;
      case 1: value -= 1; break;
      case 2: value = 0; break;
      case 3: value = reader.number(); break;
      case 4: value = ~uint64_t{0} >> 1; break;
      case 5: value = uint64_t{1} << 63; break;
      case 6: value = ~uint64_t{0} - reader.byte(); break;
      default: value ^= uint64_t{reader.byte()} << (how / 8 % 8 * 8);
    }
    std::memcpy(field, &value, sizeof(T));
  }

  static void change_area_record(records::Area& area, EditReader& reader) {
    switch (reader.byte() % 5) {
      case 0: return change(&area.offset, reader);
      case 1: return change(&area.stored_bytes, reader);
      case 2: return change(&area.raw_bytes, reader);
      case 3: return change(&area.codec, reader);
      default: return change(&area.bits, reader);
    }
  }

  static void change_record(records::Column& column, EditReader& reader) {
    switch (reader.byte() % 20) {
      case 0: return change(&column.encoding, reader);
      case 1: return change(&column.physical, reader);
      case 2: return change(&column.width, reader);
      case 3: return change(&column.length_width, reader);
      case 4: return change(&column.has_bounds, reader);
      case 5: return change(&column.base, reader);
      case 6: return change(&column.factor, reader);
      case 7: return change(&column.null_count, reader);
      case 8: return change(&column.low[0], reader);
      case 9: return change(&column.low[1], reader);
      case 10: return change(&column.high[0], reader);
      case 11: return change(&column.high[1], reader);
      case 12: return change(&column.low_float, reader);
      case 13: return change(&column.high_float, reader);
      case 14: return change_area_record(column.data, reader);
      case 15: return change_area_record(column.validity, reader);
      case 16: return change_area_record(column.lengths, reader);
      case 17: return change_area_record(column.heap, reader);
      case 18:  // a wider claim that stays true
        column.low[0] -= reader.number();
        return;
      default: column.high[0] += reader.number();
    }
  }

  void change_area(std::vector<std::byte>& file, const Tablet& tablet, records::Column& column,
                   EditReader& reader) const {
    records::Area* areas[] = {&column.data, &column.validity, &column.lengths, &column.heap};
    records::Area& area = *areas[reader.byte() % 4];
    const bool is_inside = area.stored_bytes > 0 && area.stored_bytes <= file.size() &&
                           area.offset <= file.size() - area.stored_bytes &&
                           tablet.block_offset <= file.size() - area.stored_bytes - area.offset;
    if (!is_inside) return;
    std::byte* bytes = &file[tablet.block_offset + area.offset];
    std::byte& changed = bytes[reader.number() % area.stored_bytes];
    const uint8_t how = reader.byte();
    changed = how == 0 ? std::byte{0xFF} : changed ^ static_cast<std::byte>(how);
    area.checksum = records::checksum_of(bytes, area.stored_bytes);
  }

  void reseal_tablet(std::vector<std::byte>& file, const Tablet& tablet) const {
    std::byte* meta = &file[tablet.meta_offset];
    records::Header header;
    std::memcpy(&header, meta, sizeof header);
    // More columns than the file has bytes are refused before any checksum is looked at.
    const size_t room = file.size() - tablet.meta_offset - sizeof header;
    if (header.columns <= room / sizeof(records::Column))
      header.checksum = records::checksum_of_meta(header, meta + sizeof header);
    std::memcpy(meta, &header, sizeof header);
    reseal_blob(file, tablet.blob);
  }

  void reseal_blob(std::vector<std::byte>& file, size_t blob) const {
    for (; blob != 0; blob = blobs_[blob].parent) {
      const uint64_t checksum = checksum_of(bytes_of(file, blobs_[blob].place));
      std::memcpy(&file[blobs_[blob].checksum_offset], &checksum, sizeof checksum);
    }
    FileHeader header = newest_header(file);
    header.root.checksum = checksum_of(bytes_of(file, blobs_[0].place));
    const HeaderPage page = encode_header(header);
    const size_t slot = static_cast<size_t>(header.sequence % 2) * 2;
    for (size_t copy = slot; copy < slot + 2; ++copy)
      std::memcpy(&file[copy * static_cast<size_t>(page_bytes)], page.data(), page.size());
  }

  std::vector<std::byte> good_;
  std::vector<Blob> blobs_;  // the root first, parents before children
  std::vector<Tablet> tablets_;
};

// The rows as text, or "error" and the SQLSTATE.
inline std::string answer(Connection& connection, const std::string& sql) {
  try {
    connection.start_statement();
    std::string text;
    for (const Value& value : read_values(*Statement(connection, sql).run()))
      text += (value.is_null() ? "NULL" : value.to_text()) + "|";
    return text;
  } catch (const Error& error) {
    return std::string("error ") + code_of(error.state()) + " " + error.message();
  }
}

inline bool is_error(const std::string& answer) { return answer.starts_with("error "); }
inline bool is_internal_error(const std::string& answer) { return answer.starts_with("error XX000"); }

}  // namespace diptych::testing
