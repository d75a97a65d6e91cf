// What EXPLAIN (ANALYZE, FORMAT JSON) says of a query.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "session/session_evaluator.h"
#include "session/statement.h"

namespace diptych::testing {

inline nlohmann::json explain_json(Connection& connection, const std::string& query,
                                   const std::string& options = "ANALYZE, FORMAT JSON") {
  connection.start_statement();
  const auto rows = Statement(connection, "EXPLAIN (" + options + ") " + query).run();
  return nlohmann::json::parse(read_values(*rows).at(0).to_text());
}

// Of the run's first section.
inline nlohmann::json first_section(Connection& connection, const std::string& query) {
  return explain_json(connection, query)["run"]["sections"].at(0);
}

// The text of a key that may be null.
inline std::string text_of(const nlohmann::json& value) { return value.is_null() ? "" : value.get<std::string>(); }

}  // namespace diptych::testing
