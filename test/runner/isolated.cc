#include "isolated.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>

namespace slt {

Counts run_isolated(const std::string& path, const RunOptions& options) {
  void* shared = mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("mmap failed");
  Counts* counts = new (shared) Counts;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    run_script(path, options, *counts);
    std::fflush(stdout);
    // exit, not _exit: leak and race reports come at the end of a process.
    std::exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Counts result = *counts;
  munmap(shared, sizeof(Counts));
  const std::string name = name_of(path, options);
  if (WIFSIGNALED(status)) {
    ++result.failed;
    std::printf("FAILED %s:%ld\n  killed by signal %d (%s)\n", name.c_str(), result.line, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) != 0) {
    ++result.failed;
    std::printf("FAILED %s:%ld\n  the process ended with status %d\n", name.c_str(), result.line, WEXITSTATUS(status));
  }
  return result;
}

}  // namespace slt
