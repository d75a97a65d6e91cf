#include "shell/statement_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "shell/progress_bar.h"

namespace diptych::shell {

namespace {

constexpr std::chrono::milliseconds first_drawing{1000};
constexpr int redraw_every_ms = 100;

size_t terminal_cells() {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
}

void write_to_terminal(const std::string& text) {
  // A terminal that takes no more is no reason to fail.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

StatementWatch::StatementWatch(diptych_connection* connection, const InterruptPipe& interrupts, bool show_progress)
    : connection_(connection),
      interrupts_(interrupts),
      show_progress_(show_progress),
      stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

StatementWatch::~StatementWatch() {
  stop();
  ::close(stop_event_);
}

void StatementWatch::stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_event_, &one, sizeof one);
  thread_.join();
  hide_progress();
}

void StatementWatch::hide_progress() {
  const std::lock_guard lock(line_mutex_);
  show_progress_ = false;
  if (drawn_) write_to_terminal("\r\x1b[K");
  drawn_ = false;
}

void StatementWatch::run() {
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    pollfd waits[2] = {{stop_event_, POLLIN, 0}, {interrupts_.descriptor(), POLLIN, 0}};
    ::poll(waits, 2, redraw_every_ms);
    if (waits[0].revents != 0) return;
    if (waits[1].revents != 0 && interrupts_.take()) {
      interrupted_ = true;
      diptych_interrupt(connection_);
    }
    if (std::chrono::steady_clock::now() - start >= first_drawing) draw();
  }
}

void StatementWatch::draw() {
  const std::lock_guard lock(line_mutex_);
  if (!show_progress_) return;
  write_to_terminal("\r" + progress_line(diptych_get_progress(connection_), terminal_cells()) + "\x1b[K");
  drawn_ = true;
}

}  // namespace diptych::shell
