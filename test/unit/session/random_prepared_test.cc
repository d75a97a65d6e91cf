// Random statements with parameters say what they say with literals, run after run. DIPTYCH_SEED repeats a run, and
// DIPTYCH_STATEMENTS makes it longer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "session/prepared_statements.h"

namespace diptych::testing {
namespace {

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct ColumnOfTest {
  std::string name, type;
};

const std::vector<ColumnOfTest> columns = {
    {"i", "integer"},          {"b", "bigint"}, {"s", "smallint"}, {"n", "numeric(15,2)"}, {"r", "real"},
    {"d", "double precision"}, {"c", "text"},   {"v", "text"},     {"day", "date"},        {"at", "timestamp"}};

// Those that parameters of a type take.
const std::map<std::string, std::vector<std::string>>& values_of_types() {
  static const std::map<std::string, std::vector<std::string>> values = {
      {"integer", {"0", "1", "2", "7", "-3", "100", "1500", "2999", "70000", "2147483647", "-2147483648"}},
      {"bigint", {"0", "5", "3000009", "1000003000", "99999999999", "9223372036854775807", "-1"}},
      {"smallint", {"0", "1", "50", "99", "-7", "32767"}},
      {"numeric(15,2)", {"0", "0.25", "17.50", "100", "244.00", "-3.75", "9999999999999.99"}},
      {"real", {"0", "1.5", "16", "-2", "0.1", "NaN", "Infinity"}},
      {"double precision", {"0", "1.5", "23.3", "-2", "0.1", "NaN", "1e300"}},
      {"text", {"", "c1", "c19", "c7", "value 1", "value 2999", "c%", "%9", "nothing", "a'b"}},
      {"date", {"2024-01-01", "2024-02-29", "2025-01-31", "1999-12-31", "infinity"}},
      {"timestamp", {"2024-01-01", "2024-03-01 12:30:00", "2025-01-31", "infinity"}},
      {"boolean", {"t", "f"}}};
  return values;
}

class RandomStatement {
 public:
  explicit RandomStatement(std::mt19937_64& random) : random_(random) { text_ = query(); }

  const std::string& text() const { return text_; }
  size_t parameters() const { return types_.size(); }

  Row values() {
    Row row;
    for (const std::string& type : types_) {
      const auto& known = values_of_types().at(type);
      row.push_back(below(12) == 0 ? "NULL" : known[below(known.size())]);
    }
    return row;
  }

 private:
  size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
  bool is_one_of(size_t count) { return below(count) == 0; }
  const std::string& any(const std::vector<std::string>& of) { return of[below(of.size())]; }
  const ColumnOfTest& column() { return columns[below(columns.size())]; }

  // A new one, or at times one that is there already.
  std::string parameter(const std::string& type) {
    if (is_one_of(4))
      for (size_t i = 0; i < types_.size(); ++i)
        if (types_[i] == type) return cast(i, type);
    types_.push_back(type);
    return cast(types_.size() - 1, type);
  }
  static std::string cast(size_t number, const std::string& type) {
    return "$" + std::to_string(number + 1) + "::" + type;
  }

  // Over parameters and literals.
  std::string constant(const std::string& type) {
    const bool is_number = type != "text" && type != "date" && type != "timestamp";
    if (is_one_of(3)) {
      if (is_number) return "(" + parameter(type) + any({" + ", " - ", " * ", " / "}) + parameter(type) + ")::" + type;
      if (type == "text") return "(" + parameter(type) + " || " + parameter(type) + ")";
      if (type == "date") return "(" + parameter(type) + " + " + parameter("smallint") + "::integer)";
      return "(" + parameter(type) + " + interval '1 month')";
    }
    if (is_one_of(6))
      return "coalesce(nullif(" + parameter(type) + ", " + parameter(type) + "), " + parameter(type) + ")";
    return parameter(type);
  }

  std::string value(const ColumnOfTest& of) {
    const std::string name = "t." + of.name;
    if (of.type == "text") return is_one_of(4) ? "(" + name + " || " + constant("text") + ")" : name;
    if (is_one_of(3) && of.type != "date" && of.type != "timestamp")
      return "(" + name + any({" + ", " - ", " * "}) + constant(of.type) + ")";
    return name;
  }

  std::string comparison() {
    const ColumnOfTest& of = column();
    const std::string left = value(of);
    const std::string compares = any({" = ", " <> ", " < ", " <= ", " > ", " >= ", " IS DISTINCT FROM "});
    // Of another type than the column, which is widened.
    static const std::map<std::string, std::string> wider = {
        {"integer", "numeric(15,2)"}, {"smallint", "bigint"}, {"real", "double precision"}, {"date", "timestamp"}};
    const auto wide = wider.find(of.type);
    const std::string right = constant(wide != wider.end() && is_one_of(4) ? wide->second : of.type);
    return is_one_of(5) && compares.size() < 5 ? right + compares + left : left + compares + right;
  }

  std::string condition(int depth) {
    if (depth > 0 && !is_one_of(3)) {
      const std::string left = condition(depth - 1);
      if (is_one_of(5)) return "(NOT " + left + ")";
      return "(" + left + any({" AND ", " AND ", " OR "}) + condition(depth - 1) + ")";
    }
    const ColumnOfTest& of = column();
    const std::string name = "t." + of.name;
    switch (below(8)) {
      case 0: return name + " IN (" + constant(of.type) + ", " + constant(of.type) + ")";
      case 1: return name + " BETWEEN " + constant(of.type) + " AND " + constant(of.type);
      case 2: return any({"t.c", "t.v"}) + " LIKE " + parameter("text");
      case 3: return is_one_of(2) ? parameter("boolean") : "t.f = " + parameter("boolean");
      case 4: return constant(of.type) + any({" = ", " < "}) + constant(of.type);
      default: return comparison();
    }
  }

  std::string query() {
    const std::string where = " WHERE " + condition(2);
    const ColumnOfTest& of = column();
    switch (below(6)) {
      case 0: return "SELECT t.i, " + value(of) + " FROM t" + where + " ORDER BY 1, 2 LIMIT 20";
      case 1: return "SELECT t.c, count(*), min(" + value(of) + ") FROM t" + where + " GROUP BY t.c ORDER BY 1";
      case 2: return "SELECT count(*), sum(u.k + " + constant("integer") + ") FROM t JOIN u ON t.s = u.k" + where;
      case 3:
        return "SELECT t.s + " + constant("integer") + ", count(*) FILTER (WHERE " + condition(1) + ") FROM t" + where +
               " GROUP BY 1 HAVING count(*) > " + parameter("smallint") + " ORDER BY 1";
      case 4:
        return "SELECT t.i, CASE WHEN " + condition(1) + " THEN " + constant(of.type) + " ELSE t." + of.name +
               " END FROM t" + where + " ORDER BY 1, 2 LIMIT 10";
      default: return "SELECT count(*), max(" + value(of) + ") FROM t" + where;
    }
  }

  std::mt19937_64& random_;
  std::vector<std::string> types_;
  std::string text_;
};

class RandomPreparedTest : public PreparedStatementsTest {};

TEST_P(RandomPreparedTest, SayWhatLiteralsSay) {
  const uint64_t seed = number_of("DIPTYCH_SEED", std::random_device{}());
  const bool is_device = std::string(GetParam()) == "opencl";  // each kernel takes its time
  const uint64_t statements = number_of("DIPTYCH_STATEMENTS", is_device ? 10 : 150);
  SCOPED_TRACE("DIPTYCH_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  size_t reused = 0;
  for (uint64_t i = 0; i < statements && !HasFailure(); ++i) {
    RandomStatement made(random);
    Statement statement(connection, made.text());
    if (statement.parameter_types().empty()) continue;
    for (int round = 0; round < 8; ++round)
      reused += compare_with_literals(statement, made.text(), made.values()) == Reused::PlanAndProgram;
    if (i % 10 == 9) insert(static_cast<int>(3000 + 20 * i), static_cast<int>(3050 + 20 * i));
  }
  // Some have other truth values or NULLs in each run.
  EXPECT_GT(reused, 0U);
  RecordProperty("seed", std::to_string(seed));
}

INSTANTIATE_TEST_SUITE_P(Engines, RandomPreparedTest, ::testing::Values("1", "2", "opencl"));

}  // namespace
}  // namespace diptych::testing
