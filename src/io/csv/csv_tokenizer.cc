#include "io/csv/csv_tokenizer.h"

#include <arrow/util/utf8.h>

#include <algorithm>
#include <cstring>

#include "io/csv/csv_scanner.h"

namespace diptych {
namespace {

bool is_utf8(std::string_view text) {
  static const bool initialised = (arrow::util::InitializeUTF8(), true);
  return initialised &&
         arrow::util::ValidateUTF8(reinterpret_cast<const uint8_t*>(text.data()), static_cast<int64_t>(text.size()));
}

// Bytes of the character that the first of them begins, whether or not the others belong to one.
size_t bytes_of_character(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

size_t count_valid_bytes(std::string_view bytes) {
  const std::string_view before_zero = bytes.substr(0, bytes.find('\0'));
  if (is_utf8(before_zero)) return before_zero.size();
  // Halves the part that has the place, at beginnings of characters, down to a character.
  size_t valid = 0, end = before_zero.size();
  while (end - valid > 4) {
    size_t middle = valid + (end - valid) / 2;
    while (middle > valid && (static_cast<unsigned char>(bytes[middle]) & 0xC0) == 0x80) --middle;
    if (middle == valid) break;
    (is_utf8(bytes.substr(valid, middle - valid)) ? valid : end) = middle;
  }
  while (valid < end) {
    const size_t count = bytes_of_character(bytes[valid]);
    if (!is_utf8(before_zero.substr(valid, count)) || count > before_zero.size() - valid) break;
    valid += count;
  }
  return valid;
}

namespace {

// Follows quotes the way PostgreSQL's CopyReadLineText() does.
class QuoteState {
 public:
  explicit QuoteState(const FileOptions& options)
      : quote_(options.quote), escape_(options.escape), has_escape_(options.escape != options.quote) {}
  // Whether a place behind this byte is inside quotes.
  bool after(char c) {
    if (inside_ && has_escape_ && c == escape_) escaping_ = !escaping_;
    if (c == quote_ && !escaping_) inside_ = !inside_;
    if (!has_escape_ || c != escape_) escaping_ = false;
    return inside_;
  }

 private:
  char quote_, escape_;
  bool has_escape_;
  bool inside_ = false, escaping_ = false;
};

// Follows CopyReadLineText() and CopyReadAttributesCSV() of PostgreSQL's copyfromparse.c, both at once.
class RowReader {
 public:
  RowReader(std::span<char> bytes, const FileOptions& options, const CsvTask& task)
      : options_(options),
        task_(task),
        bytes_(bytes.data()),
        limit_(bytes_ + bytes.size()),
        end_(bytes_ + count_valid_bytes({bytes.data(), bytes.size()})),
        at_(bytes_),
        scanner_(bytes_, end_, options.delimiter, options.quote) {
    result_.line_end = task.line_end;
  }

  CsvRows run() {
    while (at_ < end_ && result_.rows < task_.most_rows && read_row()) {
    }
    if (!result_.failure && !result_.ended && result_.rows < task_.most_rows && at_ == end_ && end_ < limit_)
      fail_end();
    result_.used = static_cast<size_t>(at_ - bytes_);
    return std::move(result_);
  }

 private:
  enum class Found : uint8_t { FieldEnd, RowEnd, Failure };

  // False when there is no more to be read.
  bool read_row() {
    if (*at_ == '\\' && is_end_of_data()) return false;
    reserve_row();
    CsvField* fields = result_.fields.as<CsvField>() + static_cast<size_t>(result_.rows) * task_.fields;
    size_t count = 0;
    Found found = Found::FieldEnd;
    while (found == Found::FieldEnd) {
      CsvField field(0, 0, false);
      found = read_field(field);
      if (count < task_.fields) fields[count] = field;
      ++count;
    }
    return found != Found::Failure && finish_row(fields, count);
  }

  Found read_field(CsvField& field) {
    const char* special = scanner_.next();
    if (special < end_ && *special == options_.quote) {
      if (special == at_ && options_.escape == options_.quote && read_quoted(field)) return end_field(scanner_.next());
      special = put_together(special, field);
      if (special == nullptr) return Found::Failure;
      scanner_.seek(special);
      return end_field(scanner_.next());
    }
    field = field_between(at_, special, false);
    return end_field(special);
  }

  // at: the delimiter, line's end or end of the bytes behind a field.
  Found end_field(const char* at) {
    if (at == end_) return end_row(at);
    at_ = at + 1;
    if (*at == options_.delimiter) return Found::FieldEnd;
    if (*at == '\n' && result_.line_end == LineEnd::Newline) return Found::RowEnd;
    return end_row(at);
  }

  // A field that is all in quotes, without quotes inside: most are. False for any other: the scanner is somewhere then.
  bool read_quoted(CsvField& field) {
    const size_t broken_lines = result_.broken_lines.size();
    const char* special = scanner_.next();
    for (; special < end_ && *special != options_.quote; special = scanner_.next()) note_broken_line(*special);
    const char* behind = special + 1;
    if (special < end_ && (behind >= end_ || *behind == options_.delimiter || *behind == '\n' || *behind == '\r')) {
      field = field_between(at_ + 1, special, true);
      return true;
    }
    result_.broken_lines.resize(broken_lines);
    return false;
  }

  // Any field, from its first quote on. The place behind it; null when quotes are not closed.
  const char* put_together(const char* quote, CsvField& field) {
    const char* at = quote;
    char* out = bytes_ + (quote - bytes_);
    while (at < end_ && *at == options_.quote) {
      at = put_quoted_part(at + 1, out);
      if (at == nullptr) return nullptr;
      while (at < end_ && *at != options_.delimiter && *at != options_.quote && *at != '\n' && *at != '\r')
        *out++ = *at++;
    }
    field = field_between(at_, out, true);
    return at;
  }

  // What is between quotes, to `out`. The place behind the closing one; null when there is none.
  const char* put_quoted_part(const char* at, char*& out) {
    while (at < end_) {
      const char c = *at++;
      if (c == options_.escape && at < end_ && (*at == options_.escape || *at == options_.quote)) {
        *out++ = *at++;
      } else if (c == options_.quote) {
        return at;
      } else {
        note_broken_line(c);
        *out++ = c;
      }
    }
    fail_end(": a quote is not closed");
    return nullptr;
  }

  void note_broken_line(char c) {
    if (c == (result_.line_end == LineEnd::Newline ? '\n' : '\r')) result_.broken_lines.push_back(result_.rows);
  }

  CsvField field_between(const char* begin, const char* end, bool quoted) const {
    return CsvField(static_cast<size_t>(begin - bytes_), static_cast<size_t>(end - begin), quoted);
  }

  // A row ends with the bytes or at a line's end, which must be like the first one.
  Found end_row(const char* at) {
    if (at == end_ || (*at == '\r' && at + 1 == end_ && end_ < limit_)) {
      at_ = end_;
      if (task_.last && end_ == limit_) return Found::RowEnd;
      fail_end();
      return Found::Failure;
    }
    LineEnd found = LineEnd::Newline;
    if (*at == '\r') found = at + 1 < end_ && at[1] == '\n' ? LineEnd::ReturnNewline : LineEnd::Return;
    // The line feed is the next row's then.
    if (found == LineEnd::ReturnNewline && result_.line_end == LineEnd::Return) found = LineEnd::Return;
    if (result_.line_end == LineEnd::Unknown) result_.line_end = found;
    if (found != result_.line_end) {
      fail(*at == '\n' ? ": a newline without quotes, where the lines before end in another way"
                       : ": a carriage return without quotes, where the lines before end in another way");
      return Found::Failure;
    }
    at_ = found == LineEnd::ReturnNewline ? scanner_.next() + 1 : at + 1;
    return Found::RowEnd;
  }

  bool finish_row(CsvField* fields, size_t count) {
    result_.last_row_count = count;
    if (count == task_.fields) {
      ++result_.rows;
      return true;
    }
    fail(": " + std::to_string(count) + " fields, where " + std::to_string(task_.fields) + " are wanted");
    if (count > task_.fields) return false;
    // PostgreSQL reads the fields that are there before it misses the others.
    result_.failure->column = static_cast<int64_t>(count);
    std::fill(fields + count, fields + task_.fields, CsvField(0, 0, false));
    ++result_.rows;
    return false;
  }

  // `\.` and a line's end. True also when that is not the end of the lines before, a failure. More on the line: data.
  bool is_end_of_data() {
    const std::string_view line(at_, std::min<size_t>(static_cast<size_t>(end_ - at_), 4));
    const size_t place = result_.line_end == LineEnd::ReturnNewline ? 3 : 2;
    if (!line.starts_with(place == 3 ? "\\.\r" : "\\.") || line.size() <= place) return false;
    const char c = line[place];
    if (c != '\r' && c != '\n') return false;
    result_.ended = result_.line_end == LineEnd::Unknown || (result_.line_end == LineEnd::Return) == (c == '\r');
    if (!result_.ended) fail(": the end-of-copy marker does not end as the lines before");
    return true;
  }

  void reserve_row() {
    const size_t needed = (static_cast<size_t>(result_.rows) + 1) * task_.fields * sizeof(CsvField);
    if (needed > result_.fields.size()) result_.fields.resize(std::max(needed, 2 * result_.fields.size()));
  }

  void fail(std::string message, SqlState state = SqlState::bad_copy_file_format) {
    result_.failure = CsvFailure{result_.rows, -1, state, std::move(message)};
  }
  // The bytes that can be read end inside a row.
  void fail_end(const char* message = "") {
    if (end_ < limit_) {
      fail(*end_ == '\0' ? ": a text has a byte that is zero" : ": a text is not valid UTF-8",
           SqlState::character_not_in_repertoire);
    } else {
      fail(task_.last ? message : ": a row is longer than 256 MiB, or a quote is not closed");
    }
  }

  const FileOptions& options_;
  const CsvTask& task_;
  char* bytes_;
  const char* limit_;
  const char* end_;  // of what can be read: at the limit, or before a byte that is not valid
  const char* at_;   // the beginning of the next field
  CsvScanner scanner_;
  CsvRows result_;
};

}  // namespace

int64_t CsvRows::lines_before(int64_t row) const {
  return row + (std::lower_bound(broken_lines.begin(), broken_lines.end(), row) - broken_lines.begin());
}

CsvRows read_csv_rows(std::span<char> bytes, const FileOptions& options, const CsvTask& task) {
  return RowReader(bytes, options, task).run();
}

size_t whole_csv_rows(std::string_view bytes, const FileOptions& options, LineEnd line_end) {
  const char end = line_end == LineEnd::Return ? '\r' : '\n';
  if (options.escape != options.quote) {
    QuoteState quotes(options);
    size_t whole = 0;
    for (size_t i = 0; i < bytes.size(); ++i) {
      if (!quotes.after(bytes[i]) && bytes[i] == end) whole = i + 1;
    }
    return whole;
  }
  // Counting quotes is many times faster than following each of them.
  bool inside = std::count(bytes.begin(), bytes.end(), options.quote) % 2 != 0;
  for (size_t i = bytes.size(); i > 0; --i) {
    if (bytes[i - 1] == options.quote) inside = !inside;
    if (bytes[i - 1] == end && !inside) return i;
  }
  return 0;
}

// The backslash of the end-of-copy marker quotes nothing, also where it is the quote.
LineEnd find_line_end(std::string_view bytes, const FileOptions& options, bool last) {
  QuoteState quotes(options);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool is_inside = quotes.after(bytes[i]) && !(i == 2 && bytes.starts_with("\\."));
    if (is_inside || (bytes[i] != '\n' && bytes[i] != '\r')) continue;
    if (bytes[i] == '\n') return LineEnd::Newline;
    if (i + 1 == bytes.size()) return last ? LineEnd::Return : LineEnd::Unknown;
    return bytes[i + 1] == '\n' ? LineEnd::ReturnNewline : LineEnd::Return;
  }
  return LineEnd::Unknown;
}

}  // namespace diptych
