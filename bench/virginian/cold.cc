#include "cold.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <iostream>

#include "diptych.h"
#include "turns.h"

namespace diptych::bench {

namespace {

constexpr double milliseconds_per_second = 1e3;

// Shapes of the filter of q0 over the same columns, so that these are where they are read: only the kernel is new.
constexpr std::string_view shapes[] = {
    "select id, uniformi, normali5 from test where uniformi >= 60 and normali5 < 0",
    "select id, uniformi, normali5 from test where uniformi > 60 and normali5 <= 0",
    "select id, uniformi, normali5 from test where uniformi >= 60 and normali5 <= 0",
    "select id, uniformi, normali5 from test where uniformi > 60 and normali5 <> 0",
    "select id, uniformi, normali5 from test where uniformi <> 60 and normali5 < 0",
};
constexpr std::string_view analyzed_shape =
    "select id, uniformi, normali5 from test where uniformi < 60 and normali5 > 0";
constexpr std::string_view compiled_shape =
    "select id, uniformi, normali5 from test where uniformi = 60 and normali5 < 0";

// Runs until a kernel that is compiled in the background has been ready for long, then some more.
double hot_seconds(Diptych& diptych, std::string_view sql) {
  constexpr double compile_seconds = 0.5;
  constexpr int runs = 21;
  for (const Stopwatch watch; watch.seconds() < compile_seconds;) diptych.seconds_of(sql);
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(diptych.seconds_of(sql));
  return median(std::move(times));
}

// A folder of its own for the database and the caches of compiled kernels, empty at first.
class ColdFolder {
 public:
  ColdFolder() : path_(std::filesystem::temp_directory_path() / fmt::format("bench_virginian-{}", ::getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~ColdFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string database() const { return path_ / "test.diptych"; }

  // Runs a process on the database, and takes its figures.
  nlohmann::ordered_json run_process(const std::string& device, int threads) const {
    // Drivers keep kernels themselves, besides Diptych.
    const std::string command = fmt::format(
        "DIPTYCH_KERNEL_CACHE='{0}/kernels' CUDA_CACHE_PATH='{0}/cuda' POCL_CACHE_DIR='{0}/pocl' '{1}' "
        "--cold-process '{2}' --device {3} --threads {4}",
        path_.string(), std::filesystem::read_symlink("/proc/self/exe").string(), database(), device, threads);
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("popen failed");
    std::string output;
    char buffer[4096];
    while (const size_t bytes = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, bytes);
    if (::pclose(pipe) != 0) throw std::runtime_error("the process on " + device + " failed");
    return nlohmann::ordered_json::parse(output);
  }

 private:
  std::filesystem::path path_;
};

constexpr std::pair<const char*, const char*> figures[] = {
    {"open_seconds", "open the database"},
    {"first_seconds", "first query of the process (q0)"},
    {"hot_seconds", "q0, hot"},
    {"shape_first_seconds", "first run of a new shape"},
    {"shape_wait_seconds", "such a run's waiting for a kernel"},
    {"shape_hot_seconds", "such a shape, hot"},
    {"interpreter_seconds", "such a shape by the interpreter, hot"},
    {"compile_seconds", "compile a kernel, or find it on disk"},
};

void add_promise(const std::string& what, double value, double wanted, Table& table) {
  if (!std::isfinite(value)) return;
  table.notes.push_back(
      fmt::format("{}: {:.3f} ms, wanted at most {} ms: {}", what, value, wanted, value <= wanted ? "met" : "MISSED"));
}

double figure_of(const nlohmann::ordered_json& process, const char* name) {
  return process.contains(name) ? process[name].get<double>() * milliseconds_per_second : std::nan("");
}

}  // namespace

void run_cold_process(const std::string& file, const std::string& device, int threads) {
  nlohmann::ordered_json json;
  const bool is_cpu = device == "none" || device == "cpu";
  Configuration configuration{threads, is_cpu ? "cpu" : device, is_cpu ? "auto" : "cached"};
  const Stopwatch watch;
  Diptych diptych(file);
  json["open_seconds"] = watch.seconds();
  diptych.configure(configuration);
  json["first_seconds"] = diptych.run(0);
  json["hot_seconds"] = hot_seconds(diptych, queries[0].sql);
  std::vector<double> first, hot, interpreter;
  for (const std::string_view sql : shapes) {
    first.push_back(diptych.seconds_of(sql));
    hot.push_back(hot_seconds(diptych, sql));
  }
  json["shape_first_seconds"] = median(first);
  const SectionReport first_run = diptych.analyze(analyzed_shape);
  json["shape_first_engine"] = first_run.engine;
  json["shape_wait_seconds"] = first_run.compile_seconds;
  json["shape_hot_seconds"] = median(hot);
  if (!is_cpu && diptych.has_interpreter()) {
    configuration.gpu_engine = "interpreter";
    diptych.configure(configuration);
    for (const std::string_view sql : shapes) interpreter.push_back(hot_seconds(diptych, sql));
    json["interpreter_seconds"] = median(interpreter);
  }
  if (!is_cpu) {
    configuration.gpu_engine = "generated";
    diptych.configure(configuration);
    json["compile_seconds"] = diptych.analyze(compiled_shape).compile_seconds;
  }
  std::cout << json << '\n';
}

void measure_cold(size_t rows, uint64_t seed, const std::string& device, int threads, Report& report) {
  const ColdFolder folder;
  {
    Diptych diptych(folder.database());
    diptych.create_table();
    diptych.append(make_dataset(0, rows, seed));
  }
  std::vector<std::pair<std::string, std::string>> processes = {{"cpu", "cpu"}};
  if (!device.empty()) {
    processes.emplace_back(device + ", nothing compiled", device);
    processes.emplace_back(device + ", kernels on disk", device);
  }
  Table table{fmt::format("Cold: {} rows in a file, ms", rows), {""}, {}, {}};
  for (const auto& [figure, what] : figures) table.rows.push_back({what});
  std::vector<nlohmann::ordered_json> results;
  for (const auto& [name, where] : processes) {
    std::cerr << "a process on " << name << '\n';
    results.push_back(folder.run_process(where, threads));
    report.json["cold"][name] = results.back();
    table.header.push_back(name);
    for (size_t i = 0; i < std::size(figures); ++i)
      table.rows[i].push_back(figure(figure_of(results.back(), figures[i].first), 3));
  }
  table.notes.push_back(fmt::format("New shapes: medians of {}, with the columns in place.", std::size(shapes)));
  if (results.size() > 1) {
    table.notes.push_back(fmt::format("A new shape with nothing compiled is run by {}, with kernels on disk by {}.",
                                      results[1]["shape_first_engine"].get<std::string>(),
                                      results[2]["shape_first_engine"].get<std::string>()));
    add_promise("first run of a new shape beyond the interpreter's hot run",
                figure_of(results[1], "shape_first_seconds") - figure_of(results[1], "interpreter_seconds"), 3, table);
    add_promise("compile a kernel", figure_of(results[1], "compile_seconds"), 60, table);
    add_promise("find a kernel on disk", figure_of(results[2], "compile_seconds"), 2, table);
  }
  report.tables.push_back(std::move(table));
}

}  // namespace diptych::bench
