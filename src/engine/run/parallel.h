// Running things on so many threads, the calling one among them.
#pragma once

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <optional>

namespace diptych {

// Calls task() in an arena of `threads` threads.
template <typename Task>
void in_arena(int threads, Task&& task) {
  // oneTBB starts no more threads than there are cores, unless it is told to; tests ask for more.
  std::optional<tbb::global_control> more;
  if (threads > tbb::info::default_concurrency())
    more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute(task);
}

// Calls task(0) ... task(threads - 1), each on a thread of its own when that many are free.
template <typename Task>
void run_parallel(int threads, Task&& task) {
  in_arena(threads, [&] { tbb::parallel_for(0, threads, task, tbb::simple_partitioner()); });
}

}  // namespace diptych
