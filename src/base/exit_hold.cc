#include "base/exit_hold.h"

#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>

namespace diptych {
namespace {

struct Holds {
  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  int count = 0;
  bool ends = false;
};

// Is never destroyed: threads go on until the process is gone.
Holds& holds() {
  static auto* const all = new Holds;
  return *all;
}

void wait_for_all() {
  Holds& all = holds();
  std::unique_lock lock(all.mutex);
  all.ends = true;
  all.changed.wait(lock, [&] { return all.count == 0; });
}

// One of a thread's own objects, which its end destroys.
struct EndOfThread {
  bool is_main = gettid() == getpid();
  ~EndOfThread() {
    if (is_main) wait_for_all();
  }
};

}  // namespace

ExitHold::ExitHold() {
  Holds& all = holds();
  std::lock_guard guard(all.mutex);
  is_held_ = !all.ends;
  if (is_held_) ++all.count;
}

ExitHold::~ExitHold() {
  if (!is_held_) return;
  Holds& all = holds();
  std::lock_guard guard(all.mutex);
  --all.count;
  all.changed.notify_all();
}

void ExitHold::note_thread() { static thread_local const EndOfThread end; }

// Where there is no memory to register it, nothing is waited for.
void ExitHold::note_libraries() noexcept { static_cast<void>(std::atexit(wait_for_all)); }

}  // namespace diptych
