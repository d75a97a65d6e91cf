// Rows that meet those of an index, and the pairs that they make.
#include <algorithm>
#include <cstring>

#include "engine/cpu/frame.h"
#include "engine/cpu/join/row_index.h"
#include "engine/cpu/step.h"

namespace diptych::cpu {

// What the frame's rows have found, and the pairs that are put together.
struct Frame::Pairs {
  RowIndex::LookUp look_up;
  int64_t found[block_rows];  // see RowIndex::find()
  uint16_t rows[block_rows];
  int64_t matches[block_rows];
};

Frame::~Frame() = default;

void Frame::bring_column(const Step& step) {
  Slot& slot = slots_[static_cast<size_t>(step.out)];
  const bool is_lazy = section_.writers[static_cast<size_t>(step.out)] == 1;
  if (from_ != nullptr) {
    from_->bring_column(step);
    gather(*from_, step.out);
  } else if (!is_lazy) {
    load_column(step);
  } else {
    check_invariant(slot.column >= 0, "a block's column is tied to its register");
  }
}

void Frame::match(const Step& step) {
  const RowIndex& index = *indexes[static_cast<size_t>(step.instruction->p3)];
  if (!pairs_) pairs_ = std::make_unique<Pairs>();
  RowMask rows = sinking();
  if (index.is_unique()) {
    index.find(*this, step.a, rows, pairs_->look_up, reinterpret_cast<int64_t*>(write(step.out).storage));
    active_ = rows;
    any_active_ = active_.any();
    root_->pairs_out[static_cast<size_t>(step.number)] += active_.count();
    return;
  }
  index.find(*this, step.a, rows, pairs_->look_up, pairs_->found);
  active_ = rows;
  if (rows.any()) run_pairs(step, index, rows);
  active_.clear();
  any_active_ = false;
}

void Frame::run_pairs(const Step& step, const RowIndex& index, const RowMask& rows) {
  const MatchPoint& point = section_.matches[static_cast<size_t>(step.number)];
  Frame& pairs = frame_of_pairs(static_cast<size_t>(step.number));
  int64_t& all = root_->pairs_out[static_cast<size_t>(step.number)];
  int count = 0;
  for (int w = 0; w < words_; ++w) {
    for (uint64_t left = rows.words[w]; left != 0; left &= left - 1) {
      const int row = w * 64 + std::countr_zero(left);
      RowIndex::Range found = index.rows_of(pairs_->found[row]);
      while (found.count > 0) {
        const auto taken = static_cast<int>(std::min<int64_t>(found.count, block_rows - count));
        std::fill_n(pairs_->rows + count, taken, static_cast<uint16_t>(row));
        for (int i = 0; i < taken; ++i) pairs_->matches[count + i] = found.first + i;
        found = {found.first + taken, found.count - taken};
        count += taken;
        all += taken;
        if (count < block_rows) continue;
        if (!run_block(pairs, point, std::exchange(count, 0))) return;
      }
    }
  }
  if (count > 0) run_block(pairs, point, count);
}

// False: no more are wanted.
bool Frame::run_block(Frame& pairs, const MatchPoint& point, int count) {
  pairs.begin_pairs(*this, point, *pairs_, count);
  pairs.run_from(point.step);
  rows_out += std::exchange(pairs.rows_out, 0);
  return !root_->wants_more || root_->wants_more();
}

Frame& Frame::frame_of_pairs(size_t match) {
  std::vector<std::unique_ptr<Frame>>& frames = root_->frames_;
  frames.resize(section_.matches.size());
  if (!frames[match]) {
    frames[match] = std::make_unique<Frame>(program_, section_);
    Frame& made = *frames[match];
    made.root_ = root_;
    made.groups = root_->groups;
    made.sort_runs = root_->sort_runs;
    made.row_writers = root_->row_writers;
    made.result = root_->result;
    made.indexes = root_->indexes;
    // Columns are brought from the block.
    for (const int number : made.column_slots_) made.slots_[static_cast<size_t>(number)].column = -1;
    made.column_slots_.clear();
  }
  return *frames[match];
}

void Frame::begin_pairs(Frame& from, const MatchPoint& point, const Pairs& pairs, int count) {
  from_ = &from;
  from_rows_ = pairs.rows;
  order = from.order;
  rows_ = count;
  words_ = words_for(count);
  active_.fill(count);
  if (section_.tracks_validity) valid_ = active_;
  any_active_ = true;
  arena_.reset();
  for (const int number : point.live) gather(from, number);
  Slot& out = write(section_.steps[static_cast<size_t>(point.step) - 1].out);
  std::memcpy(out.storage, pairs.matches, static_cast<size_t>(count) * sizeof(int64_t));
}

namespace {

template <typename T>
void copy_rows(const Values& values, const uint16_t* rows, int count, std::byte* out) {
  auto* to = reinterpret_cast<T*>(out);
  for (int i = 0; i < count; ++i) to[i] = value_at<T>(values, rows[i]);
}

}  // namespace

// The register's values of the rows that the pairs have.
void Frame::gather(Frame& from, int number) {
  const Slot& source = from.read(number);
  Slot& slot = slots_[static_cast<size_t>(number)];
  switch (width_bytes(slot.physical)) {
    case 1: copy_rows<uint8_t>(source.values, from_rows_, rows_, slot.storage); break;
    case 4: copy_rows<uint32_t>(source.values, from_rows_, rows_, slot.storage); break;
    case 8: copy_rows<uint64_t>(source.values, from_rows_, rows_, slot.storage); break;
    default: copy_rows<dk_i128>(source.values, from_rows_, rows_, slot.storage); break;
  }
  slot.valid = nullptr;
  if (source.valid == nullptr) return;
  own_nulls(slot);
  for (int i = 0; i < rows_; ++i) {
    const int row = from_rows_[i];
    const uint64_t is_there = source.valid[row / 64] >> (row % 64) & 1;
    slot.valid_storage[i / 64] &= ~((is_there ^ 1) << (i % 64));
  }
}

}  // namespace diptych::cpu
