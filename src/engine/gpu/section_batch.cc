#include "engine/gpu/section_batch.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "engine/cpu/kernel_error.h"

namespace diptych::gpu {
namespace {

// Output columns are first given room for all rows up to this many bytes; past it for a part, and the kernel runs once
// more when that was too little.
constexpr int64_t most_unasked_output_bytes = int64_t{256} << 20, unasked_part_of_memory = 16;

// A tile has at most so many steps, and a group of the grid at least so many tiles to take.
constexpr int64_t most_steps = 16, tiles_per_group = 3;

// Result tablets are not longer than those of tables by default.
constexpr int64_t result_tablet_rows = 65536;

int64_t padded(int64_t bytes) { return (bytes + 255) / 256 * 256; }

// Bytes of 0 and 1 as bits; returns whether any is 0.
bool pack_bytes(const uint8_t* bytes, int64_t count, uint8_t* bits) {
  bool any_zero = false;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, bytes + i, 8);
    // Byte j, which is 0 or 1, arrives at bit 56 + j.
    bits[i / 8] = static_cast<uint8_t>((eight * 0x0102040810204080U) >> 56);
    any_zero |= eight != 0x0101010101010101U;
  }
  if (i == count) return any_zero;
  uint8_t last = 0;
  for (int64_t j = i; j < count; ++j) last = static_cast<uint8_t>(last | bytes[j] << (j - i));
  bits[i / 8] = last;
  return any_zero || last != (1U << (count - i)) - 1;
}

}  // namespace

SectionBatch::SectionBatch(GpuEngine& engine, const SectionTask& task, const std::vector<size_t>& columns,
                           Residency residency)
    : engine_(engine), task_(task), columns_(columns), residency_(residency), queue_(engine.take_queue()) {}

// Nothing may be freed that the device still works with.
SectionBatch::~SectionBatch() {
  try {
    if (started_) queue_->synchronize();
    engine_.give_back(std::move(queue_));
  } catch (const Error&) {
    // The failure was reported where it was met; the queue is dropped.
  }
}

bool SectionBatch::start(std::vector<SegmentRange> ranges, std::string& reason) {
  ranges_ = std::move(ranges);
  started_ = true;
  bring_columns();
  find_shape();
  kernel_ = generate_section(task_.program, task_.address, shape_);
  if (!kernel_.unsupported.empty()) {
    reason = kernel_.unsupported;
    return false;
  }
  compiled_ = engine_.device().compile(kernel_.text, kernel_.entry, &compile_report_);
  constants_.emplace(task_.program, kernel_, dictionaries_);
  constants_->upload(engine_.device(), *queue_);
  describe_tablets();
  int64_t row_bytes = 0;
  for (const OutputColumn& column : kernel_.outputs) row_bytes += column.width() + 1;
  int64_t capacity = rows_in_;
  if (task_.wanted >= 0) capacity = std::min(capacity, std::max<int64_t>(task_.wanted, 1));
  const int64_t most_bytes = std::max(most_unasked_output_bytes, engine_.device().info().memory_bytes / unasked_part_of_memory);
  if (capacity * row_bytes > most_bytes) capacity = std::max(capacity / 4, most_bytes / row_bytes);
  launch_with(capacity);
  return true;
}

void SectionBatch::bring_columns() {
  for (const SegmentRange& range : ranges_) {
    segments_.emplace_back();
    addresses_.emplace_back();
    for (size_t column : columns_) bring_column(range, column);
  }
}

void SectionBatch::bring_column(const SegmentRange& range, size_t column) {
  const TabletSource& source = *task_.source;
  std::shared_ptr<const ColumnSegment> segment;
  switch (residency_) {
    case Residency::Cached:
      segment = engine_.device_columns().get(source, range.first, range.count, column, *queue_);
      break;
    case Residency::Serial:
      segment = SegmentLoader(engine_.device(), *queue_).load(source, range.first, range.count, column, ColumnSegment::Place::Device);
      break;
    default: segment = engine_.pinned_columns().get(source, range.first, range.count, column, *queue_);
  }
  DeviceAddress address = segment->address();
  if (residency_ == Residency::Streamed && segment->bytes() > 0) {
    DeviceBuffer& copy = streamed_.emplace_back(engine_.device().allocate(segment->bytes(), "streamed columns"));
    queue_->copy_to_device(copy.address(), segment->host_data(), segment->bytes());
    address = copy.address();
  }
  segments_.back().push_back(std::move(segment));
  addresses_.back().push_back(address);
}

// What all needed tablets have in common.
void SectionBatch::find_shape() {
  dictionaries_.assign(columns_.size(), nullptr);
  for (size_t i = 0; i < columns_.size(); ++i) {
    ColumnShape shape;
    shape.column = columns_[i];
    shape.unit_factor = true;
    bool first = true;
    for (size_t range = 0; range < ranges_.size(); ++range) {
      const auto& tablets = segments_[range][i]->tablets();
      for (size_t t = 0; t < tablets.size(); ++t) {
        if (!ranges_[range].needed[t]) continue;
        const SegmentTablet& tablet = tablets[t];
        if (first) {
          shape.encoding = tablet.encoding;
          shape.physical = tablet.physical;
          shape.width = tablet.width;
          dictionaries_[i] = tablet.dictionary;
        }
        if (tablet.encoding != shape.encoding || tablet.physical != shape.physical || tablet.dictionary != dictionaries_[i])
          shape_.unsupported = "a column whose tablets are encoded in several ways";
        if (tablet.width != shape.width) shape.width = -1;
        shape.has_nulls |= tablet.validity >= 0;
        shape.unit_factor &= tablet.factor == 1;
        first = false;
      }
    }
    shape_.columns.push_back(shape);
  }
}

// Large tiles keep many loads on their way between two barriers; but every group of the grid should have several.
int64_t SectionBatch::choose_steps() {
  int64_t rows = 0;
  for (const SegmentRange& range : ranges_) {
    for (size_t t = 0; t < range.count; ++t) rows += range.needed[t] ? task_.source->rows_in(range.first + t) : 0;
  }
  const int per_unit = std::max(1, compiled_->groups_per_unit(group_size));
  grid_ = static_cast<int64_t>(engine_.device().info().compute_units) * per_unit;
  steps_ = std::clamp<int64_t>(rows / (grid_ * tiles_per_group * kernel_.step_rows()), 1, most_steps);
  return steps_;
}

void SectionBatch::describe_tablets() {
  const int64_t tile_rows = choose_steps() * kernel_.step_rows();
  int64_t usual = -1;
  bool differs = false;
  for (size_t range = 0; range < ranges_.size(); ++range) {
    int64_t before = ranges_[range].rows_before;
    for (size_t t = 0; t < ranges_[range].count; ++t) {
      const int64_t rows = task_.source->rows_in(ranges_[range].first + t), row = before;
      before += rows;
      if (!ranges_[range].needed[t] || rows == 0) continue;
      const int64_t tiles = (rows + tile_rows - 1) / tile_rows;
      // All but the last tablet have to agree; the last may have fewer.
      if (usual >= 0 && (differs || tiles_ != tablets_ * usual || tiles > usual)) differs = true;
      if (usual < 0) usual = tiles;
      descriptions_.insert(descriptions_.end(), {static_cast<uint64_t>(rows), static_cast<uint64_t>(tiles_), static_cast<uint64_t>(row), static_cast<uint64_t>(row)});
      for (size_t i = 0; i < columns_.size(); ++i) {
        const SegmentTablet& tablet = segments_[range][i]->tablets()[t];
        const uint64_t start = addresses_[range][i].value;
        const auto at = [&](int64_t offset) { return offset < 0 ? 0 : start + static_cast<uint64_t>(offset); };
        descriptions_.insert(descriptions_.end(), {at(tablet.data), at(tablet.validity), static_cast<uint64_t>(tablet.base),
                                                   static_cast<uint64_t>(tablet.factor), static_cast<uint64_t>(tablet.width), at(tablet.heap)});
      }
      ++tablets_;
      tiles_ += tiles;
      rows_in_ += rows;
    }
  }
  tiles_per_tablet_ = differs ? 0 : std::max<int64_t>(usual, 1);
}

void SectionBatch::launch_with(int64_t capacity) {
  Device& device = engine_.device();
  capacity_ = capacity;
  if (tablets_buffer_.bytes() == 0) {
    const auto bytes = static_cast<int64_t>(descriptions_.size() * sizeof(uint64_t));
    tablets_buffer_ = device.allocate(std::max<int64_t>(bytes, 8), "descriptions of tablets");
    if (bytes > 0) queue_->copy_to_device(tablets_buffer_.address(), descriptions_.data(), bytes);
    control_buffer_ = device.allocate(sizeof(ControlBlock), "control block of a kernel");
    groups_ = std::clamp<int64_t>(tiles_, 1, grid_);
  }
  queue_->fill(control_buffer_.address(), 0, sizeof(ControlBlock));
  if (kernel_.sink == SectionKernel::Sink::Result) {
    if (status_buffer_.bytes() == 0) status_buffer_ = device.allocate(std::max<int64_t>(tiles_, 1) * 8, "states of tiles");
    queue_->fill(status_buffer_.address(), 0, status_buffer_.bytes());
    allocate_outputs(capacity);
  } else {
    partials_buffer_ = device.allocate(std::max<int64_t>(8, groups_ * static_cast<int64_t>(kernel_.partial_words) * 8), "partial aggregates");
  }
  std::vector<uint64_t> words;
  for (const KernelParameter& parameter : kernel_.parameters) words.push_back(word(parameter));
  before_ = queue_->record();
  queue_->launch(*compiled_, groups_, group_size, words);
  after_ = queue_->record();
  ++launches_;
  queue_->copy_to_host(&control_, control_buffer_.address(), sizeof(ControlBlock));
}

void SectionBatch::allocate_outputs(int64_t capacity) {
  output_offsets_.clear();
  null_offsets_.clear();
  int64_t bytes = 0;
  for (const OutputColumn& column : kernel_.outputs) {
    output_offsets_.push_back(bytes);
    bytes += padded(capacity * column.width());
    null_offsets_.push_back(column.nullable ? bytes : -1);
    if (column.nullable) bytes += padded(capacity);
  }
  outputs_buffer_ = DeviceBuffer();
  outputs_buffer_ = engine_.device().allocate(std::max<int64_t>(bytes, 8), "result rows on the device");
}

uint64_t SectionBatch::word(const KernelParameter& parameter) const {
  using Kind = KernelParameter::Kind;
  const auto index = static_cast<size_t>(parameter.index);
  switch (parameter.kind) {
    case Kind::Tablets: return tablets_buffer_.address().value;
    case Kind::TabletCount: return static_cast<uint64_t>(tablets_);
    case Kind::TileCount: return static_cast<uint64_t>(tiles_);
    case Kind::TilesPerTablet: return static_cast<uint64_t>(tiles_per_tablet_);
    case Kind::StepsPerTile: return static_cast<uint64_t>(steps_);
    case Kind::Control: return control_buffer_.address().value;
    case Kind::TileStatus: return status_buffer_.address().value;
    case Kind::Capacity: return static_cast<uint64_t>(capacity_);
    case Kind::Output: return (outputs_buffer_.address() + output_offsets_[index]).value;
    case Kind::OutputNulls: return (outputs_buffer_.address() + null_offsets_[index]).value;
    case Kind::Partials: return partials_buffer_.address().value;
    default: return constants_->word(parameter);
  }
}

void SectionBatch::finish() {
  queue_->synchronize();
  kernel_nanoseconds_ += queue_->nanoseconds_between(*before_, *after_);
  raise_failure();
  if (kernel_.sink == SectionKernel::Sink::Result) {
    const auto rows = static_cast<int64_t>(control_.rows_out);
    if (rows > capacity_ && (task_.wanted < 0 || capacity_ < task_.wanted)) {
      launch_with(rows);
      queue_->synchronize();
      kernel_nanoseconds_ += queue_->nanoseconds_between(*before_, *after_);
    }
    return fetch_rows();
  }
  partials_.groups = static_cast<size_t>(groups_);
  partials_.words.resize(partials_.groups * kernel_.partial_words);
  if (partials_.words.empty()) return;
  queue_->copy_to_host(partials_.words.data(), partials_buffer_.address(), static_cast<int64_t>(partials_.words.size() * 8));
  queue_->synchronize();
}

void SectionBatch::raise_failure() const {
  if (control_.failure == 0) return;
  const auto address = static_cast<size_t>((control_.failure >> 32) - 1);
  cpu::raise_kernel_error(static_cast<int32_t>(control_.failure & 0xFFFFFFFF), task_.program.instructions[address].position);
}

// The columns come over in one piece of pinned memory, which the result's views then point to.
void SectionBatch::fetch_rows() {
  const int64_t rows = std::min(static_cast<int64_t>(control_.rows_out), capacity_);
  if (rows == 0) return;
  std::vector<int64_t> places, null_places;
  int64_t bytes = 0;
  for (const OutputColumn& column : kernel_.outputs) {
    places.push_back(bytes);
    bytes += padded(rows * column.width());
    null_places.push_back(column.nullable ? bytes : -1);
    // NULL bytes, then the bits made of them.
    if (column.nullable) bytes += padded(rows) + padded(rows / 8 + 1);
  }
  auto memory = std::make_shared<PinnedBuffer>(engine_.device().allocate_pinned(bytes, "result rows"));
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    queue_->copy_to_host(memory->data() + places[i], outputs_buffer_.address() + output_offsets_[i], rows * kernel_.outputs[i].width());
    if (null_places[i] >= 0)
      queue_->copy_to_host(memory->data() + null_places[i], outputs_buffer_.address() + null_offsets_[i], rows);
  }
  queue_->synchronize();
  std::vector<const uint8_t*> bits(kernel_.outputs.size(), nullptr);
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    if (null_places[i] < 0) continue;
    const auto* there = reinterpret_cast<const uint8_t*>(memory->data() + null_places[i]);
    auto* packed = reinterpret_cast<uint8_t*>(memory->data() + null_places[i] + padded(rows));
    if (pack_bytes(there, rows, packed)) bits[i] = packed;
  }
  for (int64_t first = 0; first < rows; first += result_tablet_rows) {
    SectionRows piece;
    piece.rows = std::min(result_tablet_rows, rows - first);
    piece.owner = memory;
    for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
      const OutputColumn& column = kernel_.outputs[i];
      ColumnView& view = piece.views.emplace_back();
      view.physical = column.physical;
      view.encoding = column.dictionary_column >= 0 ? Encoding::Dictionary : Encoding::Plain;
      view.width = static_cast<uint8_t>(column.width());
      if (column.dictionary_column >= 0) view.dictionary = dictionaries_[static_cast<size_t>(column.dictionary_column)];
      view.data = memory->data() + places[i] + first * column.width();
      if (bits[i] != nullptr) view.validity = bits[i] + first / 8;
    }
    rows_.push_back(std::move(piece));
  }
}

}  // namespace diptych::gpu
