#include "bind/test_catalog.h"

#include "sql/parser.h"

namespace diptych {

namespace {

TestCatalog make_catalog() {
  TestCatalog catalog;
  catalog.add({"every",
               false,
               {{"b", {TypeId::Boolean}, false, ""},
                {"s", {TypeId::SmallInt}, false, ""},
                {"i", {TypeId::Integer}, false, ""},
                {"l", {TypeId::BigInt}, false, ""},
                {"r", {TypeId::Real}, false, ""},
                {"d", {TypeId::Double}, false, ""},
                {"n", Type::numeric(15, 2), false, ""},
                {"w", Type::numeric(30, 4), false, ""},
                {"day", {TypeId::Date}, false, ""},
                {"ts", {TypeId::Timestamp}, false, ""},
                {"v", {TypeId::Interval}, false, ""},
                {"t", {TypeId::Text}, false, ""},
                {"vc", {TypeId::Varchar, 0, 0, 10}, false, ""},
                {"c", {TypeId::Char, 0, 0, 5}, false, ""}},
               {}});
  catalog.add({"other", false, {{"x", {TypeId::Text}, false, ""}, {"i", {TypeId::Integer}, false, ""}}, {}});
  catalog.add(
      {"keyed",
       false,
       {{"k", {TypeId::Integer}, true, ""}, {"a", {TypeId::Text}, false, ""}, {"z", {TypeId::Integer}, false, "7"}},
       {0}});
  catalog.add_view({"pairs", {"p"}, "select i, k, z from other join keyed on i = k"});
  return catalog;
}

constexpr int64_t now_in_microseconds = 762'525'296'000'000;  // 2024-02-29 12:34:56

}  // namespace

const TestCatalog& test_catalog() {
  static const TestCatalog catalog = make_catalog();
  return catalog;
}

BoundStatement bind_text(const std::string& sql) {
  const auto open_file = [](const std::string&, const FileOptions&) { return test_catalog().find_table("other"); };
  return bind(*parse_statement(sql), {test_catalog(), open_file, now_in_microseconds, {}});
}

LogicalOperatorPtr bind_query(const std::string& sql) {
  BoundStatement bound = bind_text(sql);
  return std::move(std::get<LogicalOperatorPtr>(bound.statement));
}

}  // namespace diptych
