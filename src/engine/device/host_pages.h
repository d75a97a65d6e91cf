// Host memory in large pages, for drivers to pin. Fetching a page from the system and clearing it takes much longer
// than pinning it (some 400 against 42 ms a GB by one thread on the host of an H200), so several threads do that.
#pragma once

#include <cstddef>
#include <cstdint>

namespace diptych {

inline constexpr int64_t host_page_bytes = int64_t{2} << 20;

// So many bytes, a multiple of host_page_bytes, of zeros that are there already; starts on such a multiple. nullptr
// where the system has no room.
std::byte* allocate_host_pages(int64_t bytes);
void free_host_pages(std::byte* data, int64_t bytes) noexcept;

}  // namespace diptych
