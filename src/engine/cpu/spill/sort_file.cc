#include "engine/cpu/spill/sort_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace diptych::cpu {
namespace {

// Large enough that writing is cheap, small enough not to count.
constexpr size_t write_bytes = size_t{64} << 10;

}  // namespace

void SortFile::Writer::add(const uint64_t* row) {
  const size_t bytes = layout_.packed_bytes(row);
  if (buffer_.size() * 8 + bytes > write_bytes) flush();
  const size_t at = buffer_.size();
  buffer_.resize(at + bytes / 8);
  layout_.pack(row, bytes, buffer_.data() + at);
}

void SortFile::Writer::flush() {
  if (buffer_.empty()) return;
  const auto bytes = std::as_bytes(std::span(buffer_));
  const int64_t offset = file_.file_->append(bytes);
  if (piece_.offset < 0) piece_.offset = offset;
  piece_.bytes += static_cast<int64_t>(bytes.size());
  file_.memory_.count_spilled(static_cast<int64_t>(bytes.size()));
  buffer_.clear();
}

void SortFile::Writer::finish() {
  flush();
  if (piece_.bytes > 0) file_.pieces_.push_back(piece_);
}

SortPieceReader::SortPieceReader(const SortLayout& layout, const SortFile& file, SortPiece piece, size_t buffer_bytes,
                                 const Memory& memory)
    : layout_(&layout), file_(&file), left_(piece), memory_(&memory), buffer_(memory.allocate(buffer_bytes, "sort")) {}

bool SortPieceReader::next() {
  at_ += std::exchange(row_bytes_, 0);
  if (at_ == end_ && left_.bytes == 0) return false;
  need(layout_->words() * 8);
  // Its strings may not be here yet; how long they are is.
  row_bytes_ = layout_->packed_bytes(reinterpret_cast<uint64_t*>(buffer_.data() + at_));
  need(row_bytes_);
  row_ = reinterpret_cast<uint64_t*>(buffer_.data() + at_);
  layout_->unpack(row_);
  return true;
}

void SortPieceReader::need(size_t bytes) {
  if (end_ - at_ >= bytes) return;
  if (bytes > buffer_.size()) {
    Chunk larger = memory_->allocate(bytes, "sort");
    std::memcpy(larger.data(), buffer_.data() + at_, end_ - at_);
    buffer_ = std::move(larger);
  } else {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
  }
  end_ -= at_;
  at_ = 0;
  const size_t count = std::min(buffer_.size() - end_, static_cast<size_t>(left_.bytes));
  file_->bytes().read_at(left_.offset, {buffer_.data() + end_, count});
  left_.offset += static_cast<int64_t>(count);
  left_.bytes -= static_cast<int64_t>(count);
  end_ += count;
}

}  // namespace diptych::cpu
