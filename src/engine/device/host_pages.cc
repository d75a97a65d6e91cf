#include "engine/device/host_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

#include "base/machine.h"

namespace diptych {
namespace {

constexpr int64_t small_page_bytes = 4096;
// What starting a thread is worth, and how many fill a memory's channels.
constexpr int64_t thread_bytes = int64_t{8} << 20, most_threads = 16;

// Makes the system give the pages; where it does not give large ones, each small one.
void touch(std::byte* data, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += small_page_bytes) static_cast<volatile std::byte*>(data)[at] = std::byte{0};
}

}  // namespace

std::byte* allocate_host_pages(int64_t bytes) {
  // A page more, so that there is a start on a multiple of one.
  const int64_t mapped = bytes + host_page_bytes;
  void* memory = mmap(nullptr, static_cast<size_t>(mapped), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto* first = static_cast<std::byte*>(memory);
  const auto past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(first) % host_page_bytes);
  const int64_t before = past == 0 ? 0 : host_page_bytes - past;
  std::byte* data = first + before;
  if (before > 0) munmap(first, static_cast<size_t>(before));
  munmap(data + bytes, static_cast<size_t>(mapped - bytes - before));
  madvise(data, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  // Shared with a child, a page that is written is given anew to the writer, and the device goes on with the old one.
  madvise(data, static_cast<size_t>(bytes), MADV_DONTFORK);
  const int64_t threads =
      std::clamp<int64_t>(bytes / thread_bytes, 1, std::min<int64_t>(most_threads, machine_threads()));
  const int64_t part = (bytes / host_page_bytes + threads - 1) / threads * host_page_bytes;
  std::vector<std::jthread> others;
  others.reserve(static_cast<size_t>(threads));
  int64_t at = part;
  try {
    for (; at < bytes; at += part) others.emplace_back([=] { touch(data + at, std::min(part, bytes - at)); });
  } catch (const std::system_error&) {
    // No more threads: this one touches the rest.
    touch(data + at, bytes - at);
  }
  touch(data, std::min(part, bytes));
  return data;
}

void free_host_pages(std::byte* data, int64_t bytes) noexcept { munmap(data, static_cast<size_t>(bytes)); }

}  // namespace diptych
