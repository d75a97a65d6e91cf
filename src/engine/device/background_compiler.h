// Compiles kernels on a few threads of its own, so that a statement that can do without for now need not wait, and that
// all kernels of a statement are compiled at the same time.
//
//   ask(kernel) --> queue --> threads: compile(kernel) --> the device's cache of kernels, where find_compiled() sees
//                     |                                    it
//                     `----> take(kernel): who needs one before its turn has come compiles it instead
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/device/device.h"

namespace diptych {

class BackgroundCompiler {
 public:
  // What it throws is the reason why a text does not compile. Called by several threads at once, never for the same
  // kernel.
  using Compile = std::function<void(const KernelText& kernel)>;
  BackgroundCompiler(Compile compile, int threads) : compile_(std::move(compile)), most_threads_(threads) {}
  // Waits for the kernels that are being compiled; those that wait are dropped.
  ~BackgroundCompiler();
  BackgroundCompiler(const BackgroundCompiler&) = delete;
  BackgroundCompiler& operator=(const BackgroundCompiler&) = delete;

  // Who asks for a kernel that does not compile: where a section will ask the device for it, too, that tells; else
  // take_failures() does.
  enum class Asker : uint8_t { Section, Nobody };
  // Does nothing for a kernel that is waiting, being compiled, or known not to compile.
  void ask(const KernelText& kernel, Asker asker);
  // Before the caller has the device compile it: a kernel that still waits is the caller's.
  void take(const KernelText& kernel);
  // Why kernels did not compile, each told once.
  std::vector<std::string> take_failures();
  // Until nothing waits or is being compiled any more.
  void wait();

 private:
  enum class State : uint8_t { Waiting, Running, Failed };
  struct Known {
    State state = State::Waiting;
    Asker asker = Asker::Section;
    std::string reason;  // Failed
  };
  void start_thread();
  void work();
  void run(const KernelText& job);

  const Compile compile_;
  const int most_threads_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<KernelText> jobs_;  // that wait
  std::map<KernelText::Hash, Known> known_;
  std::vector<std::string> failures_;
  int running_ = 0;
  bool stops_ = false;
  std::vector<std::thread> threads_;  // as many as were needed at once so far
};

}  // namespace diptych
