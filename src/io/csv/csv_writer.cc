#include <algorithm>

#include "io/cell_text.h"
#include "io/file_writers.h"
#include "io/replaced_file.h"
#include "tablet/validity_bits.h"

namespace diptych {
namespace {

constexpr size_t flush_bytes = size_t{1} << 20;

class CsvWriter : public DataWriter {
 public:
  CsvWriter(FileSystem& files, const std::string& path, const FileOptions& options,
            std::span<const ColumnDefinition> columns)
      : options_(options), columns_(columns.begin(), columns.end()), file_(files, path) {
    if (!options.header.value_or(false)) return;
    for (size_t i = 0; i < columns_.size(); ++i) {
      size_t start = start_field(i);
      text_ += columns_[i].name;
      finish_field(start);
    }
    text_ += '\n';
  }

  void write(int64_t rows, std::span<const ColumnView> views) override {
    for (int64_t row = 0; row < rows; ++row) {
      for (size_t i = 0; i < views.size(); ++i) write_cell(views[i], i, row);
      text_ += '\n';
      if (text_.size() >= flush_bytes) flush();
    }
  }

  void finish() override {
    flush();
    file_.commit();
  }

 private:
  size_t start_field(size_t column) {
    if (column > 0) text_ += options_.delimiter;
    return text_.size();
  }

  void write_cell(const ColumnView& view, size_t column, int64_t row) {
    size_t start = start_field(column);
    if (!is_valid(view.validity, row)) {
      text_ += options_.null_string;
      return;
    }
    append_cell(text_, view, columns_[column].type, row);
    finish_field(start);
  }

  // Puts the text from `start` on in quotes where it would be read as something else: as a field's or a row's end, or
  // as NULL.
  void finish_field(size_t start) {
    std::string_view field = std::string_view(text_).substr(start);
    bool special = std::any_of(field.begin(), field.end(), [this](char c) {
      return c == options_.delimiter || c == options_.quote || c == '\n' || c == '\r';
    });
    if (!special && field != options_.null_string && !(columns_.size() == 1 && field == "\\.")) return;
    std::string quoted(1, options_.quote);
    for (char c : field) {
      if (c == options_.quote || c == options_.escape) quoted += options_.escape;
      quoted += c;
    }
    quoted += options_.quote;
    text_.replace(start, std::string::npos, quoted);
  }

  void flush() {
    file_.file().write_at(written_, {reinterpret_cast<const std::byte*>(text_.data()), text_.size()});
    written_ += static_cast<int64_t>(text_.size());
    text_.clear();
  }

  FileOptions options_;
  std::vector<ColumnDefinition> columns_;
  ReplacedFile file_;
  std::string text_;  // not written yet
  int64_t written_ = 0;
};

}  // namespace

std::unique_ptr<DataWriter> make_csv_writer(FileSystem& files, const std::string& path, const FileOptions& options,
                                            std::span<const ColumnDefinition> columns) {
  return std::make_unique<CsvWriter>(files, path, options, columns);
}

}  // namespace diptych
