#include "base/stack.h"

#include <pthread.h>
#include <signal.h>

#include <cstdint>
#include <exception>

#include "base/error.h"

// Sanitizers put red zones around every variable, and a compiler that does not optimise keeps all of them apart.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define DIPTYCH_LARGE_FRAMES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define DIPTYCH_LARGE_FRAMES 1
#endif
#endif

namespace diptych {

namespace {

#ifdef DIPTYCH_LARGE_FRAMES
constexpr size_t bytes_per_level = 40 << 10;
constexpr size_t bytes_at_least = 256 << 10;
#else
// The stage that takes most, libpg_query's tree of nested CASE, takes 5 KB a level.
constexpr size_t bytes_per_level = 8 << 10;
// What a statement without any nesting takes, with what it calls.
constexpr size_t bytes_at_least = 96 << 10;
#endif

size_t bytes_for(int depth) { return bytes_at_least + static_cast<size_t>(depth) * bytes_per_level; }

struct StackBounds {
  uintptr_t low = 0, high = 0;  // both 0: unknown
};

StackBounds bounds_of_this_thread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  size_t bytes = 0;
  size_t guard = 0;
  const bool known =
      pthread_attr_getstack(&attributes, &low, &bytes) == 0 && pthread_attr_getguardsize(&attributes, &guard) == 0;
  pthread_attr_destroy(&attributes);
  if (!known) return {};
  // Some systems count the guard as part of the stack.
  const auto address = reinterpret_cast<uintptr_t>(low);
  return {address + guard, address + bytes};
}

struct Call {
  const std::function<void()>& work;
  std::exception_ptr failure;

  static void* run(void* argument) {
    auto* call = static_cast<Call*>(argument);
    try {
      call->work();
    } catch (...) {
      call->failure = std::current_exception();
    }
    return nullptr;
  }
};

// Signals go to the application's own threads.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

int create_thread(pthread_t& thread, size_t stack_bytes, Call& call) {
  pthread_attr_t attributes;
  int result = pthread_attr_init(&attributes);
  if (result != 0) return result;
  result = pthread_attr_setstacksize(&attributes, stack_bytes);
  if (result == 0) {
    const SignalsBlocked blocked;
    result = pthread_create(&thread, &attributes, &Call::run, &call);
  }
  pthread_attr_destroy(&attributes);
  return result;
}

}  // namespace

size_t stack_bytes_left() {
  // Asking the system takes 20 us on the main thread, where it reads /proc/self/maps.
  thread_local const StackBounds bounds = bounds_of_this_thread();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return here > bounds.low && here < bounds.high ? here - bounds.low : 0;
}

bool has_stack_for(int depth) { return stack_bytes_left() >= bytes_for(depth); }

void run_on_larger_stack(int depth, const std::function<void()>& work) {
  constexpr size_t page_bytes = 64 << 10;  // the largest page of any system
  const size_t wanted = bytes_for(depth) + bytes_at_least;
  Call call{work, nullptr};
  pthread_t thread;
  if (create_thread(thread, (wanted + page_bytes - 1) / page_bytes * page_bytes, call) != 0) {
    throw Error(SqlState::statement_too_complex,
                "no thread can be started with a stack for a statement nested so deeply", -1,
                "Call from a thread with a larger stack, or allow more address space or threads.");
  }
  pthread_join(thread, nullptr);
  if (call.failure) std::rethrow_exception(call.failure);
}

}  // namespace diptych
