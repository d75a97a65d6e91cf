// The first four pages of a database file: two headers, each in two copies, of which the one with the highest sequence
// number counts.
//
//   page   0            1            2            3            4 ...
//          slot 0 a     slot 0 b     slot 1 a     slot 1 b     extents
//          sequence 6   sequence 6   sequence 7   sequence 7
//
// Header n goes to slot n % 2: first to copy a, and once that is on the disk to copy b. So a crash can tear at most one
// copy of one slot, and a slot without a valid copy is damage and never mistaken for a torn commit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace diptych {

inline constexpr int64_t page_bytes = 4096;
inline constexpr int64_t header_pages = 4;
// What is written; older files down to the oldest version are read, and rewritten in this one by their next commit.
inline constexpr uint32_t file_format_version = 5;
inline constexpr uint32_t oldest_file_format = 1;

// Where a blob of meta data is, and what XXH3 (64 bits) of its bytes is.
struct BlobReference {
  int64_t first_page = 0;
  int64_t bytes = 0;
  uint64_t checksum = 0;
  int64_t pages() const { return (bytes + page_bytes - 1) / page_bytes; }
};

struct FileHeader {
  uint32_t version = file_format_version;  // of the header and of all blobs that it reaches
  uint64_t sequence = 0;
  BlobReference root;      // the catalog; 0 bytes: no tables
  int64_t file_pages = 0;  // the file is at least so long
};

using HeaderPage = std::array<std::byte, page_bytes>;

HeaderPage encode_header(const FileHeader& header);
// Nothing when it is no valid header. Errors: 0A000 when it is valid, but of an unknown format version or another page
// size.
std::optional<FileHeader> decode_header(std::span<const std::byte> page);

uint64_t checksum_of(std::span<const std::byte> bytes);

}  // namespace diptych
