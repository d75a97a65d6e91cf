#include "engine/gpu/join/long_rows.h"

#include "base/error.h"

namespace diptych::gpu {
namespace {

// Two words of the list's head, and two a row.
constexpr int64_t head_bytes = 16, row_bytes = 16;

}  // namespace

void LongRows::clear(GpuEngine& engine, Queue& queue, int64_t room) {
  room_ = room;
  const int64_t bytes = head_bytes + room * row_bytes;
  if (list_.bytes() < bytes) list_ = engine.device().allocate(bytes, "rows that meet many");
  queue.fill(list_.address(), 0, head_bytes);
}

uint64_t LongRows::word(int32_t part) const {
  switch (static_cast<LongRowPart>(part)) {
    case LongRowPart::List: return list_.address().value;
    case LongRowPart::Room: return static_cast<uint64_t>(room_);
    case LongRowPart::IsSharing: return is_sharing_ ? 1 : 0;
  }
  throw Error(SqlState::internal_error, "a kernel asks for what long rows have not");
}

}  // namespace diptych::gpu
