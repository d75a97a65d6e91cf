#include "engine/gpu/batch_sizes.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "engine/gpu/sort/sort_sink.h"
#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

// Of little memory, for a serial batch's columns and rows: the rest is for what its sink makes.
constexpr int64_t part_of_memory = 6;

// With a LIMIT a few tablets may do.
constexpr int64_t first_limited_rows = 65536, limited_growth = 4;

// Of results whose columns stay where they are. A kernel takes a tenth of the time that its rows take on the bus, so
// that a batch that much larger than the one before is done when that one's rows have been copied; and large ones keep
// the device busier, at both ends of a kernel it is not.
constexpr int64_t first_output_bytes = int64_t{512} << 20, cached_growth = 8;
// Where it is known that more comes out: the bus has the rows of a first part, an eighth to a quarter, to do while all
// the rest is found.
constexpr int64_t undivided_known_bytes = int64_t{64} << 20, known_parts = 4;
constexpr int64_t output_part_of_memory = 16;
// Where kernels write to the host, rows of one batch are handed on while the next is read.
constexpr int64_t next_mapped_bytes = int64_t{256} << 20;
// Of pinned memory for all rows of the first batch, most of which is given back.
constexpr int64_t first_mapped_bytes = int64_t{32} << 20;

// Output columns of a batch that can't be divided: room for all rows up to this many bytes; past it for a part, and the
// kernel runs once more when that was too little.
constexpr int64_t most_unasked_bytes = int64_t{256} << 20;

// Room for more rows than came out of those before.
constexpr double more_room = 1.25;
constexpr int64_t least_room = 4096;

// For rows on their way to groups, of all batches under way: as much is left for what they have found.
constexpr int64_t group_part_of_memory = 4;
// Of states of groups that wait on the device (PartitionedGroups).
constexpr int64_t kept_part_of_memory = 8;
// Their places in partitions are numbers of 32 bits.
constexpr int64_t most_grouped_rows = int64_t{1} << 31;

constexpr int64_t no_bound = std::numeric_limits<int64_t>::max();

int64_t rows_of(double bytes, double row_bytes) {
  return row_bytes * static_cast<double>(no_bound / 2) > bytes ? static_cast<int64_t>(bytes / row_bytes) : no_bound;
}

}  // namespace

BatchSizes::BatchSizes(const Section& section)
    : section_(section), limited_rows_(section.wanted < 0 ? no_bound : first_limited_rows) {
  // They may all come out of one batch, which would have to have room for them.
  const double rows_out = section.known_share.value_or(0) * static_cast<double>(section.rows) * more_room;
  const auto most_bytes = static_cast<double>(section.memory_bytes / output_part_of_memory);
  if (rows_out * static_cast<double>(section.output_row_bytes) > most_bytes) section_.known_share.reset();
}

int64_t BatchSizes::next_rows() {
  if (section_.needs_all) return no_bound;
  const bool is_first = !std::exchange(has_begun_, true);
  const int64_t limited = limited_rows_;
  if (limited_rows_ < no_bound / limited_growth) limited_rows_ *= limited_growth;
  const double output_row_bytes = share() * static_cast<double>(section_.output_row_bytes);
  const int64_t memory = section_.memory_bytes;
  if (section_.residency == Residency::Streamed) {
    const auto bytes = static_cast<double>(std::min(streamed_bytes, memory / 2));
    const double row_bytes = columns_at_once * section_.input_row_bytes + batches_at_once * output_row_bytes;
    return std::clamp<int64_t>(std::min(rows_of(bytes, row_bytes), rows_to_group(batches_at_once)), 1, limited);
  }
  if (section_.residency == Residency::Serial) {
    const auto bytes = static_cast<double>(std::min(most_batch_bytes, memory / part_of_memory));
    const int64_t rows = rows_of(bytes, section_.input_row_bytes + output_row_bytes);
    return std::clamp<int64_t>(std::min(rows, rows_to_group(1)), 1, limited);
  }
  if (section_.group_row_bytes > 0)
    return std::clamp<int64_t>(section_.has_company ? rows_to_group(1) : most_grouped_rows, 1, limited);
  if (section_.wanted >= 0 || section_.output_row_bytes == 0) return limited;
  const auto bytes = static_cast<double>(std::min(most_output_bytes(is_first), memory / output_part_of_memory));
  int64_t rows = std::max<int64_t>(rows_of(bytes, output_row_bytes), 1);
  if (section_.residency == Residency::Cached && !section_.known_share && rows_in_ > 0)
    rows = std::min(rows, cached_growth * rows_in_);
  const bool is_large = output_row_bytes * static_cast<double>(section_.rows) > undivided_known_bytes;
  if (section_.residency == Residency::Cached && section_.known_share && is_first && is_large)
    rows = std::min(rows, section_.rows / known_parts);
  // Few different sizes: what is described of a part is found again by statements like this one.
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(rows)));
}

int64_t BatchSizes::rows_to_group(int64_t batches) const {
  if (section_.group_row_bytes == 0) return no_bound;
  return std::min(most_grouped_rows,
                  section_.memory_bytes / group_part_of_memory / (batches * section_.group_row_bytes));
}

int64_t BatchSizes::most_bytes() const {
  // Control blocks, literals; descriptions of tablets, states of tiles, places of partitions.
  constexpr double fixed_bytes = 16384, bytes_beside_row = 1.0 / 16;
  // Buffers of different sizes leave some.
  constexpr double beside_gaps = 1.125;
  constexpr double row_in_order_bytes = 16;
  const bool moves = section_.residency == Residency::Streamed || section_.residency == Residency::Serial;
  const bool overlaps = section_.residency == Residency::Streamed || (!moves && section_.wanted < 0);
  Section unlimited = section_;
  unlimited.wanted = -1;
  const int64_t all = std::max<int64_t>(section_.rows, 1);
  const int64_t rows = std::clamp(BatchSizes(unlimited).next_rows(), std::min(section_.tablet_rows, all), all);
  const int64_t batches = std::min(overlaps ? batches_at_once : 1, (all + rows - 1) / rows);
  const auto count = static_cast<double>(rows);
  const double input = count * section_.input_row_bytes;
  double output = static_cast<double>(room_for(rows)) * static_cast<double>(section_.output_row_bytes);
  // Of columns that stay the first batch is the smallest.
  if (!moves && rows < all && section_.output_row_bytes > 0)
    output = std::max(output, static_cast<double>(section_.memory_bytes / output_part_of_memory));
  double groups = 0, kept = 0;
  if (section_.group_row_bytes > 0) {
    constexpr int64_t text_row_bytes = 16 + 8;
    const auto strings = static_cast<double>(section_.group_room.string_bytes);
    groups =
        count * (static_cast<double>(section_.group_room.row_bytes) + (strings > 0 ? strings + text_row_bytes : 0));
    if (rows < all) kept = static_cast<double>(section_.memory_bytes / kept_part_of_memory);
    kept += strings * static_cast<double>(all);
  }
  const double sorting =
      section_.sorted_row_bytes > 0 ? count * (static_cast<double>(section_.sorted_row_bytes) + row_in_order_bytes) : 0;
  const double batch = output + groups + sorting + count * bytes_beside_row +
                       static_cast<double>(section_.group_room.numbered_bytes) + fixed_bytes;
  const double inputs = moves ? static_cast<double>(std::min(batches, columns_at_once)) * input : 0;
  return static_cast<int64_t>((inputs + kept + static_cast<double>(batches) * batch) * beside_gaps);
}

int64_t BatchSizes::most_output_bytes(bool is_first) const {
  if (section_.residency == Residency::Cached) return is_first ? first_output_bytes : section_.memory_bytes;
  if (!section_.writes_to_host) return most_batch_bytes;
  return is_first && !section_.known_share ? first_mapped_bytes : next_mapped_bytes;
}

void BatchSizes::note(int64_t rows_in, int64_t rows_out) {
  rows_in_ += rows_in;
  rows_out_ += rows_out;
}

// Of the rows, how many come out: all, as long as nothing is known.
double BatchSizes::share() const {
  if (rows_in_ == 0) return section_.known_share ? *section_.known_share * more_room : 1;
  const double measured = static_cast<double>(rows_out_) / static_cast<double>(rows_in_);
  return std::max(measured, section_.known_share.value_or(0)) * more_room;
}

int64_t BatchSizes::room_for(int64_t rows) const {
  if (section_.wanted >= 0) return std::min(rows, std::max<int64_t>(section_.wanted, 1));
  if (rows_in_ > 0 || section_.known_share)
    return std::min(rows, static_cast<int64_t>(static_cast<double>(rows) * share()) + least_room);
  const int64_t row_bytes = std::max<int64_t>(section_.output_row_bytes, 1);
  const int64_t most_bytes = std::max(most_unasked_bytes, section_.memory_bytes / output_part_of_memory);
  return rows <= most_bytes / row_bytes ? rows : std::max(rows / 4, most_bytes / row_bytes);
}

int64_t output_row_bytes(const Program& program, int32_t address) {
  const auto row_bytes = [](const auto& columns) {
    int64_t bytes = 0;
    for (const auto& column : columns) bytes += width_bytes(column.type.physical()) + 1;
    return bytes;
  };
  // Keys are at most words of what they are made of.
  if (const RowSetInfo* sorted = sorted_set_of(program, address))
    return 2 * row_bytes(sorted->columns) + 8 * static_cast<int64_t>(sorted->keys.size());
  for (const Instruction& at : opcodes_of(program, address)) {
    if (at.opcode == Opcode::Result) return row_bytes(program.result_columns);
    // As the kernel writes them, and as they stay.
    if (at.opcode == Opcode::Append) return 2 * row_bytes(program.row_sets[static_cast<size_t>(at.p1)].columns);
  }
  return 0;
}

}  // namespace diptych::gpu
