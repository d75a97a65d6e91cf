// From text to syntax tree. PostgreSQL's own parser (libpg_query) reads the grammar; this folder turns its tree into
// ours and adds the few forms that it lacks: FROM 'file', DESCRIBE t.
//
//   text ──split_statement──> first statement ──scan──> tokens ──check depth, rewrite──> libpg_query ──>
//   syntax::Statement
//
// All functions may be called from any thread.
#pragma once

#include <optional>
#include <string_view>

#include "sql/syntax_tree.h"

namespace diptych {

// Levels that a syntax tree may have, brackets counted; lists (AND, OR, IN, VALUES, arguments) are one level however
// long they are. PostgreSQL's parser keeps 10,000 open brackets at most, and its 2 MB of stack end its trees earlier.
inline constexpr int max_expression_depth = 10'000;

struct StatementText {
  std::string_view text;  // without the semicolon
  std::string_view rest;  // what comes after it
};

// Cuts the first statement off a script, without parsing it: at the first semicolon that is not inside quotes or a
// comment.
StatementText split_statement(std::string_view script);

// Parses one statement. Nothing when the text holds only blanks, comments and semicolons. Errors, with the byte offset
// in `text`: 42601 syntax, 0A000 SQL that is not there yet, 54001 nested deeper than max_expression_depth, 22021 not
// UTF-8.
std::optional<syntax::Statement> parse_statement(std::string_view text);

// Parses an expression that stands alone, as TableColumn::default_sql does. `position` is where it stands in the
// statement it was taken from, so that the positions of its nodes and errors are right there. Errors: as
// parse_statement.
struct ParsedExpression {
  syntax::ExpressionPtr expression;
  int depth = 0;  // as syntax::Statement::depth
};
ParsedExpression parse_expression(std::string_view text, int position = 0);

}  // namespace diptych
