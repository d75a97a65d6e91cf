// Fuzzing the reader of database files. The first byte of the input says what the rest is:
//
//   0  the file itself
//   1  damages to a good file: 3 bytes position, 1 byte to xor with. The answer is an error or the right one
//   2  damages inside the meta data of a good file, with every checksum on the way to the header made right again, so
//   that
//      what lies behind the checksums is reached. No crash; any answer will do
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fault_file_system.h"
#include "session/database.h"
#include "session/session_evaluator.h"
#include "session/statement.h"
#include "storage/file/file_header.h"

namespace {

using namespace diptych;
using Bytes = std::vector<std::byte>;

constexpr const char* path = "fuzz.diptych";
constexpr const char* setup[] = {
    "SET tablet_rows = 64",
    "CREATE TABLE a(i integer, l bigint, n numeric(10,2), d double precision, s text, x date, b boolean)",
    ("INSERT INTO a SELECT x, x * 1000, x / 4.0, x / 8::float8, 's' || x % 7, date '2020-01-01' + x, x % 2 = 0 FROM "
     "generate_series(1, 300) g(x)"),
    "INSERT INTO a(i) VALUES (NULL), (-1)",
    "CREATE TABLE b(k integer PRIMARY KEY, t varchar(20) NOT NULL DEFAULT 'none')",
    "INSERT INTO b SELECT x, 'unique ' || x FROM generate_series(1, 100) g(x)",
    "CREATE TABLE empty_one(i integer)",
};
constexpr const char* questions[] = {"SELECT * FROM a", "SELECT * FROM b", "SELECT * FROM empty_one",
                                     "SELECT count(*) FROM a WHERE i > 250",
                                     "SELECT count(*) FROM b WHERE t = 'unique 5'"};

// A blob of meta data in the file, and where its parent keeps its checksum.
struct Blob {
  BlobReference place;
  size_t parent = 0;            // index in `blobs`; the root's is itself
  int64_t checksum_offset = 0;  // in the file; of the root unused
};

struct GoodFile {
  Bytes bytes;
  std::string answers;
  std::vector<Blob> blobs;  // the root first, parents before children
  int64_t blob_bytes = 0;
};

std::string run(Connection& connection, const char* sql) {
  Statement statement(connection, sql);
  std::string text;
  for (const Value& value : read_values(*statement.run())) text += value.is_null() ? "NULL\t" : value.to_text() + "\t";
  return text;
}

std::string answers_of(MemoryFileSystem& files) {
  Database database(path, files);
  Connection connection(database);
  std::string text;
  for (const char* question : questions) text += run(connection, question) + "\n";
  return text;
}

FileHeader newest_header(const Bytes& file) {
  FileHeader newest;
  for (int64_t page = 0; page < header_pages; ++page) {
    const auto header = decode_header(std::span(file).subspan(static_cast<size_t>(page * page_bytes), page_bytes));
    if (header && header->sequence >= newest.sequence) newest = *header;
  }
  return newest;
}

std::span<std::byte> bytes_of(Bytes& file, const BlobReference& place) {
  return std::span(file).subspan(static_cast<size_t>(place.first_page * page_bytes), static_cast<size_t>(place.bytes));
}

// Reads the number at `at`, moving it on; false at the end of the bytes.
bool read_varint(std::span<const std::byte> bytes, size_t& at, uint64_t& value) {
  value = 0;
  for (int shift = 0; at < bytes.size() && shift < 63; shift += 7) {
    const auto byte = static_cast<uint64_t>(bytes[at++]);
    value |= (byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

// Every place in the blob that reads as first page, length and checksum of bytes that have this checksum is a
// reference: so the fuzzer needs to know no layout but this.
void find_children(GoodFile& good, size_t parent) {
  const BlobReference place = good.blobs[parent].place;
  const std::span<const std::byte> bytes = bytes_of(good.bytes, place);
  for (size_t start = 0; start < bytes.size(); ++start) {
    size_t at = start;
    uint64_t first_page = 0, length = 0, checksum = 0;
    if (!read_varint(bytes, at, first_page) || !read_varint(bytes, at, length) || at + sizeof checksum > bytes.size())
      continue;
    if (first_page < header_pages || first_page > good.bytes.size() / page_bytes || length == 0) continue;
    if (first_page * page_bytes + length > good.bytes.size()) continue;
    std::memcpy(&checksum, &bytes[at], sizeof checksum);
    const BlobReference child{static_cast<int64_t>(first_page), static_cast<int64_t>(length), checksum};
    if (checksum_of(bytes_of(good.bytes, child)) != checksum) continue;
    good.blobs.push_back({child, parent, place.first_page * page_bytes + static_cast<int64_t>(at)});
  }
}

GoodFile make_good_file() {
  MemoryFileSystem files;
  {
    Database database(path, files);
    Connection connection(database);
    for (const char* sql : setup) run(connection, sql);
  }
  GoodFile good;
  good.bytes = files.contents(path);
  good.answers = answers_of(files);
  good.blobs.push_back({newest_header(good.bytes).root, 0, 0});
  for (size_t i = 0; i < good.blobs.size(); ++i) find_children(good, i);
  for (const Blob& blob : good.blobs) good.blob_bytes += blob.place.bytes;
  return good;
}

// Makes the checksums right from the blob up to the headers.
void reseal(Bytes& file, const GoodFile& good, size_t blob) {
  for (; blob != 0; blob = good.blobs[blob].parent) {
    const uint64_t checksum = checksum_of(bytes_of(file, good.blobs[blob].place));
    std::memcpy(&file[static_cast<size_t>(good.blobs[blob].checksum_offset)], &checksum, sizeof checksum);
  }
  FileHeader header = newest_header(file);
  header.root.checksum = checksum_of(bytes_of(file, good.blobs[0].place));
  const int64_t slot = static_cast<int64_t>(header.sequence % 2) * 2;
  const HeaderPage page = encode_header(header);
  for (int64_t copy = slot; copy < slot + 2; ++copy)
    std::memcpy(&file[static_cast<size_t>(copy * page_bytes)], page.data(), page.size());
}

// The 3 bytes position and the byte to xor with at `at`, or nothing at the end.
struct Damage {
  int64_t position;
  std::byte change;
};

std::optional<Damage> next_damage(std::span<const uint8_t> input, size_t& at) {
  if (at + 4 > input.size()) return {};
  const int64_t position = input[at] | input[at + 1] << 8 | input[at + 2] << 16;
  const auto change = static_cast<std::byte>(input[at + 3]);
  at += 4;
  return Damage{position, change};
}

void damage_anywhere(Bytes& file, std::span<const uint8_t> input) {
  size_t at = 0;
  while (const auto damage = next_damage(input, at))
    file[static_cast<size_t>(damage->position) % file.size()] ^= damage->change;
}

void damage_meta_data(Bytes& file, const GoodFile& good, std::span<const uint8_t> input) {
  size_t at = 0;
  while (const auto damage = next_damage(input, at)) {
    int64_t position = damage->position % good.blob_bytes;
    size_t blob = 0;
    while (position >= good.blobs[blob].place.bytes) position -= good.blobs[blob++].place.bytes;
    bytes_of(file, good.blobs[blob].place)[static_cast<size_t>(position)] ^= damage->change;
    reseal(file, good, blob);
  }
}

void read_file(Bytes file, const std::string* right_answers) {
  MemoryFileSystem files;
  files.set_contents(path, std::move(file));
  try {
    const std::string answers = answers_of(files);
    if (right_answers != nullptr && answers != *right_answers) {
      std::fprintf(stderr, "a damaged file gives a wrong answer\n");
      std::abort();
    }
  } catch (const Error&) {
    // Damage is to be told as an error.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const GoodFile good = make_good_file();
  if (size == 0) return 0;
  const std::span<const uint8_t> input(data + 1, size - 1);
  if (data[0] % 3 == 0) {
    const auto bytes = std::as_bytes(input);
    read_file(Bytes(bytes.begin(), bytes.end()), nullptr);
    return 0;
  }
  Bytes file = good.bytes;
  if (data[0] % 3 == 1) {
    damage_anywhere(file, input);
    read_file(std::move(file), &good.answers);
  } else {
    damage_meta_data(file, good, input);
    read_file(std::move(file), nullptr);
  }
  return 0;
}
