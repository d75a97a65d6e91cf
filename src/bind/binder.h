// From syntax tree to bound statement: names become columns, every expression gets its type, implicit casts are written
// out, and a query becomes operators in the order that SQL's semantics give.
//
//   SELECT a + 1.5 AS b FROM t WHERE a > '3'       with t(a integer)
//
//   Project a::numeric(10,0) + 1.5                 b numeric(12,1)
//   └ Filter a > 3                                 the literal became an integer
//     └ Scan t [a]
//
// Binding reads the catalog snapshot and opens files that FROM names, and changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bind/bound_statement.h"
#include "sql/syntax_tree.h"

namespace diptych {

struct BindContext {
  const CatalogSnapshot& catalog;
  // Opens a data file for reading. Errors: 58P01, 58030, 22P04.
  std::function<std::shared_ptr<const TabletSource>(const std::string& path, const FileOptions& options)> open_file;
  // When the statement started: what current_date and now() give, in microseconds since 2000-01-01.
  int64_t now = 0;
  // Types of $1, $2, ... that are settled already; empty: the statement decides.
  std::vector<Type> parameters;
};

// Errors carry the byte offset of the offending token in the text that was parsed: 42P01, 42703, 42883, 42804, 42803
// and their kin for what the names and types forbid; 0A000 for what is not there yet. May be called from any thread.
BoundStatement bind(const syntax::Statement& statement, const BindContext& context);

}  // namespace diptych
