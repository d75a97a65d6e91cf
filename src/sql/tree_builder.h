// Turns libpg_query's tree (protobuf messages of PostgreSQL's parse nodes) into ours, and refuses what the system can't
// do yet.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <pg_query/pg_query.pb-c.h>

#include "sql/rewriter.h"
#include "sql/scanner.h"
#include "sql/syntax_tree.h"

namespace diptych {

class TreeBuilder {
 public:
  // All three must outlive the builder. tokens and statement.text have the same byte offsets.
  TreeBuilder(const RewrittenStatement& statement, const std::vector<Token>& tokens)
      : statement_(statement), tokens_(tokens) {}

  // Errors: 0A000 with the position and the word that is not supported, 42601 what the grammar lets pass but isn't SQL.
  syntax::Statement statement(const PgQuery__Node& node);
  syntax::ExpressionPtr expression(const PgQuery__Node& node);

 private:
  // build_statement.cc
  syntax::CreateTable create_table(const PgQuery__CreateStmt& node);
  // Errors: 42601 IF NOT EXISTS, too.
  void set_replacing(syntax::CreateTable& create) const;
  void note_primary_key(syntax::CreateTable& table, int position) const;
  void check_index_options(const PgQuery__Constraint& node) const;
  void add_table_constraint(syntax::CreateTable& table, const PgQuery__Constraint& node);
  syntax::ColumnDefinition column_definition(const PgQuery__ColumnDef& node);
  void add_column_constraint(syntax::ColumnDefinition& column, const PgQuery__Constraint& node);
  syntax::CreateTable create_table_as(const PgQuery__CreateTableAsStmt& node);
  syntax::CreateView create_view(const PgQuery__ViewStmt& node);
  // The text of the rest of the statement, from this offset on, with the names of files that stood there.
  std::string text_from(int position) const;
  syntax::DropTable drop_table(const PgQuery__DropStmt& node);
  syntax::Copy copy(const PgQuery__CopyStmt& node);
  bool boolean_option(const syntax::Option& option) const;
  bool is_json(const syntax::Option& format) const;
  syntax::Explain explain(const PgQuery__ExplainStmt& node);
  syntax::Set set(const PgQuery__VariableSetStmt& node);
  syntax::Transaction transaction(const PgQuery__TransactionStmt& node);
  syntax::Transaction set_transaction(const PgQuery__VariableSetStmt& node);
  void set_modes(size_t count, PgQuery__Node* const* nodes, syntax::Transaction& result) const;
  syntax::Option option(const PgQuery__DefElem& node);
  // Errors: `no_schema` for a schema that is not there.
  syntax::TableName table_name(const PgQuery__RangeVar& node, SqlState no_schema = SqlState::undefined_table);
  // Where PostgreSQL keeps a table, and how: its only answer here is the default one. A null or empty name is that,
  // too.
  void check_storage(const char* tablespace, const char* access_method) const;
  // Of a table that is to be made. Errors: 0A000, 3F000, 42P16.
  syntax::TableName new_table_name(const PgQuery__RangeVar& node, PgQuery__OnCommitAction on_commit);
  void check_compression(const PgQuery__ColumnDef& node) const;

  // build_change.cc
  syntax::Insert insert(const PgQuery__InsertStmt& node);
  void put_around(std::vector<syntax::CommonTable> with, syntax::Insert& insert) const;
  syntax::TableReference changed_table(const PgQuery__RangeVar& node);
  void add_returning(size_t count, PgQuery__Node* const* nodes, syntax::Select& query);
  template <typename Node>
  syntax::Change begin_change(const Node& node, size_t others, PgQuery__Node* const* from);
  template <typename Node>
  void end_change(const Node& node, syntax::Change& change);
  const PgQuery__Node& value_of(const PgQuery__ResTarget& target) const;
  syntax::Change change(const PgQuery__DeleteStmt& node);
  syntax::Change change(const PgQuery__UpdateStmt& node);
  syntax::Change truncate(const PgQuery__TruncateStmt& node);

  // build_select.cc
  syntax::Select select(const PgQuery__SelectStmt& node);
  void refuse_clauses(const PgQuery__SelectStmt& node);
  syntax::SelectPtr select_of(const PgQuery__Node& node);
  std::vector<syntax::CommonTable> common_tables(const PgQuery__WithClause& node);
  std::vector<syntax::TableReference> from_list(const PgQuery__SelectStmt& node);
  // Of a table, query or function in FROM, or a join of them.
  syntax::TableReference table_reference(const PgQuery__Node& node);
  syntax::TableReference single_table(const PgQuery__Node& node);
  syntax::TableReference join(const PgQuery__JoinExpr& node);
  void refuse_outer_join(PgQuery__JoinType type) const;
  syntax::TableReference named_table(const PgQuery__RangeVar& node);
  syntax::TableReference subselect(const PgQuery__RangeSubselect& node);
  syntax::TableReference function_table(const PgQuery__RangeFunction& node);
  void set_alias(syntax::TableReference& reference, const PgQuery__Alias* alias);
  syntax::SelectItem select_item(const PgQuery__ResTarget& node);
  syntax::OrderItem order_item(const PgQuery__SortBy& node);

  // build_expression.cc
  syntax::Expressions expressions(size_t count, PgQuery__Node* const* nodes);
  syntax::ExpressionPtr constant(const PgQuery__AConst& node);
  syntax::ExpressionPtr column_reference(const PgQuery__ColumnRef& node);
  syntax::ExpressionPtr operation(const PgQuery__AExpr& node);
  syntax::ExpressionPtr plain_operator(const PgQuery__AExpr& node);
  syntax::ExpressionPtr like(const PgQuery__AExpr& node, bool ignore_case);
  syntax::ExpressionPtr between(const PgQuery__AExpr& node, bool negated, bool symmetric);
  syntax::ExpressionPtr in_list(const PgQuery__AExpr& node);
  syntax::ExpressionPtr logical(const PgQuery__BoolExpr& node);
  syntax::ExpressionPtr truth_test(const PgQuery__BooleanTest& node);
  syntax::ExpressionPtr case_expression(const PgQuery__CaseExpr& node);
  syntax::ExpressionPtr current_time(const PgQuery__SQLValueFunction& node);
  syntax::ExpressionPtr call(const PgQuery__FuncCall& node);
  syntax::ExpressionPtr cast(const PgQuery__TypeCast& node);
  syntax::TypeName type_name(const PgQuery__TypeName& node);
  // The name of something that the system defines, without the schema pg_catalog before it. `what` it names is a
  // collation, function, operator or type. Errors: 3F000 another schema, 42704 and 42883 nothing of the name in public.
  std::string catalog_name(size_t count, PgQuery__Node* const* nodes, const char* what, int position) const;
  // Errors: 0A000 for a collation that does not compare bytes.
  void check_collation(const PgQuery__CollateClause& node) const;
  int position_of_list_after(int from) const;

  [[noreturn]] void refuse(std::string_view what, int position) const;
  // The byte offset of the first token of one of these kinds at or after `from`, -1 when there is none.
  int find_token(std::initializer_list<PgQuery__Token> kinds, int from = 0) const;
  // The byte offset of the first identifier that reads so, -1 when there is none: for nodes that don't tell their
  // place.
  int find_name(std::string_view name, int from = 0) const;

  // The byte offset of the bracket around the next query in brackets. The nodes of queries don't tell their place, but
  // are met in the order of the text.
  int enter_brackets();
  // The byte offset of the bracket that closes the one around this offset.
  int end_of_brackets(int from) const;
  // What is searched for from now on stands behind this offset.
  void pass(int position) { query_at_ = std::max(query_at_, position); }
  // The number of the first token at or after this offset.
  size_t token_at(int from) const;

  const RewrittenStatement& statement_;
  const std::vector<Token>& tokens_;
  int query_at_ = 0;  // byte offset in or before the query being built; in its FROM, before what comes next
  int tables_ = 0;    // of the FROM being built, so far
};

// The last part of a list of String nodes: the name without its schema.
std::string last_name(size_t count, PgQuery__Node* const* nodes);

}  // namespace diptych
