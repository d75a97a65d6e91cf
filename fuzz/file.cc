// Fuzzing the reader of database files. The first byte of the input says what the rest is:
//
//   even  the file itself
//   odd   damages to a good file: 3 bytes position, 1 byte to xor with. The answer is an error or the right one
//
// What lies behind the checksums is values.cc's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fault_file_system.h"
#include "session/database.h"
#include "session/session_evaluator.h"
#include "session/statement.h"

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

struct GoodFile {
  Bytes bytes;
  std::string answers;
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
  return good;
}

void damage(Bytes& file, std::span<const uint8_t> input) {
  for (size_t at = 0; at + 4 <= input.size(); at += 4) {
    const size_t position = input[at] | size_t{input[at + 1]} << 8 | size_t{input[at + 2]} << 16;
    file[position % file.size()] ^= static_cast<std::byte>(input[at + 3]);
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
  if (data[0] % 2 == 0) {
    const auto bytes = std::as_bytes(input);
    read_file(Bytes(bytes.begin(), bytes.end()), nullptr);
    return 0;
  }
  Bytes file = good.bytes;
  damage(file, input);
  read_file(std::move(file), &good.answers);
  return 0;
}
