// What exit() waits for, in processes of their own.
#include "base/exit_hold.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace diptych {
namespace {

std::atomic<bool> is_working = false, may_end = false;

// As a library's destructor that was registered when it was loaded.
void end_library() {
  if (is_working) _exit(2);
  if (ExitHold().is_held()) _exit(3);
}

void end_with_a_thread_at_work() {
  std::thread works([] {
    const ExitHold hold;
    is_working = hold.is_held();
    while (!may_end) std::this_thread::yield();
    is_working = false;
  });
  works.detach();
  while (!is_working) std::this_thread::yield();
  std::thread([] {
    // Until exit() has begun; behind that nothing is held.
    while (ExitHold().is_held()) std::this_thread::yield();
    may_end = true;
  }).detach();
  std::exit(0);
}

TEST(ExitHold, ExitWaitsForWhatIsHeldAndNothingIsHeldBehindIt) {
  EXPECT_EXIT(
      {
        static_cast<void>(std::atexit(end_library));
        ExitHold::note_libraries();
        end_with_a_thread_at_work();
      },
      ::testing::ExitedWithCode(0), "");
}

// As compilers register more while they compile.
TEST(ExitHold, TheMainThreadWaitsBeforeDestructorsThatAreRegisteredLater) {
  EXPECT_EXIT(
      {
        ExitHold::note_libraries();
        ExitHold::note_thread();
        static_cast<void>(std::atexit(end_library));
        end_with_a_thread_at_work();
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(ExitHold, TheEndOfAnotherThreadEndsNothing) {
  std::thread([] { ExitHold::note_thread(); }).join();
  EXPECT_TRUE(ExitHold().is_held());
}

TEST(ExitHold, ExitWithoutAnyWaitsForNothing) {
  EXPECT_EXIT(
      {
        ExitHold::note_libraries();
        ExitHold::note_libraries();
        { const ExitHold hold; }
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace diptych
