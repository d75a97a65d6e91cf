// Watches one running statement from a thread of its own: Ctrl-C cancels it, and on a terminal a progress line appears
// once it has run for a second.
#pragma once

#include <diptych/diptych.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "shell/interrupt_pipe.h"

namespace diptych::shell {

class StatementWatch {
 public:
  // From here to stop(), or the end of this object, `connection` is watched. The line goes to stderr if
  // `show_progress`.
  StatementWatch(diptych_connection* connection, const InterruptPipe& interrupts, bool show_progress);
  ~StatementWatch();
  StatementWatch(const StatementWatch&) = delete;
  StatementWatch& operator=(const StatementWatch&) = delete;

  // True once Ctrl-C was pressed. While rows are fetched from a finished run it is all that tells.
  bool interrupted() const { return interrupted_; }
  // Removes the progress line for good: rows are about to be printed.
  void hide_progress();
  void stop();

 private:
  void run();
  void draw();

  diptych_connection* connection_;
  const InterruptPipe& interrupts_;
  std::atomic<bool> interrupted_{false};
  std::mutex line_mutex_;  // guards the two that follow, and the terminal's line
  bool show_progress_;
  bool drawn_ = false;
  int stop_event_;
  std::thread thread_;
};

}  // namespace diptych::shell
