// A Parquet file whose statistics are false, or whose footer is damaged, which no checksum tells. For the fuzzer
// (fuzz/statistics.cc) and for tests.
#pragma once

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>
#include <parquet/statistics.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "session/damaged_file.h"

namespace diptych::testing {

inline constexpr const char* statistics_path = "x.parquet";

inline constexpr const char* statistics_questions[] = {
    "SELECT * FROM 'x.parquet'",
    "SELECT count(*) FROM 'x.parquet'",
    "SELECT count(k), count(g), count(n) FROM 'x.parquet'",
    "SELECT count(*) FROM 'x.parquet' WHERE k IS NULL",
    "SELECT g, count(*), sum(l), count(k) FROM 'x.parquet' GROUP BY g ORDER BY g",
    "SELECT g, s, k, count(*) FROM 'x.parquet' GROUP BY g, s, k ORDER BY g, s, k",
    "SELECT day, u, count(*) FROM 'x.parquet' GROUP BY day, u ORDER BY day, u",
    "SELECT sum(g * u), sum(n * n), sum(w), min(ts), max(day), sum(l - g) FROM 'x.parquet'",
    "SELECT count(*), sum(g) FROM 'x.parquet' WHERE l > 120",
    "SELECT count(*), sum(l) FROM 'x.parquet' WHERE g = 3",
    "SELECT l, day FROM 'x.parquet' WHERE day < date '2020-03-01' AND n >= 2.5",
    "SELECT count(*) FROM 'x.parquet' WHERE ts BETWEEN timestamp '2020-01-03' AND timestamp '2020-01-05'",
    "SELECT count(*), sum(u) FROM 'x.parquet' WHERE w < 1000000000000000000000 OR d > 3.5",
    "SELECT g, l FROM 'x.parquet' ORDER BY g DESC, l LIMIT 20",
    "SELECT ts, u, l FROM 'x.parquet' WHERE k > 5 ORDER BY ts DESC, u, l",
    "SELECT h FROM 'x.parquet' WHERE h LIKE '%7%' ORDER BY h",
    "SELECT l + g, l * 1000, -g, n - w, g::smallint, day + 1 FROM 'x.parquet' WHERE s = 's3'",
    "SELECT count(DISTINCT g), count(DISTINCT s) FROM 'x.parquet'",
};

class StatisticsFile {
 public:
  static constexpr int64_t rows = 240, group_rows = 60;

  StatisticsFile() {
    const std::shared_ptr<arrow::Buffer> buffer = write();
    good_.assign(reinterpret_cast<const std::byte*>(buffer->data()),
                 reinterpret_cast<const std::byte*>(buffer->data()) + buffer->size());
    uint32_t footer = 0;
    std::memcpy(&footer, &good_[good_.size() - 8], sizeof footer);
    footer_ = good_.size() - 8 - footer;
    find_bounds(*buffer);
  }

  const std::vector<std::byte>& good() const { return good_; }
  size_t footer_bytes() const { return good_.size() - footer_; }

  // Other bounds; the data stay.
  std::vector<std::byte> with_false_statistics(std::span<const uint8_t> edits) const {
    std::vector<std::byte> file = good_;
    EditReader reader(edits);
    for (int count = 0; count < 6 && !reader.at_end(); ++count) {
      const std::string& old = bounds_[reader.byte() % bounds_.size()];
      replace(file, old, changed(old, reader));
    }
    return file;
  }

  // Any bytes of the footer.
  std::vector<std::byte> with_damaged_footer(std::span<const uint8_t> edits) const {
    std::vector<std::byte> file = good_;
    EditReader reader(edits);
    for (int count = 0; count < 6 && !reader.at_end(); ++count) {
      const size_t at = footer_ + reader.number() % (good_.size() - footer_);
      file[at] ^= static_cast<std::byte>(reader.byte());
    }
    return file;
  }

  // The bound of a column in a row group, as the footer has it; false: it has none.
  bool set_bound(std::vector<std::byte>& file, int row_group, int column, bool is_high, int64_t value) const {
    const auto statistics = statistics_of(row_group, column);
    if (statistics == nullptr || !statistics->HasMinMax()) return false;
    const std::string old = is_high ? statistics->EncodeMax() : statistics->EncodeMin();
    std::string now(reinterpret_cast<const char*>(&value), std::min(old.size(), sizeof value));
    now.resize(old.size());
    return replace(file, old, now);
  }

 private:
  template <typename Builder, typename Value>
  static std::shared_ptr<arrow::Array> array(Builder&& builder, Value value) {
    for (int64_t i = 1; i <= rows; ++i) {
      const auto cell = value(i);
      const arrow::Status status = cell ? builder.Append(*cell) : builder.AppendNull();
      check_invariant(status.ok(), "Arrow appends a value");
    }
    return builder.Finish().ValueOrDie();
  }

  static std::shared_ptr<arrow::Buffer> write() {
    using std::optional;
    const auto pool = arrow::default_memory_pool();
    const auto day = [](int64_t i) { return optional<int32_t>(static_cast<int32_t>(18262 + i / 3)); };
    const auto moment = [](int64_t i) { return optional<int64_t>((1577836800 + i * 3600) * 1000000); };
    const auto decimal = [](int64_t scale) {
      return [scale](int64_t i) { return optional<arrow::Decimal128>(arrow::Decimal128(i % 50 * 25) * scale); };
    };
    const arrow::ArrayVector arrays = {
        array(arrow::Int32Builder(),
              [](int64_t i) { return optional<int32_t>(static_cast<int32_t>(i % 6 + i / 200)); }),
        array(arrow::Int64Builder(), [](int64_t i) { return optional<int64_t>(i * 7 % 251); }),
        array(arrow::Int32Builder(),
              [](int64_t i) {
                return i % 9 == 0 ? optional<int32_t>() : optional<int32_t>(static_cast<int32_t>(i % 11));
              }),
        array(arrow::UInt32Builder(), [](int64_t i) { return optional<uint32_t>(static_cast<uint32_t>(i % 5 + 40)); }),
        array(arrow::Decimal128Builder(arrow::decimal128(9, 2)), decimal(1)),
        array(arrow::Decimal128Builder(arrow::decimal128(30, 2)), decimal(int64_t{1234567890123456789})),
        array(arrow::DoubleBuilder(), [](int64_t i) { return optional<double>(static_cast<double>(i) / 8); }),
        array(arrow::Date32Builder(), day),
        array(arrow::TimestampBuilder(arrow::timestamp(arrow::TimeUnit::MICRO), pool), moment),
        array(arrow::StringBuilder(), [](int64_t i) { return optional<std::string>("s" + std::to_string(i % 7)); }),
        array(arrow::StringBuilder(),
              [](int64_t i) { return optional<std::string>(std::to_string(i * 37) + " text"); }),
    };
    const char* names[] = {"g", "l", "k", "u", "n", "w", "d", "day", "ts", "s", "h"};
    arrow::FieldVector fields;
    for (size_t i = 0; i < arrays.size(); ++i) fields.push_back(arrow::field(names[i], arrays[i]->type()));
    const auto table = arrow::Table::Make(arrow::schema(fields), arrays);
    const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
    const arrow::Status status = parquet::arrow::WriteTable(*table, pool, sink, group_rows);
    check_invariant(status.ok(), "Arrow writes a Parquet file");
    return sink->Finish().ValueOrDie();
  }

  std::shared_ptr<parquet::Statistics> statistics_of(int row_group, int column) const {
    return metadata_->RowGroup(row_group)->ColumnChunk(column)->statistics();
  }

  void find_bounds(const arrow::Buffer& buffer) {
    const auto bytes = std::make_shared<arrow::Buffer>(buffer.data(), buffer.size());
    metadata_ = parquet::ParquetFileReader::Open(std::make_shared<arrow::io::BufferReader>(bytes))->metadata();
    for (int group = 0; group < metadata_->num_row_groups(); ++group) {
      for (int column = 0; column < metadata_->num_columns(); ++column) {
        const auto statistics = statistics_of(group, column);
        if (statistics == nullptr || !statistics->HasMinMax()) continue;
        bounds_.push_back(statistics->EncodeMin());
        bounds_.push_back(statistics->EncodeMax());
      }
    }
  }

  // Everywhere in the footer where these bytes stand as a string.
  bool replace(std::vector<std::byte>& file, const std::string& old, const std::string& now) const {
    const std::string pattern = static_cast<char>(old.size()) + old;
    bool found = false;
    for (size_t at = footer_; at + pattern.size() + 8 <= file.size(); ++at) {
      if (std::memcmp(&good_[at], pattern.data(), pattern.size()) != 0) continue;
      std::memcpy(&file[at + 1], now.data(), now.size());
      found = true;
    }
    return found;
  }

  static std::string changed(std::string bound, EditReader& reader) {
    const uint8_t how = reader.byte();
    char& byte = bound[how / 8 % bound.size()];
    switch (how % 8) {
      case 0: std::fill(bound.begin(), bound.end(), '\0'); break;
      case 1: std::fill(bound.begin(), bound.end(), '\xFF'); break;
      case 2:
        std::fill(bound.begin(), bound.end(), '\xFF');
        bound.back() = '\x7F';
        break;
      case 3:
        std::fill(bound.begin(), bound.end(), '\0');
        bound.back() = '\x80';
        break;
      case 4: byte = static_cast<char>(byte + 1); break;
      case 5: byte = static_cast<char>(byte - 1); break;
      default: byte = static_cast<char>(reader.byte());
    }
    return bound;
  }

  std::vector<std::byte> good_;
  size_t footer_ = 0;  // where it begins
  std::shared_ptr<parquet::FileMetaData> metadata_;
  std::vector<std::string> bounds_;
};

}  // namespace diptych::testing
