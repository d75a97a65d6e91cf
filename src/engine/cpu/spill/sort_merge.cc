#include "engine/cpu/spill/sort_merge.h"

#include <algorithm>

#include "base/error.h"
#include "engine/cpu/sort_run.h"
#include "engine/cpu/spill/row_tablets.h"

namespace diptych::cpu {
namespace {

// Read buffers take at most this part of the memory limit and, since what is merged needs room as well, a quarter of
// what can be had; ...
constexpr int64_t merge_memory_part = 8;
constexpr size_t free_memory_part = 4;
// ... as few bytes each as reading them stays cheaper than merging them, and no more than that helps.
constexpr size_t least_buffer = size_t{32} << 10, most_buffer = size_t{1} << 20;
constexpr size_t most_pieces = 512;

struct FilePiece {
  std::shared_ptr<SortFile> file;
  SortPiece piece;
};

class Merge {
 public:
  Merge(const SortLayout& layout, int64_t limit, const ExecutionContext& context, const Memory& memory)
      : layout_(layout),
        limit_(limit < 0 ? INT64_MAX : limit),
        context_(context),
        memory_(memory),
        buffers_bytes_(memory.thread_share(merge_memory_part) * static_cast<size_t>(std::max(1, context.threads))) {
    while (buffers_bytes_ > 2 * least_buffer &&
           !memory.has_room(static_cast<int64_t>(free_memory_part * buffers_bytes_)))
      buffers_bytes_ /= 2;
  }

  void run(std::vector<FilePiece> pieces, HostRowSet& rows) {
    const size_t at_once = std::clamp<size_t>(buffers_bytes_ / least_buffer, 2, most_pieces);
    while (pieces.size() > at_once) pieces = merge_groups(pieces, at_once);
    RowTablets tablets(layout_, rows, memory_, buffers_bytes_ / 2);
    merge(pieces, [&](const uint64_t* row) { tablets.add(row); });
    tablets.finish();
  }

 private:
  struct Head {
    SortEntry entry;
    SortPieceReader* reader;
  };

  std::vector<FilePiece> merge_groups(const std::vector<FilePiece>& pieces, size_t at_once) {
    auto file = std::make_shared<SortFile>(memory_);
    for (size_t first = 0; first < pieces.size(); first += at_once) {
      const size_t count = std::min(at_once, pieces.size() - first);
      SortFile::Writer writer(*file, layout_);
      merge({pieces.data() + first, count}, [&](const uint64_t* row) { writer.add(row); });
      writer.finish();
    }
    std::vector<FilePiece> merged;
    for (const SortPiece& piece : file->pieces()) merged.push_back({file, piece});
    return merged;
  }

  // Hands the first rows of all pieces to take() in order.
  template <typename Take>
  void merge(std::span<const FilePiece> pieces, Take&& take) {
    const size_t buffer =
        std::clamp(buffers_bytes_ / std::max<size_t>(1, pieces.size()), least_buffer, most_buffer) / 64 * 64;
    std::vector<std::unique_ptr<SortPieceReader>> readers;
    std::vector<Head> heads;
    for (const FilePiece& piece : pieces) {
      readers.push_back(std::make_unique<SortPieceReader>(layout_, *piece.file, piece.piece, buffer, memory_));
      if (readers.back()->next()) heads.push_back(head_of(*readers.back()));
    }
    const SortEntryBefore before{&layout_, &context_};
    const auto later = [&](const Head& a, const Head& b) { return before(b.entry, a.entry); };
    std::make_heap(heads.begin(), heads.end(), later);
    for (int64_t rows = 0; !heads.empty() && rows < limit_; ++rows) {
      if (rows % block_rows == 0) check_cancelled(context_);
      Head& least = heads.front();
      take(least.entry.row);
      if (least.reader->next()) {
        least = head_of(*least.reader);
        sink_first(heads, later);
      } else {
        std::pop_heap(heads.begin(), heads.end(), later);
        heads.pop_back();
      }
    }
  }

  Head head_of(SortPieceReader& reader) const {
    const uint64_t* row = reader.row();
    return {{row[0], layout_.second_word(row), row}, &reader};
  }

  // Puts the first head, which has grown, where it belongs.
  template <typename Later>
  static void sink_first(std::vector<Head>& heads, const Later& later) {
    const Head sinking = heads.front();
    size_t at = 0;
    for (size_t child = 1; child < heads.size(); child = 2 * at + 1) {
      if (child + 1 < heads.size() && later(heads[child], heads[child + 1])) ++child;
      if (!later(sinking, heads[child])) break;
      heads[at] = heads[child];
      at = child;
    }
    heads[at] = sinking;
  }

  const SortLayout& layout_;
  const int64_t limit_;
  const ExecutionContext& context_;
  const Memory& memory_;
  size_t buffers_bytes_;
};

}  // namespace

void merge_runs(const SortLayout& layout, int64_t limit, std::vector<std::unique_ptr<SortRun>> runs, HostRowSet& rows,
                const ExecutionContext& context, const Memory& memory) {
  std::vector<FilePiece> pieces;
  for (auto& run : runs) {
    run->spill();
    if (run->has_spilled()) {
      const std::shared_ptr<SortFile> file = run->take_file();
      for (const SortPiece& piece : file->pieces()) pieces.push_back({file, piece});
    }
    run.reset();
  }
  Merge(layout, limit, context, memory).run(std::move(pieces), rows);
}

}  // namespace diptych::cpu
