// DuckDB in a process of its own (duckdb_worker.py), talked to through pipes. It measures its own times; the pipes are
// outside of them.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "queries.h"
#include "system.h"

namespace diptych::bench {

namespace {

template <typename T>
void write_column(const std::filesystem::path& path, const std::vector<T>& column) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(column.data()), static_cast<std::streamsize>(column.size() * sizeof(T)));
  if (!out.flush()) throw std::runtime_error("can't write to " + path.string());
}

class DuckdbSystem : public System {
 public:
  DuckdbSystem(const Dataset& data, const std::string& python, const std::string& folder)
      : folder_(std::filesystem::path(folder) / fmt::format("duckdb-{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
    try {
      write_columns(data);
      start(python);
      version_ = answer();
    } catch (...) {
      end();
      throw;
    }
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) std::filesystem::remove(entry);
  }

  ~DuckdbSystem() override { end(); }

  std::string version() const override { return version_; }
  void configure(const Configuration& configuration) override { ask(fmt::format("threads {}", configuration.threads)); }
  double run(size_t query) override { return std::stod(ask(fmt::format("run {}", queries[query].sql))); }

  Digest digest(size_t query) override {
    const std::filesystem::path path = folder_ / "result";
    const size_t rows = std::stoul(ask(fmt::format("digest {} {}", path.string(), queries[query].sql)));
    std::ifstream in(path, std::ios::binary);
    std::vector<uint32_t> values(rows * queries[query].columns);
    in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * 4));
    if (!in) throw std::runtime_error("duckdb: a result is too short");
    std::filesystem::remove(path);
    std::array<const uint32_t*, most_columns> columns{};
    for (size_t i = 0; i < queries[query].columns; ++i) columns[i] = values.data() + i * rows;
    Digest digest;
    digest.add(std::span(columns).first(queries[query].columns), rows);
    return digest;
  }

 private:
  void end() {
    if (to_ != nullptr) std::fclose(to_);
    if (from_ != nullptr) std::fclose(from_);
    if (child_ > 0) ::waitpid(child_, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void write_columns(const Dataset& data) {
    write_column(folder_ / "id.bin", data.id);
    write_column(folder_ / "uniformi.bin", data.uniformi);
    write_column(folder_ / "normali5.bin", data.normali5);
    write_column(folder_ / "normali20.bin", data.normali20);
    write_column(folder_ / "uniformf.bin", data.uniformf);
    write_column(folder_ / "normalf5.bin", data.normalf5);
    write_column(folder_ / "normalf20.bin", data.normalf20);
  }

  void start(const std::string& python) {
    int commands[2], answers[2];
    if (::pipe(commands) != 0 || ::pipe(answers) != 0) throw std::runtime_error("pipe failed");
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(commands[0], STDIN_FILENO);
      ::dup2(answers[1], STDOUT_FILENO);
      for (const int end : {commands[0], commands[1], answers[0], answers[1]}) ::close(end);
      ::execlp(python.c_str(), python.c_str(), BENCH_DUCKDB_WORKER, folder_.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(commands[0]);
    ::close(answers[1]);
    ::signal(SIGPIPE, SIG_IGN);
    to_ = ::fdopen(commands[1], "w");
    from_ = ::fdopen(answers[0], "r");
  }

  std::string ask(const std::string& command) {
    std::fprintf(to_, "%s\n", command.c_str());
    std::fflush(to_);
    return answer();
  }

  std::string answer() {
    char line[256];
    if (std::fgets(line, sizeof line, from_) == nullptr) throw std::runtime_error("duckdb: the worker ended");
    std::string text(line);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  std::filesystem::path folder_;
  std::string version_;
  pid_t child_ = -1;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
};

}  // namespace

std::unique_ptr<System> make_duckdb_system(const Dataset& data, const std::string& python, const std::string& folder) {
  return std::make_unique<DuckdbSystem>(data, python, folder);
}

}  // namespace diptych::bench
