#include "engine/gpu/sort/sort_sink.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/rows/block_source.h"
#include "tablet/aligned_buffer.h"
#include "tablet/dictionary.h"
#include "tablet/validity_bits.h"

namespace diptych::gpu {
namespace {

// With up to so many rows wanted of a sorter, batches are sorted one by one. They are of one tablet then.
constexpr int64_t most_merged_rows = 65536;

struct RunRow {
  size_t run, row;
};

// The first `limit` rows of all runs. There are few runs, and few rows of each: a heap would gain nothing on them.
std::vector<RunRow> merged_order(const std::vector<SortedRun>& runs, int64_t limit) {
  std::vector<RunRow> rows;
  for (size_t run = 0; run < runs.size(); ++run) {
    const int64_t count = runs[run].rows.empty() ? 0 : runs[run].rows.front().rows;
    for (int64_t row = 0; row < count; ++row) rows.push_back({run, static_cast<size_t>(row)});
    const auto middle = rows.end() - count;
    std::inplace_merge(rows.begin(), middle, rows.end(), [&](RunRow a, RunRow b) {
      for (size_t word = 0; word < runs[a.run].words.size(); ++word) {
        const uint64_t left = runs[a.run].words[word][a.row], right = runs[b.run].words[word][b.row];
        if (left != right) return left < right;
      }
      return false;
    });
    if (static_cast<int64_t>(rows.size()) > limit) rows.resize(static_cast<size_t>(limit));
  }
  return rows;
}

// Memory of a merged run.
class MergedMemory {
 public:
  std::byte* take(size_t bytes) {
    AlignedBuffer& buffer = buffers_.emplace_back(std::max<size_t>(bytes, 1));
    std::memset(buffer.data(), 0, buffer.size());
    return buffer.data();
  }

 private:
  std::vector<AlignedBuffer> buffers_;
};

const ColumnView& view_of(const std::vector<SortedRun>& runs, RunRow at, size_t column) {
  return runs[at.run].rows.front().views[column];
}

std::string_view text_of(const ColumnView& view, size_t row) {
  if (view.encoding == Encoding::Heap)
    return {view.heap + view.offsets[row], view.offsets[row + 1] - view.offsets[row]};
  return (*view.dictionary)[reinterpret_cast<const uint32_t*>(view.data)[row]];
}

void merge_values(const std::vector<SortedRun>& runs, const std::vector<RunRow>& order, size_t column,
                  MergedMemory& memory, ColumnView& merged) {
  const auto width = static_cast<size_t>(merged.width);
  std::byte* to = memory.take(order.size() * width);
  merged.data = to;
  for (RunRow at : order) {
    std::memcpy(to, view_of(runs, at, column).data + at.row * width, width);
    to += width;
  }
}

void merge_texts(const std::vector<SortedRun>& runs, const std::vector<RunRow>& order, size_t column,
                 MergedMemory& memory, ColumnView& merged) {
  auto* offsets = reinterpret_cast<uint32_t*>(memory.take((order.size() + 1) * sizeof(uint32_t)));
  uint64_t bytes = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    bytes += text_of(view_of(runs, order[i], column), order[i].row).size();
    if (bytes > UINT32_MAX)
      throw Error(SqlState::out_of_memory, "the strings of 65536 sorted rows take more than 4 GB");
    offsets[i + 1] = static_cast<uint32_t>(bytes);
  }
  std::byte* heap = memory.take(bytes);
  for (size_t i = 0; i < order.size(); ++i) {
    const std::string_view text = text_of(view_of(runs, order[i], column), order[i].row);
    if (!text.empty()) std::memcpy(heap + offsets[i], text.data(), text.size());
  }
  merged.encoding = Encoding::Heap;
  merged.offsets = offsets;
  merged.heap = reinterpret_cast<const char*>(heap);
  merged.data = nullptr;
}

ColumnView merge_column(const std::vector<SortedRun>& runs, const std::vector<RunRow>& order, size_t column,
                        MergedMemory& memory) {
  ColumnView merged = view_of(runs, order.front(), column);
  bool same_form = merged.encoding != Encoding::Heap;
  auto* bits = reinterpret_cast<uint8_t*>(memory.take(order.size() / 8 + 1));
  for (size_t i = 0; i < order.size(); ++i) {
    const ColumnView& from = view_of(runs, order[i], column);
    same_form &= from.encoding == merged.encoding && from.dictionary == merged.dictionary;
    bits[i / 8] = static_cast<uint8_t>(
        bits[i / 8] | (is_valid(from.validity, static_cast<int64_t>(order[i].row)) ? 1 : 0) << (i % 8));
  }
  merged.validity = bits;
  if (same_form)
    merge_values(runs, order, column, memory, merged);
  else
    merge_texts(runs, order, column, memory, merged);
  return merged;
}

SectionRows merge_runs(const std::vector<SortedRun>& runs, int64_t limit, size_t columns) {
  const std::vector<RunRow> order = merged_order(runs, limit);
  SectionRows merged;
  merged.rows = static_cast<int64_t>(order.size());
  auto memory = std::make_shared<MergedMemory>();
  for (size_t column = 0; column < columns && !order.empty(); ++column)
    merged.views.push_back(merge_column(runs, order, column, *memory));
  merged.owner = std::move(memory);
  return merged;
}

}  // namespace

const SorterInfo* sorter_of(const Program& program, int32_t address) {
  const auto first = program.instructions.begin() + address;
  const auto end = program.instructions.begin() + first->p3;
  const auto sink = std::find_if(first, end, [](const Instruction& at) { return at.opcode == Opcode::SortRow; });
  return sink == end ? nullptr : &program.sorters[static_cast<size_t>(sink->p1)];
}

bool has_text_key(const SorterInfo& sorter) {
  const auto is_text = [](const RegisterInfo& key) { return key.physical == PhysicalType::Text; };
  return std::any_of(sorter.columns.begin(), sorter.columns.begin() + static_cast<ptrdiff_t>(sorter.keys.size()),
                     is_text);
}

bool finds_first_rows(const SectionKernel& kernel, const SorterInfo& sorter) {
  return kernel.sort_texts.empty() && TopRows::can_find(kernel.sort_words, sorter.limit);
}

bool is_merged(const SorterInfo& sorter, Residency residency) {
  return (residency == Residency::Serial || residency == Residency::Streamed) && sorter.limit >= 0 &&
         sorter.limit <= most_merged_rows && !has_text_key(sorter);
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

std::shared_ptr<const TabletSource> merge_sorted(const SorterInfo& sorter, std::vector<SortedRun> runs) {
  std::vector<ColumnDefinition> columns;
  for (const RegisterInfo& column : sorter.columns) columns.push_back({"", column.type});
  auto source = std::make_shared<BlockSource>(std::move(columns));
  if (runs.size() == 1) {
    for (SectionRows& rows : runs.front().rows) source->add(rows.rows, std::move(rows.views), std::move(rows.owner));
  } else if (SectionRows rows = merge_runs(runs, sorter.limit, sorter.columns.size()); rows.rows > 0) {
    source->add(rows.rows, std::move(rows.views), std::move(rows.owner));
  }
  return source;
}

}  // namespace diptych::gpu
