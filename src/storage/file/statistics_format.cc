#include "storage/file/statistics_format.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace diptych {
namespace {

// Registers by number are fewer bytes than all, up to so many.
constexpr size_t most_single_registers = HyperLogLog::register_count / 4;

// How the numbers of a sampled column are written.
enum class NumberForm : uint8_t { Whole, Double };
constexpr double whole_end = 0x1p62;

void write_sketch(BlobWriter& writer, const HyperLogLog& sketch) {
  const HyperLogLog::Registers& registers = sketch.registers();
  const size_t used = registers.size() - static_cast<size_t>(std::count(registers.begin(), registers.end(), 0));
  writer.varint(used);
  size_t next = 0;
  for (size_t i = 0; i < registers.size(); ++i) {
    if (used > most_single_registers) {
      writer.byte(registers[i]);
    } else if (registers[i] != 0) {
      writer.varint(i - next);
      writer.byte(registers[i]);
      next = i + 1;
    }
  }
}

HyperLogLog read_sketch(BlobReader& reader) {
  HyperLogLog::Registers registers{};
  const uint64_t used = reader.varint();
  if (used > registers.size()) reader.fail("impossible count of registers");
  if (used > most_single_registers) {
    for (uint8_t& rank : registers) rank = reader.byte_up_to(HyperLogLog::greatest_rank);
    return HyperLogLog(registers);
  }
  size_t next = 0;
  for (uint64_t left = used; left > 0; --left) {
    const uint64_t skipped = reader.varint();
    if (skipped >= registers.size() - next) reader.fail("impossible register");
    next += static_cast<size_t>(skipped) + 1;
    registers[next - 1] = reader.byte_up_to(HyperLogLog::greatest_rank);
  }
  return HyperLogLog(registers);
}

bool is_whole(double number) { return number == std::trunc(number) && std::abs(number) < whole_end; }

void write_numbers(BlobWriter& writer, const std::vector<double>& numbers) {
  const bool are_whole = std::all_of(numbers.begin(), numbers.end(), is_whole);
  writer.byte(static_cast<uint8_t>(are_whole ? NumberForm::Whole : NumberForm::Double));
  for (const double number : numbers)
    are_whole ? writer.signed_varint(static_cast<int64_t>(number)) : writer.fixed(std::bit_cast<uint64_t>(number));
}

std::vector<double> read_numbers(BlobReader& reader, size_t rows) {
  std::vector<double> numbers(rows);
  const bool are_whole = reader.byte_up_to(static_cast<uint8_t>(NumberForm::Double)) == 0;
  for (double& number : numbers) {
    number = are_whole ? static_cast<double>(reader.signed_varint()) : std::bit_cast<double>(reader.fixed());
    if (std::isnan(number)) reader.fail("a sampled number that has no order");
  }
  return numbers;
}

void write_column(BlobWriter& writer, const SampledColumn& column) {
  for (size_t row = 0; row < column.is_null.size(); row += 8) {
    uint8_t bits = 0;
    for (size_t i = row; i < std::min(row + 8, column.is_null.size()); ++i)
      bits |= static_cast<uint8_t>(column.is_null[i] << (i - row));
    writer.byte(bits);
  }
  if (column.texts.empty()) return write_numbers(writer, column.numbers);
  for (const std::string& text : column.texts) writer.text(text);
}

SampledColumn read_column(BlobReader& reader, size_t rows, bool is_text) {
  SampledColumn column;
  for (size_t row = 0; row < rows; row += 8) {
    const uint8_t bits = reader.byte();
    for (size_t i = row; i < std::min(row + 8, rows); ++i) column.is_null.push_back(bits >> (i - row) & 1);
  }
  if (!is_text) {
    column.numbers = read_numbers(reader, rows);
    return column;
  }
  for (size_t row = 0; row < rows; ++row) {
    column.texts.push_back(reader.text());
    if (column.texts.back().size() > SampledColumn::most_text_bytes) reader.fail("a sampled string is too long");
  }
  return column;
}

RowSample read_sample(BlobReader& reader, const TableDefinition& table) {
  const uint64_t rows = reader.varint();
  if (rows > RowSample::most_rows) reader.fail("impossible count of sampled rows");
  std::vector<uint64_t> priorities;
  for (uint64_t row = 0; row < rows; ++row) {
    priorities.push_back(reader.fixed());
    if (row > 0 && priorities[row] <= priorities[row - 1]) reader.fail("sampled rows are in no order");
  }
  if (rows == 0) return RowSample(table.columns.size());
  std::vector<SampledColumn> columns;
  for (const TableColumn& column : table.columns)
    columns.push_back(read_column(reader, static_cast<size_t>(rows), column.type.physical() == PhysicalType::Text));
  return {std::move(priorities), std::move(columns)};
}

}  // namespace

void write_statistics(BlobWriter& writer, const TableStatistics& statistics) {
  for (const DistinctSketch& sketch : statistics.sketches()) {
    write_sketch(writer, sketch.of_rows());
    write_sketch(writer, sketch.of_values());
  }
  const RowSample& sample = statistics.sample();
  writer.varint(sample.rows());
  for (const uint64_t priority : sample.priorities()) writer.fixed(priority);
  if (sample.rows() == 0) return;
  for (const SampledColumn& column : sample.columns()) write_column(writer, column);
}

std::shared_ptr<const TableStatistics> read_statistics(BlobReader& reader, const TableDefinition& table) {
  std::vector<DistinctSketch> sketches;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const HyperLogLog of_rows = read_sketch(reader);
    sketches.emplace_back(of_rows, read_sketch(reader));
  }
  RowSample sample = read_sample(reader, table);
  reader.finish();
  return std::make_shared<TableStatistics>(std::move(sketches), std::move(sample));
}

}  // namespace diptych
