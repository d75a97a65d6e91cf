#include "steady_table.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "connections.h"

namespace bench {
namespace {

constexpr const char* columns = "(id bigint, amount bigint, price numeric(12, 2), name text, day date)";
constexpr int day_count = 3650;
constexpr int64_t amount_end = 1'000'000'000;
// Of a commit of the loader: a few tablets.
constexpr int64_t rows_of_a_commit = 262'144;
// 32 of them, so that a letter is 5 random bits.
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz-.;:&+";

std::vector<std::string> make_days() {
  constexpr std::chrono::sys_days first = std::chrono::year{2015} / 1 / 1;
  std::vector<std::string> days;
  for (int number = 0; number < day_count; ++number) {
    const std::chrono::year_month_day day(first + std::chrono::days(number));
    days.push_back(fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                               static_cast<unsigned>(day.day())));
  }
  return days;
}

void write_lines(const std::string& path, RowMaker& maker, int64_t first, int64_t rows) {
  std::string text;
  for (int64_t id = first; id < first + rows; ++id) maker.add_line(text, id);
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

RowMaker::RowMaker(uint64_t seed) : random_(seed), days_(make_days()) {}

void RowMaker::add_name(std::string& text) {
  constexpr int64_t least = 20, most = 40;
  constexpr int letters_of_a_draw = 12;
  const int64_t length = least + below(most - least + 1);
  uint64_t bits = 0;
  for (int64_t i = 0; i < length; ++i, bits >>= 5) {
    if (i % letters_of_a_draw == 0) bits = random_();
    text += letters[bits % letters.size()];
  }
}

void RowMaker::add_line(std::string& text, int64_t id) {
  const int64_t amount = below(amount_end);
  fmt::format_to(std::back_inserter(text), "{},{},{}.{:02},", id, amount, amount / 100, amount % 100);
  add_name(text);
  fmt::format_to(std::back_inserter(text), ",{}\n", days_[static_cast<size_t>(below(day_count))]);
}

nlohmann::json load_table(const TableOptions& options) {
  const auto file_bytes = [&] { return static_cast<int64_t>(std::filesystem::file_size(options.path)); };
  const std::string lines = options.path + ".csv";
  int64_t rows = 0;
  {
    const Database database(options.path);
    Connection connection(database);
    RowMaker maker(1);
    const auto load = [&](const char* table, int64_t first, int64_t count) {
      write_lines(lines, maker, first, count);
      connection.run(fmt::format("COPY {} FROM '{}'", table, lines));
    };
    for (const char* table : {"spare", "t"}) connection.run(fmt::format("CREATE TABLE {} {}", table, columns));
    load("spare", 0, spare_rows);
    for (; file_bytes() < options.bytes; rows += rows_of_a_commit) load("t", rows, rows_of_a_commit);
  }
  std::filesystem::remove(lines);
  return {{"rows", rows}, {"file_bytes", file_bytes()}, {"version", diptych_version()}};
}

}  // namespace bench
