#include "shell/interrupt_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <system_error>

namespace diptych::shell {

namespace {

// The one thing a signal handler can reach.
std::atomic<int> write_end{-1};
static_assert(std::atomic<int>::is_always_lock_free);

void on_interrupt(int) {
  const int saved = errno;
  const char byte = 'c';
  // A full pipe already says what this byte would.
  [[maybe_unused]] const ssize_t written = ::write(write_end.load(), &byte, 1);
  errno = saved;
}

}  // namespace

InterruptPipe::InterruptPipe() {
  if (::pipe2(ends_, O_CLOEXEC | O_NONBLOCK) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  write_end = ends_[1];
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  // Restarting keeps a database file's reads and writes from ending early; poll() returns all the same.
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
}

InterruptPipe::~InterruptPipe() {
  ::signal(SIGINT, SIG_DFL);
  write_end = -1;
  ::close(ends_[0]);
  ::close(ends_[1]);
}

bool InterruptPipe::take() const {
  char bytes[64];
  bool any = false;
  while (::read(ends_[0], bytes, sizeof bytes) > 0) any = true;
  return any;
}

}  // namespace diptych::shell
