// Threads that work in libraries which were loaded at run time, a compiler's or a driver's: exit() destroys what these
// libraries have, and a thread that is in one of them then crashes the process. A program may end without closing its
// databases, so nobody else waits for such threads.
//
//   thread     | hold ......... compiles ......... |
//   exit()            | waits                      | destroys what libraries have; nothing is held any more
//
// exit() calls what was registered last first, and compilers go on registering while they compile. What belongs to the
// thread that calls exit() is destroyed before all of that: so the main thread waits there, if it was noted. Else
// exit() waits where it comes to note_libraries(), behind the destructors that were registered later.
#pragma once

namespace diptych {

// Thread safety: any number of threads may hold.
class ExitHold {
 public:
  // Does not wait. Where exit() has begun already, nothing is held. Who holds must not call exit().
  ExitHold();
  ~ExitHold();
  ExitHold(const ExitHold&) = delete;
  ExitHold& operator=(const ExitHold&) = delete;
  // False: the process ends, and the thread must leave those libraries alone.
  bool is_held() const { return is_held_; }

  // Where the caller is the main thread, its end waits, by exit() or without: behind that nothing is held any more.
  static void note_thread();
  // exit() waits before it destroys what libraries have that were loaded until now. Called behind loading one.
  static void note_libraries() noexcept;

 private:
  bool is_held_;
};

}  // namespace diptych
