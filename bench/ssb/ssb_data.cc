// ssb_data: the five tables of the Star Schema Benchmark (O'Neil, O'Neil, Chen, Revilak), byte for byte those of the
// reference generator, ssb-dbgen, when it makes all tables in one go.
//
//   ssb_data --scale 1 --out data/ssb-1/tbl                     customer.tbl, date.tbl, lineorder.tbl, part.tbl,
//   supplier.tbl ssb_data --scale 10 --out data/ssb-10/tbl --table lineorder
#include <oneapi/tbb/task_arena.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "calendar.h"
#include "dimensions.h"
#include "lineorder.h"
#include "scale.h"
#include "table_file.h"

namespace {

struct Options {
  double scale = 1;
  std::string folder;
  std::vector<std::string> tables;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
};

struct Table {
  int64_t rows;  // of lineorder: its orders
  ssb::AppendRows append_rows;
};

std::map<std::string, Table> make_tables(const ssb::Scale& scale) {
  const auto with_scale = [&scale](auto append) {
    return [&scale, append](int64_t first, int64_t count, std::string& text) { append(scale, first, count, text); };
  };
  return {{"customer", {scale.customers, with_scale(ssb::append_customers)}},
          {"date", {ssb::kDays, ssb::append_dates}},
          {"lineorder", {scale.orders, with_scale(ssb::append_orders)}},
          {"part", {scale.parts, ssb::append_parts}},
          {"supplier", {scale.suppliers, ssb::append_suppliers}}};
}

void write_tables(const Options& options) {
  std::filesystem::create_directories(options.folder);
  const ssb::Scale scale(options.scale);
  for (const auto& [name, table] : make_tables(scale)) {
    const bool wanted = options.tables.empty() || std::ranges::find(options.tables, name) != options.tables.end();
    if (wanted) ssb::write_table(options.folder + "/" + name + ".tbl", table.rows, table.append_rows);
  }
}

// An empty text, or what is wrong.
std::string check_scale(const std::string& text) {
  double scale = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scale);
  const bool whole_text = error == std::errc() && end == text.data() + text.size();
  const bool good = whole_text && scale > 0 && (scale < 1 || (scale == std::floor(scale) && scale <= 1000));
  return good ? "" : "the scale factor is a whole number up to 1000, or a fraction between 0 and 1";
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("The tables of the Star Schema Benchmark as .tbl files");
  app.add_option("--scale", options.scale, "scale factor: lineorder has 6 million rows at 1")->check(check_scale);
  app.add_option("--out", options.folder, "folder for the files")->required();
  app.add_option("--table", options.tables, "only this table; may be given several times")
      ->check(CLI::IsMember({"customer", "date", "lineorder", "part", "supplier"}));
  app.add_option("--threads", options.threads)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    tbb::task_arena(options.threads).execute([&] { write_tables(options); });
  } catch (const std::exception& error) {
    std::cerr << "ssb_data: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
