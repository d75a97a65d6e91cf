#include "engine/gpu/sort/sort_sink.h"

#include <algorithm>

namespace diptych::gpu {
namespace {

// With up to so many rows wanted of a row set, batches are sorted one by one. They are of one tablet then.
constexpr int64_t most_merged_rows = 65536;

}  // namespace

const RowSetInfo* sorted_set_of(const Program& program, int32_t address) {
  const auto first = program.instructions.begin() + address;
  const auto end = program.instructions.begin() + first->p3;
  const auto sink = std::find_if(first, end, [&](const Instruction& at) {
    return at.opcode == Opcode::Append && !program.row_sets[static_cast<size_t>(at.p1)].keys.empty();
  });
  return sink == end ? nullptr : &program.row_sets[static_cast<size_t>(sink->p1)];
}

bool has_text_key(const RowSetInfo& sorted) {
  const auto is_text = [](const RegisterInfo& key) { return key.physical == PhysicalType::Text; };
  return std::any_of(sorted.columns.begin(), sorted.columns.begin() + static_cast<ptrdiff_t>(sorted.keys.size()),
                     is_text);
}

bool finds_first_rows(const SectionKernel& kernel, const RowSetInfo& sorted) {
  return kernel.sort_texts.empty() && TopRows::can_find(kernel.sort_words, sorted.limit);
}

bool can_be_merged(const RowSetInfo& sorted) {
  return sorted.limit >= 0 && sorted.limit <= most_merged_rows && !has_text_key(sorted);
}

void BatchSort::sort(const SortInput& input, int64_t limit, const ExecutionContext& context) {
  order_ = engine_.sort().sort(queue_, input, limit, [&] { check_cancelled(context); });
  rows_ = limit < 0 ? input.rows : std::min(input.rows, limit);
  make_room();
}

void BatchSort::find_first(const TopInput& input, int64_t limit) {
  first_.emplace(engine_.sort().find_first(queue_, input, limit));
  rows_ = std::min(input.most_rows, limit);
  make_room();
}

void BatchSort::make_room() {
  constexpr int64_t widest = 16;
  if (rows_ > 0) gathered_ = engine_.device().allocate(rows_ * widest, "sorted rows");
}

DeviceAddress BatchSort::in_order(int width, DeviceAddress column) {
  engine_.sort().gather(queue_, width, column, order(), rows_, gathered_.address());
  return gathered_.address();
}

void BatchSort::fetch_words(std::span<const DeviceAddress> words) {
  for (DeviceAddress word : words) {
    std::vector<uint64_t>& to = words_.emplace_back(static_cast<size_t>(rows_));
    if (rows_ > 0) queue_.copy_to_host(to.data(), in_order(8, word), rows_ * 8);
  }
}

}  // namespace diptych::gpu
