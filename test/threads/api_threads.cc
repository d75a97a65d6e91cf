// Random calls of the C API on one database: on two threads, each with connections, statements and appenders of its
// own, for the thread sanitizer, which tells of races; or on one thread, where no fuzzer is at hand. What the calls are
// is in fuzz/api_calls.h.
//
//   api_threads --threads 2 --seconds 600 --seed 1
#include <CLI/CLI.hpp>
#include <chrono>
#include <random>
#include <thread>

#include "api_calls.h"

namespace {

constexpr size_t most_bytes = 400;        // of one sequence of calls
constexpr uint64_t rounds_a_line = 1000;  // after a crash the last line says where to start

std::vector<uint8_t> bytes_of(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(random() % most_bytes);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

void run_round(int threads, uint64_t seed) {
  diptych_database* database = nullptr;
  if (diptych_open(":memory:", &database) != DIPTYCH_OK) std::abort();
  // The database's handle serves all threads, so that only the calls of one that is alone may close it.
  const auto make_calls = [=](int thread) {
    const std::vector<uint8_t> bytes = bytes_of(seed + static_cast<uint64_t>(thread) * 1000003);
    diptych::fuzz::ApiCalls(database, threads == 1, bytes).run();
  };
  if (threads == 1) return make_calls(0);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(make_calls, i);
  for (std::thread& thread : running) thread.join();
  diptych_close(database);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("random calls of the C API");
  int threads = 2;
  int seconds = 10;
  uint64_t seed = 1;
  app.add_option("--threads", threads);
  app.add_option("--seconds", seconds);
  app.add_option("--seed", seed);
  CLI11_PARSE(app, argc, argv);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  uint64_t rounds = 0;
  for (; std::chrono::steady_clock::now() < end; ++rounds) {
    if (rounds % rounds_a_line == 0)
      std::fprintf(stderr, "from seed %llu on\n", static_cast<unsigned long long>(seed + rounds));
    run_round(threads, seed + rounds);
  }
  std::printf("%llu rounds from seed %llu: nothing wrong\n", static_cast<unsigned long long>(rounds),
              static_cast<unsigned long long>(seed));
  return 0;
}
