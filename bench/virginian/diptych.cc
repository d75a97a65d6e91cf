#include "diptych.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace diptych::bench {

namespace {

template <typename ErrorOf>
void check(bool good, const ErrorOf& error_of) {
  if (good) return;
  const diptych_error error = error_of();
  throw std::runtime_error(fmt::format("{} {}", error.sqlstate, error.message));
}

double number(const std::string& text) { return text.empty() ? 0 : std::stod(text); }

std::string text_of(const nlohmann::json& value) { return value.is_null() ? "" : value.get<std::string>(); }

}  // namespace

Diptych::Diptych(const std::string& path) {
  check(diptych_open(path.c_str(), &database_) == DIPTYCH_OK, [&] { return diptych_database_error(database_); });
  check(diptych_connect(database_, &connection_) == DIPTYCH_OK, [&] { return diptych_database_error(database_); });
  has_interpreter_ = diptych_execute(connection_, "show gpu_engine") == DIPTYCH_OK;
}

Diptych::~Diptych() {
  diptych_disconnect(connection_);
  diptych_close(database_);
}

void Diptych::create_table() {
  execute(
      "create table test (id integer, uniformi integer, normali5 integer, normali20 integer, uniformf real, "
      "normalf5 real, normalf20 real)");
}

void Diptych::append(const Dataset& data) {
  diptych_appender* appender = nullptr;
  const auto error_of = [&] { return diptych_append_error(appender); };
  check(diptych_append_begin(connection_, "test", &appender) == DIPTYCH_OK,
        [&] { return diptych_connection_error(connection_); });
  for (size_t i = 0; i < data.rows(); ++i) {
    diptych_status status = DIPTYCH_OK;
    for (const auto* column : {&data.id, &data.uniformi, &data.normali5, &data.normali20}) {
      if (status == DIPTYCH_OK) status = diptych_append_int64(appender, (*column)[i]);
    }
    for (const auto* column : {&data.uniformf, &data.normalf5, &data.normalf20}) {
      if (status == DIPTYCH_OK) status = diptych_append_double(appender, (*column)[i]);
    }
    check(status == DIPTYCH_OK && diptych_append_end_row(appender) == DIPTYCH_OK, error_of);
  }
  check(diptych_append_finish(appender) == DIPTYCH_OK, error_of);
  diptych_append_abandon(appender);
}

void Diptych::execute(const std::string& sql) {
  check(diptych_execute(connection_, sql.c_str()) == DIPTYCH_OK, [&] { return diptych_connection_error(connection_); });
}

Diptych::Statement Diptych::prepare(std::string_view sql) {
  diptych_statement* statement = nullptr;
  check(diptych_prepare(connection_, std::string(sql).c_str(), &statement, nullptr) == DIPTYCH_OK,
        [&] { return diptych_connection_error(connection_); });
  return {statement, diptych_finalize};
}

std::vector<std::vector<std::string>> Diptych::rows(const std::string& sql) {
  const Statement statement = prepare(sql);
  std::vector<std::vector<std::string>> rows;
  diptych_status status;
  while ((status = diptych_step(statement.get())) == DIPTYCH_ROW) {
    std::vector<std::string>& row = rows.emplace_back();
    for (int32_t i = 0; i < diptych_column_count(statement.get()); ++i) {
      const char* text = diptych_column_text(statement.get(), i, nullptr);
      row.emplace_back(text != nullptr ? text : "");
    }
  }
  check(status == DIPTYCH_DONE, [&] { return diptych_statement_error(statement.get()); });
  return rows;
}

void Diptych::fetch(std::string_view sql, const TakeChunk& take) {
  const Statement statement = prepare(sql);
  std::vector<diptych_chunk_column> chunk(static_cast<size_t>(diptych_column_count(statement.get())));
  int64_t rows = 0;
  diptych_status status;
  while ((status = diptych_step_chunk(statement.get(), chunk.data(), &rows)) == DIPTYCH_ROW) {
    take(chunk, static_cast<size_t>(rows));
  }
  check(status == DIPTYCH_DONE, [&] { return diptych_statement_error(statement.get()); });
}

double Diptych::seconds_of(std::string_view sql) {
  const Stopwatch watch;
  fetch(sql, [](auto, size_t) {});
  return watch.seconds();
}

uint64_t Diptych::count_rows(std::string_view sql) {
  uint64_t count = 0;
  fetch(sql, [&](auto, size_t rows) { count += rows; });
  return count;
}

SectionReport Diptych::analyze(std::string_view sql) {
  const auto explained = rows(fmt::format("explain (analyze, format json) {}", sql));
  const nlohmann::json sections = nlohmann::json::parse(explained.at(0).at(0))["run"]["sections"];
  if (sections.empty()) return {};
  const nlohmann::json &section = sections[0], &device = section["device"];
  const bool is_on_device = !section["kernel"].is_null();
  SectionReport report;
  report.engine = text_of(section["engine"]);
  if (is_on_device) report.engine += " " + text_of(section["kernel"]);
  report.residency =
      is_on_device ? text_of(section["residency"]) : fmt::format("{} threads", section["threads"].get<int>());
  report.fallback = text_of(section["fallback"]);
  if (is_on_device) report.device_seconds = device["kernel_ns"].get<double>() * 1e-9;
  report.compile_seconds = section["time"]["compile_ns"].get<double>() * 1e-9;
  report.bytes_read = section["read_bytes"].get<double>();
  return report;
}

std::string Diptych::find_device(const std::string& wanted) {
  if (wanted == "none") return "";
  for (const auto& row : rows("show devices")) {
    const std::string &name = row[0], &driver = row[4], &unusable = row[5];
    const bool is_wanted = wanted == "auto" || name == wanted || name.starts_with(wanted + ":");
    if (name != "cpu" && is_wanted && !driver.empty() && unusable.empty()) return name;
  }
  if (wanted == "auto") return "";
  throw std::runtime_error(fmt::format("no device {} that can be used; see SHOW devices", wanted));
}

void Diptych::configure(const Configuration& configuration) {
  execute(fmt::format("set threads = {}; set device = '{}'; set residency = '{}'", configuration.threads,
                      configuration.device, configuration.residency));
  if (has_interpreter_) execute(fmt::format("set gpu_engine = '{}'", configuration.gpu_engine));
}

Digest Diptych::digest(size_t query) {
  Digest digest;
  fetch(queries[query].sql, [&](std::span<const diptych_chunk_column> chunk, size_t rows) {
    std::array<const uint32_t*, most_columns> columns{};
    for (size_t i = 0; i < chunk.size(); ++i) {
      if (chunk[i].width != 4 || chunk[i].validity != nullptr) throw std::runtime_error("unexpected chunk");
      columns[i] = static_cast<const uint32_t*>(chunk[i].values);
    }
    digest.add(std::span(columns).first(chunk.size()), rows);
  });
  return digest;
}

Totals Diptych::totals(size_t query) {
  const auto cells = rows(queries[query].totals_sql());
  Totals totals{std::stoll(cells[0][0]), {}};
  for (size_t i = 1; i < cells[0].size(); ++i) totals.sums[i - 1] = number(cells[0][i]);
  return totals;
}

}  // namespace diptych::bench
