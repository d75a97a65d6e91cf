#include "sql/parser.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <pg_query.h>

#include "base/error.h"
#include "base/stack.h"
#include "sql/rewriter.h"
#include "sql/scanner.h"
#include "sql/tree_builder.h"

namespace diptych {

namespace {

// The result of libpg_query's parser with its tree unpacked.
class ParsedText {
 public:
  explicit ParsedText(const std::string& text) : raw_(pg_query_parse_protobuf(text.c_str())) {
    if (raw_.error) {
      const Error error = parser_error(text, *raw_.error);
      pg_query_free_protobuf_parse_result(raw_);
      throw error;
    }
    tree_ = pg_query__parse_result__unpack(nullptr, raw_.parse_tree.len,
                                           reinterpret_cast<const uint8_t*>(raw_.parse_tree.data));
  }
  ParsedText(const ParsedText&) = delete;
  ParsedText& operator=(const ParsedText&) = delete;
  ~ParsedText() {
    if (tree_) pg_query__parse_result__free_unpacked(tree_, nullptr);
    pg_query_free_protobuf_parse_result(raw_);
  }

  // The one statement of the text.
  const PgQuery__Node& statement() const {
    check_invariant(tree_ != nullptr && tree_->n_stmts > 0, "a text with words in it is a statement");
    if (tree_->n_stmts > 1) {
      throw Error(SqlState::syntax_error, "several statements where one is wanted", tree_->stmts[1]->stmt_location);
    }
    return *tree_->stmts[0]->stmt;
  }

 private:
  PgQueryProtobufParseResult raw_;
  PgQuery__ParseResult* tree_ = nullptr;
};

// An expression is parsed as the only output of a query.
constexpr std::string_view expression_prefix = "SELECT ";

}  // namespace

std::optional<syntax::Statement> parse_statement(std::string_view text) {
  check_utf8(text);
  std::string copy(text);
  std::vector<Token> tokens = scan(copy);
  std::erase_if(tokens, [](const Token& token) { return token.kind == PG_QUERY__TOKEN__ASCII_59; });
  if (tokens.empty()) return std::nullopt;
  const int depth = depth_of(tokens, max_expression_depth);
  const RewrittenStatement statement = rewrite(std::move(copy), tokens);
  syntax::Statement result;
  run_at_depth(depth, [&] {
    const ParsedText parsed(statement.text);
    result = TreeBuilder(statement, tokens).statement(parsed.statement());
  });
  result.depth = depth;
  return result;
}

ParsedExpression parse_expression(std::string_view text, int position) {
  std::string query(expression_prefix);
  query.resize(std::max(query.size(), static_cast<size_t>(std::max(position, 0))), ' ');
  std::optional<syntax::Statement> statement = parse_statement(query + std::string(text));
  auto* select = statement ? std::get_if<syntax::Select>(&statement->node) : nullptr;
  if (!select || select->items.size() != 1 || !select->from.empty()) {
    throw Error(SqlState::syntax_error, "not an expression: " + std::string(text), position);
  }
  return {std::move(select->items.front().expression), statement->depth};
}

}  // namespace diptych
