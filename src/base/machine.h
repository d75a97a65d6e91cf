// What this process may use of the machine it runs on. A container or a service may have less of it than there is:
// Linux control groups, version 1 and 2, limit memory and processor time, and an affinity mask limits processors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace diptych {

// Memory in bytes, used or not. Read once; thread-safe.
int64_t machine_memory_bytes();

// Threads that can run at the same time, at least one: processors of the affinity mask, or fewer where processor time
// is limited to less. Read once; thread-safe.
int machine_threads();

// Bytes of the second- and third-level caches that a thread has for itself when all processors are busy. Read once;
// thread-safe.
int64_t machine_cache_bytes();

// As the files under `root` say, of the first processor: a cache's size divided by how many processors share it. 0
// where nothing can be read.
int64_t cache_bytes_of_processor(const std::string& root);

// The least limits of the control groups that a process is in and of those around them; none where there is none.
struct ControlGroupLimits {
  std::optional<int64_t> memory_bytes;
  std::optional<double> processors;  // of processor time, 1.5: one and a half
};

// Of this process, as the files under `root` say: "/" for the machine's own. What can't be read limits nothing.
ControlGroupLimits control_group_limits(const std::string& root);

}  // namespace diptych
