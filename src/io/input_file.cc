#include "io/input_file.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/temp_space.h"
#include "io/byte_stream.h"

namespace diptych {
namespace {

// What a pipe gave: the first bytes in memory, the others in a temporary file.
class SpooledFile final : public File {
 public:
  SpooledFile(const std::string& path, ByteStream& stream, const ReadContext& context) : File(path) {
    std::vector<std::byte> piece(piece_bytes);
    while (const int64_t got = stream.read(piece, context.cancelled)) {
      append({piece.data(), static_cast<size_t>(got)}, context.temp);
    }
  }

  int64_t size() const override { return static_cast<int64_t>(head_.size()) + tail_bytes_; }
  void truncate(int64_t) override { refuse(); }
  void sync() override { refuse(); }
  void lock(LockMode) override { refuse(); }
  void will_read(int64_t, int64_t) const override {}

 protected:
  int64_t read_some(int64_t offset, std::span<std::byte> into) const override {
    const auto head_bytes = static_cast<int64_t>(head_.size());
    const int64_t end = offset < head_bytes ? head_bytes : size();
    const auto count = static_cast<size_t>(std::clamp<int64_t>(end - offset, 0, static_cast<int64_t>(into.size())));
    if (count == 0) return 0;
    if (offset < head_bytes) {
      std::memcpy(into.data(), head_.data() + offset, count);
    } else {
      tail_->read_at(offset - head_bytes, into.first(count));
    }
    return static_cast<int64_t>(count);
  }
  int64_t write_some(int64_t, std::span<const std::byte>) override { refuse(); }

 private:
  static constexpr size_t piece_bytes = size_t{1} << 18;  // four times what a pipe holds
  static constexpr size_t most_head_bytes = size_t{8} << 20;

  void append(std::span<const std::byte> bytes, TempSpace* temp) {
    if (temp == nullptr || (tail_ == nullptr && head_.size() + bytes.size() <= most_head_bytes)) {
      head_.insert(head_.end(), bytes.begin(), bytes.end());
      return;
    }
    if (tail_ == nullptr) tail_ = temp->open();
    tail_->append(bytes);
    tail_bytes_ += static_cast<int64_t>(bytes.size());
  }

  [[noreturn]] static void refuse() {
    throw Error(SqlState::internal_error, "invariant broken: what a pipe gave is only read");
  }

  std::vector<std::byte> head_;
  std::unique_ptr<TempFile> tail_;
  int64_t tail_bytes_ = 0;
};

}  // namespace

std::unique_ptr<File> open_input(const ReadContext& context, const std::string& path) {
  const std::unique_ptr<ByteStream> stream = open_byte_stream(path);
  if (stream != nullptr) return std::make_unique<SpooledFile>(path, *stream, context);
  return context.files.open(path, OpenMode::Read);
}

}  // namespace diptych
