// Room on the stack for walks of deep trees. Expressions are walked by recursion, and how deep a statement's are is
// known before its trees exist (sql/scanner.h): so each stage runs where there is stack enough for its input, which is
// the calling thread as a rule, and a thread of its own where an application calls from a small one.
//
//   run_at_depth(12, work)      work() here
//   run_at_depth(9000, work)    a thread with 70 MB of address space, of which work() touches what it needs
//
// All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

namespace diptych {

// Bytes of the calling thread's stack below this frame; 0 where that can't be told, as on the stack of a coroutine.
size_t stack_bytes_left();

// Whether a walk of a tree of `depth` levels fits this thread's stack.
bool has_stack_for(int depth);

// Calls work() on a thread with stack enough, and waits for it. Errors: those of work(); 54001 no such thread can be
// had.
void run_on_larger_stack(int depth, const std::function<void()>& work);

// Calls work() where a walk of a tree of `depth` levels fits.
template <typename Work>
void run_at_depth(int depth, Work&& work) {
  if (has_stack_for(depth)) {
    std::forward<Work>(work)();
  } else {
    run_on_larger_stack(depth, std::ref(work));
  }
}

}  // namespace diptych
