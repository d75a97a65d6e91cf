// Compiles kernels on a thread of its own, so that a statement that can do without for now need not wait.
//
//   ask(text) --> queue --> thread: compile(text) --> the device's cache of kernels, where find_compiled() sees
//   it
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace diptych {

class BackgroundCompiler {
 public:
  // What it throws is the reason why a text does not compile.
  using Compile = std::function<void(const std::string& text, const std::string& entry)>;
  explicit BackgroundCompiler(Compile compile) : compile_(std::move(compile)) {}
  // Waits for the kernel that is being compiled; those that wait are dropped.
  ~BackgroundCompiler();
  BackgroundCompiler(const BackgroundCompiler&) = delete;
  BackgroundCompiler& operator=(const BackgroundCompiler&) = delete;

  // Does nothing for a text that is waiting, being compiled, or known not to compile.
  void ask(const std::string& text, const std::string& entry);
  // Why texts did not compile, each told once.
  std::vector<std::string> take_failures();
  // Until nothing waits any more.
  void wait();

 private:
  struct Job {
    std::string text, entry;
  };
  void work();
  void run(const Job& job);

  const Compile compile_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Job> jobs_;    // the first is being compiled
  std::set<size_t> asked_;  // hashes of texts: of jobs, and of those that failed
  std::vector<std::string> failures_;
  bool stops_ = false;
  std::thread thread_;  // started by the first job
};

}  // namespace diptych
