#include "engine/gpu/rows/appended_rows.h"

#include <algorithm>

#include "engine/gpu/output/text_fetch.h"
#include "engine/gpu/when_done.h"

namespace diptych::gpu {
namespace {

// How a column is stored there.
ColumnView form_of(const OutputColumn& column, const std::vector<const Dictionary*>& dictionaries) {
  ColumnView form;
  form.encoding = Encoding::Plain;
  form.physical = column.physical;
  form.width = static_cast<uint8_t>(column.width());
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
  if (!batches_.empty()) rows->add(join(engine, queue, outputs));
  batches_.clear();
  return rows;
}

DevicePiece AppendedRows::join(GpuEngine& engine, Queue& queue, const std::vector<OutputColumn>& outputs) const {
  DevicePiece piece;
  for (const Batch& batch : batches_) piece.rows += batch.rows;
  piece.capacity = piece.rows;
  int64_t bytes = 0;
  const auto take = [&bytes](int64_t wanted) { return std::exchange(bytes, bytes + padded(wanted)); };
  // All bits together, which are cleared at once.
  for (const OutputColumn& column : outputs) {
    DevicePiece::Column& stored = piece.columns.emplace_back();
    stored.width = column.width();
    if (column.nullable) stored.validity = take((piece.rows + 31) / 32 * 4);
  }
  const int64_t bitmaps = bytes;
  for (DevicePiece::Column& stored : piece.columns) stored.values = take(piece.rows * stored.width);
  piece.buffer = engine.device().allocate(std::max<int64_t>(bytes, 8), "rows for a row set");
  const WhenDone when_done{queue};
  if (bitmaps > 0) queue.fill(piece.buffer.address(), 0, bitmaps);
  int64_t first = 0;
  for (const Batch& batch : batches_) {
    for (size_t i = 0; i < piece.columns.size(); ++i) {
      const DevicePiece::Column& stored = piece.columns[i];
      const DeviceAddress from = batch.buffer.address();
      queue.copy_on_device(piece.buffer.address() + stored.values + first * stored.width, from + batch.values[i],
                           batch.rows * stored.width);
      if (stored.validity < 0) continue;
      launch_text_kernel(engine.device(), queue, "device/null_bits.h", "dk_null_bits", batch.rows,
                         {(from + batch.nulls[i]).value, static_cast<uint64_t>(batch.rows),
                          (piece.buffer.address() + stored.validity).value, static_cast<uint64_t>(first)});
    }
    first += batch.rows;
  }
  return piece;
}

}  // namespace diptych::gpu
