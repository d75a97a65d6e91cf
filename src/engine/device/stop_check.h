// How what takes long on a thread of a statement ends when the statement does: compiling, launches that wait for each
// other.
#pragma once

#include <functional>
#include <utility>

namespace diptych {

// As long as it lives, what waits long on this thread asks it now and then; the innermost one counts.
class StopCheck {
 public:
  // check throws when the thread's work is to end.
  explicit StopCheck(std::function<void()> check);
  StopCheck(const StopCheck&) = delete;
  StopCheck& operator=(const StopCheck&) = delete;
  ~StopCheck();
  // null: the thread's work is not to be ended.
  static const StopCheck* here();
  // Errors: those of check.
  void ask() const { check_(); }

 private:
  const std::function<void()> check_;
  const StopCheck* const before_;
};

}  // namespace diptych
