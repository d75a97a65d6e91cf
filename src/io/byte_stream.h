// What is a path to the operating system, where that is no plain file: pipes give their bytes once, in order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace diptych {

// The reading end of a pipe. Thread safety: one thread at a time.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Waits for bytes; how many there are, 0 at the end. Errors: 58030; 57014 when `cancelled` becomes true meanwhile.
  virtual int64_t read(std::span<std::byte> into, const std::atomic<bool>* cancelled) = 0;
};

// The pipe of this path; null for a plain file and for what is not there. Errors: 42809 a directory, socket or device
// other than /dev/null, whose bytes have no end; 58030.
std::unique_ptr<ByteStream> open_byte_stream(const std::string& path);

// That a file may be put there, in place of a plain file or of nothing; or /dev/null is there. Errors: 42809, 58030.
void check_is_replaceable(const std::string& path);

}  // namespace diptych
