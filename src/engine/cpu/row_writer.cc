#include "engine/cpu/row_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "engine/cpu/row_function.h"
#include "engine/cpu/step.h"

namespace diptych::cpu {
namespace {

constexpr int64_t most_batch_rows = 65536;
// Strings of a tablet stay far below the 4 GiB that their offsets can address.
constexpr size_t most_heap_bytes = size_t{1} << 30;
// Of the memory limit, all threads' batches in the making take at most this part; growing strings, twice that for a
// moment.
constexpr int64_t batch_memory_part = 16;

// Pairs of rows have copies of columns, which are strings.
const Dictionary* dictionary_of(const Section& section, int number, const TabletSource& source) {
  if (section.writers[static_cast<size_t>(number)] != 1 || !section.matches.empty()) return nullptr;
  for (const Step& step : section.steps) {
    if (step.out == number && step.instruction->opcode == Opcode::Column)
      return source.common_dictionary(section.columns[static_cast<size_t>(step.number)]);
  }
  return nullptr;
}

size_t length_of(const Slot& slot, int row) {
  const bool valid = slot.valid == nullptr || (slot.valid[row / 64] >> (row % 64) & 1) != 0;
  return valid ? static_cast<size_t>(value_at<dk_text>(slot.values, row).length) : 0;
}

int log2_of(size_t width) { return std::countr_zero(width); }

Whole whole_form(PhysicalType physical) {
  return physical == PhysicalType::Int32 ? Whole::I32 : physical == PhysicalType::Int64 ? Whole::I64 : Whole::I128;
}

}  // namespace

RowWriter::RowWriter(const Program& program, const Section& section, int first_register,
                     std::span<const PhysicalType> forms, const TabletSource& source, std::shared_ptr<ChunkStore> store)
    : store_(std::move(store)),
      most_bytes_(std::min(most_heap_bytes, store_->memory().thread_share(batch_memory_part))),
      scratch_(std::make_unique_for_overwrite<std::byte[]>(block_rows * 16)) {
  columns_.resize(forms.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    column.register_number = first_register + static_cast<int>(i);
    const RegisterInfo& from = program.registers[static_cast<size_t>(column.register_number)];
    const PhysicalType own = forms[i];
    column.physical =
        is_whole(from.physical) && is_whole(own) && width_bytes(own) > width_bytes(from.physical) ? own : from.physical;
    if (column.physical == PhysicalType::Text)
      column.dictionary = dictionary_of(section, column.register_number, source);
    column.width = column.physical == PhysicalType::Text ? 4 : static_cast<size_t>(width_bytes(column.physical));
  }
  capacity_ = choose_capacity(source.row_count());
}

int64_t RowWriter::choose_capacity(int64_t source_rows) const {
  size_t row_bytes = 1;
  for (const Column& column : columns_) row_bytes += column.width;
  const auto affordable = static_cast<int64_t>(most_bytes_ / row_bytes / 64 * 64);
  return std::clamp<int64_t>(std::min((source_rows + 63) / 64 * 64, affordable), block_rows, most_batch_rows);
}

void RowWriter::finish() {
  buffer_rows_ = first_ = next_ = 0;
  if (chunks_.empty()) return;
  store_->close_batch(batch_, std::move(chunks_), true);
  chunks_.clear();
  heap_bytes_ = 0;
}

void RowWriter::open_buffer() {
  finish();
  size_t bytes = 0;
  const auto rows = static_cast<size_t>(capacity_);
  const auto area = [&](size_t wanted) {
    const size_t at = bytes;
    // 64 more, since loops write whole vectors.
    bytes += (wanted + 127) / 64 * 64;
    return at;
  };
  std::vector<std::pair<size_t, size_t>> places;
  for (const Column& column : columns_) {
    const size_t data = area((rows + 1) * column.width);
    places.emplace_back(data, area(rows / 8));
  }
  Chunk chunk = store_->memory().allocate(bytes, "result");
  batch_ = store_->open_batch();
  for (size_t i = 0; i < columns_.size(); ++i) {
    columns_[i].data = chunk.data() + places[i].first;
    columns_[i].validity = reinterpret_cast<uint64_t*>(chunk.data() + places[i].second);
  }
  chunks_.push_back(std::move(chunk));
  buffer_rows_ = capacity_;
}

int64_t RowWriter::write(Frame& frame) {
  const RowMask rows = frame.sinking();
  const int count = rows.count();
  if (count > 0) write_rows(frame, rows, count);
  return count;
}

// Strings of one block may be more than a tablet can have: then half of the rows go first.
void RowWriter::write_rows(Frame& frame, const RowMask& rows, int count) {
  size_t heap_bytes = heap_bytes_, coming = 0;
  for (Column& column : columns_) {
    if (is_text_heap(column)) measure_texts(frame, rows, column);
    heap_bytes += column.heap_bytes;
    coming = std::max(coming, column.coming_bytes);
  }
  if (coming > most_bytes_ && count > 1) {
    RowMask first;
    first.clear();
    int left = count / 2;
    for_each_row(rows.words, frame.words(), [&](int row) {
      if (left-- > 0) first.words[row / 64] |= uint64_t{1} << (row % 64);
    });
    RowMask second = rows;
    second.remove(first);
    write_rows(frame, first, count / 2);
    write_rows(frame, second, count - count / 2);
    return;
  }
  if (next_ + count > buffer_rows_ || heap_bytes > most_bytes_) {
    seal();
    if (next_ + count > buffer_rows_ || heap_bytes > most_bytes_) open_buffer();
  }
  for (Column& column : columns_) {
    put_nulls(frame, rows, count, column);
    if (is_text_heap(column))
      put_texts(frame, rows, column);
    else
      put_values(frame, rows, column);
  }
  next_ += count;
  morsel_rows_ += count;
}

void RowWriter::put_values(Frame& frame, const RowMask& rows, Column& column) {
  std::byte* to = column.data + static_cast<size_t>(next_) * column.width;
  Slot& encoded = frame.slot(column.register_number);
  if (encoded.column >= 0 && (encoded.decoded == 0 || column.dictionary != nullptr)) {
    const ColumnState& state = frame.column(encoded.column);
    const bool codes = column.dictionary != nullptr || encoded.codes_wanted;
    if (codes || (state.view.encoding == Encoding::FrameOfReference && is_whole(column.physical))) {
      const Whole form = column.dictionary != nullptr ? Whole::I32 : whole_form(column.physical);
      loops().compress_codes[code_index(state.view.width)][static_cast<size_t>(form)](
          rows.words, frame.words(), state.codes, {state.view.base, state.view.factor}, to);
      return;
    }
  }
  const Slot& slot = frame.read(column.register_number);
  Values values = slot.values;
  const LoopTable& table = loops();
  if (slot.physical != column.physical) {
    const UnaryLoop widen = slot.physical == PhysicalType::Int64     ? table.widen_i64_i128
                            : column.physical == PhysicalType::Int64 ? table.widen_i32_i64
                                                                     : table.widen_i32_i128;
    widen(rows.words, frame.words(), values, scratch_.get());
    values = {scratch_.get(), 64 * column.width};
  }
  if (values.word_bytes == 0) {
    const int count = rows.count();
    for (int i = 0; i < count; ++i) std::memcpy(to + static_cast<size_t>(i) * column.width, values.data, column.width);
    return;
  }
  table.compress_plain[log2_of(column.width)](rows.words, frame.words(), values.data, {}, to);
}

void RowWriter::grow_heap(Column& column, size_t bytes) {
  Chunk grown =
      store_->memory().allocate(std::max<size_t>(bytes, std::max<size_t>(4096, 2 * column.heap.size())), "result");
  if (column.heap_bytes > 0) std::memcpy(grown.data(), column.heap.data(), column.heap_bytes);
  column.heap = std::move(grown);
}

void RowWriter::measure_texts(Frame& frame, const RowMask& rows, Column& column) {
  const Slot& slot = frame.read(column.register_number);
  column.coming_bytes = 0;
  for_each_row(rows.words, frame.words(), [&](int row) { column.coming_bytes += length_of(slot, row); });
}

void RowWriter::put_texts(Frame& frame, const RowMask& rows, Column& column) {
  const Slot& slot = frame.read(column.register_number);
  auto* offsets = reinterpret_cast<uint32_t*>(column.data) + next_;
  const size_t needed = column.heap_bytes + column.coming_bytes;
  if (needed > column.heap.size()) grow_heap(column, needed);
  *offsets = static_cast<uint32_t>(column.heap_bytes);
  for_each_row(rows.words, frame.words(), [&](int row) {
    const size_t length = length_of(slot, row);
    if (length > 0)
      std::memcpy(column.heap.data() + column.heap_bytes, value_at<dk_text>(slot.values, row).data, length);
    column.heap_bytes += length;
    *++offsets = static_cast<uint32_t>(column.heap_bytes);
  });
}

void RowWriter::put_nulls(Frame& frame, const RowMask& rows, int count, Column& column) {
  const uint64_t* valid = frame.slot(column.register_number).valid;
  bool any = false;
  if (valid != nullptr) {
    for (int w = 0; w < frame.words(); ++w) any |= (rows.words[w] & ~valid[w]) != 0;
  }
  const auto set = [&](int64_t row, bool value) {
    const uint64_t bit = uint64_t{1} << (row % 64);
    column.validity[row / 64] = (column.validity[row / 64] & ~bit) | (value ? bit : 0);
  };
  if (!column.has_nulls) {
    if (!any) return;
    // The first NULL of the tablet: all rows before have a value.
    column.has_nulls = true;
    for (int64_t row = first_; row < next_; ++row) set(row, true);
  }
  if (!any) {
    for (int64_t row = next_; row < next_ + count; ++row) set(row, true);
    return;
  }
  int64_t to = next_;
  for_each_row(rows.words, frame.words(), [&](int row) { set(to++, (valid[row / 64] >> (row % 64) & 1) != 0); });
}

void RowWriter::seal() {
  if (next_ == first_) return;
  StoredPiece piece;
  piece.rows = next_ - first_;
  piece.store = store_;
  piece.batch = batch_;
  for (Column& column : columns_) {
    ColumnView view;
    view.physical = column.physical;
    if (column.has_nulls) view.validity = reinterpret_cast<const uint8_t*>(column.validity) + first_ / 8;
    const std::byte* data = column.data + static_cast<size_t>(first_) * column.width;
    if (is_text_heap(column)) {
      view.encoding = Encoding::Heap;
      view.offsets = reinterpret_cast<const uint32_t*>(data);
      view.heap = reinterpret_cast<const char*>(column.heap.data());
      piece.heap_bytes.push_back(column.heap_bytes);
      heap_bytes_ += column.heap_bytes;
      chunks_.push_back(std::move(column.heap));
      column.heap = Chunk();
      column.heap_bytes = 0;
    } else {
      view.encoding = column.dictionary != nullptr ? Encoding::Dictionary : Encoding::Plain;
      view.width = column.dictionary != nullptr ? 4 : 0;
      view.dictionary = column.dictionary;
      view.data = data;
      piece.heap_bytes.push_back(0);
    }
    column.has_nulls = false;
    piece.views.push_back(view);
  }
  sealed_.push_back(std::move(piece));
  // One slot further than needed: string offsets have an entry more than there are rows.
  first_ = next_ = std::min((next_ + 64) / 64 * 64, buffer_rows_);
}

void RowWriter::take_back_morsel() {
  for (Column& column : columns_) {
    column.heap = Chunk();
    column.heap_bytes = 0;
    column.has_nulls = false;
  }
  sealed_.clear();
  morsel_rows_ = 0;
  finish();
}

void RowWriter::finish_morsel(size_t morsel) {
  seal();
  for (StoredPiece& piece : sealed_) pieces_.push_back({morsel, std::move(piece)});
  sealed_.clear();
  morsel_rows_ = 0;
}

}  // namespace diptych::cpu
