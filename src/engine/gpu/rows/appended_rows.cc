#include "engine/gpu/rows/appended_rows.h"

#include <algorithm>

#include "engine/gpu/output/host_memory.h"
#include "engine/gpu/output/text_fetch.h"
#include "engine/gpu/when_done.h"

namespace diptych::gpu {
namespace {

// A batch that has more room than so many times what its rows take is copied, so that the rest is free again; but for
// small ones.
constexpr int64_t most_room = 2, small_batch_bytes = int64_t{1} << 20;

// Bytes of NULLs as bits, from the bit `first` on.
struct NullBits {
  DeviceAddress bytes;
  int64_t rows;
  DeviceAddress bits;
  int64_t first;
};

void launch_null_bits(GpuEngine& engine, Queue& queue, const NullBits& nulls) {
  launch_text_kernel(
      engine.device(), queue, "device/null_bits.h", "dk_null_bits", nulls.rows,
      {nulls.bytes.value, static_cast<uint64_t>(nulls.rows), nulls.bits.value, static_cast<uint64_t>(nulls.first)});
}

// Of a row in the buffer of a piece.
int64_t width_of(const OutputColumn& column) { return column.is_text_row() ? 0 : column.width(); }

// How a column is stored there.
ColumnView form_of(const OutputColumn& column, const std::vector<const Dictionary*>& dictionaries) {
  ColumnView form;
  form.encoding = Encoding::Plain;
  form.physical = column.physical;
  form.width = static_cast<uint8_t>(column.width());
  if (column.is_text_row()) form.encoding = Encoding::Heap;
  if (column.dictionary_column < 0) return form;
  form.encoding = Encoding::Dictionary;
  form.dictionary = dictionaries[static_cast<size_t>(column.dictionary_column)];
  return form;
}

}  // namespace

std::shared_ptr<const RowSet> AppendedRows::finish(GpuEngine& engine, Queue& queue,
                                                   const std::vector<OutputColumn>& outputs,
                                                   const std::vector<ColumnDefinition>& columns,
                                                   const std::vector<const Dictionary*>& dictionaries,
                                                   MemoryBudget* budget) {
  std::vector<ColumnView> forms;
  for (const OutputColumn& column : outputs) forms.push_back(form_of(column, dictionaries));
  auto rows = std::make_shared<DeviceRowSet>(engine, columns, std::move(forms), budget);
  std::erase_if(batches_, [](const Batch& batch) { return batch.rows == 0; });
  if (!batches_.empty())
    rows->add(is_piece(outputs) ? take_piece(engine, queue, outputs) : join(engine, queue, outputs));
  batches_.clear();
  return rows;
}

bool AppendedRows::is_piece(const std::vector<OutputColumn>& outputs) const {
  if (batches_.size() > 1) return false;
  int64_t row_bytes = 0;
  for (const OutputColumn& column : outputs) row_bytes += width_of(column);
  const Batch& batch = batches_.front();
  return batch.buffer.bytes() <= std::max(small_batch_bytes, most_room * row_bytes * batch.rows);
}

DevicePiece AppendedRows::take_piece(GpuEngine& engine, Queue& queue, const std::vector<OutputColumn>& outputs) {
  Batch& batch = batches_.front();
  DevicePiece piece;
  piece.rows = batch.rows;
  piece.buffer = std::move(batch.buffer);
  const DeviceAddress start = piece.buffer.address();
  const WhenDone when_done{queue};
  for (size_t i = 0; i < outputs.size(); ++i) {
    DevicePiece::Column& stored = piece.columns.emplace_back();
    stored.width = outputs[i].width();
    stored.values = batch.values[i];
    stored.is_string = outputs[i].is_text_row();
    if (stored.is_string) {
      stored.strings = std::move(batch.strings[i].strings);
      stored.heap = batch.strings[i].heap;
      stored.heap_bytes = batch.strings[i].heap_bytes;
    }
    if (!outputs[i].nullable) continue;
    stored.validity = batch.bits[i];
    queue.fill(start + stored.validity, 0, word_bits_bytes(piece.rows));
    launch_null_bits(engine, queue, {start + batch.nulls[i], piece.rows, start + stored.validity, 0});
  }
  return piece;
}

DevicePiece AppendedRows::join(GpuEngine& engine, Queue& queue, const std::vector<OutputColumn>& outputs) const {
  DevicePiece piece;
  for (const Batch& batch : batches_) piece.rows += batch.rows;
  int64_t bytes = 0;
  const auto take = [&bytes](int64_t wanted) { return std::exchange(bytes, bytes + padded(wanted)); };
  // All bits together, which are cleared at once.
  for (const OutputColumn& column : outputs) {
    DevicePiece::Column& stored = piece.columns.emplace_back();
    stored.width = column.width();
    stored.is_string = column.is_text_row();
    if (column.nullable) stored.validity = take(word_bits_bytes(piece.rows));
  }
  const int64_t bitmaps = bytes;
  for (DevicePiece::Column& stored : piece.columns)
    if (!stored.is_string) stored.values = take(piece.rows * stored.width);
  piece.buffer = engine.device().allocate(std::max<int64_t>(bytes, 8), "rows for a row set");
  const WhenDone when_done{queue};
  if (bitmaps > 0) queue.fill(piece.buffer.address(), 0, bitmaps);
  int64_t first = 0;
  for (const Batch& batch : batches_) {
    for (size_t i = 0; i < piece.columns.size(); ++i) {
      const DevicePiece::Column& stored = piece.columns[i];
      const DeviceAddress from = batch.buffer.address();
      if (!stored.is_string)
        queue.copy_on_device(piece.buffer.address() + stored.values + first * stored.width, from + batch.values[i],
                             batch.rows * stored.width);
      if (stored.validity < 0) continue;
      launch_null_bits(engine, queue,
                       {from + batch.nulls[i], batch.rows, piece.buffer.address() + stored.validity, first});
    }
    first += batch.rows;
  }
  for (size_t i = 0; i < piece.columns.size(); ++i)
    if (piece.columns[i].is_string) join_strings(engine, queue, i, piece.rows, piece.columns[i]);
  return piece;
}

// One behind the other: bytes as they are, offsets by as much more as there are bytes before.
void AppendedRows::join_strings(GpuEngine& engine, Queue& queue, size_t column, int64_t rows,
                                DevicePiece::Column& joined) const {
  for (const Batch& batch : batches_) joined.heap_bytes += batch.strings[column].heap_bytes;
  if (joined.heap_bytes > UINT32_MAX)
    throw NoHostMemory(SqlState::out_of_memory, "the strings of a column take more than 4 GB in one piece");
  joined.heap = padded((rows + 1) * 4);
  joined.strings = engine.device().allocate(joined.heap + std::max<int64_t>(joined.heap_bytes, 8), "strings of rows");
  const DeviceAddress offsets = joined.strings.address(), heap = offsets + joined.heap;
  int64_t first = 0, before = 0;
  for (const Batch& batch : batches_) {
    const CopiedStrings& from = batch.strings[column];
    if (from.heap_bytes > 0) queue.copy_on_device(heap + before, from.strings.address() + from.heap, from.heap_bytes);
    // With the end, which is the next batch's start.
    launch_text_kernel(engine.device(), queue, "device/text_offsets.h", "dk_text_offsets", batch.rows + 1,
                       {from.strings.address().value, static_cast<uint64_t>(batch.rows + 1),
                        (offsets + first * 4).value, static_cast<uint64_t>(before)});
    first += batch.rows;
    before += from.heap_bytes;
  }
}

}  // namespace diptych::gpu
