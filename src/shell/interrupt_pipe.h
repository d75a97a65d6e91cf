// Ctrl-C as something to wait for: SIGINT writes a byte into a pipe, and whoever is in charge (the line editor while a
// line is typed, StatementWatch while a statement runs) polls the reading end.
#pragma once

namespace diptych::shell {

// Only one may exist at a time, since a signal handler belongs to the process. Ends with the default one.
class InterruptPipe {
 public:
  InterruptPipe();
  ~InterruptPipe();
  InterruptPipe(const InterruptPipe&) = delete;
  InterruptPipe& operator=(const InterruptPipe&) = delete;

  // Readable once Ctrl-C was pressed.
  int descriptor() const { return ends_[0]; }
  // Forgets what was pressed; true if there was anything. Any thread.
  bool take() const;

 private:
  int ends_[2];
};

}  // namespace diptych::shell
