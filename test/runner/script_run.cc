#include "script_run.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "md5.h"

namespace slt {
namespace {

constexpr const char* unsupported_state = "0A000";
constexpr const char* failed_transaction_state = "25P02";
constexpr const char* changing_words[] = {"insert ", "update ", "delete "};

// A record is for us when it names "diptych", or PostgreSQL, whose dialect this is. (In our own scripts the two
// differ.)
bool names_us(const std::string& engine, Dialect dialect) {
  return engine == "diptych" || (engine == "postgresql" && dialect != Dialect::Own);
}

bool is_left_out(const Record& record, Dialect dialect) {
  const auto us = [dialect](const std::string& engine) { return names_us(engine, dialect); };
  if (std::any_of(record.skipif.begin(), record.skipif.end(), us)) return true;
  return !record.onlyif.empty() && std::none_of(record.onlyif.begin(), record.onlyif.end(), us);
}

// Whether a query changes tables in its WITH clause.
bool changes_tables(std::string sql) {
  std::transform(sql.begin(), sql.end(), sql.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(std::begin(changing_words), std::end(changing_words),
                     [&](const char* word) { return sql.find(word) != std::string::npos; });
}

// Does what follows mean nothing when this statement was refused? Not for queries, nor for a plain index, which changes
// no result.
bool spoils_the_rest(const std::string& sql) {
  std::istringstream words(sql);
  std::string first, second;
  words >> first >> second;
  for (std::string* word : {&first, &second}) {
    std::transform(word->begin(), word->end(), word->begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  if (first == "with") return changes_tables(sql);
  if (first == "select" || first == "values") return false;
  return !((first == "create" || first == "drop") && second == "index");
}

class ScriptRun {
 public:
  ScriptRun(const std::string& path, const RunOptions& options, Counts& counts)
      : name_(name_of(path, options)),
        options_(options),
        counts_(counts),
        engine_(options.database, options.settings, options.limit_seconds) {}

  void run(const std::vector<Record>& records) {
    for (size_t i = 0; i < records.size(); ++i) {
      counts_.line = records[i].line;
      if (is_left_out(records[i], options_.dialect)) {
        ++counts_.skipped;
      } else if (!run_record(records[i])) {
        counts_.skipped += static_cast<long>(records.size() - i - 1);
        return;
      }
    }
  }

 private:
  // False ends the script.
  bool run_record(const Record& record) {
    switch (record.kind) {
      case RecordKind::Halt: return false;
      case RecordKind::HashThreshold: return true;
      case RecordKind::Require: return is_there(record.argument);
      case RecordKind::Restart: engine_.restart(); return true;
      case RecordKind::Statement: run_statement(record); return true;
      case RecordKind::Query: run_query(record); return true;
    }
    return true;
  }

  // "file": the database outlives a restart. Everything else that scripts require is an extension of another engine.
  bool is_there(const std::string& feature) {
    return feature == "file" ? !engine_.in_memory() : feature == "postgresql";
  }

  void run_statement(const Record& record) {
    const Outcome outcome = engine_.run(record.sql);
    const bool is_refused = is_unsupported(outcome);
    if (!record.error_expected) return check_success(record, outcome, is_refused);
    if (!outcome.failed()) {
      if (spoiled_)
        ++counts_.unsupported;
      else
        fail(record, "  expected an error, but it succeeded\n");
    } else if (is_refused || spoiled_) {
      ++counts_.unsupported;
    } else if (!record.sqlstate.empty() && record.sqlstate != outcome.sqlstate) {
      fail(record,
           "  expected SQLSTATE " + record.sqlstate + ", got " + outcome.sqlstate + ": " + outcome.message + "\n");
    } else if (outcome.message.find(record.message_part) == std::string::npos && options_.dialect == Dialect::Own) {
      fail(record, "  expected the message to have: " + record.message_part + "\n  got: " + outcome.message + "\n");
    } else if (outcome.sqlstate == "XX000") {
      fail(record, "  internal error: " + outcome.message + "\n");
    } else {
      ++counts_.passed;
    }
  }

  void check_success(const Record& record, const Outcome& outcome, bool is_refused) {
    if (!outcome.failed()) {
      ++counts_.passed;
    } else if (is_refused) {
      spoiled_ = spoiled_ || spoils_the_rest(record.sql);
      ++counts_.unsupported;
    } else {
      fail_or_spoiled(record, "  failed with " + outcome.sqlstate + ": " + outcome.message + "\n");
    }
  }

  void run_query(const Record& record) {
    const Outcome outcome = engine_.run(record.sql);
    if (is_unsupported(outcome)) {
      spoiled_ = spoiled_ || spoils_the_rest(record.sql);
      ++counts_.unsupported;
    } else if (outcome.failed()) {
      fail_or_spoiled(record, "  failed with " + outcome.sqlstate + ": " + outcome.message + "\n");
    } else if (const std::string differs = check_rows(record, outcome); !differs.empty()) {
      fail_or_spoiled(record, differs);
    } else {
      ++counts_.passed;
    }
  }

  std::string check_rows(const Record& record, const Outcome& outcome) {
    if (outcome.types.size() != record.column_types.size() && !outcome.rows.empty()) {
      return "  expected " + std::to_string(record.column_types.size()) + " columns, got " +
             std::to_string(outcome.types.size()) + "\n";
    }
    const Rendered result = render_result(outcome, record, options_.dialect);
    if (!record.label.empty() && options_.dialect == Dialect::Original) {
      const std::string digest = md5_hex(result.text());
      const auto [found, added] = labels_.emplace(record.label, digest);
      if (!added && found->second != digest)
        return "  another query labelled " + record.label + " had another result\n";
    }
    return difference(result, record, options_.dialect);
  }

  // In our own scripts 0A000 where it is not expected is a failure like any other. In others' what was refused makes
  // its transaction fail, and all that follows in it.
  bool is_unsupported(const Outcome& outcome) {
    if (options_.dialect == Dialect::Own || !outcome.failed()) return was_refused_ = false;
    if (outcome.sqlstate == unsupported_state) return was_refused_ = true;
    return was_refused_ && outcome.sqlstate == failed_transaction_state;
  }

  void fail_or_spoiled(const Record& record, const std::string& why) {
    if (spoiled_)
      ++counts_.unsupported;
    else
      fail(record, why);
  }

  void fail(const Record& record, const std::string& why) {
    if (++counts_.failed > options_.shown_failures) return;
    std::printf("FAILED %s:%d\n%s\n%s", name_.c_str(), record.line, record.sql.c_str(), why.c_str());
    std::fflush(stdout);
  }

  std::string name_;
  const RunOptions& options_;
  Counts& counts_;
  Engine engine_;
  std::map<std::string, std::string> labels_;
  bool was_refused_ = false;  // the last record, or those before it that failed
  bool spoiled_ = false;      // an object that was refused is missing, so that what follows means nothing when it fails
};

std::string read_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("can't read " + path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void prepare_directories(const RunOptions& options) {
  std::filesystem::remove_all(options.scratch_directory);
  std::filesystem::create_directories(options.scratch_directory);
  if (options.database != ":memory:") std::filesystem::remove(options.database);
}

}  // namespace

void run_script(const std::string& path, const RunOptions& options, Counts& counts) {
  try {
    prepare_directories(options);
    const auto records = parse_script(
        read_text(path), {{"__TEST_DIR__", options.scratch_directory}, {"__DATA_DIR__", options.data_directory}});
    ScriptRun(path, options, counts).run(records);
  } catch (const std::exception& error) {
    ++counts.failed;
    std::printf("FAILED %s:%ld\n  %s\n", name_of(path, options).c_str(), counts.line, error.what());
  }
}

}  // namespace slt
