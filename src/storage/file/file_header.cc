#include "storage/file/file_header.h"

#include <xxhash.h>

#include <cstring>
#include <string>

#include "base/error.h"

namespace diptych {
namespace {

constexpr char magic[8] = {'D', 'i', 'p', 't', 'y', 'c', 'h', '\n'};

// Offsets of the fields in the page; all integers are little endian.
enum Offset : size_t {
  at_magic = 0,
  at_version = 8,      // 4 bytes
  at_page_bytes = 12,  // 4 bytes
  at_sequence = 16,
  at_root_page = 24,
  at_root_bytes = 32,
  at_root_checksum = 40,
  at_file_pages = 48,
  at_checksum = 56,  // XXH3 of the bytes before
  header_bytes = 64,
};

template <typename T>
T load(std::span<const std::byte> page, size_t offset) {
  T value;
  std::memcpy(&value, page.data() + offset, sizeof value);
  return value;
}

template <typename T>
void store(HeaderPage& page, size_t offset, T value) {
  std::memcpy(page.data() + offset, &value, sizeof value);
}

}  // namespace

uint64_t checksum_of(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

HeaderPage encode_header(const FileHeader& header) {
  HeaderPage page{};
  std::memcpy(page.data() + at_magic, magic, sizeof magic);
  store<uint32_t>(page, at_version, header.version);
  store<uint32_t>(page, at_page_bytes, page_bytes);
  store<uint64_t>(page, at_sequence, header.sequence);
  store<int64_t>(page, at_root_page, header.root.first_page);
  store<int64_t>(page, at_root_bytes, header.root.bytes);
  store<uint64_t>(page, at_root_checksum, header.root.checksum);
  store<int64_t>(page, at_file_pages, header.file_pages);
  store<uint64_t>(page, at_checksum, checksum_of(std::span(page).first(at_checksum)));
  return page;
}

std::optional<FileHeader> decode_header(std::span<const std::byte> page) {
  if (page.size() < header_bytes || std::memcmp(page.data() + at_magic, magic, sizeof magic) != 0) return {};
  if (load<uint64_t>(page, at_checksum) != checksum_of(page.first(at_checksum))) return {};
  uint32_t version = load<uint32_t>(page, at_version);
  if (version < oldest_file_format || version > file_format_version) {
    throw Error(SqlState::feature_not_supported,
                "the database file has format version " + std::to_string(version) + ", this program reads versions " +
                    std::to_string(oldest_file_format) + " to " + std::to_string(file_format_version));
  }
  if (uint32_t bytes = load<uint32_t>(page, at_page_bytes); bytes != page_bytes) {
    throw Error(SqlState::feature_not_supported, "the database file has pages of " + std::to_string(bytes) +
                                                     " bytes, this program reads pages of " +
                                                     std::to_string(page_bytes));
  }
  FileHeader header;
  header.version = version;
  header.sequence = load<uint64_t>(page, at_sequence);
  header.root = {load<int64_t>(page, at_root_page), load<int64_t>(page, at_root_bytes),
                 load<uint64_t>(page, at_root_checksum)};
  header.file_pages = load<int64_t>(page, at_file_pages);
  return header;
}

}  // namespace diptych
