// Running things on so many threads, the calling one among them.
#pragma once

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <optional>

namespace diptych {

// An arena of so many threads. oneTBB starts no more of them than there are cores, unless it is told to; tests ask for
// more.
class Arena {
 public:
  explicit Arena(int threads) : arena_(threads) {
    if (threads > tbb::info::default_concurrency())
      more_.emplace(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
  }
  template <typename Task>
  void execute(Task&& task) {
    arena_.execute(task);
  }

 private:
  std::optional<tbb::global_control> more_;
  tbb::task_arena arena_;
};

// Calls task() in an arena of `threads` threads.
template <typename Task>
void in_arena(int threads, Task&& task) {
  Arena(threads).execute(task);
}

// Calls task(0) ... task(threads - 1), each on a thread of its own when that many are free.
template <typename Task>
void run_parallel(int threads, Task&& task) {
  in_arena(threads, [&] { tbb::parallel_for(0, threads, task, tbb::simple_partitioner()); });
}

// Threads that join the calling one in its work when it says so: waking them takes as long as a short piece of work.
class OtherThreads {
 public:
  // threads: the calling one among them.
  explicit OtherThreads(int threads) : threads_(threads) {}
  OtherThreads(const OtherThreads&) = delete;
  OtherThreads& operator=(const OtherThreads&) = delete;
  ~OtherThreads() {
    try {
      wait();
    } catch (...) {
      // The calling thread has failed, too.
    }
  }

  // Calls task(1) ... task(threads - 1), each on a thread of its own when that many are free. Once.
  template <typename Task>
  void start(Task task) {
    arena_.emplace(threads_);
    arena_->execute([&] {
      for (int i = 1; i < threads_; ++i) tasks_.run([task, i] { task(i); });
    });
  }
  // Until all that were started are through. Errors: that of one of them, once.
  void wait() {
    if (arena_) arena_->execute([&] { tasks_.wait(); });
  }

 private:
  const int threads_;
  std::optional<Arena> arena_;
  tbb::task_group tasks_;
};

}  // namespace diptych
